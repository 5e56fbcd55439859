"""Language server, features: beside `trials`, what the number means for the whole run, and what so many can show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mcpeval_dsl.language_server.positions import Position
from mcpeval_dsl.language_server.snapshot import Snapshot
from mcpeval_dsl.semantics.symbols import defined_name
from mcpeval_dsl.syntax.tree import Directive


@dataclass(frozen=True, slots=True)
class Hint:
    at: Position
    text: str
    tooltip: str = ""


POWER = (
    "The smallest difference in success between two cells that would show in 80 of 100 runs, with the variances that "
    "`mcpe power` assumes before anything was measured."
)


def hints(snapshot: Snapshot, start: int = 0, end: int | None = None) -> Iterator[Hint]:
    """Between two offsets, in order of the text."""
    analysis = snapshot.analysis
    if analysis is None or analysis.main != snapshot.path or (known := analysis.figures) is None:
        return
    for part in snapshot.parts_between(start, len(snapshot.text) if end is None else end):
        for statement in part.body.statements:
            if not isinstance(statement, Directive) or statement.name.text not in ("suite", "task"):
                continue
            named = defined_name(statement)
            line = _trials(statement)
            if line is None or named is None:
                continue
            at = snapshot.position(part.start + line.groups[-1].span.end)
            if statement.name.text == "task":
                own = known.tasks.get(named[0])
                if own is not None and own.cells > 1:
                    yield Hint(at, f"× {own.cells} cells = {own.trials}")
                continue
            yield Hint(at, f"× {known.total.cells} cells" if known.total.cells > 1 else "in one cell")
            if known.effect is not None:
                yield Hint(at, f"shows {known.effect * 100:.0f} points", POWER)


def _trials(statement: Directive) -> Directive | None:
    lines = statement.block.statements if statement.block is not None else ()
    found = (line for line in lines if isinstance(line, Directive) and line.name.text == "trials" and line.groups)
    return next(found, None)
