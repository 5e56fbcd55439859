"""Score: what is published of the judges, each in every way in which the tasks ask it."""

from __future__ import annotations

from pydantic import Field

from mcpeval_dsl.records.model import Frozen


class Bounded(Frozen):
    """A value with its 95 % interval; `of` items stand behind it."""

    value: float
    low: float | None = None
    high: float | None = None
    of: int = 0


class JudgeMiss(Frozen):
    """A labelled answer of which the judge says something else than people. `line`: where it stands in the file."""

    line: int
    claim: str
    answer: str
    people: str
    judge: str
    reason: str = ""


class JudgeScore(Frozen):
    """One judge, asked `repeats` times, with `second` to agree (empty: alone). Counts of `labels` are labelled answers.

    `agreement`, `kappa` and the rest are over the answers with a verdict: `unknown` are those that the judge, its repeats or
    the two judges left open, `failed` those about which it could not be asked.
    """

    judge: str
    model: str = Field(description="driver and the provider's name of the model")
    repeats: int = 1
    second: str = ""
    at: str = Field(default="", description="path:line:column of `calibration`; empty without one")
    file: str = ""
    labels: int = 0
    unknown: int = 0
    failed: int = 0
    both_pass: int = 0
    only_judge: int = Field(default=0, description="the judge says pass, people say fail")
    only_people: int = Field(default=0, description="people say pass, the judge says fail")
    both_fail: int = 0
    agreement: Bounded | None = None
    kappa: Bounded | None = Field(default=None, description="Cohen's κ; the interval is of its posterior")
    sensitivity: Bounded | None = Field(default=None, description="pass by the judge where people say pass")
    specificity: Bounded | None = Field(default=None, description="fail by the judge where people say fail")
    threshold: float | None = Field(default=None, description="the least κ of the suite")
    believed: bool = Field(description="κ reaches the threshold, or was not asked for: its verdicts count")
    decides: bool = Field(description="the low end of κ is at least 0.6: gates may rest on it")
    reason: str = Field(default="", description="why it is not believed, or why no gate rests on it")
    repeats_disagree: int = Field(default=0, description="labelled answers on which repeats do not agree")
    judges_disagree: int = Field(default=0, description="labelled answers on which the two judges do not agree")
    misses: tuple[JudgeMiss, ...] = Field(default=(), description="at most 20, in order of the file")
    calibration_cost_usd: float | None = Field(default=None, description="null where a price is not known")
    verdicts: int = Field(default=0, description="verdicts it was to give on trials")
    missing: int = Field(default=0, description="those of them that are missing")
    trials_repeats_disagree: int = Field(default=0, description="verdicts on trials with repeats that do not agree")
    trials_judges_disagree: int = Field(default=0, description="verdicts on trials on which the two do not agree")
