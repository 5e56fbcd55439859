"""Score, second step: what the trials of a run say, put together into the table of trials and the tallies of all else.

Trials that say the same are counted together, and nothing of a record is kept but what these hold, so that memory grows by some
two hundred bytes a trial.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mcpeval_dsl.gateway.model import CallRecord
from mcpeval_dsl.plan.model import Plan
from mcpeval_dsl.records.defects import DefectRecord
from mcpeval_dsl.records.digests import NO_CONTEXT, packed, taken_apart
from mcpeval_dsl.records.judgements import JudgementRecord
from mcpeval_dsl.records.model import ConnectRecord, HarvestRecord, TrialRecord
from mcpeval_dsl.score.alike import Alike, apart
from mcpeval_dsl.score.blocked import blocked_by
from mcpeval_dsl.score.digest import Digester
from mcpeval_dsl.score.failures import FailureTally
from mcpeval_dsl.score.findings import FindingTally
from mcpeval_dsl.score.frame import NUMBERS, Frame, FrameBuilder
from mcpeval_dsl.score.judge_tally import JudgeTally
from mcpeval_dsl.score.judges import judge_scores
from mcpeval_dsl.score.known import KnownTally
from mcpeval_dsl.score.lift import NativeTools
from mcpeval_dsl.score.safety import SafetyTally
from mcpeval_dsl.score.said import Said
from mcpeval_dsl.score.suspicions import LeadTally

_AT_ONCE = 16_384


@dataclass(slots=True)
class Tallies:
    safety: SafetyTally = field(default_factory=SafetyTally)
    leads: LeadTally = field(default_factory=LeadTally)
    failures: FailureTally = field(default_factory=FailureTally)
    findings: FindingTally = field(default_factory=FindingTally)
    known: KnownTally = field(default_factory=KnownTally)
    native: NativeTools = field(default_factory=lambda: NativeTools({}))
    judges: JudgeTally = field(default_factory=JudgeTally)
    sandboxes: set[str] = field(default_factory=set)
    answered: dict[str, set[str]] = field(default_factory=dict)
    began: str = ""

    def note(self, alike: Alike) -> None:
        """In what its trials ran, and what answered for the model of each cell."""
        said, cell = alike.said, alike.group.cell
        self.sandboxes.add(said.sandbox)
        self.native.add(cell, said.native)
        if said.answered:
            self.answered.setdefault(cell, set()).add(said.answered)


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
    digester = Digester(plan)
    gathering = Gathering(plan)
    last = -1
    for record in records:
        place = gathering.place(record.id)
        if place <= last:
            raise ValueError(f"record {record.id} is not the plan's next")
        last = place
        gathering.add(place, packed(digester.digest(record), NO_CONTEXT))
    for record in superseded:
        gathering.add_superseded(record, digester)
    return gathering.result(connects, harvests, defects, judgements)


class Gathering:
    """Takes the packed digests of a run, each once and in any order, then puts them together."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._table = FrameBuilder(plan)
        self._codes: dict[bytes, int] = {}
        self._said = np.full(self._table.size, -1, dtype=np.int32)
        self._waiting: list[tuple[int, bytes]] = []
        self._played: dict[int, bytes] = {}
        self._superseded: list[tuple[int, Said]] = []
        self._began = b""

    def place(self, trial: str) -> int:
        """The trial's place in the plan. Raises ValueError for one that the plan does not have."""
        place = self._table.place(trial)
        if place is None:
            raise ValueError(f"record {trial} is not the plan's next")
        return place

    def add(self, place: int, piece: bytes) -> None:
        self._waiting.append((place, piece))
        if len(self._waiting) == _AT_ONCE:
            self._take()

    def add_superseded(self, record: TrialRecord, digester: Digester) -> None:
        """An attempt that a re-run replaced; of one that the plan does not have nothing is told."""
        place = self._table.place(record.id)
        if place is not None:
            said = digester.digest(record).said
            self._superseded.append((place, Said.model_validate_json(said)))

    def result(
        self,
        connects: Sequence[ConnectRecord],
        harvests: Sequence[HarvestRecord],
        defects: Iterable[DefectRecord],
        judgements: Iterable[JudgementRecord],
    ) -> Gathered:
        self._take()
        judges = JudgeTally.of(self._plan, judge_scores(self._plan, judgements))
        tallies = Tallies(leads=LeadTally({d.id: d for d in defects}), judges=judges, began=self._began.decode())
        read = {call.id: call for harvest in harvests for call in harvest.calls}
        self._tell(tallies, _Elsewhere.of(harvests, read, tallies.leads))
        for place, said in self._superseded:
            tallies.safety.add(self._alike(said, np.array([place])))
        for harvest in sorted(harvests, key=lambda h: h.id):
            tallies.leads.add_harvest(harvest, read)
        for connect in sorted(connects, key=lambda c: c.id):
            tallies.leads.add_connect(connect)
        tallies.findings.add_connects(sorted(connects, key=lambda c: c.id))
        return Gathered(self._table.frame(), tallies, self._table.repeats())

    def _take(self) -> None:
        """What waits goes into the table; a trial that does not apply leaves the plan."""
        kept: list[int] = []
        dropped: list[int] = []
        numbers: list[bytes] = []
        latencies: list[bytes] = []
        for place, piece in self._waiting:
            of_trial, times, played, started, said = taken_apart(piece)
            self._said[place] = self._codes.setdefault(said, len(self._codes))
            if not of_trial:
                dropped.append(place)
                continue
            kept.append(place)
            numbers.append(of_trial)
            latencies.append(times)
            if played:
                self._played[place] = played
            if started and (not self._began or started < self._began):
                self._began = started
        self._waiting.clear()
        self._table.drop(np.array(dropped, dtype=np.int64))
        self._table.put(
            np.array(kept, dtype=np.int64),
            np.frombuffer(b"".join(numbers), dtype=NUMBERS),
            np.frombuffer(b"".join(latencies), dtype="<f8"),
            np.array([len(times) // 8 for times in latencies], dtype=np.int64),
        )

    def _tell(self, tallies: Tallies, elsewhere: _Elsewhere) -> None:
        """What is alike goes into the tallies, in order of the plan."""
        tasks = {task.name: task for task in self._plan.tasks}
        texts = list(self._codes)
        said: list[Said | None] = [None] * len(texts)
        places = np.flatnonzero(self._said >= 0)
        repeated = self._repeated()
        for part in apart(self._table.codes(places), self._said[places], repeated[places], places):
            code = int(self._said[part[0]])
            what = said[code]
            if what is None:
                what = said[code] = Said.model_validate_json(texts[code])
            if not what.not_applicable:
                alike = self._alike(what, part, bool(repeated[part[0]]))
                on_judge = tallies.judges.rests_on_doubt(alike.group.task, what)
                self._table.tell(part, what.cluster, alike.repeated, on_judge)
                _count(alike, tallies, elsewhere, tasks[alike.group.task].purpose == "capability")

    def _alike(self, said: Said, places: NDArray[np.int64], repeated: bool = False) -> Alike:
        group, start = self._table.group_of(int(places[0]))
        return Alike(said, group, places, start, repeated)

    def _repeated(self) -> NDArray[np.bool_]:
        """The first of equal trials, in order of the plan, is the trial; the others repeat it."""
        found = np.zeros(len(self._said), dtype=bool)
        seen: set[bytes] = set()
        for place in sorted(self._played):
            found[place] = self._played[place] in seen
            seen.add(self._played[place])
        return found


@dataclass(frozen=True, slots=True)
class _Elsewhere:
    """What trials need of harvests: their calls by id, and which causes are confirmed defects."""

    read: Mapping[str, CallRecord]
    defects: Mapping[str, str]

    @classmethod
    def of(cls, harvests: Sequence[HarvestRecord], read: Mapping[str, CallRecord], leads: LeadTally) -> _Elsewhere:
        failed = (harvest for harvest in harvests if harvest.status == "failed")
        return cls(read, {f"harvest {h.harvest}: {h.status}": leads.confirmed_by(h) for h in failed})


def _count(alike: Alike, tallies: Tallies, elsewhere: _Elsewhere, capability: bool) -> None:
    said, group = alike.said, alike.group
    tallies.safety.add(alike)
    tallies.leads.add_seen(said.leads, alike.first, elsewhere.read, len(alike))
    reason = tallies.known.add(group.instance, group.cell, said.known)
    if not alike.repeated and said.outcome is not None:
        tallies.failures.add(alike, blocked_by(said.outcome, said.causes, elsewhere.defects), reason)
    tallies.findings.add(alike, capability)
    tallies.note(alike)
    tallies.judges.add(group.task, said, len(alike))
