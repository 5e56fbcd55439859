"""Between a server's tool names and a provider's: legal, unique, and the same in every run."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence

MAX_NAME = 64
_ILLEGAL = re.compile(r"[^A-Za-z0-9_-]")
Affixes = Mapping[str, tuple[str, str]]
"""Prefix and suffix by server."""


def wire_names(
    tools: Sequence[tuple[str, str]],
    prefix: str = "",
    suffix: str = "",
    qualify: bool | None = None,
    affixes: Affixes | None = None,
) -> tuple[str, ...]:
    """A name matching `[A-Za-z0-9_-]{1,64}` for each (server, tool), in order, no two alike.

    Qualified by server (`server__tool`) where there is more than one and their affixes do not tell them apart (or `qualify`
    says so); illegal characters become `_`. A name that is then too long, or not the only one of its kind, keeps its beginning
    and gets eight hex digits of the SHA-256 of (server, tool), so that the order of the list changes no name.
    """
    around = {server: (affixes or {}).get(server, (prefix, suffix)) for server, _ in tools}
    qualified = len(set(around.values())) < len(around) if qualify is None else qualify
    plain = [_decorated(server, tool, *around[server], qualified) for server, tool in tools]
    legal = [_ILLEGAL.sub("_", name) for name in plain]
    counts: dict[str, int] = {}
    for name in legal:
        counts[name] = counts.get(name, 0) + 1
    names: list[str] = []
    taken: set[str] = set()
    for position, (server, tool) in enumerate(tools):
        name = legal[position]
        if not name or len(name) > MAX_NAME or counts[name] > 1 or name in taken:
            name = _hashed(name, server, tool, taken)
        taken.add(name)
        names.append(name)
    return tuple(names)


def _decorated(server: str, tool: str, prefix: str, suffix: str, qualified: bool) -> str:
    return f"{prefix}{server}__{tool}{suffix}" if qualified else f"{prefix}{tool}{suffix}"


def _hashed(name: str, server: str, tool: str, taken: set[str]) -> str:
    """The name's beginning and a digest; repeated for the same tool listed twice."""
    turn = 0
    while True:
        identity = f"{server}\x00{tool}" + (f"\x00{turn}" if turn else "")
        digest = hashlib.sha256(identity.encode()).hexdigest()[:8]
        candidate = f"{name[: MAX_NAME - 9]}_{digest}"
        if candidate not in taken:
            return candidate
        turn += 1
