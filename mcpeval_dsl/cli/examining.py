"""Command line, inside a self-test: each trial graded as it ends, with its own answer and with wrong ones; what it shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from mcpeval_dsl.cli.grading import Finish
    from mcpeval_dsl.execute.context import RunContext
    from mcpeval_dsl.grade.solutions import Solution
    from mcpeval_dsl.plan.model import Plan
    from mcpeval_dsl.records.model import TrialRecord, VerdictRecord
    from mcpeval_dsl.semantics.graders import Grader
    from mcpeval_dsl.semantics.model import Task
    from mcpeval_dsl.values.model import Scope

State = Literal["pass", "fail", "not tested"]
UNKNOWN_ANSWER = "I don't know."
NO_REFERENCE = "the task has no `reference`"
ONLY_JUDGES = "only judges grade it"


@dataclass(slots=True)
class Tried:
    """One task instance with one version of the servers. `findings` are what to mend; `notes` what to know.

    `null` passes where the agent that does nothing fails. `blocked`: infrastructure kept something from being tried.
    """

    instance: str
    task: str
    variant: str = ""
    reference: State = "not tested"
    reference_because: str = NO_REFERENCE
    null: State = "not tested"
    null_because: str = ""
    mutants: int = 0
    rejected: int = 0
    mutants_because: str = ""
    findings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    blocked: bool = False


class Examiner:
    """Grades the trials of a self-test as they end, and keeps what they show."""

    def __init__(self, plan: Plan, tested: Plan, context: RunContext, problems: Mapping[str, str]) -> None:
        from mcpeval_dsl.cli.grading import finisher

        self._plan = plan
        self._context = context
        self._problems = problems
        self._grade: Finish = finisher(tested, context)
        self._tasks = {task.name: task for task in tested.tasks}
        self._judged = {task.name for task in plan.tasks if _has_judge(task)}
        self._several = len({cell.id.partition("/")[2] for cell in tested.cells}) > 1
        self._tried = {each: _begun(task, each) for each, task in _due(plan, tested)}

    async def finish(self, record: TrialRecord, workdir: Path | None) -> TrialRecord:
        """The record, graded. What cannot be told is `not tested`, with the reason."""
        from mcpeval_dsl.plan.selftest import NULL

        key = _key(record)
        if record.not_applicable:
            self._tried.pop(key, None)
            return record
        tried = self._tried[key]
        tried.variant = record.cell.partition("/")[2] if self._several else ""
        if record.trouble is not None and record.trouble.when == "before_agent":
            return self._blocked(record, tried)
        examine = self._null if record.agent.model == NULL else self._reference
        return await examine(record, workdir, tried)

    def result(self) -> list[Tried]:
        return list(self._tried.values())

    def _blocked(self, record: TrialRecord, tried: Tried) -> TrialRecord:
        trouble = record.trouble
        assert trouble is not None
        because = trouble.message or " → ".join(trouble.chain)
        tried.blocked = trouble.kind not in ("need", "needs")
        if record.agent.model == "null":
            tried.null_because = because
        else:
            tried.reference_because = because
        return record

    async def _null(self, record: TrialRecord, workdir: Path | None, tried: Tried) -> TrialRecord:
        from mcpeval_dsl.grade.solutions import asks_for_nothing

        task = self._tasks[record.task]
        silent = await self._grade(record, workdir)
        unsure = await self._grade(_answering(record, UNKNOWN_ANSWER), workdir)
        said = (("an empty answer", silent), (f'"{UNKNOWN_ANSWER}"', unsure))
        passed = [words for words, graded in said if _accepted(graded)]
        deciding = [verdict for verdict in silent.verdicts if verdict.deciding]
        if not deciding:
            tried.null_because = ONLY_JUDGES if record.task in self._judged else "no grader decides"
        elif passed and record.task in self._judged:
            tried.null_because = "its judge would have to reject an agent that does nothing"
        elif passed and asks_for_nothing(self._graders(task, record)):
            tried.null_because = "it asks that nothing is called"
        elif passed:
            tried.null = "fail"
            tried.null_because = f"an agent that calls nothing passes with {' and with '.join(passed)}"
            tried.findings.append(f"{tried.null_because}: grade what only the work can bring about")
        elif all(verdict.verdict != "no" for verdict in deciding):
            tried.null_because = f"no verdict: {deciding[0].reason or deciding[0].missing_because}"
        else:
            tried.null = "pass"
        if not task.reference:
            await self._without_reference(record, workdir, tried, task)
        return silent

    async def _without_reference(self, record: TrialRecord, workdir: Path | None, tried: Tried, task: Task) -> None:
        """Graders that read the answer alone can be tried with wrong answers though nobody says how to get the right one."""
        from mcpeval_dsl.grade.solutions import Unsolved, reads_answers, solution

        if not reads_answers(self._graders(task, record)):
            tried.mutants_because = NO_REFERENCE
            return
        try:
            found = solution(self._graders(task, record), self._scope(record))
        except Unsolved as problem:
            tried.mutants_because = problem.reason
            return
        right = await self._grade(record.model_copy(update={"answer": found.answer()}), workdir)
        if _accepted(right):
            await self._mutants(record, workdir, tried, found)
        else:
            tried.mutants_because = f"the answer that its graders ask for is not accepted: {_why(right)}"

    async def _reference(self, record: TrialRecord, workdir: Path | None, tried: Tried) -> TrialRecord:
        from mcpeval_dsl.grade.solutions import Unsolved, solution

        task = self._tasks[record.task]
        graders = self._graders(task, record)
        if not any(grader.common.weight > 0 for grader in graders):
            tried.reference_because = tried.mutants_because = ONLY_JUDGES
            return await self._grade(record, workdir)
        try:
            found = solution(graders, self._scope(record))
        except Unsolved as problem:
            tried.reference_because = tried.mutants_because = problem.reason
            return await self._grade(record, workdir)
        graded = await self._grade(record.model_copy(update={"answer": found.answer()}), workdir)
        wrong = self._problems.get(record.id) or _denied(record)
        if graded.outcome is not None and graded.outcome.printed == "pass" and not wrong:
            tried.reference, tried.reference_because = "pass", ""
            failed = _failed(graded)
            tried.notes += [f"the reference passes, though{failed.lstrip(';')}"] if failed else []
            await self._mutants(record, workdir, tried, found)
        else:
            tried.mutants_because = "its reference does not pass"
            _not_passed(task, graded, found, wrong or _why(graded), tried)
        return graded

    async def _mutants(self, record: TrialRecord, workdir: Path | None, tried: Tried, found: Solution) -> None:
        from mcpeval_dsl.grade.mutants import mutants

        if found.form == "free":
            tried.mutants_because = "no grader reads the answer"
        for mutant in mutants(found):
            graded = await self._grade(record.model_copy(update={"answer": mutant.answer}), workdir)
            accepted = _accepted(graded)
            tried.mutants += 1
            tried.rejected += not accepted
            if not accepted:
                continue
            shown = f"a wrong answer is accepted ({mutant.what}): {mutant.answer.text[:120]!r}"
            if record.task in self._judged:
                tried.notes.append(f"{shown}; its judge would have to reject it")
            elif mutant.denial and not found.whole:
                tried.mutants -= 1
                tried.notes.append(
                    "the right words in a denial are accepted: only a judge, or `exact`, tells them apart"
                )
            else:
                tried.findings.append(f"{shown}: compare more of the answer")

    def _graders(self, task: Task, record: TrialRecord) -> tuple[Grader, ...]:
        """The task's own, and those under a `when` that holds in this trial."""
        from mcpeval_dsl.values.evaluate import condition
        from mcpeval_dsl.values.model import EvaluationError

        found = list(task.graders)
        for each in task.conditionals:
            try:
                found += each.graders if condition(each.condition, self._scope(record)).holds else ()
            except EvaluationError:
                continue
        return tuple(found)

    def _scope(self, record: TrialRecord) -> Scope:
        from mcpeval_dsl.values.model import Scope

        return Scope(names=record.scope, readings=record.evidence, secrets=self._context.secrets)


def _not_passed(task: Task, graded: TrialRecord, found: Solution, because: str, tried: Tried) -> None:
    """A finding, unless it says nothing about task or graders."""
    tried.reference_because = because
    if task.known_failures:
        tried.reference_because = f"known failure: {task.known_failures[0].reason}"
    elif found.form == "free" and _only_own_code(graded):
        tried.reference_because = "code of its own reads the answer, and nothing says what it should be"
    elif graded.outcome is not None and graded.outcome.outcome == "untestable":
        tried.blocked = True
    else:
        tried.reference = "fail"
        tried.findings.append(f"the reference does not pass: {because}")


def _due(plan: Plan, tested: Plan) -> Iterable[tuple[tuple[str, str], Task]]:
    """Every instance that will have trials, and the dialogues, which will have none."""
    tasks = {task.name: task for task in plan.tasks}
    for group in tested.nodes:
        if group.kind == "trial":
            yield (group.id.removesuffix(f"@{group.cell}"), group.cell.partition("/")[2]), tasks[group.task]
    for task in plan.tasks:
        if task.dialogue is not None:
            yield (task.name, ""), task


def _begun(task: Task, key: tuple[str, str]) -> Tried:
    tried = Tried(key[0], task.name)
    if task.dialogue is not None:
        tried.reference_because = tried.null_because = tried.mutants_because = "a dialogue needs somebody to talk to"
    return tried


def _key(record: TrialRecord) -> tuple[str, str]:
    return record.id.rpartition("#")[0].removesuffix(f"@{record.cell}"), record.cell.partition("/")[2]


def _has_judge(task: Task) -> bool:
    from mcpeval_dsl.semantics.task_parts import all_graders

    return any(grader.kind == "judge" and grader.common.weight > 0 for grader in all_graders(task))


def _answering(record: TrialRecord, text: str) -> TrialRecord:
    from mcpeval_dsl.agents.model import Answer

    return record.model_copy(update={"answer": Answer("given", text, None, True)})


def _accepted(graded: TrialRecord) -> bool:
    return graded.outcome is not None and bool(graded.outcome.correct)


def _denied(record: TrialRecord) -> str:
    """The first call of the reference that was denied: without it nothing was solved."""
    for call in record.calls:
        if call.actor == "agent" and call.permission.decision == "denied":
            why = call.error.message if call.error is not None else call.permission.rule
            unpermitted = why == f"{call.tool} is not permitted here"
            return f"its call of {call.server}.{call.tool} is denied: {'permit it with `may`' if unpermitted else why}"
    return ""


def _why(graded: TrialRecord) -> str:
    """The first grader that says no, with a call that failed before it; else what is missing, or the outcome."""
    for verdict in graded.verdicts:
        if verdict.deciding and verdict.verdict == "no":
            return _rejection(verdict) + _failed(graded)
    missing = next((v for v in graded.verdicts if v.verdict in ("missing", "moot")), None)
    if missing is not None:
        return f"{missing.kind} ({missing.at or missing.grader}) gives no verdict: {missing.reason}"
    return graded.outcome.printed or graded.outcome.outcome if graded.outcome is not None else "not graded"


def _rejection(verdict: VerdictRecord) -> str:
    wrong = f": got {verdict.actual or 'nothing'}, expected {verdict.expected}" if verdict.expected else ""
    reason = f" ({verdict.reason})" if verdict.reason else ""
    return f"{verdict.kind} ({verdict.at or verdict.grader}) says no{wrong}{reason}"


def _failed(graded: TrialRecord) -> str:
    for call in graded.calls:
        if call.actor == "agent" and call.error is not None:
            return f"; {call.server}.{call.tool} had failed: {call.error.message[:120]}"
    return ""


def _only_own_code(graded: TrialRecord) -> bool:
    rejecting = [v for v in graded.verdicts if v.deciding and v.verdict == "no"]
    return bool(rejecting) and all(verdict.kind in ("python", "command") for verdict in rejecting)
