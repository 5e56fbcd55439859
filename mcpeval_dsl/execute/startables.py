"""What a plan would start or connect to, as data: the thing that is trusted or not, before anything happens."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path

from mcpeval_dsl.execute.environ import search_path
from mcpeval_dsl.execute.steps import beside_spec
from mcpeval_dsl.gateway.sandbox import Sandbox
from mcpeval_dsl.plan.keys import digest
from mcpeval_dsl.plan.model import Plan
from mcpeval_dsl.semantics.expressions import (
    Command,
    Expression,
    Http,
    Literal,
    Ref,
    RunStep,
    Select,
    StartStep,
    Template,
)
from mcpeval_dsl.semantics.graders import CommandVerdict, Python
from mcpeval_dsl.semantics.hosts import EVERYTHING
from mcpeval_dsl.semantics.task_parts import all_graders

KINDS = ("none", "landlock", "bwrap")
"""Of sandboxes, from weak to strong."""
PROGRAMS = ("server", "run", "start", "command", "python")


@dataclass(frozen=True, slots=True)
class Startable:
    """`words` as the spec writes them (templates unrendered); `binary` is what the first word resolves to now.

    `where` are the lets that the words depend on; `meaning` is a digest of words and lets as they were understood.
    `sandbox` is its kind, `network` what it may reach inside: hosts as the spec lists them, or `all`.
    """

    what: str
    words: tuple[str, ...]
    binary: str = ""
    variables: tuple[str, ...] = ()
    sandbox: str = "none"
    folder: str = ""
    where: tuple[tuple[str, str], ...] = ()
    meaning: str = ""
    network: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """Identity under which it is trusted: exact words and what they depend on, binary, folder, variables, sandbox."""
        data = [self.what, self.words, self.binary, self.variables, self.sandbox, self.folder, self.meaning]
        data += [self.network] if self.sandbox != "none" else []
        return hashlib.sha256(json.dumps(data, ensure_ascii=False).encode()).hexdigest()

    @property
    def trusted_by(self) -> tuple[str, ...]:
        """The digests that stand for it: who trusts a program in a weaker sandbox trusts it in a stronger one."""
        weaker = KINDS[: KINDS.index(self.sandbox) + 1]
        profiles = [(kind, network) for kind in weaker for network in (self.network, (EVERYTHING,))]
        return tuple(dict.fromkeys(replace(self, sandbox=kind, network=network).digest for kind, network in profiles))

    def shown(self) -> str:
        """One line for the question that is asked before it is trusted."""
        line = " ".join(_quoted(word) for word in self.words)
        extra = f"   with {', '.join(self.variables)}" if self.variables else ""
        where = "".join(f"   where {name} = {_quoted(value)}" for name, value in self.where)
        return f"{self.what:<9} {line}{extra}{where}{self._confined()}"

    def _confined(self) -> str:
        """How it is confined, said plainly; of what mcpe itself asks there is nothing to say."""
        if not _is_program(self):
            return ""
        if self.sandbox == "none":
            return "   not confined: it may do and reach all that you may"
        over = " over TCP" if self.sandbox == "landlock" else ""
        if EVERYTHING in self.network:
            return f"   in {self.sandbox}, may reach any host"
        hosts = f"may reach {', '.join(self.network)}" if self.network else "no network"
        return f"   in {self.sandbox}, {hosts}{over}"


def startables(plan: Plan, spec_folder: Path, sandbox: Sandbox | None = None) -> tuple[Startable, ...]:
    """Everything the plan can start, without doubles, in order of the spec. Without a sandbox nothing is confined."""
    return _confined(_all(plan, spec_folder), plan, sandbox)


def of_grading(plan: Plan, spec_folder: Path, sandbox: Sandbox | None = None) -> tuple[Startable, ...]:
    """The part of them that grading a trial again starts: what it reads of servers is on record, and judges are asked."""
    lets = {let.name: let.value for let in plan.lets}
    graders = [grader for task in plan.tasks for grader in all_graders(task)]
    found: list[Startable] = []
    for grader in graders:
        if isinstance(grader, CommandVerdict):
            found.append(_program("command", grader.argv, spec_folder, lets))
        elif isinstance(grader, Python):
            found.append(Startable("python", (grader.function,), folder=str(spec_folder)))
    return _confined(found, plan, sandbox)


def _confined(found: Iterable[Startable], plan: Plan, sandbox: Sandbox | None) -> tuple[Startable, ...]:
    if sandbox is None or sandbox.kind == "none":
        return tuple(dict.fromkeys(found))
    return tuple(dict.fromkeys(_confined_by(sandbox, plan, item) for item in found))


def _confined_by(sandbox: Sandbox, plan: Plan, item: Startable) -> Startable:
    """An environment's hosts are for all that is started in its trials; which one that will be is not known here."""
    if not _is_program(item):
        return item
    hosts = {host for environment in plan.environments for host in environment.network}
    if item.what == "run":
        hosts |= {host for server in plan.servers if server.prepare is not None for host in server.prepare.network}
    hosts |= set(item.network)
    if sandbox.network is not None:
        hosts = {EVERYTHING} if sandbox.network else set()
    network = (EVERYTHING,) if EVERYTHING in hosts else tuple(sorted(hosts))
    return replace(item, sandbox=sandbox.kind, network=network)


def _is_program(item: Startable) -> bool:
    return item.what in PROGRAMS or (item.what == "agent" and bool(item.binary))


def hosts_of(items: Iterable[Startable]) -> frozenset[str]:
    """Hosts that the spec writes out in its `http(…)` sources: those, and this machine, may be asked."""
    found = (re.match(r"https?://([^/{}\s:]+)", item.words[1], re.IGNORECASE) for item in items if item.what == "http")
    return frozenset(match.group(1).lower() for match in found if match)


def _all(plan: Plan, folder: Path) -> Iterator[Startable]:
    lets = {let.name: let.value for let in plan.lets}
    shared = {name for environment in plan.environments for name in (variable.name for variable in environment.env)}
    for server in plan.servers:
        names = tuple(sorted({variable.name for variable in server.env} | shared))
        if server.url is not None:
            headers = tuple(sorted(header.name for header in server.headers))
            yield _startable("connect", (server.url,), folder, lets, headers)
        else:
            program = _program("server", server.argv, folder, lets, names)
            yield replace(program, network=server.network)
    yield from _of_arms(plan, folder, lets)
    for node in inside((plan.servers, plan.environments, plan.lets, plan.harvests, plan.tasks, plan.checks)):
        match node:
            case RunStep() | StartStep():
                yield _program(node.kind, node.argv, folder, lets)
            case Command() | CommandVerdict():
                yield _program("command", node.argv, folder, lets)
            case Http():
                yield _startable("http", (node.method, node.url), folder, lets)
            case Python():
                yield Startable("python", (node.function,), folder=str(folder))
            case _:
                pass


def _of_arms(plan: Plan, folder: Path, lets: Mapping[str, Expression]) -> Iterator[Startable]:
    """What an agent may start or ask by itself, in the arms of the plan's trials."""
    used = {cell.arm for cell in plan.cells}
    for arm in plan.arms if plan.nodes else ():
        if arm.name not in used:
            continue
        for name in arm.shell:
            found = shutil.which(beside_spec(name, folder, program=True), path=search_path()) or ""
            yield Startable("agent", (name, "…"), found, folder=str(folder))
        if arm.api is not None:
            routes = " ".join(route.method for route in arm.api.routes) or "GET"
            headers = tuple(sorted(entry.key for entry in arm.api.headers))
            asked = _startable("agent", (Literal(routes), arm.api.url), folder, lets, headers)
            paths = digest(arm.api)
            yield replace(asked, meaning=f"{asked.meaning}{paths}")


def inside(value: object) -> Iterator[object]:
    """Every typed value in a value, in order of the text: whatever a spec can say, nothing in it is overlooked."""
    todo: list[object] = [value]
    while todo:
        node = todo.pop()
        if isinstance(node, tuple | list):
            todo.extend(reversed(node))
        elif is_dataclass(node):
            yield node
            todo.extend(reversed([getattr(node, field.name) for field in fields(node)]))


def _program(
    what: str, argv: Sequence[Expression], folder: Path, lets: Mapping[str, Expression], names: tuple[str, ...] = ()
) -> Startable:
    first = beside_spec(_word(argv[0]), folder, program=True) if argv else ""
    found = _startable(what, argv, folder, lets, names)
    return replace(found, binary=shutil.which(first, path=search_path()) or "")


def _startable(
    what: str, words: Sequence[Expression], folder: Path, lets: Mapping[str, Expression], names: tuple[str, ...] = ()
) -> Startable:
    used = _lets_in(tuple(words), lets)
    where = tuple((name, _word(lets[name])) for name in used)
    meaning = digest((tuple(words), [(name, lets[name]) for name in used]))
    return Startable(
        what, tuple(_word(word) for word in words), "", names, folder=str(folder), where=where, meaning=meaning
    )


def _lets_in(value: object, lets: Mapping[str, Expression]) -> tuple[str, ...]:
    """Names of the lets that a value depends on, also through other lets."""
    found: dict[str, None] = {}
    todo = [value]
    while todo:
        for node in inside(todo.pop()):
            names: Sequence[object] = ()
            if isinstance(node, Template | Select):
                names = node.names
            elif isinstance(node, Ref):
                names = node.path[:1]
            for name in names:
                if isinstance(name, str) and name in lets and name not in found:
                    found[name] = None
                    todo.append(lets[name])
    return tuple(found)


def _word(expression: Expression) -> str:
    match expression:
        case Literal():
            return str(expression.value)
        case Template():
            return expression.text
        case Ref():
            return "{{ " + ".".join(str(part) for part in expression.path) + " }}"
        case _:
            return "{{ … }}"


def _quoted(word: str) -> str:
    return word if word and not any(c.isspace() or c in "'\"" for c in word) else json.dumps(word, ensure_ascii=False)
