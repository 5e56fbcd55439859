"""One mistake costs one error and, where it can be mended, no statement."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcpeval_dsl import syntax
from mcpeval_dsl.diagnostics.model import Checked
from mcpeval_dsl.source import SourceFile
from mcpeval_dsl.syntax.tree import SyntaxTree

EXAMPLES = sorted((Path(__file__).parents[1] / "cases/examples").glob("*.mcpe"))


def parse(text: str) -> Checked[SyntaxTree]:
    return syntax.parse(SourceFile("x.mcpe", text))


def names(checked: Checked[SyntaxTree]) -> list[str]:
    assert checked.value is not None
    return [s.span.text.split("{")[0].strip() for s in checked.value.statements]


TASK = """task {name} "Task {name}" {{
  prompt "Which issue is the oldest?"
  tags   search, read
  grade  contains "BILL-7" {{ ignore case }}
}}

"""


def test_a_lost_brace_in_the_second_of_five_tasks_costs_one_error_and_no_task() -> None:
    tasks = [TASK.format(name=name) for name in ("a", "b", "c", "d", "e")]
    tasks[1] = tasks[1].rstrip().removesuffix("}") + "\n"
    checked = parse("".join(tasks))
    assert [d.code for d in checked.diagnostics] == ["MCPE121"]
    assert names(checked) == [f'task {name} "Task {name}"' for name in "abcde"]


@pytest.mark.parametrize("name", ["a", "c", "e"])
def test_errors_of_several_tasks_are_all_reported(name: str) -> None:
    good = "".join(TASK.format(name=n) for n in "abcde")
    bad = good.replace(f'{name} "Task {name}" {{\n  prompt', f'{name} "Task {name}" {{\n  prompt [')
    bad = bad.replace('task b "Task b" {\n  prompt "Which', 'task b "Task b" {\n  prompt: "Which')
    assert len(parse(bad).diagnostics) == 2


def test_a_cut_fence_keeps_the_other_blocks() -> None:
    text = TASK.format(name="a") + 'task b {\n  prompt """\n    Some text\n  tags x\n}\n' + TASK.format(name="c")
    checked = parse(text)
    assert [d.code for d in checked.diagnostics] == ["MCPE112"]
    assert [n.split(" ")[1] for n in names(checked)] == ["a", "b", "c"]


def test_pasted_text_at_column_zero_is_no_statement() -> None:
    text = 'task a {\n  prompt """\ntask b {\nserver x {\n"""\n}\n' + TASK.format(name="c")
    checked = parse(text)
    assert checked.diagnostics == ()
    assert len(names(checked)) == 2


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_a_file_on_one_margin_reads_the_same(path: Path) -> None:
    """Without any indentation a right file is still right: layout only guides recovery."""
    text = path.read_text("utf-8")
    if '"""' in text:
        text = text.split('"""')[0].rsplit("\n\n", 1)[0] + "\n"
    flat = "\n".join(line.lstrip() for line in text.split("\n"))
    assert len(names(parse(flat))) == len(names(parse(text)))


@pytest.mark.parametrize("newline", ["\r\n", "\n"])
def test_both_kinds_of_line_ends(newline: str) -> None:
    text = (
        TASK.format(name="a").replace("\n", newline)
        + f'task b {{{newline}  prompt """{newline}  x{newline}  y{newline}  """{newline}}}'
    )
    checked = parse(text)
    assert checked.diagnostics == ()
    assert checked.value is not None
    assert "'x\\ny'" in repr(checked.value.statements[1])


HOSTILE = {
    "open_parentheses": "a (" * 40_000,
    "open_braces": "a {" * 40_000,
    "closing_braces": "}" * 100_000,
    "braces_on_one_line": "a {}; " * 40_000,
    "brackets_in_regex": "a /[ " * 40_000,
    "fences_of_many_lengths": "\n".join('"' * n + " x" for n in range(3, 500)),
    "headers_in_fences": '"""\ntask a {\n' * 20_001,
    "quotes": '"' * 100_001,
    "colons": "a: b\n" * 20_000,
    "words": "a b" * 60_000,
    "dollars": "$[" * 60_000,
    "commas": "a ," * 60_000,
    "single_quotes": "a '" * 60_000,
    "newlines": "\n" * 200_000,
    "unfinished_objects": "a {b: " * 20_000,
    "slashes": "/" * 100_000,
    "continued": "a" + "\n" * 100_000 + "== b",
    "one_long_list": "a = [" + "b, " * 60_000 + "]",
    "stars": "*a" * 100_000,
    "minus": "-1" * 100_000,
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.timeout(60)  # a quadratic pass needs many minutes for one of them
def test_hostile_texts_come_to_an_end(name: str) -> None:
    checked = parse(HOSTILE[name])
    assert checked.value is not None


def test_no_more_than_a_hundred_errors_are_shown() -> None:
    checked = parse("task a {\n  prompt == \n}\n" * 150)
    assert len(checked.diagnostics) == 101
    assert checked.diagnostics[-1].code == "MCPE104"


def test_a_fence_in_a_comment_is_no_fence() -> None:
    text = 'task a { # """ opens a text\n  prompt """\ntask b {\n"""\n}\n' + TASK.format(name="c")
    checked = parse(text)
    assert checked.diagnostics == ()
    assert len(names(checked)) == 2


@pytest.mark.parametrize("text", ['run "a""""b"\n', 'run "a"""""b" }\n"c" }\n', 'prompt """"a"\n'])
def test_texts_without_a_space_between_them_are_errors_and_no_fences(text: str) -> None:
    assert parse(text).diagnostics
