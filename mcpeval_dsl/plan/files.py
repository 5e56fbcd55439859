"""Plan: the plan file as bytes. The same plans give the same bytes on every machine, and reading gives them back exactly."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, TypeVar

from mcpeval_dsl.diagnostics.model import Checked, Diagnostic
from mcpeval_dsl.plan.codec import Malformed, decode, encode
from mcpeval_dsl.plan.consistency import problems
from mcpeval_dsl.plan.model import PLAN_FORMAT, Lock, Plan, PlanFile

T = TypeVar("T")
_FORMATS: dict[str, str] = {"mcpe-plans": "plan file", "mcpe-plan": "plan", "mcpe-lock": "lock file"}


def write(plans: PlanFile | Plan | Iterable[Plan]) -> bytes:
    """UTF-8 JSON with sorted keys, one member of the outer levels a line, defaults left out."""
    if isinstance(plans, Plan):
        plans = PlanFile(plans=(plans,))
    elif not isinstance(plans, PlanFile):
        plans = PlanFile(plans=tuple(plans))
    return dump(plans)


def read(data: bytes, path: str = "plan.json") -> Checked[PlanFile]:
    """The plans of a file; a single plan of `mcpe-plan/1` is taken as a file of one. `path` is for messages."""
    found = load(data, path, "plan file", "MCPE573")
    if found.value is None:
        return Checked(None, found.diagnostics)
    made: Checked[PlanFile]
    if found.value.get("format") == PLAN_FORMAT:
        made = typed(Plan, found.value, path, "MCPE573", lambda plan: PlanFile(plans=(plan,)))
    elif problem := wrong_format(found.value, "mcpe-plans/1", path, "MCPE573"):
        return Checked(None, (problem,))
    else:
        made = typed(PlanFile, found.value, path, "MCPE573")
    for plan in made.value.plans if made.value is not None else ():
        if what := next(problems(plan), None):
            return Checked(None, (_broken(path, "plan file", f"plan of `{plan.suite.name}`, {what}", "MCPE573"),))
    return made


def dump(value: PlanFile | Lock) -> bytes:
    """Deterministic and fit for `git diff`: members of the first three levels stand on lines of their own."""
    return (_lines(encode(value), 0) + "\n").encode("utf-8", "surrogatepass")


def _lines(value: Any, depth: int) -> str:
    if depth >= 6 or not isinstance(value, dict | list) or not value:
        return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    inner, end = "\n" + " " * (depth + 1), "\n" + " " * depth
    if isinstance(value, list):
        return "[" + inner + ("," + inner).join(_lines(item, depth + 1) for item in value) + end + "]"
    members = (f"{json.dumps(k, ensure_ascii=False)}: {_lines(value[k], depth + 1)}" for k in sorted(value))
    return "{" + inner + ("," + inner).join(members) + end + "}"


def load(data: bytes, path: str, noun: str, code: str) -> Checked[dict[str, Any]]:
    """The JSON object in a file of ours, or what is wrong with it."""
    try:
        value = json.loads(data.decode("utf-8", "surrogatepass"))
    except UnicodeDecodeError as error:
        return Checked(None, (_broken(path, noun, f"byte {error.start} is no UTF-8", code),))
    except (ValueError, RecursionError) as error:
        where = "nested too deeply" if isinstance(error, RecursionError) else "a number has too many digits"
        where = f"line {error.lineno}" if isinstance(error, json.JSONDecodeError) else where
        what = "it is empty" if not data.strip() else f"it is no JSON ({where})"
        return Checked(None, (_broken(path, noun, what, code),))
    if not isinstance(value, dict):
        return Checked(None, (_broken(path, noun, "it is no JSON object", code),))
    return Checked(value)


def wrong_format(value: dict[str, Any], wanted: str, path: str, code: str) -> Diagnostic | None:
    """None where `format` is the one this version reads."""
    given = value.get("format")
    if given == wanted:
        return None
    noun = _FORMATS[wanted.partition("/")[0]]
    if not isinstance(given, str):
        return _broken(path, noun, "it has no `format`", code)
    name, _, version = given.partition("/")
    if name == wanted.partition("/")[0]:
        return _broken(path, noun, f"it has version {version}, and this mcpe reads {wanted}", code)
    other = _FORMATS.get(name)
    return _broken(path, noun, f"it is a {other}" if other else f"its format is `{given}`", code)


def typed(cls: type[T], value: dict[str, Any], path: str, code: str, then: Any = None) -> Checked[Any]:
    """`value` as `cls`, passed on to `then`; one diagnostic with the JSON path where it does not fit."""
    try:
        made = decode(cls, value)
    except Malformed as error:
        return Checked(None, (_broken(path, "plan file", str(error), code),))
    except RecursionError:
        return Checked(None, (_broken(path, "plan file", "it is nested too deeply", code),))
    return Checked(then(made) if then is not None else made)


def _broken(path: str, noun: str, what: str, code: str) -> Diagnostic:
    return Diagnostic(
        code=code,
        title=f"{path} is no {noun} that this mcpe can read: {what}",
        body=f"A {noun} is JSON as `mcpe compile` writes it; the schema is in `schemas/`.",
        hint="write it again with `mcpe compile`",
    )
