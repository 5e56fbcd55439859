"""A dialogue with every name bound: what the user says, or who plays the user, and what each turn is judged by.

A turn is one message of the user with everything the agent does about it. Scripted turns come first, in order; a simulated
user goes on from there. The task's `prompt`, where there is one, is what the user says first.
"""

from __future__ import annotations

from mcpeval_dsl.frozen import dataclass
from mcpeval_dsl.semantics.expressions import AnyPattern, Condition, Expression, Step
from mcpeval_dsl.semantics.graders import Grader
from mcpeval_dsl.source import Location

USUAL_TURNS = 10
MOST_ANSWERS = 5
"""Questions for leave that a task's `elicit` answers in one trial."""

STOP_WORD = "###STOP###"


@dataclass(frozen=True, slots=True)
class ScriptedTurn:
    """What the user says, and what holds when the agent has answered it. `show`: tools that are withheld until here."""

    user: Expression
    show: tuple[AnyPattern, ...] = ()
    expect: tuple[AnyPattern, ...] = ()
    graders: tuple[Grader, ...] = ()
    reference: tuple[Step, ...] = ()
    at: Location | None = None


@dataclass(frozen=True, slots=True)
class SimulatedUser:
    """A user played by a model, with private tools of its own.

    `turns`: the most messages it sends. It is over when it says one of `stop_says`, or when one of `stop_when` holds.
    """

    model: str
    goal: Expression
    persona: Expression | None = None
    rules: Expression | None = None
    knows: tuple[Expression, ...] = ()
    unknown: tuple[Expression, ...] = ()
    never: tuple[Expression, ...] = ()
    tools: tuple[AnyPattern, ...] = ()
    turns: int = USUAL_TURNS
    stop_says: tuple[str, ...] = ()
    stop_when: tuple[Condition, ...] = ()
    at: Location | None = None


@dataclass(frozen=True, slots=True)
class Dialogue:
    """`every`: graders of each turn, a simulated user's turns too. Never empty: a scripted turn or a user."""

    turns: tuple[ScriptedTurn, ...] = ()
    every: tuple[Grader, ...] = ()
    user: SimulatedUser | None = None
    at: Location | None = None

    @property
    def graders(self) -> tuple[Grader, ...]:
        """All of them once, in order of the text as far as turns go."""
        return (*(grader for turn in self.turns for grader in turn.graders), *self.every)

    @property
    def most_turns(self) -> int:
        """The most messages of the user, a prompt apart."""
        return len(self.turns) + (self.user.turns if self.user is not None else 0)
