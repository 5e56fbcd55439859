"""Provenance of a trial with 10 MB of results (limit 1 s), and how the time grows with results and with failing calls.

Run: `python benchmarks/provenance_bench.py [ROUNDS]`. The peer is `json.loads` of the same texts. Exit code 1 when a limit
is passed.
"""

from __future__ import annotations

import json
import sys
import time

from figures import heading, show

from mcpeval_dsl.agents.model import Answer, ToolAnswer, ToolRequest, TurnRecord, Usage
from mcpeval_dsl.gateway.model import CallError, CallRecord, ToolDefinition
from mcpeval_dsl.provenance.examine import examine
from mcpeval_dsl.records.model import AgentIdentity, TrialRecord

TOOLS = (
    ToolDefinition("tracker", "list_issues", annotations={"readOnlyHint": True}),
    ToolDefinition("tracker", "get_issue", annotations={"readOnlyHint": True}),
)


def listing(number: int, rows: int) -> CallRecord:
    """A page of issues, as structured content and as its text."""
    issues = [
        {
            "key": f"BILL-{number:03}{row:05}",
            "title": f"Invoice {row} of page {number} shows the wrong tax",
            "assignee": f"user{row % 97}",
            "labels": ["billing", "needs-review"],
            "created": "2031-02-03T10:00:00Z",
            "estimate": row * 1.5,
        }
        for row in range(rows)
    ]
    result = {"issues": issues}
    return CallRecord(
        f"c{number}",
        "agent",
        "tracker",
        "list_issues",
        {"page": number},
        wire_name="list_issues",
        turn=number,
        at_ms=number * 10.0,
        duration_ms=1.0,
        text=json.dumps(result),
        structured=result,
        has_structured=True,
    )


def failing(number: int, key: str) -> CallRecord:
    return CallRecord(
        f"c{number}",
        "agent",
        "tracker",
        "get_issue",
        {"key": key},
        wire_name="get_issue",
        turn=number,
        at_ms=number * 10.0,
        duration_ms=1.0,
        schema_valid=True,
        is_error=True,
        error=CallError("tool_error", "not_found", f"Issue {key} not found"),
        text=f"Issue {key} not found",
    )


def trial(megabytes: float, failures: int) -> TrialRecord:
    """Pages of 0.5 MB, then failing calls: every other one of a key that was listed, the rest invented."""
    rows = 2750
    pages = [listing(number, rows) for number in range(1, int(megabytes * 2) + 1)]
    calls = list(pages)
    for n in range(failures):
        page, row = n % len(pages) + 1, n * 7 % rows
        key = f"BILL-{page:03}{row:05}" if n % 2 else f"BILL-{900 + n % 90}{n:05}"
        calls.append(failing(len(calls) + 1, key))
    turns = tuple(
        TurnRecord(
            call.turn or 0,
            "",
            (ToolRequest(call.id, call.tool, call.arguments),),
            (ToolAnswer(call.id, call.text, call.is_error),),
            "tool_use",
            Usage(),
            "m",
            call.at_ms,
            1.0,
            0.0,
            0,
        )
        for call in calls
    )
    agent = AgentIdentity(host="loop", host_version="1", model="m", driver="script")
    return TrialRecord(
        id="t@c#1",
        key="k",
        suite="s",
        task="t",
        cell="c",
        trial=1,
        seed=1,
        agent=agent,
        termination="answered",
        prompt="Which billing issue has waited longest?",
        tools=TOOLS,
        calls=tuple(calls),
        turns=turns,
        answer=Answer("given", "x"),
    )


def cpu_ms(record: TrialRecord, rounds: int) -> tuple[float, float]:
    """Least CPU time of the whole examination, and of reading the texts alone as JSON."""
    ours = alone = float("inf")
    for _ in range(rounds):
        begun = time.process_time()
        found = examine(record)
        ours = min(ours, time.process_time() - begun)
        assert len(found.leads) == sum(call.error is not None for call in record.calls) // 2
        begun = time.process_time()
        for call in record.calls:
            if call.has_structured:
                json.loads(call.text)
        alone = min(alone, time.process_time() - begun)
    return ours * 1000, alone * 1000


def main() -> int:
    heading(__file__)
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    within = True
    for title, megabytes, failures, limit in (
        ("10 MB, 20 failing calls", 10, 20, 1000),
        ("20 MB, 20 failing calls", 20, 20, 2000),
        ("10 MB, 400 failing calls", 10, 400, 2000),
        ("1 MB, 2 failing calls", 1, 2, None),
    ):
        spent, alone = cpu_ms(trial(megabytes, failures), rounds)
        within &= show(title, spent, "ms", limit, ("json.loads", alone))
    return int(not within)


if __name__ == "__main__":
    sys.exit(main())
