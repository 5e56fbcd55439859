"""A driver: a model that says what a script tells it to. Strict, deterministic, without a key or a network.

The format is told in docs/scripts.md. Without `skill` every step must fit and be used; with `skill` the steps are the right
way, and the agent strays from it by chance drawn from the trial's seed.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mcpeval_dsl.agents.drivers.script_form import load_script
from mcpeval_dsl.agents.drivers.script_model import Script, ScriptCall, ScriptError, Skill, Step, TaskScript
from mcpeval_dsl.agents.drivers.script_play import Play, unexpected
from mcpeval_dsl.agents.drivers.script_templates import TemplateProblem
from mcpeval_dsl.agents.drivers.skill import (
    GIVING_UP,
    MAX_DEVIATIONS_PER_STEP,
    PlannedCall,
    choose,
    deviate,
    draws,
)
from mcpeval_dsl.agents.model import (
    Message,
    ModelApiError,
    Preflight,
    StopReason,
    ToolRequest,
    TrialContext,
    Turn,
    TurnRequest,
    Usage,
)
from mcpeval_dsl.agents.waiting import waited
from mcpeval_dsl.source import Location
from mcpeval_dsl.values.regular import regular_text

DRIVER_VERSION = "script/1"


class ScriptDriver:
    """`agents.model.Driver` over one script file. `shown` is the path that messages name."""

    def __init__(self, path: Path, shown: str = "") -> None:
        self._path = path
        self._shown = shown or path.name
        self._script: Script | None = None
        self._plays: dict[str, Play] = {}

    @property
    def name(self) -> str:
        return "script"

    async def preflight(self) -> Preflight:
        """Loads the script; the first mistake in it is the problem."""
        problem = self._load()
        return Preflight(not problem, problem, f"script {self._shown}", DRIVER_VERSION)

    def _load(self) -> str:
        """Empty when the script is loaded, else what is wrong with it."""
        if self._script is not None:
            return ""
        try:
            text = regular_text(self._path)
        except OSError as error:
            return f"the script {self._shown} cannot be read: {error.strerror or error}"
        except UnicodeDecodeError:
            return f"the script {self._shown} is not UTF-8"
        checked = load_script(self._shown, text)
        if checked.value is None:
            first = checked.diagnostics[0]
            more = f" (and {len(checked.diagnostics) - 1} more)" if len(checked.diagnostics) > 1 else ""
            return f"{first.at}: {first.title} [{first.code}]. {first.body} {first.hint}".rstrip() + more
        self._script = checked.value
        return ""

    async def turn(self, request: TurnRequest) -> Turn:
        """Plays the next step of the trial's script. Raises ModelApiError: what the script says, or that it does not fit."""
        play = self._play(request)
        play.absorb(request)
        failures = _Failures()
        while True:
            step = play.next_step()
            if play.skill is None:
                play.check(step.expect, step, request.tools)
            if step.delay:
                await asyncio.sleep(step.delay)
            if step.error is None:
                break
            play.advance(step)
            failures.fail(step.error)
        play.turn += 1
        message, stop = self._speak(play, step, request)
        usage = step.usage or Usage(play.chars // 4, (len(message.text) + _asked_chars(message)) // 4, 0, 0, 0.0)
        return Turn(message, stop, usage, "scripted", failures.waited_ms, failures.retries, detail="scripted")

    def _play(self, request: TurnRequest) -> Play:
        """The trial's play; a conversation that begins again is a new one."""
        trial = request.context.trial
        if trial in self._plays and any(message.role == "assistant" for message in request.messages[:2]):
            return self._plays[trial]
        problem = self._load()
        if problem or self._script is None:
            raise unexpected(problem)
        entry = self._script.for_task(request.context.task)
        if entry is None:
            from mcpeval_dsl.diagnostics.suggestions import closest

            near = closest(request.context.task, [task.pattern for task in self._script.tasks])
            hint = f"; did you mean {near!r}?" if near else ""
            raise unexpected(f"{self._shown}: nothing is scripted for the task {request.context.task!r}{hint}")
        steps = _reference_steps(entry, request.context) if entry.reference else _chosen_steps(entry, request.context)
        prompt = request.messages[0].text if request.messages else ""
        made = Play(steps, entry.skill or self._script.skill, request.context, prompt)
        self._plays[trial] = made
        return made

    def _speak(self, play: Play, step: Step, request: TurnRequest) -> tuple[Message, StopReason]:
        """The message of a step, as the agent's skill lets it be."""
        skill = play.skill
        if skill is None:
            try:
                calls, said = play.plan(step, request.tools), play.said(step)
            except TemplateProblem as problem:
                raise unexpected(f"{step.at}: {problem.reason}") from None
            play.advance(step)
            return _message(play, calls, said, step)
        dice = draws(play.context, play.turn)
        if step.calls and dice.random() < skill.p_stop_early:
            return self._stop_early(play)
        try:
            calls, said = play.plan(step, request.tools), play.said(step)
        except TemplateProblem:
            # An earlier deviation left this agent without what it needs.
            return self._stop_early(play)
        calls, strayed = deviate(calls, request.tools, skill, dice)
        if strayed and play.deviations < MAX_DEVIATIONS_PER_STEP and self._notices(skill, dice):
            play.deviations += 1
            play.noise.update(_call_id(play, position) for position in range(len(calls)))
        else:
            play.advance(step)
        return _message(play, calls, said, step)

    def _notices(self, skill: Skill, dice: random.Random) -> bool:
        return dice.random() < skill.p_recover

    def _stop_early(self, play: Play) -> tuple[Message, StopReason]:
        """The last step's answer from what is known so far, or giving up."""
        last = play.steps[-1]
        play.position = len(play.steps)
        try:
            return Message("assistant", play.said(last) or GIVING_UP), "end_turn"
        except TemplateProblem:
            return Message("assistant", GIVING_UP), "end_turn"

    async def finish(self, context: TrialContext) -> str | None:
        """Forgets the trial; what a strict script did not use is the problem."""
        play = self._plays.pop(context.trial, None)
        return play.left_over() if play is not None else None

    async def close(self) -> None:
        self._plays.clear()


class _Failures:
    """Retries a script plays out within one turn; their waits are booked, not lived."""

    def __init__(self) -> None:
        self.waited_ms = 0.0
        self.retries = 0

    def fail(self, error: ScriptError) -> None:
        """Books a failure that is retried. Raises ModelApiError for one that is not."""
        waited(error.waited)
        self.waited_ms += error.waited * 1000.0
        self.retries += error.retried
        if not error.retried or error.deadline:
            message = error.message or f"scripted: {error.kind}"
            raise ModelApiError(error.kind, message, error.status, self.waited_ms, self.retries, error.deadline)


def _chosen_steps(entry: TaskScript, context: TrialContext) -> tuple[Step, ...]:
    if context.index in entry.trials:
        return entry.trials[context.index]
    if not entry.variants:
        raise unexpected(f"{entry.at}: nothing is scripted for trial {context.index}")
    return entry.variants[choose(context, len(entry.variants)) if len(entry.variants) > 1 else 0]


def _reference_steps(entry: TaskScript, context: TrialContext) -> tuple[Step, ...]:
    """The task's own reference calls and answer as steps. `facts`: `reference` (server, tool, arguments each), `answer`."""
    calls = context.facts.get("reference")
    if not isinstance(calls, (list, tuple)):
        raise unexpected(f"{entry.at}: the task {context.task!r} has no `reference` to play")
    steps = [Step(entry.at, calls=(_reference_call(call, entry.at),)) for call in calls]
    answer = context.facts.get("answer", "Done.")
    return (*steps, Step(entry.at, reply=answer, has_reply=True))


def _reference_call(call: Mapping[str, Any], at: Location) -> ScriptCall:
    server, tool = call.get("server"), str(call.get("tool", ""))
    return ScriptCall(f"{server}.{tool}" if server else tool, dict(call.get("arguments") or {}), at=at)


def _call_id(play: Play, position: int) -> str:
    return f"call_{play.turn}_{position + 1}"


def _message(play: Play, calls: tuple[PlannedCall, ...], said: str, step: Step) -> tuple[Message, StopReason]:
    requests = tuple(
        ToolRequest(
            _call_id(play, position),
            call.wire_name,
            {} if call.raw is not None else dict(call.arguments),
            f"not JSON: {call.raw[:80]!r}" if call.raw is not None else None,
        )
        for position, call in enumerate(calls)
    )
    usual: StopReason = "tool_use" if requests else ("refusal" if step.refusal is not None else "end_turn")
    return Message("assistant", said, requests), step.stop or usual


def _asked_chars(message: Message) -> int:
    return sum(len(json.dumps(request.arguments, default=str)) for request in message.requests)
