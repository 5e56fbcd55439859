"""Score: how far each judge is to be believed, from its answers about what people have judged.

κ, agreement, sensitivity and specificity are over labelled answers with a verdict, as its graders' results are over claims with
one. Below the suite's least κ, or asked in vain about more than a tenth, a judge gives no verdict at all; a gate may rest on it
only where the low end of κ is at least 0.6.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from mcpeval_dsl.grade import calibration
from mcpeval_dsl.grade.judge_asking import agreed, majority
from mcpeval_dsl.grade.judgement import Judged
from mcpeval_dsl.grade.services import JudgeSetting
from mcpeval_dsl.plan.model import Plan
from mcpeval_dsl.records.judgements import JudgementRecord
from mcpeval_dsl.score.judge_model import Bounded, JudgeMiss, JudgeScore
from mcpeval_dsl.semantics.graders import Calibration, Labelled
from mcpeval_dsl.semantics.model import Model
from mcpeval_dsl.statistics.agreement import Agreement, kappa_interval
from mcpeval_dsl.statistics.intervals import clopper_pearson
from mcpeval_dsl.values.text import clipped

LEAST_LOW = 0.6
"""Of the low end of κ, for a gate to rest on a judge."""
MOST_FAILED = 0.10
_SHOWN = 20
_SAID = {True: "pass", False: "fail"}


@dataclass(slots=True)
class _Answers:
    """What a setting came to on each label. `failed` and the like count labels."""

    table: Agreement = field(default_factory=lambda: Agreement(0, 0, 0, 0))
    unknown: int = 0
    failed: int = 0
    repeats_disagree: int = 0
    judges_disagree: int = 0
    misses: list[JudgeMiss] = field(default_factory=list)


def judge_scores(plan: Plan, judgements: Iterable[JudgementRecord]) -> tuple[JudgeScore, ...]:
    """Every judge that the tasks ask, in every way they ask it; what was said of trials is added by `JudgeTally`."""
    known = calibration.by_key(judgements)
    models = {model.name: model for model in plan.models}
    return tuple(_score(plan, setting, models, known) for setting in calibration.settings_of(plan.tasks))


def unbelieved(scores: Iterable[JudgeScore]) -> dict[JudgeSetting, str]:
    """Why verdicts do not count, by the way of asking."""
    return {setting(score): score.reason for score in scores if not score.believed}


def setting(score: JudgeScore) -> JudgeSetting:
    return JudgeSetting(score.judge, score.repeats, score.second)


def _score(
    plan: Plan, asked: JudgeSetting, models: Mapping[str, Model], known: Mapping[str, JudgementRecord]
) -> JudgeScore:
    model = models.get(asked.judge)
    named = f"{model.driver} {model.target}" if model is not None else asked.judge
    declared = calibration.of_setting(plan, asked)
    if declared is None or model is None:
        why = "it was not measured: there is no calibration set"
        return JudgeScore(
            judge=asked.judge,
            model=named,
            repeats=asked.repeats,
            second=asked.second,
            believed=True,
            decides=False,
            reason=why,
        )
    judges = [models[name] for name in (asked.judge, asked.second) if name in models]
    found = _answers(declared.labels, judges, asked.repeats, known)
    table, kappa = found.table, _kappa(found.table)
    believed, decides, reason = _standing(declared, found, kappa)
    return JudgeScore(
        judge=asked.judge,
        model=named,
        repeats=asked.repeats,
        second=asked.second,
        at=str(declared.at) if declared.at is not None else "",
        file=declared.path,
        labels=len(declared.labels),
        unknown=found.unknown,
        failed=found.failed,
        both_pass=table.both,
        only_judge=table.only_rater,
        only_people=table.only_truth,
        both_fail=table.neither,
        agreement=_share(table.both + table.neither, table.items),
        kappa=kappa,
        sensitivity=_share(table.both, table.both + table.only_truth),
        specificity=_share(table.neither, table.neither + table.only_rater),
        threshold=declared.kappa,
        believed=believed,
        decides=decides,
        reason=reason,
        repeats_disagree=found.repeats_disagree,
        judges_disagree=found.judges_disagree,
        misses=tuple(found.misses[:_SHOWN]),
        calibration_cost_usd=_cost(declared.labels, judges, asked.repeats, known),
    )


def _answers(
    labels: Sequence[Labelled], judges: Sequence[Model], repeats: int, known: Mapping[str, JudgementRecord]
) -> _Answers:
    found = _Answers()
    counts = {(said, truth): 0 for said in (True, False) for truth in (True, False)}
    for label in labels:
        given = [_repeated(judge, label, repeats, known) for judge in judges]
        if not all(given):
            found.failed += 1
            continue
        found.repeats_disagree += any(len({each.verdict for each in said}) > 1 for said in given)
        joined = [majority(said) for said in given]
        found.judges_disagree += len({each.verdict for each in joined}) > 1
        verdict = joined[0] if len(joined) == 1 else agreed(*joined)
        if verdict.verdict == "unknown":
            found.unknown += 1
            continue
        counts[verdict.verdict == "pass", label.holds] += 1
        if (verdict.verdict == "pass") != label.holds:
            found.misses.append(_miss(label, verdict))
    found.table = Agreement(counts[True, True], counts[True, False], counts[False, True], counts[False, False])
    return found


def _repeated(judge: Model, label: Labelled, repeats: int, known: Mapping[str, JudgementRecord]) -> list[Judged]:
    """As of a trial, repeats that failed are left out."""
    keys = (calibration.key_of(judge, label, repeat) for repeat in range(repeats))
    return [Judged(known[key].verdict, known[key].reason) for key in keys if key in known]


def _miss(label: Labelled, verdict: Judged) -> JudgeMiss:
    return JudgeMiss(
        line=label.line,
        claim=clipped(label.claim, 200),
        answer=clipped(label.answer, 200),
        people=_SAID[label.holds],
        judge=verdict.verdict,
        reason=clipped(verdict.reason, 200),
    )


def _standing(declared: Calibration, found: _Answers, kappa: Bounded | None) -> tuple[bool, bool, str]:
    """(its verdicts count, a gate may rest on it, why not)."""
    if found.failed > MOST_FAILED * len(declared.labels):
        why = f"it could not be asked about {found.failed} of {len(declared.labels)} labelled answers"
        return False, False, f"{why}; `mcpe score` asks again"
    if kappa is None:
        return False, False, "it gave no verdicts by which kappa could be measured"
    if kappa.value < declared.kappa - 1e-9:
        return False, False, f"its kappa is {kappa.value:.2f}, below the {declared.kappa:g} that the suite asks for"
    if kappa.low is None or kappa.low < LEAST_LOW - 1e-9:
        low = "unknown" if kappa.low is None else f"{kappa.low:.2f}"
        return True, False, f"the low end of its kappa is {low}, below {LEAST_LOW:g}, on {kappa.of} labelled answers"
    return True, True, ""


def _kappa(table: Agreement) -> Bounded | None:
    value = table.kappa
    if value is None:
        return None
    interval = kappa_interval(table)
    low, high = (interval.low, interval.high) if interval is not None else (None, None)
    return Bounded(value=value, low=low, high=high, of=table.items)


def _share(count: int, of: int) -> Bounded | None:
    if not of:
        return None
    interval = clopper_pearson(count, of)
    return Bounded(value=count / of, low=interval.low, high=interval.high, of=of)


def _cost(
    labels: Sequence[Labelled], judges: Sequence[Model], repeats: int, known: Mapping[str, JudgementRecord]
) -> float | None:
    """USD of the answers this rests on, each once; shared with other ways of asking the same judge."""
    keys = {calibration.key_of(j, label, repeat) for j in judges for label in labels for repeat in range(repeats)}
    costs = [known[key].cost_usd for key in sorted(keys) if key in known]
    paid = [cost for cost in costs if cost is not None]
    return math.fsum(paid) if len(paid) == len(costs) else None
