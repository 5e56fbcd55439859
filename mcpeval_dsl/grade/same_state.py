"""Grader `same_state`: every view of the state equals the one after `reference` in a second fresh environment."""

from __future__ import annotations

from mcpeval_dsl.grade.differences import LeftOut, first_difference, left_out, without
from mcpeval_dsl.grade.model import Verdict
from mcpeval_dsl.grade.normalise import comparable, tolerance
from mcpeval_dsl.grade.readings import before_reading, failed, reading_at
from mcpeval_dsl.grade.saying import scope_of, verdict
from mcpeval_dsl.grade.services import GradeServices
from mcpeval_dsl.records.model import TrialRecord
from mcpeval_dsl.semantics.expressions import Source
from mcpeval_dsl.semantics.graders import SameState
from mcpeval_dsl.values.model import Scope
from mcpeval_dsl.values.sources import REFERENCE
from mcpeval_dsl.values.subject import subject_of


def grade(grader: SameState, record: TrialRecord, services: GradeServices) -> Verdict:
    early = before_reading(grader, record)
    if early is not None:
        return early
    scope = scope_of(record, services)
    out = left_out(grader.common.normalisation.ignore_paths, scope)
    for number, view in enumerate(grader.views, start=1):
        name = view_name(view, number, len(grader.views))
        found = _compared(grader, view, name, scope, out)
        if found is not None:
            return found
    return verdict(grader, True, "state", actual="the same in every view", expected="the state after `reference`")


def view_name(view: Source, number: int, count: int) -> str:
    what = f"{view.server}.{view.tool}" if view.kind == "tool" else view.kind
    return what if count == 1 else f"view {number} ({what})"


def _compared(grader: SameState, view: Source, name: str, scope: Scope, out: LeftOut) -> Verdict | None:
    """The verdict that one view decides; None where it is the same."""
    how = grader.common.normalisation
    actual, expected = reading_at(view, scope), reading_at(view, scope, REFERENCE)
    both_absent = actual is not None and expected is not None and actual.error_class == expected.error_class == "absent"
    if both_absent:
        return None
    if expected is None or expected.error is not None:
        if expected is not None and expected.error_class == "absent" and actual is not None and actual.error is None:
            said = f"{name} is not there after `reference`"
            return verdict(grader, False, "state", actual=f"{name} is there", expected="nothing", reason=said)
        return failed(grader, expected, f"{name} after `reference`", ours=True)
    refused = failed(grader, actual, name, "the state after `reference`")
    if refused is not None or actual is None:
        return refused
    left = comparable(without(subject_of(actual), out), how)
    right = comparable(without(subject_of(expected), out), how)
    difference = first_difference(left, right, tolerance(how))
    if difference is None:
        return None
    reason = f"{name} differs from the state after `reference` at {difference.at}"
    calls = tuple(actual.calls)
    return verdict(
        grader,
        False,
        "state",
        actual=f"{difference.at}: {difference.actual}",
        expected=f"{difference.at}: {difference.expected}",
        reason=reason,
        evidence=calls,
    )
