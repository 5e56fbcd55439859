"""After the environment stands, before grading: the in-process host. Runs one trial's agent with a driver and the gateway.

Messages go round until the model answers or something ends it: the model's own stop, a limit, the gateway's word, or
trouble with the model API. Tools run only after a turn that stopped for tools.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

from mcpeval_dsl.agents.answers import extract
from mcpeval_dsl.agents.hosts.calling import ToolCaller
from mcpeval_dsl.agents.hosts.endings import api_trouble, script_trouble, termination_of
from mcpeval_dsl.agents.hosts.limits import Limits, since
from mcpeval_dsl.agents.hosts.offer import Offer
from mcpeval_dsl.agents.hosts.turns import OutOfTime, TurnTaker
from mcpeval_dsl.agents.model import (
    Answer,
    ApiTrouble,
    Assignment,
    CallTool,
    Driver,
    Exchange,
    HostProfile,
    HostResult,
    Message,
    ModelApiError,
    Said,
    Speaker,
    SpeakerFailed,
    Termination,
    Turn,
)
from mcpeval_dsl.agents.prompts import system_prompt
from mcpeval_dsl.agents.tools import PreparedTools, ToolPreparation, provider_of
from mcpeval_dsl.agents.waiting import WaitClock, clock_in_force

T = TypeVar("T")
LOOP_VERSION = "1"
_RESULT_TOO_LARGE_CHARS = 400_000
# One for the process: a host is made for each trial, and all trials of a cell offer the same tools.
_PREPARATION = ToolPreparation()


class LoopHost:
    """`agents.model.Host` for the host profile it is made with. One object serves any number of trials at once."""

    def __init__(self, profile: HostProfile) -> None:
        self.profile = profile

    async def run(
        self, assignment: Assignment, driver: Driver, call: CallTool, speaker: Speaker | None = None
    ) -> HostResult:
        """One trial; without a speaker the prompt is all that is said.

        `driver.finish` is called once at the end, whatever the end; an answered trial fails on its word."""
        profile = self.profile
        tools = _PREPARATION.prepare(
            provider_of(driver.name),
            assignment.tools,
            profile.tool_prefix,
            profile.tool_suffix,
            profile.affixes,
            deferred=profile.tool_search,
        )
        trial = _Trial(profile, assignment, driver, call, tools)
        finished = False
        try:
            await trial.converse(speaker)
            finished = True
        finally:
            problem = await driver.finish(assignment.context)
            if finished and problem and trial.termination in ("answered", "refused"):
                trial.end("model_api", script_trouble("unused_steps", problem))
        return trial.result()


class _Trial:
    """The state of one conversation."""

    def __init__(
        self, profile: HostProfile, assignment: Assignment, driver: Driver, call: CallTool, tools: PreparedTools
    ) -> None:
        self.assignment = assignment
        self.tools = tools
        self.offer = Offer(tools, assignment.native, deferred=profile.tool_search, withheld=assignment.withheld)
        self.system = system_prompt(assignment, profile)
        self.limits = Limits(assignment, profile.max_turns)
        self.caller = ToolCaller(profile, assignment.settings, self.offer, call, self.limits.elapsed_ms)
        self.turns = TurnTaker(assignment, driver, self.system, self.offer, self.limits)
        self.answer = Answer("none")
        self.termination: Termination = "answered"
        self.trouble: ApiTrouble | None = None
        self.exchanges: list[Exchange] = []

    def end(self, termination: Termination, trouble: ApiTrouble | None = None) -> None:
        self.termination = termination
        self.trouble = trouble

    async def converse(self, speaker: Speaker | None) -> None:
        """Turns of the user until an end is reached, or nothing more is said."""
        if self.tools.error is not None:
            chain = ("capability:too_many_tools",)
            return self.end("model_api", ApiTrouble("schema_refused", "before_agent", chain, self.tools.error))
        messages: list[Message] = []
        with self.turns.clock_in_force():
            try:
                said: Said | None = (
                    Said(self.assignment.prompt) if speaker is None else await self._heard(speaker.opening())
                )
                while said is not None:
                    await self._exchange(said, messages)
                    goes_on = speaker is not None and self._may_go_on()
                    said = await self._heard(speaker.reply(self.exchanges[-1])) if speaker and goes_on else None
            except SpeakerFailed as failed:
                begun = self.limits.turns > 0
                trouble = ApiTrouble(
                    failed.kind, "before_answer" if begun else "before_agent", (failed.cause,), failed.message
                )
                self.end("model_api", trouble)

    async def _heard(self, saying: Awaitable[T]) -> T:
        """What the user says; the time that takes is not the agent's."""
        with self.limits.user.running(), clock_in_force(WaitClock()):
            return await saying

    async def _exchange(self, said: Said, messages: list[Message]) -> None:
        """One turn of the user, with all the model turns it leads to."""
        before, own, first = self.limits.usage, self.limits.own_seconds(), self.limits.turns + 1
        shown = self.offer.show(said.shows)
        self.answer = Answer("none")
        if messages and not (messages[-1].text or messages[-1].requests):
            messages[-1] = Message("assistant", "(no answer)")  # providers take no empty message
        messages.append(Message("user", said.text))
        self.limits.begin_turn()
        await self._turns(messages)
        self.exchanges.append(
            Exchange(
                len(self.exchanges) + 1,
                said.text,
                said.by,
                first,
                self.limits.turns,
                self.answer,
                self.termination,
                since(before, self.limits.usage),
                1000.0 * (self.limits.own_seconds() - own),
                shown,
            )
        )

    def _may_go_on(self) -> bool:
        """After an answer, or after the agent declined in its own words; a model that stopped itself says no more."""
        declined = self.termination == "refused" and self.turns.kept[-1].stop == "end_turn"
        return self.trouble is None and (self.termination == "answered" or declined)

    async def _turns(self, messages: list[Message]) -> None:
        while True:
            stopped = self.limits.before_turn()
            if stopped is not None:
                return self.end(stopped)
            try:
                turn = await self.turns.take(messages)
            except ModelApiError as error:
                return self.end(*api_trouble(error, self.limits.turns))
            except OutOfTime:
                return self.end("hard_budget:time")
            messages.append(turn.message)
            if not await self._go_on(turn, messages):
                return None

    async def _go_on(self, turn: Turn, messages: list[Message]) -> bool:
        """Acts on how a turn stopped; False when the conversation is over."""
        number = self.limits.turns
        wants_tools = turn.stop == "tool_use" and bool(turn.message.requests)
        stopped = self.limits.after_turn() if wants_tools or turn.stop == "pause" else None
        if stopped is not None:
            self.turns.keep(turn, ())
            self.end(stopped)
            return False
        if wants_tools:
            answers, asked_to_stop = await self.caller.answer(turn.message.requests, number)
            self.turns.keep(turn, answers)
            messages.append(Message("tools", answers=answers))
            if asked_to_stop is not None:
                self.end(asked_to_stop)
            return asked_to_stop is None
        self.turns.keep(turn, ())
        if turn.stop == "pause":
            return True
        self._conclude(turn)
        return False

    def _conclude(self, turn: Turn) -> None:
        """The last turn: its text is the answer unless the model refused, or was cut off while it asked for tools."""
        text = turn.message.text
        cut_off = bool(turn.message.requests) and turn.stop != "end_turn"
        termination, trouble = termination_of(turn)
        self.end(termination, trouble)
        if turn.stop == "refusal":
            said = extract(text, "text")
            self.answer = Answer("refusal", said.text, None, False, said.reasoning, said.feedback)
        elif trouble is None and not cut_off:
            self.answer = extract(text, self.assignment.answer_form, self.assignment.answer_schema)
            if self.answer.form == "refusal" and termination == "answered":
                self.end("refused")

    def result(self) -> HostResult:
        findings = list(self.tools.findings) + self.caller.findings + self.limits.findings
        if self.caller.largest_result > _RESULT_TOO_LARGE_CHARS:
            findings.append("result_too_large")
        return HostResult(
            answer=self.answer,
            termination=self.termination,
            turns=tuple(self.turns.kept),
            usage=self.limits.usage,
            trouble=self.trouble,
            waited_ms=self.turns.waited_ms(),
            rewrites=self.tools.rewrites,
            findings=tuple(findings),
            system=self.system,
            tool_names=tuple((tool.server, tool.tool, tool.wire_name) for tool in self.tools.wire),
            native_tools=self.offer.natives,
            native_calls=self.caller.native,
            exchanges=tuple(self.exchanges),
            user_ms=1000.0 * self.limits.user.seconds(),
        )
