"""Grade, what a judge is shown: the task and what the agent said and did, as quoted data that can never be instructions.

Each piece stands between lines with a nonce that the data cannot know, and whatever looks like such a line in the data is
broken up first. The nonce follows from the trial, so the same record gives the same prompt.
"""

from __future__ import annotations

import hashlib
import json
import re

from mcpeval_dsl.grade.observe import agent_calls
from mcpeval_dsl.records.model import TrialRecord
from mcpeval_dsl.values.text import as_text

MOST_RESULT = 6_000
MOST_DATA = 240_000
_LINE = re.compile(r"={3,}", re.ASCII)


def nonce_of(record: TrialRecord, grader: str, data: str) -> str:
    """16 hexadecimal digits that do not occur in the data."""
    return nonce_for(f"{record.key}\0{record.seed}\0{grader}", data)


def nonce_for(question: str, data: str) -> str:
    """The same for any question; `question` is a text that stands for it alone."""
    attempt = 0
    while True:
        text = f"{question}\0{attempt}"
        nonce = hashlib.sha256(text.encode()).hexdigest()[:16]
        if nonce not in data:
            return nonce
        attempt += 1


def quoted(name: str, data: str, nonce: str) -> str:
    """One piece of data between its lines; rows of `=` inside are broken up so that none can pose as a line."""
    return f"=== {name} {nonce} begins ===\n{neutral(data)}\n=== {name} {nonce} ends ==="


def neutral(data: str) -> str:
    return _LINE.sub(lambda match: " ".join(match[0]), data)


def shown_to_judge(record: TrialRecord, whole: bool) -> str:
    """The answer, or with `whole` everything the agent said, called and was told; long results are cut, with a note."""
    if not whole:
        return _cut(answer_of(record), MOST_DATA)
    parts: list[str] = []
    calls = {call.id: call for call in agent_calls(record)}
    by_turn: dict[int | None, list[str]] = {}
    for call in calls.values():
        state = " (denied)" if call.permission.decision == "denied" else " (error)" if call.is_error else ""
        arguments = json.dumps(dict(call.arguments), ensure_ascii=False, default=str)
        line = f"CALL {call.server}.{call.tool} {_cut(arguments, MOST_RESULT)}\nRESULT{state}: {_cut(call.text, MOST_RESULT)}"
        by_turn.setdefault(call.turn, []).append(line)
    said = {exchange.first: exchange.said for exchange in record.exchanges}
    for turn in record.turns:
        if turn.number in said:
            parts.append(f"USER: {_cut(said[turn.number], MOST_RESULT)}")
        if turn.text:
            parts.append(f"AGENT: {_cut(turn.text, MOST_RESULT)}")
        parts += by_turn.pop(turn.number, [])
    parts += [line for lines in by_turn.values() for line in lines]
    parts.append(f"FINAL ANSWER: {answer_of(record)}")
    return _cut("\n\n".join(parts), MOST_DATA)


def told(record: TrialRecord) -> str:
    """What the agent was asked: the prompt, or the conversation up to the user's last words."""
    if len(record.exchanges) < 2:
        return record.prompt
    parts: list[str] = []
    for exchange in record.exchanges:
        parts.append(f"USER: {_cut(exchange.said, MOST_RESULT)}")
        if exchange is not record.exchanges[-1]:
            parts.append(f"AGENT: {_cut(exchange.answer.text, MOST_RESULT)}")
    return _cut("\n\n".join(parts), MOST_DATA)


def answer_of(record: TrialRecord) -> str:
    if record.answer.parsed and record.answer.structured is not None and not isinstance(record.answer.structured, str):
        return as_text(record.answer.structured)
    return record.answer.text


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    head, tail = most * 2 // 3, most // 3
    return f"{text[:head]}\n[… {len(text) - head - tail} characters left out …]\n{text[-tail:]}"
