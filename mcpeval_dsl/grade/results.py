"""Grader `results has reference`: what the reference calls gave is among what the agent's own calls gave.

A list counts item by item, so an agent that reads two pages has what the reference read in one. Text counts line by line.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from mcpeval_dsl.gateway.model import CallRecord
from mcpeval_dsl.grade.model import Verdict
from mcpeval_dsl.grade.normalise import text
from mcpeval_dsl.grade.observe import agent_calls
from mcpeval_dsl.grade.saying import missing, not_run, verdict
from mcpeval_dsl.grade.services import GradeServices
from mcpeval_dsl.records.model import TrialRecord
from mcpeval_dsl.semantics.graders import ResultsHasReference
from mcpeval_dsl.values.model import EvaluationError, Reading
from mcpeval_dsl.values.subject import subject_of
from mcpeval_dsl.values.text import short

EXPECTED = "the results of `reference`"


def grade(grader: ResultsHasReference, record: TrialRecord, services: GradeServices) -> Verdict:
    del services
    if not_run(record):
        return missing(grader, "not_run", "the agent was kept from finishing", "results")
    reference = [call for call in record.calls if call.actor == "reference"]
    if not reference or any(call.is_error or call.error is not None for call in reference):
        return missing(grader, "no_evidence", "`reference` has no results, or one of its calls failed", "results")
    ignore = grader.common.normalisation.ignore
    own = [call for call in agent_calls(record) if not call.is_error and call.error is None and not call.distractor]
    pool = _Pool(own, ignore)
    lacking = [piece for call in reference for piece in pieces(result_of(call)) if not pool.has(piece)]
    if not lacking:
        return verdict(grader, True, "results", actual=f"{len(own)} results", expected=EXPECTED)
    reason = f"no result has {short(lacking[0], 200)}"
    evidence = tuple(call.id for call in own[-3:])
    actual = f"{len(own)} results without {len(lacking)} part(s) of it"
    return verdict(grader, False, "results", actual=actual, expected=EXPECTED, reason=reason, evidence=evidence)


def result_of(call: CallRecord) -> Any:
    """The value of a call's result, read as a source would be."""
    reading = Reading(text=call.text, structured=call.structured, has_structured=call.has_structured)
    try:
        return subject_of(reading)
    except EvaluationError:
        return call.text


def pieces(value: Any) -> list[Any]:
    """What has to be found: items of a list (also of the only list in an object), lines of a text, or the value."""
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        lists = [member for member in value.values() if isinstance(member, list)]
        return lists[0] if len(lists) == 1 and lists[0] else [value]
    if isinstance(value, str):
        return [line for line in value.splitlines() if line.strip()]
    return [value]


class _Pool:
    """Everything the agent was told: every value inside its results by canonical JSON, every line of its texts."""

    def __init__(self, calls: Iterable[CallRecord], ignore: tuple[str, ...]) -> None:
        self._ignore = ignore
        self._known: set[str] = set()
        todo: list[Any] = [result_of(call) for call in calls]
        while todo:
            value = todo.pop()
            if isinstance(value, str):
                self._known.update(self._form(line) for line in value.splitlines())
            self._known.add(self._form(value))
            todo.extend(_container_items(value))

    def has(self, piece: Any) -> bool:
        return self._form(piece) in self._known

    def _form(self, value: Any) -> str:
        if isinstance(value, str):
            return "text " + text(value, self._ignore)
        return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _container_items(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
