"""Syntax, first: the LALR tables and messages made from `grammar/` by `tools/syntax_tables.py`, loaded once."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

from mcpeval_dsl.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """`origin` is the nonterminal, `action` what the builder makes, `keep` the children it gets.

    A rule that `passes` only hands on its one child.
    """

    origin: str
    action: str
    size: int
    keep: tuple[int, ...]
    passes: bool


@dataclass(frozen=True, slots=True)
class Tables:
    """`actions[state][terminal]` is a state to shift to, or `~rule` to reduce by; `gotos[state][nonterminal]` a state."""

    digest: str
    terminals: dict[str, str]
    scan: str
    actions: list[dict[str, int]]
    gotos: list[dict[str, int]]
    rules: list[Rule]
    state_messages: list[int]
    messages: list[dict[str, Any]]
    repairs: dict[str, dict[str, str]]


@cache
def load() -> Tables:
    """The tables shipped beside this module; about a millisecond, once per process."""
    from pkgutil import get_data

    raw = json.loads(get_data(__package__, "tables.json") or b"")
    rules = [Rule(o, a, n, tuple(k), p) for o, a, n, k, p in raw.pop("rules")]
    return Tables(rules=rules, **raw)


@cache
def scan_pattern() -> re.Pattern[str]:
    """All terminals as one pattern with a group each, after blanks."""
    return re.compile(load().scan)


@cache
def terminal(name: str) -> re.Pattern[str]:
    return re.compile(load().terminals[name])
