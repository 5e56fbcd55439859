"""Provenance, the agent's side: where could it have got the value of an argument?

| verdict | when |
| --- | --- |
| known | it stood whole in something the agent had been shown, or is the schema's own |
| derived | something it can be made of stood there: another form, a longer value, its pieces |
| invented | nothing did, the transcript is complete, and the value is one that cannot be worked out |
| unknown | all else |

A value that the agent used before it was shown keeps the origin of its first use: an echo teaches nothing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from mcpeval_dsl.gateway.model import CallRecord
from mcpeval_dsl.provenance.arguments import Argument
from mcpeval_dsl.provenance.forms import (
    bits,
    date_of,
    dates,
    decoded,
    exact,
    formatted,
    grouped_digits,
    loose,
    pieces,
    selected,
)
from mcpeval_dsl.provenance.leaves import hits
from mcpeval_dsl.provenance.occurrences import Needles, Place
from mcpeval_dsl.provenance.roles import relation, role_of_argument, role_of_field
from mcpeval_dsl.provenance.shown import Shown, Turns, all_shown
from mcpeval_dsl.records.model import OriginWord, TrialRecord

Form = Literal["exact", "loose", "decoded", "date", "number", "part", "joined"]
_Key = tuple[str, tuple[str, ...], str]
_TELLS_LITTLE = 10.0
_TOKEN = re.compile(r"[^\s\"'`,;()\[\]{}<>]+")


@dataclass(frozen=True, slots=True)
class Origin:
    """`source`: the id of a call, or the name of a harvest, server or tool."""

    verdict: Literal["known", "derived", "invented", "unknown"]
    origin: OriginWord
    source: str = ""
    form: Form = "exact"


@dataclass(slots=True)
class _Seen:
    """What was found where, by index of the shown text."""

    exact: dict[str, dict[int, Place]]
    loose: dict[str, set[int]]
    dates: dict[Any, set[int]]


def origins(record: TrialRecord, asked: Sequence[tuple[CallRecord, Argument]]) -> list[Origin]:
    """The origin of each asked argument of a call of the agent. Linear in the record and in what is asked."""
    if not asked:
        return []
    return _Origins(record, asked).all()


class _Origins:
    def __init__(self, record: TrialRecord, asked: Sequence[tuple[CallRecord, Argument]]) -> None:
        self.record, self.asked = record, asked
        self.shown = all_shown(record)
        self.turns = Turns(record)
        self.seen = self._look([form for _, argument in asked if (form := argument.form) is not None])
        self.first = _first_uses(record.calls, {argument.form for _, argument in asked if argument.form is not None})
        self.fitting = self._fitting()
        self._look_looser(self._unresolved())
        self.told: dict[tuple[_Key, str, str], Origin] = {}

    def all(self) -> list[Origin]:
        return [self._one(call, argument) for call, argument in self.asked]

    def _one(self, call: CallRecord, argument: Argument) -> Origin:
        form = argument.form
        if form is None:
            return Origin("unknown", "none")
        if argument.own_value:
            return Origin("known", "schema")
        first = self.first.get(form, call)
        name = (argument.key, argument.pointer, first.id)
        if name not in self.told:
            self.told[name] = self._first(form, argument, first)
        return self.told[name]

    def _first(self, form: str, argument: Argument, first: CallRecord) -> Origin:
        """As of the first use of the value: an agent that repeats itself a thousand times is asked about once."""
        found = self._known(form, argument, first)
        if found is not None:
            return found
        if argument.program:
            return Origin("unknown", "program")
        found = self._derived(form, argument, first)
        if found is not None:
            return found
        if argument.free_text and " " in form:
            return Origin("unknown", "composed_text")
        if not self.record.transcript_complete:
            return Origin("unknown", "unobserved")
        if argument.worked_out or bits(form) < _TELLS_LITTLE or date_of(form) is not None:
            return Origin("unknown", "none")
        return Origin("invented", "invented")

    def _known(self, form: str, argument: Argument, at: CallRecord) -> Origin | None:
        for index, place in self._before(self.seen.exact.get(form, {}), at):
            shown = self.shown[index]
            if place >= self._enough(form, shown) and (
                bits(form) >= _TELLS_LITTLE or shown.origin != "result" or (shown.source, argument.key) in self.fitting
            ):
                return Origin("known", shown.origin, shown.source)
        return None

    @staticmethod
    def _enough(form: str, shown: Shown) -> Place:
        """A plain word in the middle of a sentence of a result names nothing."""
        return Place.LEAF if shown.call is not None and form.isalpha() and form.islower() else Place.WHOLE

    def _derived(self, form: str, argument: Argument, at: CallRecord) -> Origin | None:
        worth_it = bits(form) >= _TELLS_LITTLE
        if worth_it:
            for index, _ in self._before(dict.fromkeys(self.seen.loose.get(loose(form), ()), Place.WHOLE), at):
                return self._from(index, "loose")
        for kind, other in _spellings(form, argument.value):
            for index, place in self._before(self.seen.exact.get(other, {}), at):
                if place >= Place.WHOLE:
                    return self._from(index, kind)
        day = date_of(form)
        if day is not None:
            for index, _ in self._before(dict.fromkeys(self.seen.dates.get(day, ()), Place.WHOLE), at):
                return self._from(index, "date")
        if worth_it:
            for index, place in self._before(self.seen.exact.get(form, {}), at):
                if place >= Place.PART:
                    return self._from(index, "part")
        base = selected(form)
        if base is not None and bits(base) >= _TELLS_LITTLE:
            for index, place in self._before(self.seen.exact.get(base, {}), at):
                if place >= Place.WHOLE:
                    return self._from(index, "part")
        return self._joined(form, at)

    def _joined(self, form: str, at: CallRecord) -> Origin | None:
        """Put together from pieces, of which the last was shown; it must say something, or another have been shown too."""
        where = []
        for piece in pieces(form):
            places = self._before(self.seen.exact.get(piece, {}), at)
            where.append(next((index for index, place in places if place >= Place.PART), None))
        if not where or where[-1] is None:
            return None
        if bits(pieces(form)[-1]) < _TELLS_LITTLE and sum(index is not None for index in where) < 2:
            return None
        return self._from(where[-1], "joined")

    def _from(self, index: int, form: Form) -> Origin:
        shown = self.shown[index]
        return Origin("derived", shown.origin, shown.source, form)

    def _before(self, places: Mapping[int, Place], at: CallRecord) -> Iterator[tuple[int, Place]]:
        """Places in texts that had been shown when the call was decided on, in order of preference."""
        for index in sorted(places):
            shown = self.shown[index]
            if shown.call is not None and not self.turns.before(shown.call, at):
                continue
            if shown.call is None and shown.turn is not None and shown.turn >= (at.turn or 0):
                continue
            yield index, places[index]

    def _look(self, forms: Sequence[str]) -> _Seen:
        """One pass over all shown texts for everything, and a second one for what is nowhere as it stands."""
        others = {other for call, argument in self.asked for _, other in _spellings(argument.form, argument.value)}
        parts = {piece for form in forms for piece in pieces(form) if len(piece) > 1}
        parts |= {base for form in forms if (base := selected(form)) is not None}
        seen = _Seen(defaultdict(dict), defaultdict(set), defaultdict(set))
        needles = Needles([*forms, *sorted(others), *sorted(parts)])
        for index, shown in enumerate(self.shown):
            places = needles.places(shown.text)
            if shown.whole is not None and places:
                places = _kept(places, needles.places(shown.whole))
            for form, place in places.items():
                seen.exact[form][index] = place
        return seen

    def _unresolved(self) -> list[str]:
        return [
            argument.form
            for call, argument in self.asked
            if argument.form is not None
            and not argument.own_value
            and self._known(argument.form, argument, self.first.get(argument.form, call)) is None
        ]

    def _look_looser(self, forms: Sequence[str]) -> None:
        needles = Needles(f" {text} " for form in forms if (text := loose(form)))
        digits = Needles(form for form in forms if form.isdigit() and len(form) >= 6)
        days = {day for form in forms if (day := date_of(form)) is not None}
        if not needles.texts:
            return
        for index, shown in enumerate(self.shown):
            for text in needles.places(f" {loose(shown.text)} "):
                self.seen.loose[text.strip()].add(index)
            if digits.texts:
                for text, place in digits.places(grouped_digits(shown.text)).items():
                    if place >= Place.WHOLE:
                        self.seen.loose[text].add(index)
            if days:
                for day in days.intersection(dates(shown.text)):
                    self.seen.dates[day].add(index)

    def _fitting(self) -> set[tuple[str, _Key]]:
        """For values that say little: the results that have them in a fitting role, by call and argument."""
        wanted: dict[str, dict[_Key, Argument]] = defaultdict(dict)
        for _, argument in self.asked:
            if argument.form is not None and bits(argument.form) < _TELLS_LITTLE:
                wanted[argument.form][argument.key] = argument
        found: set[tuple[str, _Key]] = set()
        for call in self.record.calls if wanted else ():
            if call.actor != "agent":
                continue
            for hit in hits(call, wanted):
                found.update((call.id, key) for key, a in wanted[hit.form].items() if _fits(a, call.tool, hit.path))
        return found


def _fits(argument: Argument, tool: str, path: Sequence[str]) -> bool:
    """A field of the same name, or one that names the same thing."""
    if path and path[-1] == argument.names[-1]:
        return True
    return relation(role_of_argument(argument.tool, argument.names), role_of_field(tool, path)) == "match"


def _spellings(form: str | None, value: Any) -> Iterator[tuple[Form, str]]:
    if form is None:
        return
    for other in decoded(form):
        yield "decoded", other
    for other in formatted(value):
        yield "number", other


def _kept(view: Mapping[str, Place], wire: Mapping[str, Place]) -> dict[str, Place]:
    """A value at the edge of a cut is whole in the view only; it is a part of what the server sent."""
    return {form: min(place, max(wire.get(form, Place.PART), Place.PART)) for form, place in view.items()}


def _first_uses(calls: Iterable[CallRecord], wanted: set[str]) -> dict[str, CallRecord]:
    found: dict[str, CallRecord] = {}
    for call in calls:
        if call.actor != "agent":
            continue
        todo: list[Any] = list(call.arguments.values())
        while todo:
            item = todo.pop()
            if isinstance(item, Mapping):
                todo.extend(item.values())
            elif isinstance(item, list | tuple):
                todo.extend(item)
            else:
                form = exact(item)
                for text in (form, *(_TOKEN.findall(form) if isinstance(item, str) and form is not None else ())):
                    if text in wanted:
                        found.setdefault(text, call)
    return found
