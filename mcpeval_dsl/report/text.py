"""Report: the scorecard for a person at a terminal, most important first: the gate, the cells, safety, leads, failures.

Plain text of at most 100 columns. Each number stands beside what it rests on; each failure beside the command that
shows it again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mcpeval_dsl.diagnostics.render.safe import visible
from mcpeval_dsl.report.confinement import confinement
from mcpeval_dsl.report.measured import measured
from mcpeval_dsl.report.page import (
    Page,
    clip,
    percent,
    plural,
    wrapped,
)
from mcpeval_dsl.report.suspicions import SUSPICIONS
from mcpeval_dsl.report.text_cells import cells
from mcpeval_dsl.report.text_checks import checks
from mcpeval_dsl.report.text_failures import failures, untestable
from mcpeval_dsl.report.text_findings import findings, looks
from mcpeval_dsl.report.text_judges import judges
from mcpeval_dsl.report.text_matrix import comparisons, matrix
from mcpeval_dsl.score import model
from mcpeval_dsl.score.timings import CellTiming, CheckTiming, TimeOverhead
from mcpeval_dsl.source import SourceFile

SourceOf = Callable[[str], SourceFile | None]
_SHOWN = 8


def render(
    card: model.Scorecard,
    run: str,
    timings: Sequence[CellTiming] = (),
    source_of: SourceOf = lambda path: None,
    colour: bool = False,
    exit_code: int | None = None,
    overheads: Sequence[TimeOverhead] = (),
    latencies: Sequence[CheckTiming] = (),
) -> str:
    """The whole scorecard with a final newline. `exit_code` is the command's, where it is not the scorecard's own (the
    run was interrupted). `source_of` gives the text of a spec, to quote the failing line."""
    page = Page(run, colour)
    blocks = [
        _head(page, card),
        _gate(page, card),
        checks(page, card.checks, latencies),
        cells(page, card, timings),
        matrix(page, card),
        comparisons(page, card, overheads),
        _safety(page, card.safety) + _lowered(card.lowered),
        judges(page, card.judges),
        leads(page, card.leads),
        failures(page, card, source_of),
        untestable(page, card),
        findings(page, card),
        _last(card.exit_code if exit_code is None else exit_code),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _head(page: Page, card: model.Scorecard) -> list[str]:
    title = f"{card.suite}: {card.title}" if card.title else card.suite
    lines = [page.head(clip(f"{title}  ({card.spec})", 100))]
    ran = f"{plural(card.tasks, 'task')}, {card.recorded} of {plural(card.planned, 'planned trial')} on record"
    if not card.complete:
        ran += page.paint("; INCOMPLETE", "unsure")
    lines.append(f"run {visible(page.run)}: {ran}; mcpe {visible(card.harness)}")
    lines += wrapped(confinement(card.sandbox), "  ")
    if card.heldout_look is not None:
        lines.append(looks(card.heldout_look))
    return lines


def _gate(page: Page, card: model.Scorecard) -> list[str]:
    gate = card.gate
    lines = [f"{page.head('GATE')}  {page.word(gate.word)}{'' if gate.declared else '  (no gate block: safety alone)'}"]
    for rule in gate.rules:
        text = clip(rule.text.removeprefix("require "), 40)
        shown = [f"  {rule.word:<12}{text:<40}  {measured(rule, rule.measured) or '–'}"]
        if rule.segment:
            worst = f", the worst of {rule.segments}" if rule.segments > 1 else ""
            shown[0] += "  " + clip(f"in {rule.segment}{worst}", max(8, 98 - len(shown[0])))
        if _moved(rule):
            low, high = sorted((rule.worst_case or 0.0, rule.best_case or 0.0))
            shown.append(f"{'':14}with what is missing {measured(rule, low)} to {measured(rule, high)}")
        if rule.reason:
            shown.append(f"{'':14}{clip(rule.reason, 84)}")
        if rule.word != "PASS" and rule.at:
            shown.append(f"{'':14}{page.paint(visible(rule.at), 'dim')}")
        shown[0] = shown[0].replace(rule.word, page.word(rule.word), 1).rstrip()
        lines += shown
    lines += [line for reason in gate.reasons for line in wrapped(f"because {reason}", "  ")]
    return lines


def _moved(rule: model.RuleResult) -> bool:
    worst, best = rule.worst_case, rule.best_case
    return worst is not None and best is not None and abs(best - worst) > 1e-9


def _lowered(rows: Sequence[model.LoweredSeverity]) -> list[str]:
    """What the spec calls less bad than usual."""
    return [
        f"  {visible(row.calls)}: {row.severity} instead of {row.usual}, "
        f"{visible(row.because) or 'without a reason'}  {visible(row.at)}"
        for row in rows[:_SHOWN]
    ] + _more(len(rows))


def _safety(page: Page, safety: model.Safety) -> list[str]:
    word = page.word(safety.verdict)
    if safety.exposed_trials == 0:
        return [f"{page.head('SAFETY')}  {word}  no trial in which anything could have happened"]
    seen = f"{safety.trials_with_critical} of {plural(safety.exposed_trials, 'trial')} with a critical violation"
    bound = (
        f"with 95 % confidence up to {percent(safety.at_most_by_trials)} of trials; counted by tasks, "
        f"{safety.tasks_with_critical} of {safety.exposed_tasks}: up to {percent(safety.at_most_by_tasks)}"
    )
    lines = [f"{page.head('SAFETY')}  {word}  {seen}", f"  {bound}"]
    if safety.major or safety.minor:
        lines.append(f"  besides {safety.major} major, {safety.minor} minor")
    if safety.unconfined_trials:
        lines.append(
            f"  writes outside of a trial's folder: not compared in {plural(safety.unconfined_trials, 'trial')} without a sandbox"
        )
    if safety.injections:
        rate = percent(safety.injections_resisted / safety.injections)
        lines.append(f"  planted instructions: {safety.injections_resisted} of {safety.injections} resisted ({rate})")
    for row in safety.violations[:_SHOWN]:
        stages = " → ".join(row.stages)
        lines.append(f"  {row.severity:<9} {clip(f'{row.kind}: {row.tool}', 52):<52}  {stages}")
        lines.append(f"{'':12}{plural(row.trials, 'trial')}: mcpe view {visible(page.run)} {visible(row.first_trial)}")
    return lines + _more(len(safety.violations))


def leads(page: Page, rows: Sequence[model.LeadRow], *, every: bool = False) -> list[str]:
    """Suspicions with their evidence, and what became of those that were replayed."""
    if not rows:
        return [f"{page.head('SERVER DEFECTS')}  no lead seen"]
    lines = [f"{page.head('SERVER DEFECTS')}  {_counted(rows)}"]
    for lead in rows if every else rows[:_SHOWN]:
        where = f"{lead.server}.{lead.tool}"
        value = f" ({lead.argument} = {lead.value})" if lead.value is not None else ""
        said = SUSPICIONS.get(lead.kind, lead.kind) + (" (to replay)" if lead.strength == "to_replay" else "")
        lines.append(f"  {clip(f'{where}: {said}{value}', 80)}, in {plural(lead.trials, 'trial')}")
        if lead.status:
            lines += wrapped(replayed(lead), "    ")
        if lead.reproduction:
            lines.append(f"    mcpe check {visible(lead.reproduction)}")
        for call in lead.evidence:
            lines.append(f"    {clip(f'{call.id} {call.tool}({call.arguments})', 94)}")
            lines.append(f"      → {clip(call.result, 90)}")
        if not lead.first_trial.startswith("harvest "):
            lines.append(f"    mcpe view {visible(page.run)} {visible(lead.first_trial)}")
    return lines if every else lines + _more(len(rows))


def _counted(leads: Sequence[model.LeadRow]) -> str:
    confirmed = sum(lead.status == "confirmed" for lead in leads)
    only_to_replay = sum(lead.strength == "to_replay" and not lead.status for lead in leads)
    besides = f"; {only_to_replay} more only a replay can tell" if only_to_replay else ""
    seen = plural(len(leads) - only_to_replay, "lead")
    if not any(lead.status for lead in leads):
        return f"{seen}: seen in a trial, not yet confirmed{besides}"
    return f"{confirmed} confirmed of {seen}{besides}"


def replayed(lead: model.LeadRow) -> str:
    """What replaying a lead came to, in one line."""
    if lead.status in ("", "unconfirmed"):
        return f"unconfirmed: {lead.reason or 'not replayed yet'}"
    times = f"{lead.failed} of {plural(lead.counted, 'replay')} failed alike"
    if lead.status == "flaky" and lead.low is not None and lead.high is not None:
        times += f" (95 % interval {percent(lead.low)} to {percent(lead.high)})"
    words = {
        "confirmed": "CONFIRMED",
        "flaky": "flaky",
        "eventual": "eventual, a finding and no defect",
        "not_reproduced": "not reproduced",
        "resource_limit": "ended by our own limit",
    }
    why = f": {lead.reason}" if lead.reason else ""
    return f"{words[lead.status]}, {times}{why}"


def _last(code: int) -> list[str]:
    meaning = {
        0: "the gate is passed",
        1: "the gate failed",
        3: "the run is incomplete: run the same command again to continue it",
        4: "the gate is not decided",
        130: "the run was interrupted: run the same command again to continue it",
    }
    return [f"exit {code}: {meaning.get(code, '')}".rstrip(": ")]


def _more(count: int) -> list[str]:
    hidden = count - _SHOWN
    return [f"  and {hidden} more: mcpe score --format json"] if hidden > 0 else []
