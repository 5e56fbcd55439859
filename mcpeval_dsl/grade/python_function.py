"""Grader `python`: a function of the project, called with the trial's record as a dictionary.

It answers True or False, `"yes"`, `"no"` or `"missing"`, `(verdict, reason)`, or an object with `verdict`, `reason` and
`score`. It runs in a process of its own, in the sandbox of a command: what it raises, a module that cannot be imported and
a process that dies leave the verdict missing, with the line at fault.
"""

from __future__ import annotations

import json
import signal
import sys
from typing import Any

from mcpeval_dsl.grade import calling
from mcpeval_dsl.grade.model import Said, Verdict
from mcpeval_dsl.grade.saying import missing, not_run, verdict
from mcpeval_dsl.grade.services import GradeServices
from mcpeval_dsl.records.model import TrialRecord
from mcpeval_dsl.semantics.graders import Python
from mcpeval_dsl.values.processes import Ran, run_command
from mcpeval_dsl.values.text import short

_WORDS: dict[Any, Said] = {"yes": "yes", "no": "no", "missing": "missing"}
LIMIT = 1024 * 1024
START_SECONDS = 20.0
"""For the start of the process, which is not the function's fault."""


async def grade(grader: Python, record: TrialRecord, services: GradeServices) -> Verdict:
    if not_run(record):
        return missing(grader, "not_run", "the agent was kept from answering")
    limit = grader.common.timeout or services.command_timeout
    project = services.project.resolve()
    argv = [sys.executable, "-P", calling.__file__, grader.function, str(project), str(limit)]
    env = {**services.env, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1"}
    place = project if services.workdir is None else services.workdir
    ran = await run_command(
        argv, place, env, limit + START_SECONDS, LIMIT, record.model_dump_json().encode(), services.wrap
    )
    if ran.timed_out or ran.exit == -signal.SIGALRM:
        return missing(grader, "timeout", f"`{grader.function}` took longer than {limit:g} s")
    return _said(grader, ran)


def _said(grader: Python, ran: Ran) -> Verdict:
    given = _given(ran.stdout)
    if given is None:
        last = short(ran.stderr.strip()[-300:]) if ran.stderr.strip() else ""
        how = ran.problem or f"its process ended with {ran.exit}"
        return missing(grader, "grader_exception", f"`{grader.function}` failed: {how}{': ' if last else ''}{last}")
    if "failed" in given:
        return missing(grader, "grader_exception", f"`{grader.function}` failed: {given['failed']}")
    word, reason = given.get("verdict"), str(given.get("reason", ""))
    said = ("yes" if word else "no") if isinstance(word, bool) else _WORDS.get(word)
    if said is None:
        known = given.get("type") in ("str", "int", "float", "NoneType")
        what = short(word, 60) if known else str(given.get("type"))
        return missing(grader, "grader_exception", f"`{grader.function}` gave {what}, which is no verdict")
    if said == "missing":
        return missing(grader, "no_evidence", reason or f"`{grader.function}` says so")
    score = given.get("score")
    share = None if score is None else float(score)
    return verdict(grader, said == "yes", "answer", actual=reason or said, expected="yes", reason=reason, score=share)


def _given(stdout: str) -> dict[str, Any] | None:
    try:
        found = json.loads(stdout)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
