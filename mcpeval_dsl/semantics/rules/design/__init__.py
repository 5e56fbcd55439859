"""Semantics, rules on design: what makes a suite measure less than it seems to; advice, asked for by `mcpe lint` and editors."""

from __future__ import annotations

from collections.abc import Callable

from mcpeval_dsl.semantics.lower.assemble import Lowered
from mcpeval_dsl.semantics.rules.design.assumed_destructive import assumed_destructive
from mcpeval_dsl.semantics.rules.design.balance import balance
from mcpeval_dsl.semantics.rules.design.bare_parameters import bare_parameters
from mcpeval_dsl.semantics.rules.design.chance import chance
from mcpeval_dsl.semantics.rules.design.confusable import confusable
from mcpeval_dsl.semantics.rules.design.gates import gates
from mcpeval_dsl.semantics.rules.design.memorable import memorable
from mcpeval_dsl.semantics.rules.design.moving_answers import moving_answers
from mcpeval_dsl.semantics.rules.design.narrow_budgets import narrow_budgets
from mcpeval_dsl.semantics.rules.design.origins import origins
from mcpeval_dsl.semantics.rules.design.placeholders import placeholders
from mcpeval_dsl.semantics.rules.design.reach import reach
from mcpeval_dsl.semantics.rules.design.safety_tasks import safety_tasks
from mcpeval_dsl.semantics.rules.design.shared_answers import shared_answers
from mcpeval_dsl.semantics.rules.design.spoken_tools import spoken_tools
from mcpeval_dsl.semantics.rules.design.tolerance import tolerance
from mcpeval_dsl.semantics.rules.design.unstated_format import unstated_format

DESIGN: tuple[Callable[[Lowered], None], ...] = (
    spoken_tools,
    placeholders,
    shared_answers,
    tolerance,
    chance,
    moving_answers,
    unstated_format,
    narrow_budgets,
    memorable,
    origins,
    balance,
    safety_tasks,
    gates,
    reach,
    assumed_destructive,
    bare_parameters,
    confusable,
)
