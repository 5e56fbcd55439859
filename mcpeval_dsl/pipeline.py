"""Read this first: the compiler's front end as a tuple of stages, and `check`, which runs them.

    path -> Request -load-> Sources -check_shape-> Sources -lower-> Lowered -apply_rules-> TypedSuite

Each stage is a function to `Checked[T]`: a value, or None, and what it found. Behind them come `plan.build`
(TypedSuite -> Plan), `execute` (Plan -> TrialRecords), `grade` (TrialRecord -> verdicts), `score` (-> Scorecard) and
`report`. Nothing here reads a file but through the reader it is given, and nothing starts anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from mcpeval_dsl.diagnostics.model import Checked, Diagnostic
from mcpeval_dsl.diagnostics.suppression import Suppressions
from mcpeval_dsl.semantics import front
from mcpeval_dsl.semantics.catalogue import KnownServer
from mcpeval_dsl.semantics.model import TypedSuite
from mcpeval_dsl.semantics.reader import Reader

STAGES: tuple[Callable[[Any], Checked[Any]], ...] = (
    front.load,  # Request -> Sources: decode and parse the spec and its imports
    front.check_shape,  # Sources -> Sources: each statement against the table of directives
    front.lower,  # Sources -> Lowered: names bound, units, defaults, profiles
    front.apply_rules,  # Lowered -> TypedSuite: what a well-formed suite may still not mean
)
LINT_STAGES = (*STAGES[:-1], front.review)  # the same, and advice on the design


def check(
    path: str,
    read: Reader | Callable[[str], bytes],
    known: Mapping[str, KnownServer] | None = None,
    *,
    design: bool = False,
    suppressions: Suppressions | None = None,
    watch: Callable[[object], None] = lambda value: None,
) -> Checked[TypedSuite]:
    """Compile the front end of one spec. `path` is relative to the project; so is every path in the suite.

    `read` is a `Reader`, or a function from a path to its bytes that raises OSError. `known` holds the tools of
    locked servers by server name. The value is there whenever the spec could be read at all: ask `.ok`.

    Warnings and notes that a comment ignores are left out. With `design`, advice on the design is given as well, and what
    is wrong with such comments; that is left to the caller who hands in `suppressions`, to apply them to more than this.
    `watch` is shown what each stage is given: an editor keeps it, or ends the work by an exception of its own.
    """
    reader = _Function(read) if callable(read) else read
    held = Suppressions() if suppressions is None else suppressions
    value: Any = front.Request(path, reader, known or {})
    found: list[Diagnostic] = []
    for stage in LINT_STAGES if design else STAGES:
        watch(value)
        checked = stage(value)
        found.extend(checked.diagnostics)
        value = checked.value
        if value is None:
            return Checked(None, tuple(found))
        if isinstance(value, front.Sources):
            front.hold_comments(value, held)
    assert isinstance(value, TypedSuite)
    found = held.apply(found)
    if design and suppressions is None:
        found += held.leftovers(unused=not any(d.severity == "error" for d in found), locked=bool(known))
    return Checked(value, tuple(found))


class ProjectFiles:
    """Reads files below the root of a project."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def read(self, path: str) -> bytes:
        return (self.root / path).read_bytes()

    def exists(self, path: str) -> bool:
        return (self.root / path).exists()


class _Function:
    """A function as a reader: a file exists when it can be read."""

    def __init__(self, read: Callable[[str], bytes]) -> None:
        self.read = read

    def exists(self, path: str) -> bool:
        try:
            self.read(path)
        except IsADirectoryError:
            return True
        except OSError:
            return False
        return True
