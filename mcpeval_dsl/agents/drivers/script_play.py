"""Inside the script driver: one trial of a script, turn by turn."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from mcpeval_dsl.agents.drivers.script_model import Expectation, ScriptCall, Skill, Step
from mcpeval_dsl.agents.drivers.script_templates import TemplateProblem, fill_tree
from mcpeval_dsl.agents.drivers.skill import PlannedCall
from mcpeval_dsl.agents.model import Message, ModelApiError, ToolRequest, TrialContext, TurnRequest, WireTool

MAX_REPEATS = 100
MAX_PARSED_CHARS = 8_000_000


def unexpected(message: str) -> ModelApiError:
    """A script that does not fit what happens: never retried, never the agent's failure."""
    return ModelApiError("unexpected", message)


class Play:
    """Where a trial stands: its steps, the results so far, and the names templates may use.

    Only messages not seen before are read at each turn. `noise` holds ids of calls whose results scripts do not count.
    """

    def __init__(self, steps: tuple[Step, ...], skill: Skill | None, context: TrialContext, prompt: str) -> None:
        self.steps = steps
        self.skill = skill
        self.context = context
        self.position = 0
        self.turn = 0
        self.chars = 0
        self.deviations = 0
        self.noise: set[str] = set()
        self.names: dict[str, Any] = {
            "prompt": prompt,
            "user": prompt,
            "results": [],
            "task": context.task,
            "trial": context.index,
            "seed": context.seed,
            "cell": context.cell,
            "facts": dict(context.facts),
        }
        self._seen = 0
        self._repeats = 0
        self._asked: dict[str, tuple[ToolRequest, WireTool | None]] = {}
        self._named = ""
        self._latest: list[dict[str, Any]] = []

    def absorb(self, request: TurnRequest) -> None:
        """Reads the messages that came since the last turn."""
        tools = {tool.wire_name: tool for tool in request.tools}
        self.names["tools"] = [tool.tool for tool in request.tools]
        if not self._seen:
            self.chars += len(request.system) + sum(len(tool.description) + len(tool.tool) for tool in request.tools)
        for message in request.messages[self._seen :]:
            self.chars += _size(message)
            for asked in message.requests:
                self._asked[asked.id] = (asked, tools.get(asked.wire_name))
            if message.role == "tools":
                self._take(message)
            elif message.role == "user":
                self.names["user"] = message.text
        self._seen = len(request.messages)

    def _take(self, message: Message) -> None:
        self._latest = []
        for answer in message.answers:
            asked, tool = self._asked[answer.id]
            result = {
                "server": tool.server if tool else "",
                "tool": tool.tool if tool else asked.wire_name,
                "arguments": dict(asked.arguments),
                "text": answer.text,
                "is_error": answer.is_error,
                "structured": _structured(answer.text),
            }
            if answer.id not in self.noise:
                self.names["results"].append(result)
                self._latest.append(result)
        if self._latest:
            self.names["last"] = self._latest[-1]
            if self._named:
                self.names[self._named] = self._latest[0] if len(self._latest) == 1 else list(self._latest)

    def next_step(self) -> Step:
        """The step to play now; `when` and `while` decide. Raises ModelApiError when none is left."""
        while self.position < len(self.steps):
            step = self.steps[self.position]
            if self._applies(step):
                return step
            self.advance(step, skipped=True)
        where = f"after the step at {self.steps[-1].at}" if self.steps else "it has no steps"
        raise ModelApiError("exhausted", f"the script has no step left for turn {self.turn + 1} ({where})")

    def _applies(self, step: Step) -> bool:
        try:
            if step.when is not None and not step.when.evaluate(self.names):
                return False
            if step.repeat_while is None:
                return True
            if not step.repeat_while.evaluate(self.names):
                return False
        except TemplateProblem as problem:
            raise unexpected(f"{step.at}: {problem.reason}") from None
        if self._repeats >= MAX_REPEATS:
            raise unexpected(f"{step.at}: `while` still holds after {MAX_REPEATS} turns")
        self._repeats += 1
        return True

    def advance(self, step: Step, skipped: bool = False) -> None:
        """Goes past a step that was played; one with `while` stays until its condition fails."""
        if step.repeat_while is None or skipped:
            self.position += 1
            self._repeats = 0
            self.deviations = 0
        self._named = step.name if not skipped else self._named

    def check(self, expect: Expectation, step: Step, tools: Sequence[WireTool]) -> None:
        """Raises ModelApiError where what the script expects does not hold."""
        for text in expect.prompt_contains:
            if text not in self.names["prompt"]:
                raise unexpected(f"{step.at}: the prompt does not contain {text!r}")
        for text in expect.user_contains:
            if text not in self.names["user"]:
                raise unexpected(f"{step.at}: what the user said last does not contain {text!r}")
        for text in expect.result_contains:
            if not any(text in result["text"] for result in self._latest):
                raise unexpected(f"{step.at}: the last result does not contain {text!r}")
        if expect.result_is_error is not None:
            seen = any(result["is_error"] for result in self._latest)
            if seen != expect.result_is_error:
                raise unexpected(f"{step.at}: the last result is {'an' if seen else 'no'} error")
        for name in expect.tools:
            find_tool(name, tools, step)

    def plan(self, step: Step, tools: Sequence[WireTool]) -> tuple[PlannedCall, ...]:
        """The step's calls with their arguments computed. Raises TemplateProblem or ModelApiError."""
        return tuple(self._planned(call, step, tools) for call in step.calls)

    def _planned(self, call: ScriptCall, step: Step, tools: Sequence[WireTool]) -> PlannedCall:
        tool = None if call.wire else find_tool(call.tool, tools, step)
        arguments = fill_tree(call.arguments, self.names)
        if not isinstance(arguments, Mapping):
            raise TemplateProblem(f"arguments of {call.tool} are no mapping")
        return PlannedCall(tool, tool.wire_name if tool else call.tool, arguments, call.raw)

    def said(self, step: Step) -> str:
        """What the model says in this step: `text`, then the reply as text or in the answer's envelope."""
        parts = [step.text.string(self.names)] if step.text is not None else []
        if step.has_reply:
            parts.append(_reply(fill_tree(step.reply, self.names)))
        if step.refusal is not None:
            parts.append(step.refusal.string(self.names))
        return "\n\n".join(part for part in parts if part)

    def left_over(self) -> str | None:
        """What a strict script did not use, as a sentence; conditional steps may stay unused."""
        rest = [step for step in self.steps[self.position :] if step.when is None and step.repeat_while is None]
        if self.skill is not None or not rest:
            return None
        count = f"{len(rest)} steps were" if len(rest) > 1 else "1 step was"
        return f"{count} not used, the first at {rest[0].at}"


def find_tool(name: str, tools: Sequence[WireTool], step: Step) -> WireTool:
    """A tool on offer by its canonical name, `tool` or `server.tool`. Raises ModelApiError with did-you-mean."""
    from mcpeval_dsl.diagnostics.suggestions import closest

    found = [tool for tool in tools if tool.tool == name]
    found = found or [tool for tool in tools if f"{tool.server}.{tool.tool}" == name]
    if len(found) == 1:
        return found[0]
    if found:
        several = " and ".join(f"{tool.server}.{tool.tool}" for tool in found)
        raise unexpected(f"{step.at}: {name!r} could be {several}: name the server")
    near = closest(name, [tool.tool for tool in tools])
    raise unexpected(f"{step.at}: the tool {name!r} is not on offer" + (f"; did you mean {near!r}?" if near else ""))


def _reply(value: Any) -> str:
    """A text as it is; anything else in the envelope that the system prompt asks for."""
    if isinstance(value, str):
        return value
    envelope = value if isinstance(value, dict) and ("answer" in value or "refusal" in value) else {"answer": value}
    return f"```json\n{json.dumps(envelope, ensure_ascii=False)}\n```"


def _structured(text: str) -> Any:
    """JSON of a result's text, or None."""
    if len(text) > MAX_PARSED_CHARS:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _size(message: Message) -> int:
    asked = sum(
        len(json.dumps(request.arguments, default=str)) + len(request.wire_name) for request in message.requests
    )
    return len(message.text) + asked + sum(len(answer.text) for answer in message.answers)
