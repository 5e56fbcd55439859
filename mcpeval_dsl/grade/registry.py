"""Grade, the table: one module for each kind of grader, imported when it is first needed."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

from mcpeval_dsl.grade.any_of import joined
from mcpeval_dsl.grade.model import Reads, Verdict
from mcpeval_dsl.grade.saying import missing
from mcpeval_dsl.grade.services import GradeServices
from mcpeval_dsl.records.model import TrialRecord
from mcpeval_dsl.semantics.graders import AnyOf, Grader
from mcpeval_dsl.values.model import EvaluationError, ReadingFailed

MODULES: dict[str, tuple[str, Reads]] = {
    "exact": ("exact", "answer"),
    "one_of": ("one_of", "answer"),
    "contains": ("contains", "answer"),
    "regex": ("regex", "answer"),
    "number": ("number", "answer"),
    "set": ("set_of", "answer"),
    "json": ("json_answer", "answer"),
    "state": ("state", "state"),
    "same_state": ("same_state", "state"),
    "unchanged": ("unchanged", "state"),
    "results": ("results", "results"),
    "calls": ("calls", "calls"),
    "evidence": ("evidence", "answer"),
    "judge": ("judge", "answer"),
    "command": ("command", "state"),
    "python": ("python_function", "answer"),
    "refusal": ("refusal", "answer"),
}
"""Kind -> (module of this room, what it reads). `any` is made of others, here."""


async def grade(grader: Grader, record: TrialRecord, services: GradeServices) -> Verdict:
    """One verdict. Never raises for what the record, the spec's values or a grader's own code do."""
    if isinstance(grader, AnyOf):
        return joined(grader, [await grade(inner, record, services) for inner in grader.graders])
    module, reads = MODULES[grader.kind]
    run: Any = importlib.import_module(f"mcpeval_dsl.grade.{module}").grade
    try:
        given = run(grader, record, services)
        found: Verdict = await given if inspect.isawaitable(given) else given
        return found
    except ReadingFailed as problem:
        late = problem.reading is not None and problem.reading.error_class == "timeout"
        return missing(grader, "timeout" if late else "no_evidence", f"what to compare with: {problem.reason}", reads)
    except EvaluationError as problem:
        return missing(grader, "no_evidence", f"the expected value is not there: {problem.reason}", reads)
    except RecursionError:
        return missing(grader, "grader_exception", "the values are nested too deeply to be compared", reads)
