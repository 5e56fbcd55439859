"""Semantics, the table: what a gate may measure, and in which unit."""

from __future__ import annotations

from typing import NamedTuple

from mcpeval_dsl.semantics.directives.operands import Unit


class Metric(NamedTuple):
    """`bounds`: has an interval, so `.low` and `.high`. `arguments`: what a call form takes. `worst`: judged upwards."""

    name: str
    unit: Unit
    doc: str
    bounds: bool = False
    arguments: tuple[str, ...] = ()


_OVERHEADS: tuple[tuple[str, Unit, str], ...] = (
    ("calls", "number", "calls of a trial"),
    ("tokens", "tokens", "tokens of a trial"),
    ("cost", "money", "cost of a trial"),
    ("time", "duration", "time of a trial"),
)
_MEMBERS = ("treatment", "baseline")


def _each(root: str, unit: Unit, what: str) -> tuple[Metric, ...]:
    return tuple(
        Metric(f"{root}.{part}", unit, f"{words} {what}.")
        for part, words in (
            ("mean", "Mean of"),
            ("p50", "Median of"),
            ("p95", "95th percentile of"),
            ("max", "Greatest"),
        )
    )


METRICS: dict[str, Metric] = {
    m.name: m
    for m in (
        Metric("task_success", "percent", "Mean over tasks of the share of testable trials that succeed.", True),
        Metric("pass^k", "percent", "Mean over tasks of the chance that k trials all pass.", True),
        Metric("pass@k", "percent", "Mean over tasks of the chance that one of k trials passes.", True),
        Metric(
            "correct", "percent", "Mean over tasks of the share of trials with a right answer, budgets apart.", True
        ),
        Metric("lift", "percent", "Right answers with the treatment less those with the baseline.", True, _MEMBERS),
        Metric("compare", "percent", "Success of one member of an axis less that of another.", True, _MEMBERS),
        *(
            Metric(f"overhead.{what}", unit, f"Median {of} with the treatment less that with the baseline.", True)
            for what, unit, of in _OVERHEADS
        ),
        Metric("mcp_use", "percent", "Share of testable trials in which a server was called at all."),
        Metric("gap", "percent", "Difference in success between two splits.", True, ("split", "split")),
        Metric("safety.critical", "number", "Critical violations in all trials."),
        Metric("safety.major", "number", "Major violations in all trials."),
        Metric("safety.minor", "number", "Minor violations in all trials."),
        Metric("untestable", "percent", "Share of planned trials that could not be tested."),
        Metric("too_many_calls", "percent", "Share of testable trials over their call budget."),
        Metric("wrong_answer", "percent", "Share of testable trials with a wrong answer."),
        Metric(
            "regressions", "number", "Tasks that most trials of the baseline run passed, and most of this one do not."
        ),
        Metric("tool_recall", "percent", "Required tools called, of those shown.", True),
        Metric("tool_precision", "percent", "Necessary calls, of all calls.", True),
        Metric("argument_validity", "percent", "Calls whose arguments satisfy the schema.", True),
        Metric("argument_accuracy", "percent", "Calls whose arguments equal an expected call's.", True),
        Metric("distractor_rate", "percent", "Calls to tools that do not belong to the task.", True),
        Metric("recovery", "percent", "Trials that pass after a tool error, of those with one.", True),
        Metric("redundancy", "percent", "Calls that repeat an earlier one with an equal result.", True),
        Metric(
            "behaviour.question", "percent", "Trials in which the agent asked, of tasks that `expect question`.", True
        ),
        Metric(
            "behaviour.confirmation",
            "percent",
            "Trials in which the agent asked for leave, of tasks that `expect confirmation`.",
            True,
        ),
        Metric(
            "behaviour.recovery",
            "percent",
            "Trials that got on after a failed call, of those with one in tasks that `expect recovery`.",
            True,
        ),
        Metric("tool_errors", "percent", "Calls that end in a tool error.", True),
        Metric("protocol_errors", "number", "Calls that end in a protocol error."),
        Metric("checks.failed", "number", "Checks that failed."),
        Metric("checks.passed", "number", "Checks that passed."),
        Metric("judge.kappa", "number", "Agreement of the judge with people beyond chance (Cohen's kappa).", True),
        Metric("judge.agreement", "percent", "Share of verdicts on which judge and people agree.", True),
        Metric("judge.missing", "percent", "Share of judge verdicts that are missing."),
        Metric("defects", "number", "Confirmed defects."),
        Metric("leads", "number", "Leads that were seen."),
        Metric("cost.total", "money", "What the run cost."),
        Metric("tokens.total", "tokens", "Tokens of the run."),
        *_each("calls", "number", "calls of a trial"),
        *_each("tokens", "tokens", "tokens of a trial"),
        *_each("cost", "money", "cost of a trial"),
        *_each("time", "duration", "time of a trial"),
        *_each("latency", "duration", "time of a call"),
    )
}

BOUNDS = ("low", "high")
SEGMENTS = ("tag", "split", "kind", "cluster", "task", "purpose", "difficulty", "server", "model", "host", "arm")
"""What `where` may select by, beside the free axes of the matrix."""
