"""Interchange: sessions of Codex: rollouts under `~/.codex/sessions`, and what `codex exec --json` says."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from mcpeval_dsl.interchange.transcripts.session import Called, Session, split_name, text_of

RECORDER = "Codex"
_ITEMS = ("session_meta", "response_item", "event_msg", "turn_context")


def is_this(line: dict[str, Any]) -> bool:
    kind = line.get("type")
    return (kind in _ITEMS and isinstance(line.get("payload"), dict)) or kind in ("thread.started", "item.completed")


def read(lines: Iterable[tuple[int, dict[str, Any]]], session: Session) -> None:
    """Two logs stand in one file; calls and messages are taken from whichever has them, each once."""
    events = list(lines)
    payloads = [line.get("payload") for _, line in events if line.get("type") == "event_msg"]
    told = {str(each.get("type")) for each in payloads if isinstance(each, dict)}
    reader = _Reader(session, ends="mcp_tool_call_end" in told, messages="user_message" in told)
    for number, line in events:
        payload = line.get("payload")
        if line.get("type") == "item.completed" and isinstance(line.get("item"), dict):
            reader.item(line["item"], number)
        elif line.get("type") == "item.started" and isinstance(line.get("item"), dict):
            reader.started(line["item"], number)
        elif isinstance(payload, dict):
            reader.line(str(line.get("type")), payload, number)


class _Reader:
    """`began` has the line at which a call began and its arguments, by its id: some versions name them nowhere else."""

    def __init__(self, session: Session, *, ends: bool, messages: bool) -> None:
        self.session, self.ends, self.messages = session, ends, messages
        self.waiting: dict[str, Called] = {}
        self.began: dict[str, tuple[int, dict[str, Any]]] = {}

    def line(self, kind: str, payload: dict[str, Any], number: int) -> None:
        what = payload.get("type")
        if kind == "turn_context":
            self.session.model = str(payload.get("model") or self.session.model)
        elif kind == "event_msg":
            self._event(str(what), payload, number)
        elif kind == "response_item" and what == "message":
            self._message(payload, number)
        elif kind == "response_item" and what == "function_call":
            self._call(payload, number)
        elif kind == "response_item" and what == "function_call_output":
            self._output(payload, number)

    def _event(self, what: str, payload: dict[str, Any], number: int) -> None:
        if what == "user_message":
            self._user(str(payload.get("message") or ""), number)
        elif what == "agent_message":
            self.session.answer(str(payload.get("message") or ""))
        elif what == "mcp_tool_call_begin":
            invocation = payload.get("invocation")
            arguments = invocation.get("arguments") if isinstance(invocation, dict) else None
            self._begin(payload.get("call_id"), number, arguments)
        elif what == "mcp_tool_call_end":
            self._end(payload, number)

    def item(self, item: dict[str, Any], number: int) -> None:
        """A whole item of `codex exec --json`."""
        if item.get("type") == "agent_message":
            self.session.answer(str(item.get("text") or ""))
        elif item.get("type") == "mcp_tool_call":
            begin, _ = self.began.get(str(item.get("id")), (number, {}))
            arguments = _object(item.get("arguments"))
            called = Called(str(item.get("server")), str(item.get("tool")), arguments, number, begin, number)
            _result(called, item.get("result"), item.get("error"))
            self.session.call(called)
        elif item.get("type") == "command_execution":
            self.session.other += 1

    def started(self, item: dict[str, Any], number: int) -> None:
        self._begin(item.get("id"), number, item.get("arguments"))

    def _begin(self, call: Any, number: int, arguments: Any) -> None:
        self.began.setdefault(str(call), (number, _object(arguments)))

    def _user(self, text: str, number: int) -> None:
        if text.strip():
            self.session.begin(text, number)

    def _message(self, payload: dict[str, Any], number: int) -> None:
        text = text_of(payload.get("content"))
        if payload.get("role") == "assistant":
            self.session.answer(text)
        elif payload.get("role") == "user" and not self.messages and not text.lstrip().startswith("<"):
            self._user(text, number)

    def _call(self, payload: dict[str, Any], number: int) -> None:
        self._begin(payload.get("call_id"), number, payload.get("arguments"))
        if self.ends:
            return
        name = str(payload.get("name", ""))
        space = payload.get("namespace")
        found = split_name(f"{space}__{name}" if isinstance(space, str) and space else name)
        if found is None:
            self.session.other += 1
            return
        called = Called(found[0], found[1].lstrip("_"), _object(payload.get("arguments")), number, number, number)
        self.session.call(called)
        self.waiting[str(payload.get("call_id"))] = called

    def _output(self, payload: dict[str, Any], number: int) -> None:
        called = self.waiting.pop(str(payload.get("call_id")), None)
        if called is not None:
            called.text, called.answered, called.end = text_of(payload.get("output")), True, number

    def _end(self, payload: dict[str, Any], number: int) -> None:
        invocation = payload.get("invocation")
        if not isinstance(invocation, dict):
            return
        begin, arguments = self.began.get(str(payload.get("call_id")), (number, {}))
        given = _object(invocation.get("arguments")) or arguments
        called = Called(str(invocation.get("server")), str(invocation.get("tool")), given, number, begin, number)
        result = payload.get("result")
        wrapped = result if isinstance(result, dict) else {}
        error = payload.get("error") or wrapped.get("Err", wrapped.get("err"))
        _result(called, wrapped.get("Ok", wrapped.get("ok", wrapped)), error)
        self.session.call(called)


def _result(called: Called, result: Any, error: Any) -> None:
    called.answered = True
    if error:
        called.is_error, called.text = True, text_of(error) if isinstance(error, list | dict) else str(error)
        return
    if isinstance(result, dict):
        called.text = text_of(result.get("content"))
        called.structured = result.get("structuredContent", result.get("structured_content"))
        called.is_error = bool(result.get("isError", result.get("is_error")))


def _object(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, dict) else {}
