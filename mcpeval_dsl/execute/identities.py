"""Who a check asks a server as: without a token, with an expired one, or with one of a single scope.

Such tokens are the operator's. Where a header holds `secret("NAME")`, the variable `NAME_EXPIRED` has one that has expired,
`NAME_READ_USER` one whose only scope is `read_user`, `NAME_OTHER_AUDIENCE` one that was made for somebody else.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass, replace

from mcpeval_dsl.execute.names import Names
from mcpeval_dsl.gateway.authorization import CREDENTIALS
from mcpeval_dsl.plan.model import Plan
from mcpeval_dsl.semantics.checks import AuthCheck, OAuthCheck
from mcpeval_dsl.semantics.expressions import Expression, Ref, Secret, Template
from mcpeval_dsl.semantics.model import Server
from mcpeval_dsl.values.evaluate import evaluate
from mcpeval_dsl.values.text import as_text

EXPIRED, OTHER_AUDIENCE = "EXPIRED", "OTHER_AUDIENCE"
_IN_TEMPLATE = re.compile(r"""secret\(\s*["']([^"']+)["']\s*\)""")


def suffix_of(scope: str) -> str:
    """`read:user` → `READ_USER`."""
    return re.sub(r"[^A-Za-z0-9]+", "_", scope).strip("_").upper()


def variables(plan: Plan) -> tuple[str, ...]:
    """Every variable that a check of the plan may take a token from."""
    lets = {let.name: let.value for let in plan.lets}
    found: dict[str, None] = {}
    for check in plan.checks:
        suffixes = [suffix for line in check.lines for suffix in _suffixes(line)]
        servers = [server for server in plan.servers if check.server in (server.name, server.catalog)]
        for name in (name for server in servers for name in credentials(server, lets)):
            found.update(dict.fromkeys(f"{name}_{suffix}" for suffix in suffixes))
    return tuple(found)


def _suffixes(line: object) -> Iterable[str]:
    match line:
        case AuthCheck(identity="expired"):
            yield EXPIRED
        case AuthCheck(identity="scope"):
            yield suffix_of(line.scope)
        case OAuthCheck(rule="audience"):
            yield OTHER_AUDIENCE


def credentials(server: Server, lets: Mapping[str, Expression]) -> tuple[str, ...]:
    """Names of the secrets in those headers that hold a credential, also through lets."""
    found: dict[str, None] = {}
    todo: list[object] = [header.value for header in server.headers if header.name.lower() in CREDENTIALS]
    seen: set[str] = set()
    while todo:
        value = todo.pop()
        if isinstance(value, Secret):
            found[value.name] = None
        elif isinstance(value, Template):
            found.update(dict.fromkeys(_IN_TEMPLATE.findall(value.text)))
        named = value.names if isinstance(value, Template) else [str(value.path[0])] if isinstance(value, Ref) else []
        todo += [lets[name] for name in named if name in lets and name not in seen]
        seen.update(named)
        if isinstance(value, tuple):
            todo.extend(value)
        elif is_dataclass(value):
            todo.extend(getattr(value, field.name) for field in fields(value))
    return tuple(found)


def headers_as(server: Server, names: Names, suffix: str) -> dict[str, str] | str:
    """The credential headers with the operator's other tokens in them; or why there are none, in a sentence.

    Raises EvaluationError.
    """
    lets = {let.name: let.value for let in names.lets}
    secrets = credentials(server, lets)
    if not secrets:
        return 'no header of the server holds `secret("NAME")`, whose value another token could take the place of'
    wanted = {name: f"{name}_{suffix}" for name in secrets}
    missing = [variable for variable in wanted.values() if not os.environ.get(variable)]
    if missing:
        return f"there is no such token: put one into the variable {missing[0]}"
    other = replace(names, secrets={**names.secrets, **{name: os.environ[wanted[name]] for name in secrets}})
    scope = other.scope()
    return {
        header.name: as_text(evaluate(header.value, scope))
        for header in server.headers
        if header.name.lower() in CREDENTIALS
    }


__all__ = ["EXPIRED", "OTHER_AUDIENCE", "credentials", "headers_as", "suffix_of", "variables"]
