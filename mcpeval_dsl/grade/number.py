"""Grader `number`: the answer's number is the value, or near enough.

An answer that is data is that number (or the only number in it); one that is nothing but a number, perhaps with a currency
or a unit, is read as a whole; in prose one of its numbers must be near, and the verdict is flagged `several_numbers` where
there were others. With more than ten different numbers the answer commits to none, and that is a no.
"""

from __future__ import annotations

import re
from typing import Any

from mcpeval_dsl.grade.model import Verdict
from mcpeval_dsl.grade.normalise import marks, tolerance, whole_number
from mcpeval_dsl.grade.saying import answer_text, answer_value, missing, no_answer, scope_of, verdict
from mcpeval_dsl.grade.services import GradeServices
from mcpeval_dsl.records.model import TrialRecord
from mcpeval_dsl.semantics.graders import Normalisation, Number
from mcpeval_dsl.values.compare import Tolerance
from mcpeval_dsl.values.evaluate import evaluate, tolerance_of
from mcpeval_dsl.values.numbers import is_number, near, same_number
from mcpeval_dsl.values.spelling import Marks, numbers_in
from mcpeval_dsl.values.text import short

MOST = 10
_PERCENT = re.compile(r"(?<![\w.,])([-+\u2212]?\d+(?:[.,]\d+)?)\s?%", re.ASCII)


def grade(grader: Number, record: TrialRecord, services: GradeServices) -> Verdict:
    scope = scope_of(record, services)
    how = grader.common.normalisation
    value = evaluate(grader.expected, scope)
    form = marks(how)
    expected = value if is_number(value) else whole_number(value) if isinstance(value, str) else None
    if expected is None:
        return missing(grader, "no_evidence", f"the expected value is no number: {short(value, 60)}")
    within = tolerance_of(grader.within, scope) or tolerance(how)
    wanted = f"{expected:g}" if isinstance(expected, float) else str(expected)
    wanted += f" within {within}" if within is not None else ""
    without = no_answer(grader, record, wanted)
    if without is not None:
        return without
    found, shares = numbers(record, how, form)
    actual = short(answer_text(record, how))
    if len(set(found)) > MOST:
        reason = f"the answer has {len(set(found))} different numbers and so commits to none"
        return verdict(grader, False, "answer", actual=actual, expected=wanted, reason=reason)
    hit = any(is_near(number, expected, within) for number in (*found, *shares))
    several = hit and len(set(found)) > 1 and not all(is_near(number, expected, within) for number in found)
    reason = "" if found else "there is no number in the answer"
    flags = ("several_numbers",) if several else ()
    return verdict(grader, hit, "answer", actual=actual, expected=wanted, reason=reason, flags=flags)


def is_near(actual: int | float, expected: int | float, within: Tolerance | None) -> bool:
    if within is None:
        return same_number(actual, expected)
    return near(actual, expected, within.amount, within.percent)


def numbers(record: TrialRecord, how: Normalisation, form: Marks | None) -> tuple[list[int | float], list[float]]:
    """The numbers that the answer gives, and its percentages as fractions."""
    value = answer_value(record, how)
    if not isinstance(value, str):
        found = _leaves(value, form)
        if found:
            return found, []
    text = answer_text(record, how)
    whole = whole_number(text, form)
    shares = [float(match.replace(",", ".").replace("\u2212", "-")) / 100 for match in _PERCENT.findall(text)]
    return [whole] if whole is not None else numbers_in(text, form), shares


def _leaves(value: Any, form: Marks | None) -> list[int | float]:
    found: list[int | float] = []
    todo = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, dict):
            todo.extend(reversed(list(item.values())))
        elif isinstance(item, list):
            todo.extend(reversed(item))
        elif is_number(item):
            found.append(item)
        elif isinstance(item, str):
            whole = whole_number(item, form)
            found += [whole] if whole is not None else []
    return found
