"""What holds for every text: nothing is lost, nothing raises, places are inside the file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from mcpeval_dsl import syntax
from mcpeval_dsl.source import SourceFile, Span
from mcpeval_dsl.syntax.scanner import scan
from mcpeval_dsl.syntax.split import split
from tests.syntax.dump import tree_lines
from tests.syntax.sentences import sentences

EXAMPLES = [p.read_text("utf-8") for p in sorted((Path(__file__).parents[1] / "cases/examples").glob("*.mcpe"))]
WORDS = '{ } ( ) [ ] , : = == in not prompt $.a /x/ 20s 20sec r ; * . é 🙂 - // \' " """'
PIECES = st.sampled_from([*WORDS.split(" "), "\n", " ", "task a {", "# c\n", "\\", "\x00", "\u202e", "{{ x }}", "\r\n"])
TEXTS = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=60).map("".join))


def nodes(node: Any) -> Iterator[Any]:
    if isinstance(node, tuple):
        for item in node:
            yield from nodes(item)
    elif is_dataclass(node) and not isinstance(node, Span):
        yield node
        for item in fields(node):
            if item.name not in ("span", "operator_span", "offsets", "file"):
                yield from nodes(getattr(node, item.name))


@given(TEXTS)
def test_the_scanner_loses_no_character(text: str) -> None:
    tokens = scan(text)
    assert tokens.joined() == text
    position = 0
    for token in tokens.items:
        assert token.end > token.start >= position
        assert not text[position : token.start].strip(" \t\r")
        position = token.end
    assert not text[position:].strip(" \t\r")


@given(TEXTS)
def test_pieces_cover_the_text(text: str) -> None:
    pieces = split(text)
    assert [p.start for p in pieces] == [0, *(p.end for p in pieces[:-1])]
    assert pieces[-1].end == len(text)


@given(TEXTS)
def test_any_text_gives_a_tree_and_places_inside_it(text: str) -> None:
    file = SourceFile("x.mcpe", text)
    checked = syntax.parse(file)
    assert checked.value is not None
    for node in nodes(checked.value.statements):
        assert 0 <= node.span.start <= node.span.end <= len(text)
    for diagnostic in checked.diagnostics:
        assert diagnostic.title and diagnostic.hint and diagnostic.at is not None
        assert "{last}" not in diagnostic.title and "expected" not in diagnostic.title
        assert 1 <= diagnostic.at.line <= text.count("\n") + 1


@given(TEXTS)
def test_a_lost_statement_is_never_silent(text: str) -> None:
    checked = syntax.parse(SourceFile("x.mcpe", text))
    assert checked.value is not None
    assert checked.value.complete or not checked.ok


@settings(max_examples=60)
@given(st.sampled_from(EXAMPLES), st.data())
def test_a_cut_or_doubled_example_never_raises(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    size = data.draw(st.integers(1, 40))
    inserted = data.draw(st.one_of(st.just(""), PIECES))
    checked = syntax.parse(SourceFile("x.mcpe", text[:start] + inserted + text[start + size :]))
    assert checked.value is not None


@given(sentences())
def test_every_sentence_of_the_grammar_is_read(text: str) -> None:
    checked = syntax.parse(SourceFile("x.mcpe", text))
    assert [d for d in checked.diagnostics if d.severity == "error" and d.code != "MCPE103"] == []


@given(st.lists(sentences(longest=10), min_size=1, max_size=3), st.integers(0, 5))
def test_moving_a_text_moves_its_tree_only(texts: list[str], lines: int) -> None:
    text = "\n".join(texts)
    plain = syntax.parse(SourceFile("x.mcpe", text)).value
    moved = syntax.parse(SourceFile("x.mcpe", "\n" * lines + text)).value
    assert plain is not None and moved is not None
    shifted = [node.span.start - lines for node in nodes(moved.statements)]
    assert [node.span.start for node in nodes(plain.statements)] == shifted


@given(st.text(st.characters(exclude_characters='"\\\n\r', exclude_categories=("Cs",)), max_size=50))
def test_a_plain_string_says_where_each_character_stands(inner: str) -> None:
    file = SourceFile("x.mcpe", f'let a = "{inner}"')
    tree = syntax.parse(file).value
    assert tree is not None
    (binding,) = tree.statements
    value: Any = binding.value  # type: ignore[union-attr]
    assert value.value == inner
    assert "".join(file.text[offset] for offset in value.offsets[:-1]) == inner


@given(st.lists(st.text(st.sampled_from("ab \t{}#'"), max_size=8), min_size=1, max_size=6), st.integers(0, 4))
def test_triple_quotes_dedent_and_keep_places(lines: list[str], depth: int) -> None:
    inner = "\n".join(" " * depth + line for line in lines)
    file = SourceFile("x.mcpe", f'let a = """\n{inner}\n{" " * depth}"""')
    tree = syntax.parse(file).value
    assert tree is not None
    (binding,) = tree.statements
    value: Any = binding.value  # type: ignore[union-attr]
    assert len(value.offsets) == len(value.value) + 1
    assert "".join(file.text[offset] for offset in value.offsets[:-1]) == value.value
    assert [line.strip() for line in value.value.split("\n")] == [line.strip() for line in lines]


def test_equal_pieces_are_read_once() -> None:
    text = 'task a { prompt "x" }\n'
    first = syntax.parse(SourceFile("x.mcpe", text + 'task b { prompt "y" }\n')).value
    again = syntax.parse(SourceFile("y.mcpe", "# moved\n" + text)).value
    assert first is not None and again is not None
    without_place = [[line.split(" @")[0] for line in tree_lines(tree.statements[0])] for tree in (first, again)]
    assert without_place[0] == without_place[1]
