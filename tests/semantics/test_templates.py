"""Templates: what is accepted here, the run renders; what is not says why."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpeval_dsl.semantics import templates
from mcpeval_dsl.semantics.directives.functions import FUNCTIONS, TEMPLATE_FUNCTIONS
from mcpeval_dsl.values.model import EvaluationError, Scope
from mcpeval_dsl.values.templates import render

NAMES = {
    "text": "a b",
    "n": 3,
    "rows": [{"id": 1, "key-x": "k"}, {"id": 2, "items": [1]}],
    "row": {"id": 7, "get": "mine", "items": [4]},
    "names": ["b", "a"],
    "a-b": "dash",
}


@pytest.mark.parametrize(
    ("text", "rendered"),
    [
        ("no template", "no template"),
        ("{{ n }}", "3"),
        ("{{rows[0].id}} {{ rows[-1]['id'] }}", "1 2"),
        ("{{ row.get }}{{ row.items[0] }}", "mine4"),
        ("{{ a-b }}", "dash"),
        ("{{ names | sorted | join('; ') }}", "a; b"),
        ("{{ first(names) }}", "b"),
        ("{{ rows[count(names)  ].id }}", None),
        ("{{ 'x}}y' }}", "x}}y"),
    ],
)
def test_accepted(text: str, rendered: str | None) -> None:
    assert templates.read(text).faults == []
    if rendered is not None:
        assert render(text, Scope(NAMES)) == rendered


@pytest.mark.parametrize(
    "text",
    [
        "{% if n %}x{% endif %}",
        "{# note #}",
        "{{ n + 1 }}",
        "{{ n.bit_length() }}",
        "{{ n",
        "{{ }}",
        "{{ n if n }}",
        "{{- n -}}",
        "{{ [1, 2] }}",
        "{{ {'a': 1} }}",
        "{{ n ~ n }}",
        "{{ names | first | }}",
        "{{ rows[0 }}",
        "{{ rows[0:1] }}",
        "{{ not n }}",
        "{{ a-b | upper }}",
        "{{ row. }}",
    ],
)
def test_refused(text: str) -> None:
    faults = templates.read(text).faults
    assert faults
    assert all(0 <= f.start < f.end <= len(text) and f.title and f.hint for f in faults)


def test_mentions_have_their_places() -> None:
    text = "Who has '{{ rows[0].titel | upper }}'?"
    mention = templates.read(text).mentions[0]
    assert (mention.root.key, [s.key for s in mention.steps]) == ("rows", [0, "titel"])
    assert text[mention.steps[1].start : mention.steps[1].end] == "titel"


@pytest.mark.parametrize(
    "text", ["{{ " + "f(" * 3000, "{{ x" + "[x" * 3000, "{{ " + "f(" * 3000 + "x" + ")" * 3000 + " }}"]
)
def test_what_is_nested_without_end_is_a_fault(text: str) -> None:
    """Once a recursion without a bound: `mcpe lint` ended with an internal error."""
    assert [fault.title for fault in templates.read(text).faults] == ["this template is nested too deeply"]


def test_faults_are_told_of_one_template_and_the_next_is_read() -> None:
    found = templates.read("{{ " + "f(" * 100 + " }} {{ x.y }}")
    assert len(found.faults) == 1
    assert [mention.root.key for mention in found.mentions] == ["x"]


MARKS = "{{ }} {% %} {# #} . [ ] ( ) | , + - ~ 'x' \"q\" 0 -1 1.5 .id is not items range first join count upper é"
PIECES = st.sampled_from([" ", "\n", *NAMES, *MARKS.split(" ")])


@settings(max_examples=600, deadline=None)
@given(st.lists(PIECES, max_size=14).map("".join))
def test_what_is_accepted_the_run_can_read(text: str) -> None:
    """A strict subset: never does the run refuse the form of a template that was accepted."""
    found = templates.read(text)
    known = all(
        f.name in TEMPLATE_FUNCTIONS
        and FUNCTIONS[f.name].least <= f.arguments
        and (FUNCTIONS[f.name].most is None or f.arguments <= (FUNCTIONS[f.name].most or 0))
        for f in found.functions
    )
    if found.faults or not known or not all(m.root.key in NAMES for m in found.mentions):
        return
    try:
        render(text, Scope(NAMES))
    except EvaluationError as error:
        assert "cannot be read" not in error.reason
        assert "templates take" not in error.reason
