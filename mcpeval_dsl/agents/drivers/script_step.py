"""Before the script driver: one step of a script, from YAML to data."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, get_args

from mcpeval_dsl.agents.drivers.script_file import Members, Placed, fault, members_of
from mcpeval_dsl.agents.drivers.script_model import Expectation, ScriptCall, ScriptError, Step
from mcpeval_dsl.agents.drivers.script_templates import (
    HELPERS,
    Expression,
    Template,
    TemplateProblem,
    compile_tree,
    expression,
    template,
)
from mcpeval_dsl.source import Location

if TYPE_CHECKING:
    from mcpeval_dsl.agents.model import StopReason, Usage

STEP_KEYS = (
    "expect", "when", "while", "as", "text", "reply", "call", "calls", "error", "refusal", "stop", "delay", "usage", "about",
)  # fmt: skip
ACTIONS = ("reply", "call", "calls", "error", "refusal")
ERROR_KINDS = {
    "rate": 429, "overloaded": 529, "timeout": None, "connection": None, "authentication": 401, "bad_request": 400,
    "schema_refused": 400, "malformed": 200, "not_found": 404,
}  # fmt: skip
VARIABLES = ("prompt", "user", "results", "last", "task", "trial", "seed", "cell", "tools", "facts")
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s)\Z")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def read_step(placed: Placed) -> Step:
    """One step. Raises ScriptFault."""
    members = members_of(placed, STEP_KEYS, "step")
    actions = [key for key in ACTIONS if key in members]
    if len(actions) > 1 or (not actions and "stop" not in members):
        said = " and ".join(f"`{key}`" for key in actions) or "nothing"
        rule = "A step does one thing: `reply`, `call`, `calls`, `error`, `refusal`, or `stop` alone."
        raise fault("MCPE522", placed.at, f"a step with {said} to do", rule, "Split it, or delete one of them.")
    step_at = Location(placed.at.path, placed.at.line, placed.at.column, placed.at.line, placed.at.column + 1)
    reply = members.get("reply")
    return Step(
        at=step_at,
        expect=_expectation(members["expect"][1]) if "expect" in members else Expectation(),
        when=_expression(members, "when"),
        repeat_while=_expression(members, "while"),
        name=_name(members["as"][1]) if "as" in members else "",
        text=_text(members["text"][1]) if "text" in members else None,
        reply=_tree(reply[1]) if reply else None,
        has_reply=reply is not None,
        calls=_calls(members),
        error=_error(members["error"][1]) if "error" in members else None,
        refusal=_refusal(members["refusal"][1]) if "refusal" in members else None,
        stop=_stop(members["stop"][1]) if "stop" in members else None,
        delay=_seconds(members["delay"][1]) if "delay" in members else 0.0,
        usage=_usage(members["usage"][1]) if "usage" in members else None,
    )


def _expectation(placed: Placed) -> Expectation:
    members = members_of(
        placed, ("prompt_contains", "user_contains", "result_contains", "result_is_error", "tools"), "expect"
    )
    flag = members["result_is_error"][1].value if "result_is_error" in members else None
    if flag is not None and not isinstance(flag, bool):
        raise fault("MCPE522", members["result_is_error"][1].at, "`result_is_error` is neither true nor false")
    texts = {key: _texts(item) for key, (_, item) in members.items() if key != "result_is_error"}
    return Expectation(result_is_error=flag, **texts)


def _texts(placed: Placed) -> tuple[str, ...]:
    items = placed.value if isinstance(placed.value, list) else [placed]
    for item in items:
        if not isinstance(item.value, str):
            raise fault("MCPE522", item.at, f"{item.kind} where a text is wanted", "", "Quote it.")
    return tuple(item.value for item in items)


def _calls(members: Members) -> tuple[ScriptCall, ...]:
    if "call" in members:
        return (_call(members["call"][1]),)
    if "calls" not in members:
        return ()
    placed = members["calls"][1]
    if not isinstance(placed.value, list) or not placed.value:
        raise fault("MCPE522", placed.at, f"`calls` is {placed.kind}", "It is a list of calls.", "Use `call` for one.")
    return tuple(_call(item) for item in placed.value)


def _call(placed: Placed) -> ScriptCall:
    if isinstance(placed.value, str):
        return ScriptCall(placed.value, {}, at=placed.at)
    members = members_of(placed, ("tool", "wire", "arguments", "raw_arguments"), "call")
    if ("tool" in members) == ("wire" in members):
        rule = "`tool` is the canonical name (`tool` or `server.tool`); `wire` sends a name as it is."
        raise fault("MCPE522", placed.at, "a call needs `tool`, or `wire`, and not both", rule)
    named = members["tool" if "tool" in members else "wire"][1]
    if not isinstance(named.value, str):
        raise fault("MCPE522", named.at, f"a tool's name is {named.kind} here", "", "Quote it.")
    raw = members["raw_arguments"][1].value if "raw_arguments" in members else None
    arguments = members["arguments"][1] if "arguments" in members else None
    if arguments is not None and not isinstance(arguments.value, (dict, str)):
        rule = "Arguments map names to values, or are one template that gives such a mapping."
        raise fault("MCPE522", arguments.at, f"`arguments` is {arguments.kind}", rule)
    tree = _tree(arguments) if arguments is not None else {}
    return ScriptCall(named.value, tree, "wire" in members, None if raw is None else str(raw), placed.at)


def _error(placed: Placed) -> ScriptError:
    from mcpeval_dsl.diagnostics.suggestions import closest

    known = tuple(ERROR_KINDS)
    if isinstance(placed.value, str):
        members: Members = {"kind": (placed.at, placed)}
    else:
        members = members_of(placed, ("kind", "status", "message", "retried", "waited", "deadline"), "error")
    kind = members["kind"][1] if "kind" in members else placed
    if kind.value not in ERROR_KINDS:
        near = closest(str(kind.value), known)
        hint = f"Write `{near}`." if near else ""
        raise fault("MCPE522", kind.at, "an error needs one of the known kinds", f"They are {', '.join(known)}.", hint)
    plain = {key: item.plain() for key, (_, item) in members.items()}
    retried, status = plain.get("retried", 0), plain.get("status", ERROR_KINDS[kind.value])
    if not isinstance(retried, int) or not (status is None or isinstance(status, int)):
        raise fault("MCPE522", placed.at, "`retried` and `status` are whole numbers")
    waited = _seconds(members["waited"][1]) if "waited" in members else 0.0
    return ScriptError(
        kind.value, status, str(plain.get("message", "")), retried, waited, plain.get("deadline") is True
    )


def _refusal(placed: Placed) -> Template:
    if placed.value is True:
        return template("")
    return _text(placed)


def _stop(placed: Placed) -> StopReason:
    from mcpeval_dsl.agents.model import StopReason
    from mcpeval_dsl.diagnostics.suggestions import closest

    known: tuple[StopReason, ...] = get_args(StopReason)
    for reason in known:
        if placed.value == reason:
            return reason
    near = closest(str(placed.value), known)
    raise fault(
        "MCPE522",
        placed.at,
        f"{placed.value!r} is no way to stop",
        f"They are {', '.join(known)}.",
        f"Write `{near}`." if near else "",
    )


def _seconds(placed: Placed) -> float:
    value = placed.value
    if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and 0 <= value <= 3600:
        return float(value)
    match = _DURATION.match(value) if isinstance(value, str) else None
    if match is None:
        raise fault("MCPE522", placed.at, f"{placed.kind} where a time is wanted", "Seconds, or `250ms`, `2s`.")
    return float(match.group(1)) / (1000.0 if match.group(2) == "ms" else 1.0)


MOST_USED = 10**15  # tokens or dollars: beyond any turn, and the least that sums of floats still count exactly


def _usage(placed: Placed) -> Usage:
    from mcpeval_dsl.agents.model import Usage

    keys = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "cost_usd")
    values: dict[str, Any] = {}
    for key, (_, item) in members_of(placed, keys, "usage").items():
        whole = isinstance(item.value, int) and not isinstance(item.value, bool)
        if not (whole or (key == "cost_usd" and isinstance(item.value, float))) or not 0 <= item.value < MOST_USED:
            raise fault("MCPE522", item.at, f"`{key}` is {item.kind}", f"It is a number from 0 to below {MOST_USED:,}.")
        values[key] = item.value
    return Usage(**values)


def _name(placed: Placed) -> str:
    if not isinstance(placed.value, str) or not _NAME.match(placed.value):
        raise fault("MCPE522", placed.at, "`as` needs a name", "Letters, digits and _, not beginning with a digit.")
    if placed.value in VARIABLES or placed.value in HELPERS:
        raise fault(
            "MCPE522", placed.at, f"the name {placed.value!r} is taken", "It already means something in templates."
        )
    return placed.value


def _text(placed: Placed) -> Template:
    if not isinstance(placed.value, str):
        raise fault("MCPE522", placed.at, f"{placed.kind} where a text is wanted", "", "Quote it.")
    try:
        return template(placed.value)
    except TemplateProblem as problem:
        raise fault("MCPE523", placed.at, f"a template is wrong: {problem.reason}") from None


def _expression(members: Members, key: str) -> Expression | None:
    if key not in members:
        return None
    placed = members[key][1]
    try:
        return expression(placed.value if isinstance(placed.value, str) else str(placed.value).lower())
    except TemplateProblem as problem:
        raise fault("MCPE523", placed.at, f"`{key}` is wrong: {problem.reason}") from None


def _tree(placed: Placed) -> Any:
    """A value with its templates read; a mistake is reported at the text that holds it."""
    if isinstance(placed.value, dict):
        return {key: _tree(item) for key, (_, item) in placed.value.items()}
    if isinstance(placed.value, list):
        return [_tree(item) for item in placed.value]
    return _text(placed) if isinstance(placed.value, str) else compile_tree(placed.value)
