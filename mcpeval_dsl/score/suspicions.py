"""Score: leads of all trials, told once each, with the two calls that show it as evidence."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mcpeval_dsl.gateway.model import CallRecord
from mcpeval_dsl.provenance.leads import harvest_leads
from mcpeval_dsl.provenance.starts import start_lead
from mcpeval_dsl.records.defects import DefectRecord
from mcpeval_dsl.records.model import ConnectRecord, HarvestRecord, Lead, TrialRecord
from mcpeval_dsl.score import model
from mcpeval_dsl.score.said import SeenLead

_VARYING = re.compile(r"0x[0-9a-f]+|[0-9a-f]{8,}|\d+|/[^\s\"']*|\"[^\"]*\"|'[^']*'", re.IGNORECASE)
_SHOWN = 160


@dataclass(slots=True)
class LeadTally:
    """Add the trials in order of the plan; the first that shows a lead gives its evidence.

    `defects` are what replays came to, by the lead's id; `first` keeps each lead as it was first seen.
    """

    defects: Mapping[str, DefectRecord] = field(default_factory=dict)
    rows: dict[str, tuple[model.LeadRow, int]] = field(default_factory=dict)
    first: dict[str, Lead] = field(default_factory=dict)
    _elsewhere: set[tuple[str, str]] = field(default_factory=set)

    def add(self, record: TrialRecord, harvest_calls: Sequence[CallRecord] = ()) -> None:
        if record.leads:
            read = {call.id: call for call in harvest_calls}
            self.add_seen(seen_leads(record, read), record.id, read)

    def add_seen(
        self, seen: Iterable[SeenLead], trial: str, read: Mapping[str, CallRecord] | None = None, trials: int = 1
    ) -> None:
        """What `trials` trials show alike, the first of which is `trial`; `read` are calls of harvests, by id."""
        told: set[str] = set()
        for each in seen:
            name = lead_id(each.lead)
            self._add(name, each, trial, read or {}, 0 if name in told else trials)
            told.add(name)

    def add_harvest(self, harvest: HarvestRecord, earlier: Mapping[str, CallRecord] | None = None) -> None:
        """`earlier` are calls of other harvests, by id: a lead may rest on what one of them was told."""
        calls = {**(earlier or {}), **{call.id: call for call in harvest.calls}}
        for lead in harvest.leads or harvest_leads(harvest.calls):
            self._add_once(lead, f"harvest {harvest.id}", calls)

    def add_connect(self, connect: ConnectRecord) -> None:
        lead = start_lead(connect)
        if lead is not None:
            self._add_once(lead, f"connect {connect.server}", {})

    def confirmed_by(self, harvest: HarvestRecord) -> str:
        """Id of the confirmed defect that a harvest ran into; empty where there is none."""
        names = (lead_id(lead) for lead in harvest.leads or harvest_leads(harvest.calls))
        return next((n for n in names if (found := self.defects.get(n)) and found.status == "confirmed"), "")

    def result(self) -> tuple[model.LeadRow, ...]:
        return tuple(
            row.model_copy(update={"trials": trials, **_replayed(self.defects.get(row.id))})
            for row, trials in self.rows.values()
        )

    def _add_once(self, lead: Lead, where: str, calls: Mapping[str, CallRecord]) -> None:
        """A lead that is no trial's; one place counts once."""
        name = lead_id(lead)
        new = (name, where) not in self._elsewhere
        self._elsewhere.add((name, where))
        self._add(name, SeenLead(lead=lead, evidence=lead.evidence), where, calls, int(new))

    def _add(self, name: str, seen: SeenLead, trial: str, read: Mapping[str, CallRecord], trials: int) -> None:
        before = self.rows.get(name)
        times = trials + (before[1] if before is not None else 0)
        stronger = seen.lead.strength == "lead" and before is not None and self.first[name].strength == "to_replay"
        if before is None or stronger:
            self.rows[name] = (_row(seen, trial, read), times)
            self.first[name] = seen.lead
        else:
            self.rows[name] = (before[0], times)


def _replayed(defect: DefectRecord | None) -> dict[str, object]:
    if defect is None:
        return {}
    return {
        "status": defect.status,
        "failed": defect.failed,
        "counted": defect.counted,
        "low": defect.low,
        "high": defect.high,
        "reason": defect.reason,
        "reproduction": defect.reproduction,
    }


def counts(row: model.LeadRow) -> bool:
    """A timeout, or an error after a write, is nothing before a replay confirms it."""
    return row.strength == "lead" or row.status == "confirmed"


def lead_id(lead: Lead) -> str:
    """One name for a lead wherever it is seen: tool, kind of error and a digest of the normalised message."""
    kind = re.sub(r"[^a-z0-9]+", "_", lead.kind.lower()).strip("_").removesuffix("_of_a_vouched_value")
    text = "\x00".join((lead.server, lead.tool, lead.kind, normalised(lead)))
    return f"{lead.server}.{lead.tool}:{kind}:{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:8]}"


def normalised(lead: Lead) -> str:
    """The message without what differs from trial to trial: numbers, paths, quoted texts and the value itself."""
    text = lead.message.replace(lead.value, "…") if lead.value else lead.message
    return _VARYING.sub("…", text)[:200]


def seen_leads(record: TrialRecord, read: Mapping[str, CallRecord] | None = None) -> tuple[SeenLead, ...]:
    """The leads of a trial with the calls that show them. `read`: calls of harvests that may be shown too.

    Of a call that a harvest made and that is not the trial's own the id is kept, to be looked up.
    """
    if not record.leads:
        return ()
    calls = {call.id: call for call in record.calls}
    harvested = set(record.harvested.values()) | set(read or ())

    def shown(lead: Lead) -> Iterator[model.EvidenceCall | str]:
        for call in lead.evidence:
            if call in calls:
                yield _evidence(calls[call], lead)
            elif call in harvested:
                yield call

    return tuple(SeenLead(lead=lead, evidence=tuple(shown(lead))) for lead in record.leads)


def _row(seen: SeenLead, trial: str, read: Mapping[str, CallRecord]) -> model.LeadRow:
    lead = seen.lead
    shown = [
        _evidence(read[each], lead) if isinstance(each, str) else each
        for each in seen.evidence
        if not isinstance(each, str) or each in read
    ]
    return model.LeadRow(
        id=lead_id(lead),
        strength=lead.strength,
        kind=lead.kind,
        server=lead.server,
        tool=lead.tool,
        message=shortened(lead.message),
        argument=lead.argument,
        value=lead.value,
        trials=0,
        first_trial=trial,
        evidence=tuple(shown),
    )


def _evidence(call: CallRecord, lead: Lead) -> model.EvidenceCall:
    said = call.error.message if call.error is not None else call.text or _json(call.structured)
    return model.EvidenceCall(
        id=call.id,
        actor=call.actor,
        tool=f"{call.server}.{call.tool}",
        arguments=shortened(_json(dict(call.arguments))),
        result=around(said, lead.value),
    )


def around(text: str, value: str | None) -> str:
    """The part of a long text in which the value stands."""
    place = text.find(value) if value else -1
    if len(text) <= _SHOWN or place < _SHOWN // 2:
        return shortened(text)
    return "…" + shortened(text[place - _SHOWN // 3 :])


def shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
