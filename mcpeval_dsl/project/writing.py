"""Project: its files written whole or not at all: whoever reads meanwhile sees the old ones."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path


def put(path: Path, data: bytes) -> None:
    """Put `data` where the file is or will be, through one beside it that takes its place. Raises OSError.

    Mode and owner of a file that is there stay; a new one has those the umask allows. A link is followed, and a
    file that may not be written is not replaced, though its folder would allow it. A pipe or device stays what it is,
    and is given the data. The error names the file, as it was given here.
    """
    try:
        if _is_stream(path):
            path.write_bytes(data)
        else:
            _replace_by(path.resolve(), data)
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        raise


def _replace_by(real: Path, data: bytes) -> None:
    was = _status(real)
    beside = _beside(real)
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(descriptor)
            if was is not None:
                os.fchmod(descriptor, stat.S_IMODE(was.st_mode))
                with contextlib.suppress(PermissionError):
                    os.fchown(descriptor, was.st_uid, was.st_gid)
        beside.replace(real)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _is_stream(path: Path) -> bool:
    """Something that is there and is neither a file nor a folder."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _status(real: Path) -> os.stat_result | None:
    """Of a file that is there and may be written; None for one that is not there. Raises OSError."""
    try:
        with real.open("r+b"):
            return real.stat()
    except FileNotFoundError:
        return None


def _beside(real: Path) -> Path:
    return real.with_name(f".{real.name[:200]}.{secrets.token_hex(4)}")


def replace(path: Path, old: bytes, new: bytes) -> str | None:
    """Put `new` where `old` stands. None where it is done; else why not: it was changed meanwhile, or may not be written."""
    try:
        if path.read_bytes() != old:
            return "it was changed meanwhile"
        put(path, new)
    except OSError as error:
        return error.strerror or type(error).__name__
    return None


def standing(folder: Path, names: Iterable[str]) -> list[str]:
    """Names below a folder that are taken already."""
    return [name for name in names if os.path.lexists(folder / name)]


def put_all(folder: Path, files: Mapping[str, bytes]) -> None:
    """All files, by their path below the folder, or none: each under another name first, renamed when all are there.

    Folders are made. Raises OSError, with the name of the file that is in the way, and leaves nothing then: a link below
    the folder that leads out of it is in the way, too.
    """
    real = folder.resolve()
    made: list[Path] = []
    waiting: list[tuple[Path, Path]] = []
    try:
        for name, data in files.items():
            target = (folder / name).resolve()
            if not target.is_relative_to(real):
                raise PermissionError(errno.EACCES, f"a link leads out, to {target}", str(folder / name))
            if target.is_dir():
                raise IsADirectoryError(errno.EISDIR, "it is a folder", str(target))
            make_folder(target.parent, made)
            waiting.append((_beside(target), target))
            waiting[-1][0].write_bytes(data)
            if target.exists():
                shutil.copymode(target, waiting[-1][0])
        for beside, target in waiting:
            beside.replace(target)
    except OSError as error:
        for beside, target in waiting:
            if error.filename == str(beside):
                error.filename = str(target)
            with contextlib.suppress(OSError):
                beside.unlink(missing_ok=True)
        without(made)
        raise


def make_folder(folder: Path, made: list[Path]) -> None:
    """The folder and those above it; `made` gets those that were not there. Raises OSError."""
    for each in (*reversed(folder.parents), folder):
        if not each.exists():
            each.mkdir()
            made.append(each)


def without(made: Iterable[Path]) -> None:
    """Take folders away again, the last one first, unless there is something in them now."""
    for each in reversed([*made]):
        with contextlib.suppress(OSError):
            each.rmdir()
