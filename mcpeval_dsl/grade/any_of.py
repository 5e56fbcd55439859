"""Grader `any`: at least one of the graders inside says yes. Those of weight 0 report without deciding."""

from __future__ import annotations

from collections.abc import Sequence

from mcpeval_dsl.grade.model import Reads, Verdict
from mcpeval_dsl.grade.saying import missing, moot, verdict
from mcpeval_dsl.semantics.graders import AnyOf


def joined(grader: AnyOf, parts: Sequence[Verdict]) -> Verdict:
    """Yes before missing before moot before no: a missing part might have been the yes."""
    deciding = [part for part in parts if part.deciding]
    reads: Reads = "answer" if any(part.reads == "answer" for part in deciding) else _common(deciding)
    costs = [part.cost_usd for part in parts if part.cost_usd is not None]
    cost = sum(costs) if costs else None
    kept = tuple(parts)
    for part in deciding:
        if part.verdict == "yes":
            return verdict(
                grader, True, part.reads, actual=part.actual, expected=part.expected, parts=kept, cost_usd=cost
            )
    unknown = [part for part in deciding if part.verdict == "missing"]
    if unknown:
        reason = f"{unknown[0].grader} has no verdict: {unknown[0].reason}"
        because = unknown[0].missing_because or "no_evidence"
        return missing(grader, because, reason, reads, parts=kept, cost_usd=cost)
    if any(part.verdict == "moot" for part in deciding):
        return moot(grader, "a part would judge what did not really happen", reads)
    actual = "; ".join(part.actual for part in deciding[:3])
    expected = " or ".join(part.expected for part in deciding[:3])
    return verdict(grader, False, reads, actual=actual, expected=expected, parts=kept, cost_usd=cost)


def _common(parts: list[Verdict]) -> Reads:
    return parts[0].reads if parts else "answer"
