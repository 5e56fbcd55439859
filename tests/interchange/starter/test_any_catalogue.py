"""Whatever JSON a server sends as its tools: a first suite compiles, comparing ends, and nothing raises."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcpeval_dsl import pipeline
from mcpeval_dsl.interchange.starter.model import Reached
from mcpeval_dsl.interchange.starter.spec import draft
from mcpeval_dsl.plan import lock as locks
from mcpeval_dsl.plan.lock_changes import compare_locks
from mcpeval_dsl.plan.model import Lock, LockedServer, LockedTool
from mcpeval_dsl.plan.schema_changes import compare
from mcpeval_dsl.project.locked_tools import known_of
from mcpeval_dsl.semantics.catalogue import KnownServer, KnownTool
from mcpeval_dsl.syntax.formatting.document import format_text
from tests.semantics.memory import Memory

FEW = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
KEYWORDS = st.sampled_from(
    re.findall(
        r"[$\w]+",
        "type properties required items enum const anyOf oneOf allOf $ref $defs default minimum maxLength pattern format "
        "additionalProperties prefixItems examples description not",
    )
)
WORDS = st.sampled_from(
    ["string", "integer", "object", "array", "null", "#", "#/$defs/a", "#/properties/a", "a", "id", "key"]
)
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 10**18), st.floats(allow_nan=False), WORDS, st.text(max_size=8)
)
JSON: st.SearchStrategy[Any] = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(KEYWORDS, WORDS, st.text(max_size=5)), inner, max_size=5),
    ),
    max_leaves=25,
)
SCHEMAS = st.dictionaries(KEYWORDS, JSON, max_size=6)
OBJECTS = st.builds(
    lambda names, schemas, required, more: (
        more | {"type": "object", "properties": dict(zip(names, schemas, strict=False)), "required": names[:required]}
    ),
    st.lists(st.one_of(WORDS, st.text(min_size=1, max_size=6)), max_size=4, unique=True),
    st.lists(SCHEMAS, min_size=4, max_size=4),
    st.integers(0, 2),
    SCHEMAS,
)
HINTS = st.one_of(
    st.none(),
    st.dictionaries(st.sampled_from(["readOnlyHint", "destructiveHint"]), st.one_of(st.booleans(), st.none())),
)
NAMES = st.one_of(
    st.sampled_from(["list_issues", "get_issue", "readonly", "any", "true", "task", "delete", "*", "a*", "{{ x }}"]),
    st.text(min_size=1, max_size=12),
)
TOOLS = st.builds(
    lambda name, takes, gives, hints: LockedTool(
        name=name,
        input_schema=takes,
        output_schema=gives,
        annotations=hints,
        sha256=name.encode("utf-8", "replace").hex(),
    ),
    NAMES,
    st.one_of(st.none(), OBJECTS, SCHEMAS),
    st.one_of(st.none(), OBJECTS, SCHEMAS),
    HINTS,
)


def server(tools: list[LockedTool], title: str) -> LockedServer:
    return LockedServer(
        server="tracker",
        title=title,
        version=title,
        revision="2025-11-25",
        era="initialize",
        transport="stdio",
        tools=tuple({tool.name: tool for tool in tools}.values()),
        catalogue_sha256="x",
    )


@FEW
@given(st.lists(TOOLS, max_size=5), st.text(max_size=20))
def test_a_first_suite_compiles_and_is_in_form(tools: list[LockedTool], title: str) -> None:
    locked = server(tools, title)
    made = draft(Reached("tracker", ("x",)), locked)
    text = format_text(made.spec).value
    assert text is not None, made.spec
    files = {"s.mcpe": text, "scripts/agent.yaml": made.script}
    found = pipeline.check("s.mcpe", Memory(files), locks.known(Lock(servers=(locked,))))
    assert not [d for d in found.diagnostics if d.severity == "error"], (found.diagnostics, text)


@FEW
@given(st.lists(TOOLS, max_size=3), st.lists(TOOLS, max_size=3), st.text(max_size=9))
def test_locks_come_back_and_compare_with_themselves(one: list[LockedTool], two: list[LockedTool], title: str) -> None:
    first, second = Lock(servers=(server(one, title),)), Lock(servers=(server(two, title),))
    data = locks.write(first)
    read = locks.read(data)
    assert read.diagnostics == () and read.value is not None
    assert locks.write(read.value) == data
    assert known_of(data) == locks.known(read.value)
    assert compare_locks(first, read.value) == ()
    assert bool(compare_locks(first, second)) == bool(compare_locks(second, first))


@FEW
@given(st.one_of(OBJECTS, SCHEMAS), st.one_of(OBJECTS, SCHEMAS))
def test_schemas_compare(one: dict[str, Any], two: dict[str, Any]) -> None:
    assert compare(one, one) == ()
    assert all(change.what for change in compare(one, two))


SPEC = """suite s { trials 2 }
server tracker { stdio "x" }
annotations tracker { readonly * }
harvest one = tracker.get(a: 5, id: "x", key: [1, {a: "b"}], string: null) {
  b = $.a.id[0].key[?@.a == 1].string
}
task ask { prompt "Who?"; expect get(a == "x", id in [1, 2], key has {a: 1}); grade contains one.b }
"""


@FEW
@given(OBJECTS, st.one_of(st.none(), OBJECTS, SCHEMAS))
def test_no_schema_breaks_the_checks(takes: dict[str, Any], gives: dict[str, Any] | None) -> None:
    known = {"tracker": KnownServer("tracker", {"get": KnownTool("get", "", takes, gives)})}
    found = pipeline.check("s.mcpe", Memory({"s.mcpe": SPEC}), known)
    assert found.value is not None
