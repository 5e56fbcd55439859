"""Interchange: files that a foreign file refers to. Only what lies in the same project is read, whatever a path says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePath

from mcpeval_dsl.interchange.trees.node import Unreadable

MOST_FILES = 60
MOST_BYTES = 1024 * 1024


def project_of(path: Path) -> Path:
    """The folder above a file that is a project: with `.git`; else the file's own folder, or the working folder around it."""
    folder = path.resolve().parent
    for candidate in (folder, *folder.parents):
        if (candidate / ".git").exists():
            return candidate
    cwd = Path.cwd().resolve()
    return cwd if folder.is_relative_to(cwd) else folder


def inside(root: Path, path: Path) -> Path | None:
    """The real file of a path, if it is a regular one below `root`; links that lead out are none."""
    try:
        real = path.resolve()
        return real if real.is_relative_to(root) and real.is_file() else None
    except (OSError, ValueError, RuntimeError):
        return None


def matching(folder: Path, pattern: str) -> list[Path]:
    """In order of name; none for a pattern that is none."""
    if PurePath(pattern).anchor:
        return []
    try:
        return sorted(folder.glob(pattern))
    except (OSError, ValueError):
        return []


def text_of(root: Path, folder: Path, name: str) -> str:
    """The text of a file that another one names. Raises Unreadable."""
    from mcpeval_dsl.interchange import reading

    found = inside(root, folder / name)
    if found is None:
        raise Unreadable(f"there is no file `{name[:80]}` within the project")
    return reading.read(found, name, MOST_BYTES).text


def siblings(root: Path, folder: Path) -> Iterator[tuple[str, bytes]]:
    """Small files of a folder and below it, by their path from it; not more than MOST_FILES."""
    count = 0
    for path in sorted(folder.rglob("*")):
        real = inside(root, path)
        if real is None or any(part.startswith(".") for part in path.relative_to(folder).parts):
            continue
        try:
            if real.stat().st_size > MOST_BYTES:
                continue
            data = real.read_bytes()
        except OSError:
            continue
        count += 1
        if count > MOST_FILES:
            return
        yield path.relative_to(folder).as_posix(), data
