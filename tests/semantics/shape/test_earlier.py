"""A statement the parser complained of is not complained of again; its block and its neighbours still are."""

from __future__ import annotations

import pytest

from mcpeval_dsl.semantics import shape
from mcpeval_dsl.source import SourceFile
from mcpeval_dsl.syntax import parse


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('task one {\n  prompt "x"\n  kind   20sec\n  split  trian\n}\n', ["MCPE208 4"]),
        ('task one {\n  prompt "x"\n  may    update(key key: "x")\n}\n', []),
        ('task one {\n  promt "x\n}\n', []),
    ],
)
def test_once(text: str, expected: list[str]) -> None:
    parsed = parse(SourceFile("one.mcpe", text))
    assert parsed.value is not None
    assert parsed.diagnostics
    found = shape.check(parsed.value, parsed.diagnostics)
    assert [f"{d.code} {d.at.line}" for d in found if d.at] == expected
