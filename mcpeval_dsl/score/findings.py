"""Score: what trajectories, servers and results say beside the numbers. Held-out tasks feed no findings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from mcpeval_dsl.records.model import ConnectRecord, TrialRecord
from mcpeval_dsl.score import model
from mcpeval_dsl.score.facts import same_call
from mcpeval_dsl.score.frame import SPLITS, Frame
from mcpeval_dsl.score.rows import Row


@dataclass(slots=True)
class FindingTally:
    """Add the trials in order of the plan."""

    rows: dict[str, model.FindingRow] = field(default_factory=dict)

    def add_connects(self, connects: Iterable[ConnectRecord]) -> None:
        for record in connects:
            for text in record.findings:
                self._note(f"server {record.server}: {text}")

    def add(self, row: Row, record: TrialRecord) -> None:
        if row.split != "train":
            return
        for text in dict.fromkeys((*record.findings, *_of_transcript(row, record))):
            self._note(text, row.id)

    def add_tasks(self, trials: Frame) -> None:
        """Tasks that no trial passes, whatever the cell; in order of the plan."""
        seen = trials.where(trials["testable"] & (trials["split"] == SPLITS.index("train")))
        code = seen.instance()
        several = np.bincount(code, minlength=len(trials.instances)) > 1
        right = np.bincount(code, weights=seen["correct"], minlength=len(trials.instances))
        for number in np.flatnonzero(several & (right == 0)).tolist():
            self._note(f"no trial of {trials.instances[number]} is right: look at the task and its graders first")

    def result(self) -> tuple[model.FindingRow, ...]:
        return tuple(self.rows.values())

    def _note(self, text: str, trial: str = "") -> None:
        kept = self.rows.get(text)
        if kept is None:
            self.rows[text] = model.FindingRow(text=text, trials=1 if trial else 0, first_trial=trial)
        elif trial:
            self.rows[text] = kept.model_copy(
                update={"trials": kept.trials + 1, "first_trial": kept.first_trial or trial}
            )


_SHOWN_BUT_NOT_FOUND = {
    "prompt": "the prompt names {value}, which {tool} does not find: look at the task",
    "instructions": "instructions of {source} name {value}, which {tool} does not find: they are stale",
    "catalogue": "the description of {source} gives {value} as an example, and an agent took it for real",
}


def _shown_in_vain(record: TrialRecord, passed: bool) -> Iterable[str]:
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
            yield words.format(value=trace.value, tool=f"{call.server}.{call.tool}", source=trace.source)


def _of_transcript(row: Row, record: TrialRecord) -> Iterable[str]:
    calls = [call for call in record.calls if call.actor == "agent"]
    failed: set[str] = set()
    retried: set[str] = set()
    for call in calls:
        at_fault = call.error is not None and call.error.cause == "server"
        if not failed and not at_fault:
            continue
        key = same_call(call)
        if key in failed:
            retried.add(f"{call.server}.{call.tool}")
        if at_fault:
            failed.add(key)
    for tool in sorted(retried):
        yield f"{tool} failed and was called again with the same arguments"
    yield from _shown_in_vain(record, row.outcome is not None and row.outcome.success)
    soft = (call for call in calls if call.error is not None and call.error.error_class == "error_in_success")
    for tool in sorted({f"{call.server}.{call.tool}" for call in soft}):
        yield f"a result of {tool} claims success and says that it failed: it should set isError"
    for tool in sorted({f"{call.server}.{call.tool}" for call in calls if call.truncated}):
        yield f"a result of {tool} was cut: it may need a filter or pages"
    for tool in sorted({f"{call.server}.{call.tool}" for call in calls if call.distractor}):
        yield f"the distractor {tool} was called: compare its description with those of the tools that fit"
    wrong = row.outcome is not None and row.outcome.outcome == "wrong_answer"
    if wrong and calls and all(call.error is None for call in calls) and record.answer.form == "given":
        yield f"every call succeeded and the answer is wrong: {row.instance}"
