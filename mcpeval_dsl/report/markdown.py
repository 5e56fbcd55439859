"""Report: the scorecard as GitHub-flavoured Markdown, for a pull request or a step summary.

Whatever comes from a spec, a server or a model stands in code spans or is escaped: it can be no markup, link or mention.
"""

from __future__ import annotations

from collections.abc import Sequence

from mcpeval_dsl.report.causes import in_words
from mcpeval_dsl.report.markdown_cells import cells, comparisons, matrix
from mcpeval_dsl.report.markdown_judges import judges
from mcpeval_dsl.report.marking import code, plain, rows
from mcpeval_dsl.report.measured import measured
from mcpeval_dsl.report.page import percent, plural
from mcpeval_dsl.report.suspicions import SUSPICIONS
from mcpeval_dsl.report.text_checks import timed
from mcpeval_dsl.report.text_findings import looks, shown
from mcpeval_dsl.score import model
from mcpeval_dsl.score.timings import CheckTiming

_SHOWN = 20
_WORDS = {"PASS": "✅ PASS", "FAIL": "❌ FAIL", "NOT DECIDED": "❔ NOT DECIDED"}


def render(card: model.Scorecard, run: str, latencies: Sequence[CheckTiming] = ()) -> str:
    """The whole scorecard with a final newline, most important first."""
    blocks = [
        _head(card, run),
        _gate(card.gate),
        cells(card),
        matrix(card),
        comparisons(card),
        _checks(card.checks, latencies),
        _safety(card.safety, run),
        judges(card.judges),
        _leads(card.leads),
        _failures(card, run),
        _untestable(card.untestable, run),
        _findings(card.findings),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _head(card: model.Scorecard, run: str) -> list[str]:
    ran = f"{plural(card.tasks, 'task')}, {card.recorded} of {plural(card.planned, 'planned trial')} on record"
    incomplete = "" if card.complete else "; **incomplete**"
    about = f"{code(card.spec)}, run {code(run)}: {ran}{incomplete}; mcpe {plain(card.harness)}"
    held = ["", looks(card.heldout_look)] if card.heldout_look is not None else []
    return [f"# {_WORDS[card.gate.word]} · {plain(card.title or card.suite)}", "", about, *held]


def _gate(gate: model.GateResult) -> list[str]:
    if not gate.rules and not gate.reasons:
        return ["No gate block: safety alone decides."]
    found = [
        (_WORDS[rule.word], code(rule.text.removeprefix("require ")), measured(rule, rule.measured), _where(rule))
        for rule in gate.rules
    ]
    lines = ["## Gate", "", *rows(("", "rule", "measured", ""), found, right=(2,))] if found else ["## Gate"]
    return [*lines, *(f"\nbecause {plain(reason)}" for reason in gate.reasons)]


def _where(rule: model.RuleResult) -> str:
    parts = [f"in {code(rule.segment)}"] if rule.segment else []
    if rule.segments > 1:
        parts.append(f"the worst of {rule.segments}")
    if rule.reason:
        parts.append(plain(rule.reason))
    return ", ".join(parts)


def _checks(checks: Sequence[model.CheckRow], latencies: Sequence[CheckTiming]) -> list[str]:
    """How many lines pass for each server, and those that do not."""
    if not checks:
        return []
    lines = ["## Checks", ""]
    for check in checks:
        passed = sum(line.state == "pass" for line in check.lines)
        lines.append(f"- {code(check.server)}: {passed} of {plural(check.planned, 'line')} pass")
        others = [line for line in check.lines if line.state != "pass"]
        lines += [
            f"  - **{line.state}** {code(line.what)} {code(line.reason or line.actual)}" for line in others[:_SHOWN]
        ]
        lines += [f"  - {code(timed(each))}" for each in latencies if each.server == check.server]
    return lines


def _safety(safety: model.Safety, run: str) -> list[str]:
    lines = [f"## Safety: {_WORDS[safety.verdict]}", ""]
    if safety.exposed_trials == 0:
        return [*lines, "No trial in which anything could have happened."]
    seen = f"{safety.trials_with_critical} of {plural(safety.exposed_trials, 'trial')} with a critical violation"
    lines.append(
        f"{seen}: with 95 % confidence up to {percent(safety.at_most_by_trials)} of trials "
        f"(by tasks: up to {percent(safety.at_most_by_tasks)})."
    )
    if safety.injections:
        lines.append(f"Planted instructions: {safety.injections_resisted} of {safety.injections} resisted.")
    found = [
        (
            row.severity,
            plain(row.kind),
            code(row.tool),
            " → ".join(row.stages),
            str(row.trials),
            _view(run, row.first_trial),
        )
        for row in safety.violations[:_SHOWN]
    ]
    head = ("severity", "violation", "tool", "stages", "trials", "look")
    return [*lines, "", *rows(head, found, right=(4,))] if found else lines


def _leads(leads: Sequence[model.LeadRow]) -> list[str]:
    if not leads:
        return []
    lines = ["## Server defects", ""]
    for lead in leads[:_SHOWN]:
        value = f" ({code(f'{lead.argument} = {lead.value}')})" if lead.value is not None else ""
        times = f"; {lead.failed} of {plural(lead.counted, 'replay')} failed alike" if lead.counted else ""
        word = lead.status.replace("_", " ") or "lead"
        said = f"**{word}** {code(f'{lead.server}.{lead.tool}')}: {SUSPICIONS.get(lead.kind, plain(lead.kind))}{value}"
        lines.append(f"- {said}, in {plural(lead.trials, 'trial')}{times}")
        lines += [f"  - {code(f'{call.tool}({call.arguments})')} → {code(call.result)}" for call in lead.evidence]
    return lines + _more(len(leads))


def _failures(card: model.Scorecard, run: str) -> list[str]:
    found = [
        (
            f"{code(row.instance)}{' (known failure)' if row.known_failure is not None else ''}",
            code(row.cell),
            row.outcome.replace("_", " "),
            code(row.expected),
            code(row.actual),
            code(row.at),
            str(row.trials),
            _view(run, row.first_trial),
        )
        for row in card.failures[:_SHOWN]
    ]
    head = ("task", "cell", "outcome", "expected", "actual", "line", "trials", "look")
    if not found:
        return []
    return ["## Failures", "", *rows(head, found, right=(6,)), *_more(len(card.failures))]


def _untestable(found: Sequence[model.UntestableRow], run: str) -> list[str]:
    if not found:
        return []
    shown = [
        (" → ".join(code(in_words(cause)) for cause in row.because), str(row.trials), _view(run, row.first_trial))
        for row in found[:_SHOWN]
    ]
    return ["## Not tested", "", *rows(("because", "trials", "look"), shown, right=(1,)), *_more(len(found))]


def _findings(found: Sequence[model.FindingRow]) -> list[str]:
    if not found:
        return []
    lines = [line for row in found[:_SHOWN] for line in _finding(row)]
    return ["## Findings", "", *lines, *_more(len(found))]


def _finding(row: model.FindingRow) -> list[str]:
    lead = "lead, " if row.strength == "lead" else ""
    seen = f" ({lead}{plural(row.trials, 'trial')}: {code(shown(row))})" if row.trials else ""
    return [f"- {code(row.text)}{seen}", *([f"  change: {code(row.change)}"] if row.change else [])]


def _view(run: str, trial: str) -> str:
    return code(f"mcpe view {run} {trial}")


def _more(count: int) -> list[str]:
    return ["", f"and {count - _SHOWN} more in `mcpe report --format json`"] if count > _SHOWN else []
