"""Templates of scripts: values keep their type, and nothing but data comes in reach."""

from __future__ import annotations

import resource
from typing import Any

import pytest

from mcpeval_dsl.agents.drivers.script_templates import TemplateProblem, compile_tree, expression, fill_tree, template

NAMES: dict[str, Any] = {
    "prompt": "Close the issue titled 'late' of 1,250 in Billing",
    "last": {"structured": {"issues": [{"key": "B-1", "items": 3}, {"key": "B-2", "items": 5}], "next": None}},
    "text": "key: B-7\nkey: B-8\n",
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("plain", "plain"),
        ("{{ last.structured.issues[0].items }}", 3),
        ("{{ last.structured.issues }}", NAMES["last"]["structured"]["issues"]),
        ("{{ last.structured.issues | map(attribute='key') }}", ["B-1", "B-2"]),
        ("{{ (last.structured.issues | selectattr('items', 'gt', 3) | first).key }}", "B-2"),
        ("{{ (last.structured.issues | sort(attribute='items') | last).key }}", "B-2"),
        ("{{ last.structured.next }}", None),
        ("{{ last.structured.more | default('no') }}", "no"),
        ("{{ last.structured.issues | length + 1 }}", 3),
        ("n={{ last.structured.issues[1]['items'] }}", "n=5"),
        ("{{ capture(prompt, \"titled '([^']*)'\") }}", "late"),
        ("{{ captures(text, '(?m)^key: (.*)$') }}", ["B-7", "B-8"]),
        ("{{ number(prompt) }}", 1250),
        ("{{ jsonpath(last.structured, '$.issues[0].key') }}", "B-1"),
        ("{{ jsonpath(last.structured, '$.issues[*].items') }}", [3, 5]),
        ("{{ json('[1, 2]')[1] }}", 2),
        ("{{ 'yes' if 'Billing' in prompt else 'no' }}", "yes"),
        ("{{ last.structured.issues[0] | tojson }}", '{"key": "B-1", "items": 3}'),
        ("{{ '<&>' }} x", "<&> x"),
    ],
)
def test_value(text: str, value: Any) -> None:
    assert template(text).value(NAMES) == value


@pytest.mark.parametrize(
    "text",
    [
        "{{ nothing }}",
        "{{ last.structured.tilte }}",
        "{{ last.structured.issues[9].key }}",
        "x {{ last.structured.tilte }}",
        "{{ capture(prompt, 'Warehouse') }}",
        "{{ jsonpath(last, '$.x') }}",
        "{{ jsonpath(last, 'x[') }}",
        "{{ capture(prompt, '(') }}",
        "{{ json(prompt) }}",
        "{{ number('none') }}",
        "{{ 1 / 0 }}",
        "{{ prompt - 1 }}",
        "{{ last.structured.issues | sum }}",
        "{{ ('a' | replace('a', prompt)) | int(default=prompt.x) }}",
    ],
)
def test_what_has_no_value_is_a_problem_with_words(text: str) -> None:
    with pytest.raises(TemplateProblem) as caught:
        template(text).value(NAMES)
    assert caught.value.reason


@pytest.mark.parametrize(
    "text",
    [
        "{{ prompt.__class__ }}",
        "{{ ''.join }}",
        "{{ last.items }}",
        "{{ last['__init__'] }}",
        "{{ (prompt | map(attribute='__class__') | list)[0] }}",
    ],
)
def test_python_is_out_of_reach(text: str) -> None:
    with pytest.raises(TemplateProblem):
        template(text).value(NAMES)


@pytest.mark.parametrize(
    "text",
    ["{% set x = 1 %}", "{{ range(9) }}", "{{ 'a' * 9 }}", "{{ 9 ** 9 }}", "{{ '%9d' % 1 }}", "{{ x | xmlattr }}"],
)
def test_what_is_not_listed_is_refused_while_reading(text: str) -> None:
    with pytest.raises(TemplateProblem):
        template(text)


@pytest.mark.parametrize(
    "text",
    [
        "{{ prompt | replace('', prompt) | replace('', prompt) }}",
        "and {{ prompt | replace('x', prompt, 600) }}",
        "{{ prompt | list | join(prompt) }}",
        "{{ prompt | list | map('replace', 'x', prompt) | join }}",
    ],
)
def test_output_is_capped_before_it_is_built(text: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(TemplateProblem, match="longer than"):
        template(text).value({"prompt": "x" * 2000})
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000, "KB"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{{ prompt | replace('e', 'EE', 1) }}", "sEEven"),
        ("{{ prompt | replace('e', '') }}", "svn"),
        ("{{ [1, prompt, none] | join(', ') }}", "1, seven, None"),
        ("{{ [{'a': 1}, {'a': 2}] | join('-', attribute='a') }}", "1-2"),
        ("{{ prompt | list | join }}", "seven"),
    ],
)
def test_filters_that_are_capped_are_those_of_jinja(text: str, value: str) -> None:
    assert template(text).value({"prompt": "seven"}) == value


def test_expressions_stand_with_or_without_braces() -> None:
    assert expression("last.structured.issues | length > 1").evaluate(NAMES) is True
    assert expression("{{ not last.structured.next }}").evaluate(NAMES) is True


def test_trees_are_filled_everywhere() -> None:
    tree = compile_tree({"a": ["{{ last.structured.issues[0].items }}", 1, None], "b": {"c": "x"}})
    assert fill_tree(tree, NAMES) == {"a": [3, 1, None], "b": {"c": "x"}}
