"""Report: how far each judge is to be believed, and what it disagreed about."""

from __future__ import annotations

from collections.abc import Sequence

from mcpeval_dsl.diagnostics.render.safe import visible
from mcpeval_dsl.report.page import Page, clip, money, percent, plural, wrapped
from mcpeval_dsl.score.judge_model import Bounded, JudgeScore

_SHOWN = 5


def judges(page: Page, rows: Sequence[JudgeScore]) -> list[str]:
    """Nothing where no task asks a judge."""
    if not rows:
        return []
    lines = [page.head("JUDGES")]
    for row in rows:
        lines += _judge(page, row)
    return lines


def named(row: JudgeScore) -> str:
    """The judge with what is particular about how it is asked."""
    how = [f"asked {row.repeats} times"] if row.repeats > 1 else []
    how += [f"with {row.second}"] if row.second else []
    return f"{row.judge} ({', '.join(how)})" if how else row.judge


def word_of(row: JudgeScore) -> str:
    """What follows for the results."""
    if not row.believed:
        return "UNGRADED: its verdicts count as missing"
    return "gates may rest on it" if row.decides else "no gate rests on it"


def summed_up(row: JudgeScore) -> str:
    """In one line: what follows, and from what."""
    kappa = "" if row.kappa is None else f"; kappa {_plain(row.kappa)} over {plural(row.labels, 'labelled answer')}"
    missing = f"; {row.missing} of {plural(row.verdicts, 'verdict')} missing" if row.missing else ""
    return f"{word_of(row)}{kappa}{missing}" + (f"; {row.reason}" if row.reason else "")


def _judge(page: Page, row: JudgeScore) -> list[str]:
    lines = [f"  {clip(f'{named(row)}: {row.model}', 60)}  {word_of(row)}"]
    if row.kappa is not None:
        over = f"{row.kappa.of} of {plural(row.labels, 'labelled answer')}"
        lines.append(f"    kappa {_plain(row.kappa)}, at least {row.threshold:g} is asked for; {over}")
    if row.agreement is not None:
        shares = (("agreement", row.agreement), ("sensitivity", row.sensitivity), ("specificity", row.specificity))
        lines.append("    " + ", ".join(f"{name} {_share(value)}" for name, value in shares))
    if row.reason:
        lines += wrapped(row.reason, "    because ", "            ")
    lines += wrapped(_open(row), "    ") if row.labels else []
    lines += wrapped(_trials(row), "    ") if row.verdicts else []
    for miss in row.misses[:_SHOWN]:
        said = f"people {miss.people}, judge {miss.judge}"
        lines.append(f"    {clip(f'{row.file}:{miss.line} {said}: {miss.claim} | {miss.answer}', 94)}")
    hidden = row.only_judge + row.only_people - _SHOWN
    if hidden > 0:
        lines.append(f"    and {hidden} more: mcpe score --format json")
    return [
        line if number else page.paint(line, "unsure" if not row.believed else "") for number, line in enumerate(lines)
    ]


def _open(row: JudgeScore) -> str:
    parts = [f"{row.unknown} left open", f"{row.failed} could not be asked about"]
    if row.repeats > 1:
        parts.append(f"repeats disagree on {row.repeats_disagree}")
    if row.second:
        parts.append(f"the two judges disagree on {row.judges_disagree}")
    cost = "unknown" if row.calibration_cost_usd is None else money(row.calibration_cost_usd)
    return f"of the labelled answers: {', '.join(parts)}; cost {visible(cost)}"


def _trials(row: JudgeScore) -> str:
    parts = [f"{row.missing} missing"]
    if row.repeats > 1:
        parts.append(f"repeats disagree in {row.trials_repeats_disagree}")
    if row.second:
        parts.append(f"the two judges disagree in {row.trials_judges_disagree}")
    return f"of {plural(row.verdicts, 'verdict')} on trials: {', '.join(parts)}"


def _plain(value: Bounded) -> str:
    if value.low is None or value.high is None:
        return f"{value.value:.2f}"
    return f"{value.value:.2f} [{value.low:.2f}, {value.high:.2f}]"


def _share(value: Bounded | None) -> str:
    if value is None:
        return "unknown"
    if value.low is None or value.high is None:
        return percent(value.value)
    return f"{percent(value.value)} [{value.low * 100:.0f}, {value.high * 100:.0f}]"


__all__ = ["judges", "named", "summed_up", "word_of"]
