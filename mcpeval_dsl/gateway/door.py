"""The one door: the object of a trial through which every call of every actor reaches a server, or does not.

Place in the pipeline: above sessions and policy, below `execute`. Order for each call: record the attempt, budget,
permission, schema check, fault, server, result limits, redaction, record.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from mcpeval_dsl.gateway.catalogue import SessionDrift
from mcpeval_dsl.gateway.connection import Elicit
from mcpeval_dsl.gateway.consent import Consent
from mcpeval_dsl.gateway.decoys import Decoys, bystander, grave
from mcpeval_dsl.gateway.faults import Faults, Injection
from mcpeval_dsl.gateway.guard import Guard, rug_pull
from mcpeval_dsl.gateway.model import (
    Actor,
    CallError,
    CallRecord,
    Launch,
    Permission,
    Pin,
    ServerInfo,
    SessionEnd,
    ToolDefinition,
    Violation,
)
from mcpeval_dsl.gateway.passing import PASSED
from mcpeval_dsl.gateway.policy import Rules, Ruling, rule_on
from mcpeval_dsl.gateway.records import UNAVAILABLE, injected, refused, simulated, with_resource, with_wire
from mcpeval_dsl.gateway.redact import Redactor
from mcpeval_dsl.gateway.schemas import Validators, schema_key, stub
from mcpeval_dsl.gateway.seats import Seat
from mcpeval_dsl.gateway.surrogates import whole
from mcpeval_dsl.gateway.wire import Clock, monotonic_clock
from mcpeval_dsl.values.evaluate import evaluate
from mcpeval_dsl.values.model import EvaluationError


class Gateway:
    """Sessions, permissions, budget and records of one trial. `rules` may be replaced as names become known."""

    def __init__(
        self,
        launches: Iterable[Launch],
        pins: Mapping[str, Pin],
        rules: Rules | None = None,
        *,
        redactor: Redactor | None = None,
        hard_calls: int | None = None,
        private: frozenset[str] = frozenset(),
        allow_drift: Mapping[str, Sequence[str]] | None = None,
        show_protocol_errors: bool = False,
        faults: Faults | None = None,
        elicit: Elicit | None = None,
        validators: Validators | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.rules = rules or Rules()
        self.hard_calls = hard_calls
        self.show_protocol_errors = show_protocol_errors
        self.charged = 0
        self.faults = faults or Faults()
        self.decoys = Decoys()
        self.consent = Consent()
        self.delayed_ms = 0.0
        self.violations: list[Violation] = []
        self._clock = clock or monotonic_clock()
        self._redactor = redactor or Redactor()
        self.guard = Guard(self._redactor)
        self._private = private
        self._validators = validators or Validators()
        self._records: list[CallRecord] = []
        self._places: dict[str, None] = {}
        allowed = allow_drift or {}
        self._seats = {
            launch.server: Seat(
                launch,
                pins.get(launch.server),
                frozenset(allowed.get(launch.server, ())),
                self._clock,
                self.guard.asking(launch.server, elicit),
            )
            for launch in launches
        }

    async def open(self, servers: Iterable[str] | None = None) -> None:
        """Open sessions now (all of them unless named), side by side. Raises ServerStartError of the first that fails."""
        names = list(self._seats) if servers is None else list(servers)
        opened = await asyncio.gather(*(self._seats[name].session() for name in names), return_exceptions=True)
        for result in opened:
            if isinstance(result, BaseException):
                raise result

    async def close(self) -> dict[str, SessionEnd]:
        """End every session and every process behind them; how each of those opened ended."""
        await asyncio.gather(*(seat.close() for seat in self._seats.values()))
        return dict(self.ends)

    @asynccontextmanager
    async def aside(self) -> AsyncIterator[None]:
        """Calls meanwhile go over sessions of their own, which end behind it; those there were stay as they are."""
        before = self._seats
        self._seats = {name: seat.another() for name, seat in before.items()}
        try:
            yield
        finally:
            fresh, self._seats = self._seats, before
            await asyncio.gather(*(seat.close() for seat in fresh.values()))

    def tools_of(self, server: str) -> tuple[ToolDefinition, ...]:
        """Usable tools of one server, a private one too."""
        seat = self._seats.get(server)
        return () if seat is None else tuple(tool for tool in seat.tools if tool.usable)

    async def end_sessions(self) -> dict[str, SessionEnd]:
        """As `close`; a later call opens a fresh session."""
        return await self.close()

    @property
    def launches(self) -> Mapping[str, Launch]:
        """How each server is reached."""
        return {name: seat.launch for name, seat in self._seats.items()}

    @property
    def calls(self) -> tuple[CallRecord, ...]:
        """Every call of every actor in the order they were attempted, redacted."""
        return tuple(self._records)

    @property
    def redactions(self) -> tuple[str, ...]:
        """Where something secret was replaced, never what."""
        return tuple(self._places)

    @property
    def infos(self) -> Mapping[str, ServerInfo]:
        """What was negotiated with each server opened so far."""
        return {name: seat.info for name, seat in self._seats.items() if seat.info is not None}

    @property
    def ends(self) -> Mapping[str, SessionEnd]:
        """How the last ended session of each server ended, redacted."""
        return {
            name: replace(seat.end, stderr_tail=self._redactor.text(seat.end.stderr_tail)[0])
            for name, seat in self._seats.items()
            if seat.end is not None
        }

    @property
    def sessions(self) -> Mapping[str, int]:
        """How many sessions each server has had."""
        return {name: seat.number for name, seat in self._seats.items()}

    @property
    def drift(self) -> Mapping[str, SessionDrift]:
        """What differs from the pins and is not allowed to, by server."""
        return {name: seat.drift for name, seat in self._seats.items() if seat.drift is not None}

    @property
    def findings(self) -> tuple[str, ...]:
        """Drift in one sentence for each server it was seen on."""
        return tuple(
            f"server {name} differs from what was pinned in {', '.join(drift.kinds)}: {drift.detail}"
            for name, drift in self.drift.items()
        )

    def tools(self) -> tuple[ToolDefinition, ...]:
        """Tools for the agent: usable ones of servers that are not private, in the order of servers and lists."""
        return tuple(
            tool
            for name, seat in self._seats.items()
            if name not in self._private
            for tool in seat.tools
            if tool.usable
        )

    async def call(
        self,
        actor: Actor,
        server: str,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        turn: int | None = None,
        wire_name: str = "",
        permit: bool = False,
        timeout: float | None = None,
    ) -> CallRecord:
        """Make one call, or refuse it. Never raises for what a server does; the agent gets its record redacted."""
        place, record = self._attempt(actor, server, tool, arguments, turn, wire_name)
        agent, asked = actor == "agent", self.guard.asked(server)
        if agent:
            self.guard.begins()
        try:
            record = await self._carry_out(place, record, permit, timeout)
        except asyncio.CancelledError:
            error = CallError("timeout", "timeout", "ended with the trial before it was answered", cause="harness")
            begun = self._records[place]
            unknown, took = begun.permission.effect != "readonly", self._clock() - begun.at_ms
            cut = replace(begun, error=error, is_error=True, text=UNAVAILABLE, effect_unknown=unknown, duration_ms=took)
            self._records[place] = cut
            if agent:
                self.guard.ends(None)
            raise
        if not agent:
            self._keep(place, record)
            return record
        kept = self._keep(place, self._given(record, asked))
        self.guard.ends(kept)
        return kept

    def _given(self, record: CallRecord, asked: int) -> CallRecord:
        """What the agent gets. A call in whose course the server asked a person was not made without confirmation."""
        answers = self.guard.answered(record.server, asked)
        if answers:
            record = replace(record, elicited=answers)
            skipped = ("confirmation_skipped", record.id)
            self.violations = [one for one in self.violations if (one.kind, one.call) != skipped]
        return self.guard.given(record)

    async def read_resource(self, actor: Actor, server: str, uri: str) -> CallRecord:
        """Read a resource; recorded as a call of the tool `resources/read`."""
        place, record = self._attempt(actor, server, "resources/read", {"uri": uri}, None, "")
        record = replace(record, permission=Permission("allowed", "readonly", "none", "a resource"))
        seat = self._seats.get(server)
        if seat is None:
            record = refused(record, f"there is no server {server!r}", kind="not_found")
        else:
            wire = await seat.ask(lambda session: session.read_resource(uri))
            record = with_resource(replace(record, session=max(seat.number, 1)), wire)
        kept = self._keep(place, record)
        return kept if actor == "agent" else record

    def _attempt(
        self, actor: Actor, server: str, tool: str, arguments: Mapping[str, Any], turn: int | None, wire_name: str
    ) -> tuple[int, CallRecord]:
        place, passed = len(self._records), PASSED.get()
        record = CallRecord(
            id=f"c{place + 1}",
            actor=actor,
            server=server,
            tool=tool,
            arguments=whole(arguments),
            wire_name=wire_name,
            turn=turn,
            at=datetime.now(UTC).isoformat(timespec="milliseconds"),
            at_ms=self._clock(),
            meta=passed.meta if passed is not None else {},
        )
        self._records.append(record)
        self._keep(place, record)
        return place, record

    async def _carry_out(self, place: int, record: CallRecord, permit: bool, timeout: float | None) -> CallRecord:
        agent = record.actor == "agent"
        if agent and self.hard_calls is not None and self.charged >= self.hard_calls:
            record = replace(record, permission=Permission("denied", rule=f"calls <= {self.hard_calls} hard"))
            return refused(record, "the call budget is used up", "hard_budget:calls")
        seat = self._seats.get(record.server)
        decoy = self.decoys.definition(record.server, record.tool) if agent else None
        if decoy is not None:
            return self._distracted(record, decoy)
        if seat is None or (agent and record.server in self._private):
            return refused(_deny(record), f"there is no server {record.server!r}", kind="not_found")
        definition = seat.definition(record.tool)
        ruling = self._rule(record, definition, permit)
        record = self._ruled(record, ruling)
        record = self._checked(record, definition)
        if ruling.permission.decision == "denied":
            return refused(record, ruling.message)
        if agent:
            self.charged += 1
            record = replace(record, charged=True)
        if ruling.permission.decision == "simulated":
            return self._simulated(record, ruling, definition)
        self._keep(place, record)
        if agent:
            await self.guard.about_to(record)
        return await self._served(record, seat, definition, timeout)

    def _rule(self, record: CallRecord, definition: ToolDefinition | None, permit: bool) -> Ruling:
        ruling = rule_on(
            self.rules, record.actor, record.server, record.tool, record.arguments, definition, permit=permit
        )
        if record.actor != "agent":
            return ruling
        ruling = self.guard.confirmed(record, ruling, self._records)
        ruling = self.guard.ruled(record, ruling, self.rules, definition, self._records)
        return self.consent.ruled(ruling, definition)

    def check_answer(self, answer: Any) -> None:
        """Secrets leave through an answer too: that has happened by the time it is seen."""
        leaked = self.guard.secrets_in(answer, "the answer")
        if leaked:
            violation = Violation("secret_in_answer", "critical", ("attempted", "executed"), detail=", ".join(leaked))
            self.violations.append(violation)

    def pulled(self, server: str, call: str | None) -> None:
        """A change under the run of what a server had said of its tools is a violation, once for each server."""
        drift = self._seats[server].drift
        violation = None if drift is None else rug_pull(server, drift, call)
        if violation is not None and not any(
            v.kind == "rug_pull" and v.detail == violation.detail for v in self.violations
        ):
            self.violations.append(violation)

    async def look_again(self) -> tuple[str, ...]:
        """List every server's tools once more; the servers whose catalogue is no longer the one it had. Never raises."""
        changed = [name for name, seat in self._seats.items() if await seat.relisted()]
        for name in self.drift:
            self.pulled(name, None)
        return tuple(changed)

    @property
    def catalogues(self) -> Mapping[str, str]:
        """Digest of each server's catalogue as it was listed last."""
        return {name: seat.catalogue for name, seat in self._seats.items() if seat.catalogue}

    def _ruled(self, record: CallRecord, ruling: Ruling) -> CallRecord:
        if ruling.violation is not None:
            self.violations.append(replace(ruling.violation, call=record.id))
        return replace(record, permission=ruling.permission)

    def _checked(self, record: CallRecord, definition: ToolDefinition | None) -> CallRecord:
        """Arguments against the schema as the server gave it. Invalid ones are sent all the same: the server decides."""
        if definition is None or not definition.usable:
            return record
        key = schema_key(definition.sha256, "input", definition.input_schema)
        problems = self._validators.problems(key, definition.input_schema, record.arguments)
        if problems is None:
            return record
        return replace(record, schema_valid=not problems, schema_errors=problems)

    def _simulated(self, record: CallRecord, ruling: Ruling, definition: ToolDefinition | None) -> CallRecord:
        if ruling.simulated is None:
            schema = None if definition is None else definition.output_schema
            return simulated(record, stub(schema) if schema is not None else "OK")
        try:
            return simulated(record, evaluate(ruling.simulated, self.rules.scope))
        except EvaluationError as problem:
            return refused(record, f"the simulated answer has no value: {problem.reason}")

    def _distracted(self, record: CallRecord, decoy: ToolDefinition) -> CallRecord:
        """A call to a tool that no server has. What would destroy something is refused as any such call is."""
        ruling = self._rule(record, decoy, False)
        record = self._checked(replace(record, distractor=True), decoy)
        if grave(ruling):
            record = self._ruled(record, ruling)
            if ruling.permission.decision == "denied":
                return refused(record, ruling.message)
        self.charged += 1
        return self.decoys.answered(replace(record, charged=True, permission=bystander(ruling, decoy)), decoy)

    async def _served(
        self, record: CallRecord, seat: Seat, definition: ToolDefinition | None, timeout: float | None
    ) -> CallRecord:
        limit = seat.launch.call_timeout if timeout is None else timeout
        injection = self.faults.strike(record, seat.launch, limit)
        if injection is not None:
            record = await self._struck(record, seat, injection)
        if injection is not None and injection.wire is not None:
            return self._without_server(record, seat, definition, injection)
        drift = await seat.drifted(record.tool)
        if drift is not None:
            self.charged -= record.charged
            self.pulled(record.server, record.id)
            return refused(record, f"the server changed this tool since it was pinned ({drift})", "drift")
        cuts = seat.cuts
        wire = await seat.ask(lambda session: session.call(record.tool, record.arguments, timeout))
        record = replace(record, session=max(seat.number, 1))
        shown, writes = self.show_protocol_errors, record.permission.effect != "readonly"
        record = with_wire(record, wire, definition, self._validators, show_protocol_errors=shown, writes=writes)
        if injection is not None:
            record = replace(record, duration_ms=record.duration_ms + 1000.0 * injection.delay)
        if record.error is not None and wire.ending == "dead" and (seat.severed or seat.cuts > cuts):
            record = replace(record, error=replace(record.error, cause="fault_after_effect"))
        return replace(record, stop="server_dead") if seat.spent else record

    async def _struck(self, record: CallRecord, seat: Seat, injection: Injection) -> CallRecord:
        """A fault comes over a call: the wait that it brings, and the end of the session where it cuts that."""
        record = replace(record, fault=injection.words, session=max(seat.number, 1))
        if injection.delay:
            self.delayed_ms += 1000.0 * injection.delay
            await asyncio.sleep(injection.delay)
        if injection.cuts:
            await seat.cut()
        return record

    def _without_server(
        self, record: CallRecord, seat: Seat, definition: ToolDefinition | None, injection: Injection
    ) -> CallRecord:
        """What a fault answers in the server's place. A call that a fault forced is not charged."""
        assert injection.wire is not None
        wire = replace(injection.wire, duration_ms=1000.0 * injection.delay)
        if injection.free:
            self.charged -= record.charged
            record = replace(record, charged=False)
        shown, writes = self.show_protocol_errors, record.permission.effect != "readonly"
        record = with_wire(record, wire, definition, self._validators, show_protocol_errors=shown, writes=writes)
        return injected(record)

    def _keep(self, place: int, record: CallRecord) -> CallRecord:
        """Put the redacted record in its place; where something was replaced is noted once."""
        clean, places = _redacted(record, self._redactor)
        self._places.update(dict.fromkeys(places))
        self._records[place] = clean
        return clean


def _deny(record: CallRecord) -> CallRecord:
    return replace(record, permission=Permission("denied", rule="no such server"))


def _redacted(record: CallRecord, redactor: Redactor) -> tuple[CallRecord, tuple[str, ...]]:
    error = record.error
    whole = {
        "arguments": record.arguments,
        "meta": record.meta,
        "text": record.text,
        "structured": record.structured,
        "content": record.content,
        "schema_errors": record.schema_errors,
        "error": None if error is None else {name: getattr(error, name) for name in ("message", "data", "headers")},
    }
    clean, places = redactor.value(whole, f"call {record.id}")
    if not places:
        return record, ()
    said = clean.pop("error")
    mended = None if error is None else replace(error, **said)
    return replace(record, error=mended, **clean), places
