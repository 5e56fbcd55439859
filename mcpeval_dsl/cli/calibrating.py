"""Command line, shared by run and score: judges are measured on what people have judged, before they judge a trial.

Every answer is kept in the run's ledger by its content key, so that a run that goes on and a run that is graded again pay for it
once. A new run measures anew: behind one name a provider may have another model by then.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpeval_dsl.agents.model import Driver
    from mcpeval_dsl.execute.context import RunContext
    from mcpeval_dsl.execute.interrupts import StopRequest
    from mcpeval_dsl.grade.calibration import Due
    from mcpeval_dsl.grade.services import JudgeSetting
    from mcpeval_dsl.plan.model import Plan
    from mcpeval_dsl.records.store import RunStore
    from mcpeval_dsl.score.judge_model import JudgeScore

AT_ONCE = 8
GIVEN_UP = 5
"""Failures of a judge that never answered, after which it is asked no more."""
TIMEOUT = 60.0


@dataclass(slots=True)
class _Asking:
    """The questions still open; `answered` and `failed` by judge."""

    plan: Plan
    drivers: Mapping[str, Driver]
    store: RunStore
    stopped: Callable[[], bool]
    waiting: list[Due]
    answered: dict[str, int] = field(default_factory=dict)
    failed: dict[str, list[str]] = field(default_factory=dict)

    async def work(self) -> None:
        from mcpeval_dsl.grade.calibration import judged
        from mcpeval_dsl.grade.judge_asking import Asked, Trouble

        models = {model.name: model for model in self.plan.models}
        while self.waiting and not self.stopped():
            due = self.waiting.pop()
            driver = self.drivers.get(due.judge)
            if driver is None or self._hopeless(due.judge):
                continue
            model = models[due.judge]
            judge = Asked(model.name, driver, model.max_tokens, model.temperature)
            given = await judged(due, judge, self.plan.suite.seed, TIMEOUT)
            if isinstance(given, Trouble):
                self.failed.setdefault(due.judge, []).append(given.reason)
            else:
                self.answered[due.judge] = self.answered.get(due.judge, 0) + 1
                await asyncio.wrap_future(self.store.save_judgement(given))

    def _hopeless(self, judge: str) -> bool:
        return not self.answered.get(judge) and len(self.failed.get(judge, ())) >= GIVEN_UP


async def measure(
    plan: Plan, context: RunContext, store: RunStore, stop: StopRequest | None = None, quiet: bool = False
) -> dict[JudgeSetting, str]:
    """Asks what was not asked before; why the verdicts of some judges do not count. Raises DamagedRecord and StoreError."""
    if not plan.calibrations:
        return {}
    from mcpeval_dsl.grade.calibration import questions
    from mcpeval_dsl.score.judges import judge_scores, unbelieved

    known = {record.key for record in store.reader.judgements()}
    every = questions(plan)
    due = [question for question in every if question.key not in known]
    if due and not quiet:
        kept = f", {len(every) - len(due)} answered before" if len(due) < len(every) else ""
        _line(f"judges: {len(due)} of {len(every)} questions about labelled answers to ask{kept}")
    asking = _Asking(plan, context.drivers, store, lambda: stop is not None and stop.asked, due[::-1])
    await asyncio.gather(*(asking.work() for _ in range(min(AT_ONCE, len(due)))))
    scores = judge_scores(plan, store.reader.judgements())
    if not quiet:
        for judge, reasons in asking.failed.items():
            _line(f"judge {judge}: {len(reasons)} questions failed; the first because {reasons[0]}")
        for score in scores if due else ():
            _line(_told(score))
    return unbelieved(scores)


def _told(score: JudgeScore) -> str:
    found = score.kappa
    value = "not measured" if found is None else f"{found.value:.2f} on {found.of} of {score.labels} labelled answers"
    return f"judge {score.judge}: kappa {value}{'' if score.believed else '; ungraded: ' + score.reason}"


def _line(text: str) -> None:
    from mcpeval_dsl.diagnostics.render.safe import visible

    print(visible(text), file=sys.stderr, flush=True)
