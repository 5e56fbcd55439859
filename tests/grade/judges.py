"""A judge model that says what a test wants, and keeps what it was asked."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

from mcpeval_dsl.agents.model import Message, ModelApiError, Preflight, TrialContext, Turn, TurnRequest, Usage


@dataclass
class Judge:
    """Answers in turn: a text, `(verdict, …)` for each claim, an exception, a stop reason `stop:…`, or seconds to wait."""

    answers: list[Any]
    cost: float | None = 0.01
    asked: list[TurnRequest] = field(default_factory=list)
    name: str = "judge"

    async def preflight(self) -> Preflight:
        return Preflight(True)

    async def turn(self, request: TurnRequest) -> Turn:
        self.asked.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, ModelApiError):
            raise answer
        if isinstance(answer, float):
            await asyncio.sleep(answer)
        if isinstance(answer, str) and answer.startswith("stop:"):
            return Turn(Message("assistant", ""), answer.removeprefix("stop:"), Usage(cost_usd=self.cost))  # type: ignore[arg-type]
        text = judgement(*answer) if isinstance(answer, tuple) else str(answer)
        return Turn(Message("assistant", text), "end_turn", Usage(cost_usd=self.cost))

    async def finish(self, context: TrialContext) -> str | None:
        return None

    async def close(self) -> None:
        return None


def judgement(*verdicts: Any) -> str:
    """The JSON a judge answers with; a verdict may be `(verdict, quote)`."""
    rows = []
    for number, each in enumerate(verdicts, start=1):
        word, quotes = (each[0], [each[1]]) if isinstance(each, tuple) else (each, [])
        rows.append({"claim": number, "reason": "because", "quotes": quotes, "verdict": word})
    return json.dumps({"claims": rows})
