"""Foreign texts as trees: what well-formed ones say, how broken ones are mended, and that bombs end."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpeval_dsl.interchange.trees import json_tree, xml_tree, yaml_tree
from mcpeval_dsl.interchange.trees.node import Unreadable
from mcpeval_dsl.interchange.trees.xml_tree import Element

TEXTS = frozenset({"question", "answer"})
BLOCKS = frozenset({"qa_pair", "evaluation"})
words = st.text(st.characters(codec="utf-8", exclude_characters="\r", exclude_categories=("Cc", "Cs")), max_size=12)


@st.composite
def trees(draw: st.DrawFn, depth: int = 3) -> ElementTree.Element:
    element = ElementTree.Element(draw(st.sampled_from(["a", "b-c", "question", "qa_pair"])))
    element.text = draw(words)
    for name in draw(st.sets(st.sampled_from(["id", "x:y", "n"]))):
        element.set(name, draw(words.filter(lambda text: "\n" not in text)))
    for child in draw(st.lists(trees(depth - 1), max_size=2)) if depth else ():
        element.append(child)
        child.tail = draw(words)
    return element


def same(found: Element, wanted: ElementTree.Element) -> None:
    assert (found.tag, found.attributes, found.text) == (wanted.tag, wanted.attrib, "".join(wanted.itertext()))
    assert len(found.children) == len(wanted)
    for mine, theirs in zip(found.children, wanted, strict=True):
        same(mine, theirs)


@given(trees())
def test_well_formed_xml_is_read_as_by_a_strict_parser(tree: ElementTree.Element) -> None:
    found = xml_tree.read(ElementTree.tostring(tree, encoding="unicode"), TEXTS, BLOCKS)
    assert found.repairs == ()
    same(found.root.children[0], tree)


@given(st.text(alphabet='<>/&;! -[]"=abqucestionwrCDATA\n', max_size=80))
def test_any_text_is_read(text: str) -> None:
    xml_tree.read(text, TEXTS, BLOCKS)


BROKEN = {
    "<question>a & b</question>": ["a & b"],
    "<question>a < b <= c</question>": ["a < b <= c"],
    "<question>List<String></question>": ["List<String>"],
    "<question>x<y and z>w</question>": ["x<y and z>w"],
    "<question>one<answer>two</answer>": ["one", "two"],
    "<qa_pair><question>one</question><qa_pair><question>two</question></qa_pair>": ["one", "two"],
    "<question>one": ["one"],
    "</answer><question>one</question></nothing>": ["one"],
    "<question>a &lt;b&gt; &amp; &#65;&#x42; &nbsp;&unknown;</question>": ["a <b> & AB \xa0&unknown;"],
    "<question><![CDATA[<b> & ]]>c</question>": ["<b> & c"],
    '<!DOCTYPE x [<!ENTITY a "b"><!ENTITY c SYSTEM "file:///etc/passwd">]><question>&a;&c;</question>': ["&a;&c;"],
    "<question a='1' b=2 c>x</question>": ["x"],
    "<!-- <question>no</question> --><question>yes</question>": ["yes"],
    "<question/><answer>x</answer>": ["", "x"],
}


@pytest.mark.parametrize("text", BROKEN)
def test_broken_xml_is_mended(text: str) -> None:
    found = xml_tree.read(text, TEXTS, BLOCKS)
    assert [element.text for element in found.root.walk() if element.tag in TEXTS] == BROKEN[text]


@pytest.mark.parametrize(
    "text",
    [
        "<a>" * 100_000,
        "<" * 100_000,
        "<!DOCTYPE [" * 50_000,
        "<!--" * 50_000,
        "<a b=" * 50_000,
        "</a>" * 50_000,
        "&" * 99_999,
    ],
    ids=lambda text: text[:9],
)
def test_large_and_deep_xml_ends(text: str) -> None:
    try:
        xml_tree.read(text)
    except Unreadable as problem:
        assert "levels deep" in problem.reason


JSON: dict[str, Any] = {
    '{"a": [1, 2.5, true, null, "x\\u00e9"]}': {"a": [1, 2.5, True, None, "xé"]},
    "{} ": {},
    "[1, 2, ] // end\n/* of */": [1, 2],
    '{"a": 1, "a": 2}': {"a": 2},
    '"\\ud83d\\ude00\\ud800"': "😀\ufffd\ufffd\ufffd",
}


@pytest.mark.parametrize("text", JSON)
def test_json_is_read(text: str) -> None:
    assert json_tree.read(text).plain() == JSON[text]


@pytest.mark.parametrize(
    ("text", "reason", "line"),
    [
        ("", "empty", 1),
        ("[1 2]", "a comma is missing", 1),
        ('{"a"\n1}', "a colon is missing", 2),
        ('{"a": 1', "never closed", 1),
        ("[1]\n]", "closes nothing", 2),
        ('{"a": "x', "never closed", 1),
        ("[1] [2]", "a comma is missing", 1),
        ("{1}", "closes nothing", 1),
        ("[" * 5000, "levels deep", 1),
        ("[nul]", "no value", 1),
    ],
)
def test_what_is_no_json_is_told_with_its_line(text: str, reason: str, line: int) -> None:
    with pytest.raises(Unreadable) as caught:
        json_tree.read(text)
    assert reason in caught.value.reason and caught.value.line == line


def test_nodes_know_their_lines_and_keys_that_stand_twice() -> None:
    node = json_tree.read('{\n "a": [\n  1,\n  2],\n "a": 3}')
    assert (node.line_of("a"), node.twice, node.pairs["a"].raw) == (5, [("a", 5)], "3")


YAML: dict[str, Any] = {
    "a: yes\nb: 2025-01-01\nc: 1.50\nd: ~\ne: 'no'": {"a": "yes", "b": "2025-01-01", "c": 1.5, "d": None, "e": "no"},
    "base: &b {x: 1}\nc:\n  <<: *b\n  y: 2": {"base": {"x": 1}, "c": {"x": 1, "y": 2}},
    "a: !!python/object/apply:os.system [ls]": {"a": ["ls"]},
    "a: |\n  one\n  two\n": {"a": "one\ntwo\n"},
}


@pytest.mark.parametrize("text", YAML)
def test_yaml_is_read_and_its_tags_are_not_obeyed(text: str) -> None:
    assert [node.plain() for node in yaml_tree.read(text)] == [YAML[text]]


BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10)
)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (BOMB, "values"),
        ("a: &x {b: *x}", "levels deep"),
        ("[" * 100_000, "nesting"),
        ("- " * 5_000 + "x", "levels deep"),
        ("a: *nobody", "before its anchor"),
        ("\ta: 1", "cannot start"),
        ("a: b: c", "not allowed"),
        ("? [a]\n: b", "no text"),
    ],
    ids=lambda value: value[:8],
)
def test_what_is_no_yaml_or_would_explode_is_told(text: str, reason: str) -> None:
    with pytest.raises(Unreadable) as caught:
        yaml_tree.read(text)
    assert reason in caught.value.reason
