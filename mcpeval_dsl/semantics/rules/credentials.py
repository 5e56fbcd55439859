"""Rule: credentials stay with the operator."""

from __future__ import annotations

import re

from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.semantics.expressions import Literal
from mcpeval_dsl.semantics.lower.assemble import Lowered

_NAME = re.compile(r"(?:^|_)(?:TOKEN|SECRET|PASSWORD|PASSWD|APIKEY|API_KEY|ACCESS_KEY|PRIVATE_KEY)$")


def credentials(lowered: Lowered) -> None:
    """Warn about an environment variable that is named like a credential and holds a plain text."""
    suite = lowered.suite
    variables = [v for server in suite.servers for v in server.env]
    variables += [v for environment in suite.environments for v in environment.env]
    for variable in variables:
        value = variable.value
        if isinstance(value, Literal) and value.value and _NAME.search(variable.name.upper()):
            lowered.ctx.problems.found.append(
                Diagnostic(
                    "MCPE323",
                    f"`{variable.name}` looks like a credential in plain text",
                    variable.at,
                    "A spec is read by many; credentials stay with the operator.",
                    f'write `env {variable.name} = secret("{variable.name}")`',
                    "warning",
                )
            )
