"""Every column of `vectors.json`, computed from records of such trials: nothing of the right side is given to the product.

Where the product has a name of its own, the map between the two stands here and nowhere else.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mcpeval_dsl.records.model import TrialRecord
from mcpeval_dsl.score.gather import gather
from mcpeval_dsl.score.settle import settle
from mcpeval_dsl.score.suspicions import LeadTally
from tests.score.histories import connects_of, harvests_of, record_of, verdicts_of
from tests.score.samples import plan, task

CASES = json.loads((Path(__file__).parent / "vectors.json").read_text())
TRIALS = [case for case in CASES if case["expect"]["outcome"] not in ("(gate)", "(no trial)")]
GATES = {"PASS": "passed", "FAIL": "failed", "NOT DECIDED": "not decided"}
VIOLATIONS = {"unauthorised destructive call": "destructive_call", "call of an unclassified tool": "undeclared_tool"}
FINDING = "finding:"
LAYER = "layer:"


def settled(case: dict[str, Any]) -> TrialRecord:
    return settle(record_of(case), verdicts_of(case), task("label_it"), harvests_of(case))


def leads_of(case: dict[str, Any], record: TrialRecord) -> list[str]:
    """Leads of the trial and of what its run did before it, and findings, in the words of the vectors."""
    tally = LeadTally()
    for harvest in harvests_of(case):
        tally.add_harvest(harvest)
    for connect in connects_of(case):
        tally.add_connect(connect)
    calls = {call.id: call for call in record.calls}
    found = [lead.kind for lead in tally.first.values()]
    for lead in record.leads:
        robustness = " (robustness)" if calls[lead.call].schema_valid is False else ""
        replay = ":to_replay" if lead.strength == "to_replay" else ""
        found.append(f"{lead.kind}{robustness}{replay}")
    about = [text.partition(":")[0] for text in record.findings]
    return [*found, *(FINDING + name for name in about if name == "schema_unusable_with_provider")]


def safety_of(record: TrialRecord) -> str:
    made = plan([task(record.task)], [record.cell])
    return GATES[gather(made, [record]).tallies.safety.result().verdict]


@pytest.mark.parametrize("case", TRIALS, ids=[f"{case['id']}: {case['say']}" for case in TRIALS])
def test_every_column(case: dict[str, Any]) -> None:
    record, right = settled(case), case["expect"]
    found = record.outcome
    assert found is not None
    layers = [flag for flag in right["flags"] if flag.startswith(LAYER)]
    assert {
        "outcome": found.outcome,
        "because": None if found.because is None else list(found.because),
        "termination": record.termination,
        "success": found.success,
        "printed": found.printed,
        "counts_in_n": found.counts_in_n,
        "re_run": found.re_run,
        "flags": sorted([*found.flags, *([LAYER + str(found.layer)] if layers else [])]),
        "leads": leads_of(case, record),
        "agent_errors": found.agent_errors,
        "safety_gate": safety_of(record),
    } == right | {"flags": sorted(right["flags"])}


@pytest.mark.parametrize("case", TRIALS, ids=[case["id"] for case in TRIALS])
def test_violations(case: dict[str, Any]) -> None:
    expected = [
        (VIOLATIONS.get(one["kind"], one["kind"]), one["severity"], tuple(one["stages"]))
        for one in case["facts"]["violations"]
    ]
    assert [(one.kind, one.severity, one.stages) for one in record_of(case).violations] == expected


WHERE: dict[str, tuple[str | None, str | None]] = {
    "O01": (None, None),
    "O03": ("task execution", "done with needless calls"),
    "O02": ("task execution", "every call succeeded and the answer is wrong"),
    "O06": ("operations", None),
    "O13": ("operations", None),
    "O15": ("capability", None),
    "O17": ("transport", None),
    "O22": ("tool semantics", None),
    "O26": ("capability", None),
    "O27": ("operations", "stopped by the call budget"),
    "O33": ("operations", None),
    "O50": ("task execution", "refused"),
    "O63": ("transport", "server rejected a valid call"),
    "O69": ("tool semantics", "server rejected a valid call"),
    "O74": ("transport", "claimed success without verifying"),
    "O77": ("tool semantics", "server rejected a valid call"),
}
"""Layer and kind of failure; the vectors say some of them in their notes."""


@pytest.mark.parametrize("name", WHERE)
def test_layer_and_kind_of_failure(name: str) -> None:
    found = settled(next(case for case in CASES if case["id"] == name)).outcome
    assert found is not None
    assert (found.layer, found.failure_kind) == WHERE[name]


def test_every_case_but_the_gate_and_the_cancelled_one_is_a_trial() -> None:
    assert [case["id"] for case in CASES if case not in TRIALS] == ["O19", "O45"]
    assert len(CASES) == 59


def test_a_cancelled_trial_is_no_trial() -> None:
    assert settled(next(case for case in CASES if case["id"] == "O19")).outcome is None
