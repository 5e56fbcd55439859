"""Command line, what a run has come to so far: by cell, and what it cost, waited and ran into. Counted as trials end."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpeval_dsl.plan.model import Plan
    from mcpeval_dsl.records.model import TokenUse, TrialRecord

STOPPED = ("hard_budget", "deadline", "turn_limit")
_ENOUGH = 3
"""Trials that have to end before the time left is guessed."""


@dataclass(slots=True)
class CellTally:
    """`planned` trials of one cell; `before` were finished when this command began."""

    planned: int = 0
    before: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    passed: int = 0
    testable: int = 0

    @property
    def done(self) -> int:
        return min(self.planned, self.before + sum(self.outcomes.values()))


@dataclass(slots=True)
class Tally:
    """All of a run. `spent` None: the price of some trial is not known; `tokens` are counted in any case."""

    cells: dict[str, CellTally] = field(default_factory=dict)
    due: int = 0
    done: int = 0
    spent: float | None = 0.0
    tokens: int = 0
    waited_ms: float = 0.0
    retries: int = 0
    stopped: int = 0
    critical: int = 0
    began: float = field(default_factory=time.monotonic)

    def add(self, record: TrialRecord) -> None:
        cell = self.cells.setdefault(record.cell, CellTally())
        self.done += 1
        outcome = record.outcome
        word = outcome.outcome if outcome is not None else "not applicable" if record.not_applicable else "not graded"
        cell.outcomes[word] = cell.outcomes.get(word, 0) + 1
        if outcome is not None and outcome.counts_in_n:
            cell.testable += 1
            cell.passed += outcome.success
        self._pay(record.usage)
        if record.user is not None:
            self._pay(record.user.usage)
        self.waited_ms += record.timing.waited_ms
        self.retries += sum(turn.retries for turn in record.turns)
        self.stopped += record.termination.startswith(STOPPED)
        self.critical += any(violation.severity == "critical" for violation in record.violations)

    def _pay(self, usage: TokenUse) -> None:
        """What one model used: the agent's, or the one that played the user."""
        tokens = usage.input_tokens + usage.output_tokens
        self.tokens += tokens
        if usage.cost_usd is None and tokens:
            self.spent = None
        elif self.spent is not None:
            self.spent += usage.cost_usd or 0.0

    def outcomes(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for cell in self.cells.values():
            for word, count in cell.outcomes.items():
                found[word] = found.get(word, 0) + count
        return dict(sorted(found.items()))

    def left(self) -> float | None:
        """Seconds until the end, if trials go on ending as fast as they did; None as long as too few have ended."""
        if self.done < min(_ENOUGH, self.due) or not self.done:
            return None
        return (time.monotonic() - self.began) / self.done * (self.due - self.done)

    def spending(self) -> str:
        from mcpeval_dsl.report.page import money, number

        if not self.tokens:
            return ""
        tokens = f"{number(self.tokens)} tokens"
        return f"{tokens}, price unknown" if self.spent is None else f"{money(self.spent)}, {tokens}"

    def limits(self) -> Iterable[str]:
        """What was run into: waits for the model API, budgets that stopped an agent, critical violations."""
        from mcpeval_dsl.report.page import duration, plural

        if self.waited_ms >= 1000:
            yield f"waited {duration(self.waited_ms)} for the model API"
        if self.retries:
            yield "1 retry" if self.retries == 1 else f"{self.retries} retries"
        if self.stopped:
            yield f"{plural(self.stopped, 'trial')} stopped at a limit"
        if self.critical:
            yield f"{plural(self.critical, 'trial')} with a critical violation"


def tally_of(plan: Plan, finished: Iterable[str] = ()) -> Tally:
    """Nothing run yet, but what `finished` (trial ids) says."""
    from mcpeval_dsl.plan.model import TrialGroup

    found, cells = Tally(), {}
    for node in plan.nodes:
        if isinstance(node, TrialGroup):
            found.cells.setdefault(node.cell, CellTally()).planned += node.trials
            cells[node.id] = node.cell
    for trial in finished:
        cell = cells.get(trial.rpartition("#")[0])
        if cell is not None:
            found.cells[cell].before += 1
    return found


def clock(seconds: float) -> str:
    """`40 s`, `3 min`, `1 h 20 min`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
