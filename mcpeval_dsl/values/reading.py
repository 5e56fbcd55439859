"""Values, last: reads one source, with its expressions evaluated, within time and size limits.

Tool calls and resources go through what `execute` hands in (the gateway); everything else is read from this machine.
A relative path is looked up in the trial's working directory, then beside the spec.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from mcpeval_dsl.semantics.expressions import (
    Command,
    Expression,
    FileText,
    FileTree,
    Http,
    Resource,
    Source,
    Sql,
    ToolCall,
)
from mcpeval_dsl.values.evaluate import evaluate
from mcpeval_dsl.values.local import read_file, read_sql, read_tree, refused
from mcpeval_dsl.values.model import EvaluationError, Reading, Scope
from mcpeval_dsl.values.processes import Wrap, read_command
from mcpeval_dsl.values.sources import arguments_of, argv_of
from mcpeval_dsl.values.text import as_text, short
from mcpeval_dsl.values.threads import in_thread
from mcpeval_dsl.values.web import read_http

CallTool = Callable[[str, str, Mapping[str, Any], Literal["own", "same"]], Awaitable[Reading]]
ReadResource = Callable[[str | None, str], Awaitable[Reading]]


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds for one source, bytes of what is kept of it, bytes digested of a tree."""

    seconds: float = 30.0
    bytes: int = 16 * 1024 * 1024
    tree_bytes: int = 2 * 1024 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class LocalReader:
    """A SourceReader. `env` is all that a command sees; `hosts` are those that HTTP may reach beside this machine.

    `wrap` puts the sandbox before a command.
    """

    workdir: Path
    project: Path
    call: CallTool | None = None
    resource: ReadResource | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    hosts: frozenset[str] = frozenset()
    limits: Limits = Limits()
    wrap: Wrap | None = None

    async def read(self, source: Source, scope: Scope) -> Reading:
        """What the source gives. Cancellation passes through; everything else that goes wrong is in the Reading."""
        try:
            return await self._read(source, scope)
        except EvaluationError as problem:
            return refused(problem.reason)

    async def _read(self, source: Source, scope: Scope) -> Reading:
        match source:
            case ToolCall():
                if self.call is None:
                    return refused(f"there is no session to {source.server} here")
                return await self.call(
                    source.server, source.tool, arguments_of(source.arguments, scope), source.session
                )
            case Resource():
                if self.resource is None:
                    return refused("there is no session to a server here")
                return await self.resource(source.server, _text(source.uri, scope, "a resource"))
            case Command():
                argv = argv_of(source.argv, scope)
                limits = self.limits
                return await read_command(argv, self.workdir, self.env, limits.seconds, limits.bytes, self.wrap)
            case _:
                return await self._in_thread(self._blocking(source, scope), source.kind)

    def _blocking(self, source: Sql | FileText | FileTree | Http, scope: Scope) -> Callable[[], Reading]:
        """The blocking read with everything evaluated already."""
        limits = self.limits
        match source:
            case FileText():
                path = self._path(source.path, scope)
                return lambda: read_file(path, limits.bytes)
            case FileTree():
                root = self._path(source.path, scope)
                return lambda: read_tree(root, limits.tree_bytes)
            case Sql():
                query, database = _text(source.query, scope, "a query"), self._path(source.on, scope)
                return lambda: read_sql(query, database, limits.seconds, limits.bytes)
            case Http():
                return self._http(source, scope)

    def _http(self, source: Http, scope: Scope) -> Callable[[], Reading]:
        method, url = _text(source.method, scope, "a method"), _text(source.url, scope, "a URL")
        body = None if source.body is None else evaluate(source.body, scope)
        auth = None if source.auth is None else _text(source.auth, scope, "authorisation")
        headers = {name: as_text(value) for name, value in arguments_of(source.headers, scope).items()}
        limits = self.limits
        return lambda: read_http(method, url, body, headers, auth, self.hosts, limits.seconds, limits.bytes)

    def _path(self, expression: Expression, scope: Scope) -> Path:
        text = _text(expression, scope, "a path")
        if "\0" in text:
            raise EvaluationError("a path cannot hold a NUL character")
        path = Path(text)
        if path.is_absolute():
            return path
        inside = self.workdir / path
        return inside if inside.exists() or not (self.project / path).exists() else self.project / path

    async def _in_thread(self, read: Callable[[], Reading], kind: str) -> Reading:
        """The thread is left behind when it does not come back in time: a network file system can hang for good."""
        try:
            async with asyncio.timeout(self.limits.seconds + 5):
                return await in_thread(read)
        except TimeoutError:
            return refused(f"reading the {kind} took longer than {self.limits.seconds:g} s")


def _text(expression: Expression, scope: Scope, what: str) -> str:
    value = evaluate(expression, scope)
    if isinstance(value, str):
        return value
    raise EvaluationError(f"{what} must be a text, not {short(value, 60)}")
