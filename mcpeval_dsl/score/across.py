"""Score, beside findings: what only several trials of one task show together.

For each task instance, arm and version of the servers this keeps the tools of trials that passed, and each different set of
tools of those that did not with the first trials that show it; of answers that a judge read, a digest. So it is linear in
calls and small.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from mcpeval_dsl.gateway.model import CallRecord
from mcpeval_dsl.records.model import TrialRecord, VerdictRecord
from mcpeval_dsl.score.alike import Alike
from mcpeval_dsl.score.rows import Row
from mcpeval_dsl.score.said import Opinion
from mcpeval_dsl.score.sightings import Sighting, tool_of
from mcpeval_dsl.semantics.graders import Judge
from mcpeval_dsl.semantics.model import Task
from mcpeval_dsl.semantics.task_parts import all_graders

SHOWN = 5
ENOUGH = 5
"""So many trials that all pass make a task a saturated one."""
Shown = TypeVar("Shown")
_OF_FORM = frozenset(("exact", "one_of", "contains", "regex", "number", "set", "json"))
_BY_OPINION = frozenset(("judge", "python", "command"))
_FASTEST_MS = 5.0
_MOST_TOKENS_PER_MS = 20.0
_OVER_THE_NETWORK = frozenset(("anthropic", "litellm"))


@dataclass(slots=True)
class Several:
    """One finding that rests on `trials` trials; `shown` are the first of them, each with its calls."""

    sighting: Sighting
    trials: int
    shown: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(slots=True)
class _Failed:
    """`shown`: place in the plan, and the trial with its first call of each tool."""

    times: int = 0
    shown: list[tuple[int, tuple[str, dict[str, str]]]] = field(default_factory=list)


@dataclass(slots=True)
class _Tools:
    """`always`: called in every trial that passed, None before one did. `failed`: tools -> how many trials, the first of them."""

    always: frozenset[str] | None = None
    ever: set[str] = field(default_factory=set)
    failed: dict[frozenset[str], _Failed] = field(default_factory=dict)


@dataclass(slots=True)
class _Task:
    """Testable trials of one task (`loops` pooled), those that passed, and the first ones."""

    name: str
    capability: bool
    testable: int = 0
    correct: int = 0
    success: int = 0
    others: int = 0
    first: list[tuple[int, str]] = field(default_factory=list)


@dataclass(slots=True)
class AcrossTrials:
    """Add the trials of the train split in order of the plan, then ask for what they show."""

    tools: dict[tuple[str, str, tuple[str, ...]], _Tools] = field(default_factory=dict)
    instances: dict[str, _Task] = field(default_factory=dict)
    tasks: dict[str, _Task] = field(default_factory=dict)
    opinions: dict[tuple[str, str, str], dict[str, str]] = field(default_factory=dict)

    def add(self, alike: Alike, capability: bool) -> None:
        """`capability`: the purpose of the task."""
        said, group, times = alike.said, alike.group, len(alike)
        for kept, name in ((self.instances, group.instance), (self.tasks, group.task)):
            seen = kept.setdefault(name, _Task(group.task, capability))
            if not said.testable:
                seen.others += times
                continue
            seen.testable += times
            # An unsafe trial fails for what was done: its task and its graders may be in order.
            if said.correct or (said.outcome is not None and said.outcome.correct):
                seen.correct += times
            seen.success += times if said.success else 0
            seen.first = first_of(seen.first, alike.named(SHOWN))
        if said.testable:
            self._add_tools(alike)
        for opinion in said.opinions:
            key = (group.instance, opinion.grader, opinion.digest)
            self.opinions.setdefault(key, {}).setdefault(opinion.verdict, alike.first)

    def _add_tools(self, alike: Alike) -> None:
        first = dict(alike.said.tools)
        called = frozenset(first)
        # Two versions of a server have the same tools under two names: neither is the wrong one.
        kept = self.tools.setdefault((alike.group.instance, alike.said.arm, alike.said.versions), _Tools())
        if alike.said.correct:
            kept.always = called if kept.always is None else kept.always & called
            kept.ever |= called
        elif first:
            failed = kept.failed.setdefault(called, _Failed())
            failed.times += len(alike)
            failed.shown = first_of(failed.shown, ((place, (name, first)) for place, name in alike.named(SHOWN)))

    def result(self) -> Iterator[Several]:
        yield from self._hopeless()
        yield from self._saturated()
        yield from self._confused()
        yield from self._of_two_minds()

    def _hopeless(self) -> Iterator[Several]:
        for name, seen in self.instances.items():
            if seen.testable > 1 and not seen.correct:
                text = f"no trial of {name} is right: look at the task and its graders first"
                change = (
                    f"try {seen.name} with `mcpe selftest`, which plays its `reference`; mend the task or its graders"
                )
                yield _of_trials("never_passed", text, change, seen)

    def _saturated(self) -> Iterator[Several]:
        for name, seen in self.tasks.items():
            if seen.capability and not seen.others and seen.testable >= ENOUGH and seen.success == seen.testable:
                text = f"every trial of {name} passes: it tells nothing apart any more"
                change = f"write `purpose regression` in task {name}, so that it guards what works, or ask for more"
                yield _of_trials("saturated", text, change, seen)

    def _confused(self) -> Iterator[Several]:
        """Called A, where every trial that passed called B and none of them A."""
        for (instance, arm, _), kept in self.tools.items():
            if not kept.always:
                continue
            pairs: dict[tuple[str, str], tuple[int, list[tuple[str, tuple[str, ...]]]]] = {}
            for called, failed in kept.failed.items():
                missed, instead = sorted(kept.always - called), sorted(called - kept.ever)
                if missed and instead:
                    pair = (instead[0], missed[0])
                    before, sights = pairs.get(pair, (0, []))
                    sights += [(trial, (first[pair[0]],)) for _, (trial, first) in failed.shown]
                    pairs[pair] = (before + failed.times, sights[:SHOWN])
            for (wrong, right), (times, sights) in pairs.items():
                where = f"{instance} in {arm}" if arm else instance
                text = f"{wrong} was called where every passing trial of {where} called {right}"
                change = f"say in the descriptions of {wrong} and {right} what tells them apart"
                yield Several(Sighting("confused_tools", text, change), times, tuple(sights))

    def _of_two_minds(self) -> Iterator[Several]:
        found: dict[tuple[str, str], tuple[int, list[str]]] = {}
        for (instance, grader, _), said in self.opinions.items():
            if len(said) > 1:
                times, shown = found.get((instance, grader), (0, []))
                found[instance, grader] = (times + len(said), (shown + sorted(said.values()))[:SHOWN])
        for (instance, grader), (times, shown) in found.items():
            text = f"grader {grader} of {instance} said yes and no to one and the same answer: it disagrees with itself"
            change = "make the claim sharper, ask the judge several times (`repeats 3`), or grade without a judge"
            yield Several(Sighting("unsteady_grader", text, change), times, tuple((trial, ()) for trial in shown))


def _of_trials(kind: str, text: str, change: str, seen: _Task) -> Several:
    return Several(Sighting(kind, text, change), seen.testable, tuple((trial, ()) for _, trial in seen.first))


def first_of(shown: list[tuple[int, Shown]], more: Iterable[tuple[int, Shown]]) -> list[tuple[int, Shown]]:
    """Those that stand first in the plan, as many as are shown. Both come in order of the plan."""
    for each in more:
        if len(shown) >= SHOWN and each[0] > shown[-1][0]:
            break
        shown = sorted([*shown, each], key=lambda one: one[0])[:SHOWN]
    return shown


def tools_of(calls: Iterable[CallRecord]) -> tuple[tuple[str, str], ...]:
    """The tools called, each with the id of its first call."""
    first: dict[str, str] = {}
    for call in calls:
        first.setdefault(tool_of(call), call.id)
    return tuple(first.items())


def opinions_of(record: TrialRecord, task: Task) -> tuple[Opinion, ...]:
    """What graders with an opinion said of the answer, or of all that was done where they read more than the answer."""
    found = []
    whole = {each.common.id for each in all_graders(task) if isinstance(each, Judge) and each.reads_whole}
    for verdict in record.verdicts:
        if verdict.kind in _BY_OPINION and verdict.verdict in ("yes", "no"):
            answer = f"{verdict.turn}\0{verdict.expected}\0{record.answer.form}\0{record.answer.text}"
            if verdict.kind != "judge" or verdict.grader in whole:
                answer += f"\0{_done(record)}"
            digest = hashlib.blake2b(answer.encode("utf-8", "replace"), digest_size=8).hexdigest()
            found.append(Opinion(grader=verdict.grader, digest=digest, verdict=verdict.verdict))
    return tuple(found)


def _done(record: TrialRecord) -> str:
    """What was said, called and answered on the way: functions, commands and some judges read it, so it may decide."""
    calls = [(c.server, c.tool, dict(c.arguments), c.text, c.structured, c.permission.decision) for c in record.calls]
    native = [(n.tool, dict(n.arguments), n.text) for n in record.native_calls]
    return json.dumps([calls, native, [turn.text for turn in record.turns]], sort_keys=True, default=str)


def of_graders(row: Row, verdicts: Iterable[VerdictRecord]) -> Iterator[Sighting]:
    """A grader of the answer's form that rejects what a judge accepts, in the same turn."""
    said = [v for v in verdicts if v.reads == "answer" and v.verdict in ("yes", "no")]
    accepted = {v.turn: v for v in said if v.kind == "judge" and v.verdict == "yes"}
    for verdict in said:
        judge = accepted.get(verdict.turn)
        if judge is not None and verdict.kind in _OF_FORM and verdict.verdict == "no":
            text = f"{verdict.kind} ({verdict.grader}) of {row.task} rejects answers that the judge ({judge.grader}) accepts"
            change = f"see whether {verdict.at or verdict.grader} asks for a form that the prompt does not: normalise, or say so"
            yield Sighting("graders_disagree", text, change)


def of_harness(record: TrialRecord) -> Iterator[Sighting]:
    """Answers of a model over the network that came faster than one can be asked."""
    if record.agent.driver.partition(":")[0] not in _OVER_THE_NETWORK:
        return
    for turn in record.turns:
        tokens = turn.usage.output_tokens
        if tokens > 0 and (turn.duration_ms < _FASTEST_MS or tokens > _MOST_TOKENS_PER_MS * turn.duration_ms):
            text = f"answers of {record.agent.model} came faster than a model can give them"
            yield Sighting("impossible_latency", text, "look for a cache or a stub between here and the model")
            return


def of_repeat(alike: Alike) -> Iterator[Sighting]:
    """A trial that is no trial of its own, though nobody asked for a replay."""
    if not alike.said.replayed:
        where = f"{alike.group.instance} in {alike.group.cell}"
        text = f"trials of {where} are one and the same to the byte: something on the way plays them back"
        yield Sighting("identical_trials", text, "turn off the cache between here and the model")
