"""Interchange: sessions of Claude Code: JSON Lines under `~/.claude/projects`, and what `claude -p` says as stream-json."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from mcpeval_dsl.interchange.transcripts.session import Called, Session, split_name, text_of

RECORDER = "Claude Code"
_NOT_SAID = re.compile(
    r"<(?:command-|local-command|system-reminder|user-prompt|bash-|task-notification)|\[Request interrupted|Caveat:"
)


def is_this(line: dict[str, Any]) -> bool:
    message = line.get("message")
    return line.get("type") in ("user", "assistant") and isinstance(message, dict) and "content" in message


def read(lines: Iterable[tuple[int, dict[str, Any]]], session: Session) -> None:
    waiting: dict[str, Called] = {}
    first: dict[str, int] = {}
    for number, line in lines:
        message = line.get("message")
        if not is_this(line) or not isinstance(message, dict):
            continue
        if line.get("isSidechain"):
            session.sidechains += 1
            continue
        content = message.get("content")
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        blocks = [block for block in blocks if isinstance(block, dict)]
        if line["type"] == "assistant":
            began = first.setdefault(str(message.get("id") or number), number)
            session.model = str(message.get("model") or session.model)
            _assistant(session, blocks, number, began, waiting)
        else:
            _user(session, blocks, number, waiting, bool(line.get("isMeta") or line.get("isCompactSummary")))


def _assistant(
    session: Session, blocks: list[dict[str, Any]], number: int, began: int, waiting: dict[str, Called]
) -> None:
    for block in blocks:
        if block.get("type") == "text":
            session.answer(text_of(block))
        elif block.get("type") == "tool_use":
            name = split_name(str(block.get("name", "")))
            if name is None:
                session.other += 1
                continue
            given = block.get("input")
            called = Called(name[0], name[1], given if isinstance(given, dict) else {}, number, began, number)
            session.call(called)
            waiting[str(block.get("id"))] = called


def _user(session: Session, blocks: list[dict[str, Any]], number: int, waiting: dict[str, Called], meta: bool) -> None:
    texts = []
    for block in blocks:
        if block.get("type") == "tool_result":
            called = waiting.pop(str(block.get("tool_use_id")), None)
            if called is not None:
                called.text, called.is_error = text_of(block.get("content")), bool(block.get("is_error"))
                called.answered, called.end = True, number
        elif block.get("type") == "text":
            texts.append(text_of(block))
    said = "\n".join(text for text in texts if text and not _NOT_SAID.match(text.lstrip()))
    if said.strip() and not meta:
        session.begin(said, number)
