"""Execution: what a run may cost in all: trials, simulated users, judges and their calibration, as they are on record."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mcpeval_dsl.records.model import TokenUse, TrialRecord


@dataclass(slots=True)
class Purse:
    """`limit` in dollars; None is none. `unpriced` names a model whose price is not known: then nothing can be promised."""

    limit: float | None = None
    spent: float = 0.0
    unpriced: str = ""

    def pay(self, record: TrialRecord) -> None:
        """One trial that has ended, with those who graded it."""
        self._use(record.usage, record.agent.model)
        if record.user is not None:
            self._use(record.user.usage, record.user.model)
        judged = [
            verdict for verdict in record.verdicts if verdict.kind == "judge" and verdict.verdict in ("yes", "no")
        ]
        self.pay_judges(verdict.cost_usd for verdict in judged)

    def pay_judges(self, amounts: Iterable[float | None]) -> None:
        """One amount for each answer of a judge."""
        for amount in amounts:
            if amount is None:
                self.unpriced = "the judge"
            else:
                self.spent += amount

    def _use(self, usage: TokenUse, model: str) -> None:
        if usage.cost_usd is not None:
            self.spent += usage.cost_usd
        elif usage.input_tokens or usage.output_tokens:
            self.unpriced = model

    def closed(self) -> str:
        """Why no further trial begins; empty while one may."""
        if self.limit is None:
            return ""
        if self.unpriced:
            return (
                f"the price of {self.unpriced} is not known, so a limit of {_dollars(self.limit)} cannot be kept: "
                "no further trial begins. Say a `price` in the model, or run without --max-cost"
            )
        if self.spent >= self.limit:
            spent = f"{_dollars(self.spent)} of {_dollars(self.limit)}"
            return f"{spent} are spent: no further trial begins. A higher --max-cost goes on"
        return ""


def _dollars(amount: float) -> str:
    return f"${amount:.4f}" if 0 < amount < 0.1 else f"${amount:.2f}"
