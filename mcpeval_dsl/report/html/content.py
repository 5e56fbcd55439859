"""Report, the page: everything it shows, gathered in one pass over the records of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from mcpeval_dsl.plan.model import Plan
from mcpeval_dsl.records.model import Manifest, TrialRecord
from mcpeval_dsl.report.causes import in_words
from mcpeval_dsl.report.html.definitions import definitions
from mcpeval_dsl.report.html.packing import Pieces
from mcpeval_dsl.report.html.telling import told
from mcpeval_dsl.report.measured import measured
from mcpeval_dsl.report.trials import Latencies, TrialLine, line
from mcpeval_dsl.score.model import RuleResult
from mcpeval_dsl.score.scorecard import Scored
from mcpeval_dsl.source import SourceFile

PAGE_FORMAT = "mcpe-page/1"


@dataclass(frozen=True, slots=True)
class Content:
    """`data` is what the page reads at once; `pieces` hold the transcripts. A watched run has none: they are asked for."""

    title: str
    data: dict[str, Any]
    pieces: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class About:
    """The run that a page is about. `source_of` gives the text of a spec; `live`: the page asks again as the run goes on."""

    run: str
    plan: Plan
    manifest: Manifest | None = None
    source_of: Callable[[str], SourceFile | None] = lambda path: None
    live: bool = False


@dataclass(slots=True)
class _Columns:
    """Trials, column by column: names stand once, and a thousand trials are a few kilobytes."""

    names: dict[str, list[str]] = field(default_factory=dict)
    rows: list[list[Any]] = field(default_factory=list)
    numbers: dict[tuple[str, str], int] = field(default_factory=dict)

    def add(self, found: TrialLine) -> None:
        self.rows.append(
            [
                self._number("instance", found.instance),
                self._number("cell", found.cell),
                found.number,
                self._number("outcome", found.outcome),
                self._number("printed", found.printed),
                found.calls,
                found.soft,
                round(found.ms, 1),
                found.tokens,
                found.cost_usd,
                found.violations,
                found.leads,
            ]
        )

    def result(self) -> dict[str, Any]:
        columns = [
            "instance",
            "cell",
            "number",
            "outcome",
            "printed",
            "calls",
            "soft",
            "ms",
            "tokens",
            "cost",
            "violations",
            "leads",
        ]
        return {"names": self.names, "columns": columns, "rows": self.rows}

    def _number(self, column: str, name: str) -> int:
        known = self.numbers.get((column, name))
        if known is None:
            names = self.names.setdefault(column, [])
            known = self.numbers[column, name] = len(names)
            names.append(name)
        return known


def gather(about: About, scored: Scored, records: Iterable[TrialRecord]) -> Content:
    """`records` in order of the plan. Memory: the compressed transcripts, and one trial at a time."""
    columns, pieces, latencies = _Columns(), Pieces(), Latencies()
    for record in records:
        if record.not_applicable:
            continue
        shown = line(record)
        columns.add(shown)
        latencies.add(record)
        if not about.live and pieces.wants(shown.printed == "pass"):
            pieces.add(told(record))
    pieces.close()
    card = scored.scorecard
    data = {
        "format": PAGE_FORMAT,
        "run": about.run,
        "live": about.live,
        "card": card.model_dump(mode="json"),
        "timings": [asdict(timing) for timing in scored.timings],
        "overheads": [asdict(overhead) for overhead in scored.overheads],
        "check_timings": [asdict(latency) for latency in scored.latencies],
        "latencies": [asdict(latency) for latency in latencies.result()],
        "causes": {cause: in_words(cause) for row in card.untestable for cause in row.because},
        "rules": [[measured(rule, v) for v in _values(rule)] for rule in card.gate.rules],
        "definitions": definitions(about.plan, about.manifest, about.source_of),
        "quotes": _quotes(scored, about.source_of),
        "trials": columns.result(),
        "places": pieces.places,
    }
    return Content(f"{card.suite}: {card.gate.word}", data, tuple(pieces.done))


def _values(rule: RuleResult) -> tuple[float | None, float | None, float | None]:
    """What was measured, and between what it lies with what is missing; None for both where that moves nothing."""
    worst, best = rule.worst_case, rule.best_case
    if worst is None or best is None or abs(best - worst) <= 1e-9:
        return rule.measured, None, None
    return rule.measured, min(worst, best), max(worst, best)


def _quotes(scored: Scored, source_of: Callable[[str], SourceFile | None]) -> dict[str, str]:
    """The lines of the spec that failures and rules point at."""
    card = scored.scorecard
    places = (
        {row.at for row in card.failures} | {rule.at for rule in card.gate.rules} | {row.at for row in card.lowered}
    )
    found = {}
    for at in sorted(places):
        path, line_number, *_ = (*at.rsplit(":", 2), "", "")
        source = source_of(path) if line_number.isdigit() else None
        if source is not None and 0 < int(line_number) <= len(source.lines.starts):
            found[at] = source.line_text(int(line_number)).strip()[:300]
    return found
