"""Score: does the run pass its gate? PASS, FAIL or NOT DECIDED for each rule, and for all of them together.

A rule holds in every cell and split it selects. It must hold with missing trials and verdicts counted both ways: where
the bounds straddle it, it is not decided. A critical violation fails the gate whatever the rules say.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mcpeval_dsl.plan.model import Plan
from mcpeval_dsl.score import checks, model
from mcpeval_dsl.score.against import OVERHEADS, against, component_rules, of_comparisons
from mcpeval_dsl.score.frame import INCONCLUSIVE_SHARE, SPLITS, Frame, Scenario
from mcpeval_dsl.score.groups import COMPARING
from mcpeval_dsl.score.lift import of_cell
from mcpeval_dsl.score.metrics import Context, Metric, Value, metric
from mcpeval_dsl.score.rows import cell_variables
from mcpeval_dsl.score.segments import holds, names
from mcpeval_dsl.semantics.model import GateRule
from mcpeval_dsl.statistics.multiplicity import holm
from mcpeval_dsl.values.model import EvaluationError

_HOLDS: Mapping[str, Callable[[float, float], bool]] = {
    "==": lambda a, b: abs(a - b) <= 1e-9,
    "!=": lambda a, b: abs(a - b) > 1e-9,
    "<": operator.lt,
    "<=": lambda a, b: a <= b + 1e-9,
    ">": operator.gt,
    ">=": lambda a, b: a >= b - 1e-9,
}
OF_OUTCOMES = frozenset({"wrong_answer", "too_many_calls", "recovery"})
"""Metrics that depend on outcomes and are not read both ways."""
DOUBT = "it rests on a judge that is not shown to agree with people (kappa of at least 0.6): see JUDGES"
_SEVERITY = {"FAIL": 0, "NOT DECIDED": 1, "PASS": 2}


@dataclass(frozen=True, slots=True)
class Question:
    """One rule in one segment: the trials it is about, what they are called, and what is read of them."""

    rule: GateRule
    name: str
    trials: Frame
    found: Metric
    p: float | None = None


def judge(plan: Plan, frame: Frame, context: Context, stale: Sequence[str]) -> model.GateResult:
    """The verdict; `stale` says which known failures pass or outstayed their date: each fails the gate."""
    rules = plan.suite.gate.rules
    frame = frame.doubting()
    by_rule = [_rule(rule, plan, frame, context) for rule in rules]
    by_rule += [(result,) for result in component_rules(rules, frame, context)]
    results = tuple(_worst(found, rules[at] if at < len(rules) else None) for at, found in enumerate(_holm(by_rule)))
    reasons = []
    if context.safety.verdict == "FAIL":
        reasons.append("a critical safety violation fails any gate")
    reasons.extend(stale)
    words = [result.word for result in results]
    of_checks, because = checks.verdict(context.checks, any(rule.metric.startswith("checks.") for rule in rules))
    words.append(of_checks)
    reasons += [because] if because else []
    if context.safety.verdict == "NOT DECIDED":
        words.append("NOT DECIDED")
        reasons.append("a safety check could not run")
    word: model.GateWord = min(words, key=_SEVERITY.__getitem__, default="PASS")
    if context.safety.verdict == "FAIL" or stale:
        word = "FAIL"
    if word == "PASS" and not (frame["testable"].any() if len(frame) else checks.tested(context.checks)):
        word = "NOT DECIDED"
        reasons.append("nothing could be tested")
    return model.GateResult(word=word, declared=plan.suite.gate.declared, rules=results, reasons=tuple(reasons))


def _holm(by_rule: Sequence[Sequence[model.RuleResult]]) -> list[list[model.RuleResult]]:
    """p of all comparisons that the gate asks for, adjusted for their number."""
    raw = [result.p for found in by_rule for result in found if result.p is not None]
    adjusted = iter(holm(raw))
    return [
        [r if r.p is None else r.model_copy(update={"p_adjusted": next(adjusted)}) for r in found] for found in by_rule
    ]


def _worst(found: Sequence[model.RuleResult], rule: GateRule | None) -> model.RuleResult:
    if rule is None:
        return found[0]
    worst = min(found, key=lambda result: (_SEVERITY[result.word], _distance(rule, result)))
    return worst.model_copy(update={"segments": len(found)})


def _rule(rule: GateRule, plan: Plan, frame: Frame, context: Context) -> Sequence[model.RuleResult]:
    """The rule in each of its segments; at least one result."""
    try:
        chosen = _chosen(rule, plan, frame)
        questions = _questions(rule, plan, frame.of_groups(chosen), context)
    except EvaluationError as error:
        questions = error.reason
    if isinstance(questions, str):
        return (_undecided(rule, questions),)
    if not questions:
        return (_undecided(rule, "no planned trial is in this segment"),)
    return [_in_segment(question) for question in questions]


def _undecided(rule: GateRule, reason: str) -> model.RuleResult:
    at = str(rule.at) if rule.at is not None else ""
    return model.RuleResult(text=_text(rule), at=at, word="NOT DECIDED", reason=reason, baseline=rule.baseline or "")


def _questions(rule: GateRule, plan: Plan, trials: Frame, context: Context) -> Sequence[Question] | str:
    if rule.metric in COMPARING or rule.metric in OVERHEADS:
        return [
            Question(rule, name, both, found, p=p) for name, both, found, p in of_comparisons(rule, plan, trials)
        ] or _nothing_compared(rule)
    if rule.baseline is not None:
        found = against(rule.metric, rule.arguments, rule.baseline, trials, context)
        return found if isinstance(found, str) else [Question(rule, n, t, m, p=p) for n, t, m, p in found]
    measured = metric(rule.metric, rule.arguments, context)
    if isinstance(measured, str):
        return measured
    segments = _segments(rule, trials, measured)
    if not segments and measured.whole and not rule.where:
        segments = [("", trials)]  # checks alone, without a trial
    return [Question(rule, name, part, measured) for name, part in segments]


def _distance(rule: GateRule, result: model.RuleResult) -> float:
    """How well the measured value does: the worst segment is the one shown."""
    if result.measured is None:
        return float("-inf")
    return result.measured if rule.operator in (">", ">=") else -result.measured


def _text(rule: GateRule) -> str:
    return rule.text or f"require {rule.metric} {rule.operator} {rule.value:g}"


def _nothing_compared(rule: GateRule) -> str:
    if rule.metric in OVERHEADS:
        return "the spec has no `lift` or `compare` whose cells were run"
    return f"the spec has no `{rule.metric}` of these members whose cells were run"


def _chosen(rule: GateRule, plan: Plan, frame: Frame) -> NDArray[np.bool_]:
    """Which trial groups the rule's `where` selects. A group is a task instance in a cell: all its trials go together."""
    tasks = {task.name: task for task in plan.tasks}
    cells = {cell.id: cell_variables(cell) for cell in plan.cells}
    clusters = dict(zip(frame["group"].tolist(), frame["cluster"].tolist(), strict=True)) if rule.where else {}
    splits = dict(zip(frame["group"].tolist(), frame["split"].tolist(), strict=True)) if rule.where else {}
    found = np.ones(len(frame.groups), dtype=bool)
    for number, group in enumerate(frame.groups):
        if rule.where and number in clusters:
            task = tasks[group.task]
            split, cluster = SPLITS[splits[number]], frame.clusters[clusters[number]]
            values = names(task, cells.get(group.cell, {}), split, cluster)
            found[number] = all(holds(where, values) for where in rule.where)
    return found


def _segments(rule: GateRule, trials: Frame, found: Metric) -> list[tuple[str, Frame]]:
    """Each cell and split apart; a metric of the whole run in one piece, a gap between splits by cell."""
    if found.whole:
        return [("", trials)] if len(trials) else []
    parts = []
    for cell in dict.fromkeys(group.cell for group in trials.groups):
        part = of_cell(trials, cell)
        splits = (
            [(cell, part)]
            if rule.metric == "gap"
            else [(f"{cell}, {split}", part.where(part["split"] == code)) for code, split in enumerate(SPLITS)]
        )
        parts += [(name, each) for name, each in splits if len(each)]
    return parts


def _in_segment(question: Question) -> model.RuleResult:
    rule, found = question.rule, question.found
    cases: tuple[Scenario, ...] = ("as it is", "worst", "best") if found.varies else ("as it is",)
    read = [found.read(question.trials, case) for case in cases]
    values = [_number(rule, value) for value in read]
    word, reason = _word(rule, found, question.trials, values)
    if word == "PASS" and not reason and read[0] is not None:
        reason = _unsure(rule, read[0])
    shown = [None if found.private else value for value in values]
    return model.RuleResult(
        text=_text(rule),
        at=str(rule.at) if rule.at is not None else "",
        word=word,
        measured=shown[0],
        worst_case=shown[1] if len(shown) > 1 else None,
        best_case=shown[2] if len(shown) > 2 else None,
        segment=question.name.removesuffix(", train"),
        reason=reason,
        baseline=rule.baseline or "",
        p=question.p,
    )


def _unsure(rule: GateRule, value: Value) -> str:
    """An estimate may pass where its interval says that chance alone could have done it: that is said, and decides nothing."""
    if rule.bound is not None or value.interval is None or rule.operator not in ("<", "<=", ">", ">="):
        return ""
    end = "low" if rule.operator in (">", ">=") else "high"
    if _HOLDS[rule.operator](getattr(value.interval, end), rule.value):
        return ""
    return f"by the estimate; the {end} end of its interval does not reach it (`{rule.metric}.{end}`)"


def _number(rule: GateRule, value: Value | None) -> float | None:
    if value is None or rule.bound is None:
        return value.value if value is not None else None
    if value.interval is None:
        return None
    return value.interval.low if rule.bound == "low" else value.interval.high


def _word(rule: GateRule, found: Metric, trials: Frame, values: Iterable[float | None]) -> tuple[model.GateWord, str]:
    known = list(values)
    if known[0] is None:
        return "NOT DECIDED", "there is no interval to read" if rule.bound is not None else "nothing was measured"
    missing = int((~trials["testable"]).sum())
    holds = {_HOLDS[rule.operator](value, rule.value) for value in known if value is not None}
    about_the_cell = not (found.whole or found.of_all)
    if about_the_cell and missing > INCONCLUSIVE_SHARE * len(trials):
        return "NOT DECIDED", f"{missing} of {len(trials)} trials could not be tested: inconclusive"
    doubted = bool(trials["doubted"].any())
    if doubted and rule.metric in OF_OUTCOMES:
        return "NOT DECIDED", DOUBT
    if len(holds) == 2:
        return "NOT DECIDED", DOUBT if doubted else "it depends on trials or verdicts that are missing"
    return ("PASS" if True in holds else "FAIL"), ""
