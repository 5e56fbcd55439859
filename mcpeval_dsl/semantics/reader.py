"""Semantics, its one window: how the compiler asks for the text of a file that a spec names."""

from __future__ import annotations

from posixpath import dirname, join, normpath
from typing import Protocol


class Reader(Protocol):
    """Reads files by their path relative to the project, with `/`. Raises OSError when a file cannot be read."""

    def read(self, path: str) -> bytes: ...

    def exists(self, path: str) -> bool: ...


def inside(spec: str, path: str) -> bool:
    """True for a path of the project; for a spec outside the project, for one below the spec's own folder."""
    if not _leaves(spec):
        return not _leaves(path)
    folder = dirname(spec)
    return path.startswith(f"{folder}/") if folder else not _leaves(path)


def _leaves(path: str) -> bool:
    return path == ".." or path.startswith(("/", "../"))


def beside(file: str, path: str) -> str:
    """A path written in `file`, relative to what `file` itself is relative to."""
    return normpath(join(dirname(file), path))
