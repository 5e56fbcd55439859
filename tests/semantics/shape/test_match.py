"""`match` reads a statement by the labels of the table."""

from __future__ import annotations

import pytest

from mcpeval_dsl.semantics import shape
from mcpeval_dsl.semantics.shape import Matched
from mcpeval_dsl.source import SourceFile
from mcpeval_dsl.syntax import parse
from mcpeval_dsl.syntax.tree import Directive


def _match(text: str, parent: str) -> Matched | None:
    parsed = parse(SourceFile("one.mcpe", text + "\n"))
    assert parsed.value is not None
    statement = parsed.value.statements[0]
    assert isinstance(statement, Directive)
    return shape.match(statement, parent)


@pytest.mark.parametrize(
    ("text", "parent", "label", "items"),
    [
        ("lift mcp over cli by [tag, model]", "file", "by", ["[tag, model]"]),
        ("lift mcp over cli", "file", "baseline", ["cli"]),
        ("budget calls <= 6 hard 15, tokens <= 40k", "task", "hard_calls", ["15"]),
        ("budget calls <= 6 hard 15, tokens <= 40k", "task", "tokens", ["tokens <= 40k"]),
        ('stdio "uvx" "server" root', "server", "argv", ['"uvx"', '"server"', "root"]),
        ("tags search, read", "task", "tag", ["search", "read"]),
        ("grade contains a.b, c weight 0", "task", "weight", ["0"]),
        ("grade state t.get(k: 1) $.x has 2 within 1%", "task", "source", ["t.get(k: 1)"]),
        ('prompt file "ask.md"', "task", "file", ['"ask.md"']),
        ("for f in tree.files where f ~ /x/ limit 4 { }", "file", "limit", ["4"]),
    ],
)
def test_labels(text: str, parent: str, label: str, items: list[str]) -> None:
    matched = _match(text, parent)
    assert matched is not None
    assert [item.span.text for item in matched.every(label)] == items


def test_grader_is_named() -> None:
    matched = _match('grade not contains "x"', "task")
    assert matched is not None and matched.grader is not None
    assert (matched.grader.name, matched.negated) == ("contains", True)


@pytest.mark.parametrize(("text", "parent"), [("tags read", "server"), ("trials 5s", "suite"), ("seed", "suite")])
def test_misfit_is_none(text: str, parent: str) -> None:
    assert _match(text, parent) is None
