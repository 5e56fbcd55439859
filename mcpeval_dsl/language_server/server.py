"""Language server, its last step: the service and the features, spoken of in the terms of the protocol.

Methods are registered by functions `register(server)`: they take a snapshot (`server.snapshot(uri)`), call a feature, and
convert what it gives. `server.answer(method, options)` guards each of them.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
import traceback
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from mcpeval_dsl import __version__
from mcpeval_dsl.language_server import acting, converting
from mcpeval_dsl.language_server.beside import Beside
from mcpeval_dsl.language_server.buffers import Change
from mcpeval_dsl.language_server.features import registering
from mcpeval_dsl.language_server.features.diagnostics import Shown
from mcpeval_dsl.language_server.homes import file_of
from mcpeval_dsl.language_server.project import Project
from mcpeval_dsl.language_server.protocol import Outdated, Protocol, Waiting, serve
from mcpeval_dsl.language_server.service import Service
from mcpeval_dsl.language_server.snapshot import Snapshot
from mcpeval_dsl.language_server.warming import AT_ONCE, Need, missing

Answer = TypeVar("Answer")
WATCHED = ("**/*.mcpe", "**/mcpe.lock", "**/mcpe.toml", "**/pyproject.toml")


class Server(LanguageServer):
    """One session. `service` is there once the editor has introduced itself."""

    protocol: Protocol
    service: Service
    loop: asyncio.AbstractEventLoop

    def __init__(self, *, traces: bool = False) -> None:
        super().__init__("mcpe", __version__, protocol_cls=Protocol, max_workers=1)
        self.traces = traces
        # it warns of each message that it has no use for, such as answers after the end
        logging.getLogger("pygls").setLevel(logging.DEBUG if traces else logging.CRITICAL)
        self.beside = Beside()
        self.watches = False
        self.pages = ""  # where the page of a code is, with {code} in it
        self.runs = True  # ways to run something are offered above it
        self.explains = False  # the editor has said that it can start a command line of ours
        self.versions = False  # it knows edits for a version of a text
        _register(self)

    def snapshot(self, uri: str) -> Snapshot | None:
        """The open file; None where it is not open, or too large to be a spec."""
        return self.service.snapshot(uri)

    def when_found(
        self, files: list[Snapshot], need: Need, answer: Callable[[], Any], outdated: Callable[[], bool] = lambda: False
    ) -> Any:
        """What `answer` gives, once it is known what it needs of all parts of files: now, where most of it is."""
        if missing(files, need) <= AT_ONCE:
            return answer()

        def start(give: Callable[[Any], None]) -> None:
            def then() -> None:
                try:
                    found = Outdated() if outdated() else answer()
                except Exception as error:
                    self.failed(error)
                    found = None
                give(found)

            self.service.warming.find(files, need, then)

        return Waiting(start)

    def when_read(
        self, uri: str, need: Need, answer: Callable[[Snapshot], Any], files: Callable[[Snapshot], list[Snapshot]]
    ) -> Any:
        """The same for an answer about an open file, from its snapshot; None where it is not open."""
        snapshot = self.snapshot(uri)
        if snapshot is None:
            return None

        def now() -> Any:
            newest = self.snapshot(uri)
            return None if newest is None else answer(newest)

        def outdated() -> bool:
            newest = self.snapshot(uri)
            return newest is None or newest.text != snapshot.text

        return self.when_found(files(snapshot), need, now, outdated)

    def answer(self, method: str, options: Any = None) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
        """Register a function of the request's parameters as what answers a method. What it raises is logged, and the
        editor gets no answer (null): one request fails, not the session."""

        def decorate(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
            @wraps(function)
            def guarded(params: Any) -> Any:
                try:
                    return function(params)
                except BrokenPipeError:
                    raise
                except Exception as error:
                    self.failed(error)
                    return None

            self.feature(method, options)(guarded)
            return function

        return decorate

    # what the service asks of an editor

    def publish(self, uri: str, version: int | None, found: list[Shown], project: Project) -> None:
        items = [converting.diagnostic(item, project, self.pages) for item in found]
        params: dict[str, Any] = {"uri": uri, "diagnostics": items}
        if version is not None:
            params["version"] = version
        self.protocol.tell(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, params)

    def refresh(self) -> None:
        workspace = self.client_capabilities.workspace
        if workspace is None:
            return
        for part, ask in (
            (workspace.code_lens, self.workspace_code_lens_refresh),
            (workspace.inlay_hint, self.workspace_inlay_hint_refresh),
            (workspace.semantic_tokens, self.workspace_semantic_tokens_refresh),
        ):
            if part is not None and part.refresh_support:
                ask(None)

    def failed(self, error: BaseException) -> None:
        """A fault of ours, told where editors keep such things; the session goes on."""
        text = f"{type(error).__name__}: {error}"
        if self.traces:
            text = "".join(traceback.format_exception(error))
        print(f"internal error: {text}", file=sys.stderr, flush=True)

    def report_server_error(self, error: Exception, source: Any) -> None:
        """What pygls could not do with a message. A request is answered with the error in any case."""
        if not isinstance(error, JsonRpcException):
            self.failed(error)

    def in_loop(self, do: Callable[[], None]) -> None:
        self.loop.call_soon_threadsafe(self._guarded, do)

    def later(self, seconds: float, do: Callable[[], None]) -> None:
        self.loop.call_later(seconds, self._guarded, do)

    def _guarded(self, do: Callable[[], None]) -> None:
        try:
            do()
        except BrokenPipeError:
            self.protocol.ended = True
        except Exception as error:
            self.failed(error)

    def run(self, input_: int, output: int) -> int:
        """Serve one session over two descriptors; gives the exit code."""
        gc.freeze()  # what was imported stays
        self.beside.start(input_, output)
        try:
            return serve(self, input_, output, self._look)
        finally:
            if hasattr(self, "service"):
                self.service.end()

    def _look(self) -> None:
        if hasattr(self, "service") and not self.watches:
            self.service.look_at_disk()


def _register(server: Server) -> None:
    _life(server)
    _texts(server)
    acting.register(server)
    registering.register(server)


def _life(server: Server) -> None:
    @server.answer(lsp.INITIALIZE)
    def initialize(params: lsp.InitializeParams) -> None:
        server.loop = asyncio.get_running_loop()
        options = params.initialization_options
        options = options if isinstance(options, dict) else {}
        pages = options.get("codePages")
        server.runs, server.explains = options.get("terminal") is not False, options.get("terminal") is True
        server.versions = _knows_versions(params.capabilities)
        known = isinstance(pages, str) and pages.startswith(("https://", "http://", "file://"))
        server.pages = str(pages) if known else _own_pages()
        uris = [folder.uri for folder in params.workspace_folders or ()] or [params.root_uri or ""]
        folders = [Path(found) for uri in uris if (found := file_of(uri)) is not None]
        server.service = Service(server, server.beside, converting.encoding(params.capabilities), folders)

    @server.answer(lsp.INITIALIZED)
    def initialized(params: lsp.InitializedParams) -> None:
        workspace = server.client_capabilities.workspace
        watched = workspace.did_change_watched_files if workspace is not None else None
        if watched is None or not watched.dynamic_registration:
            return
        server.watches = True
        options = lsp.DidChangeWatchedFilesRegistrationOptions([lsp.FileSystemWatcher(glob) for glob in WATCHED])
        registration = lsp.Registration("watched-files", lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
        server.client_register_capability(lsp.RegistrationParams([registration]))

    @server.answer(lsp.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def folders_changed(params: lsp.DidChangeWorkspaceFoldersParams) -> None:
        folders = server.service.homes.folders
        gone = {file_of(folder.uri) for folder in params.event.removed}
        folders[:] = [folder for folder in folders if str(folder) not in gone]
        folders += [Path(found) for folder in params.event.added if (found := file_of(folder.uri)) is not None]
        server.service.moved_on_disk()


def _texts(server: Server) -> None:
    @server.answer(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        server.service.open(document.uri, document.version, document.text)

    @server.answer(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        changes = [_change(event) for event in params.content_changes]
        server.service.change(params.text_document.uri, params.text_document.version, changes)

    @server.answer(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        server.service.close(params.text_document.uri)

    @server.answer(lsp.TEXT_DOCUMENT_DID_SAVE, lsp.SaveOptions(include_text=False))
    def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        server.service.moved_on_disk()

    @server.answer(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def changed_on_disk(params: lsp.DidChangeWatchedFilesParams) -> None:
        server.service.moved_on_disk()


def _change(event: Any) -> Change:
    where = getattr(event, "range", None)
    if where is None:
        return Change(None, None, event.text)
    return Change((where.start.line, where.start.character), (where.end.line, where.end.character), event.text)


def _knows_versions(capabilities: lsp.ClientCapabilities) -> bool:
    workspace = capabilities.workspace
    return bool(workspace and workspace.workspace_edit and workspace.workspace_edit.document_changes)


def _own_pages() -> str:
    """The pages of the codes where they lie beside the package, as in a checkout."""
    pages = Path(__file__).parents[2] / "docs" / "reference" / "codes"
    return f"{pages.as_uri()}/{{code}}.md" if pages.is_dir() else ""
