"""Files of a trial: copied, unpacked, written and loaded, and never outside its own folder."""

from __future__ import annotations

import lzma
import shutil
import socket
import sqlite3
import tarfile
import urllib.error
import urllib.request
import zipfile
import zlib
from contextlib import closing
from pathlib import Path

from mcpeval_dsl.values.model import Scope
from mcpeval_dsl.values.regular import regular_text
from mcpeval_dsl.values.templates import render as render_text

UNPACK_FILES = 100_000
UNPACK_BYTES = 4 * 1024**3


def inside(path: Path, root: Path) -> Path:
    """The path, if it lies below `root` after resolving links and `..`. Raises ValueError where it leaves."""
    resolved = path.resolve()
    if resolved != root.resolve() and root.resolve() not in resolved.parents:
        raise ValueError(f"`{path}` lies outside the trial's own folder; write below {{{{ workdir }}}}")
    return resolved


def copy(source: Path, target: Path, project: Path | None = None) -> None:
    """A file or a whole folder; links are copied as what they point at. Raises ValueError for what cannot be copied whole.

    That is a device or pipe, whose end never comes, a link that leads out of the project (without one: out of the folder
    copied), since a fixture may come from anywhere, and a link to a folder it stands in.
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
            connection.executescript(text)
            connection.commit()
    except sqlite3.Error as error:
        raise ValueError(f"`{script.name}` could not be loaded: {error}") from error


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
    except OSError:
        return False


def http_answers(url: str) -> bool:
    """Whether a GET gives a status below 500."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=1) as response:
            return bool(response.status < 500)
    except urllib.error.HTTPError as error:
        return error.code < 500
    except OSError:
        return False
