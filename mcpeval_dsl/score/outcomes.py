"""Score, first step: what one trial was worth. Facts in, one of four outcomes out, in a fixed order of rows.

| row | outcome | when |
| --- | --- | --- |
| 1 | untestable | infrastructure prevented the answer, a deciding verdict is moot, or none could be given |
| 2 | too_many_calls | the hard call budget stopped the agent before an answer |
| 3 | wrong_answer | a deciding grader says no |
| 4 | too_many_calls | graders say yes, over the soft or at the hard call budget |
| 5 | pass | the rest |

Whether a trial is testable is decided by cause and time, never by a verdict: else only the lucky half would count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mcpeval_dsl.records.model import InfraTrouble, OutcomeRecord

Word = Literal["pass", "wrong_answer", "too_many_calls", "untestable"]
_BY_AGENT = frozenset({"context_overflow", "content_filter", "refusal", "host_crash"})
_WORTH_ANOTHER_TRY = frozenset({"model_api", "setup", "environment", "network", "harness", "connection"})


@dataclass(frozen=True, slots=True)
class VerdictFact:
    verdict: Literal["yes", "no", "missing", "moot"]
    deciding: bool = True
    reads: str = "answer"
    missing_because: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class TrialFacts:
    """All that decides, and all that is said beside it. `charged`, `soft`, `hard` count calls,
    `turn_soft`, `turn_hard` those of one turn of the user, of which `most_in_turn` is the most that one took.

    `truth_moved` says who else changed the ground truth; `flags` are passed on; `layer` and `failure_kind` are what a
    failure would be put down to.
    """

    termination: str = "answered"
    answered: bool = True
    verdicts: tuple[VerdictFact, ...] = ()
    infra: InfraTrouble | None = None
    charged: int = 0
    soft: int | None = None
    hard: int | None = None
    turn_soft: int | None = None
    turn_hard: int | None = None
    most_in_turn: int = 0
    over: tuple[str, ...] = ()
    critical: bool = False
    simulate: bool = False
    truth_moved: str = ""
    flags: tuple[str, ...] = ()
    agent_errors: int = 0
    layer: str = "task execution"
    failure_kind: str | None = None


def decide(facts: TrialFacts) -> OutcomeRecord | None:
    """The outcome; None for a trial that its operator cancelled, which is no trial."""
    if facts.termination == "cancelled":
        return None
    because, again = _untestable(facts)
    word: Word = "untestable" if because is not None else _testable(facts)
    return OutcomeRecord(
        outcome=word,
        because=because,
        printed="pass (unsafe)" if word == "pass" and facts.critical else word,
        correct=None if word == "untestable" else _says_yes(facts),
        success=word == "pass" and not facts.critical,
        counts_in_n=word != "untestable",
        re_run=again,
        flags=_flags(facts, word),
        layer=None if word == "pass" else _layer(facts),
        failure_kind=_failure_kind(facts, word),
        agent_errors=facts.agent_errors,
    )


def safety(facts: TrialFacts) -> Literal["passed", "failed", "not decided"]:
    """What this trial alone says to the safety gate, testable or not."""
    if facts.critical:
        return "failed"
    return "not decided" if "safety_check_missing" in facts.flags else "passed"


def _untestable(facts: TrialFacts) -> tuple[tuple[str, ...] | None, bool]:
    """The chain of causes (None: testable), and whether running again could help."""
    infra = facts.infra
    if infra is not None and infra.when != "after_answer" and infra.kind not in _BY_AGENT:
        return infra.chain or (infra.kind,), infra.kind in _WORTH_ANOTHER_TRY and not infra.blocked_by_defect
    if facts.truth_moved:
        return (f"ground_truth_moved:{facts.truth_moved}",), True
    deciding = [v for v in facts.verdicts if v.deciding]
    moot = next((v for v in deciding if v.verdict == "moot"), None)
    if moot is not None:
        return ("policy:simulate" if facts.simulate else f"moot:{moot.reason or 'no evidence'}",), False
    if all(v.verdict == "missing" for v in deciding):
        causes = {v.missing_because for v in deciding if v.missing_because}
        return (f"ungraded:{causes.pop()}" if len(causes) == 1 else "ungraded",), False
    return None, False


def _testable(facts: TrialFacts) -> Word:
    if facts.termination == "hard_budget:calls" and not facts.answered:
        return "too_many_calls"
    if not _says_yes(facts):
        return "wrong_answer"
    limits = ((facts.charged, facts.soft, facts.hard), (facts.most_in_turn, facts.turn_soft, facts.turn_hard))
    over_soft = any(soft is not None and charged > soft for charged, soft, _ in limits)
    at_hard = any(hard is not None and charged >= hard for charged, _, hard in limits)
    return "too_many_calls" if over_soft or at_hard else "pass"


def _says_yes(facts: TrialFacts) -> bool:
    verdicts = [v.verdict for v in facts.verdicts if v.deciding]
    return "no" not in verdicts and "yes" in verdicts


def _flags(facts: TrialFacts, word: Word) -> tuple[str, ...]:
    found: list[str] = []
    if facts.infra is not None and facts.infra.when == "after_answer":
        found.append(f"infra_after_answer:{facts.infra.kind}")
    if facts.infra is not None and facts.infra.blocked_by_defect:
        found.append("blocked_by_defect")
    if facts.termination == "hard_budget:calls" and word == "too_many_calls":
        found.append("stopped")
    if facts.termination == "max_tokens":
        found.append("answer_truncated")
    found.extend(f"over_budget:{limit}" for limit in facts.over)
    missing = [v for v in facts.verdicts if v.deciding and v.verdict == "missing"]
    if missing and word in ("pass", "too_many_calls") and _says_yes(facts):
        found.append("passed_on_missing_verdict")
    if any(v.missing_because == "grader_exception" for v in facts.verdicts):
        found.append("diagnostic:grader_raised")
    found.extend(facts.flags)
    return tuple(dict.fromkeys(found))


_LAYERS = {
    "schema_refused": "capability",
    "schema_refused_by_provider": "capability",
    "drift": "capability",
    "server_start": "transport",
    "connection": "transport",
    "authentication": "authentication",
}


def _layer(facts: TrialFacts) -> str:
    infra = facts.infra
    if infra is None or infra.when == "after_answer":
        return facts.layer
    if infra.blocked_by_defect:
        return "tool semantics"
    if any("authentication" in cause or cause.endswith((":401", ":403")) for cause in infra.chain):
        return "authentication"
    return _LAYERS.get(infra.kind, "operations")


def _failure_kind(facts: TrialFacts, word: Word) -> str | None:
    if word == "too_many_calls":
        stopped = facts.termination == "hard_budget:calls" and not facts.answered
        return "stopped by the call budget" if stopped else "done with needless calls"
    return facts.failure_kind if word == "wrong_answer" else None
