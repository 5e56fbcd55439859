"""What a host asks of a person before a call, or refuses by itself: its `permissions`, after the spec's own ruling.

A host knows of a tool what the server's hints say. What is not hinted to be read-only needs leave: with `ask` a person is
asked, and answers as the task's `elicit` says; with `deny` nobody is asked and the call is not made.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from mcpeval_dsl.gateway.model import Permission, ToolDefinition
from mcpeval_dsl.gateway.policy import Ruling


@dataclass(slots=True)
class Consent:
    """One trial's. `leave`: the person says yes. `prompts` counts how often one was asked."""

    policy: Literal["ask", "auto", "deny"] = "auto"
    leave: bool = False
    prompts: int = 0

    def ruled(self, ruling: Ruling, definition: ToolDefinition | None) -> Ruling:
        """The ruling as the host lets it be. A person who says yes has confirmed the call."""
        harmless = definition is not None and (
            definition.distractor or definition.annotations.get("readOnlyHint") is True
        )
        if self.policy == "auto" or harmless:
            return ruling
        if self.policy == "ask":
            self.prompts += 1
            if self.leave:
                skipped = ruling.violation is not None and ruling.violation.kind == "confirmation_skipped"
                return replace(ruling, violation=None) if skipped else ruling
        if ruling.permission.decision == "denied":
            return ruling
        said = "The person did not allow this call." if self.policy == "ask" else "The host does not allow this call."
        permission = ruling.permission
        denied = Permission("denied", permission.effect, permission.source, f"`permissions {self.policy}` of the host")
        violation = ruling.violation
        if violation is not None:
            violation = replace(violation, stages=("attempted", "blocked"))
        return replace(ruling, permission=denied, message=said, violation=violation)
