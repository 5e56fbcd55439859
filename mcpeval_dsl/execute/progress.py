"""How far a trial has come, from its set-up on. `trial` writes it, `recording` reads it."""

from __future__ import annotations

from dataclasses import dataclass, field

from mcpeval_dsl.agents.model import Assignment, HostResult
from mcpeval_dsl.execute.safety import Safety
from mcpeval_dsl.execute.speaking import Conversation
from mcpeval_dsl.execute.world import World
from mcpeval_dsl.gateway.model import CallRecord
from mcpeval_dsl.plan.model import TrialGroup
from mcpeval_dsl.records.model import InfraTrouble
from mcpeval_dsl.semantics.model import Cell, Task
from mcpeval_dsl.values.model import Reading


@dataclass(slots=True)
class Progress:
    """What a trial has come to so far; `recording` makes the record of it, also when it stopped half way."""

    id: str
    key: str
    group: TrialGroup
    task: Task
    cell: Cell
    number: int
    seed: int
    started_at: str
    began: float
    world: World | None = None
    assignment: Assignment | None = None
    host: HostResult | None = None
    talk: Conversation | None = None
    safety: Safety | None = None
    trouble: InfraTrouble | None = None
    evidence: dict[str, Reading] = field(default_factory=dict)
    reference: tuple[CallRecord, ...] = ()
    harvested: dict[str, str] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    not_applicable: bool = False
    start_ms: float = 0.0
    agent_ms: float = 0.0
