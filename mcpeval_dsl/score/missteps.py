"""Score, beside findings: what the calls of one trial show. Each function looks at every call once."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcpeval_dsl.gateway.model import CallRecord
from mcpeval_dsl.records.model import TrialRecord
from mcpeval_dsl.score.facts import same_call
from mcpeval_dsl.score.sightings import Sighting, at_fault, cut_by_host, succeeded, tool_of

PAGES = 4
"""So many pages of one list are many."""
_PAGING = re.compile(
    r"(next|start)?(page)?(cursor|token)|page(number|index)?|next|offset|start(at|index)?|skip|after|before|marker|continuation"
)
_TRY_AGAIN = ("rate", "timeout", "crash", "closed", "resource_limit")
"""After these the same call again is what a careful agent makes."""
_WRITES = ("additive", "destructive")
_RECOVERABLE = frozenset(("validation", "not_found", "conflict", "rate", "expired", "timeout"))


def of_calls(record: TrialRecord, calls: Sequence[CallRecord], success: bool) -> Iterator[Sighting]:
    """`calls` are those of the agent; `success`: the trial passed."""
    yield from _retried(calls)
    yield from _repeated(calls)
    yield from _results(calls, cut_by_host(record.findings))
    yield from _pages(calls)
    yield from _distracted(calls)
    if not success:
        yield from _gave_up(record, calls)


def _retried(calls: Sequence[CallRecord]) -> Iterator[Sighting]:
    failed: dict[str, str] = {}
    found: dict[str, tuple[str, str]] = {}
    for call in calls:
        fault = at_fault(call) and call.error is not None and call.error.kind not in _TRY_AGAIN
        if not failed and not fault:
            continue
        key = same_call(call)
        if key in failed:
            found.setdefault(tool_of(call), (failed[key], call.id))
        if fault:
            failed.setdefault(key, call.id)
        else:
            failed.pop(key, None)
    for tool, shown in sorted(found.items()):
        yield Sighting(
            "unchanged_retry",
            f"{tool} failed and was called again with the same arguments",
            f"let the error of {tool} say what to give instead",
            shown,
        )


def _repeated(calls: Sequence[CallRecord]) -> Iterator[Sighting]:
    """The same question with the same answer. After a write the question is a new one: it verifies."""
    if len(calls) < 2:
        return
    seen: dict[tuple[str, str, int], str] = {}
    found: dict[str, tuple[str, str]] = {}
    writes = 0
    for call in calls:
        if not succeeded(call):
            continue
        written = call.permission.effect in _WRITES
        writes += written
        key = (same_call(call), "", 0) if written else (same_call(call), _answer(call), writes)
        if key in seen:
            found.setdefault(tool_of(call), (seen[key], call.id))
        seen.setdefault(key, call.id)
    for tool, shown in sorted(found.items()):
        yield Sighting(
            "repeated_call",
            f"{tool} was called again with equal arguments",
            f"say in the description of {tool} what its result holds for, or make results shorter, so that they stay in view",
            shown,
        )


def _answer(call: CallRecord) -> str:
    return json.dumps([call.text, call.structured], sort_keys=True, default=str)


def _results(calls: Sequence[CallRecord], by_host: Mapping[str, str]) -> Iterator[Sighting]:
    """`by_host`: calls of which the model saw a part alone, programs of the host among them, with their tools."""
    soft: dict[str, list[str]] = {}
    cut: dict[str, list[str]] = {}
    for name, tool in by_host.items():
        cut.setdefault(tool, []).append(name)
    for call in calls:
        if call.error is not None and call.error.error_class == "error_in_success":
            soft.setdefault(tool_of(call), []).append(call.id)
        if call.truncated and call.id not in by_host:
            cut.setdefault(tool_of(call), []).append(call.id)
    for tool in sorted(soft):
        text = f"a result of {tool} claims success and says that it failed: it should set isError"
        yield Sighting("error_in_success", text, f"set isError in {tool} where it fails", tuple(soft[tool][:3]))
    for tool in sorted(cut):
        text = f"a result of {tool} was cut: it may need a filter or pages"
        yield Sighting("cut_result", text, f"give {tool} a filter, pages or fewer fields", tuple(cut[tool][:3]))


@dataclass(slots=True)
class _Pages:
    read: set[str] = field(default_factory=set)
    calls: list[str] = field(default_factory=list)


def _pages(calls: Sequence[CallRecord]) -> Iterator[Sighting]:
    """Calls of one tool that differ in the page they ask for alone."""
    if len(calls) < PAGES:
        return
    lists: dict[str, _Pages] = {}
    for call in calls:
        if not succeeded(call):
            continue
        asked = {name: value for name, value in call.arguments.items() if _is_paging(name)}
        rest = {name: value for name, value in call.arguments.items() if name not in asked}
        pages = lists.setdefault(f"{tool_of(call)}\0{_json(rest)}", _Pages())
        page = _json(asked)
        if page not in pages.read:
            pages.read.add(page)
            pages.calls.append(call.id)
    many = {key.partition("\0")[0]: pages for key, pages in lists.items() if len(pages.calls) >= PAGES}
    for tool, pages in sorted(many.items()):
        yield Sighting(
            "many_pages",
            f"{tool} was read page by page, {PAGES} pages or more: it needs a filter",
            f"give {tool} an argument that finds what is looked for, or larger pages",
            tuple(pages.calls[:8]),
        )


def _is_paging(name: str) -> bool:
    return _PAGING.fullmatch(name.replace("_", "").replace("-", "").lower()) is not None


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def _distracted(calls: Sequence[CallRecord]) -> Iterator[Sighting]:
    for tool, names in _by_tool(call for call in calls if call.distractor):
        text = f"the distractor {tool} was called: compare its description with those of the tools that fit"
        yield Sighting("distracted", text, "say in the description of the tool that fits what only it does", names)


def _by_tool(calls: Iterable[CallRecord]) -> list[tuple[str, tuple[str, ...]]]:
    found: dict[str, list[str]] = {}
    for call in calls:
        found.setdefault(tool_of(call), []).append(call.id)
    return [(tool, tuple(found[tool][:3])) for tool in sorted(found)]


def _gave_up(record: TrialRecord, calls: Sequence[CallRecord]) -> Iterator[Sighting]:
    """The last call failed in a way that another call could have put right, and the agent stopped of its own accord."""
    last = calls[-1] if calls else None
    if last is None or last.error is None or last.distractor or record.termination not in ("answered", "refused"):
        return
    if last.error.cause not in ("server", "fault") or last.error.kind not in _RECOVERABLE:
        return
    if any(lead.call == last.id for lead in record.leads):
        return  # the server is wrong, as far as can be seen: there was nothing to recover with
    yield Sighting(
        "gave_up",
        f"an agent gave up after {tool_of(last)} failed ({last.error.kind}), which could have been recovered from",
        f"let the error of {tool_of(last)} name the next step",
        (last.id,),
    )
