"""Language server: which project an open file belongs to, and what it is called there."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.diagnostics.settings import LintSettings
from mcpeval_dsl.language_server.positions import Encoding
from mcpeval_dsl.language_server.project import Project
from mcpeval_dsl.project import files
from mcpeval_dsl.source import Location

NOWHERE = Path(os.devnull)  # the root of buffers without a file, where no folder is open: nothing is found below it


def file_of(uri: str) -> str | None:
    """The absolute path of a `file:` URI; None for any other, such as that of a buffer without a file."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme != "file" or not parts.path.startswith("/"):
        return None
    path = unquote(parts.path, errors="surrogateescape")
    return None if "\0" in path else os.path.normpath(path)


def uri_of(full: str) -> str:
    """The `file:` URI of an absolute path."""
    return "file://" + quote(os.fsencode(full))


class Homes:
    """Projects by root. Without a file that says where the project is, it is the editor's folder, else the file's own."""

    def __init__(self, encoding: Encoding, folders: list[Path], buffers: Callable[[], Mapping[str, str]]) -> None:
        self.encoding: Encoding = encoding
        self.folders = folders
        self._buffers = buffers
        self._projects: dict[str, Project] = {}
        self._roots: dict[str, Path] = {}
        self._settings: dict[str, tuple[LintSettings, Diagnostic | None]] = {}

    def of(self, uri: str, *, again: bool = False) -> tuple[Project, str]:
        """The project of a file and its path there; `again` looks anew where the project is."""
        full = file_of(uri)
        if full is None:
            return self._project(self.folders[0] if self.folders else NOWHERE), uri.replace("/", "_")
        folder = os.path.dirname(full)  # noqa: PTH120
        if again or folder not in self._roots:
            self._roots[folder] = self._root(Path(full))
        root = self._roots[folder]
        return self._project(root), Path(os.path.relpath(full, root)).as_posix()

    def _root(self, full: Path) -> Path:
        checked = files.find(full.parent)
        found = checked.value
        if found is not None and found.config is not None:
            self._settings[str(found.root)] = found.lint, None
            return found.root
        for wrong in checked.diagnostics if found is None else ():
            name = wrong.title.split(":")[0]
            root = next((folder for folder in full.parents if (folder / name).is_file()), full.parent)
            self._settings[str(root)] = LintSettings(), replace(wrong, at=Location(name, 1, 1, 1, 1))
            return root
        around = [folder for folder in self.folders if folder in full.parents]
        return max(around, key=lambda folder: len(folder.parts), default=full.parent)

    def _project(self, root: Path) -> Project:
        known = self._projects.get(str(root))
        if known is None:
            known = self._projects[str(root)] = Project(root, self.encoding, self._buffers, uri_of)
        known.lint, known.misconfigured = self._settings.get(str(root), (LintSettings(), None))
        return known
