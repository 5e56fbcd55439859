"""Report: the comparison of two runs for a person at a terminal: the verdict, why, and what it rests on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mcpeval_dsl.report.page import Page, clip, money, number, percent, plural, points, span, table, wrapped
from mcpeval_dsl.report.text_findings import looks
from mcpeval_dsl.score import comparison as published
from mcpeval_dsl.score.model import Delta, Overhead

_SHOWN = 12
_WORDS = {
    "regression": ("REGRESSION", "bad"),
    "none shown": ("NO REGRESSION SHOWN", "good"),
    "insufficient data": ("INSUFFICIENT DATA", "unsure"),
    "refused": ("REFUSED", "unsure"),
}
_MEANING = {
    0: "no regression is shown",
    1: "a regression is shown",
    2: "the comparison was refused",
    4: "too little data to say",
}


def render(found: published.RunComparison, colour: bool = False) -> str:
    """The whole comparison with a final newline."""
    page = Page(found.run, colour)
    blocks = [
        _head(page, found),
        _unequal(page, found),
        _cells(page, found),
        _flips(page, found),
        _components(page, found),
        _defects(page, found),
        _violations(page, found),
        _overfit(page, found),
        _notes(page, found),
        [f"exit {found.exit_code}: {_MEANING.get(found.exit_code, '')}"],
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _head(page: Page, found: published.RunComparison) -> list[str]:
    word, style = _WORDS[found.verdict]
    lines = [page.head(clip(f"{found.run} over {found.baseline}  ({found.suite})", 100)), page.paint(word, style)]
    lines += [line for reason in found.because for line in wrapped(f"because {reason}", "  ", "    ")]
    if found.cause:
        lines.append(f"  what differs between the runs: {clip(found.cause, 60)}")
    elif found.verdict in ("regression", "none shown") and found.changes and found.differences:
        lines.append("  more than one thing differs: no cause is named")
    return lines


def _unequal(page: Page, found: published.RunComparison) -> list[str]:
    lines = []
    for each in found.differences:
        mark = "accepted" if each.accepted else "not accepted"
        lines += wrapped(f"{each.name}: {each.text}  ({mark})", "  ", "    ")
    lines += [line for c in found.changes for line in wrapped(f"{c.server} {c.component}: {c.text}", "  ", "    ")]
    if found.verdict == "refused" and found.differences:
        names = " ".join(f"--accept {each.name}" for each in found.differences if not each.accepted)
        lines += wrapped(f"to compare all the same: {names}", "  ", "    ")
    return [page.head("WHAT DIFFERS"), *lines] if lines else []


def _cells(page: Page, found: published.RunComparison) -> list[str]:
    if not found.cells:
        return []
    rows = [("cell", "before", "now", "points", "95 % interval", "p (Holm)", "tasks", "")]
    for cell in found.cells:
        delta, rate, before = cell.difference, cell.success, cell.baseline_success
        rows.append(
            (
                clip(_named(cell), 26),
                percent(before.value) if before is not None else "–",
                percent(rate.value) if rate is not None else "–",
                points(delta.value) if delta is not None else "–",
                span(delta.low, delta.high) if delta is not None else "",
                _p(delta),
                str(delta.tasks) if delta is not None else "0",
                _said(delta),
            )
        )
    lines = [page.head("SUCCESS"), *(f"  {line}" for line in table(rows, right=(1, 2, 3, 4, 5, 6)))]
    lines += [f"  {looks(found.heldout_looks)}"] if found.heldout_looks is not None else []
    lines += ["", page.head("CALLS, TOKENS, COST")]
    for cell in found.cells:
        calls = cell.calls_difference
        if calls is not None:
            wide = "" if calls.low is None or calls.high is None else f" [{calls.low:+.2f}, {calls.high:+.2f}]"
            text = (
                f"{_named(cell)}: mean calls a trial {calls.value:+.2f}{wide}, p {_p(calls)}: {_word(calls, 'calls')}"
            )
            lines += wrapped(text, "  ", "    ")
        lines += [line for each in cell.overheads for line in wrapped(f"median {_overhead(each)}", "    ", "      ")]
    return lines


def _named(cell: published.CellDifference) -> str:
    return cell.cell if cell.split == "train" else f"{cell.cell} ({cell.split})"


def _p(delta: Delta | None) -> str:
    if delta is None or delta.p is None:
        return "–"
    value = delta.p if delta.p_adjusted is None else delta.p_adjusted
    return "< .001" if value < 0.001 else f"{value:.3f}".removeprefix("0")


def _said(delta: Delta | None) -> str:
    if delta is None:
        return "nothing to compare"
    if delta.word == "no difference shown" and delta.detectable is not None:
        return f"no difference shown (could have seen ≥ {delta.detectable * 100:.0f} points)"
    return delta.word


def _word(delta: Delta, noun: str) -> str:
    words = {"worse": f"more {noun}", "better": f"fewer {noun}"}
    return words.get(delta.word, delta.word)


def _overhead(each: Overhead) -> str:
    name = each.what.removesuffix("_usd")
    if each.value is None:
        return f"{name}: unknown, {each.reason}"
    show = money if each.what == "cost_usd" else number
    text = f"{name} {_signed(each.value, show)}"
    if each.low is not None and each.high is not None:
        text += f" [{_signed(each.low, show)}, {_signed(each.high, show)}]"
    return text + (f" ({each.reason})" if each.reason else "")


def _signed(value: float, show: Callable[[float], str]) -> str:
    return f"{'+' if value >= 0 else '−'}{show(abs(value))}"


def _flips(page: Page, found: published.RunComparison) -> list[str]:
    lines = []
    for word in ("lost", "gained"):
        some = [flip for flip in found.flips if flip.direction == word]
        if some:
            lines.append(f"  {word}: {plural(len(some), 'task')}")
        for flip in some[:_SHOWN]:
            before, now = f"{flip.baseline_passed}/{flip.baseline_testable}", f"{flip.passed}/{flip.testable}"
            lines.append(f"    {clip(f'{flip.instance} in {flip.cell}', 60):<60}  {before} → {now}")
        lines += _more(len(some))
    alone = [("only in this run", found.only_run), ("only in the baseline", found.only_baseline)]
    for text, names in alone:
        if names:
            lines += wrapped(f"{text}, left out: {', '.join(names)}", "  ", "    ")
    if found.verdict == "refused" and not lines:
        return []
    return [page.head("TASKS") + f"  {found.tasks} in both", *lines]


def _components(page: Page, found: published.RunComparison) -> list[str]:
    lines = []
    for each in found.components:
        where = f" in {each.cell}" if each.cell else ""
        text = f"{each.text}{where}, since its {each.component} changed" + (f": {each.reason}" if each.reason else "")
        shown = wrapped(f"{each.word:<12}{text}", "  ", "              ")
        lines += [shown[0].replace(each.word, page.word(each.word), 1), *shown[1:]]
    return [page.head("WHAT CHANGED IS LOOKED AT"), *lines] if lines else []


def _defects(page: Page, found: published.RunComparison) -> list[str]:
    lines = []
    for each in found.defects[:_SHOWN]:
        argument = f" ({each.argument})" if each.argument else ""
        sure = "confirmed" if each.confirmed else "a lead, not replayed"
        lines.append(f"  {each.direction:<10}  {clip(f'{each.server}.{each.tool}: {each.kind}{argument}', 60)}, {sure}")
    return [page.head("SERVER DEFECTS"), *lines, *_more(len(found.defects))] if lines else []


def _violations(page: Page, found: published.RunComparison) -> list[str]:
    rows = [("", "", "before", "now")] + [
        (each.severity, clip(f"{each.kind} {each.tool}", 50), str(each.baseline_trials), str(each.trials))
        for each in found.violations[:_SHOWN]
    ]
    lines = [f"  {line}" for line in table(rows, right=(2, 3))]
    return [page.head("VIOLATIONS") + "  in trials", *lines, *_more(len(found.violations))] if found.violations else []


def _overfit(page: Page, found: published.RunComparison) -> list[str]:
    lines = []
    for each in found.overfit:
        text = (
            f"{each.cell}: train {points(each.train)}, held-out {points(each.heldout)}, gap {points(each.value)} points"
        )
        chance = "" if each.p is None else f", p = {each.p:.3f}"
        lines += wrapped(f"{text} {span(each.low, each.high)}{chance}", "  ", "    ")
    return (
        [page.head("OVERFITTING") + "  what was gained on tasks that could be looked at, and on others", *lines]
        if lines
        else []
    )


def _notes(page: Page, found: published.RunComparison) -> list[str]:
    lines: Sequence[str] = [line for note in found.notes for line in wrapped(note, "  - ", "    ")]
    return [page.head("NOTES"), *lines] if lines else []


def _more(count: int) -> list[str]:
    hidden = count - _SHOWN
    return [f"    and {hidden} more: --format json"] if hidden > 0 else []
