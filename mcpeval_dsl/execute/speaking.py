"""During a trial with a dialogue: what the user says next, and what is read and noted between its turns.

The prompt comes first, then scripted turns, then a simulated user; without any of them a task's `elicit` answers a question
for leave. Between two turns the agent does nothing, so evidence of a turn is the state as it stands then.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from mcpeval_dsl.agents.model import Exchange, Said, SpeakerFailed, Usage
from mcpeval_dsl.agents.users.simulated import SimulatedUser
from mcpeval_dsl.execute.between import Between
from mcpeval_dsl.execute.context import Stored
from mcpeval_dsl.execute.reading import with_readings
from mcpeval_dsl.execute.world import World
from mcpeval_dsl.gateway.model import ToolDefinition
from mcpeval_dsl.records.model import Ended
from mcpeval_dsl.semantics.dialogues import MOST_ANSWERS, Dialogue, ScriptedTurn
from mcpeval_dsl.semantics.model import Task
from mcpeval_dsl.values.consent import Asked, asks_leave
from mcpeval_dsl.values.evaluate import condition, evaluate
from mcpeval_dsl.values.model import EvaluationError, Reading
from mcpeval_dsl.values.patterns import matches
from mcpeval_dsl.values.text import as_text

ANSWERS = {
    "accept": "Yes, please go ahead.",
    "decline": "No, please do not do that.",
    "cancel": "No. Stop here, please.",
}


@dataclass(slots=True)
class Conversation:
    """`agents.model.Speaker` of one trial. `ended`: why nothing more was said; `closing`: what the user said last of all."""

    world: World
    task: Task
    prompt: str
    between: Between
    user: SimulatedUser | None = None
    stored: Stored | None = None
    ended: Ended = ""
    closing: str = ""
    _turns: deque[ScriptedTurn] = field(default_factory=deque)
    _replayed: deque[str] = field(default_factory=deque)
    _spoken: int = 0
    _answered: int = 0

    def __post_init__(self) -> None:
        if self.task.dialogue is not None:
            self._turns.extend(self.task.dialogue.turns)
        if self.stored is not None:
            self._replayed.extend(self.stored.messages)

    async def opening(self) -> Said:
        """Raises SpeakerFailed."""
        said = Said(self.prompt, "prompt") if self.prompt else await self._next(0)
        if said is None:
            raise SpeakerFailed("script", "dialogue:empty", "nobody says anything in this dialogue")
        self._tell_user(said)
        await self.between.begins(1, self._turn_of(said))
        return said

    async def reply(self, exchange: Exchange) -> Said | None:
        """Evidence of the turn that ended, then the next message. Raises SpeakerFailed."""
        await self.between.ends(exchange)
        if self.user is not None:
            self.user.heard(exchange.answer.text)
        said = await self._next(exchange.last) if self.task.dialogue is not None else self._elicited(exchange)
        heard = said.text if said is not None else self.closing
        if heard and asks_leave(exchange.answer.text):
            self.world.gateway.guard.leave.append(Asked(exchange.answer.text, heard))
        if said is not None:
            self._tell_user(said)
            await self.between.begins(exchange.number + 1, self._turn_of(said))
        return said

    async def over(self, exchanges: Sequence[Exchange]) -> dict[str, Reading]:
        """All evidence of the turns, once the host has come to an end."""
        if exchanges:
            await self.between.ends(exchanges[-1])
        if self.user is not None:
            await self.user.finish()
        return self.between.evidence

    @property
    def usage(self) -> Usage | None:
        """What the simulated user has used; None where there is none."""
        return self.user.usage if self.user is not None else None

    def _tell_user(self, said: Said) -> None:
        if self.user is not None and said.by != "simulated":
            self.user.said(said.text)

    def _turn_of(self, said: Said) -> ScriptedTurn | None:
        """The scripted turn that was just begun."""
        dialogue = self.task.dialogue
        if dialogue is None or said.by != "script":
            return None
        return dialogue.turns[len(dialogue.turns) - len(self._turns) - 1]

    async def _next(self, after: int) -> Said | None:
        """`after`: model turns so far."""
        dialogue = self.task.dialogue
        assert dialogue is not None
        if self._turns:
            return self._scripted(self._turns.popleft())
        if dialogue.user is None:
            self.ended = "script"
            return None
        if after and await self._reached(dialogue):
            self.ended = "state"
            return None
        if self._spoken >= dialogue.user.turns:
            self.ended = "turns"
            return None
        self._spoken += 1
        if self.stored is not None:
            return await self._again(self.stored, after)
        return await self._simulated(after)

    def _scripted(self, turn: ScriptedTurn) -> Said:
        try:
            text = as_text(evaluate(turn.user, self.world.names.scope()))
        except EvaluationError as error:
            raise SpeakerFailed(
                "script", "dialogue:value", f"what the user says has no value: {error.reason}"
            ) from None
        return Said(text, "script", shown_with(turn, self.between.tools, self.world))

    async def _simulated(self, after: int) -> Said | None:
        assert self.user is not None
        async with self.between.user_acts():
            text, over = await self.user.speak(after)
        if over:
            self.ended, self.closing = "says", text
            return None
        return Said(text, "simulated")

    async def _again(self, stored: Stored, after: int) -> Said | None:
        """The stored message, with the calls that the user made before it."""
        async with self.between.user_acts():
            for call in stored.calls:
                if call.turn == after:
                    await self.world.gateway.call("user", call.server, call.tool, call.arguments, turn=after)
        if self._replayed:
            return Said(self._replayed.popleft(), "simulated")
        self.ended, self.closing = stored.ended, stored.closing
        return None

    async def _reached(self, dialogue: Dialogue) -> bool:
        """Whether one of the user's conditions holds. One that has no value yet does not."""
        conditions = dialogue.user.stop_when if dialogue.user is not None else ()
        if not conditions:
            return False
        async with self.between.aside() as reader:
            scope = await with_readings(conditions, self.world.names.scope(), reader)
        for wanted in conditions:
            try:
                if condition(wanted, scope).holds:
                    return True
            except EvaluationError:
                continue
        return False

    def _elicited(self, exchange: Exchange) -> Said | None:
        """The task's answer to a question for leave; any other last word of the agent is its answer."""
        if not asks_leave(exchange.answer.text) or self._answered >= MOST_ANSWERS:
            return None
        self._answered += 1
        self.ended = "elicit"
        return Said(ANSWERS[self.task.elicit], "elicit")


def shown_with(turn: ScriptedTurn, tools: Sequence[ToolDefinition], world: World) -> tuple[tuple[str, str], ...]:
    """The (server, tool) that a turn shows."""
    scope = world.names.scope()
    return tuple(
        (tool.server, tool.name)
        for tool in tools
        if any(matches(pattern, tool.server, tool.name, {}, scope) for pattern in turn.show)
    )
