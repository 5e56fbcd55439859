"""Grader `unchanged`: the source reads the same after the trial as before it, apart from what is excepted."""

from __future__ import annotations

import posixpath
from typing import Any

from mcpeval_dsl.grade.differences import LeftOut, first_difference, left_out, without
from mcpeval_dsl.grade.model import Verdict
from mcpeval_dsl.grade.normalise import comparable, tolerance
from mcpeval_dsl.grade.readings import before_reading, failed, reading_at
from mcpeval_dsl.grade.same_state import view_name
from mcpeval_dsl.grade.saying import missing, scope_of, verdict
from mcpeval_dsl.grade.services import GradeServices
from mcpeval_dsl.records.model import TrialRecord
from mcpeval_dsl.semantics.expressions import FileTree
from mcpeval_dsl.semantics.graders import Unchanged
from mcpeval_dsl.values.evaluate import evaluate
from mcpeval_dsl.values.model import Reading, Scope
from mcpeval_dsl.values.sources import BEFORE
from mcpeval_dsl.values.subject import subject_of
from mcpeval_dsl.values.text import short

EXPECTED = "as before the trial"


def grade(grader: Unchanged, record: TrialRecord, services: GradeServices) -> Verdict:
    early = before_reading(grader, record)
    if early is not None:
        return early
    scope = scope_of(record, services)
    name = view_name(grader.source, 1, 1)
    before, after = reading_at(grader.source, scope, BEFORE), reading_at(grader.source, scope)
    if before is None:
        return missing(grader, "no_evidence", f"{name} was not read before the trial", "state")
    if before.error is not None:
        return _without_before(grader, name, before, after)
    refused = failed(grader, after, name, EXPECTED)
    if refused is not None or after is None:
        return refused or missing(grader, "no_evidence", f"{name} was not read", "state")
    how = grader.common.normalisation
    out = _excepted(grader, scope)
    left, right = without(subject_of(after), out), without(subject_of(before), out)
    if isinstance(grader.source, FileTree) and isinstance(left, dict) and isinstance(right, dict):
        changes = _changes(left, right)
        return verdict(grader, not changes, "state", actual=_listed(changes), expected=EXPECTED)
    difference = first_difference(comparable(left, how), comparable(right, how), tolerance(how))
    if difference is None:
        return verdict(grader, True, "state", actual="unchanged", expected=EXPECTED)
    return verdict(
        grader,
        False,
        "state",
        actual=f"{difference.at}: {difference.actual}",
        expected=f"{difference.at}: {difference.expected}",
        evidence=tuple(after.calls),
    )


def _without_before(grader: Unchanged, name: str, before: Reading, after: Reading | None) -> Verdict:
    """What was not there before must not be there after; what could not be read before tells nothing."""
    if before.error_class != "absent" or after is None:
        return missing(grader, "no_evidence", f"{name} could not be read before the trial: {before.error}", "state")
    there = after.error is None
    return verdict(grader, not there, "state", actual=f"{name} is there" if there else "nothing", expected="nothing")


def _excepted(grader: Unchanged, scope: Scope) -> LeftOut:
    """Exceptions of a tree may be written as whole paths; the tree's own are relative to its directory."""
    out = left_out((*grader.excepted, *grader.common.normalisation.ignore_paths), scope)
    if not isinstance(grader.source, FileTree):
        return out
    root = evaluate(grader.source.path, scope)
    return LeftOut(out.paths, tuple(_relative(glob, root) for glob in out.globs))


def _relative(glob: str, root: Any) -> str:
    if not isinstance(root, str) or not glob.startswith("/"):
        return glob
    base = posixpath.normpath(root).rstrip("/") + "/"
    # A whole path means that file alone; without a directory it would be read as a name in any directory.
    return f"./{glob[len(base) :]}" if glob.startswith(base) else glob


def _changes(after: dict[str, Any], before: dict[str, Any]) -> list[str]:
    changed = [f"{path} was changed" for path in sorted(before) if path in after and after[path] != before[path]]
    gone = [f"{path} is gone" for path in sorted(before) if path not in after]
    new = [f"{path} is new" for path in sorted(after) if path not in before]
    return changed + gone + new


def _listed(changes: list[str]) -> str:
    if not changes:
        return "unchanged"
    more = f", … ({len(changes)} changes)" if len(changes) > 4 else ""
    return short(", ".join(changes[:4]), 300)[1:-1] + more
