"""Language server, features: above the suite and each task, how to run it, and what that costs at most."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mcpeval_dsl.language_server.figures import Figures
from mcpeval_dsl.language_server.places import Range
from mcpeval_dsl.language_server.snapshot import Snapshot
from mcpeval_dsl.syntax.tree import Directive


@dataclass(frozen=True, slots=True)
class Lens:
    """`arguments` are those of a command line of `mcpe`, which the editor starts where the person asks for it; empty for
    what only tells."""

    range: Range
    title: str
    arguments: tuple[str, ...] = ()


def lenses(snapshot: Snapshot) -> Iterator[Lens]:
    """In order of the text. What is told is of the last text that had a meaning."""
    analysis = snapshot.analysis
    if analysis is None or analysis.main != snapshot.path:
        return
    known = analysis.figures
    for statement, at in heads(snapshot):
        match statement.name.text:
            case "suite":
                yield Lens(at, "run all", ("run", snapshot.path))
                if known is not None:
                    total = known.total
                    tasks = f"{total.instances} task{_s(total.instances)} × {total.cells} cell{_s(total.cells)}"
                    yield Lens(at, f"{tasks}: {total.trials} trials · {_limits(total)}")
            case "check":
                yield Lens(at, "carry out the checks", ("check", snapshot.path))
            case "task":
                name = _name(statement)
                if name is not None:
                    asked = ("--heldout",) if known is not None and name in known.heldout else ()
                    yield Lens(at, "run this task", ("run", snapshot.path, "--select", f"task:{name}", *asked))
                    if known is not None and (own := known.tasks.get(name)) is not None:
                        yield Lens(at, f"{own.trials} trial{_s(own.trials)} · {_limits(own)}")
            case _:
                pass


def heads(snapshot: Snapshot) -> Iterator[tuple[Directive, Range]]:
    """The suite, checks and tasks, also those inside `for`, with the range of their first word."""
    for part in snapshot.parts:
        if not part.body.text.lstrip().startswith(("suite", "check", "task", "for", "#")):
            continue
        for statement in part.body.statements:
            if not isinstance(statement, Directive):
                continue
            inner = statement.block.statements if statement.name.text == "for" and statement.block is not None else ()
            for each in (statement, *inner):
                if isinstance(each, Directive) and each.name.text in ("suite", "check", "task"):
                    span = each.name.span
                    start, end = part.start + span.start, part.start + span.end
                    yield each, (snapshot.position(start), snapshot.position(end))


def _name(statement: Directive) -> str | None:
    from mcpeval_dsl.semantics.symbols import defined_name

    named = defined_name(statement)
    return named[0] if named is not None else None


def _limits(found: Figures) -> str:
    calls = "calls without a limit" if found.calls is None else f"at most {found.calls:,.0f} call{_s(found.calls)}"
    if found.cost is None:
        return f"{calls}, cost without a limit"
    return f"{calls}, {'free' if found.cost == 0 else f'${found.cost:,.2f}'}"


def _s(number: float) -> str:
    return "" if number == 1 else "s"
