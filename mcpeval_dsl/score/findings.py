"""Score: what trajectories, servers and results say beside the numbers. Held-out tasks feed no findings.

What is seen in one trial is a lead; in two or more it is a finding. The same text is the same finding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from mcpeval_dsl.gateway.model import CallRecord
from mcpeval_dsl.records.model import ConnectRecord, TrialRecord
from mcpeval_dsl.score import missteps, misuse, model
from mcpeval_dsl.score.across import SHOWN, AcrossTrials, first_of, of_graders, of_harness, of_repeat
from mcpeval_dsl.score.alike import Alike
from mcpeval_dsl.score.claimed import of_answer
from mcpeval_dsl.score.rows import Row, expected_calls
from mcpeval_dsl.score.said import Noted
from mcpeval_dsl.score.sightings import Sighting, is_cut
from mcpeval_dsl.semantics.model import Task


@dataclass(slots=True)
class _Kept:
    """`shown`: place in the plan, and what stands there."""

    sighting: Sighting
    trials: int = 0
    shown: list[tuple[int, tuple[str, tuple[str, ...]]]] = field(default_factory=list)


@dataclass(slots=True)
class FindingTally:
    """Add the trials in order of the plan."""

    rows: dict[str, _Kept] = field(default_factory=dict)
    across: AcrossTrials = field(default_factory=AcrossTrials)
    unseen: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Text of a `not_shown` -> its task and arm."""
    reached: dict[str, set[str]] = field(default_factory=dict)
    """Task -> arms in which a trial was shown all that `expect` requires, as far as trials tell."""

    def add_connects(self, connects: Iterable[ConnectRecord]) -> None:
        for record in connects:
            for text in record.findings:
                said = f"server {record.server}: {text}"
                self.rows.setdefault(said, _Kept(Sighting("server", said, "")))

    def add(self, alike: Alike, capability: bool) -> None:
        """`capability`: the purpose of the task."""
        said, task = alike.said, alike.group.task
        if said.split != "train":
            return
        if alike.repeated:
            self._note(of_repeat(alike), alike)
            return
        self._note((Sighting(n.kind, n.text, n.change, n.calls) for n in said.noted), alike)
        self.unseen |= {n.text: (task, said.arm) for n in said.noted if n.kind == "not_shown"}
        if said.reaches:
            self.reached.setdefault(task, set()).add(said.arm)
        self.across.add(alike, capability)

    def result(self) -> tuple[model.FindingRow, ...]:
        """In the order in which they were first seen, then what only several trials show."""
        rows = [_row(kept) for text, kept in self.rows.items() if not self._of_another_arm(text)]
        for each in self.across.result():
            rows.append(_row(_Kept(each.sighting, each.trials, [(0, shown) for shown in each.shown])))
        return tuple(rows)

    def _of_another_arm(self, text: str) -> bool:
        """A baseline without the server does not hide its tools: other arms show them."""
        task, arm = self.unseen.get(text, ("", ""))
        return bool(self.reached.get(task, set()) - {arm})

    def _note(self, seen: Iterable[Sighting], alike: Alike) -> None:
        for each in seen:
            kept = self.rows.setdefault(each.text, _Kept(each))
            kept.trials += len(alike)
            kept.shown = first_of(kept.shown, ((place, (trial, each.calls)) for place, trial in alike.named(SHOWN)))


def noted_of(row: Row, record: TrialRecord, task: Task, calls: Sequence[CallRecord]) -> tuple[tuple[Noted, ...], bool]:
    """What one trial of a train task shows, as it is told, and whether it was shown all that `expect` requires.

    `calls` are the agent's. Of a trial that is right, what it left out of `expect` is not told.
    """
    expected = list(misuse.of_expectations(record, calls, expected_calls(task, record))) if row.testable else []
    reaches = row.testable and bool(record.tools) and not any(each.kind == "not_shown" for each in expected)
    found: list[Noted] = []
    for source in _sightings(row, record, task, calls, () if row.correct else expected):
        told: set[str] = set()
        for each in source:
            if each.text not in told:
                told.add(each.text)
                found.append(Noted(kind=each.kind, text=each.text, change=each.change, calls=each.calls))
    return tuple(found), reaches


def _sightings(
    row: Row, record: TrialRecord, task: Task, calls: Sequence[CallRecord], expected: Iterable[Sighting]
) -> Iterator[Iterable[Sighting]]:
    yield (Sighting("noted", text, "") for text in record.findings if not is_cut(text))
    yield _shown_in_vain(record, row.success)
    yield missteps.of_calls(record, calls, row.success)
    yield misuse.of_arguments(record, calls)
    yield expected
    yield of_answer(record, calls, bool(task.may))
    yield of_graders(row, record.verdicts)
    yield of_harness(record)
    wrong = row.outcome is not None and row.outcome.outcome == "wrong_answer"
    if wrong and calls and all(call.error is None for call in calls) and record.answer.form == "given":
        text = f"every call succeeded and the answer is wrong: {row.instance}"
        change = "read what the results say and what the answer made of them: a result that misleads, or a wrong grader"
        yield [Sighting("wrong_all_the_same", text, change, tuple(c.id for c in calls[-3:]))]


def _row(kept: _Kept) -> model.FindingRow:
    return model.FindingRow(
        text=kept.sighting.text,
        kind=kept.sighting.kind,
        strength="lead" if kept.trials == 1 else "finding",
        trials=kept.trials,
        first_trial=kept.shown[0][1][0] if kept.shown else "",
        evidence=tuple(model.FindingEvidence(trial=trial, calls=calls) for _, (trial, calls) in kept.shown),
        change=kept.sighting.change,
    )


_SHOWN_BUT_NOT_FOUND = {
    "prompt": ("the prompt names {value}, which {tool} does not find: look at the task", "mend the prompt"),
    "instructions": (
        "instructions of {source} name {value}, which {tool} does not find: they are stale",
        "mend the instructions of {source}",
    ),
    "catalogue": (
        "the description of {source} gives {value} as an example, and an agent took it for real",
        "mark the example in the description of {source} as one, or name something that is there",
    ),
}


def _shown_in_vain(record: TrialRecord, passed: bool) -> Iterator[Sighting]:
    """Values that an agent was told and a server does not know: the fault of neither.

    A task may ask for what is not there on purpose; where it passes, it did.
    """
    missing = {call.id: call for call in record.calls if call.error is not None and call.error.kind == "not_found"}
    for trace in record.arguments:
        call = missing.get(trace.call)
        if call is None or not trace.decisive or trace.verdict != "known" or trace.vouch == "strong":
            continue
        words = _SHOWN_BUT_NOT_FOUND.get(trace.origin)
        if words is not None and not (passed and trace.origin == "prompt"):
            names = {"value": trace.value, "tool": f"{call.server}.{call.tool}", "source": trace.source}
            yield Sighting("shown_in_vain", words[0].format(**names), words[1].format(**names), (call.id,))
