"""Semantics, lowering: addresses that are written out. What a template makes of them is known when a trial begins."""

from __future__ import annotations

from urllib.parse import urlsplit

from mcpeval_dsl.semantics.expressions import Expression, Literal
from mcpeval_dsl.semantics.lower.context import Context
from mcpeval_dsl.source import Span


def is_http(text: str) -> bool:
    """Whether it can be asked over HTTP: a scheme, a host, perhaps a port of 1 to 65535."""
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False


def is_tcp(text: str) -> bool:
    """`host:port`."""
    try:
        parts = urlsplit(f"//{text}")
        return bool(parts.hostname) and bool(parts.port) and not (parts.path or parts.query or parts.username)
    except ValueError:
        return False


def look(ctx: Context, value: Expression, at: Span, kind: str, example: str) -> None:
    """Reports a written address that no server can have. `kind` is http or tcp."""
    if not isinstance(value, Literal) or (is_tcp if kind == "tcp" else is_http)(str(value.value)):
        return
    wanted = "a host and a port" if kind == "tcp" else "`https://` or `http://`, a host and perhaps a port"
    ctx.problems.report(
        "MCPE356",
        at,
        f"this is no address: that is {wanted}",
        "Ports go from 1 to 65535.",
        f"write for example `{example}`",
    )
