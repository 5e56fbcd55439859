"""Language server: what the lock beside a spec says, read again only when the file changed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.language_server.disk import stamp
from mcpeval_dsl.project.files import FileReader
from mcpeval_dsl.project.files import Project as FoundProject
from mcpeval_dsl.project.loading import Specs, lock_path, read_lock
from mcpeval_dsl.semantics.catalogue import KnownServer


@dataclass(frozen=True, slots=True)
class KnownLock:
    """`texts` are those its diagnostics point into, by path."""

    stamp: tuple[int, int, int] | None = None
    known: Mapping[str, KnownServer] = field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Locks:
    """Locks by path, as last read."""

    _found: dict[str, KnownLock] = field(default_factory=dict)

    def beside(self, root: Path, spec: str) -> KnownLock:
        """The lock beside a spec. One that cannot be used is as good as none, and says why."""
        path = lock_path(spec)
        mark = stamp(os.path.normpath(root / path))
        known = self._found.get(path)
        if known is None or known.stamp != mark:
            known = self._found[path] = KnownLock() if mark is None else _read(root, spec, mark)
        return known


def _read(root: Path, spec: str, mark: tuple[int, int, int]) -> KnownLock:
    specs = Specs(FoundProject(root), FileReader(root))
    lock = read_lock(specs, spec)
    known: Mapping[str, KnownServer] = {}
    if lock is not None:
        from mcpeval_dsl.plan import lock as locks

        known = locks.known(lock)
    texts = {path: data.decode("utf-8", "replace") for path, data in specs.reader.texts.items()}
    return KnownLock(mark, known, tuple(specs.diagnostics), texts)
