"""Grader `set`: the answer names these things and no others; precision and recall are joined in F1, the score.

Data is compared item by item. In prose an item stands for a value when it is equal to it or mentions it (`a1b2c3 change 1`
stands for `change 1`); an item that stands for none is one too many.
"""

from __future__ import annotations

import json
from typing import Any

from mcpeval_dsl.grade.items import items_of
from mcpeval_dsl.grade.mentions import mentions
from mcpeval_dsl.grade.model import Verdict
from mcpeval_dsl.grade.normalise import Unreadable, comparable, same
from mcpeval_dsl.grade.saying import answer_value, missing, no_answer, scope_of, verdict
from mcpeval_dsl.grade.services import GradeServices
from mcpeval_dsl.records.model import TrialRecord
from mcpeval_dsl.semantics.graders import Normalisation, SetOf
from mcpeval_dsl.values.evaluate import evaluate
from mcpeval_dsl.values.text import as_text, short

MOST_PAIRS = 250_000


def grade(grader: SetOf, record: TrialRecord, services: GradeServices) -> Verdict:
    expected = evaluate(grader.expected, scope_of(record, services))
    if not isinstance(expected, list):
        return missing(grader, "no_evidence", f"`set` needs a list, not {short(expected, 60)}")
    wanted = short(expected)
    without = no_answer(grader, record, wanted)
    if without is not None:
        return without
    how = grader.common.normalisation
    given = items_of(answer_value(record, how))
    lacking, extra = compared(given, expected, how)
    score = f1(len(given) - len(extra), len(extra), len(expected) - len(lacking), len(lacking))
    reason = "; ".join(_said(word, values) for word, values in (("lacks", lacking), ("too many:", extra)) if values)
    holds = not lacking and not extra
    return verdict(grader, holds, "answer", actual=short(given), expected=wanted, reason=reason, score=score)


def compared(given: list[Any], expected: list[Any], how: Normalisation) -> tuple[list[Any], list[Any]]:
    """Expected values that no item stands for, and items that stand for none. Equal ones are found by hashing."""
    forms = {_form(item, how) for item in given}
    lacking = [value for value in expected if _form(value, how) not in forms]
    known = {_form(value, how) for value in expected}
    extra = [item for item in given if _form(item, how) not in known]
    if not extra or len(extra) * len(expected) > MOST_PAIRS:
        return lacking, extra
    still = [value for value in lacking if not any(_stands_for(item, value, how) for item in extra)]
    return still, [item for item in extra if not any(_stands_for(item, value, how) for value in expected)]


def _form(value: Any, how: Normalisation) -> str:
    try:
        read = comparable(value, how)
    except Unreadable:
        read = value
    return as_text(read) if not isinstance(read, list | dict) else json.dumps(read, sort_keys=True)


def _stands_for(item: Any, value: Any, how: Normalisation) -> bool:
    if isinstance(item, str) and not isinstance(value, list | dict):
        return mentions(item, value, how)
    return same(item, value, how)


def f1(right_items: int, extra: int, found: int, lacking: int) -> float:
    """Harmonic mean of precision and recall, 1 for two empty sets (van Rijsbergen 1979)."""
    if right_items + extra == 0 and found + lacking == 0:
        return 1.0
    precision = right_items / (right_items + extra) if right_items + extra else 0.0
    recall = found / (found + lacking) if found + lacking else 0.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _said(word: str, values: list[Any]) -> str:
    return f"{word} {', '.join(short(value, 80) for value in values[:5])}"
