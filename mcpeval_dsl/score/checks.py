"""Score: what the checks of a run came to, and what that does to its gate and exit code.

A line that could not be tested counts both ways, as a missing trial does. Without a rule about `checks.…` every line has to
pass: one that fails fails the gate, and one that holds only in part, or asks for what there is not, leaves it not decided.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from mcpeval_dsl.plan.model import CheckNode, Plan
from mcpeval_dsl.records.checks import CheckLineRecord, CheckRecord
from mcpeval_dsl.score.model import CheckLineRow, CheckRow, GateWord

Scenario = Literal["as it is", "worst", "best"]


def check_rows(plan: Plan, records: Iterable[CheckRecord]) -> tuple[CheckRow, ...]:
    """One row for each server that the plan checks, in its order; lines without a record are `not tested`."""
    known = {record.id: record for record in records}
    found = []
    for node in plan.nodes:
        if isinstance(node, CheckNode):
            record = known.get(node.id)
            planned = sum(len(check.lines) for check in plan.checks if check.server == node.server)
            lines = tuple(_line(line) for line in record.lines) if record is not None else ()
            found.append(CheckRow(server=node.server, planned=planned, lines=lines))
    return tuple(found)


def _line(line: CheckLineRecord) -> CheckLineRow:
    """As published: measured times are not, since no two runs have the same."""
    timed = bool(line.measured) or "latency" in line.expected
    actual = "" if timed else line.actual
    return CheckLineRow(
        what=line.what, state=line.state, at=line.at, actual=actual, expected=line.expected, reason=line.reason
    )


def number(rows: Sequence[CheckRow], state: str, which: Scenario) -> float | None:
    """Lines in a state; in the worst (best) case those not tested have all failed (passed). None without a check."""
    if not rows:
        return None
    found = sum(line.state == state for row in rows for line in row.lines)
    unknown = untested(rows)
    added = {"fail": "worst", "pass": "best"}.get(state)
    return float(found + (unknown if which == added else 0))


def untested(rows: Sequence[CheckRow]) -> int:
    """Lines that could not be tested, or were not carried out at all."""
    return sum(row.planned - sum(line.state != "not tested" for line in row.lines) for row in rows)


def tested(rows: Sequence[CheckRow]) -> bool:
    """Whether any line says something about its server."""
    return any(line.state != "not tested" for row in rows for line in row.lines)


def verdict(rows: Sequence[CheckRow], ruled: bool) -> tuple[GateWord, str]:
    """What the checks say to the gate, and why. `ruled`: a rule of the gate speaks of them, so it alone decides."""
    if ruled or not rows:
        return "PASS", ""
    states = [line.state for row in rows for line in row.lines]
    failed = states.count("fail")
    if failed:
        return "FAIL", f"{failed} line{'s' if failed > 1 else ''} of the checks failed"
    unknown = untested(rows)
    if unknown:
        return "NOT DECIDED", f"{unknown} line{'s' if unknown > 1 else ''} of the checks could not be tested"
    limited = states.count("partial") + states.count("unsupported")
    if limited:
        return (
            "NOT DECIDED",
            f"{limited} line{'s' if limited > 1 else ''} of the checks hold only in part, or have nothing to hold to",
        )
    return "PASS", ""


__all__ = ["check_rows", "number", "tested", "untested", "verdict"]
