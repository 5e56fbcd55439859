"""What is written into a spec reads back as what it was."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpeval_dsl.interchange import words
from mcpeval_dsl.pipeline import check
from mcpeval_dsl.syntax.strings import string_value
from mcpeval_dsl.values.evaluate import evaluate
from mcpeval_dsl.values.model import Scope
from mcpeval_dsl.values.templates import render

SPEC = 'suite a {{ trials 1 }}\nserver s {{ stdio "x" }}\nmodel agent {{ anthropic "c" }}\nmatrix {{ model = [agent] }}\n{}\n'
texts = st.text(max_size=60) | st.text(alphabet="\"\\\n {%}#'abc", max_size=60)


def read(token: str) -> str:
    return render(string_value(token, 0)[0], Scope({}))


@given(texts)
def test_texts_read_back(text: str) -> None:
    wanted = words.clean(text)[0]
    assert read(words.quoted(text)) == wanted
    assert read(words.block(text, 2)) == wanted


def expression_of(value: str) -> Any:
    checked = check("a.mcpe", lambda _: SPEC.format(f"let x = {value}").encode())
    assert checked.value is not None and checked.ok, checked.diagnostics
    return checked.value.lets[0].value


def test_many_names_of_one_title_take_a_step_each() -> None:
    class Counting(set[str]):
        looked = 0

        def __contains__(self, name: object) -> bool:
            self.looked += 1
            return super().__contains__(name)

    names = words.Names()
    names.taken = looked = Counting()
    found = [names.new("Find the issue", "task") for _ in range(200)]
    assert len(set(found)) == 200 and found[:3] == ["find_the_issue", "find_the_issue_2", "find_the_issue_3"]
    assert looked.looked < 3 * 200


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**12), 10**12)
    | st.sampled_from([0.5, -2.25, 1e-7])
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(min_size=1, max_size=6), inner, max_size=3),
    max_leaves=6,
)


def cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return words.clean(value)[0]
    if isinstance(value, dict):
        return {words.clean(key)[0]: cleaned(item) for key, item in value.items()}
    return [cleaned(item) for item in value] if isinstance(value, list) else value


@given(json_values)
def test_values_read_back(value: Any) -> None:
    assert evaluate(expression_of(words.value(value)), Scope({})) == cleaned(value)


@pytest.mark.parametrize(
    "title", [*sorted(words.words_of_the_language()), "é", "한국어", "42", "-", "a" * 500, "Let's go!", "a/b"]
)
def test_any_title_gives_a_name_that_compiles(title: str) -> None:
    names = words.Names()
    task, again, server = names.new(title, "task"), names.new(title, "task"), names.new(title, "server")
    assert len({task, again, server}) == 3 and max(map(len, (task, again, server))) <= 60
    text = SPEC.format("\n".join(f'task {name} {{ prompt "x"; grade contains "y" }}' for name in (task, again)))
    text = text.replace("server s", f"server {server}")
    checked = check("a.mcpe", lambda _: text.encode())
    assert checked.ok, checked.diagnostics


@pytest.mark.parametrize(
    ("pattern", "matching"),
    [
        ("a/b", "a/b"),
        ("^/x", "/x"),
        (" a", "a a"),
        ("[/]", "/"),
        ("\\/", "/"),
        ("*"[:0] + "a*", "b"),
        ("a\nb", "a\nb"),
        ("#", "#"),
    ],
)
def test_regular_expressions_read_back(pattern: str, matching: str) -> None:
    written = words.regex(pattern)
    assert written is not None
    checked = check("a.mcpe", lambda _: SPEC.format(f'task ab {{ prompt "x"; grade regex {written} }}').encode())
    assert checked.ok and checked.value is not None, checked.diagnostics
    from mcpeval_dsl.values.regex import compiled

    grader: Any = checked.value.tasks[0].graders[0]
    assert compiled(grader.pattern, grader.flags).search(matching)


@pytest.mark.parametrize("pattern", ["(?=x)", "(a)\\1", "(", "", "(?<!x)y"])
def test_what_re2_has_not_is_not_written(pattern: str) -> None:
    assert words.regex(pattern) is None
