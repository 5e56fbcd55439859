"""Both sides of every case: what the server owes, and where the agent had the value from. Lists are of acceptable answers.

`cases.json` are the cases that the rules were made for; `fresh.yaml`, `later.yaml` and `unseen.yaml` were written before the
rules were held against them, and say what was right, not what was found.
"""

from __future__ import annotations

from typing import Any

import pytest

from mcpeval_dsl.gateway.model import CallRecord, ToolDefinition
from mcpeval_dsl.provenance.arguments import arguments
from mcpeval_dsl.provenance.examine import examine
from mcpeval_dsl.provenance.origin import origins
from tests.provenance.casefiles import fresh_cases, known_cases, record_of

Tools = tuple[ToolDefinition, ...]
KNOWN, KNOWN_TOOLS = known_cases()
FRESH, FRESH_TOOLS = fresh_cases()
LATER, LATER_TOOLS = fresh_cases("later.yaml")
UNSEEN, UNSEEN_TOOLS = fresh_cases("unseen.yaml")
EVERY = [
    (case, tools)
    for cases, tools in (
        (KNOWN, KNOWN_TOOLS),
        (FRESH, FRESH_TOOLS),
        (LATER, LATER_TOOLS),
        (UNSEEN, UNSEEN_TOOLS),
    )
    for case in cases
]
NAMES = [f"{case['id']}: {case['why']}" for case, _ in EVERY]
# Leads that should be found and are not. A false lead has no such list.
NOT_FOUND_YET = frozenset(
    {
        "L24",  # made as an `entity`, asked for as a `node`
        "U04",  # the one of two merged things that stays
    }
)


def lead_word(case: dict[str, Any], tools: Tools) -> str:
    """lead, to_replay or none, for the failing call of a case."""
    record, harvests = record_of(case, tools)

    def expected(failed: CallRecord) -> bool:
        return bool(case["expected_error"]) and failed.id == case["call"]

    found = [lead for lead in examine(record, harvests, expected).leads if lead.call == case["call"]]
    assert all(lead.evidence[-1] == case["call"] for lead in found)
    return found[0].strength if found else "none"


@pytest.mark.parametrize(("case", "tools"), EVERY, ids=NAMES)
def test_what_the_server_owes(case: dict[str, Any], tools: Tools) -> None:
    word = lead_word(case, tools)
    if case["id"] in NOT_FOUND_YET:
        assert word == "none", "it is found now: take it off the list"
    else:
        assert word in case["lead"]


@pytest.mark.parametrize(("case", "tools"), EVERY, ids=NAMES)
def test_where_the_agent_had_it_from(case: dict[str, Any], tools: Tools) -> None:
    record, _ = record_of(case, tools)
    call = next(call for call in record.calls if call.id == case["call"])
    schema = next(tool.input_schema for tool in tools if tool.name == call.tool)
    (argument,) = (each for each in arguments(call, schema) if each.pointer == case["argument"])
    (found,) = origins(record, [(call, argument)])
    assert found.verdict in case["verdict"]
    assert found.origin in case["origin"]


def test_the_numbers_of_cases() -> None:
    assert (len(KNOWN), len(FRESH), len(LATER), len(UNSEEN)) == (177, 52, 32, 42)
