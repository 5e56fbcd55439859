"""Snippets of the table: filled in with what stands in their places, they are read without an error."""

from __future__ import annotations

import re

import pytest

from mcpeval_dsl.language_server.features.completion.snippets import snippet
from mcpeval_dsl.semantics.directives import TABLE, Directive
from mcpeval_dsl.semantics.shape import check_as
from mcpeval_dsl.source import SourceFile
from mcpeval_dsl.syntax import parse

_CHOICE = re.compile(r"\$\{\d+\|((?:\\.|[^,|\\])+)[^}]*\}")
_PLACE = re.compile(r"\$\{\d+:((?:\\.|[^}\\])*)\}")
_STOP = re.compile(r"(?<!\\)\$(?:\d+|\{\d+\})")


def filled(text: str) -> str:
    """The text of a snippet when nothing is changed in it."""
    text = _CHOICE.sub(lambda found: found[1], text)
    text = _PLACE.sub(lambda found: found[1], text)
    return re.sub(r"\\(.)", r"\1", _STOP.sub("", text))


@pytest.mark.parametrize("entry", TABLE, ids=lambda e: f"{e.parents[0]}-{e.name}")
def test_a_snippet_can_be_read(entry: Directive) -> None:
    text = filled(snippet(entry))
    assert text.split()[0] == entry.name
    assert [d.title for d in parse(SourceFile("a.mcpe", text)).diagnostics if d.severity == "error"] == []


@pytest.mark.parametrize(
    "entry", [e for e in TABLE if "$0" not in snippet(e)], ids=lambda e: f"{e.parents[0]}-{e.name}"
)
def test_a_snippet_without_a_last_place_has_the_shape_of_its_directive(entry: Directive) -> None:
    tree = parse(SourceFile("a.mcpe", filled(snippet(entry)))).value
    assert tree is not None
    assert [d.title for d in check_as(tree, entry.parents[0])] == []
