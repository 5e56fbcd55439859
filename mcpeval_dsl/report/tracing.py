"""Report: where the arguments of a failing call came from, one line each, in words.

`LEG-102: harvest legacy, named by list_issues (c1)`: first what the agent had been shown, then what the server had said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from mcpeval_dsl.gateway.model import CallRecord
from mcpeval_dsl.records.model import ArgumentTrace

Calls = Mapping[str, CallRecord]
_SAID = {
    "prompt": "the prompt",
    "system": "the system prompt",
    "instructions": "instructions of the server",
    "catalogue": "the description of",
    "schema": "the tool's own schema",
    "native": "a tool of the host's own",
    "program": "a part of the agent's program",
    "composed_text": "the agent's own words",
    "invented": "invented",
    "unobserved": "from where cannot be said: the harness did not see all that the agent saw",
    "none": "unknown from where",
}
_FORMS = {
    "loose": "in another spelling",
    "decoded": "in another encoding",
    "date": "as a date in another form",
    "number": "as a number in another form",
    "part": "as a part of it",
    "joined": "put together from",
}


def marks(traces: Iterable[ArgumentTrace], calls: Calls) -> Iterator[tuple[str, str]]:
    """The failing call and a line for each decisive argument; those that no error speaks of are left out."""
    for trace in traces:
        if trace.decisive:
            yield trace.call, _mark(trace, calls)


def said(trace: ArgumentTrace, calls: Calls) -> str:
    """Where the value came from, and who named it."""
    came, named = _came_from(trace, calls), _named_by(trace, calls)
    if came and named and trace.source == trace.vouched_by and trace.verdict == "known":
        came = ""
    return ", ".join(part for part in (came, named) if part)


def _mark(trace: ArgumentTrace, calls: Calls) -> str:
    return f"{trace.value}: {said(trace, calls)}"


def _came_from(trace: ArgumentTrace, calls: Calls) -> str:
    if trace.origin == "harvest":
        where = f"harvest {trace.source}"
    elif trace.origin == "result":
        where = f"a result of {_call(trace.source, calls)}"
    else:
        where = " ".join(part for part in (_SAID.get(trace.origin, trace.origin), trace.source) if part)
    if trace.verdict != "derived":
        return where
    form = _FORMS.get(trace.form, trace.form)
    return f"{form} {where}" if trace.form == "joined" else f"{where}, {form}"


def _named_by(trace: ArgumentTrace, calls: Calls) -> str:
    if trace.vouched_by is None:
        return ""
    call = f"{trace.vouched_tool} ({trace.vouched_by})"
    words = {
        "strong": f"named by {call}",
        "to_replay": f"named by {call}, with a write since",
        "hint": f"only mentioned by {call}",
    }
    return words.get(trace.vouch, "")


def _call(name: str, calls: Calls) -> str:
    call = calls.get(name)
    return f"{call.tool} ({name})" if call is not None else name
