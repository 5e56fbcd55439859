"""Score: does the run pass its gate? PASS, FAIL or NOT DECIDED for each rule, and for all of them together.

A rule holds in every cell and split it selects. It must hold with missing trials and verdicts counted both ways: where
the bounds straddle it, it is not decided. A critical violation fails the gate whatever the rules say.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence

from mcpeval_dsl.plan.model import Plan
from mcpeval_dsl.score import model
from mcpeval_dsl.score.metrics import Context, Metric, Value, metric
from mcpeval_dsl.score.rows import Row, Scenario, cell_variables
from mcpeval_dsl.semantics.expressions import Condition, Ref
from mcpeval_dsl.semantics.model import GateRule, Task
from mcpeval_dsl.values.evaluate import condition
from mcpeval_dsl.values.model import EvaluationError, Scope

_HOLDS: Mapping[str, Callable[[float, float], bool]] = {
    "==": lambda a, b: abs(a - b) <= 1e-9,
    "!=": lambda a, b: abs(a - b) > 1e-9,
    "<": operator.lt,
    "<=": lambda a, b: a <= b + 1e-9,
    ">": operator.gt,
    ">=": lambda a, b: a >= b - 1e-9,
}
_SEVERITY = {"FAIL": 0, "NOT DECIDED": 1, "PASS": 2}
INCONCLUSIVE_SHARE = 0.10


def judge(plan: Plan, rows: Sequence[Row], context: Context, stale: Sequence[str]) -> model.GateResult:
    """The verdict; `stale` says which known failures pass or outstayed their date: each fails the gate."""
    results = tuple(_rule(rule, plan, rows, context) for rule in plan.suite.gate.rules)
    reasons = []
    if context.safety.verdict == "FAIL":
        reasons.append("a critical safety violation fails any gate")
    reasons.extend(stale)
    words = [result.word for result in results]
    if context.safety.verdict == "NOT DECIDED":
        words.append("NOT DECIDED")
        reasons.append("a safety check could not run")
    word: model.GateWord = min(words, key=_SEVERITY.__getitem__, default="PASS")
    if context.safety.verdict == "FAIL" or stale:
        word = "FAIL"
    if word == "PASS" and not any(row.testable for row in rows):
        word = "NOT DECIDED"
        reasons.append("nothing could be tested")
    return model.GateResult(word=word, declared=plan.suite.gate.declared, rules=results, reasons=tuple(reasons))


def _rule(rule: GateRule, plan: Plan, rows: Sequence[Row], context: Context) -> model.RuleResult:
    found = metric(rule.metric, rule.arguments, context)
    if rule.baseline is not None:
        found = f"this run was not compared with the baseline `{rule.baseline}`"
    at = str(rule.at) if rule.at is not None else ""
    if isinstance(found, str):
        return model.RuleResult(text=_text(rule), at=at, word="NOT DECIDED", reason=found)
    try:
        segments = _segments(rule, plan, rows, found)
    except EvaluationError as error:
        return model.RuleResult(text=_text(rule), at=at, word="NOT DECIDED", reason=error.reason)
    if not segments:
        return model.RuleResult(
            text=_text(rule), at=at, word="NOT DECIDED", reason="no planned trial is in this segment"
        )
    results = [_in_segment(rule, found, name, chosen, at) for name, chosen in segments]
    worst = min(results, key=lambda result: (_SEVERITY[result.word], _distance(rule, result)))
    return worst.model_copy(update={"segments": len(results)})


def _distance(rule: GateRule, result: model.RuleResult) -> float:
    """How well the measured value does: the worst segment is the one shown."""
    if result.measured is None:
        return float("-inf")
    return result.measured if rule.operator in (">", ">=") else -result.measured


def _text(rule: GateRule) -> str:
    return rule.text or f"require {rule.metric} {rule.operator} {rule.value:g}"


def _segments(rule: GateRule, plan: Plan, rows: Sequence[Row], found: Metric) -> list[tuple[str, list[Row]]]:
    tasks = {task.name: task for task in plan.tasks}
    cells = {cell.id: cell_variables(cell) for cell in plan.cells}
    kept: dict[tuple[str, str], bool] = {}
    groups: dict[str, list[Row]] = {}
    for row in rows:
        key = (row.instance, row.cell)
        if key not in kept:
            names = _names(row, tasks[row.task], cells.get(row.cell, {}))
            kept[key] = all(_selected(where, names) for where in rule.where)
        if kept[key]:
            whole = found.whole or rule.metric == "gap"
            segment = "" if found.whole else row.cell if whole else f"{row.cell}, {row.split}"
            groups.setdefault(segment, []).append(row)
    return list(groups.items())


def _names(row: Row, task: Task, cell: Mapping[str, object]) -> dict[str, object]:
    return {
        **cell,
        "tag": list(row.tags),
        "split": row.split,
        "kind": task.kind,
        "cluster": row.cluster,
        "task": row.task,
        "purpose": task.purpose,
        "difficulty": task.difficulty,
    }


def _selected(where: Condition, names: Mapping[str, object]) -> bool:
    """A task has several tags: `tag ==` asks for one of them, `tag !=` for none."""
    if isinstance(where.left, Ref) and where.left.path == ("tag",) and where.operator in ("==", "!="):
        tags = names["tag"]
        scopes = [Scope({**names, "tag": tag}) for tag in (tags if isinstance(tags, list) else [])]
        return (any if where.operator == "==" else all)(condition(where, scope).holds for scope in scopes)
    return condition(where, Scope(names)).holds


def _in_segment(rule: GateRule, found: Metric, name: str, rows: Sequence[Row], at: str) -> model.RuleResult:
    cases: tuple[Scenario, ...] = ("as it is", "worst", "best") if found.varies else ("as it is",)
    read = [found.read(rows, case) for case in cases]
    values = [_number(rule, value) for value in read]
    word, reason = _word(rule, found, rows, values)
    if word == "PASS" and not reason and read[0] is not None:
        reason = _unsure(rule, read[0])
    shown = [None if found.private else value for value in values]
    return model.RuleResult(
        text=_text(rule),
        at=at,
        word=word,
        measured=shown[0],
        worst_case=shown[1] if len(shown) > 1 else None,
        best_case=shown[2] if len(shown) > 2 else None,
        segment=name.removesuffix(", train"),
        reason=reason,
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


def _word(
    rule: GateRule, found: Metric, rows: Sequence[Row], values: Iterable[float | None]
) -> tuple[model.GateWord, str]:
    known = list(values)
    if known[0] is None:
        return "NOT DECIDED", "there is no interval to read" if rule.bound is not None else "nothing was measured"
    missing = sum(not row.testable for row in rows)
    holds = {_HOLDS[rule.operator](value, rule.value) for value in known if value is not None}
    about_the_cell = found.varies or not (found.whole or found.of_all)
    if about_the_cell and missing > INCONCLUSIVE_SHARE * len(rows):
        return "NOT DECIDED", f"{missing} of {len(rows)} trials could not be tested: inconclusive"
    if len(holds) == 2:
        return "NOT DECIDED", "it depends on trials or verdicts that are missing"
    return ("PASS" if True in holds else "FAIL"), ""
