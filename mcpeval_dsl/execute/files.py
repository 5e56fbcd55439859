"""Files of a trial: copied, unpacked, written and loaded, and never outside its own folder."""

from __future__ import annotations

import contextlib
import lzma
import os
import shutil
import socket
import sqlite3
import tarfile
import time
import urllib.error
import urllib.request
import zipfile
import zlib
from contextlib import closing
from http.client import HTTPException
from pathlib import Path

from mcpeval_dsl.values.model import Scope
from mcpeval_dsl.values.regular import regular_text
from mcpeval_dsl.values.templates import render as render_text

LOAD_SECONDS = 120.0
UNPACK_FILES = 100_000
UNPACK_BYTES = 4 * 1024**3


def inside(path: Path, root: Path) -> Path:
    """The path, if it lies below `root` after resolving links and `..`. Raises ValueError where it leaves."""
    resolved = path.resolve()
    if resolved != root.resolve() and root.resolve() not in resolved.parents:
        raise ValueError(f"`{path}` lies outside the trial's own folder; write below {{{{ workdir }}}}")
    return resolved


def created(root: Path, *parts: str) -> int:
    """A new file below `root`, open for reading and writing, in the place of any other. Raises OSError.

    What ran in the trial may have left links there, also in the place of folders: none is followed.
    """
    place = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts[:-1]:
            inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=place)
            os.close(place)
            place = inner
        with contextlib.suppress(FileNotFoundError):
            os.unlink(parts[-1], dir_fd=place)
        return os.open(parts[-1], os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=place)
    finally:
        os.close(place)


def copy(source: Path, target: Path, project: Path | None = None, root: Path | None = None) -> None:
    """A file or a whole folder; links are copied as what they point at. Raises ValueError for what cannot be copied whole.

    That is a device or pipe, whose end never comes, a link that leads out of the project (without one: out of the folder
    copied), since a fixture may come from anywhere, and a link to a folder it stands in. Nor may anything come to lie
    outside of `root` (without one: of `target`), where links may have been made since.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    top = (project or source).resolve()
    if project is not None and source.is_symlink():
        _check_link(source, top)
    if not source.is_dir():
        _copy_file(str(source), str(target))
        return
    for path in source.rglob("*"):
        if path.is_symlink():
            _check_link(path, top)
        inside(target / path.relative_to(source), root or target)
    try:
        shutil.copytree(source, target, dirs_exist_ok=True, copy_function=_copy_file)
    except shutil.Error as error:
        raise ValueError(str(error.args[0][0][2])) from error


def _copy_file(source: str, target: str) -> str:
    if Path(source).exists() and not Path(source).is_file():
        raise ValueError(f"`{Path(source).name}` is no regular file")
    return str(shutil.copy2(source, target))


def _check_link(link: Path, top: Path) -> None:
    try:
        end = link.resolve(strict=True)
    except (OSError, RuntimeError):
        raise ValueError(f"the link `{link.name}` leads nowhere") from None
    if top not in end.parents:
        raise ValueError(f"the link `{link.name}` leads out of `{top.name}`")
    if end in link.absolute().parents or end in link.parent.resolve().parents or end == link.parent.resolve():
        raise ValueError(f"the link `{link.name}` leads to a folder that it stands in")


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def render(source: Path, target: Path, scope: Scope) -> None:
    """A template file with the names of the trial and the block."""
    write(target, render_text(regular_text(source), scope))


def load_sql(script: Path, database: Path) -> None:
    """An SQL script into a SQLite (or, with the package installed, DuckDB) file. Raises ValueError with the reason."""
    text = regular_text(script)
    database.parent.mkdir(parents=True, exist_ok=True)
    if database.suffix == ".duckdb":
        _load_duckdb(text, database)
        return
    try:
        with closing(sqlite3.connect(database)) as connection:
            connection.set_authorizer(_one_database)
            until = time.monotonic() + LOAD_SECONDS
            connection.set_progress_handler(lambda: int(time.monotonic() > until), 100_000)
            connection.executescript(text)
            connection.commit()
    except (sqlite3.Error, sqlite3.Warning) as error:
        said = f"it took longer than {LOAD_SECONDS:g} s" if str(error) == "interrupted" else str(error)
        raise ValueError(f"`{script.name}` could not be loaded: {said}") from error


def _one_database(action: int, name: str | None, *_: object) -> int:
    """A script works on the file it is loaded into; another could lie anywhere. `vacuum` attaches one without a name."""
    elsewhere = action == sqlite3.SQLITE_ATTACH and name not in ("", ":memory:")
    return sqlite3.SQLITE_DENY if elsewhere else sqlite3.SQLITE_OK


def _load_duckdb(text: str, database: Path) -> None:
    try:
        import duckdb
    except ImportError as error:
        raise ValueError("a `.duckdb` file needs the package `duckdb` (pip install duckdb)") from error
    try:
        with closing(duckdb.connect(str(database))) as connection:
            connection.execute(text)
    except duckdb.Error as error:
        raise ValueError(f"the script could not be loaded: {error}") from error


def unpack(source: Path, target: Path) -> None:
    """A tar (also gz, xz, bz2, zst) or zip archive. Raises ValueError for one that would leave `target` or is a bomb."""
    if source.exists() and not source.is_file():
        raise ValueError(f"`{source.name}` is no regular file")
    target.mkdir(parents=True, exist_ok=True)
    try:
        if source.suffix == ".zip":
            _unzip(source, target)
        elif source.suffix == ".zst":
            _untar_zstd(source, target)
        else:
            with tarfile.open(source) as archive:
                _extract(archive, target)
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError) as error:
        raise ValueError(f"`{source.name}` could not be unpacked: {error}") from error


def _untar_zstd(source: Path, target: Path) -> None:
    import zstandard

    try:
        with (
            source.open("rb") as packed,
            zstandard.ZstdDecompressor().stream_reader(packed) as plain,
            tarfile.open(fileobj=plain, mode="r|") as archive,
        ):
            _extract(archive, target)
    except zstandard.ZstdError as error:
        raise ValueError(f"`{source.name}` could not be unpacked: {error}") from error


def _extract(archive: tarfile.TarFile, target: Path) -> None:
    total = 0
    for count, member in enumerate(archive, start=1):
        total += member.size
        if count > UNPACK_FILES or total > UNPACK_BYTES:
            raise ValueError("the archive is too large")
        archive.extract(member, target, filter="data")


def _unzip(source: Path, target: Path) -> None:
    with zipfile.ZipFile(source) as archive:
        entries = archive.infolist()
        if len(entries) > UNPACK_FILES or sum(entry.file_size for entry in entries) > UNPACK_BYTES:
            raise ValueError("the archive is too large")
        for entry in entries:
            inside(target / entry.filename, target)
        archive.extractall(target)


def tcp_answers(host: str, port: int) -> bool:
    """Whether something listens."""
    try:
        with socket.create_connection((host, port), timeout=0.5):
            return True
    except (OSError, OverflowError):
        return False


def http_answers(url: str) -> bool:
    """Whether a GET gives a status below 500."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=1) as response:
            return bool(response.status < 500)
    except urllib.error.HTTPError as error:
        return error.code < 500
    except (OSError, HTTPException):
        return False
