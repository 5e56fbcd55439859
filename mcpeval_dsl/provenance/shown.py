"""Provenance: everything that the agent of a trial was shown, in the order in which its word counts.

What was *shown* is the delivered view: a result that a host cut, or that came back after the next request was decided,
told the agent nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from mcpeval_dsl.gateway.model import CallRecord, ToolDefinition
from mcpeval_dsl.provenance.occurrences import readable
from mcpeval_dsl.records.model import TrialRecord

ShownAs = Literal["harvest", "prompt", "system", "instructions", "result", "native", "catalogue"]
_INSTRUCTIONS = re.compile(r"^Instructions of the server (?P<server>.*):$", re.MULTILINE)
_TELLING = frozenset({"description", "title", "examples", "example", "default", "enum", "const"})


@dataclass(frozen=True, slots=True)
class Shown:
    """One text. `call` is set for results; `whole` is the text on the wire where the agent saw only a part of it."""

    origin: ShownAs
    source: str
    text: str
    call: CallRecord | None = None
    whole: str | None = None
    turn: int | None = None


def all_shown(record: TrialRecord) -> list[Shown]:
    """Texts in order of preference: the first that has a value is said to be where it came from."""
    prompt = record.prompt
    found = [
        Shown("harvest", span.name.partition(".")[0].partition("[")[0], prompt[span.start : span.end])
        for span in record.prompt_spans
    ]
    found.append(Shown("prompt", "", prompt))
    # What the user said later in a dialogue was known from the model turn on that it led to.
    found.extend(Shown("prompt", "", each.said, turn=each.first - 1) for each in record.exchanges[1:])
    found.extend(_system(record.system))
    found.extend(_results(record))
    found.extend(Shown("catalogue", f"{tool.server}.{tool.name}", _words_of(tool)) for tool in record.tools)
    return found


class Turns:
    """Who could know what: by the model's own turns where the harness saw them, else by the wire's clock."""

    def __init__(self, record: TrialRecord) -> None:
        self._seen = {turn.number for turn in record.turns if turn.requests}

    def before(self, earlier: CallRecord, later: CallRecord) -> bool:
        """Whether the reply to one call had been delivered when the other was decided on."""
        if earlier.turn in self._seen and later.turn in self._seen:
            return (earlier.turn or 0) < (later.turn or 0)
        return earlier.id != later.id and earlier.at_ms + earlier.duration_ms <= later.at_ms

    def covers(self, call: CallRecord) -> bool:
        return call.turn in self._seen


def _system(text: str) -> Iterator[Shown]:
    """The task's own words, then each server's instructions."""
    marks = list(_INSTRUCTIONS.finditer(text))
    end = marks[0].start() if marks else len(text)
    yield Shown("system", "", text[:end])
    for mark, following in zip(marks, [*marks[1:], None], strict=False):
        stop = following.start() if following is not None else len(text)
        yield Shown("instructions", mark["server"], text[mark.end() : stop])


def _results(record: TrialRecord) -> Iterator[Shown]:
    views, native = _views(record)
    for call in record.calls:
        if call.actor == "agent":
            view = views.get(call.id, call.text)
            cut = view != call.text
            yield Shown("result", call.id, readable(view), call, readable(_wire_text(call)) if cut else None, call.turn)
    for turn, text in native:
        yield Shown("native", f"turn {turn}", text, turn=turn)


def _wire_text(call: CallRecord) -> str:
    if call.has_structured:
        return call.text + "\n" + json.dumps(call.structured, ensure_ascii=False, default=str)
    return call.text


def _views(record: TrialRecord) -> tuple[dict[str, str], list[tuple[int, str]]]:
    """Delivered text by id of the call; and what tools that are none of ours said, by turn."""
    waiting: dict[tuple[int | None, str, str], list[str]] = {}
    for call in record.calls:
        if call.actor == "agent":
            waiting.setdefault((call.turn, call.wire_name, _same(call.arguments)), []).append(call.id)
    views: dict[str, str] = {}
    native: list[tuple[int, str]] = []
    for turn in record.turns:
        answers = {answer.id: answer for answer in turn.answers}
        for request in turn.requests:
            answer = answers.get(request.id)
            ids = waiting.get((turn.number, request.wire_name, _same(request.arguments)))
            if answer is None:
                continue
            if ids:
                views[ids.pop(0)] = answer.text
            elif request.problem is None and not answer.is_error:
                native.append((turn.number, answer.text))
    return views, native


def _same(arguments: Mapping[str, Any]) -> str:
    return json.dumps(dict(arguments), sort_keys=True, default=str)


def _words_of(tool: ToolDefinition) -> str:
    """What a definition says in words: its descriptions, examples and values, not the names of its fields."""
    parts: list[str] = [tool.description]
    todo: list[Any] = [tool.input_schema]
    while todo:
        item = todo.pop()
        if isinstance(item, Mapping):
            parts.extend(_texts(value) for key, value in item.items() if key in _TELLING and not _is_schema(value))
            todo.extend(value for value in item.values() if isinstance(value, Mapping | list))
        elif isinstance(item, list):
            todo.extend(value for value in item if isinstance(value, Mapping | list))
    return "\n".join(parts)


def _is_schema(value: Any) -> bool:
    return isinstance(value, Mapping)


def _texts(value: Any) -> str:
    items: Sequence[Any] = value if isinstance(value, list) else [value]
    return "\n".join(str(item) for item in items if isinstance(item, str | int | float))
