"""Score, while records are read: what judges said of trials, and which trials rest on one that no gate may rest on."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mcpeval_dsl.grade.services import JudgeSetting, setting_of
from mcpeval_dsl.plan.model import Plan
from mcpeval_dsl.records.model import TrialRecord, VerdictRecord
from mcpeval_dsl.score.judge_model import JudgeScore
from mcpeval_dsl.score.judges import setting
from mcpeval_dsl.score.said import Decided, Judged, Said
from mcpeval_dsl.semantics.graders import AnyOf, Grader, Judge
from mcpeval_dsl.semantics.model import Task
from mcpeval_dsl.semantics.task_parts import all_graders, graders_of

_GIVEN = frozenset({"yes", "no"})


@dataclass(slots=True)
class _Said:
    verdicts: int = 0
    missing: int = 0
    repeats_disagree: int = 0
    judges_disagree: int = 0


@dataclass(slots=True)
class JudgeTally:
    """`doubted`: by task, the graders whose verdict is that of a judge which decides no gate.

    Of a task of `kind safety` every judge is doubted, however well it agrees with people: no judge clears safety.
    """

    scores: Sequence[JudgeScore] = ()
    doubted: dict[str, frozenset[str]] = field(default_factory=dict)
    _settings: dict[str, dict[str, JudgeSetting]] = field(default_factory=dict)
    _said: dict[JudgeSetting, _Said] = field(default_factory=dict)

    @classmethod
    def of(cls, plan: Plan, scores: Sequence[JudgeScore]) -> JudgeTally:
        decide = {setting(score) for score in scores if score.decides}
        found = cls(scores)
        for task in plan.tasks:
            judges = judges_of(task)
            if judges:
                found._settings[task.name] = judges
                found.doubted[task.name] = frozenset(_doubted(task, decide))
        return found

    def add(self, task: str, said: Said, trials: int) -> None:
        judges = self._settings.get(task)
        if judges is None:
            return
        for verdict in said.judged:
            asked = self._said.setdefault(judges[verdict.grader], _Said())
            asked.verdicts += trials
            asked.missing += trials * verdict.missing
            asked.repeats_disagree += trials * verdict.repeats_disagree
            asked.judges_disagree += trials * verdict.judges_disagree

    def rests_on_doubt(self, task: str, said: Said) -> bool:
        """Whether the outcome would be another one if a doubted judge had said the opposite."""
        doubted = self.doubted.get(task)
        if not doubted or not said.testable:
            return False
        mine = [v for v in said.decided if v.grader in doubted and v.verdict in _GIVEN and v.asked]
        others = [v for v in said.decided if v not in mine]
        return bool(mine) and not any(v.verdict == "no" for v in others)

    def result(self) -> tuple[JudgeScore, ...]:
        nothing = _Said()
        return tuple(_with(score, self._said.get(setting(score), nothing)) for score in self.scores)


def judges_of(task: Task) -> dict[str, JudgeSetting]:
    """The task's graders that ask a judge, also within others: which judge."""
    return {g.common.id: setting_of(g) for g in all_graders(task) if isinstance(g, Judge)}


def decided_of(record: TrialRecord) -> tuple[Decided, ...]:
    return tuple(
        Decided(grader=v.grader, verdict=v.verdict, asked=_was_asked(v)) for v in record.verdicts if v.deciding
    )


def judged_of(record: TrialRecord, judges: Container[str]) -> tuple[Judged, ...]:
    return tuple(
        Judged(
            grader=v.grader,
            missing=v.verdict == "missing",
            repeats_disagree="repeats_disagree" in v.flags,
            judges_disagree="judges_disagree" in v.flags,
        )
        for v in _every(record.verdicts)
        if v.kind == "judge" and v.grader in judges
    )


def _doubted(task: Task, decide: set[JudgeSetting]) -> Iterator[str]:
    for grader in graders_of(task):
        judges = [each for each in _inside(grader) if isinstance(each, Judge)]
        if any(task.kind == "safety" or setting_of(judge) not in decide for judge in judges):
            yield grader.common.id


def _inside(grader: Grader) -> Iterator[Grader]:
    todo = [grader]
    while todo:
        each = todo.pop()
        yield each
        if isinstance(each, AnyOf):
            todo.extend(each.graders)


def _was_asked(verdict: VerdictRecord) -> bool:
    """A judge that found no answer to judge was not asked: that no is nobody's opinion. Nor is the yes of an `any` a
    judge's where another part of it says yes."""
    if verdict.kind == "any" and any(part.verdict == "yes" and not _was_asked(part) for part in verdict.parts):
        return False
    return any(each.kind == "claim" for each in _every(verdict.parts))


def _every(verdicts: Iterable[VerdictRecord]) -> Iterator[VerdictRecord]:
    for verdict in verdicts:
        yield verdict
        yield from _every(verdict.parts)


def _with(score: JudgeScore, said: _Said) -> JudgeScore:
    update: Mapping[str, int] = {
        "verdicts": said.verdicts,
        "missing": said.missing,
        "trials_repeats_disagree": said.repeats_disagree,
        "trials_judges_disagree": said.judges_disagree,
    }
    return score.model_copy(update=dict(update))
