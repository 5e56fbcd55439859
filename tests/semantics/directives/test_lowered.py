"""What the table lets through, lowering understands: no example of the table ends as `MCPE299`."""

from __future__ import annotations

import pytest

from mcpeval_dsl.semantics import check_text
from mcpeval_dsl.semantics.directives import TABLE, Directive

SHARED = """
server tracker { stdio "x" }
model sonnet { anthropic "x" }
model haiku { anthropic "x" }
"""
SUITE = "suite base { judge sonnet }\n"
TASK = 'task t { prompt "x"; grade contains "x"; @ }'
FRAMES = {
    "file": "@",
    "suite": "suite s { @ }",
    "defaults": "suite s { defaults { @ } }",
    "table": "table t { columns a, b; @ }",
    "for": "for r in [1] { @ }",
    "profile": "profile p { @ }",
    "matrix": "matrix { @ }",
    "arm": "arm x { @ }",
    "api": 'arm x { http "https://x.example" { @ } }',
    "gate": "gate { @ }",
    "gate_require": "gate { require task_success >= 1% { @ } }",
    "scorecard": "scorecard { @ }",
    "server": 'server s { stdio "x"; @ }',
    "prepare": 'server s { stdio "x"; prepare { @ } }',
    "oauth": 'server s { http "https://x.example"; oauth client_credentials { client_id "x"; @ } }',
    "environment": "environment e { @ }",
    "process": 'environment e { run "x" { @ } }',
    "reset": 'environment e { reset http("GET", "https://x.example") { @ } }',
    "call": "environment e { x = tracker.a() { ids = $.a; @ } }",
    "annotations": "annotations tracker { @ }",
    "effect": "annotations tracker { readonly a { @ } }",
    "model": 'model m { anthropic "x"; @ }',
    "judge": 'judge j { anthropic "x"; @ }',
    "host": "host h { @ }",
    "harvest": "harvest h = tracker.a() { ids = $.a; @ }",
    "truth": TASK.replace("@", "truth h = tracker.a() { ids = $.a; @ }"),
    "task": TASK,
    "when": TASK.replace("@", "when seed == 1 { @ }"),
    "setup": TASK.replace("@", "setup { @ }"),
    "teardown": TASK.replace("@", "teardown { @ }"),
    "reference": TASK.replace("@", "reference { @ }"),
    "distract": TASK.replace("@", "distract { near a count 1; @ }"),
    "fault": TASK.replace("@", "fault tracker.a { @ }"),
    "fault_error": TASK.replace("@", 'fault tracker.a { error "x" { @ } }'),
    "inject": TASK.replace("@", 'inject tracker.a { text "x"; obeyed tracker.b; @ }'),
    "simulate": TASK.replace("@", "simulate tracker.a { result {a: 1}; @ }"),
    "known_failure": TASK.replace("@", 'known_failure "x" { @ }'),
    "dialogue": TASK.replace("@", "dialogue { @ }"),
    "turn": TASK.replace("@", "dialogue { turn { @ } }"),
    "every": TASK.replace("@", 'dialogue { turn { user "x" }; every turn { @ } }'),
    "user": TASK.replace("@", 'dialogue { user simulated sonnet { goal "x"; @ } }'),
    "claim": TASK.replace("@", 'grade judge { claim "x" { @ } }'),
    "check": "check tracker { @ }",
    "auth": "check tracker { auth none { @ } }",
}
OPERANDS = {
    "exact": '"x"',
    "one_of": '["x"]',
    "contains": '"x"',
    "regex": "/x/",
    "number": "3",
    "set": '["x"]',
    "json": "$.a == 1",
    "state": 'file("x") == 1',
    "unchanged": 'file("x")',
    "results": "has reference",
    "calls": "tracker.a",
    "command": '"x"',
    "python": '"a:b"',
    "any": "",
}
CASES = [(e, p) for e in TABLE for p in e.parents]


def _frame(parent: str) -> str:
    if parent.startswith("grade_"):
        grader = parent.removeprefix("grade_")
        first = 'claim "x"; ' if grader == "judge" else ""
        return TASK.replace("@", f"grade {grader} {OPERANDS.get(grader, '')} {{ {first}@ }}")
    return FRAMES[parent]


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c[1]}-{c[0].name}")
def test_lowering_understands(case: tuple[Directive, str]) -> None:
    entry, parent = case
    text = _frame(parent).replace("@", entry.example)
    suite = "" if text.startswith("suite") else SUITE
    found = check_text(f"{suite}{SHARED}{text}\n")
    assert [d.title + d.body for d in found if d.code == "MCPE299"] == []
