"""Records: what a judge answered about one labelled answer, kept so that it is asked and paid for once in a run."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from mcpeval_dsl.records.model import Frozen


class JudgementRecord(Frozen):
    """`key` covers everything the judge was told and how it was asked. `unknown` is an answer too; trouble is none."""

    id: str
    key: str
    judge: str = Field(description="the model asked, by its name in the spec")
    verdict: Literal["pass", "fail", "unknown"]
    reason: str = ""
    cost_usd: float | None = Field(default=None, description="null where its price is not known")
