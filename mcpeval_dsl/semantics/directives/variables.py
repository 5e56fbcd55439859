"""Semantics, the table: names that are there without being declared, and where."""

from __future__ import annotations

from typing import NamedTuple


class Variable(NamedTuple):
    """`blocks`: kinds of block in which it is known ('' means everywhere). `members`: attributes, empty when any goes."""

    name: str
    doc: str
    blocks: tuple[str, ...] = ()
    members: tuple[str, ...] = ()


_AFTER_CALL = ("call", "check", "auth", "reset")

VARIABLES: tuple[Variable, ...] = (
    Variable("workdir", "The trial's own directory."),
    Variable("port", "Free ports of the environment, by name."),
    Variable("trial", "Number of the trial, from 1."),
    Variable("seed", "The trial's seed."),
    Variable("run", "Name of the run."),
    Variable("today", "The date the run started, `YYYY-MM-DD`."),
    Variable("server", "The server in the cell, or whose tool is being named."),
    Variable("prepared", "The folder that `prepare` of the server made.", ("server", "prepare")),
    Variable("true", "The truth value."),
    Variable("false", "The truth value."),
    Variable("null", "No value."),
    Variable("args", "Arguments of the call that is undone.", ("undo",)),
    Variable("result", "Result of the call.", ("undo", *_AFTER_CALL)),
    Variable("error", "Error of the call: its text, `.code`, `.status`.", _AFTER_CALL, ("code", "status", "text")),
    Variable("status", "HTTP status of the reply.", _AFTER_CALL),
    Variable("latency", "Time the calls took.", _AFTER_CALL, ("mean", "p50", "p95", "max")),
    Variable("class", "Error class on the wire.", _AFTER_CALL),
)

ERROR_CLASSES = (
    "none",
    "tool_error",
    "protocol_error",
    "error_in_success",
    "invalid_result",
    "transport_error",
    "timeout",
    "denied",
    "injected",
)
"""Bare words that `class` is compared with."""
