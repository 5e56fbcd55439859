"""The tools of an arm that no server has: programs in the trial's sandbox, and one HTTP API. Recorded apart from calls.

Neither counts against the call budget, and neither passes the gateway: what holds them is the arm's list, the sandbox, the
time and size limits here, and that a secret in what is sent stops it.
"""

from __future__ import annotations

import asyncio
import posixpath
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

from mcpeval_dsl.agents.model import NativeReply, NativeTool
from mcpeval_dsl.execute.blocking import Blocked
from mcpeval_dsl.execute.context import RunContext
from mcpeval_dsl.execute.environ import minimal
from mcpeval_dsl.execute.manifest import program_at
from mcpeval_dsl.execute.world import World
from mcpeval_dsl.execute.writeset import WriteSet
from mcpeval_dsl.gateway.model import ToolDefinition, Violation
from mcpeval_dsl.gateway.surrogates import whole
from mcpeval_dsl.semantics.arms import READING, Arm
from mcpeval_dsl.semantics.model import Task
from mcpeval_dsl.values.evaluate import evaluate
from mcpeval_dsl.values.model import EvaluationError
from mcpeval_dsl.values.processes import Ran, run_command
from mcpeval_dsl.values.text import as_text
from mcpeval_dsl.values.web import read_http

SHELL = "shell"
HTTP = "http_request"
MOST_OUTPUT = 256 * 1024
MOST_ARGUMENTS = 1000


def native_tools(context: RunContext, world: World, task: Task, writes: WriteSet) -> tuple[NativeTool, ...]:
    """What the arm gives this trial's agent; nothing where the task says `host_tools none`. Raises EvaluationError.

    `writes` is told when a program works in the folder, so that no call of a server is blamed for what it did there.
    """
    arm = world.arm
    if arm is None or task.host_tools == "none":
        return ()
    found: list[NativeTool] = []
    if arm.shell:
        found.append(NativeTool(_shell_definition(arm), _Shell(context, world, arm, writes).use))
    if arm.api is not None:
        asked = _api_of(world, arm)
        found.append(NativeTool(_http_definition(asked), asked.use))
    return tuple(found)


def about(world: World, task: Task) -> str:
    """What the arm says of itself. Raises EvaluationError."""
    arm = world.arm
    if arm is None or arm.about is None or task.host_tools == "none":
        return ""
    return as_text(evaluate(arm.about, world.names.scope()))


def missing_program(context: RunContext, world: World, task: Task) -> Blocked | None:
    """A program of the arm that this machine does not have: then the trial says nothing of any agent."""
    arm = world.arm
    if arm is None or task.host_tools == "none":
        return None
    for name in arm.shell:
        if program_at(name, context.spec_folder) is None:
            return Blocked("needs", (f"needs the program {name}",), f"the arm {arm.name} needs the program {name}")
    return None


def _shell_definition(arm: Arm) -> ToolDefinition:
    listed = ", ".join(arm.shell)
    text = (
        f"Starts one program in your working directory and gives its output. Programs: {listed}. There is no shell: no pipes, "
        f"no globs, no variables, no redirection; each argument is passed as it is. It is stopped after {arm.timeout:g} s."
    )
    schema = {
        "type": "object",
        "properties": {
            "program": {"type": "string", "enum": list(arm.shell)},
            "arguments": {"type": "array", "items": {"type": "string"}},
            "stdin": {"type": "string", "description": "What the program reads from standard input."},
        },
        "required": ["program"],
    }
    return ToolDefinition("", SHELL, description=text, input_schema=schema)


@dataclass(frozen=True, slots=True)
class _Shell:
    context: RunContext
    world: World
    arm: Arm
    writes: WriteSet

    async def use(self, given: Mapping[str, Any]) -> NativeReply:
        arguments = whole(given)
        program, words, stdin = arguments.get("program"), arguments.get("arguments", []), arguments.get("stdin", "")
        if program not in self.arm.shell:
            return _refused(f"`program` is one of {', '.join(self.arm.shell)}.")
        texts = isinstance(words, list) and all(isinstance(word, str) for word in words)
        if not texts or len(words) > MOST_ARGUMENTS or not isinstance(stdin, str):
            return _refused("`arguments` is a list of texts, and `stdin` a text.")
        found = program_at(program, self.context.spec_folder)
        world = self.world
        argv = [found or program, *words]
        async with self.writes.beside():
            ran = await run_command(
                argv,
                world.folder.work,
                minimal(world.folder, world.variables),
                self.arm.timeout,
                MOST_OUTPUT,
                stdin.encode(),
                wrap=world.sandbox.wrapping(world.folder.root, world.folder.work),
                cut=True,
            )
        return self._said(ran)

    def _said(self, ran: Ran) -> NativeReply:
        if ran.problem:
            return NativeReply(ran.problem, True, exit=ran.exit)
        parts = [ran.stdout.rstrip("\n")] if ran.stdout.strip() else []
        parts += [f"[stderr]\n{ran.stderr.rstrip()}"] if ran.stderr.strip() else []
        parts += [f"[exit code {ran.exit}]"] if ran.exit != 0 or not parts else []
        parts += [f"[only the first {MOST_OUTPUT} bytes are shown]"] if ran.cut else []
        text = self.context.redactor.text("\n".join(parts))[0]
        return NativeReply(text, ran.exit != 0, exit=ran.exit, truncated=ran.cut)


def _refused(text: str) -> NativeReply:
    return NativeReply(text, True, refused=text)


@dataclass(frozen=True, slots=True)
class _Api:
    """One API, evaluated: `base` without a final slash, `routes` of (method, glob over the path below it)."""

    context: RunContext
    world: World
    base: str
    routes: tuple[tuple[str, str], ...]
    headers: Mapping[str, str]
    timeout: float

    async def use(self, given: Mapping[str, Any]) -> NativeReply:
        try:
            return await self._used(whole(given))
        except RecursionError:
            return _refused("the request is nested too deeply")

    async def _used(self, arguments: Mapping[str, Any]) -> NativeReply:
        method, path = arguments.get("method", "GET"), arguments.get("path")
        query, body = arguments.get("query"), arguments.get("body")
        if not isinstance(path, str) or not isinstance(method, str) or not isinstance(query, dict | None):
            return _refused("`path` is a text that begins with `/`, `method` a text, and `query` an object.")
        leaked = self.world.gateway.guard.secrets_in(dict(arguments), "", HTTP)
        if leaked:
            stages = ("attempted", "blocked")
            found = Violation("secret_in_argument", "critical", stages, detail=f"{HTTP}: {', '.join(leaked)}")
            self.world.gateway.violations.append(found)
            return _refused("the request holds a secret")
        # Whoever knows an API writes `/issues?status=open`; a baseline is not to lose by that.
        path, _, written = path.partition("?")
        clean = _below(path)
        if clean is None or "#" in written:
            return _refused("`path` begins with `/`, has no `#` or `..`, and goes below the API's address.")
        if not any(method == known and fnmatchcase(clean, glob) for known, glob in self.routes):
            return _refused(f"{method} {clean} is not among the requests that are allowed: {self.shown()}.")
        return await self._ask(method, clean, _query(written, query), body)

    async def _ask(self, method: str, path: str, asked: str, body: Any) -> NativeReply:
        url = self.base + quote(path, safe="/:@!$&'()*+,;=~-._") + (f"?{asked}" if asked else "")
        host = urlsplit(self.base).hostname or ""
        args = (method, url, body, self.headers, None, frozenset({host}), self.timeout, MOST_OUTPUT)
        reading = await asyncio.to_thread(read_http, *args)
        if reading.error is not None:
            return NativeReply(self.context.redactor.text(reading.error)[0], True)
        status = int(reading.fields["status"])
        text = self.context.redactor.text(f"{status}\n{reading.text}")[0]
        return NativeReply(text, status >= 400, status=status)

    def shown(self) -> str:
        return ", ".join(f"{method} {glob}" for method, glob in self.routes)


def _api_of(world: World, arm: Arm) -> _Api:
    assert arm.api is not None
    scope = world.names.scope()
    base = as_text(evaluate(arm.api.url, scope)).rstrip("/")
    try:
        parts = urlsplit(base)
    except ValueError as problem:
        raise EvaluationError(f"{base[:100]} is no URL: {problem}") from problem
    routes = tuple((route.method, as_text(evaluate(route.path, scope))) for route in arm.api.routes)
    return _Api(
        world.context,
        world,
        urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", "")),
        routes or tuple((method, "*") for method in READING),
        {entry.key: as_text(evaluate(entry.value, scope)) for entry in arm.api.headers},
        arm.timeout,
    )


def _http_definition(api: _Api) -> ToolDefinition:
    text = (
        f"Asks the HTTP API at {api.base}. Allowed: {api.shown()} (`*` is anything). The answer begins with its status. "
        f"Redirects are not followed."
    )
    schema = {
        "type": "object",
        "properties": {
            "method": {"type": "string", "enum": list(dict.fromkeys(method for method, _ in api.routes))},
            "path": {
                "type": "string",
                "description": "Below the API's address, beginning with `/`; a query may follow.",
            },
            "query": {"type": "object", "description": "Names and values of the query."},
            "body": {"description": "A text, or a JSON value."},
        },
        "required": ["method", "path"],
    }
    return ToolDefinition("", HTTP, description=text, input_schema=schema)


def _query(written: str, query: Mapping[str, Any] | None) -> str:
    """What stood behind the `?` of a path, then the names and values given apart; escaped anew."""
    own = {name: _scalar(value) for name, value in (query or {}).items()}
    given = parse_qsl(written, keep_blank_values=True, errors="replace")
    return "&".join(filter(None, (urlencode(given), urlencode(own, doseq=True))))


def _below(path: str) -> str | None:
    """The path with escapes read, where it stays below the base; None for any other."""
    plain = unquote(path)
    odd = any(mark in plain for mark in ("?", "#", "\\", "\0", "\r", "\n", "%"))
    if not plain.startswith("/") or plain.startswith("//") or odd or ".." in plain.split("/"):
        return None
    return plain if posixpath.normpath(plain).startswith("/") else None


def _scalar(value: Any) -> Any:
    if isinstance(value, list):
        return [_scalar(item) for item in value]
    return str(value).lower() if isinstance(value, bool) else str(value)
