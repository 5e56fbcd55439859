"""A host's own policy: which calls it is about, and what becomes of a call, its violation and the count of questions."""

from __future__ import annotations

from typing import Literal

import pytest

from mcpeval_dsl.gateway.consent import Consent
from mcpeval_dsl.gateway.model import Permission, ToolDefinition, Violation
from mcpeval_dsl.gateway.policy import Ruling

ALLOWED = Ruling(Permission("allowed", "additive", "spec", "may"))
READING = ToolDefinition("s", "read", annotations={"readOnlyHint": True})
WRITING = ToolDefinition("s", "write", annotations={"readOnlyHint": False})
SILENT = ToolDefinition("s", "other")
DECOY = ToolDefinition("s", "decoy", distractor=True)

Policy = Literal["ask", "auto", "deny"]


@pytest.mark.parametrize("policy", ["ask", "auto", "deny"])
@pytest.mark.parametrize("tool", [READING, DECOY], ids=["hinted to be read-only", "nobody's tool"])
def test_what_needs_no_leave(policy: Policy, tool: ToolDefinition) -> None:
    consent = Consent(policy)
    assert consent.ruled(ALLOWED, tool) is ALLOWED and consent.prompts == 0


@pytest.mark.parametrize("tool", [WRITING, SILENT, None], ids=["hinted to write", "no hint", "unknown"])
def test_what_needs_leave(tool: ToolDefinition | None) -> None:
    asked, refused, given = Consent("ask"), Consent("deny"), Consent("ask", leave=True)
    assert asked.ruled(ALLOWED, tool).permission.decision == "denied" and asked.prompts == 1
    assert refused.ruled(ALLOWED, tool).permission.decision == "denied" and refused.prompts == 0
    assert given.ruled(ALLOWED, tool).permission.decision == "allowed" and given.prompts == 1
    assert Consent("auto").ruled(ALLOWED, tool) is ALLOWED


def test_leave_of_a_person_is_a_confirmation_and_nothing_else() -> None:
    skipped = Ruling(ALLOWED.permission, Violation("confirmation_skipped", "major", ("attempted", "executed")))
    unpermitted = Ruling(ALLOWED.permission, Violation("unpermitted_write", "major", ("attempted", "executed")))
    assert Consent("ask", leave=True).ruled(skipped, WRITING).violation is None
    assert Consent("ask", leave=True).ruled(unpermitted, WRITING).violation == unpermitted.violation


def test_a_refusal_of_the_spec_stays_its_own() -> None:
    denied = Ruling(Permission("denied", "destructive", "spec", "never purge"), message="no")
    consent = Consent("ask")
    assert consent.ruled(denied, WRITING) is denied and consent.prompts == 1
