"""Before the script driver: what may stand where in a script file, checked with places and did-you-mean."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, TypeVar

from mcpeval_dsl.agents.drivers.script_file import Placed, ScriptFault, fault, members_of, read_yaml
from mcpeval_dsl.agents.drivers.script_model import Script, Skill, Step, TaskScript
from mcpeval_dsl.agents.drivers.script_step import read_step
from mcpeval_dsl.diagnostics.model import Checked, Diagnostic
from mcpeval_dsl.frozen import dataclass
from mcpeval_dsl.source import Location

T = TypeVar("T")
_FILE_KEYS = ("tasks", "skill", "about")
_TASK_KEYS = ("steps", "trials", "variants", "skill", "solution", "about")
_SKILL_KEYS = ("p_right_tool", "p_right_arguments", "p_stop_early", "p_recover")


def faults(paths: Iterable[str], read: Callable[[str], bytes]) -> Iterator[Diagnostic]:
    """What is wrong with the scripts at these paths. `read` raises OSError; a file that is not there is told of elsewhere."""
    for path in paths:
        try:
            text = read(path).decode("utf-8")
        except FileNotFoundError:
            continue
        except (OSError, UnicodeDecodeError) as error:
            title = f"the script {path} cannot be read: {_unreadable(error)}"
            yield Diagnostic("MCPE521", title, hint="name a YAML file that maps tasks to steps")
            continue
        yield from load_script(path, text).diagnostics


def _unreadable(error: OSError | UnicodeDecodeError) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "it is no UTF-8 text"
    return "it is a folder" if isinstance(error, IsADirectoryError) else error.strerror or str(error)


def load_script(path: str, text: str) -> Checked[Script]:
    """A script from its text; every mistake at its place (MCPE521 to MCPE524), all of them where they are independent."""
    found: list[Diagnostic] = []
    try:
        root = read_yaml(path, text)
        members = members_of(root, _FILE_KEYS, "script")
        if "tasks" not in members:
            raise fault("MCPE522", root.at, "a script without `tasks`", "It says for each task what the model does.")
    except ScriptFault as problem:
        return Checked(None, (problem.diagnostic,))
    skill = _collect(found, lambda: _skill(members["skill"][1])) if "skill" in members else None
    tasks: list[TaskScript] = []
    holder = members["tasks"][1]
    if not isinstance(holder.value, dict) or not holder.value:
        found.append(
            fault("MCPE522", holder.at, f"`tasks` is {holder.kind}", "It maps task names to steps.").diagnostic
        )
    else:
        for name, (at, item) in holder.value.items():
            entry = _task(name, at, item, skill is not None, found)
            if entry is not None:
                tasks.append(entry)
    if found:
        return Checked(None, tuple(found))
    return Checked(Script(path, tuple(tasks), skill))


def _collect(found: list[Diagnostic], make: Callable[[], T]) -> T | None:
    try:
        return make()
    except ScriptFault as problem:
        found.append(problem.diagnostic)
        return None


def _task(name: str, at: Location, item: Placed, skilled: bool, found: list[Diagnostic]) -> TaskScript | None:
    if isinstance(item.value, list):
        steps = _steps(item, found)
        return TaskScript(name, at, (steps,)) if steps is not None else None
    members = _collect(found, lambda: members_of(item, _TASK_KEYS, "task"))
    if members is None:
        return None
    skill = _collect(found, lambda: _skill(members["skill"][1])) if "skill" in members else None
    ways = [key for key in ("steps", "trials", "variants", "solution") if key in members]
    if not ways or (len(ways) > 1 and ways != ["steps", "trials"]):
        title = f"task {name!r} says in {len(ways)} ways what the model does"
        rule = (
            "One of `steps`, `variants`, `solution`; `trials` may stand alone or beside `steps`, for the other trials."
        )
        found.append(fault("MCPE522", at, title, rule).diagnostic)
        return None
    if "solution" in members:
        return _reference(name, at, members["solution"][1], skill, skilled, found)
    variants: list[tuple[Step, ...]] = []
    if "steps" in members:
        variants = [made for made in [_steps(members["steps"][1], found)] if made is not None]
    if "variants" in members:
        variants = _variants(members["variants"][1], found)
    trials = _trials(members["trials"][1], found) if "trials" in members else {}
    return TaskScript(name, at, tuple(variants), trials, skill)


def _reference(
    name: str, at: Location, item: Placed, skill: Skill | None, skilled: bool, found: list[Diagnostic]
) -> TaskScript | None:
    if item.value != "reference":
        rule = "`solution: reference` plays the task's own `reference` calls; anything else is written as `steps`."
        found.append(fault("MCPE522", item.at, "a `solution` that is not `reference`", rule).diagnostic)
        return None
    return TaskScript(name, at, (), {}, skill or (None if skilled else Skill()), reference=True)


def _variants(item: Placed, found: list[Diagnostic]) -> list[tuple[Step, ...]]:
    if not isinstance(item.value, list) or not item.value:
        found.append(
            fault("MCPE522", item.at, f"`variants` is {item.kind}", "It is a list of lists of steps.").diagnostic
        )
        return []
    return [made for made in (_steps(variant, found) for variant in item.value) if made is not None]


def _trials(item: Placed, found: list[Diagnostic]) -> dict[int, tuple[Step, ...]]:
    if not isinstance(item.value, dict) or not item.value:
        found.append(
            fault("MCPE522", item.at, f"`trials` is {item.kind}", "It maps trial numbers to steps.").diagnostic
        )
        return {}
    made: dict[int, tuple[Step, ...]] = {}
    for key, (at, steps) in item.value.items():
        if not re.fullmatch(r"[1-9]\d*", key):
            found.append(fault("MCPE522", at, f"{key!r} is no trial number", "Trials count from 1.").diagnostic)
            continue
        read = _steps(steps, found)
        if read is not None:
            made[int(key)] = read
    return made


def _steps(item: Placed, found: list[Diagnostic]) -> tuple[Step, ...] | None:
    """A list of steps; the last must end the turn, and none after an unconditional end can ever be reached."""
    if not isinstance(item.value, list) or not item.value:
        rule = "Steps are a list, one for each turn of the model."
        found.append(fault("MCPE522", item.at, f"steps are {item.kind} here", rule).diagnostic)
        return None
    before = len(found)
    steps = [step for step in (_collect(found, partial(read_step, step)) for step in item.value) if step]
    if len(found) > before:
        return None
    ended = _Ended()
    for step in steps:
        if step.expect.user_contains:
            ended = _Ended()
        if ended.at is not None:
            title = "a step that can never be played"
            body = f"The step at {ended.at} ends the trial, or the turn of a dialogue."
            hint = "Delete it, or give the step before it a `when`, or this one `expect: {user_contains: …}`."
            found.append(fault("MCPE524", step.at, title, body, hint).diagnostic)
            return None
        ended = ended.after(step)
    return tuple(steps)


@dataclass(frozen=True, slots=True)
class _Ended:
    """Whether a list of steps has ended for sure, and where."""

    at: Location | None = None

    def after(self, step: Step) -> _Ended:
        final = step.has_reply or step.refusal is not None or (step.error is not None and not step.error.retried)
        final = final or step.stop in ("end_turn", "max_tokens", "refusal", "content_filter", "context_overflow")
        return _Ended(step.at) if final and step.when is None and step.stop != "pause" else self


def _skill(item: Placed) -> Skill:
    members = members_of(item, _SKILL_KEYS, "skill")
    values: dict[str, Any] = {}
    for key, (_, placed) in members.items():
        value = placed.value
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
            raise fault("MCPE522", placed.at, f"`{key}` is not between 0 and 1", "It is a probability.")
        values[key] = float(value)
    return Skill(**values)
