"""Records: what replaying one lead came to, kept beside the trials it was seen in."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from mcpeval_dsl.records.model import Frozen, Lead

DefectStatus = Literal["confirmed", "flaky", "eventual", "not_reproduced", "resource_limit", "unconfirmed"]


class DefectRecord(Frozen):
    """`id` names the lead across trials. `failed` of `counted` attempts failed as it did; each had a fresh environment.

    `rung` says how much was replayed: the call with its provider, all earlier writes too, or every earlier call.
    """

    format: Literal["mcpe-defect/1"] = "mcpe-defect/1"
    id: str
    key: str = Field(description="digest of the lead and of the plan it was replayed with")
    lead: Lead
    trial: str = Field(description="the trial (or `harvest NAME`) whose calls were replayed")
    status: DefectStatus
    rung: Literal["", "call", "writes", "prefix"] = ""
    calls: tuple[str, ...] = Field(default=(), description="ids of the calls that were replayed, in order")
    failed: int = 0
    counted: int = 0
    low: float | None = Field(default=None, description="95 % interval of the rate (Clopper–Pearson)")
    high: float | None = None
    reason: str = ""
    infrastructure: bool = Field(default=False, description="unconfirmed because something of ours was missing")
    reproduction: str = Field(
        default="", description="file name of the check that fails as long as the defect is there"
    )
    shown: bool | None = Field(default=None, description="whether that check failed when it was written")
