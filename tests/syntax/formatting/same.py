"""What formatting leaves as it is, in a form that can be compared."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from mcpeval_dsl.source import SourceFile
from mcpeval_dsl.syntax import parse
from mcpeval_dsl.syntax.formatting import Replacement, format_edits, format_text
from mcpeval_dsl.syntax.scanner import scan
from mcpeval_dsl.syntax.strings import string_value

_PLACES = frozenset({"span", "operator_span", "offsets", "file"})


def comments(text: str) -> list[str]:
    return [text[t.start : t.end].rstrip() for t in scan(text).items if t.kind == "COMMENT"]


def words(text: str) -> list[tuple[str, str]]:
    """Kind and text of each token: texts by their value, and without the comma behind a bracket's last element."""
    found: list[tuple[str, str]] = []
    for token in scan(text).items:
        word = text[token.start : token.end]
        if token.kind in ("COMMENT", "_NL"):
            continue
        if token.kind in ("RPAR", "RSQB", "RBRACE") and found and found[-1][0] == "COMMA":
            found.pop()
        if token.kind == "TEXT":
            word = string_value(word, 0)[0]
        found.append((token.kind, " ".join(word.split()) if token.kind == "CMP" else word))
    return found


def tree(node: Any) -> Any:
    """A syntax tree without its places."""
    if isinstance(node, tuple):
        return tuple(tree(item) for item in node)
    if is_dataclass(node):
        return (type(node).__name__, *(tree(getattr(node, f.name)) for f in fields(node) if f.name not in _PLACES))
    return node


def is_spec(text: str) -> bool:
    errors = [d for d in parse(SourceFile("spec.mcpe", text)).diagnostics if d.severity == "error"]
    return all(d.code == "MCPE103" for d in errors)


def applied(text: str, edits: tuple[Replacement, ...]) -> str:
    for edit in reversed(edits):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def assert_formats(text: str) -> str:
    """Everything that holds of the canonical form of any spec; returns it."""
    formatted = format_text(text).value
    assert formatted is not None
    assert comments(formatted) == comments(text)
    assert words(formatted) == words(text)
    before, after = (parse(SourceFile("spec.mcpe", t)).value for t in (text, formatted))
    assert before is not None and after is not None
    assert tree(after.statements) == tree(before.statements)
    assert format_text(formatted).value == formatted
    edits = format_edits(text).value
    assert edits is not None and applied(text, edits) == formatted
    return formatted
