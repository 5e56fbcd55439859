"""Interchange: what a recorded tool does, as far as a hint or its name tells; the report says that somebody has to look."""

from __future__ import annotations

import re

from mcpeval_dsl.interchange.transcripts.session import Called

_READS = (
    "get list read search find show describe query fetch view lookup count status inspect browse check explain resolve"
)
_WRITES = (
    "create add update delete remove set write send post put patch insert edit move rename cancel close open start stop "
    "run execute apply drop purge merge push commit upload install enable disable reset restart assign approve reject "
    "publish replace clear archive restore invite grant revoke buy pay book order submit call trigger deploy save mark and"
)
_DESTROYS = "delete remove drop purge clear reset cancel revoke"


def effect(called: Called) -> str:
    """`readonly`, `additive` or `destructive`; anything unclear is destructive."""
    if called.read_only is not None:
        return "readonly" if called.read_only else "destructive"
    words = set(re.findall(r"[a-z]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", called.tool).lower()))
    if words & set(_READS.split()) and not words & set(_WRITES.split()):
        return "readonly"
    return "additive" if words & {"create", "add", "insert"} and not words & set(_DESTROYS.split()) else "destructive"
