"""Score: may two runs be compared at all? What should be equal and is not is named; what may be under test is a change.

A comparison of runs that differ in their tasks, graders or agents would blame the server for it. Each such difference has a
name that a user can accept; with several accepted no cause is named.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import PurePosixPath

from mcpeval_dsl.execute.manifest import PACKED_SUFFIXES, SCRIPT_SUFFIXES
from mcpeval_dsl.plan.keys import digest
from mcpeval_dsl.plan.model import Plan
from mcpeval_dsl.score.sides import Side, matched_cells
from mcpeval_dsl.semantics.model import Environment, Server, Task

NAMES = (
    *("tasks", "graders", "fixtures", "harvests", "environments", "catalogue", "models", "hosts", "arms"),
    *("identities", "network", "timeouts", "limits", "repeats"),
)
_GRADING = ("graders", "conditionals", "truths", "expect", "reference")
_UNSEEN = ("tags", "cluster", "source", "difficulty", "purpose", "trials", "known_failures", "unsupported")
_LIMITS = ("budget", "budget_per_turn")
_SHOWN = 4


@dataclass(frozen=True, slots=True)
class Named:
    """A difference: its name, as `--accept` takes it, and what differs."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Changed:
    """What of the servers is not as it was: `artefact`, `version`, `descriptions`, `schemas`, `tools`, `authentication`."""

    component: str
    server: str
    text: str


def differences(this: Side, other: Side) -> list[Named]:
    """Everything that should be equal and is not, in a fixed order."""
    one, two = this.plan, other.plan
    found = [
        *_of_tasks(one, two),
        *_listed("fixtures", _files(one), _files(two)),
        *_listed("harvests", _harvests(one), _harvests(two)),
        *_environments("environments", one, two, lambda e: [e.steps, e.teardown, e.needs, e.scope, e.lock]),
        *_catalogue(this, other),
        *_agents(one, two),
        *_answered(this, other),
        *_of_servers("identities", one, two, lambda server: server.env),
        *_environments("identities", one, two, lambda environment: environment.env),
        *_of_servers("network", one, two, lambda server: server.network),
        *_environments("network", one, two, lambda environment: environment.network),
        *_of_servers("timeouts", one, two, lambda server: server.timeout),
    ]
    repeated = [bool(side.repeats) for side in (this, other)]
    if repeated[0] != repeated[1]:
        found.append(Named("repeats", "only one of the two plays trials back from a cache or a stored run"))
    merged: dict[str, list[str]] = {}
    for difference in found:
        merged.setdefault(difference.name, []).append(difference.text)
    return [Named(name, "; ".join(dict.fromkeys(merged[name]))) for name in NAMES if name in merged]


def _of_tasks(one: Plan, two: Plan) -> Iterator[Named]:
    before = {task.name: task for task in two.tasks}
    parts: Mapping[str, Callable[[Plan, Task], str]] = {
        "tasks": lambda plan, task: digest(_task_itself(task)),
        "graders": lambda plan, task: digest([plan.suite.judge, [getattr(task, name) for name in _GRADING]]),
        "limits": lambda plan, task: digest([getattr(task, name, None) for name in _LIMITS]),
    }
    for name, part in parts.items():
        changed = [
            task.name for task in one.tasks if task.name in before and part(one, task) != part(two, before[task.name])
        ]
        if changed:
            yield Named(name, _shown(changed))


def _task_itself(task: Task) -> dict[str, object]:
    """What is asked and allowed, without what only graders, groupings and limits are made of."""
    left_out = {*_GRADING, *_UNSEEN, *_LIMITS, "at", "title"}
    return {field.name: getattr(task, field.name) for field in fields(task) if field.name not in left_out}


def _files(plan: Plan) -> dict[str, str]:
    scripts = {model.target for model in plan.models}
    programs = set(_programs(plan))
    return {
        entry.path: entry.sha256
        for entry in plan.fixtures
        if entry.path not in programs and not _is_script(entry.path, scripts)
    }


def _programs(plan: Plan) -> Iterator[str]:
    """Files of the project that servers are started from: those are under test, and a change of the artefact."""
    folder = PurePosixPath(plan.suite.spec).parent
    for server in plan.servers:
        for word in server.argv:
            text = getattr(word, "value", None)
            if isinstance(text, str) and text.endswith((*SCRIPT_SUFFIXES, *PACKED_SUFFIXES)):
                yield posixpath.normpath(folder / text)


def _is_script(path: str, scripts: set[str]) -> bool:
    return any(path == script or path.endswith("/" + script.removeprefix("./")) for script in scripts)


def _listed(name: str, one: Mapping[str, str], two: Mapping[str, str]) -> Iterator[Named]:
    changed = [key for key in dict.fromkeys((*one, *two)) if one.get(key) != two.get(key)]
    if changed:
        yield Named(name, _shown(changed))


def _agents(one: Plan, two: Plan) -> Iterator[Named]:
    """Settings of the models, hosts and arms of the cells that stand against each other."""
    cells = {cell.id: cell for cell in one.cells}, {cell.id: cell for cell in two.cells}
    sides = [
        (
            {model.name: digest([model, _script_of(plan, model.target)]) for model in plan.models},
            {host.name: digest(host) for host in plan.hosts},
            {arm.name: digest(arm) for arm in plan.arms},
        )
        for plan in (one, two)
    ]
    for at, name in enumerate(("models", "hosts", "arms")):
        changed = []
        for cell, match in matched_cells(one, two).items():
            member = getattr(cells[0][cell], name[:-1]), getattr(cells[1][match], name[:-1])
            values = [side[at].get(str(each)) for side, each in zip(sides, member, strict=True)]
            if member[0] != member[1]:
                changed.append(f"{member[0]} and {member[1]}")
            elif values[0] != values[1]:
                script = at == 0 and _only_script(one, two, str(member[0]))
                changed.append(f"the script of {member[0]}" if script else str(member[0]))
        if changed:
            yield Named(name, _shown(changed))


def _answered(this: Side, other: Side) -> Iterator[Named]:
    """The provider's own names of what answered: a name in the spec may stand for another model than it did."""
    changed = []
    for cell, match in matched_cells(this.plan, other.plan).items():
        now, then = this.answered.get(cell, ()), other.answered.get(match, ())
        if now and then and set(now) != set(then):
            changed.append(f"{', '.join(sorted(now))} answered, and before {', '.join(sorted(then))}")
    if changed:
        yield Named("models", _shown(changed))


def _only_script(one: Plan, two: Plan, name: str) -> bool:
    """The model is set up as it was, and its script is another one."""
    settings = [digest(model) for plan in (one, two) for model in plan.models if model.name == name]
    return len(settings) == 2 and settings[0] == settings[1]


def _script_of(plan: Plan, target: str) -> str:
    return next((entry.sha256 for entry in plan.fixtures if _is_script(entry.path, {target})), "")


def _of_servers(name: str, one: Plan, two: Plan, read: Callable[[Server], object]) -> Iterator[Named]:
    before = {server.name: server for server in two.servers}
    changed = [
        server.name
        for server in one.servers
        if server.name in before and digest(read(server)) != digest(read(before[server.name]))
    ]
    if changed:
        yield Named(name, _shown(changed))


def _environments(name: str, one: Plan, two: Plan, read: Callable[[Environment], object]) -> Iterator[Named]:
    yield from _listed(name, *({e.name: digest(read(e)) for e in plan.environments} for plan in (one, two)))


def _harvests(plan: Plan) -> dict[str, str]:
    return {harvest.id: digest(harvest) for harvest in plan.harvests}


def _catalogue(this: Side, other: Side) -> Iterator[Named]:
    """A catalogue that differs although the server is the same by all that is known of it."""
    found = changes(this, other)
    explained = {change.server for change in found if change.component in ("artefact", "version")}
    rest = [c for c in found if c.component in ("descriptions", "schemas", "tools") and c.server not in explained]
    if rest:
        yield Named("catalogue", _shown([f"{change.server}: {change.text}" for change in rest]))


def changes(this: Side, other: Side) -> list[Changed]:
    """What of the servers changed between the two runs: what a comparison may be about."""
    before = {server.name: server for server in other.plan.servers}
    found = []
    for server in this.plan.servers:
        if server.name in before:
            found += [
                Changed(part, server.name, text) for part, text in _changed(server, before[server.name], this, other)
            ]
    return found


def _changed(server: Server, before: Server, this: Side, other: Side) -> Iterator[tuple[str, str]]:
    name = server.name
    started = [digest([s.argv, s.url, s.protocols]) for s in (server, before)]
    held = [side.manifest.servers.get(name) if side.manifest is not None else None for side in (this, other)]
    if started[0] != started[1] or (None not in held and held[0] != held[1]):
        yield "artefact", "another program, or another address"
    versions = [_version(side, s) for side, s in ((this, server), (other, before))]
    if None not in versions and versions[0] != versions[1]:
        yield "version", f"{versions[1] or 'no version'} → {versions[0] or 'no version'}"
    yield from _tools(name, this, other)
    if digest([server.headers, server.oauth, server.oauth_flow]) != digest(
        [before.headers, before.oauth, before.oauth_flow]
    ):
        yield "authentication", "headers or OAuth"


def _version(side: Side, server: Server) -> str | None:
    """None where it was never reached, so that nobody knows."""
    met = [record for record in side.connects if record.server == server.name]
    if met and all(record.status == "failed" for record in met):
        return None
    return next((record.version for record in met if record.version), None) or server.version or ""


def _tools(server: str, this: Side, other: Side) -> Iterator[tuple[str, str]]:
    sides = [
        {tool.name: tool for record in side.connects if record.server == server for tool in record.tools}
        for side in (this, other)
    ]
    if not sides[0] or not sides[1]:
        return
    now, then = sides
    gone, new = [t for t in then if t not in now], [t for t in now if t not in then]
    if gone or new:
        yield "tools", _shown([*(f"+{tool}" for tool in new), *(f"−{tool}" for tool in gone)])
    both = [tool for tool in now if tool in then]
    texts = [t for t in both if (now[t].description, now[t].title) != (then[t].description, then[t].title)]
    if texts:
        yield "descriptions", _shown(texts)
    schemas = [
        t
        for t in both
        if digest([now[t].input_schema, now[t].output_schema]) != digest([then[t].input_schema, then[t].output_schema])
    ]
    if schemas:
        yield "schemas", _shown(schemas)


def _shown(names: Sequence[str]) -> str:
    names = list(dict.fromkeys(names))
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
