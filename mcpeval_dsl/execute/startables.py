"""What a plan would start or connect to, as data: the thing that is trusted or not, before anything happens."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mcpeval_dsl.execute.environ import search_path
from mcpeval_dsl.execute.steps import beside_spec
from mcpeval_dsl.plan.model import Plan
from mcpeval_dsl.semantics.expressions import (
    Command,
    Expression,
    ForStep,
    Http,
    Literal,
    Ref,
    ResetStep,
    RunStep,
    StartStep,
    Step,
    Template,
)
from mcpeval_dsl.semantics.graders import AnyOf, CommandVerdict, Grader, Judge, Python
from mcpeval_dsl.values.sources import sources_in, sources_of


@dataclass(frozen=True, slots=True)
class Startable:
    """`words` as the spec writes them (templates unrendered); `binary` is what the first word resolves to now."""

    what: str
    words: tuple[str, ...]
    binary: str = ""
    variables: tuple[str, ...] = ()
    sandbox: str = "none"
    folder: str = ""

    @property
    def digest(self) -> str:
        """Identity under which it is trusted: exact words, binary, folder, names of variables, sandbox."""
        data = [self.what, self.words, self.binary, self.variables, self.sandbox, self.folder]
        return hashlib.sha256(json.dumps(data, ensure_ascii=False).encode()).hexdigest()

    def shown(self) -> str:
        """One line for the question that is asked before it is trusted."""
        line = " ".join(_quoted(word) for word in self.words)
        extra = f"   with {', '.join(self.variables)}" if self.variables else ""
        return f"{self.what:<9} {line}{extra}"


def startables(plan: Plan, spec_folder: Path) -> tuple[Startable, ...]:
    """Everything the plan can start, without doubles, in order of the spec."""
    return tuple(dict.fromkeys(_all(plan, spec_folder)))


def hosts_of(items: Iterable[Startable]) -> frozenset[str]:
    """Hosts that the spec writes out in its `http(…)` sources: those, and this machine, may be asked."""
    found = (re.match(r"https?://([^/{}\s:]+)", item.words[1], re.IGNORECASE) for item in items if item.what == "http")
    return frozenset(match.group(1).lower() for match in found if match)


def _all(plan: Plan, folder: Path) -> Iterator[Startable]:
    shared = {name for environment in plan.environments for name in (variable.name for variable in environment.env)}
    for server in plan.servers:
        names = tuple(sorted({variable.name for variable in server.env} | shared))
        if server.url is not None:
            headers = tuple(sorted(header.name for header in server.headers))
            yield Startable("connect", (_word(server.url),), "", headers, folder=str(folder))
        else:
            yield _program("server", server.argv, folder, names)
    for environment in plan.environments:
        yield from _steps((*environment.steps, *environment.teardown), folder)
    for harvest in plan.harvests:
        yield from _source(harvest.source, folder)
    for task in plan.tasks:
        undone = [step for _, steps in task.undo for step in steps]
        yield from _steps((*task.setup, *task.teardown, *task.reference, *undone), folder)
        for source in [*(own.source for own in task.harvests), *(truth.source for truth in task.truths)]:
            yield from _source(source, folder)
        graders = [*task.graders, *(grader for extra in task.conditionals for grader in extra.graders)]
        yield from _graders(graders, folder)


def _steps(steps: Iterable[Step], folder: Path) -> Iterator[Startable]:
    for step in steps:
        match step:
            case RunStep() | StartStep():
                yield _program(step.kind, step.argv, folder)
            case ForStep():
                yield from _steps(step.steps, folder)
            case ResetStep():
                yield from _source(step.source, folder)
            case _:
                pass


def _source(source: Expression, folder: Path) -> Iterator[Startable]:
    for inner in sources_in(source):
        if isinstance(inner, Command):
            yield _program("command", inner.argv, folder)
        elif isinstance(inner, Http):
            yield Startable("http", (_word(inner.method), _word(inner.url)), folder=str(folder))


def _graders(graders: Sequence[Grader], folder: Path) -> Iterator[Startable]:
    for grader in graders:
        match grader:
            case CommandVerdict():
                yield _program("command", grader.argv, folder)
            case Python():
                yield Startable("python", (grader.function,), folder=str(folder))
            case AnyOf():
                yield from _graders(grader.graders, folder)
            case Judge():
                pass
            case _:
                for read in sources_of(grader):
                    yield from _source(read, folder)


def _program(what: str, argv: Sequence[Expression], folder: Path, names: tuple[str, ...] = ()) -> Startable:
    words = tuple(_word(word) for word in argv)
    first = beside_spec(words[0], folder, program=True) if words else ""
    return Startable(what, words, shutil.which(first, path=search_path()) or "", names, folder=str(folder))


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
