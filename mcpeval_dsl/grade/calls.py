"""Grader `calls`: the patterns hold over the calls of the transcript; as in `expect`, but deciding."""

from __future__ import annotations

from mcpeval_dsl.grade.model import Verdict
from mcpeval_dsl.grade.observe import behaviours, observed
from mcpeval_dsl.grade.saying import missing, not_run, scope_of, verdict
from mcpeval_dsl.grade.services import GradeServices
from mcpeval_dsl.records.model import TrialRecord
from mcpeval_dsl.semantics.graders import Calls
from mcpeval_dsl.values.observed import satisfies


def grade(grader: Calls, record: TrialRecord, services: GradeServices) -> Verdict:
    if not_run(record):
        return missing(grader, "not_run", "the agent was kept from finishing", "calls")
    scope = scope_of(record, services)
    calls, seen = observed(record, services.catalogues), behaviours(record)
    results = [satisfies(pattern, calls, scope, seen) for pattern in grader.patterns]
    broken = [result for result in results if not result.holds]
    shown = broken or results
    against = (calls[n].id for result in broken for n in (result.against or result.matched))
    return verdict(
        grader,
        not broken,
        "calls",
        actual="; ".join(dict.fromkeys(result.actual for result in shown)),
        expected="; ".join(result.expected for result in shown),
        evidence=tuple(dict.fromkeys(against))[:20],
    )
