"""Report: what lists, charts and test reports say of each trial, taken while the records stream by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from mcpeval_dsl.records.model import TrialRecord
from mcpeval_dsl.statistics.spread import quantile

_SHARES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


@dataclass(frozen=True, slots=True)
class TrialLine:
    """One trial. `ms` is the agent's own time; `soft` the call budget that decides the outcome, None without one."""

    id: str
    instance: str
    cell: str
    split: str
    number: int
    outcome: str
    printed: str
    calls: int
    soft: int | None
    ms: float
    tokens: int
    cost_usd: float | None
    violations: int
    leads: int
    because: str = ""
    started_at: str = ""


@dataclass(frozen=True, slots=True)
class Latency:
    """How long calls of one tool took in one cell, in ms: the quantiles 0, 5, 25, 50, 75, 95 and 100 %."""

    cell: str
    tool: str
    n: int
    quantiles: tuple[float, ...]


@dataclass(slots=True)
class Latencies:
    """Durations of the agent's calls that reached a server, by cell and tool."""

    values: dict[tuple[str, str], list[float]] = field(default_factory=dict)

    def add(self, record: TrialRecord) -> None:
        for call in record.calls:
            answered = call.error is None or call.error.cause == "server"
            if call.actor == "agent" and answered and not call.distractor and call.permission.decision == "allowed":
                self.values.setdefault((record.cell, f"{call.server}.{call.tool}"), []).append(call.duration_ms)

    def result(self) -> tuple[Latency, ...]:
        """Where most calls were first."""
        found = [
            Latency(cell, tool, len(times), tuple(quantile(sorted(times), share) for share in _SHARES))
            for (cell, tool), times in self.values.items()
        ]
        return tuple(sorted(found, key=lambda each: -each.n))


def line(record: TrialRecord) -> TrialLine:
    """Records that are not graded yet have an outcome of no name."""
    outcome = record.outcome
    return TrialLine(
        id=record.id,
        instance=instance_of(record),
        cell=record.cell,
        split=record.split,
        number=record.trial,
        outcome=outcome.outcome if outcome is not None else "",
        printed=printed(record),
        calls=record.counts.charged,
        soft=record.budget.calls_soft,
        ms=record.timing.agent_ms,
        tokens=record.usage.input_tokens + record.usage.output_tokens,
        cost_usd=record.usage.cost_usd,
        violations=len(record.violations),
        leads=len(record.leads),
        because=" → ".join(outcome.because or ()) if outcome is not None else "",
        started_at=record.timing.started_at,
    )


def instance_of(record: TrialRecord) -> str:
    """The task, with the key of its row where a loop made it: the trial's name without cell and number."""
    return record.id.rpartition("#")[0].removesuffix(f"@{record.cell}")


def printed(record: TrialRecord) -> str:
    if record.outcome is not None:
        return record.outcome.printed
    return "not applicable" if record.not_applicable else "ungraded"


def lines(records: Iterable[TrialRecord]) -> Iterator[TrialLine]:
    return (line(record) for record in records if not record.not_applicable)
