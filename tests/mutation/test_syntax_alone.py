"""How many single mistakes the grammar alone catches, and with how many errors. Later stages catch the rest."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from mcpeval_dsl import syntax
from mcpeval_dsl.source import SourceFile
from tests.mutation.mistakes import KINDS, MOVED, Mistake, mistakes

EXAMPLES = sorted((Path(__file__).parents[1] / "cases/examples").glob("*.mcpe"))
ALWAYS = ("single quotes", "lost brace", "wrong unit")


def errors(mistake: Mistake) -> int:
    checked = syntax.parse(SourceFile("x.mcpe", mistake.text))
    return sum(d.severity == "error" for d in checked.diagnostics)


def seeded() -> list[Mistake]:
    return [m for n, path in enumerate(EXAMPLES) for m in mistakes(path.read_text("utf-8"), n, 6)]


def test_every_kind_occurs() -> None:
    assert {m.kind for m in seeded()} == {*KINDS, MOVED}


def test_what_the_grammar_can_see_it_sees_with_one_error() -> None:
    caught: Counter[str] = Counter()
    single: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for mistake in seeded():
        number = errors(mistake)
        total[mistake.kind] += 1
        caught[mistake.kind] += number > 0
        single[mistake.kind] += number == 1
    table = "\n".join(f"{k:28} {caught[k]:3} of {total[k]:3}, {single[k]:3} with one error" for k in total)
    assert all(caught[kind] == total[kind] for kind in ALWAYS), table
    assert sum(caught.values()) >= 0.38 * sum(total.values()), table
    assert sum(single.values()) >= 0.97 * sum(caught.values()), table
