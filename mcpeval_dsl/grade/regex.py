"""Grader `regex`: the answer matches the pattern somewhere (RE2, linear in the length of the answer)."""

from __future__ import annotations

from mcpeval_dsl.grade.model import Verdict
from mcpeval_dsl.grade.normalise import PLAIN, text
from mcpeval_dsl.grade.saying import answer_text, no_answer, verdict
from mcpeval_dsl.grade.services import GradeServices
from mcpeval_dsl.records.model import TrialRecord
from mcpeval_dsl.semantics.graders import Regex
from mcpeval_dsl.values.regex import found
from mcpeval_dsl.values.text import short


def grade(grader: Regex, record: TrialRecord, services: GradeServices) -> Verdict:
    del services
    wanted = f"{'no match of ' if grader.negated else ''}/{grader.pattern}/{grader.flags}"
    without = no_answer(grader, record, wanted)
    if without is not None:
        return without
    how = grader.common.normalisation
    answer = answer_text(record, how)
    flags = grader.flags + ("i" if "case" in how.ignore and "i" not in grader.flags else "")
    kept = tuple(part for part in how.ignore if part != "case")
    read = text(answer, kept) if how != PLAIN and kept else answer
    matched = found(grader.pattern, flags, read)
    return verdict(grader, matched != grader.negated, "answer", actual=short(answer), expected=wanted)
