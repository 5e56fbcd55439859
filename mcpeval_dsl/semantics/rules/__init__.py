"""Semantics, rules: what a suite may not mean, one rule a file, in the order in which they are applied."""

from __future__ import annotations

from collections.abc import Callable

from mcpeval_dsl.semantics.lower.assemble import Lowered

Rule = Callable[[Lowered], None]

RULES: tuple[Rule, ...] = ()
