"""Beside the host: a user played by a model, with private tools of its own. What goes wrong with it is never the agent's."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mcpeval_dsl.agents.hosts.endings import SCRIPT_KINDS
from mcpeval_dsl.agents.model import (
    Driver,
    Message,
    ModelApiError,
    Settings,
    SpeakerFailed,
    ToolAnswer,
    ToolRequest,
    TrialContext,
    Turn,
    TurnRequest,
    Usage,
)
from mcpeval_dsl.agents.pricing import cost_of
from mcpeval_dsl.agents.results import bad_arguments, unknown_tool
from mcpeval_dsl.agents.tools import PreparedTools
from mcpeval_dsl.agents.users.persona import GREETING, Persona, ends_with, user_prompt

MOST_ROUNDS = 10
"""Model turns for one message: a user that goes on calling tools says nothing."""

CallOwn = Callable[[str, str, Mapping[str, Any], int], Awaitable[tuple[str, bool]]]
"""(server, tool, arguments, the agent's model turns so far) -> text and whether it is an error."""


@dataclass(frozen=True, slots=True)
class Prices:
    """USD per token; None is unknown."""

    input: float | None = None
    output: float | None = None
    cached: float | None = None


class SimulatedUser:
    """One trial's. `usage` is what it has cost so far; `context` names the trial with `!user` behind it."""

    def __init__(
        self,
        driver: Driver,
        persona: Persona,
        tools: PreparedTools,
        call: CallOwn,
        settings: Settings,
        context: TrialContext,
        prices: Prices | None = None,
    ) -> None:
        self._driver = driver
        self._persona = persona
        self._tools = tools
        self._call = call
        self._settings = settings
        self._context = context
        self._prices = prices or Prices()
        self._system = user_prompt(persona, bool(tools.wire))
        self._messages = [Message("user", GREETING)]
        self.usage = Usage(cost_usd=0.0)

    def said(self, text: str) -> None:
        """What this user has said already, by the script of the task."""
        self._messages.append(Message("assistant", text))

    def heard(self, text: str) -> None:
        """What the agent answered."""
        self._messages.append(Message("user", text or "(no answer)"))

    async def speak(self, after: int = 0) -> tuple[str, bool]:
        """The next message after so many model turns of the agent, and whether it ends the conversation.

        Raises SpeakerFailed.
        """
        for _ in range(MOST_ROUNDS):
            turn = await self._turn()
            self._messages.append(turn.message)
            if turn.stop == "tool_use" and turn.message.requests:
                answers = [await self._used(request, after) for request in turn.message.requests]
                self._messages.append(Message("tools", answers=tuple(answers)))
                continue
            if turn.stop == "pause":
                continue
            return self._message(turn)
        raise SpeakerFailed(
            "user_model", "user_model:tools", f"the user called tools {MOST_ROUNDS} times and said nothing"
        )

    def _message(self, turn: Turn) -> tuple[str, bool]:
        if turn.stop in ("refusal", "content_filter", "context_overflow"):
            raise SpeakerFailed(
                "user_model", f"user_model:{turn.stop}", f"the user's model gave no message ({turn.stop})"
            )
        over, text = ends_with(turn.message.text, self._persona.stop_says)
        if not text and not over:
            raise SpeakerFailed("user_model", "user_model:empty", "the user's model gave an empty message")
        return text, over

    async def _turn(self) -> Turn:
        request = TurnRequest(self._system, tuple(self._messages), self._tools.wire, self._settings, self._context)
        try:
            turn = await self._driver.turn(request)
        except ModelApiError as error:
            cause = error.status if error.status is not None else error.kind
            if error.kind in SCRIPT_KINDS:
                raise SpeakerFailed("script", f"user_script:{error.kind}", error.message) from None
            raise SpeakerFailed("model_api", f"user_model:{cause}", error.message) from None
        self._count(turn.usage)
        return turn

    def _count(self, usage: Usage) -> None:
        cost, before, prices = usage.cost_usd, self.usage, self._prices
        if cost is None:
            cost = cost_of(usage, prices.input, prices.output, prices.cached)
        self.usage = Usage(
            before.input_tokens + usage.input_tokens,
            before.output_tokens + usage.output_tokens,
            before.cache_read_tokens + usage.cache_read_tokens,
            before.cache_write_tokens + usage.cache_write_tokens,
            None if cost is None or before.cost_usd is None else before.cost_usd + cost,
        )

    async def _used(self, request: ToolRequest, after: int) -> ToolAnswer:
        tool = self._tools.by_wire_name.get(request.wire_name)
        if tool is None:
            return ToolAnswer(request.id, unknown_tool(request.wire_name, tuple(self._tools.by_wire_name)), True)
        if request.problem is not None:
            return ToolAnswer(request.id, bad_arguments(request.problem), True)
        text, failed = await self._call(tool.server, tool.tool, request.arguments, after)
        return ToolAnswer(request.id, text, failed)

    async def finish(self) -> None:
        """Let the driver forget this trial; what a script did not use is no problem, since it depends on the agent."""
        await self._driver.finish(self._context)
