"""Language server, its state: open files, their projects, and what is published of them. Knows no protocol.

A keystroke changes a buffer and its parts at once; what the text means is found in the background a moment later, and
published if the text is still the same. Everything here runs in the loop's thread but what is handed to `background`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from mcpeval_dsl.language_server.analyst import Analyse, Answer, Figure, Syntax
from mcpeval_dsl.language_server.background import Background, Stopped
from mcpeval_dsl.language_server.beside import Beside
from mcpeval_dsl.language_server.buffers import Buffer, Change
from mcpeval_dsl.language_server.features.diagnostics import Shown, of_syntax
from mcpeval_dsl.language_server.figures import SuiteFigures
from mcpeval_dsl.language_server.homes import Homes
from mcpeval_dsl.language_server.parts import parts_after, parts_of
from mcpeval_dsl.language_server.positions import Encoding
from mcpeval_dsl.language_server.project import Open, Project
from mcpeval_dsl.language_server.publishing import found_in, open_problems
from mcpeval_dsl.language_server.snapshot import Analysis, Snapshot, moves
from mcpeval_dsl.language_server.warming import AT_ONCE, Warming, missing
from mcpeval_dsl.project.loading import lock_path

# seconds of quiet before a text is analysed: as long as that took, between these
SHORTEST_DELAY, LONGEST_DELAY = 0.08, 0.4
LARGEST = 1_000_000  # characters of a file that is analysed; of a larger one only the syntax is looked at
LARGEST_PART = 60_000  # characters of a part that is read while a key is pressed


class Client(Protocol):
    """What the service asks of the editor's side. All of it may be called in the loop's thread only, but `in_loop`."""

    def publish(self, uri: str, version: int | None, found: list[Shown], project: Project) -> None: ...

    def refresh(self) -> None:
        """What is shown between the lines may have changed."""
        ...

    def failed(self, error: BaseException) -> None:
        """Called in any thread."""
        ...

    def in_loop(self, do: Callable[[], None]) -> None:
        """Have something done in the loop's thread. Called in any thread."""
        ...

    def later(self, seconds: float, do: Callable[[], None]) -> None:
        """The same after a while. Called in the loop's thread."""
        ...


@dataclass(slots=True)
class _Document:
    project: Project
    buffer: Buffer
    opened: Open
    times: int = 1
    syntax: list[tuple[str, str]] = field(default_factory=list)  # code and title of what is wrong with it


class Service:
    """One session with one editor."""

    def __init__(self, client: Client, beside: Beside, encoding: Encoding, folders: Iterable[Path]) -> None:
        self.client = client
        self.beside = beside
        self.encoding: Encoding = encoding
        self.homes = Homes(encoding, list(folders), self._texts)
        self.background = Background(client.failed)
        self._documents: dict[str, _Document] = {}
        self._published: dict[str, set[str]] = {}  # uris by root of a project that have diagnostics in the editor
        self._took: dict[str, float] = {}  # seconds that the last analysis of a spec took
        self.warming = Warming(client.later)
        self.background.start()

    def _texts(self) -> Mapping[str, str]:
        return {d.opened.full: d.opened.text for d in list(self._documents.values())}

    def snapshot(self, uri: str) -> Snapshot | None:
        """The file as it stands; None for one that is not open, or that no spec can be as large as."""
        document = self._documents.get(uri)
        if document is None or len(document.opened.text) > 4 * LARGEST:
            return None
        return document.project.snapshot(document.opened.path)

    def project(self, uri: str) -> Project | None:
        """The project of an open file."""
        document = self._documents.get(uri)
        return document.project if document is not None else None

    def found(self, uri: str) -> list[Shown]:
        """What is known to be wrong with an open file, where it stands now."""
        document = self._documents.get(uri)
        if document is None:
            return []
        path = document.opened.path
        return found_in(document.project, self.encoding, path).get(path, [])

    def open(self, uri: str, version: int | None, text: str) -> None:
        """A window shows a file. Shown in several, the last one's text counts, until all are closed."""
        known = self._documents.get(uri)
        project, path = self.homes.of(uri) if known is None else (known.project, known.opened.path)
        text_now = Buffer(text)
        parts = parts_of(path, text if len(text) <= 4 * LARGEST else "")
        opened = Open(uri, path, project.overlay().full(path), text, version, parts, _limited(text))
        self._documents[uri] = _Document(project, text_now, opened, 1 if known is None else known.times + 1)
        project.opened[path] = opened
        self._scan(project)
        self._ask(project, path, at_once=True)
        self._warm(uri)

    def _warm(self, uri: str) -> None:
        """Find out what requests will need, unless that is little."""
        snapshot = self.snapshot(uri)
        if snapshot is not None and missing([snapshot], "names"):
            self.warming.warm(uri, lambda: self.snapshot(uri))

    def change(self, uri: str, version: int | None, changes: list[Change]) -> None:
        """Edits of an open file, in order. A file that was never opened is, if its whole text comes."""
        document = self._documents.get(uri)
        if document is None:
            whole = next((i for i, c in enumerate(changes) if c.start is None), None)
            if whole is None:
                return
            self.open(uri, version, changes[whole].text)
            return self.change(uri, version, changes[whole + 1 :])
        document.buffer.apply(changes, self.encoding)
        before, text = document.opened, document.buffer.text
        moved = moves(before.text, text)
        if max(len(text), len(before.text)) <= 4 * LARGEST:
            parts = parts_after(before.path, before.parts, text, moved.start, moved.before, moved.by)
        else:
            parts = parts_of(before.path, text if len(text) <= 4 * LARGEST else "")
        project, imported = document.project, document.project.imports(before.path)
        opened = Open(uri, before.path, before.full, text, version, parts, _limited(text))
        document.opened = project.opened[before.path] = opened
        self._typed(document, moved.start, moved.before + moved.by)
        self._ask(project, before.path)
        if len(text) > AT_ONCE and sum(1 for part in parts.items if not part.body.is_read) > 5:  # more than was typed
            self._warm(uri)
        if project.imports(before.path) != imported:
            self._ask_open(project)

    def close(self, uri: str) -> None:
        """A window on a file was closed; what is on disk counts again."""
        document = self._documents.get(uri)
        if document is None:
            return
        document.times -= 1
        if document.times > 0:
            return
        del self._documents[uri]
        project, path = document.project, document.opened.path
        if project.opened.get(path) is document.opened:
            del project.opened[path]
        project.forget()
        for main in [m for m, a in project.analysed.items() if path in a.texts]:
            self._ask_main(project, main, 0.0)
        self._publish_all(project)

    def moved_on_disk(self) -> None:
        """Files changed, came or went that are not open: specs, locks, or what says where the project is."""
        for uri in list(self._documents):
            document = self._documents[uri]
            project, path = self.homes.of(uri, again=True)
            if project is not document.project:
                self._rehome(uri, document, project, path)
        for project in self.projects():
            self._scan(project)
            for path in list(project.opened):
                self._ask(project, path, at_once=True)

    def _rehome(self, uri: str, document: _Document, project: Project, path: str) -> None:
        """The file belongs to another project now."""
        document.project.opened.pop(document.opened.path, None)
        document.project.forget()
        self._publish_all(document.project)
        before = document.opened
        opened = Open(
            uri, path, project.overlay().full(path), before.text, before.version, before.parts, before.limited
        )
        document.project, document.opened = project, opened
        project.opened[path] = opened

    def projects(self) -> list[Project]:
        return list({id(d.project): d.project for d in self._documents.values()}.values())

    def look_at_disk(self) -> None:
        """For editors that tell of no changes: notice them. To be called now and then."""
        for project in self.projects():
            self.background.ask((project.root, "look"), lambda stopped, project=project: self._look(project))  # type: ignore[misc]

    def _look(self, project: Project) -> None:
        for main in project.changed_on_disk():
            self.client.in_loop(lambda main=main: self._ask_main(project, main, 0.0))  # type: ignore[misc]

    def _scan(self, project: Project) -> None:
        def scan(stopped: Stopped) -> None:
            before = project.graph()
            project.scan()
            if project.graph() != before:
                self.client.in_loop(lambda: self._ask_open(project))

        self.background.ask((project.root, "scan"), scan)

    def _ask_open(self, project: Project) -> None:
        for path in list(project.opened):
            self._ask(project, path, at_once=True)

    def _ask(self, project: Project, path: str, *, at_once: bool = False) -> None:
        """Have everything analysed that a file has a part in."""
        opened = project.opened.get(path)
        if opened is not None and opened.limited:
            self.background.ask((project.root, path), lambda stopped: self._limited(project, path, stopped), 0.1)
            return
        mains = dict.fromkeys(project.mains(path))
        mains.update((main, None) for main, a in project.analysed.items() if path in a.texts)
        for main in mains:
            took = self._took.get(main, 0.0)
            self._ask_main(project, main, 0.0 if at_once else min(max(took, SHORTEST_DELAY), LONGEST_DELAY))

    def _ask_main(self, project: Project, main: str, delay: float) -> None:
        def request() -> Analyse:
            return Analyse(str(project.root), main, project.lint, self.beside.changed(self._texts()))

        def work(stopped: Stopped) -> None:
            begin = time.monotonic()
            answer = self.beside.answer(request, stopped)
            seconds = time.monotonic() - begin
            self.client.in_loop(lambda: self._delivered(project, answer, seconds))

        self.background.ask((project.root, main), work, delay)

    def _limited(self, project: Project, path: str, stopped: Stopped) -> None:
        opened = project.opened.get(path)
        if opened is not None:
            request = Syntax(opened.path, opened.text, opened.limited)
            answer = self.beside.answer(lambda: request, stopped)
            self.client.in_loop(lambda: self._delivered(project, answer, 0.0))

    def _delivered(self, project: Project, answer: Answer, seconds: float) -> None:
        """Keep what was found; publish it if no text of it changed meanwhile (else newer work is under way)."""
        found = answer.analysis
        assert found is not None
        before = project.analysed.get(found.main)
        if before is not None and before.figures is not None:
            found = replace(found, figures=before.figures)
        if answer.known is not None:
            project.known[lock_path(found.main)] = answer.known
        self._took[found.main] = seconds
        project.analysed[found.main] = found
        project.stamps[found.main] = answer.stamps
        project.forget()
        stale = [p for p, t in found.texts.items() if p in project.opened and project.opened[p].text != t]
        if not stale:
            for document in self._documents.values():
                if document.project is project and document.opened.path in found.texts:
                    document.syntax = open_problems(found, document.opened.path)
            self._publish_all(project)
            self.client.refresh()
            self._ask_figures(project, found)

    def _ask_figures(self, project: Project, found: Analysis) -> None:
        """What a run would be and cost comes later than what is wrong; a spec with errors keeps the figures it had."""
        if any(d.severity == "error" for d in found.diagnostics):
            return

        def work(stopped: Stopped) -> None:
            answer = self.beside.answer(lambda: Figure(str(project.root), found.main), stopped)
            self.client.in_loop(lambda: self._figured(project, found, answer.figures))

        self.background.ask((project.root, found.main, "figures"), work)

    def _figured(self, project: Project, found: Analysis, made: SuiteFigures | None) -> None:
        if project.analysed.get(found.main) is found and made != found.figures:
            project.analysed[found.main] = replace(found, figures=made)
            self.client.refresh()

    def _typed(self, document: _Document, start: int, end: int) -> None:
        """What is wrong with the syntax now, said at once where it is not what was said last."""
        opened = document.opened
        snapshot = self.snapshot(opened.uri)
        if snapshot is None or snapshot.limited:
            return
        for part in snapshot.parts_between(start, end):
            if len(part.body.text) <= LARGEST_PART:
                part.body.problems  # noqa: B018  # reads it
        syntax = [(d.code, d.title) for d in of_syntax(snapshot, read=False)]
        if syntax != document.syntax:
            document.syntax = syntax
            found = found_in(document.project, self.encoding, opened.path).get(opened.path, [])
            self._send(document.project, opened.path, found)

    def _publish_all(self, project: Project) -> None:
        found = found_in(project, self.encoding)
        before = set(self._published.get(str(project.root), ()))
        for path in dict.fromkeys((*found, *project.opened)):
            self._send(project, path, found.get(path, []))
            before.discard(project.uri(path))
        for uri in sorted(before):
            self.client.publish(uri, None, [], project)
            self._published[str(project.root)].discard(uri)

    def _send(self, project: Project, path: str, found: list[Shown]) -> None:
        told = self._published.setdefault(str(project.root), set())
        windows = [d.opened for d in self._documents.values() if d.project is project and d.opened.path == path]
        for opened in windows:
            self.client.publish(opened.uri, opened.version, found, project)
        uri = project.uri(path)
        if not windows and (found or uri in told):
            self.client.publish(uri, None, found, project)
        (told.add if found else told.discard)(uri)

    def end(self) -> None:
        self.background.end()


def _limited(text: str) -> str:
    if len(text) <= LARGEST:
        return ""
    return f"the file has {len(text) / 1e6:.1f} million characters; only its syntax is looked at while it is edited"
