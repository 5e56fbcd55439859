"""Grade, before any trial is judged: a judge asked about answers that people have judged.

It is asked as a trial's grader asks it, once for each label and repeat. Every way in which graders ask the judge (how often,
with which second judge) is then read off the same answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from mcpeval_dsl.agents.model import TrialContext
from mcpeval_dsl.grade.judge_asking import FACTS, SYSTEM, Asked, Bill, Question, Trouble, ask, prompt_of
from mcpeval_dsl.grade.quoting import nonce_for
from mcpeval_dsl.grade.services import JudgeSetting, setting_of
from mcpeval_dsl.plan.keys import digest
from mcpeval_dsl.plan.model import Plan
from mcpeval_dsl.records.judgements import JudgementRecord
from mcpeval_dsl.semantics.graders import Calibration, Judge, Labelled
from mcpeval_dsl.semantics.model import Model, Task
from mcpeval_dsl.semantics.task_parts import all_graders

TASK = "calibration"
"""The task that scripted judges are asked for; the number of the trial is that of the label, from 1."""


@dataclass(frozen=True, slots=True)
class Due:
    """One question: `judge` is asked about a label for the `repeat`-th time (from 0)."""

    key: str
    judge: str
    number: int
    repeat: int
    label: Labelled


def settings_of(tasks: Iterable[Task]) -> tuple[JudgeSetting, ...]:
    """Every way in which these tasks ask a judge, in order of name."""
    return tuple(sorted({setting_of(g) for task in tasks for g in all_graders(task) if isinstance(g, Judge)}))


def of_setting(plan: Plan, setting: JudgeSetting) -> Calibration | None:
    return next((c for c in plan.calibrations if c.judge == setting.judge), None)


def questions(plan: Plan) -> tuple[Due, ...]:
    """Everything that has to be asked to measure the judges of a plan, each once."""
    models = {model.name: model for model in plan.models}
    found: dict[str, Due] = {}
    for setting in settings_of(plan.tasks):
        calibration = of_setting(plan, setting)
        for judge in (setting.judge, setting.second) if calibration is not None else ():
            if calibration is not None and judge in models:
                due = _of_judge(models[judge], calibration.labels, setting.repeats)
                found.update({each.key: each for each in due if each.key not in found})
    return tuple(found.values())


def _of_judge(model: Model, labels: Iterable[Labelled], repeats: int) -> Iterator[Due]:
    for number, label in enumerate(labels, start=1):
        for repeat in range(repeats):
            yield Due(key_of(model, label, repeat), model.name, number, repeat, label)


def key_of(model: Model, label: Labelled, repeat: int) -> str:
    """Content key of one answer: what was asked, whom, and the how-many-eth time; not the verdict that people gave."""
    return digest(
        {
            "kind": "judgement",
            "system": SYSTEM,
            "model": replace(model, price=None),
            "claim": label.claim,
            "answer": label.answer,
            "task": label.task,
            "whole": label.whole,
            "repeat": repeat,
        }
    )


async def judged(due: Due, judge: Asked, seed: int, timeout: float) -> JudgementRecord | Trouble:
    """What the judge says of one label. `timeout` in seconds."""
    label = due.label
    nonce = nonce_for(due.key, label.task + label.answer)
    prompt = prompt_of(label.task, label.answer, label.whole, (label.claim,), nonce)
    context = TrialContext(f"{TASK}!{due.judge}#{due.number}", TASK, "", due.number, seed, FACTS)
    bill = Bill()
    data = f"{label.task}\n{label.answer}"
    given = await ask(Question(1, data, prompt, context, timeout), judge, bill, due.repeat)
    if isinstance(given, Trouble):
        return given
    return JudgementRecord(
        id=f"{due.judge} {label.line}.{due.repeat}",
        key=due.key,
        judge=due.judge,
        verdict=given[0].verdict,
        reason=given[0].reason,
        cost_usd=bill.usd,
    )


def by_key(records: Iterable[JudgementRecord]) -> Mapping[str, JudgementRecord]:
    return {record.key: record for record in records}
