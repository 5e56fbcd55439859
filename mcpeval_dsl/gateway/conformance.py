"""Scenarios of the protocol that any server can be held to, whatever its tools are: one function each over one conversation.

Place in the pipeline: over `talking`, for `conformance` in a check. Rules: the published revisions of the protocol; where a
revision only recommends, keeping it otherwise is `partial`, and where it has no such thing the scenario is `unsupported`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from mcpeval_dsl.gateway.asking import origin_of
from mcpeval_dsl.gateway.model import Launch, Pin
from mcpeval_dsl.gateway.talking import META, Reply, Talk, talk

METHOD_NOT_FOUND, INVALID_PARAMS = -32601, -32602
UNSUPPORTED_VERSION, HEADER_MISMATCH = -32022, -32020
NOBODY = "mcpe-no-such-thing"
UNKNOWN_REVISION = "1999-12-31"
EVIL = "evil.example"
PAGES = 200

Word = Literal["pass", "fail", "partial", "unsupported"]


@dataclass(frozen=True, slots=True)
class Kept:
    """Whether a rule was kept. `actual` and `expected` of one that was not; `reason` of what is partial or unsupported."""

    word: Word
    actual: str = ""
    expected: str = ""
    reason: str = ""


PASS = Kept("pass")
Scenario = Callable[[Talk], Awaitable[Kept]]


def _fail(actual: str, expected: str) -> Kept:
    return Kept("fail", actual, expected)


def _partial(reason: str) -> Kept:
    return Kept("partial", reason=reason)


def _unsupported(reason: str) -> Kept:
    return Kept("unsupported", reason=reason)


async def conforms(launch: Launch, pin: Pin, scenario: str) -> Kept:
    """Hold a server to one scenario, in a process of its own. Raises ServerStartError; KeyError for an unknown scenario."""
    run, era, http_only = SCENARIOS[scenario]
    if era is not None and pin.era != era:
        return _unsupported(f"the server speaks {pin.revision}, which has no such rule")
    if http_only and launch.url is None:
        return _unsupported("the server is reached over pipes, and the rule is about HTTP")
    async with talk(launch, pin) as conversation:
        if scenario != "server-initialize":
            begun = await conversation.begin()
            if begun.result is None:
                return _fail(f"the handshake got {begun.said()}", "a session")
        return await run(conversation)


async def _initialize(conversation: Talk) -> Kept:
    reply = await conversation.initialize(conversation.revision)
    said = reply.result
    if said is None:
        return _fail(reply.said(), "a result")
    identity = said.get("serverInfo")
    named = isinstance(identity, Mapping) and isinstance(identity.get("name"), str)
    version = isinstance(identity, Mapping) and isinstance(identity.get("version"), str)
    if not isinstance(said.get("protocolVersion"), str):
        return _fail("no protocolVersion", "a text in protocolVersion")
    if not isinstance(said.get("capabilities"), Mapping):
        return _fail("no capabilities", "an object in capabilities")
    if not named or not version:
        return _fail("no name and version in serverInfo", "both")
    return await _unknown_revision_offered(conversation)


async def _unknown_revision_offered(conversation: Talk) -> Kept:
    """A server that does not know what is offered answers with a revision that it does."""
    if conversation.http:
        conversation.headers.clear()
        reply = await conversation.initialize(UNKNOWN_REVISION)
        answered = reply.result.get("protocolVersion") if reply.result is not None else None
        if answered == UNKNOWN_REVISION:
            return _fail(f"it agrees to revision {UNKNOWN_REVISION}, which does not exist", "a revision that it knows")
    return PASS


async def _discover(conversation: Talk) -> Kept:
    said = (await conversation.ask("server/discover")).result or {}
    revisions = said.get("supportedVersions")
    if not isinstance(revisions, list) or not revisions or not all(isinstance(item, str) for item in revisions):
        return _fail("no list in supportedVersions", "at least one revision")
    if not isinstance(said.get("capabilities"), Mapping):
        return _fail("no capabilities", "an object in capabilities")
    return PASS if "ttlMs" in said and "cacheScope" in said else _partial("it does not say how long its answer holds")


async def _stateless(conversation: Talk) -> Kept:
    bare = await conversation.ask("tools/list", meta={})
    if bare.result is not None:
        return _fail("a request that names no revision gets a result", f"error {INVALID_PARAMS}")
    other = {f"{META}protocolVersion": UNKNOWN_REVISION, f"{META}clientCapabilities": {}}
    reply = await conversation.ask("tools/list", meta=other, headers={"mcp-protocol-version": UNKNOWN_REVISION})
    if reply.result is not None:
        return _fail(f"a request in revision {UNKNOWN_REVISION} gets a result", f"error {UNSUPPORTED_VERSION}")
    if bare.code != INVALID_PARAMS:
        return _partial(f"a request that names no revision gets {bare.said()} in place of error {INVALID_PARAMS}")
    if reply.code != UNSUPPORTED_VERSION:
        return _partial(f"an unknown revision gets {reply.said()} in place of error {UNSUPPORTED_VERSION}")
    return PASS


async def _lifecycle(conversation: Talk) -> Kept:
    if "mcp-session-id" not in conversation.headers:
        return _unsupported("the server gives no session id")
    reply = await conversation.ask("tools/list", headers={"mcp-session-id": NOBODY})
    if reply.result is not None:
        return _fail("a session id that was never given gets a result", "HTTP status 404")
    return PASS if reply.status == 404 else _partial(f"a session id that was never given gets {reply.said()}, not 404")


async def _ping(conversation: Talk) -> Kept:
    reply = await conversation.ask("ping")
    if reply.result is None:
        return _fail(reply.said(), "an empty result")
    more = {key for key in reply.result if key != "_meta"}
    return PASS if not more else _partial(f"the result is not empty: {', '.join(sorted(more)[:3])}")


async def _tools(conversation: Talk) -> Kept:
    listed, problem = await _every(conversation, "tools/list", "tools")
    if problem:
        return _fail(problem, "a list of tools")
    names = [tool.get("name") for tool in listed]
    if not all(isinstance(name, str) and name for name in names):
        return _fail("a tool without a name", "a name for each")
    if len(set(names)) < len(names):
        return _fail("two tools of one name", "a name of its own for each")
    for tool in listed:
        schema = tool.get("inputSchema")
        if not isinstance(schema, Mapping) or schema.get("type") != "object":
            return _fail(f"tool {tool['name']}: its inputSchema is no object's", '"type": "object"')
    silent = [str(tool["name"]) for tool in listed if not tool.get("description")]
    return _partial(f"no description: {', '.join(silent[:5])}") if silent else PASS


def _declared(capability: str, method: str, wanted: tuple[str, ...]) -> Scenario:
    async def run(conversation: Talk) -> Kept:
        listed, problem = await _every(conversation, method, capability)
        if problem.startswith("error -32601"):
            return _unsupported(f"the server has no {capability}")
        if problem:
            return _fail(problem, f"a list of {capability}")
        lacking = next((name for item in listed for name in wanted if not isinstance(item.get(name), str)), None)
        return (
            PASS if lacking is None else _fail(f"one of the {capability} has no `{lacking}`", f"`{lacking}` for each")
        )

    return run


async def _every(conversation: Talk, method: str, key: str) -> tuple[list[Mapping[str, Any]], str]:
    """All items of all pages, or what is wrong."""
    found: list[Mapping[str, Any]] = []
    cursor: str | None = None
    seen: set[str] = set()
    for _ in range(PAGES):
        reply = await conversation.ask(method, None if cursor is None else {"cursor": cursor})
        items = reply.result.get(key) if reply.result is not None else None
        if reply.result is None or not isinstance(items, list) or not all(isinstance(item, Mapping) for item in items):
            return found, reply.said() if reply.result is None else f"no list in {key}"
        found += items
        cursor = reply.result.get("nextCursor")
        if not cursor:
            return found, ""
        if cursor in seen:
            return found, f"the cursor {cursor[:40]!r} comes again"
        seen.add(cursor)
    return found, f"more than {PAGES} pages"


async def _pagination(conversation: Talk) -> Kept:
    listed, problem = await _every(conversation, "tools/list", "tools")
    if problem:
        return _fail(problem, "pages that end")
    names = [tool.get("name") for tool in listed]
    if len(set(map(str, names))) < len(names):
        return _fail("a tool is on two pages", "each tool once")
    reply = await conversation.ask("tools/list", {"cursor": NOBODY})
    if reply.code == INVALID_PARAMS:
        return PASS
    return _partial(f"a cursor that was never given gets {reply.said()} in place of error {INVALID_PARAMS}")


async def _caching(conversation: Talk) -> Kept:
    said = (await conversation.ask("tools/list")).result or {}
    ttl, scope = said.get("ttlMs"), said.get("cacheScope")
    if not isinstance(ttl, int) or isinstance(ttl, bool) or ttl < 0:
        return _fail("tools/list has no ttlMs", "milliseconds")
    return PASS if isinstance(scope, str) else _fail("tools/list has no cacheScope", "a text")


async def _unknown_method(conversation: Talk) -> Kept:
    reply = await conversation.ask(f"{NOBODY}/list")
    return PASS if reply.code == METHOD_NOT_FOUND else _fail(reply.said(), f"error {METHOD_NOT_FOUND}")


async def _unknown_tool(conversation: Talk) -> Kept:
    return _refused(await conversation.ask("tools/call", {"name": NOBODY, "arguments": {}}), "an unknown tool")


async def _invalid_params(conversation: Talk) -> Kept:
    return _refused(await conversation.ask("tools/call", {"arguments": {}}), "a call that names no tool")


def _refused(reply: Reply, what: str) -> Kept:
    """-32602 is the rule; another error, or one told as a tool's, is a refusal all the same."""
    if reply.code == INVALID_PARAMS:
        return PASS
    if reply.code is not None:
        return _partial(f"{what} gets {reply.said()} in place of error {INVALID_PARAMS}")
    if reply.result is not None and reply.result.get("isError") is True:
        return _partial(f"{what} is refused as the error of a tool, not with error {INVALID_PARAMS}")
    return _fail(f"{what} gets {reply.said()}", f"error {INVALID_PARAMS}")


async def _goes_on(conversation: Talk, after: str) -> Kept:
    reply = await conversation.ask("tools/list")
    return PASS if reply.result is not None else _fail(f"after {after}: {reply.said()}", "a list of tools")


async def _unknown_notification(conversation: Talk) -> Kept:
    told = await conversation.tell(f"notifications/{NOBODY}")
    if told.status is not None and told.status >= 500:
        return _fail(told.said(), "nothing")
    return await _goes_on(conversation, "an unknown notification")


async def _malformed(conversation: Talk) -> Kept:
    reply = await conversation.post('{"jsonrpc": "2.0", "id": 0, "method":')
    if conversation.http and (reply.status is None or not 400 <= reply.status < 500):
        return _fail(f"a text that is no JSON gets {reply.said()}", "HTTP status 400")
    return await _goes_on(conversation, "a line that is no message")


async def _cancellation(conversation: Talk) -> Kept:
    await conversation.ask("tools/list")
    cancelled = {"requestId": conversation.last, "reason": "no longer wanted"}
    told = await conversation.tell("notifications/cancelled", cancelled)
    if told.status is not None and told.status >= 500:
        return _fail(f"a cancellation gets {told.said()}", "nothing")
    return await _goes_on(conversation, "a cancellation that came too late")


async def _headers(conversation: Talk) -> Kept:
    reply = await conversation.ask("tools/list", headers={"mcp-method": "prompts/list"})
    if reply.result is not None:
        return _fail("a request whose Mcp-Method names another method gets a result", f"error {HEADER_MISMATCH}")
    return (
        PASS if reply.code == HEADER_MISMATCH else _partial(f"it is refused with {reply.said()}, not {HEADER_MISMATCH}")
    )


async def _rebinding(conversation: Talk) -> Kept:
    for headers in ({"origin": f"http://{EVIL}"}, {"host": EVIL, "origin": f"http://{EVIL}"}):
        reply = await conversation.ask("tools/list", headers=headers)
        if reply.result is not None:
            names = " and ".join(name.capitalize() for name in headers)
            return _fail(f"a request with the {names} of {EVIL} gets a result", "HTTP status 403")
    return PASS


async def origin_refused(launch: Launch, pin: Pin | None, origin: str) -> Kept | str:
    """Whether the first request is refused with this Origin and accepted without; a text where that cannot be told.

    Raises ServerStartError.
    """
    if launch.url is None:
        return _unsupported("the server is reached over pipes, where requests have no origin")
    async with talk(launch, pin) as plain:
        without = await plain.begin()
    if without.result is None:
        return f"without that Origin it is refused too ({without.said()})"
    async with talk(launch, pin) as foreign:
        foreign.headers["origin"] = origin
        reply = await foreign.begin()
    own = origin_of(launch.url)
    if reply.result is not None:
        return _fail(f"accepted at {own}", "HTTP status 403")
    return PASS if reply.status == 403 else _partial(f"it is refused with {reply.said()}, not with HTTP status 403")


_Entry = tuple[Scenario, Literal["discover", "initialize"] | None, bool]
SCENARIOS: Mapping[str, _Entry] = {
    "server-initialize": (_initialize, "initialize", False),
    "server-discover": (_discover, "discover", False),
    "server-stateless": (_stateless, "discover", False),
    "server-session-lifecycle": (_lifecycle, "initialize", True),
    "ping": (_ping, "initialize", False),
    "tools-list": (_tools, None, False),
    "resources-list": (_declared("resources", "resources/list", ("uri", "name")), None, False),
    "prompts-list": (_declared("prompts", "prompts/list", ("name",)), None, False),
    "pagination": (_pagination, None, False),
    "caching": (_caching, "discover", False),
    "unknown-method": (_unknown_method, None, False),
    "unknown-tool": (_unknown_tool, None, False),
    "invalid-params": (_invalid_params, None, False),
    "unknown-notification": (_unknown_notification, None, False),
    "malformed-message": (_malformed, None, False),
    "cancellation": (_cancellation, None, False),
    "http-header-validation": (_headers, "discover", True),
    "dns-rebinding-protection": (_rebinding, None, True),
}
"""Name -> what is asked, the era that has the rule (None: both), and whether it is about HTTP only."""


def names() -> Iterable[str]:
    return SCENARIOS.keys()


__all__ = ["SCENARIOS", "Kept", "conforms", "origin_refused"]
