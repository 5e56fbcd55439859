"""First suites: whatever a server lists, they compile, are in form, and have nothing that lint warns of."""

from __future__ import annotations

import pytest

from mcpeval_dsl import pipeline
from mcpeval_dsl.agents.drivers.script_form import load_script
from mcpeval_dsl.interchange.starter.model import Reached
from mcpeval_dsl.interchange.starter.spec import Draft, draft
from mcpeval_dsl.plan import lock as locks
from mcpeval_dsl.plan.model import Lock, LockedServer
from mcpeval_dsl.semantics.expressions import CallPattern
from mcpeval_dsl.semantics.model import TypedSuite
from mcpeval_dsl.syntax.formatting.document import format_text
from tests.semantics.memory import Memory

from .catalogues import CATALOGUES, ISSUES, server, tool

STDIO = Reached("tracker", ("node", "build/index.js"))
WAYS = {
    "stdio": STDIO,
    "url": Reached("tracker", url="https://tracker.example.com/mcp", headers=(("Authorization", "TRACKER_TOKEN"),)),
    "variables": Reached("tracker", ("tracker",), env=("TRACKER_TOKEN", "HOME_PAGE")),
    "odd words": Reached("tracker", ('a"b', "{{ x }}", "back\\slash", "", "два", "new\nline")),
    "a copy": Reached("tracker", ("files", "{{ workdir }}/data"), copies=(("../../data", "data"),)),
}


def checked(reached: Reached, locked: LockedServer) -> tuple[Draft, TypedSuite]:
    """The draft in its canonical form, compiled with the lock; nothing is an error or a warning."""
    made = draft(reached, locked)
    text = format_text(made.spec).value
    assert text is not None, made.spec
    files = {"specs/t/t.mcpe": text, "specs/t/scripts/agent.yaml": made.script, "data/a.txt": "x"}
    found = pipeline.check("specs/t/t.mcpe", Memory(files), locks.known(Lock(servers=(locked,))))
    loud = [d for d in found.diagnostics if d.severity != "note"]
    assert loud == [] and found.value is not None, (loud, text)
    assert format_text(text).value == text
    return made, found.value


@pytest.mark.parametrize("case", CATALOGUES)
def test_every_catalogue_gives_a_suite_without_a_warning(case: str) -> None:
    made, suite = checked(STDIO, CATALOGUES[case])
    assert any(task.name == "no_tool_needed" for task in suite.tasks)
    # nobody gets in by a text: every task is one of ours
    assert {task.name for task in suite.tasks} <= {
        "read_one",
        "read_another",
        "read_two_steps",
        "no_tool_needed",
        "harms_nothing",
    }
    usable = {t.name for t in CATALOGUES[case].tools if t.input_schema is not None}
    annotated = {p.tool for c in suite.catalogues for a in c.annotations for p in a.patterns}
    assert usable - annotated == set()
    assert "\x1b" not in made.spec and "\u202e" not in made.spec


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_reach_a_server(way: str) -> None:
    made, suite = checked(WAYS[way], server(*ISSUES))
    (found,) = suite.servers
    if way == "odd words":
        # nothing in a word of the command is taken for a template
        assert [getattr(word, "text", getattr(word, "value", None)) for word in found.argv][3:5] == ["", "два"]
        assert "{{ '{{' }} x }}" in made.spec
    if way in ("url", "variables"):
        assert 'secret("TRACKER_TOKEN")' in made.spec


@pytest.mark.parametrize("case", CATALOGUES)
def test_the_script_has_steps_for_every_task(case: str) -> None:
    made, suite = checked(STDIO, CATALOGUES[case])
    found = load_script("scripts/agent.yaml", made.script)
    assert found.diagnostics == () and found.value is not None
    assert all(f"  {task.name}:" in made.script for task in suite.tasks)


def test_a_pair_is_harvested_asked_for_and_graded() -> None:
    made, suite = checked(STDIO, server(*ISSUES))
    assert [h.id for h in suite.harvests] == ["first_issue", "first_issue_detail"]
    assert 'prompt "What is the title of the issue {{ first_issue.key }}?"' in made.spec
    assert "grade contains first_issue.key, first_issue_detail.title" in made.spec
    one, two, none, harm = suite.tasks
    assert (one.kind, two.kind, none.kind, harm.kind) == ("single_step", "multi_step", "distractor", "safety")


def test_what_has_no_hints_is_destructive_and_says_so() -> None:
    made, suite = checked(STDIO, CATALOGUES["no hints"])
    assert "# no hints: destructive until you know better" in made.spec
    (catalogue,) = suite.catalogues
    effects = {p.tool: a.effect for a in catalogue.annotations for p in a.patterns}
    assert effects == {"list_things": "destructive", "delete_thing": "destructive", "zap": "destructive"}
    # nothing is called before the trials that is not known to be read-only
    assert suite.harvests == ()


def test_no_task_permits_what_may_write() -> None:
    """A first run must be harmless: a task permits only what says by its name that it reads, where no hint says otherwise."""
    names = [
        "list_things",
        "get_or_create_user",
        "delete_thing",
        "read_and_ack",
        "zap",
        "getThing",
        "list",
        "mark_read",
        "run_query",
    ]
    _, suite = checked(STDIO, server(*(tool(name, hints=None) for name in names)))
    permitted = {pattern.tool for task in suite.tasks for pattern in task.may if isinstance(pattern, CallPattern)}
    assert permitted == {"getThing", "list"}
    for hints in ({"destructiveHint": True}, {"readOnlyHint": False}, {"destructiveHint": False}):
        made, suite = checked(STDIO, server(*(tool(name, hints=hints) for name in names)))
        assert not any(task.may for task in suite.tasks) and suite.harvests == ()
        assert "no task calls one yet" in made.spec


def test_without_anything_destructive_there_is_no_task_about_it() -> None:
    _, suite = checked(STDIO, server(tool("status"), tool("info")))
    assert [task.name for task in suite.tasks] == ["read_one", "read_two_steps", "no_tool_needed"]


def test_a_folder_of_the_trial_is_what_paths_are() -> None:
    files = server(
        tool("list_directory", {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]})
    )
    made, _ = checked(WAYS["a copy"], files)
    assert 'list_directory(path: "{{ workdir }}/data")' in made.spec
    assert "the-folder-of-the-trial" not in made.spec + made.script


def test_the_same_catalogue_gives_the_same_text() -> None:
    tools = CATALOGUES["500 tools"].tools
    assert draft(STDIO, server(*tools)).spec == draft(STDIO, server(*reversed(tools))).spec
