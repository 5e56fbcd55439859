"""Grader `judge`: a model finds claims true or not of what the agent said and did. It fails open, with a flag.

A judge that cannot be asked, takes too long or gives nothing usable (after one request to repair it) leaves the verdict
missing; so does one that was measured and is not believed, which is then not asked. Repeats are joined by strict majority,
else the claim is unknown; a second judge must agree. Yes, when claims of at least `threshold` of the weight hold; no, when
they could not even if every unknown one held; missing between.
"""

from __future__ import annotations

from dataclasses import dataclass

from mcpeval_dsl.agents.model import TrialContext
from mcpeval_dsl.grade.judge_asking import FACTS, Asked, Bill, Question, Trouble, agreed, ask, majority, prompt_of
from mcpeval_dsl.grade.judgement import ClaimVerdict, Judged
from mcpeval_dsl.grade.model import Verdict
from mcpeval_dsl.grade.publish import from_record
from mcpeval_dsl.grade.quoting import nonce_of, shown_to_judge, told
from mcpeval_dsl.grade.saying import missing, no_answer, scope_of, verdict
from mcpeval_dsl.grade.services import GradeServices, setting_of
from mcpeval_dsl.records.model import TrialRecord
from mcpeval_dsl.semantics.graders import Judge
from mcpeval_dsl.values.evaluate import evaluate
from mcpeval_dsl.values.text import as_text, clipped


@dataclass(frozen=True, slots=True)
class _Question:
    """What is asked about one trial, with the claims as texts."""

    grader: Judge
    claims: tuple[str, ...]
    asked: Question


@dataclass(frozen=True, slots=True)
class _Opinion:
    """One judge's verdict on each claim over all its repeats; `unanimous`: they all said the same."""

    found: tuple[Judged, ...]
    unanimous: bool


async def grade(grader: Judge, record: TrialRecord, services: GradeServices) -> Verdict:
    expected = f"claims of {grader.threshold:.0%} of the weight"
    without = no_answer(grader, record, expected)
    if without is not None:
        return without
    doubt = services.unbelieved.get(setting_of(grader))
    if doubt is not None:
        return missing(grader, "judge_not_believed", doubt, flags=(f"judge_not_believed:{grader.model}",))
    if services.kept is not None and grader.common.id in services.kept:
        return from_record(services.kept[grader.common.id], grader.common.at)
    question = _question(grader, record, services)
    bill = Bill()
    first = await _repeated(question, grader.model, services, bill)
    if isinstance(first, Trouble):
        lacking = (f"judge_missing:{grader.model}",)
        return missing(grader, first.because, first.reason, flags=lacking, cost_usd=bill.usd)
    flags: list[str] = [] if first.unanimous else ["repeats_disagree"]
    found = first.found
    if grader.second is not None:
        second = await _repeated(question, grader.second, services, bill)
        if isinstance(second, Trouble):
            flags.append(f"judge_missing:{grader.second}")
        else:
            found = tuple(agreed(a, b) for a, b in zip(first.found, second.found, strict=True))
            flags += [] if second.unanimous or "repeats_disagree" in flags else ["repeats_disagree"]
            if any(a.verdict != b.verdict for a, b in zip(first.found, second.found, strict=True)):
                flags.append("judges_disagree")
    if any(each.invented for each in found):
        flags.append("quote_not_found")
    return _decided(question, found, tuple(flags), bill.usd, expected)


def _question(grader: Judge, record: TrialRecord, services: GradeServices) -> _Question:
    scope = scope_of(record, services)
    claims = tuple(as_text(evaluate(claim.text, scope)) for claim in grader.claims)
    whole = grader.reads_whole
    data = shown_to_judge(record, whole)
    asked = told(record)
    nonce = nonce_of(record, grader.common.id, data + asked)
    context = TrialContext(
        trial=f"{record.id}!{grader.common.id}{_turn(record)}",
        task=record.task,
        cell=record.cell,
        index=record.trial,
        seed=record.seed,
        facts=FACTS,
    )
    timeout = grader.common.timeout or services.judge_timeout
    prompt = prompt_of(asked, data, whole, claims, nonce)
    return _Question(grader, claims, Question(len(claims), f"{asked}\n{data}", prompt, context, timeout))


def _turn(record: TrialRecord) -> str:
    """Which turn of a dialogue is judged: a judge asked about several is in several conversations."""
    return f"@{len(record.exchanges)}" if record.exchanges else ""


async def _repeated(question: _Question, model: str, services: GradeServices, bill: Bill) -> _Opinion | Trouble:
    """Repeats that fail are left out of the majority."""
    driver = services.judge(model) if services.judge is not None else None
    if driver is None:
        return Trouble("judge_api", f"there is no judge model `{model}` in this run")
    judge = Asked(model, driver, *services.judge_settings.get(model, (4096, 0.0)))
    answers: list[tuple[Judged, ...]] = []
    trouble: Trouble | None = None
    for repeat in range(max(1, question.grader.repeats)):
        given = await ask(question.asked, judge, bill, repeat)
        if isinstance(given, Trouble):
            trouble = given
        else:
            answers.append(given)
    if not answers and trouble is not None:
        return trouble
    by_claim = [[answer[number] for answer in answers] for number in range(len(question.claims))]
    unanimous = all(len({each.verdict for each in said}) == 1 for said in by_claim)
    return _Opinion(tuple(majority(said) for said in by_claim), unanimous)


def _decided(
    question: _Question, found: tuple[Judged, ...], flags: tuple[str, ...], cost: float | None, expected: str
) -> Verdict:
    grader = question.grader
    parts = tuple(_part(question, number, judged) for number, judged in enumerate(found))
    total = sum(claim.weight for claim in grader.claims)
    if total <= 0:
        return missing(grader, "no_evidence", "no claim has a weight", flags=flags, parts=parts, cost_usd=cost)
    held = _share(question, found, ("pass",)) / total
    possible = _share(question, found, ("pass", "unknown")) / total
    slack = 1e-9
    if held + slack < grader.threshold <= possible + slack:
        reason = "the judge could not tell about claims that decide"
        return missing(grader, "judge_unreadable", reason, flags=(*flags, "unknown_claims"), parts=parts, cost_usd=cost)
    failed = [question.claims[n] for n, judged in enumerate(found) if judged.verdict != "pass"]
    reason = f"not shown: {'; '.join(clipped(text, 100) for text in failed[:3])}" if failed else ""
    return verdict(
        grader,
        held + slack >= grader.threshold,
        "answer",
        actual=f"claims of {held:.0%} of the weight hold",
        expected=expected,
        reason=reason,
        score=held,
        flags=flags,
        parts=parts,
        cost_usd=cost,
    )


def _share(question: _Question, found: tuple[Judged, ...], words: tuple[ClaimVerdict, ...]) -> float:
    pairs = zip(question.grader.claims, found, strict=True)
    return sum(claim.weight for claim, judged in pairs if judged.verdict in words)


def _part(question: _Question, number: int, judged: Judged) -> Verdict:
    """One claim as a part of the verdict, for people."""
    claim = question.grader.claims[number]
    unknown = judged.verdict == "unknown"
    return Verdict(
        grader=f"{question.grader.common.id}.c{number + 1}",
        kind="claim",
        verdict="missing" if unknown else "yes" if judged.verdict == "pass" else "no",
        deciding=False,
        weight=claim.weight,
        missing_because="judge_unreadable" if unknown else "",
        expected=clipped(question.claims[number], 400),
        actual=clipped(" … ".join(judged.quotes), 400),
        reason=clipped(judged.reason, 400),
        flags=("quote_not_found",) if judged.invented else (),
        at=claim.at or question.grader.common.at,
    )
