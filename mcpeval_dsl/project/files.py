"""Project, after `plan`: where the project is, which specs it has, and its files, read and digested.

Root: the nearest folder upwards with `mcpe.toml`, or with `[tool.mcpe]` in `pyproject.toml`; else the working folder.
Reading is all that happens here.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcpeval_dsl.diagnostics.model import Checked, Diagnostic
from mcpeval_dsl.diagnostics.settings import LintSettings
from mcpeval_dsl.values.regular import MOST_BYTES

DEFAULT_SPECS = ("specs",)
PLAN_PATH = ".mcpe/plan.json"
_SUITE = re.compile(r"^suite\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Project:
    """`specs` are files and folders relative to `root`, `lint` settings; `config` is the file that says so, if one does."""

    root: Path
    specs: tuple[str, ...] = DEFAULT_SPECS
    config: Path | None = None
    lint: LintSettings = field(default_factory=LintSettings)

    def relative(self, path: Path) -> str:
        """A path as everything shows and stores it: relative to the root, with `/`."""
        return Path(os.path.relpath(path.absolute(), self.root)).as_posix()


@dataclass(slots=True)
class FileReader:
    """Reads regular files by their path relative to the root, and remembers what it read (`texts`) for messages.

    `overlay` holds what is read in place of a file: a text that is not saved yet.
    """

    root: Path
    texts: dict[str, bytes] = field(default_factory=dict)
    overlay: Mapping[str, bytes] = field(default_factory=dict)

    def read(self, path: str) -> bytes:
        """The bytes of a file. Raises OSError; so do a pipe or device, which may never end, and what memory may not hold."""
        if path in self.overlay:
            data = self.texts[path] = self.overlay[path]
            return data
        full = self.root / path
        if self.exists(path) and not full.is_file() and not full.is_dir():
            raise OSError(errno.EINVAL, "it is not a regular file")
        try:
            if full.stat().st_size > MOST_BYTES:
                raise OSError(errno.EFBIG, f"it has more than {MOST_BYTES // 2**20} MB")
            data = self.texts[path] = full.read_bytes()
        except ValueError:  # a zero byte, or half a character: no file is named so
            raise FileNotFoundError(errno.ENOENT, "no file can have this name") from None
        return data

    def exists(self, path: str) -> bool:
        """False also for what cannot be a file's name (too long, a zero byte)."""
        if path in self.overlay or any(name.startswith(f"{path}/") for name in self.overlay):
            return True
        try:
            return (self.root / path).exists()
        except (OSError, ValueError):
            return False


def find(start: Path) -> Checked[Project]:
    """The project that a folder (or a file) belongs to."""
    folder = start.absolute() if start.is_dir() else start.absolute().parent
    for candidate in (folder, *folder.parents):
        for name, keys in (("mcpe.toml", ()), ("pyproject.toml", ("tool", "mcpe"))):
            path = candidate / name
            if path.is_file():
                found = _configured(path, keys)
                if found is not None:
                    return found
    cwd = Path.cwd()
    return Checked(Project(cwd if folder == cwd or cwd in folder.parents else folder))


def _configured(path: Path, keys: tuple[str, ...]) -> Checked[Project] | None:
    """None where the file says nothing about mcpe."""
    import tomllib

    try:
        raw = path.read_bytes()
    except OSError as error:
        return None if keys else Checked(None, (_bad_config(path, f"it cannot be read ({error.strerror})"),))
    try:
        data: Any = tomllib.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        # another tool's broken pyproject.toml is its own matter, unless it seems to speak of us
        if keys and b"[tool.mcpe" not in raw:
            return None
        return Checked(None, (_bad_config(path, f"it is no TOML ({error})"),))
    for key in keys:
        data = data.get(key)
        if data is None:
            return None
        if not isinstance(data, dict):
            return Checked(None, (_bad_config(path, f"`{key}` is no table"),))
    return _settings(path, data)


def _settings(path: Path, data: dict[str, Any]) -> Checked[Project]:
    from mcpeval_dsl.diagnostics.suggestions import closest

    unknown = next((key for key in data if key not in ("specs", "lint")), None)
    if unknown is not None:
        near = closest(unknown, ["specs", "lint"])
        return Checked(
            None, (_bad_config(path, f"there is no setting `{unknown}`", near and f"did you mean `{near}`?"),)
        )
    specs = data.get("specs", list(DEFAULT_SPECS))
    if isinstance(specs, str):
        specs = [specs]
    if not isinstance(specs, list) or not all(isinstance(item, str) for item in specs):
        return Checked(None, (_bad_config(path, "`specs` is no list of paths"),))
    lint = LintSettings()
    if "lint" in data:
        from mcpeval_dsl.project.lint_settings import read

        found = read(path, data["lint"])
        if found.value is None:
            return Checked(None, found.diagnostics)
        lint = found.value
    return Checked(Project(path.parent, tuple(specs), path, lint))


def _bad_config(path: Path, what: str, hint: str | None = None) -> Diagnostic:
    return Diagnostic(
        code="MCPE574",
        title=f"{path.name}: {what}",
        body="`specs` names the files and folders with the project's specs, relative to this file.",
        hint=hint or 'write specs = ["specs"]',
    )


def spec_files(project: Project, arguments: Iterable[str], shared: bool = False) -> Checked[tuple[str, ...]]:
    """Specs by path relative to the root, in order, each once: the arguments, or without any those of the project.

    A folder stands for the `.mcpe` files below it that hold a suite (with `shared`, also for those that are only imported).
    """
    given = tuple(arguments)
    roots = [Path.cwd() / a for a in given] if given else [project.root / s for s in project.specs]
    found: dict[str, None] = {}
    problems: list[Diagnostic] = []
    for path in roots:
        if os.path.isdir(path):  # noqa: PTH112  # unlike Path.is_dir, False for what cannot be a name
            found.update((project.relative(p), None) for p in _inside(path) if shared or _has_suite(p))
        elif os.path.exists(path):  # noqa: PTH110
            found[project.relative(path)] = None
        elif given:
            problems.append(_missing(project, path))
    if not found and not problems:
        problems.append(_no_specs(project, given))
    return Checked(None if problems else tuple(found), tuple(problems))


def _inside(folder: Path) -> list[Path]:
    """The `.mcpe` files below a folder; what vanishes or may not be read meanwhile is left out."""
    found: list[Path] = []
    for where, _, names in os.walk(folder):
        found.extend(Path(where, name) for name in names if name.endswith(".mcpe"))
    return sorted(path for path in found if path.is_file())


def _has_suite(path: Path) -> bool:
    """A file that cannot be read, is too large or no text, counts as a spec, so that the reader says why."""
    try:
        if path.stat().st_size > MOST_BYTES:
            return True
        data = path.read_bytes()
        return b"\0" in data or _SUITE.search(data.decode("utf-8-sig")) is not None
    except (OSError, UnicodeDecodeError):
        return True


def _missing(project: Project, path: Path) -> Diagnostic:
    from mcpeval_dsl.diagnostics.suggestions import closest

    beside = [p.name for p in path.parent.glob("*.mcpe")] if path.parent.is_dir() else []
    near = closest(path.name, beside)
    hint = f"did you mean `{project.relative(path.parent / near)}`?" if near else "give the path of a spec or a folder"
    return Diagnostic("MCPE576", f"there is no file {project.relative(path)}", hint=hint)


def _no_specs(project: Project, given: tuple[str, ...]) -> Diagnostic:
    where = ", ".join(given or project.specs)
    return Diagnostic(
        "MCPE575",
        f"there is no spec in {where}",
        body="A spec is a file with the ending .mcpe that holds a suite.",
        hint='give the path of a spec, or set specs = ["…"] in mcpe.toml; `mcpe init` writes a first suite',
    )


def digests(root: Path, paths: Iterable[str]) -> dict[str, str]:
    """SHA-256 by path of each file, and of each folder over all files below it; what is not there is left out."""
    from mcpeval_dsl.plan.keys import tree_digest

    found: dict[str, str] = {}
    for path in paths:
        full = root / path
        if full.is_dir():
            files = sorted(p for p in full.rglob("*") if p.is_file())
            found[path] = tree_digest({p.relative_to(full).as_posix(): _sha256(p) for p in files})
        elif full.is_file():
            found[path] = _sha256(full)
    return found


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
