"""Whatever parses is checked: no crash, errors in order of their statements, each inside the file."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from mcpeval_dsl.diagnostics.registry import info
from mcpeval_dsl.semantics import shape
from mcpeval_dsl.source import SourceFile
from mcpeval_dsl.syntax import parse

CASES = Path(__file__).parents[2] / "cases"
EXAMPLES = sorted(p for part in ("examples", "shape") for p in (CASES / part).rglob("*.mcpe"))
TOKEN = re.compile(r'"[^"\n]*"|\w+|\s+|[^\w\s]')


def _shuffled(text: str, seed: int) -> str:
    """The text with some tokens dropped, doubled, or replaced by others of the same text."""
    rng = random.Random(seed)
    tokens = TOKEN.findall(text)
    for _ in range(max(3, len(tokens) // 60)):
        at, other = rng.randrange(len(tokens)), rng.randrange(len(tokens))
        if tokens[at].strip() and tokens[other].strip():
            tokens[at] = rng.choice(["", tokens[at] + " " + tokens[at], tokens[other]])
    return "".join(tokens)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
@pytest.mark.parametrize("seed", range(6))
def test_never_crashes(path: Path, seed: int) -> None:
    parsed = parse(SourceFile(path.name, _shuffled(path.read_text("utf-8"), seed)))
    assert parsed.value is not None
    for diagnostic in shape.check(parsed.value):
        assert diagnostic.at is not None
        assert info(diagnostic.code) is not None
        assert diagnostic.title
        assert "\n" not in diagnostic.title


@pytest.mark.parametrize("text", ["s(l t,{", "r.s({", 'l[{a:1,"":{'])
def test_bracket_left_open_at_the_end(text: str) -> None:
    parsed = parse(SourceFile("open.mcpe", text))
    assert parsed.value is not None
    assert parsed.diagnostics
    assert shape.check(parsed.value, parsed.diagnostics) == ()


def test_edits_mend_what_they_are_offered_for() -> None:
    """Each error of the bad examples that offers an edit is gone once the edit is made."""
    from mcpeval_dsl.diagnostics.registry import all_codes

    tried = 0
    for entry in all_codes():
        if not "MCPE200" <= entry.code < "MCPE250":
            continue
        file = SourceFile("bad.mcpe", entry.bad)
        tree = parse(file).value
        assert tree is not None
        edit = shape.check(tree)[0].edit
        if edit is None:
            continue
        tried += 1
        starts = file.lines.starts
        begin = starts[edit.at.line - 1] + edit.at.column - 1
        end = starts[edit.at.end_line - 1] + edit.at.end_column - 1
        mended = parse(SourceFile("mended.mcpe", entry.bad[:begin] + edit.text + entry.bad[end:]))
        assert mended.value is not None
        assert (mended.diagnostics, shape.check(mended.value)) == ((), ()), entry.code
    assert tried >= 12
