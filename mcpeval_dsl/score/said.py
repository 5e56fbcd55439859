"""Score, before the table: what one trial says beside its numbers, in a form that can be kept and read back.

It is made from the record, its grading and its task alone. Trials of one task instance in one cell that say the same are
counted together, so nothing here names the trial.
"""

from __future__ import annotations

from mcpeval_dsl.records.model import Frozen, Lead, OutcomeRecord
from mcpeval_dsl.score.model import EvidenceCall


class Failing(Frozen):
    """A deciding grader that said no, or what stands in its place where none did."""

    grader: str = ""
    kind: str = ""
    at: str = ""
    actual: str = ""
    expected: str = ""
    reason: str = ""


class SeenLead(Frozen):
    """`evidence`: calls as they are shown; the id alone of a call that only a harvest knows."""

    lead: Lead
    evidence: tuple[EvidenceCall | str, ...] = ()


class SeenViolation(Frozen):
    severity: str
    kind: str
    stages: tuple[str, ...] = ()
    tool: str = ""


class Noted(Frozen):
    """A sighting as it is kept."""

    kind: str
    text: str
    change: str = ""
    calls: tuple[str, ...] = ()


class Opinion(Frozen):
    """What a grader with an opinion said of an answer; `digest` stands for the answer."""

    grader: str
    digest: str
    verdict: str


class Decided(Frozen):
    """A deciding verdict. `asked`: its judge was asked, so that a yes or no is an opinion."""

    grader: str
    verdict: str
    asked: bool = False


class Judged(Frozen):
    """One verdict of a judge."""

    grader: str
    missing: bool = False
    repeats_disagree: bool = False
    judges_disagree: bool = False


class Known(Frozen):
    """The known failure that applies; `outstayed` is its date where that is over."""

    reason: str
    outstayed: str = ""


class Said(Frozen):
    """`tools`: (tool, id of its first call). `versions`: names of its servers. `reaches`: it was shown all that is required.

    `causes`: of a harvest that kept it from being tested, to look up its defect."""

    not_applicable: bool = False
    split: str = "train"
    cluster: str = ""
    arm: str = ""
    versions: tuple[str, ...] = ()
    sandbox: str = ""
    native: tuple[str, ...] = ()
    answered: str = ""
    replayed: bool = False
    outcome: OutcomeRecord | None = None
    success: bool = False
    testable: bool = False
    correct: bool = False
    infrastructure: bool = False
    causes: tuple[str, ...] = ()
    every_call_succeeded: bool = False
    failing: tuple[Failing, ...] = ()
    known: Known | None = None
    tools: tuple[tuple[str, str], ...] = ()
    opinions: tuple[Opinion, ...] = ()
    noted: tuple[Noted, ...] = ()
    reaches: bool = False
    leads: tuple[SeenLead, ...] = ()
    exposed: bool = False
    unchecked: bool = False
    unconfined: bool = False
    planted: int = 0
    obeyed: int = 0
    violations: tuple[SeenViolation, ...] = ()
    decided: tuple[Decided, ...] = ()
    judged: tuple[Judged, ...] = ()
