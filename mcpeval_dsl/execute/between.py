"""Between two turns of a dialogue: evidence for what is graded per turn, and the work of a user with tools of its own.

The agent waits, so its sessions stay open and untouched; what is read afresh is read in sessions of its own. What others
change meanwhile is none of the agent's doing, and the comparison of the trial's folder begins anew.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from mcpeval_dsl.agents.model import Exchange, TurnLimits
from mcpeval_dsl.execute import capture
from mcpeval_dsl.execute.safety import Safety
from mcpeval_dsl.execute.world import World
from mcpeval_dsl.gateway.model import ToolDefinition
from mcpeval_dsl.semantics.dialogues import ScriptedTurn
from mcpeval_dsl.semantics.graders import Grader
from mcpeval_dsl.semantics.model import Task
from mcpeval_dsl.semantics.task_parts import hard_calls
from mcpeval_dsl.values.model import Reading
from mcpeval_dsl.values.reading import LocalReader
from mcpeval_dsl.values.sources import turn_prefix


@dataclass(slots=True)
class Between:
    """One trial's. `evidence` are readings by key, each under the prefix of its turn; `tools` all that the agent may ever see."""

    world: World
    task: Task
    safety: Safety | None
    tools: tuple[ToolDefinition, ...] = ()
    evidence: dict[str, Reading] = field(default_factory=dict)
    charged: list[int] = field(default_factory=list)
    _turn: ScriptedTurn | None = None
    _ended: int = 0
    _before: int = 0

    async def begins(self, number: int, turn: ScriptedTurn | None) -> None:
        """A turn of the user begins, of which `turn` is the script: what `unchanged` compares with, and its call budget."""
        self._turn = turn
        sources = capture.before(self._graders())
        if sources:
            prefix = turn_prefix(number) + capture.BEFORE
            async with self.aside() as reader:
                self.evidence |= await capture.read_evidence(sources, self.world.names.scope(), reader, prefix)
        self._before = self.world.gateway.charged
        self.world.gateway.hard_calls = hard_calls(self.task, self._before)

    async def ends(self, exchange: Exchange) -> None:
        """The agent has answered, or has stopped: evidence of the turn, once."""
        if exchange.number <= self._ended:
            return
        self._ended = exchange.number
        self.charged.append(self.world.gateway.charged - self._before)
        graders, prefix = self._graders(), turn_prefix(exchange.number)
        same, fresh = capture.same_session(graders), capture.fresh(graders)
        scope = self.world.names.scope()
        if same:
            async with self.user_acts():
                self.evidence |= await capture.read_evidence(same, scope, self.world.reader("grader"), prefix)
        if fresh:
            async with self.aside() as reader:
                self.evidence |= await capture.read_evidence(fresh, scope, reader, prefix)

    @asynccontextmanager
    async def aside(self) -> AsyncIterator[LocalReader]:
        """A reader over sessions of its own, ended behind it."""
        async with self.user_acts(), self.world.gateway.aside():
            yield self.world.reader("grader")

    @asynccontextmanager
    async def user_acts(self) -> AsyncIterator[None]:
        """Whatever changes meanwhile is laid to no call of the agent."""
        if self.safety is None:
            yield
            return
        async with self.safety.writes.beside():
            yield

    def _graders(self) -> tuple[Grader, ...]:
        dialogue = self.task.dialogue
        if dialogue is None:
            return ()
        return (*(self._turn.graders if self._turn is not None else ()), *dialogue.every)


def per_turn(task: Task) -> TurnLimits:
    """The hard limits of each turn of the user, as a host keeps them."""
    budget = task.budget_per_turn
    tokens, turns = budget.tokens.hard, budget.turns.hard
    return TurnLimits(
        None if tokens is None else int(tokens),
        budget.cost.hard,
        None if turns is None else int(turns),
        budget.time.hard,
    )
