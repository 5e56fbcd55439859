"""Semantics, lowering: `expect refusal`, the one expectation that decides."""

from __future__ import annotations

from collections.abc import Sequence

from mcpeval_dsl.semantics.expressions import AnyPattern, Behaviour
from mcpeval_dsl.semantics.graders import Common, Grader, Refusal
from mcpeval_dsl.semantics.lower.grading import Grading


def expected_refusal(expect: Sequence[AnyPattern], grading: Grading) -> tuple[Grader, ...]:
    """`expect refusal` becomes a grader of its own."""
    for pattern in expect:
        if isinstance(pattern, Behaviour) and pattern.name == "refusal":
            return (Refusal(Common(grading.next_id(), text="expect refusal", at=pattern.at)),)
    return ()
