"""Semantics, lowering: a task while defaults, profiles and its own statements are folded into it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mcpeval_dsl.semantics.disturbances import Distraction, Fault
from mcpeval_dsl.semantics.expressions import AnyPattern, CallPattern, Expression, Step
from mcpeval_dsl.semantics.graders import Grader
from mcpeval_dsl.semantics.injections import Inject
from mcpeval_dsl.semantics.lower.context import Context
from mcpeval_dsl.semantics.lower.grading import Grading
from mcpeval_dsl.semantics.model import (
    Conditional,
    Harvest,
    KnownFailure,
    Limit,
    Need,
    Never,
    ToolFilter,
    Truth,
    Unsupported,
)
from mcpeval_dsl.semantics.symbols import Scope
from mcpeval_dsl.source import Span


@dataclass(slots=True)
class Draft:
    """Settings that replace each other are in `fields`, under the names of `model.Task`; lists add up.

    `scope` is for values before the trial's end, `grading.scope` sees truths too.
    """

    ctx: Context
    name: str
    scope: Scope
    grading: Grading
    fields: dict[str, Any] = field(default_factory=dict)
    tags: list[str] = field(default_factory=list)
    tools: list[ToolFilter] = field(default_factory=list)
    hide: list[AnyPattern] = field(default_factory=list)
    limits: dict[str, Limit] = field(default_factory=dict)
    turn_limits: dict[str, Limit] = field(default_factory=dict)
    limit_spans: dict[str, Span] = field(default_factory=dict)
    needs: list[Need] = field(default_factory=list)
    may: list[AnyPattern] = field(default_factory=list)
    never: list[Never] = field(default_factory=list)
    expect: list[AnyPattern] = field(default_factory=list)
    setup: list[Step] = field(default_factory=list)
    teardown: list[Step] = field(default_factory=list)
    undo: list[tuple[CallPattern, tuple[Step, ...]]] = field(default_factory=list)
    harvests: list[Harvest] = field(default_factory=list)
    truths: list[Truth] = field(default_factory=list)
    graders: list[Grader] = field(default_factory=list)
    conditionals: list[Conditional] = field(default_factory=list)
    simulate: list[tuple[CallPattern, Expression]] = field(default_factory=list)
    canaries: list[tuple[str, Expression]] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    distract: list[Distraction] = field(default_factory=list)
    injections: list[Inject] = field(default_factory=list)
    known_failures: list[KnownFailure] = field(default_factory=list)
    unsupported: list[Unsupported] = field(default_factory=list)
    servers_span: Span | None = None
