"""Execution, for replays: which calls of a trial are made again for a lead, and what binds their arguments. Pure.

Three rungs: the failing call with what provides its values; all earlier writes too; every earlier call.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from mcpeval_dsl.execute.ladder_places import Place, places
from mcpeval_dsl.gateway.model import CallRecord
from mcpeval_dsl.provenance.forms import bits, exact
from mcpeval_dsl.provenance.roles import relation, role_of_argument, role_of_field
from mcpeval_dsl.records.model import Lead

RungName = Literal["call", "writes", "prefix"]
TELLING_BITS = 24.0
"""From here on a value with a digit in it is taken for an id, and bound again wherever it was read."""

Pointer = tuple[str | int, ...]
_GIVEN = frozenset({"setup", "harvest"})


@dataclass(frozen=True, slots=True)
class Bound:
    """An argument that is bound again: what stands at `place` of the result of the call `source`.

    `needed`: it is surely an id, so the source is replayed for it; else it is bound only where the source is.
    """

    argument: Pointer
    source: str
    place: Place
    form: str
    needed: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One call made again. `provider`: the lead rests on what it says, so it must say it again."""

    call: CallRecord
    bound: tuple[Bound, ...] = ()
    provider: bool = False


@dataclass(frozen=True, slots=True)
class Rung:
    """`steps` in order, the failing call last."""

    name: RungName
    steps: tuple[Step, ...]

    @property
    def writes(self) -> bool:
        """Whether anything in it is not known to be read-only."""
        return any(step.call.permission.effect != "readonly" for step in self.steps)


def refusal(lead: Lead, calls: Sequence[CallRecord]) -> str | None:
    """Why a lead is not to be replayed: a fault of ours or a stand-in answer was in its session; None where it may be."""
    failing = next((call for call in calls if call.id == lead.call), None)
    if failing is None:
        return "the failing call is not on record"
    for call in calls:
        same = call.server == failing.server and call.session == failing.session and call.actor == failing.actor
        if same and _disturbed(call):
            return "a fault was injected into its session"
        if same and call.permission.decision == "simulated" and not call.distractor:
            return "a call of its session was simulated"
        if call is failing:
            break
    return None


def _disturbed(call: CallRecord) -> bool:
    error = call.error
    return error is not None and (error.error_class == "injected" or error.cause in ("fault", "fault_after_effect"))


def rungs(lead: Lead, calls: Sequence[CallRecord]) -> tuple[Rung, ...]:
    """The rungs for a lead, shortest first, each once. `calls`: harvests' calls, then the trial's, all in order."""
    end = next(number for number, call in enumerate(calls) if call.id == lead.call)
    failing, earlier = calls[end], [call for call in calls[:end] if _sent(call)]
    providers = {name for name in lead.evidence if name != lead.call}
    agent = [call for call in earlier if call.actor == "agent"]
    writes = [call for call in agent if call.permission.effect != "readonly"]
    known = _Known(earlier, failing, lead)
    found: list[Rung] = []
    chosen: tuple[tuple[RungName, Iterable[CallRecord]], ...] = (("call", ()), ("writes", writes), ("prefix", agent))
    for name, more in chosen:
        ids = known.closure({*providers, *(call.id for call in more), failing.id})
        inside = [call for call in (*earlier, failing) if call.id in ids]
        steps = tuple(_step(call, known.bound(call), ids, call.id in providers) for call in inside)
        if not found or [step.call.id for step in steps] != [step.call.id for step in found[-1].steps]:
            found.append(Rung(name, steps))
    return tuple(found)


def _step(call: CallRecord, bound: Sequence[Bound], inside: set[str], provider: bool) -> Step:
    return Step(call, tuple(each for each in bound if each.source in inside), provider)


def _sent(call: CallRecord) -> bool:
    return call.permission.decision == "allowed" and call.actor in ("agent", *_GIVEN)


class _Known:
    """Where the values of all arguments were read before; each result is walked once."""

    def __init__(self, earlier: Sequence[CallRecord], failing: CallRecord, lead: Lead) -> None:
        self.lead = lead
        self.calls = {call.id: call for call in (*earlier, failing)}
        self.order = {name: number for number, name in enumerate(self.calls)}
        self.arguments = {call.id: list(_leaves(call.arguments, ())) for call in self.calls.values()}
        forms = {form for leaves in self.arguments.values() for _, form in leaves}
        good = [call for call in earlier if call.error is None and not call.is_error]
        self.places = [(call, places(call, forms)) for call in good]
        self._bound: dict[str, tuple[Bound, ...]] = {}

    def bound(self, call: CallRecord) -> tuple[Bound, ...]:
        if call.id not in self._bound:
            found = (self._bind(call, pointer, form) for pointer, form in self.arguments[call.id])
            self._bound[call.id] = tuple(each for each in found if each is not None)
        return self._bound[call.id]

    def closure(self, ids: set[str]) -> set[str]:
        """The calls with those that their arguments need."""
        todo, found = [name for name in ids if name in self.calls], set(ids)
        while todo:
            for each in self.bound(self.calls[todo.pop()]):
                if each.needed and each.source not in found:
                    found.add(each.source)
                    todo.append(each.source)
        return found

    def _bind(self, call: CallRecord, pointer: Pointer, form: str) -> Bound | None:
        """The latest earlier result that names the value in a fitting role; for the lead's own value its own provider."""
        wanted = role_of_argument(call.tool, [part for part in pointer if isinstance(part, str)])
        telling = bits(form) >= TELLING_BITS and any(c.isdigit() for c in form)
        sources = [
            (source, found[form])
            for source, found in reversed(self.places)
            if source.server == call.server and self.order[source.id] < self.order[call.id] and form in found
        ]
        if call.id == self.lead.call and _pointer_text(pointer) == self.lead.argument:
            own = [(source, found) for source, found in sources if source.id in self.lead.evidence]
            sources, telling = own or sources, telling or bool(own)
        for source, found in sources:
            fits = [p for p in found if relation(wanted, role_of_field(source.tool, p.names)) == "match"]
            if fits or telling:
                return Bound(pointer, source.id, (fits or found)[0], form, telling)
        return None


def _pointer_text(pointer: Pointer) -> str:
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in pointer)


def _leaves(value: Any, pointer: Pointer) -> Iterable[tuple[Pointer, str]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(item, (*pointer, str(key)))
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from _leaves(item, (*pointer, number))
    else:
        form = exact(value)
        if form is not None:
            yield pointer, form


def rebound(step: Step, values: Mapping[tuple[str, Place], str]) -> Any:
    """The arguments of a step with every bound one replaced; `values` by source and place. Keeps texts texts."""
    chosen = {
        each.argument: values[each.source, each.place] for each in step.bound if (each.source, each.place) in values
    }

    def put(value: Any, pointer: Pointer) -> Any:
        if isinstance(value, Mapping):
            return {key: put(item, (*pointer, str(key))) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [put(item, (*pointer, number)) for number, item in enumerate(value)]
        if pointer not in chosen:
            return value
        form = chosen[pointer]
        if isinstance(value, str):
            return form
        try:
            return int(form)
        except ValueError:
            return form

    return put(step.call.arguments, ())
