"""One server's place in a trial: its session, opened when needed, restarted once after a death, watched for drift.

Place in the pipeline: between the door and sessions.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from mcpeval_dsl.gateway.catalogue import SessionDrift, catalogue_digest
from mcpeval_dsl.gateway.connection import Elicit
from mcpeval_dsl.gateway.model import Launch, Pin, ServerInfo, ServerStartError, SessionEnd, ToolDefinition
from mcpeval_dsl.gateway.session import Session, open_session
from mcpeval_dsl.gateway.wire import Clock, WireResult

RESTARTS = 1
LOOK_SECONDS = 2.0
DRIFT_WORDS = {"instructions": "descriptions", "revision": "schemas"}


class Seat:
    """`number` counts sessions, 0 before the first; `spent` once the server has died more often than it is restarted.

    `cuts` counts sessions that a fault ended; `severed` from then until a new one stands.
    """

    def __init__(
        self, launch: Launch, pin: Pin | None, allow_drift: frozenset[str], clock: Clock, elicit: Elicit | None = None
    ) -> None:
        self.launch = launch
        self.number = 0
        self.spent = False
        self.info: ServerInfo | None = None
        self.end: SessionEnd | None = None
        self.drift: SessionDrift | None = None
        self.tools: tuple[ToolDefinition, ...] = ()
        self._by_name: dict[str, ToolDefinition] = {}
        self._offer(() if pin is None else pin.tools)
        self._pin = pin
        self._allowed = allow_drift
        self._clock = clock
        self._elicit = elicit
        self._session: Session | None = None
        self._deaths = 0
        self.cuts = 0
        self.severed = False
        self._opening = asyncio.Lock()

    def another(self) -> Seat:
        """A place for a session of the same server that knows nothing of this one."""
        return Seat(self.launch, self._pin, self._allowed, self._clock, self._elicit)

    def definition(self, tool: str) -> ToolDefinition | None:
        """The tool as listed last, or as pinned before the first session."""
        return self._by_name.get(tool)

    def _offer(self, tools: tuple[ToolDefinition, ...]) -> None:
        if tools is not self.tools:
            self.tools, self._by_name = tools, {tool.name: tool for tool in tools}

    async def session(self) -> Session:
        """The live session; opened where there is none. Raises ServerStartError."""
        async with self._opening:
            if self._session is not None and not self._session.alive:
                await self._bury(self._session)
            if self._session is None:
                self._session = await open_session(self.launch, self._pin, clock=self._clock, elicit=self._elicit)
                self.number += 1
                self.severed = False
                self.info = self._session.info
                self._offer(self._session.tools)
                self._note(self._session.drift)
            return self._session

    async def cut(self) -> None:
        """End the session as a fault does: requests under way are lost, and the next one opens a new session."""
        async with self._opening:
            session, self._session = self._session, None
            self.cuts, self.severed = self.cuts + 1, True
            if session is not None:
                self.end = await session.close()

    async def _bury(self, session: Session) -> None:
        self._session = None
        # What answers at a URL is no process of ours: it is dead when it cannot be reached again.
        self._deaths += self.launch.url is None
        self.end = await session.close()

    def _note(self, drift: SessionDrift | None) -> None:
        if drift is not None and not self._allowed.issuperset(DRIFT_WORDS.get(kind, kind) for kind in drift.kinds):
            self.drift = drift

    async def ask(self, request: Callable[[Session], Awaitable[WireResult]]) -> WireResult:
        """Send one request over the live session, after one restart of a dead server at most; never raises for a server."""
        dead = self._session is not None and not self._session.alive
        if self.spent or (dead and self._deaths >= RESTARTS):
            self.spent = True
            return WireResult("dead", message="the server died again after it was restarted")
        try:
            session = await self.session()
        except ServerStartError as problem:
            self.spent = True
            message = f"the server could not be started again: {problem.message}"
            return WireResult("dead", message=message, exit_code=problem.exit_code, stderr_tail=problem.stderr_tail)
        return await request(session)

    async def drifted(self, tool: str) -> str | None:
        """In what a tool differs from what was pinned, asked just before it is used; None where it may be used."""
        if self._session is not None and self._session.alive:
            try:
                self._note(await self._session.refresh())
            except ServerStartError:
                return None
            self._offer(self._session.tools)
        drift = self.drift
        if drift is None or tool not in drift.changed + drift.removed:
            return None
        return ", ".join(drift.kinds)

    async def relisted(self) -> bool:
        """List the tools of a live session again, asked or not: whether they differ from before."""
        session = self._session
        if session is None or not session.alive or session.connection.log.closed:
            return False
        try:
            drift = await session.refresh(LOOK_SECONDS)
        except ServerStartError:
            return False
        self._note(drift)
        self._offer(session.tools)
        return drift is not None

    @property
    def catalogue(self) -> str:
        """Digest of the catalogue as listed last."""
        if self.info is None:
            return ""
        return catalogue_digest(self.tools, self.info.instructions)

    async def close(self) -> None:
        """End the session, if any. A later request opens a fresh one, whatever became of this one."""
        async with self._opening:
            session, self._session = self._session, None
            self._deaths, self.spent = 0, False
            if session is not None:
                self.end = await session.close()
