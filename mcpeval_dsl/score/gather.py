"""Score, second step: one pass over the records of a run, into the table of trials and the tallies of all else.

Nothing of a record is kept but what these hold, so that memory grows by some two hundred bytes a trial.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from mcpeval_dsl.gateway.model import CallRecord
from mcpeval_dsl.plan.model import Plan
from mcpeval_dsl.records.defects import DefectRecord
from mcpeval_dsl.records.judgements import JudgementRecord
from mcpeval_dsl.records.model import ConnectRecord, HarvestRecord, TrialRecord
from mcpeval_dsl.score.blocked import blocked_by
from mcpeval_dsl.score.failures import FailureTally
from mcpeval_dsl.score.findings import FindingTally
from mcpeval_dsl.score.frame import Frame, FrameBuilder
from mcpeval_dsl.score.judge_tally import JudgeTally
from mcpeval_dsl.score.judges import judge_scores
from mcpeval_dsl.score.known import KnownTally
from mcpeval_dsl.score.lift import NativeTools
from mcpeval_dsl.score.repeats import RepeatTally
from mcpeval_dsl.score.rows import filled
from mcpeval_dsl.score.safety import SafetyTally
from mcpeval_dsl.score.suspicions import LeadTally


@dataclass(slots=True)
class Tallies:
    safety: SafetyTally = field(default_factory=SafetyTally)
    leads: LeadTally = field(default_factory=LeadTally)
    failures: FailureTally = field(default_factory=FailureTally)
    findings: FindingTally = field(default_factory=FindingTally)
    known: KnownTally = field(default_factory=KnownTally)
    repeats: RepeatTally = field(default_factory=RepeatTally)
    native: NativeTools = field(default_factory=lambda: NativeTools({}))
    judges: JudgeTally = field(default_factory=JudgeTally)
    sandboxes: set[str] = field(default_factory=set)
    answered: dict[str, set[str]] = field(default_factory=dict)
    began: str = ""

    def note(self, record: TrialRecord) -> None:
        """When the run began, in what its trials ran, and what answered for the model of each cell."""
        self.sandboxes.add(record.sandbox)
        self.native.add(record)
        if record.agent.provider_model and record.turns:  # without a turn it is only what the spec asks for
            self.answered.setdefault(record.cell, set()).add(record.agent.provider_model)
        if record.timing.started_at and (not self.began or record.timing.started_at < self.began):
            self.began = record.timing.started_at


@dataclass(frozen=True, slots=True)
class Gathered:
    """`repeats`: (cell, split) -> trials that only play another one back."""

    frame: Frame
    tallies: Tallies
    repeats: dict[tuple[str, str], int]


def gather(
    plan: Plan,
    records: Iterable[TrialRecord],
    connects: Sequence[ConnectRecord] = (),
    harvests: Sequence[HarvestRecord] = (),
    superseded: Iterable[TrialRecord] = (),
    defects: Iterable[DefectRecord] = (),
    judgements: Iterable[JudgementRecord] = (),
) -> Gathered:
    """`records` come in order of the plan, each once, graded. Raises ValueError for others, and for those out of order."""
    table = FrameBuilder(plan)
    judges = JudgeTally.of(plan, judge_scores(plan, judgements))
    tallies = Tallies(leads=LeadTally({defect.id: defect for defect in defects}), judges=judges)
    _take_records(plan, records, harvests, table, tallies)
    for record in superseded:
        place = table.place(record.id)
        if place is not None:
            tallies.safety.add(record, table.row(place).instance, place)
    read = {call.id: call for harvest in harvests for call in harvest.calls}
    for harvest in sorted(harvests, key=lambda h: h.id):
        tallies.leads.add_harvest(harvest, read)
    for connect in sorted(connects, key=lambda c: c.id):
        tallies.leads.add_connect(connect)
    tallies.findings.add_connects(sorted(connects, key=lambda c: c.id))
    return Gathered(table.frame(), tallies, table.repeats())


def _take_records(
    plan: Plan,
    records: Iterable[TrialRecord],
    harvests: Sequence[HarvestRecord],
    table: FrameBuilder,
    tallies: Tallies,
) -> None:
    tasks = {task.name: task for task in plan.tasks}
    cells = {cell.id: cell for cell in plan.cells}
    read = {call.id: call for harvest in harvests for call in harvest.calls}
    defects = {
        f"harvest {h.harvest}: {h.status}": tallies.leads.confirmed_by(h) for h in harvests if h.status == "failed"
    }
    last = -1
    for record in (blocked_by(record, defects) for record in records):
        place = table.place(record.id)
        if place is None or place <= last:
            raise ValueError(f"record {record.id} is not the plan's next")
        last = place
        if record.not_applicable:
            table.drop(place)
            continue
        planned, task = table.row(place), tasks[record.task]
        repeated = tallies.repeats.repeats(record, planned.instance)
        row = filled(planned, record, task, repeated, tallies.judges.rests_on_doubt(record))
        table.put(place, row)
        used: list[CallRecord] = [read[id_] for id_ in record.harvested.values() if id_ in read]
        tallies.safety.add(record, row.instance, place)
        tallies.leads.add(record, used)
        reason = tallies.known.add(row, record, task, cells[row.cell])
        if not repeated:
            tallies.failures.add(row, record, reason)
        tallies.findings.add(row, record, task)
        tallies.note(record)
        tallies.judges.add(record)
