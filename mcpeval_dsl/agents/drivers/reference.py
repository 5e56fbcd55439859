"""A driver without a model: plays the `reference` of each task, call by call, through the host like any agent.

It is what `mcpe selftest` tries graders with. What it says at the end is no answer: that comes from the graders.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from mcpeval_dsl.agents.model import Message, Preflight, ToolRequest, TrialContext, Turn, TurnRequest, WireTool
from mcpeval_dsl.semantics.expressions import CallStep, ForStep, Step
from mcpeval_dsl.values.evaluate import condition, evaluate
from mcpeval_dsl.values.model import EvaluationError, Scope
from mcpeval_dsl.values.sources import arguments_of

DONE = "Done."
_Calls: TypeAlias = Generator["_Wanted", str, None]


@dataclass(frozen=True, slots=True)
class _Wanted:
    server: str
    tool: str
    arguments: Mapping[str, Any]


@dataclass(slots=True)
class _Play:
    calls: _Calls | None
    number: int = 0


@dataclass(slots=True)
class ReferenceDriver:
    """`steps` by task; `catalogues` by server, where its name differs. `problems` are by trial, for people.

    The trial's names come with its context: `facts["scope"]`.
    """

    steps: Mapping[str, Sequence[Step]]
    catalogues: Mapping[str, str] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    _plays: dict[str, _Play] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return "script"

    async def preflight(self) -> Preflight:
        return Preflight(True, "", "reference", "reference/1")

    async def turn(self, request: TurnRequest) -> Turn:
        trial = request.context.trial
        play = self._plays.get(trial)
        if play is None:
            play = self._plays[trial] = _Play(self._begun(request.context))
        last = request.messages[-1]
        said = last.answers[-1].text if last.role == "tools" and last.answers else None
        try:
            wanted = self._next(play, said)
            while wanted is not None:
                tool = self._offered(wanted, request.tools)
                if tool is not None:
                    play.number += 1
                    asks = ToolRequest(f"reference_{play.number}", tool.wire_name, dict(wanted.arguments))
                    return Turn(Message("assistant", "", (asks,)), "tool_use")
                self._say(trial, f"its agents are not shown {wanted.server}.{wanted.tool}, which the reference calls")
                wanted = self._next(play, "")
        except EvaluationError as error:
            self._say(trial, f"a value of the reference is not there: {error.reason}")
        return Turn(Message("assistant", DONE), "end_turn")

    async def finish(self, context: TrialContext) -> str | None:
        self._plays.pop(context.trial, None)
        return None

    async def close(self) -> None:
        self._plays.clear()

    def _begun(self, context: TrialContext) -> _Calls:
        scope = context.facts.get("scope")
        return _performed(tuple(self.steps.get(context.task, ())), scope if isinstance(scope, Scope) else Scope({}))

    def _next(self, play: _Play, said: str | None) -> _Wanted | None:
        if play.calls is None:
            return None
        try:
            return next(play.calls) if said is None else play.calls.send(said)
        except StopIteration:
            play.calls = None
            return None

    def _offered(self, wanted: _Wanted, tools: Sequence[WireTool]) -> WireTool | None:
        named = [tool for tool in tools if tool.tool == wanted.tool]
        own = [t for t in named if wanted.server in (t.server, self.catalogues.get(t.server))]
        return own[0] if own else None

    def _say(self, trial: str, problem: str) -> None:
        self.problems.setdefault(trial, problem)


def _performed(steps: Sequence[Step], scope: Scope) -> _Calls:
    """Each call in turn; what it is sent is the text of the result, from which the names of the step are bound."""
    names = dict(scope.names)
    yield from _each(steps, replace(scope, names=names), names)


def _each(steps: Sequence[Step], scope: Scope, names: dict[str, Any]) -> _Calls:
    for step in steps:
        if isinstance(step, CallStep):
            text = yield _Wanted(step.call.server, step.call.tool, arguments_of(step.call.arguments, scope))
            if step.name is not None:
                names[step.name] = _bound(step, text, scope)
        elif isinstance(step, ForStep):
            yield from _looped(step, scope, names)


def _looped(step: ForStep, scope: Scope, names: dict[str, Any]) -> _Calls:
    rows, done = evaluate(step.over, scope), 0
    for row in rows if isinstance(rows, list) else ():
        if step.limit is not None and done >= step.limit:
            break
        names[step.variable] = row
        if step.where is not None and not condition(step.where, scope).holds:
            continue
        yield from _each(step.steps, scope, names)
        done += 1
    names.pop(step.variable, None)


def _bound(step: CallStep, text: str, scope: Scope) -> Any:
    try:
        subject = json.loads(text)
    except ValueError:
        subject = text
    if not step.bindings:
        return subject
    bound: dict[str, Any] = {}
    for entry in step.bindings:
        within = {**scope.names, **bound}
        inner = replace(scope, names=within, subject=subject, has_subject=True, subject_text=text)
        bound[entry.key] = evaluate(entry.value, inner)
    return bound


class NullDriver:
    """An agent that calls nothing and says nothing."""

    @property
    def name(self) -> str:
        return "script"

    async def preflight(self) -> Preflight:
        return Preflight(True, "", "null", "null/1")

    async def turn(self, request: TurnRequest) -> Turn:
        del request
        return Turn(Message("assistant", ""), "end_turn")

    async def finish(self, context: TrialContext) -> str | None:
        del context
        return None

    async def close(self) -> None:
        return None
