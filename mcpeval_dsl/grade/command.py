"""Grader `command`: any verifier of the author's own, by exit code or a JSON verdict on standard output.

The command runs in the trial's working directory and gets the record as JSON on standard input, and MCPE_ANSWER,
MCPE_TASK and MCPE_WORKDIR beside the variables the spec names. `{"verdict": "yes"|"no"|"missing", "reason": …,
"score": …}` as the last line of output decides; without it the exit code does. A command that cannot run, is killed or takes
too long leaves the verdict missing. Graded again after its directory is gone, it keeps the verdict it gave then.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mcpeval_dsl.grade.model import Said, Verdict
from mcpeval_dsl.grade.publish import from_record
from mcpeval_dsl.grade.saying import answer_text, missing, not_run, scope_of, verdict
from mcpeval_dsl.grade.services import GradeServices
from mcpeval_dsl.records.model import TrialRecord
from mcpeval_dsl.semantics.graders import CommandVerdict
from mcpeval_dsl.values.evaluate import evaluate
from mcpeval_dsl.values.processes import Ran, run_command
from mcpeval_dsl.values.sources import argv_of
from mcpeval_dsl.values.text import as_text, short

LIMIT = 1024 * 1024
_WORDS: dict[Any, Said] = {"yes": "yes", "no": "no", "missing": "missing", True: "yes", False: "no"}


async def grade(grader: CommandVerdict, record: TrialRecord, services: GradeServices) -> Verdict:
    if not_run(record):
        return missing(grader, "not_run", "the agent was kept from answering", "state")
    workdir = services.workdir
    if workdir is None or not workdir.is_dir():
        earlier = (
            next((each for each in record.verdicts if each.grader == grader.common.id), None)
            if services.kept is None
            else services.kept.get(grader.common.id)
        )
        if earlier is not None and earlier.kind == grader.kind:
            return from_record(earlier, grader.common.at)
        return missing(grader, "not_run", "the trial's directory is gone, so the command cannot run", "state")
    scope = scope_of(record, services)
    argv = [_program(part, services.project) for part in argv_of(grader.argv, scope)]
    env = {**services.env, **{entry.key: as_text(evaluate(entry.value, scope)) for entry in grader.env}}
    env |= {"MCPE_ANSWER": answer_text(record, grader.common.normalisation)[:100_000].replace("\0", "")}
    env |= {"MCPE_TASK": record.task, "MCPE_WORKDIR": str(workdir), "MCPE_PROJECT": str(services.project)}
    timeout = grader.common.timeout or services.command_timeout
    said = record.model_dump_json().encode()
    ran = await run_command(argv, workdir, env, timeout, LIMIT, said, services.wrap)
    return _said(grader, ran)


def _program(part: str, project: Path) -> str:
    """A relative path of a file in the project is given in full, because the command runs elsewhere."""
    if "/" not in part and "." not in part:
        return part
    inside = project / part
    try:
        return str(inside) if not Path(part).is_absolute() and inside.is_file() else part
    except (OSError, ValueError):
        return part


def _said(grader: CommandVerdict, ran: Ran) -> Verdict:
    if ran.problem:
        return missing(grader, "timeout" if ran.timed_out else "grader_exception", ran.problem, "state")
    given = _verdict_in(ran.stdout)
    if given is not None:
        return _given(grader, given)
    if ran.exit is None or ran.exit < 0 or ran.exit in (126, 127):
        return missing(
            grader, "grader_exception", f"the command ended with {ran.exit}: {short(ran.stderr[-300:])}", "state"
        )
    output = (ran.stdout.strip() or ran.stderr.strip())[-300:]
    actual = f"exit {ran.exit}" + (f": {short(output)}" if output else "")
    return verdict(grader, ran.exit == grader.exit, "state", actual=actual, expected=f"exit {grader.exit}")


def _given(grader: CommandVerdict, given: dict[str, Any]) -> Verdict:
    word = given.get("verdict")
    said = _WORDS.get(word) if isinstance(word, str | bool) else None
    reason = given.get("reason")
    because = reason if isinstance(reason, str) else ""
    if said is None:
        return missing(
            grader, "grader_exception", f"the command's verdict {short(word, 60)} is not yes, no or missing", "state"
        )
    if said == "missing":
        return missing(grader, "no_evidence", because or "the command says so", "state")
    score = given.get("score")
    share = float(score) if isinstance(score, int | float) and not isinstance(score, bool) and 0 <= score <= 1 else None
    return verdict(grader, said == "yes", "state", actual=because or said, expected="yes", reason=because, score=share)


def _verdict_in(stdout: str) -> dict[str, Any] | None:
    lines = [line for line in stdout.splitlines() if line.strip()]
    for text in (stdout, lines[-1] if lines else ""):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict) and "verdict" in found:
            return found
    return None
