"""Whatever stands in a file, the front end answers with diagnostics, never with an exception."""

from __future__ import annotations

import random

import pytest

from mcpeval_dsl import pipeline
from mcpeval_dsl.syntax.scanner import scan
from tests.semantics.memory import Memory, examples


def scrambled(text: str, choose: random.Random) -> str:
    """Tokens dropped, doubled, swapped or taken from elsewhere; a few at a time."""
    pieces = [text[t.start : t.end] for t in scan(text).items]
    spaced = []
    end = 0
    for token in scan(text).items:
        spaced.append(text[end : token.start])
        end = token.end
    for _ in range(choose.randint(1, 5)):
        at = choose.randrange(len(pieces))
        match choose.randrange(4):
            case 0:
                pieces[at] = ""
            case 1:
                pieces[at] = f"{pieces[at]} {pieces[at]}"
            case 2:
                other = choose.randrange(len(pieces))
                pieces[at], pieces[other] = pieces[other], pieces[at]
            case _:
                pieces[at] = choose.choice(pieces)
    return "".join(space + piece for space, piece in zip(spaced, pieces, strict=True)) + text[end:]


@pytest.mark.parametrize("path", [p for p in examples() if "/" not in p])
def test_scrambled_specs(path: str) -> None:
    files = examples()
    choose = random.Random(path)
    for _ in range(40):
        text = scrambled(files[path], choose)
        checked = pipeline.check(path, Memory({**files, path: text}, anything=True))
        assert all(d.title and d.code for d in checked.diagnostics)


def test_the_same_text_gives_the_same_suite() -> None:
    files = examples()
    for path in (p for p in files if "/" not in p):
        first = pipeline.check(path, Memory(files, anything=True))
        assert first == pipeline.check(path, Memory(files, anything=True))
