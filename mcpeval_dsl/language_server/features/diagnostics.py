"""Language server, features: diagnostics of the compiler -> what an editor shows at a range of a file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.language_server.places import NOWHERE, Places, Range
from mcpeval_dsl.language_server.snapshot import Snapshot
from mcpeval_dsl.syntax.reading import reported

SEVERITIES = {"error": 1, "warning": 2, "note": 4}  # advice is a hint: no underline for each task of a draft
UNNECESSARY = 1  # the protocol's tag for what an editor shows faded
UNUSED = frozenset({"MCPE280"})


@dataclass(frozen=True, slots=True)
class Related:
    path: str
    range: Range
    text: str


@dataclass(frozen=True, slots=True)
class Shown:
    """One diagnostic in one file. `severity` and `tags` are the protocol's numbers; `places` find what `source` names."""

    path: str
    range: Range
    severity: int
    code: str
    message: str
    tags: tuple[int, ...]
    related: tuple[Related, ...]
    source: Diagnostic
    places: Places


def shown(found: Iterable[Diagnostic], main: str, places: Places) -> list[Shown]:
    """All that have a place in the texts as they stand, each once. What concerns no file is shown where `main` begins."""
    kept: dict[tuple[object, ...], Shown] = {}
    for diagnostic in found:
        at = diagnostic.at
        where = NOWHERE if at is None else places.range(at)
        if where is None:
            continue
        item = Shown(
            main if at is None else at.path,
            where,
            SEVERITIES[diagnostic.severity],
            diagnostic.code,
            message(diagnostic),
            (UNNECESSARY,) if diagnostic.code in UNUSED else (),
            _related(diagnostic, places),
            diagnostic,
            places,
        )
        kept.setdefault((item.path, item.range, item.code, item.message), item)
    return list(kept.values())


def message(diagnostic: Diagnostic) -> str:
    """What is wrong, the rule, and what to do, a line each."""
    hint = f"→ {diagnostic.hint}" if diagnostic.hint else ""
    return "\n".join(line for line in (diagnostic.title, diagnostic.body, hint) if line)


def _related(diagnostic: Diagnostic, places: Places) -> tuple[Related, ...]:
    ranges = ((label, places.range(label.at)) for label in diagnostic.labels)
    return tuple(Related(label.at.path, where, label.text) for label, where in ranges if where is not None)


def of_syntax(snapshot: Snapshot, *, read: bool = True) -> tuple[Diagnostic, ...]:
    """What is wrong with the syntax of this very text, as `mcpe lint` tells it.

    Without `read`, parts that nobody has read yet are passed over.
    """
    parts = [part for part in snapshot.parts if read or part.body.is_read]
    found = [problem.diagnostic(snapshot.file, part.start) for part in parts for problem in part.body.problems]
    if not found and (len(parts) < len(snapshot.parts) or any(part.body.statements for part in parts)):
        return ()
    return reported(snapshot.file, found, False)
