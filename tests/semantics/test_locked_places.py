"""With a lock: every place where a call, a pattern or a path may stand, times every mistake, and what is near to one.

A place is a piece of a spec with `CALL` or `PATTERN` in it; a mistake is what is put there, and the code it gives.
"""

from __future__ import annotations

from typing import Any

import pytest

from mcpeval_dsl import pipeline
from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.semantics.catalogue import KnownServer, KnownTool
from tests.semantics.memory import Memory

LABELS = {"type": "array", "items": {"enum": ["bug", "docs"]}, "maxItems": 3}
ARGUMENTS = {
    "type": "object",
    "$defs": {"Page": {"type": "object", "properties": {"size": {"type": "integer"}}, "additionalProperties": False}},
    "properties": {
        "project": {"type": "string", "minLength": 2},
        "status": {"enum": ["open", "closed"]},
        "limit": {"type": "integer", "minimum": 1, "maximum": 100},
        "exact": {"type": "boolean"},
        "labels": LABELS,
        "page": {"$ref": "#/$defs/Page"},
        "by": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "order": {"anyOf": [{"enum": ["asc", "desc"]}, {"type": "null"}]},
        "since": {"type": "string", "format": "date"},
        "id": {"type": "string", "pattern": "^[A-Z]+-[0-9]+$"},
        "open": {},
        "who": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
    },
    "required": ["project"],
}
RESULT = {
    "type": "object",
    "properties": {
        "issues": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "key": {"type": "string"},
                    "owner": {"anyOf": [{"$ref": "#/$defs/Who"}, {"type": "null"}]},
                },
            },
        },
        "total": {"type": "integer"},
        "any": {},
    },
    "$defs": {"Who": {"type": "object", "properties": {"name": {"type": "string"}, "mail": {"type": "string"}}}},
}
TOOLS = (
    KnownTool("list_issues", "", ARGUMENTS, RESULT, read_only_hint=True),
    KnownTool("get_plain", "", {"type": "object", "properties": {"key": {"type": "string"}}}, None),
)
LOCKED = {"tracker": KnownServer("tracker", {tool.name: tool for tool in TOOLS})}

HEAD = """suite s { trials 2 }
server tracker { stdio "tracker" }
annotations tracker { readonly * }
let word = "x"
"""
TASK = 'task ask {{ prompt "Who?"; kind write; {} }}\n'
GRADE = "grade contains word"

CALLS = {
    "harvest": HEAD + "harvest one = CALL { a = $ }\n" + TASK.format("grade contains one.a"),
    "harvest of a task": HEAD + TASK.format("harvest one = CALL { a = $ }; grade contains one.a"),
    "truth": HEAD + TASK.format("truth one = CALL { a = $ }; grade contains one.a"),
    "state": HEAD + TASK.format("grade state CALL $ has word"),
    "view": HEAD + TASK.format("reference { tracker.get_plain() }; grade same_state { view CALL }"),
    "unchanged": HEAD + TASK.format(f"grade unchanged CALL; {GRADE}"),
    "setup": HEAD + TASK.format(f"setup {{ CALL }}; {GRADE}"),
    "named step": HEAD + TASK.format("setup { one = CALL { a = $ } }; grade contains one.a"),
    "teardown": HEAD + TASK.format(f"teardown {{ CALL }}; {GRADE}"),
    "undo": HEAD + TASK.format(f"undo get_plain {{ CALL }}; {GRADE}"),
    "reference": HEAD + TASK.format(f"reference {{ CALL }}; {GRADE}"),
    "environment": HEAD + "environment desk { CALL }\n" + TASK.format(f"environment desk; {GRADE}"),
    "environment's teardown": HEAD
    + "environment desk { teardown { CALL } }\n"
    + TASK.format(f"environment desk; {GRADE}"),
    "reset": HEAD + "environment desk { reset CALL { } }\n" + TASK.format(f"environment desk; {GRADE}"),
    "check": HEAD + TASK.format(GRADE) + "check tracker { CALL }\n",
    "check of an identity": HEAD
    + TASK.format(GRADE)
    + "check tracker { auth expired { CALL; require status == 401 } }\n",
}
PATTERNS = {
    "expect": HEAD + TASK.format(f"expect PATTERN; {GRADE}"),
    "expect, combined": HEAD + TASK.format(f"expect ordered(get_plain, any(PATTERN, get_plain)); {GRADE}"),
    "expect none": HEAD + TASK.format(f"expect none(PATTERN); {GRADE}"),
    "may": HEAD + TASK.format(f"may PATTERN; {GRADE}"),
    "never": HEAD + TASK.format(f"never PATTERN; {GRADE}"),
    "grade calls": HEAD + TASK.format("grade calls PATTERN"),
    "annotations": HEAD.replace("readonly *", "readonly *; additive PATTERN") + TASK.format(GRADE),
    "fault": HEAD + TASK.format(f"fault PATTERN {{ on call 1; timeout }}; {GRADE}"),
    "undo": HEAD + TASK.format(f"undo PATTERN {{ tracker.get_plain() }}; {GRADE}"),
    "inject": HEAD + TASK.format(f'inject PATTERN {{ text "x"; obeyed get_plain }}; {GRADE}'),
    "inject into a description": HEAD
    + TASK.format(f'inject description PATTERN {{ text "x"; obeyed get_plain }}; {GRADE}'),
    "obeyed": HEAD + TASK.format(f'inject get_plain {{ text "x"; obeyed PATTERN }}; {GRADE}'),
    "tools": HEAD + TASK.format(f"tools only PATTERN, get_plain; {GRADE}"),
    "hide": HEAD + TASK.format(f"hide PATTERN; {GRADE}"),
    "distract": HEAD + TASK.format(f"distract {{ near PATTERN count 3 }}; {GRADE}"),
    "turn": HEAD + TASK.format(f'dialogue {{ turn {{ user "Hi"; expect PATTERN }} }}; {GRADE}'),
}

# what stands in the brackets of list_issues, and the code it gives; None: nothing is wrong
VALUES: dict[str, tuple[str, str | None]] = {
    "an unknown argument": ('project: "ab", staus: "open"', "MCPE261"),
    "a value not listed": ('project: "ab", status: "opne"', "MCPE267"),
    "a listed value": ('project: "ab", status: "open"', None),
    "a text for a number": ('project: "ab", limit: "5"', "MCPE266"),
    "a number": ('project: "ab", limit: 5', None),
    "a fraction for a whole number": ('project: "ab", limit: 1.5', "MCPE266"),
    "a number above the most": ('project: "ab", limit: 101', "MCPE266"),
    "a number at the most": ('project: "ab", limit: 100', None),
    "a number for a text": ("project: 5", "MCPE266"),
    "a text that is too short": ('project: "a"', "MCPE266"),
    "a text for true or false": ('project: "ab", exact: "true"', "MCPE266"),
    "true": ('project: "ab", exact: true', None),
    "an item not listed": ('project: "ab", labels: ["bug", "dosc"]', "MCPE267"),
    "listed items": ('project: "ab", labels: ["bug", "docs"]', None),
    "a text for a list": ('project: "ab", labels: "bug"', "MCPE266"),
    "too many items": ('project: "ab", labels: ["bug", "bug", "bug", "bug"]', "MCPE266"),
    "an unknown member": ('project: "ab", page: {sise: 3}', "MCPE261"),
    "a member of the wrong type": ('project: "ab", page: {size: "3"}', "MCPE266"),
    "a member": ('project: "ab", page: {size: 3}', None),
    "neither way": ('project: "ab", by: 5', "MCPE266"),
    "one way": ('project: "ab", by: null', None),
    "the other way": ('project: "ab", by: "me"', None),
    "a listed value of one way": ('project: "ab", order: "asc"', None),
    "a value that one way does not list": ('project: "ab", order: "acs"', "MCPE267"),
    "no date": ('project: "ab", since: "30.11.2026"', "MCPE268"),
    "a date": ('project: "ab", since: "2026-11-30"', None),
    "a text of another pattern": ('project: "ab", id: "bill"', "MCPE266"),
    "a text of the pattern": ('project: "ab", id: "BILL-1"', None),
    "a reference": ('project: "ab", limit: word', None),
    "a template": ('project: "ab", status: "{{ word }}"', None),
    "a template in a list": ('project: "ab", labels: ["{{ word }}", word]', None),
    "anything": ('project: "ab", open: {a: [1, "x"]}', None),
}
CALLS_ONLY: dict[str, tuple[str, str | None]] = {
    "a missing argument": ('status: "open"', "MCPE262"),
    "a missing member": ('project: "ab", who: {}', "MCPE262"),
}
PATTERNS_ONLY: dict[str, tuple[str, str | None]] = {
    "not all arguments": ('status: "open"', None),
    "not all members": ("who: {}", None),
    "not equal to a value not listed": ('status != "opne"', "MCPE267"),
    "one of the listed": ('status in ["open", "closed"]', None),
    "one of some, one not listed": ('status in ["open", "clsoed"]', "MCPE267"),
    "an item": ('labels has "bug"', None),
    "an item that is not listed": ('labels has "bgu"', "MCPE267"),
    "compared": ("limit >= 500", None),
    "matched": ("status ~ /^o/", None),
    "not given": ("project == absent()", None),
}


def found(spec: str, server: str = "tracker") -> list[Diagnostic]:
    checked = pipeline.check("spec.mcpe", Memory({"spec.mcpe": spec}), {server: LOCKED["tracker"]})
    # what the pieces are short of as evaluations is another matter
    return [d for d in checked.diagnostics if d.code.startswith(("MCPE1", "MCPE2"))]


def codes(spec: str) -> list[str]:
    return [d.code for d in found(spec)]


@pytest.mark.parametrize("case", VALUES | CALLS_ONLY)
@pytest.mark.parametrize("place", CALLS)
def test_calls(place: str, case: str) -> None:
    arguments, code = (VALUES | CALLS_ONLY)[case]
    spec = CALLS[place].replace("CALL", f"tracker.list_issues({arguments})")
    assert codes(spec) == ([code] if code else []), spec


@pytest.mark.parametrize("case", VALUES | PATTERNS_ONLY)
@pytest.mark.parametrize("place", PATTERNS)
def test_patterns(place: str, case: str) -> None:
    arguments, code = (VALUES | PATTERNS_ONLY)[case]
    spec = PATTERNS[place].replace("PATTERN", f"list_issues({arguments})")
    assert codes(spec) == ([code] if code else []), spec


@pytest.mark.parametrize("place", CALLS)
def test_unknown_tools_in_calls(place: str) -> None:
    spec = CALLS[place].replace("CALL", 'tracker.list_isues(project: "ab")')
    (problem,) = found(spec)
    assert problem.code == "MCPE260" and "`list_issues`" in problem.hint
    assert [e.text for fix in problem.fixes for e in fix.edits] == ["list_issues"]


@pytest.mark.parametrize("written", ["list_isues", "tracker.list_isues", 'list_isues(status: "open")'])
@pytest.mark.parametrize("place", PATTERNS)
def test_unknown_tools_in_patterns(place: str, written: str) -> None:
    if place == "annotations" and "." in written:
        written = "list_isues"
    (problem,) = found(PATTERNS[place].replace("PATTERN", written))
    assert problem.code == "MCPE260" and "`list_issues`" in problem.hint


@pytest.mark.parametrize("written", ["list_*", "tracker.list_*", 'list_*(status: "open")', "purge_*", "*"])
@pytest.mark.parametrize("place", [place for place in PATTERNS if place not in ("annotations", "distract")])
def test_globs_are_for_tools_to_come(place: str, written: str) -> None:
    assert codes(PATTERNS[place].replace("PATTERN", written)) == []


@pytest.mark.parametrize("written", ['list_*(staus: "open")', 'tracker.list_*(status: "opne")'])
def test_arguments_of_globs_are_those_of_the_tools_they_name(written: str) -> None:
    assert len(codes(PATTERNS["never"].replace("PATTERN", written))) == 1


@pytest.mark.parametrize(
    "requirement", ["class == tool_error", "error.code == -32602", "class in [tool_error, invalid_result]"]
)
def test_a_check_that_wants_an_error_may_call_wrongly(requirement: str) -> None:
    call = f"tracker.list_isues(limit: 0) {{ require {requirement} }}"
    assert codes(CALLS["check"].replace("CALL", call)) == []


def test_a_check_that_wants_a_result_may_not() -> None:
    call = "tracker.list_issues(limit: 0) { require $.total >= 0 }"
    assert sorted(codes(CALLS["check"].replace("CALL", call))) == ["MCPE262", "MCPE266"]


PATHS: dict[str, str | None] = {
    "$": None,
    "$.issues": None,
    "$.isues": "`$.issues`",
    "$['isues']": "`issues`",
    "$.issues[0].key": None,
    "$.issues[0].kye": "`$.issues[0].key`",
    "$.issues[*].kye": "`$.issues[*].key`",
    "$.issues[-1:].kye": "`$.issues[-1:].key`",
    "$.issues.key": "`[0]`",
    "$.issues[0].owner.name": None,
    "$.issues[0].owner.nmae": "`$.issues[0].owner.name`",
    "$.issues[0].owner.name.first": "no member `first`",
    "$.issues[?@.key == 'kye'].owner": None,
    "$.issues[?@.kye == 'x'].owner": "`$.issues[?@.key`",
    "$.issues[?@.key == 'x' && @.owner.name].owner.nmae": "owner.name`",
    "$.issues[?@.a[?@.b]].owner": None,
    "$..kye": None,
    "$.issues[0]['key','kye']": None,
    "$.any.thing[3].else": None,
    "$.total": None,
    "$.total.more": "no member `more`",
    "$.*": None,
    "$.*.key": None,
}
READERS = {
    "harvest": CALLS["harvest"].replace("a = $", "a = PATH"),
    "function": CALLS["harvest"].replace("a = $", "a = count(PATH)"),
    "requirement": CALLS["harvest"].replace("a = $", "a = $; require PATH != 3"),
    "truth": CALLS["truth"].replace("a = $", "a = PATH"),
    "state": CALLS["state"].replace("$ has word", "PATH == word"),
    "step": CALLS["named step"].replace("a = $", "a = PATH"),
    "environment": CALLS["environment"].replace("CALL", "CALL { require PATH != 3 }"),
    "inject": HEAD + TASK.format(f'inject list_issues {{ into PATH; text "x"; obeyed get_plain }}; {GRADE}'),
}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("reader", READERS)
def test_paths(reader: str, path: str) -> None:
    wanted = PATHS[path]
    call = 'tracker.list_issues(project: "ab")'
    if reader == "inject" and path == "$":
        path = "$.any"  # the whole result is no place in it
    problems = found(READERS[reader].replace("CALL", call).replace("PATH", path))
    if wanted is None:
        assert problems == []
    else:
        (problem,) = problems
        assert problem.code == "MCPE263" and wanted in f"{problem.hint} {problem.title}", problem


@pytest.mark.parametrize(
    ("member", "wanted"),
    [
        ({"type": "array", "items": {"properties": {"key": {}}}}, ["MCPE263"]),
        ({"properties": {"key": {}}, "type": "object"}, []),  # it has no items, and nothing is said of an object's
        ({"type": "string"}, []),
        ({"type": ["array", "string"], "items": {"properties": {"key": {}}}}, []),
        ({}, []),
    ],
    ids=["a list", "an object", "a text", "a list or a text", "anything"],
)
def test_a_result_of_one_member_is_looked_into_unless_it_may_be_opened(member: Any, wanted: list[str]) -> None:
    """Only a text is taken out of the member that holds it, and read as JSON."""
    tool = KnownTool("find", "", {}, {"type": "object", "properties": {"found": member}})
    spec = (
        HEAD + 'harvest one = tracker.find() { b = $.found[0].kye }\ntask t { prompt "{{ one.b }}"; grade number 3 }\n'
    )
    checked = pipeline.check("s.mcpe", Memory({"s.mcpe": spec}), {"tracker": KnownServer("tracker", {"find": tool})})
    assert [d.code for d in checked.diagnostics if d.code == "MCPE263"] == wanted


def test_results_without_a_schema_are_open() -> None:
    spec = READERS["harvest"].replace("CALL", 'tracker.get_plain(key: "x")').replace("PATH", "$.whatever.there[0].is")
    assert codes(spec) == []


def test_a_fix_of_a_path_changes_the_one_word() -> None:
    spec = READERS["harvest"].replace("CALL", 'tracker.list_issues(project: "ab")').replace("PATH", "$.issues[0].kye")
    (problem,) = found(spec)
    (edit,) = problem.fixes[0].edits
    line = spec.splitlines()[edit.at.line - 1]
    assert line[edit.at.column - 1 : edit.at.end_column - 1] == "kye" and edit.text == "key"


@pytest.mark.parametrize(
    ("written", "text"),
    [('project: "ab", limit: "5"', "5"), ("project: 55", '"55"'), ('project: "ab", status: "opne"', '"open"')],
)
def test_fixes_of_values(written: str, text: str) -> None:
    spec = CALLS["harvest"].replace("CALL", f"tracker.list_issues({written})")
    (problem,) = found(spec)
    assert [e.text for fix in problem.fixes for e in fix.edits] == [text]
    assert not problem.fixes[0].safe


def test_two_versions_under_one_name_each_may_take_it() -> None:
    old = KnownServer("v1", {"find": KnownTool("find", "", {"properties": {"q": {"enum": ["a"]}}})})
    new = KnownServer("v2", {"find": KnownTool("find", "", {"properties": {"q": {"enum": ["b"]}}})})
    spec = """suite s { trials 2 }
server v1 { stdio "one"; catalog search }
server v2 { stdio "two"; catalog search }
annotations search { readonly * }
task ask { prompt "Who?"; expect find(q: "VALUE"); grade contains "x" }
"""
    for value, wanted in (("a", []), ("b", []), ("c", ["MCPE267"])):
        checked = pipeline.check(
            "spec.mcpe", Memory({"spec.mcpe": spec.replace("VALUE", value)}), {"v1": old, "v2": new}
        )
        assert [d.code for d in checked.diagnostics if d.code.startswith("MCPE2")] == wanted


HOSTILE: dict[str, dict[str, Any]] = {
    "circles": {"$ref": "#/properties/a", "properties": {"a": {"$ref": "#"}}},
    "endless": {"properties": {"a": {"anyOf": [{"$ref": "#/properties/a"}, {"$ref": "#/properties/a"}]}}},
    "nonsense": {"type": 3, "properties": {"a": {"enum": 5, "anyOf": "x", "minimum": "y", "required": 7, "items": 9}}},
    "a pattern that takes for ever": {"properties": {"a": {"type": "string", "pattern": "(a+)+$"}}},
    "a pattern of another dialect": {"properties": {"a": {"type": "string", "pattern": "(?<=x)(?!y)\\p{IsGreek}"}}},
    "true": {"properties": {"a": True}},
}


@pytest.mark.parametrize("schema", HOSTILE)
def test_odd_schemas_end_and_say_nothing_wrong(schema: str) -> None:
    tool = KnownTool("find", "", HOSTILE[schema], {**HOSTILE[schema], "type": "object"})
    spec = HEAD + 'harvest one = tracker.find(a: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!") { b = $.a.a.a[0].a }\n'
    checked = pipeline.check("s.mcpe", Memory({"s.mcpe": spec}), {"tracker": KnownServer("tracker", {"find": tool})})
    bad = {"MCPE266"} if schema == "a pattern that takes for ever" else set()
    assert {d.code for d in checked.diagnostics if d.code in ("MCPE261", "MCPE263", "MCPE266", "MCPE267")} == bad
