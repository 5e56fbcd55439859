"""A script as data: what `script_form` reads and the script driver plays. The format is told in docs/scripts.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from mcpeval_dsl.agents.drivers.script_templates import Expression, Template
from mcpeval_dsl.frozen import dataclass
from mcpeval_dsl.source import Location

if TYPE_CHECKING:
    from mcpeval_dsl.agents.model import StopReason, Usage


@dataclass(frozen=True, slots=True)
class Expectation:
    """What must hold before a step is played. `tools` are canonical names that must be on offer.

    `user_contains` are texts of what the user said last; a step with one begins a turn of a dialogue.
    """

    prompt_contains: tuple[str, ...] = ()
    user_contains: tuple[str, ...] = ()
    result_contains: tuple[str, ...] = ()
    result_is_error: bool | None = None
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ScriptCall:
    """One call by canonical name (`tool` or `server.tool`). `wire` sends a name as it is, `raw` arguments that are no JSON."""

    tool: str
    arguments: Any = field(default_factory=dict)
    wire: bool = False
    raw: str | None = None
    at: Location | None = None


@dataclass(frozen=True, slots=True)
class ScriptError:
    """A failing model API. `retried` times the driver tries again, waiting `waited` seconds in all (booked, not lived)."""

    kind: str
    status: int | None = None
    message: str = ""
    retried: int = 0
    waited: float = 0.0
    deadline: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One turn. Exactly one of `reply`, `calls`, `error`, `refusal`, or `stop` alone, says what the model does."""

    at: Location
    expect: Expectation = Expectation()
    when: Expression | None = None
    repeat_while: Expression | None = None
    name: str = ""
    text: Template | None = None
    reply: Any = None
    has_reply: bool = False
    calls: tuple[ScriptCall, ...] = ()
    error: ScriptError | None = None
    refusal: Template | None = None
    stop: StopReason | None = None
    delay: float = 0.0
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class Skill:
    """How well a scripted agent plays its solution: probabilities in [0, 1], drawn from the trial's seed."""

    p_right_tool: float = 1.0
    p_right_arguments: float = 1.0
    p_stop_early: float = 0.0
    p_recover: float = 0.5


@dataclass(frozen=True, slots=True)
class TaskScript:
    """What is played for the tasks that match `pattern`: a list for each listed trial, else one of `variants` by seed."""

    pattern: str
    at: Location
    variants: tuple[tuple[Step, ...], ...] = ()
    trials: Mapping[int, tuple[Step, ...]] = field(default_factory=dict)
    skill: Skill | None = None
    reference: bool = False


@dataclass(frozen=True, slots=True)
class Script:
    path: str
    tasks: tuple[TaskScript, ...]
    skill: Skill | None = None

    def for_task(self, task: str) -> TaskScript | None:
        """The entry with the task's own name, else the first whose glob matches."""
        for entry in self.tasks:
            if entry.pattern == task:
                return entry
        return next((entry for entry in self.tasks if fnmatchcase(task, entry.pattern)), None)
