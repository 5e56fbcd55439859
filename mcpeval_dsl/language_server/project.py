"""Language server, one project: its files, who imports whom, and what was last found about each spec."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.diagnostics.settings import LintSettings
from mcpeval_dsl.language_server.disk import Overlay, Stamp, specs_below, stamp
from mcpeval_dsl.language_server.parts import Parts, parts_of
from mcpeval_dsl.language_server.positions import Encoding
from mcpeval_dsl.language_server.snapshot import Analysis, Snapshot
from mcpeval_dsl.project.loading import lock_path
from mcpeval_dsl.semantics.catalogue import KnownServer
from mcpeval_dsl.semantics.reader import beside

_SUITE = re.compile(r"^suite\b", re.MULTILINE)
_IMPORT = re.compile(r'^import[ \t]+r?"([^"\n]+)"', re.MULTILINE)
MOST_ABOVE = 200
MOST_MAINS = 8  # specs that are analysed because of one file that they import; open ones come first


@dataclass(slots=True)
class Open:
    """An open file: its text at a version. `full` is its absolute path, or the name of a buffer that has none."""

    uri: str
    path: str
    full: str
    text: str
    version: int | None
    parts: Parts
    limited: str = ""


@dataclass(slots=True)
class _Entry:
    """What a file on disk says at a glance."""

    stamp: Stamp | None
    imports: tuple[str, ...]
    suite: bool


@dataclass(slots=True)
class Project:
    """Implements `snapshot.Files`. `opened` are its open files by path; `buffers` gives the texts of all open files;
    `known` are the tools of servers by the path of the lock that says so, `stamps` of files by the spec they count for."""

    root: Path
    encoding: Encoding
    buffers: Callable[[], Mapping[str, str]]
    to_uri: Callable[[str], str]
    lint: LintSettings = field(default_factory=LintSettings)
    misconfigured: Diagnostic | None = None  # what is wrong with the file that says so
    opened: dict[str, Open] = field(default_factory=dict)
    analysed: dict[str, Analysis] = field(default_factory=dict)
    known: dict[str, Mapping[str, KnownServer]] = field(default_factory=dict)
    stamps: dict[str, Mapping[str, Stamp | None]] = field(default_factory=dict)
    scanned: bool = False  # what `paths` and `importers` say is of the disk, not of open files alone
    _entries: dict[str, _Entry] = field(default_factory=dict)
    _glances: dict[str, tuple[str, _Entry]] = field(default_factory=dict)

    def overlay(self) -> Overlay:
        return Overlay(str(self.root), dict(self.buffers()))

    def scan(self) -> None:
        """Look which specs there are and what they import. What did not change is not read again."""
        overlay = self.overlay()
        found: dict[str, _Entry] = {}
        for path in specs_below(str(self.root)):
            mark = stamp(overlay.full(path))
            known = self._entries.get(path)
            if known is not None and known.stamp == mark:
                found[path] = known
                continue
            try:
                text = overlay.read(path).decode("utf-8", "replace")
            except OSError:
                text = ""
            found[path] = _entry(path, text, mark)
        self._entries = found
        self.scanned = True

    def _glance(self, path: str) -> _Entry | None:
        opened = self.opened.get(path)
        if opened is None:
            return self._entries.get(path)
        known = self._glances.get(path)
        if known is None or known[0] is not opened.text:
            known = self._glances[path] = opened.text, _entry(path, opened.text, None)
        return known[1]

    def paths(self) -> tuple[str, ...]:
        return tuple(sorted({*self._entries, *self.opened}))

    def exists(self, path: str) -> bool:
        return self.overlay().exists(path)

    def entries(self, folder: str) -> list[str]:
        return self.overlay().entries(folder)

    def text(self, path: str) -> str | None:
        try:
            return self.overlay().read(path).decode("utf-8", "replace")
        except OSError:
            return None

    def uri(self, path: str) -> str:
        opened = self.opened.get(path)
        return opened.uri if opened is not None else self.to_uri(os.path.normpath(self.root / path))

    def importers(self, path: str) -> tuple[str, ...]:
        found = []
        for other in self.paths():
            entry = self._glance(other)
            if entry is not None and path in entry.imports:
                found.append(other)
        return tuple(found)

    def mains(self, path: str) -> tuple[str, ...]:
        """The specs whose analysis says something about a file: itself, if it has a suite or nobody imports it; else
        the specs that import it, if through others."""
        entry = self._glance(path)
        if entry is None or entry.suite:
            return (path,)
        above = [name for name in self._above(path) if (found := self._glance(name)) and found.suite]
        above.sort(key=lambda name: name not in self.opened)
        return tuple(above[:MOST_MAINS]) or (path,)

    def _above(self, path: str) -> list[str]:
        """The files that import this one, if through others, nearest first."""
        found: list[str] = []
        pending = [path]
        seen = {path}
        importing: dict[str, list[str]] = {}
        for other in self.paths():
            entry = self._glance(other)
            for target in entry.imports if entry is not None else ():
                importing.setdefault(target, []).append(other)
        while pending and len(found) < MOST_ABOVE:
            for other in importing.get(pending.pop(0), ()):
                if other not in seen:
                    seen.add(other)
                    found.append(other)
                    pending.append(other)
        return found

    def graph(self) -> list[tuple[str, tuple[str, ...], bool]]:
        """Which specs there are on disk, what they import, and whether they hold a suite."""
        return [(path, entry.imports, entry.suite) for path, entry in sorted(self._entries.items())]

    def changed_on_disk(self) -> list[str]:
        """Specs of which a file that was looked at, and is not open, is not as it was then."""
        overlay = self.overlay()
        return [
            main
            for main, stamps in list(self.stamps.items())
            if any(path not in self.opened and stamp(overlay.full(path)) != mark for path, mark in stamps.items())
        ]

    def snapshot(self, path: str) -> Snapshot | None:
        opened = self.opened.get(path)
        if opened is not None:
            return self._made(opened.uri, path, opened.text, opened.version, opened.parts, opened.limited)
        try:
            text = self.overlay().read(path).decode("utf-8-sig")
        except (OSError, UnicodeDecodeError):
            return None
        return self._made(self.uri(path), path, text, None, parts_of(path, text), "")

    def _made(self, uri: str, path: str, text: str, version: int | None, parts: Parts, limited: str) -> Snapshot:
        analysis = self.analysis_of(path)
        known = self.known.get(lock_path(path if analysis is None else analysis.main), {})
        return Snapshot(uri, path, text, version, self.encoding, parts.items, known, self, analysis, limited)

    def analysis_of(self, path: str) -> Analysis | None:
        """What is known about a file: from its own analysis, else from that of a spec it has a part in."""
        own = self.analysed.get(path)
        if own is not None:
            return own
        return next((a for a in self.analysed.values() if path in a.texts), None)

    def forget(self) -> None:
        """Drop the analyses that no open file has a part in, and those of files that are looked at as a part of others."""
        for main, analysis in list(self.analysed.items()):
            if not any(path in self.opened for path in (main, *analysis.texts)) or self._elsewhere(main):
                del self.analysed[main]
                self.stamps.pop(main, None)

    def _elsewhere(self, path: str) -> bool:
        return path not in self.mains(path) and any(
            path in analysis.texts for main, analysis in self.analysed.items() if main != path
        )

    def imports(self, path: str) -> tuple[tuple[str, ...], bool]:
        """What a file imports, and whether it holds a suite: what decides with what it is looked at."""
        entry = self._glance(path)
        return (entry.imports, entry.suite) if entry is not None else ((), False)


def _entry(path: str, text: str, mark: Stamp | None) -> _Entry:
    imports = tuple(beside(path, found) for found in _IMPORT.findall(text))
    return _Entry(mark, imports, _SUITE.search(text) is not None)
