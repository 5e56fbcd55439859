"""Semantics, rules: what a suite may not mean, one rule a file, in the order in which they are applied."""

from __future__ import annotations

from collections.abc import Callable

from mcpeval_dsl.semantics.lower.assemble import Lowered
from mcpeval_dsl.semantics.rules.arms import arms
from mcpeval_dsl.semantics.rules.budgets import budgets
from mcpeval_dsl.semantics.rules.coverage import coverage
from mcpeval_dsl.semantics.rules.credentials import credentials
from mcpeval_dsl.semantics.rules.crowded import crowded
from mcpeval_dsl.semantics.rules.design import DESIGN
from mcpeval_dsl.semantics.rules.forbidden import forbidden
from mcpeval_dsl.semantics.rules.gradeless import gradeless
from mcpeval_dsl.semantics.rules.private_servers import private_servers
from mcpeval_dsl.semantics.rules.references import references
from mcpeval_dsl.semantics.rules.repetitions import repetitions
from mcpeval_dsl.semantics.rules.result_paths import result_paths
from mcpeval_dsl.semantics.rules.self_judging import self_judging
from mcpeval_dsl.semantics.rules.silent_writes import silent_writes
from mcpeval_dsl.semantics.rules.unused import unused
from mcpeval_dsl.semantics.rules.versions import versions

__all__ = ["DESIGN", "RULES"]

Rule = Callable[[Lowered], None]

RULES: tuple[Rule, ...] = (
    gradeless,
    budgets,
    forbidden,
    references,
    private_servers,
    versions,
    arms,
    repetitions,
    result_paths,
    credentials,
    self_judging,
    silent_writes,
    coverage,
    crowded,
    unused,
)
