"""Inside the script driver: an agent of a set skill. It knows the right step and sometimes does another thing.

Every draw comes from (seed, task, cell, trial, turn), so a trial's deviations are the same in every run and on every machine.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcpeval_dsl.agents.drivers.script_model import Skill
from mcpeval_dsl.agents.model import TrialContext, WireTool

GIVING_UP = "I could not find this out."
MAX_DEVIATIONS_PER_STEP = 3


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A call as it will be sent: a tool on offer (None: the wire name as it is) and its arguments."""

    tool: WireTool | None
    wire_name: str
    arguments: Mapping[str, Any]
    raw: str | None = None


def draws(context: TrialContext, turn: int) -> random.Random:
    """The dice of one turn."""
    return random.Random(f"{context.seed}|{context.task}|{context.cell}|{context.index}|{turn}")


def choose(context: TrialContext, count: int) -> int:
    """Which of `count` variants a trial plays."""
    return random.Random(f"{context.seed}|{context.task}|{context.cell}|{context.index}|variant").randrange(count)


def deviate(
    calls: Sequence[PlannedCall], tools: Sequence[WireTool], skill: Skill, dice: random.Random
) -> tuple[tuple[PlannedCall, ...], bool]:
    """The calls as this agent makes them, and whether any is not the planned one."""
    made: list[PlannedCall] = []
    for call in calls:
        right_tool = dice.random() < skill.p_right_tool
        right_arguments = dice.random() < skill.p_right_arguments
        if not right_tool:
            made.append(wrong_tool(call, tools, dice))
        elif not right_arguments:
            made.append(PlannedCall(call.tool, call.wire_name, wrong_arguments(call.arguments, dice)))
        else:
            made.append(call)
    return tuple(made), any(a is not b for a, b in zip(made, calls, strict=True))


def wrong_tool(call: PlannedCall, tools: Sequence[WireTool], dice: random.Random) -> PlannedCall:
    """Another tool on offer, with the planned arguments it also has and something for what it requires; else the call."""
    others = sorted((tool for tool in tools if tool.wire_name != call.wire_name), key=lambda tool: tool.wire_name)
    if not others:
        return call
    tool = dice.choice(others)
    properties = tool.schema.get("properties")
    known: Mapping[str, Any] = properties if isinstance(properties, Mapping) else {}
    arguments = {name: value for name, value in call.arguments.items() if name in known}
    spare = [value for value in call.arguments.values() if isinstance(value, str)]
    for name in tool.schema.get("required") or ():
        if name not in arguments:
            schema = known.get(name)
            arguments[name] = _filler(schema if isinstance(schema, Mapping) else {}, spare)
    return PlannedCall(tool, tool.wire_name, arguments)


def wrong_arguments(arguments: Mapping[str, Any], dice: random.Random) -> dict[str, Any]:
    """The arguments with one left out (one time in three) or spoilt. Without any, one that nobody asked for."""
    if not arguments:
        return {"query": "all"}
    name = dice.choice(sorted(arguments))
    made = dict(arguments)
    if dice.random() < 1 / 3:
        del made[name]
    else:
        made[name] = spoilt(made[name], dice)
    return made


def spoilt(value: Any, dice: random.Random) -> Any:
    """A value of the same type that is not the value."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + dice.choice((-1, 1, 10))
    if isinstance(value, list):
        return value[:-1] if value else ["?"]
    if isinstance(value, Mapping):
        return wrong_arguments(value, dice)
    text = value if isinstance(value, str) else json.dumps(value)
    if len(text) < 2:
        return text + "x"
    cut = dice.randrange(len(text))
    return text[:cut] + text[cut + 1 :]


def _filler(schema: Mapping[str, Any], spare: Sequence[str]) -> Any:
    """Something of the type a schema wants; a text is taken from the planned arguments where there is one."""
    options = schema.get("enum")
    if isinstance(options, list) and options:
        return options[0]
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    fillers: dict[Any, Any] = {"integer": 1, "number": 1, "boolean": True, "array": [], "object": {}, "null": None}
    return fillers[kind] if kind in fillers else (spare[0] if spare else "?")
