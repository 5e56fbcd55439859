"""Outline, folding, selection and links of a file."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from mcpeval_dsl.language_server.features.folding import folding
from mcpeval_dsl.language_server.features.links import links
from mcpeval_dsl.language_server.features.selection import selection
from mcpeval_dsl.language_server.features.symbols import Symbol, document_symbols, workspace_symbols
from tests.language_server.features.cases import Case, read
from tests.language_server.features.marked import Memory, marked, plain


@pytest.mark.parametrize("case", read("symbols"), ids=lambda c: c.name)
def test_outlines(case: Case) -> None:
    assert list(_shown(document_symbols(case.snapshot()), "")) == case.lines


def _shown(symbols: Iterable[Symbol], indent: str) -> Iterable[str]:
    for symbol in symbols:
        detail = f" ({symbol.detail})" if symbol.detail else ""
        yield f"{indent}{symbol.kind} {symbol.name}{detail}"
        yield from _shown(symbol.children, f"{indent}  ")


def test_every_symbol_holds_its_name_and_its_children() -> None:
    case = read("symbols")[0]

    def check(symbols: Iterable[Symbol], start: int, end: int) -> None:
        for symbol in symbols:
            assert start <= symbol.start <= symbol.name_start <= symbol.name_end <= symbol.end <= end
            check(symbol.children, symbol.start, symbol.end)

    check(document_symbols(case.snapshot()), 0, len(case.texts[case.path]))


@pytest.mark.parametrize("case", read("folding"), ids=lambda c: c.name)
def test_folds(case: Case) -> None:
    assert [f"{f.start}-{f.end} {f.kind}" for f in folding(case.snapshot())] == case.lines


def test_symbols_of_the_project_by_letters_in_order() -> None:
    memory = Memory({"a.mcpe": "task long_name { }\nlet lane = 1\n", "b.mcpe": "model line { }\nlet other = 1\n"})
    found = workspace_symbols([s for p in memory.paths() if (s := memory.snapshot(p))], "lne")
    assert [(n.name, n.container) for n in found] == [("lane", "a.mcpe"), ("line", "b.mcpe"), ("long_name", "a.mcpe")]


def test_selection_grows_from_a_word_to_the_file() -> None:
    snapshot, offset, _ = marked('let a = 1\ntask t { grade contains first(bil⟦⟧ling.key), "x" }\n')
    found = [snapshot.text[start:end] for start, end in selection(snapshot, offset)]
    assert found == [
        "billing",
        "billing.key",
        "(billing.key)",
        "first(billing.key)",
        "contains first(billing.key)",
        'grade contains first(billing.key), "x"',
        '{ grade contains first(billing.key), "x" }',
        'task t { grade contains first(billing.key), "x" }',
        snapshot.text,
    ]


def test_selection_in_quotes_takes_the_text_first() -> None:
    snapshot, offset, _ = marked('task t { prompt "some te⟦⟧xt" }\n')
    assert [snapshot.text[s:e] for s, e in selection(snapshot, offset)][:2] == ["some text", '"some text"']


def test_links_lead_to_files_that_exist() -> None:
    texts = {
        "scripts/agent.yaml": "",
        "specs/shared.mcpe": "",
        "outside.mcpe": "",
    }
    spec = (
        'import "shared.mcpe"\nimport "missing.mcpe"\nimport "../../outside.mcpe"\n'
        'model a { script "../scripts/agent.yaml" }\ntask t { prompt file "../scripts/agent.yaml" }\n'
        'environment e { copy "../scripts/agent.yaml"; copy "{{ workdir }}/x"; write "../scripts/agent.yaml" "x" }\n'
    )
    snapshot = plain(spec, texts)
    found = [(snapshot.text[found.start : found.end], found.path) for found in links(snapshot)]
    assert found == [("shared.mcpe", "specs/shared.mcpe")] + [("../scripts/agent.yaml", "scripts/agent.yaml")] * 3
