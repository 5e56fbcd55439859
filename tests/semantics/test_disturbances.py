"""Faults and distractors as a spec says them: typed, and what is wrong with them told at its place."""

from __future__ import annotations

import json

import pytest

from mcpeval_dsl import pipeline
from mcpeval_dsl.semantics.disturbances import CatalogueTools, Fault, LookAlikes
from mcpeval_dsl.semantics.expressions import CallPattern, Literal
from mcpeval_dsl.semantics.model import Task
from mcpeval_dsl.semantics.tool_lists import SHIPPED
from tests.semantics.memory import Memory

HEAD = 'server tracker { stdio "tracker" }\nmodel canned { script "canned.yaml" }\n'
TOOLS = json.dumps({"tools": [{"name": f"get_{n}", "inputSchema": {"type": "object"}} for n in range(3)]})
FILES = {"canned.yaml": "tasks: {}", "own.json": TOOLS, "broken.json": "{", "deep/own.json": TOOLS, "text.md": "text"}


def checked(line: str) -> tuple[Task, list[str]]:
    """The task with this line, and the codes of what is wrong."""
    text = f'{HEAD}task t {{ prompt "x"; {line}; grade contains "x" }}\n'
    found = pipeline.check("spec.mcpe", Memory({"spec.mcpe": text, **FILES}))
    assert found.value is not None
    return found.value.tasks[0], [d.code for d in found.diagnostics if d.severity == "error"]


FAULTS = {
    "timeout": Fault("timeout", ()),
    "on call 2; timeout": Fault("timeout", (), nth=2),
    "probability 20%; slow 300ms": Fault("slow", (), probability=0.2, seconds=0.3),
    'error "no"': Fault("error", (), text=Literal("no")),
    'error "no" { as success }': Fault("error", (), text=Literal("no"), as_success=True),
    "protocol_error -32603": Fault("protocol_error", (), code=-32603),
    'protocol_error -32603 "no"': Fault("protocol_error", (), code=-32603, text=Literal("no")),
    "expired_credential": Fault("expired_credential", ()),
    "http 429; retry_after 2s": Fault("http", (), code=429, seconds=2.0),
    "retry_after 2s; http 429": Fault("http", (), code=429, seconds=2.0),
    "http 503": Fault("http", (), code=503),
    "garbage": Fault("garbage", ()),
    "disconnect": Fault("disconnect", ()),
}


@pytest.mark.parametrize("line", FAULTS)
def test_every_kind_of_fault_is_typed_and_can_be_run(line: str) -> None:
    task, wrong = checked(f"fault tracker.get_issue, list_* {{ {line} }}")
    (found,) = task.faults
    wanted = FAULTS[line]
    assert (wrong, task.unsupported) == ([], ())
    assert (found.what, found.nth, found.probability, found.text) == (
        wanted.what,
        wanted.nth,
        wanted.probability,
        wanted.text,
    )
    assert (found.as_success, found.code, found.seconds) == (wanted.as_success, wanted.code, wanted.seconds)
    named = [(each.server, each.tool) for each in found.patterns if isinstance(each, CallPattern)]
    assert named == [("tracker", "get_issue"), (None, "list_*")]


@pytest.mark.parametrize(
    "line",
    [
        "timeout; retry_after 2s",
        "slow 3s; retry_after 2s",
        "http 200",
        "http 700",
        "on call 0; timeout",
        "on call 1",
        "timeout; garbage",
        "probability 120%; timeout",
    ],
)
def test_what_no_fault_can_be(line: str) -> None:
    assert checked(f"fault tracker.get_issue {{ {line} }}")[1] != []


def test_faults_of_a_profile_and_of_the_task_add_up() -> None:
    profile = "profile shaky { fault tracker.* { on call 9; timeout } }\n"
    text = f'{HEAD}{profile}task t {{ use shaky; prompt "x"; fault get_a {{ garbage }}; grade contains "x" }}\n'
    found = pipeline.check("spec.mcpe", Memory({"spec.mcpe": text, **FILES}))
    assert found.value is not None
    assert [fault.what for fault in found.value.tasks[0].faults] == ["timeout", "garbage"]


def test_distractors_are_typed_and_can_be_run() -> None:
    task, wrong = checked(
        'distract { catalog "kubernetes" count 40; catalog "own.json" count 3; near get_issue count 5 }'
    )
    shipped, own, near = task.distract
    assert (wrong, task.unsupported) == ([], ())
    assert isinstance(shipped, CatalogueTools) and isinstance(own, CatalogueTools) and isinstance(near, LookAlikes)
    assert (shipped.path, shipped.count, shipped.shipped) == (Literal("kubernetes"), 40, True)
    assert (own.path, own.count, own.shipped) == (Literal("own.json"), 3, False)
    assert (near.pattern.tool, near.count) == ("get_issue", 5)


def test_a_catalogue_is_a_fixture_of_the_suite() -> None:
    text = f'{HEAD}task t {{ prompt "x"; distract {{ catalog "deep/own.json" count 3 }}; grade contains "x" }}\n'
    found = pipeline.check("spec.mcpe", Memory({"spec.mcpe": text, **FILES}))
    assert found.value is not None and "deep/own.json" in found.value.fixtures


WRONG = {
    'catalog "kubernets" count 4': "MCPE275",
    'catalog "broken.json" count 4': "MCPE275",
    'catalog "text.md" count 4': "MCPE275",
    'catalog "missing.json" count 4': "MCPE272",
    'catalog "../outside.json" count 4': "MCPE274",
    'catalog "own.json" count 4': "MCPE276",
    'catalog "kubernetes" count 400': "MCPE276",
}


@pytest.mark.parametrize("line", WRONG)
def test_what_no_catalogue_can_be_is_said_once(line: str) -> None:
    assert checked(f"distract {{ {line} }}")[1] == [WRONG[line]]


def test_the_most_tools_are_five_hundred() -> None:
    assert checked("distract { near get_issue count 500 }")[1] == []
    assert checked("distract { near get_issue count 501 }")[1] != []


@pytest.mark.parametrize("name", SHIPPED)
def test_all_tools_of_a_shipped_catalogue_can_be_asked_for(name: str) -> None:
    assert checked(f'distract {{ catalog "{name}" count {SHIPPED[name]} }}')[1] == []
    assert checked(f'distract {{ catalog "{name}" count {SHIPPED[name] + 1} }}')[1] == ["MCPE276"]


@pytest.mark.parametrize(
    ("model", "count", "warned"),
    [
        ('litellm "openai/gpt-5.2"', 200, True),
        ('litellm "openai/gpt-5.2"', 128, False),
        ('litellm "gemini/gemini-3-pro"', 200, False),
        ('anthropic "claude-sonnet-4-5"', 200, False),
        ('script "canned.yaml"', 200, False),
    ],
)
def test_more_tools_than_a_model_is_offered_are_a_warning(model: str, count: int, warned: bool) -> None:
    text = f'server tracker {{ stdio "tracker" }}\nmodel m {{ {model} }}\n'
    text += f'task t {{ prompt "x"; distract {{ near get_issue count {count} }}; grade contains "x" }}\n'
    found = pipeline.check("spec.mcpe", Memory({"spec.mcpe": text, **FILES}))
    assert ("MCPE328" in {d.code for d in found.diagnostics}) is warned
