"""Provenance, the server's side: which earlier call vouches for what a failing call was refused?

Looked for among calls of the same server that were answered before the failing one was sent. The texts of all results
are searched once for all wanted values; only results that have one are walked.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from mcpeval_dsl.gateway.model import CallRecord, ToolDefinition
from mcpeval_dsl.provenance.arguments import Reference, references
from mcpeval_dsl.provenance.decisive import blamed, program_scope
from mcpeval_dsl.provenance.forms import exact
from mcpeval_dsl.provenance.joins import target_forms, wanted_pieces
from mcpeval_dsl.provenance.leaves import Hit, hits
from mcpeval_dsl.provenance.occurrences import Needles, readable
from mcpeval_dsl.provenance.roles import Role, role_of_argument
from mcpeval_dsl.provenance.vouching import Asked, vouches
from mcpeval_dsl.provenance.writes import may_take_away, surely_takes

Tools = Mapping[tuple[str, str], ToolDefinition]
_MOST = 64
_PROVIDERS = frozenset({"agent", "harvest", "setup"})


@dataclass(frozen=True, slots=True)
class Provider:
    """`to_replay`: something was written in between that may have taken the thing away."""

    call: CallRecord
    strength: Literal["strong", "to_replay"]


@dataclass(frozen=True, slots=True)
class _Taker:
    position: int
    call: CallRecord
    forms: frozenset[str]
    roles: tuple[Role, ...]
    surely: bool


def asked_of(call: CallRecord, tools: Tools) -> Asked:
    """The failing call with what its error speaks of."""
    tool = tools.get((call.server, call.tool))
    all_of_them = references(call, tool.input_schema if tool is not None else {})
    about, named = blamed(call, all_of_them)
    return Asked(call, about, named, (*all_of_them, *program_scope(call, about)))


class Providers:
    """Made once for a trial with everything that will be asked; each question then reads only what it concerns."""

    def __init__(self, calls: Sequence[CallRecord], asked: Iterable[Asked], tools: Tools) -> None:
        self.calls = calls
        self.position = {call.id: number for number, call in enumerate(calls)}
        self.cuts: dict[str, list[int]] = defaultdict(list)
        for number, call in enumerate(calls):
            if call.fault == "disconnect":
                self.cuts[call.server].append(number)
        wanted: set[str] = set()
        for each in asked:
            for reference in each.blamed:
                wanted.update((reference.form, *wanted_pieces(reference.form)))
        self.hits: dict[str, list[Hit]] = {}
        self.by_form: dict[str, list[int]] = defaultdict(list)
        self.takers: dict[str, list[_Taker]] = defaultdict(list)
        if not wanted:
            return
        self._look(wanted)
        for number, call in enumerate(calls):
            if may_take_away(call, tools.get((call.server, call.tool))):
                self.takers[call.server].append(_taker(number, call))

    def of(self, asked: Asked) -> Provider | None:
        """The latest call that vouches, unless what came in between certainly took the thing away."""
        end = self.position[asked.call.id]
        forms = {form for r in asked.blamed for form in (r.form, *wanted_pieces(r.form))}
        takers = self._takers_before(end, asked.call.server)
        taker = next(takers, None)
        between = False
        for number in self._latest(forms, end):
            while taker is not None and taker.position > number:
                if not _of_another(taker, asked):
                    if taker.surely:
                        return None
                    between = True
                taker = next(takers, None)
            call = self.calls[number]
            if self._may(call, asked.call) and vouches(call, self.hits.get(call.id, []), asked):
                if self._cut_between(number, end, asked.call.server):
                    return None
                if taker is not None and taker.position == number and _took(taker, asked):
                    return None
                return Provider(call, "to_replay" if between else "strong")
        return None

    def mention(self, asked: Asked, reference: Reference) -> CallRecord | None:
        """The latest call whose result has the value at all, in whatever role: a hint, never more."""
        for number in self._latest({reference.form}, self.position[asked.call.id]):
            call = self.calls[number]
            if self._may(call, asked.call) and any(hit.form == reference.form for hit in self.hits.get(call.id, ())):
                return call
        return None

    def _latest(self, forms: set[str], end: int) -> list[int]:
        """Positions before `end` of calls that have one of these, the last first; not all of a thousand alike."""
        found: set[int] = set()
        for form in forms:
            places = self.by_form.get(form, [])
            stop = bisect_left(places, end)
            found.update(places[max(0, stop - _MOST) : stop])
        return sorted(found, reverse=True)

    def _takers_before(self, end: int, server: str) -> Iterator[_Taker]:
        """The last first."""
        takers = self.takers.get(server, [])
        for number in range(bisect_left(takers, end, key=lambda taker: taker.position) - 1, -1, -1):
            yield takers[number]

    def _cut_between(self, provider: int, end: int, server: str) -> bool:
        """Whether a fault ended the session in which the value was named: what the server held in memory went with it."""
        cuts = self.cuts.get(server, [])
        after = bisect_left(cuts, provider)
        own = self.calls[provider].actor in ("agent", "setup")
        return own and after < len(cuts) and cuts[after] < end

    def _look(self, wanted: set[str]) -> None:
        spelled = {text: form for form in sorted(wanted) for text in (*_escaped(form), form)}
        needles = Needles(spelled)
        # A large float is written otherwise than the integer that it equals.
        numbers = {form for form in wanted if len(form) > 15 and form.lstrip("-").isdigit()}
        for number, call in enumerate(self.calls):
            if not _can_vouch(call):
                continue
            here = {spelled[text] for text in needles.places(_searchable(call))} | numbers
            found = hits(call, here) if here else []
            if found:
                self.hits[call.id] = found
            for form in {hit.form for hit in found} | wanted.intersection(_forms_in(call.arguments)):
                self.by_form[form].append(number)

    @staticmethod
    def _may(call: CallRecord, failing: CallRecord) -> bool:
        came_before = call.actor != "agent" or call.at_ms + call.duration_ms <= failing.at_ms
        return call.server == failing.server and came_before


def _can_vouch(call: CallRecord) -> bool:
    """What a fault, a stub or a decoy said is not the server's word."""
    ours = bool(call.fault or call.planted) or call.distractor or call.permission.decision != "allowed"
    return call.actor in _PROVIDERS and call.error is None and not ours


def _searchable(call: CallRecord) -> str:
    if call.has_structured:
        return json.dumps(call.structured, ensure_ascii=False, default=str)
    # Encoders differ in what they escape: `<`, `/`, letters beyond ASCII.
    return f"{call.text}\n{readable(call.text)}" if "\\u" in call.text or "\\/" in call.text else call.text


def _escaped(form: str) -> Iterator[str]:
    """As the value stands in JSON, with all that can be escaped, with what must be, and with quotes and backslashes alone."""
    yield json.dumps(form, ensure_ascii=True)[1:-1]
    least = json.dumps(form, ensure_ascii=False)[1:-1]
    yield least
    yield readable(least)


def _forms_in(value: Any) -> Iterable[str]:
    todo = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, Mapping):
            todo.extend(item.values())
        elif isinstance(item, list | tuple):
            todo.extend(item)
        else:
            form = exact(item)
            if form is not None:
                yield form


def _taker(position: int, call: CallRecord) -> _Taker:
    named = references(call, {})
    roles = tuple(role_of_argument(call.tool, reference.names) for reference in named)
    return _Taker(position, call, frozenset(r.form for r in named), roles, surely_takes(call))


def _of_another(taker: _Taker, asked: Asked) -> bool:
    """A call that takes away another thing of the same kind, named as such."""
    if not taker.forms or any(reference.form in taker.forms for reference in asked.references):
        return False
    wanted = (role_of_argument(asked.call.tool, reference.names) for reference in asked.blamed)
    return all(role in taker.roles for role in wanted)


def _took(taker: _Taker, asked: Asked) -> bool:
    """A call that itself takes something away does not vouch for what it took."""
    targets = target_forms(taker.call)
    return taker.surely and any(r.form in taker.forms and r.form not in targets for r in asked.blamed)
