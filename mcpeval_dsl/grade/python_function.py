"""Grader `python`: a function of the project, called with the trial's record as a dictionary.

It answers True or False, `"yes"`, `"no"` or `"missing"`, `(verdict, reason)`, or an object with `verdict`, `reason` and
`score`. What it raises, and a module that cannot be imported, leave the verdict missing, with the line at fault.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any

from mcpeval_dsl.grade.model import Said, Verdict
from mcpeval_dsl.grade.saying import missing, not_run, verdict
from mcpeval_dsl.grade.services import GradeServices
from mcpeval_dsl.records.model import TrialRecord
from mcpeval_dsl.semantics.graders import Python
from mcpeval_dsl.values.text import short
from mcpeval_dsl.values.threads import in_thread

_WORDS: dict[str, Said] = {"yes": "yes", "no": "no", "missing": "missing"}
_IMPORTING = Lock()


async def grade(grader: Python, record: TrialRecord, services: GradeServices) -> Verdict:
    if not_run(record):
        return missing(grader, "not_run", "the agent was kept from answering")
    limit = grader.common.timeout or services.command_timeout
    data = record.model_dump(mode="json")
    try:
        async with asyncio.timeout(limit):
            given = await in_thread(lambda: _called(grader.function, data, services.project))
            if inspect.isawaitable(given):
                given = await given
    except TimeoutError:
        return missing(grader, "timeout", f"`{grader.function}` took longer than {limit:g} s")
    except (Exception, SystemExit) as problem:
        reason = f"`{grader.function}` failed: {_where(problem, services.project)}"
        return missing(grader, "grader_exception", reason)
    return _said(grader, given)


def _called(name: str, data: dict[str, Any], project: Path) -> Any:
    return function(name, project)(data)


def function(name: str, project: Path) -> Callable[..., Any]:
    """`module:function` found from the project root. Raises ImportError with a sentence for people."""
    module_name, _, attribute = name.partition(":")
    if not module_name or not attribute:
        raise ImportError("it is not written `module:function`")
    with _IMPORTING:
        sys.path.insert(0, str(project))
        try:
            importlib.invalidate_caches()
            module = importlib.import_module(module_name)
        finally:
            sys.path.remove(str(project))
    found: Any = module
    for part in attribute.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        raise ImportError(f"the module `{module_name}` has no function `{attribute}`")
    made: Callable[..., Any] = found
    return made


def _where(problem: BaseException, project: Path) -> str:
    """`ValueError: text (graders/tracker.py:12)`, with the last line that belongs to the project."""
    frames = traceback.extract_tb(problem.__traceback__)
    root = project.resolve()
    own = [frame for frame in frames if Path(frame.filename).resolve().is_relative_to(root)]
    said = f"{type(problem).__name__}: {problem}" if str(problem) else type(problem).__name__
    if not own or own[-1].filename == __file__:
        return said
    return f"{said} ({Path(own[-1].filename).resolve().relative_to(root).as_posix()}:{own[-1].lineno})"


def _said(grader: Python, given: Any) -> Verdict:
    reason, score = "", None
    if isinstance(given, tuple) and len(given) == 2:
        given, reason = given[0], str(given[1])
    elif isinstance(given, dict):
        reason, score = str(given.get("reason", "")), given.get("score")
        given = given.get("verdict")
    said: Said | None = None
    if isinstance(given, bool):
        said = "yes" if given else "no"
    elif isinstance(given, str):
        said = _WORDS.get(given)
    if said is None:
        what = short(given, 60) if isinstance(given, str | int | float | None) else type(given).__name__
        return missing(grader, "grader_exception", f"`{grader.function}` gave {what}, which is no verdict")
    if said == "missing":
        return missing(grader, "no_evidence", reason or f"`{grader.function}` says so")
    share = float(score) if isinstance(score, int | float) and not isinstance(score, bool) and 0 <= score <= 1 else None
    return verdict(grader, said == "yes", "answer", actual=reason or said, expected="yes", reason=reason, score=share)
