"""Facts in, outcome out, for each case of `outcomes.json`; then what must hold for any facts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpeval_dsl.records.model import InfraTrouble
from mcpeval_dsl.score.outcomes import TrialFacts, VerdictFact, decide, safety

CASES = json.loads((Path(__file__).parent / "outcomes.json").read_text())
TRIALS = [case for case in CASES if case["expect"]["outcome"] not in ("(gate)", "(no trial)")]


def facts_of(facts: dict[str, Any]) -> TrialFacts:
    infra = facts["infra"]
    errors = facts["errors"]
    return TrialFacts(
        termination=facts["termination"],
        answered=facts["answer"] != "none",
        verdicts=tuple(
            VerdictFact(g["verdict"], g["deciding"], g["reads"], g.get("missing_because", "")) for g in facts["graders"]
        ),
        infra=infra
        and InfraTrouble(
            kind=infra["kind"],
            when=infra["when"],
            chain=tuple(infra.get("chain", ())),
            blocked_by_defect=facts.get("blocked_by_defect", False),
        ),
        charged=facts.get("charged", facts["calls"]["made"]),
        soft=facts["calls"]["soft"],
        hard=facts["calls"]["hard"],
        over=tuple(facts["over_budget"]),
        critical=any(v["severity"] == "critical" for v in facts["violations"]),
        simulate=facts["policy"] == "simulate",
        truth_moved=facts.get("truth_moved", ""),
        flags=tuple(facts.get("flags", ())),
        agent_errors=sum(
            e["cause"] == "server" and (not e["schema_valid"] or e.get("origin") == "invented") for e in errors
        ),
        layer="operations" if facts["termination"] == "host_error" else "task execution",
    )


@pytest.mark.parametrize("case", TRIALS, ids=[f"{case['id']}: {case['say']}" for case in TRIALS])
def test_case(case: dict[str, Any]) -> None:
    facts, right = facts_of(case["facts"]), case["expect"]
    found = decide(facts)
    assert found is not None
    assert {
        "outcome": found.outcome,
        "because": None if found.because is None else list(found.because),
        "termination": facts.termination,
        "success": found.success,
        "printed": found.printed,
        "counts_in_n": found.counts_in_n,
        "re_run": found.re_run,
        "flags": sorted(found.flags),
        "agent_errors": found.agent_errors,
        "safety_gate": safety(facts),
    } == {name: value for name, value in right.items() if name not in ("leads", "layer")} | {
        "flags": sorted(right["flags"])
    }
    if "layer" in right:
        assert found.layer == right["layer"]


def test_every_case_but_the_gate_and_the_cancelled_one_is_a_trial() -> None:
    assert [case["id"] for case in CASES if case not in TRIALS] == ["O19", "O45"]
    assert len(CASES) == 59


def test_a_cancelled_trial_is_no_trial() -> None:
    assert decide(TrialFacts(termination="cancelled")) is None


verdicts = st.builds(
    VerdictFact,
    verdict=st.sampled_from(["yes", "no", "missing", "moot"]),
    deciding=st.booleans(),
    reads=st.sampled_from(["answer", "state"]),
    missing_because=st.sampled_from(["judge_api", "timeout", ""]),
)
any_facts = st.builds(
    TrialFacts,
    termination=st.sampled_from(["answered", "hard_budget:calls", "turn_limit", "model_api", "refused"]),
    answered=st.booleans(),
    verdicts=st.lists(verdicts, max_size=4).map(tuple),
    infra=st.none()
    | st.builds(
        InfraTrouble,
        kind=st.sampled_from(["model_api", "server_start", "context_overflow", "harvest"]),
        when=st.sampled_from(["before_agent", "before_answer", "after_answer"]),
        chain=st.just(("cause",)),
    ),
    charged=st.integers(0, 20),
    soft=st.none() | st.integers(0, 10),
    hard=st.none() | st.integers(10, 20),
    critical=st.booleans(),
)


@given(any_facts)
@settings(max_examples=400)
def test_for_any_facts(facts: TrialFacts) -> None:
    found = decide(facts)
    assert found is not None
    assert found.success == (found.outcome == "pass" and not facts.critical)
    assert (found.because is None) == found.counts_in_n == (found.outcome != "untestable")
    assert found.success <= bool(found.correct)
    assert not found.re_run or found.outcome == "untestable"
    if found.outcome == "pass":
        assert any(v.verdict == "yes" for v in facts.verdicts if v.deciding)
        assert facts.soft is None or facts.charged <= facts.soft


@given(any_facts)
@settings(max_examples=300)
def test_testable_or_not_does_not_depend_on_yes_or_no(facts: TrialFacts) -> None:
    flipped = tuple(
        VerdictFact("no" if v.verdict == "yes" else "yes", v.deciding, v.reads) if v.verdict in ("yes", "no") else v
        for v in facts.verdicts
    )
    other = TrialFacts(**{name: getattr(facts, name) for name in TrialFacts.__slots__} | {"verdicts": flipped})
    one, two = decide(facts), decide(other)
    assert one is not None and two is not None
    assert one.counts_in_n == two.counts_in_n
