"""The table of directives is whole: every entry has words, an example that is right, and a place."""

from __future__ import annotations

import pytest

from mcpeval_dsl.semantics import shape
from mcpeval_dsl.semantics.directives import (
    BLOCKS,
    TABLE,
    Directive,
    block_kind,
    directive_for,
    directives_in,
    grader_named,
)
from mcpeval_dsl.semantics.directives import operands as op
from mcpeval_dsl.semantics.directives.blocks import GRADERS
from mcpeval_dsl.semantics.directives.functions import FUNCTIONS
from mcpeval_dsl.semantics.directives.metrics import METRICS
from mcpeval_dsl.semantics.directives.wording import UNITS, signature, wanted
from mcpeval_dsl.source import SourceFile
from mcpeval_dsl.syntax import parse

ENTRIES = [(entry, parent) for entry in TABLE for parent in entry.parents]


def _errors(text: str, parent: str) -> list[str]:
    parsed = parse(SourceFile("example.mcpe", text + "\n"))
    assert parsed.value is not None
    return [f"{d.code} {d.title}" for d in (*parsed.diagnostics, *shape.check_as(parsed.value, parent))]


def _name(case: tuple[Directive, str]) -> str:
    return f"{case[1]}-{case[0].name}"


@pytest.mark.parametrize("case", ENTRIES, ids=_name)
def test_example_is_right(case: tuple[Directive, str]) -> None:
    entry, parent = case
    assert _errors(entry.example, parent) == []
    assert entry.example.startswith(entry.name)
    assert entry.doc.endswith(".")


@pytest.mark.parametrize("case", [c for c in ENTRIES if len(c[0].name) > 3], ids=_name)
def test_misspelt_word_gives_one_error(case: tuple[Directive, str]) -> None:
    entry, parent = case
    name = entry.name
    misspelt = name[0] + name[2] + name[1] + name[3:] if name[1] != name[2] else name[0] + name[2:]
    errors = _errors(misspelt + entry.example[len(name) :], parent)
    assert len(errors) == 1, errors
    assert errors[0][:8] in ("MCPE201", "MCPE201 ", "MCPE202 ", "MCPE222 "), errors


@pytest.mark.parametrize("case", ENTRIES, ids=_name)
def test_second_statement(case: tuple[Directive, str]) -> None:
    entry, parent = case
    errors = _errors(f"{entry.example}\n{entry.example}", parent)
    wanted_codes = ["MCPE212"] if entry.repeat == "one" else []
    assert [e[:7] for e in errors] == wanted_codes


def test_one_meaning_in_each_block() -> None:
    places = [(entry.name, parent) for entry, parent in ENTRIES]
    assert len(places) == len(set(places))


def test_every_kind_of_block_is_opened_by_something() -> None:
    opened = {entry.block.kind for entry in TABLE if entry.block} | {"file", "call"}
    assert opened == {kind.name for kind in BLOCKS}


def test_requirements_name_words_of_the_block() -> None:
    for kind in BLOCKS:
        for requirement in kind.requires:
            assert set(requirement.names) <= set(directives_in(kind.name)), kind.name


def test_graders_have_a_block_of_their_own() -> None:
    for name in GRADERS:
        grader = grader_named(name)
        assert grader is not None and grader.block is not None
        assert grader.block.kind == f"grade_{name}"
        assert "weight" in directives_in(grader.block.kind)


def test_what_run_may_refuse() -> None:
    refused = {entry.name for entry in TABLE if entry.run != "yes"}
    assert refused == {
        *("for", "oauth"),
        *("claude_code", "codex", "gemini_cli", "opencode", "copilot_cli", "qwen_code", "command"),
    }
    loop = directive_for("for", "file")
    assert loop is not None and loop.run == "yes"
    grader = directive_for("command", "grade_any")
    assert grader is not None and grader.run == "yes"


def _leaves(operand: op.Operand) -> list[op.Leaf]:
    if isinstance(operand, (op.Sequence, op.Options, op.Choice)):
        return [leaf for part in operand.parts for leaf in _leaves(part)]
    if isinstance(operand, (op.Maybe, op.Commas)):
        return _leaves(operand.part)
    return [operand]


def test_every_operand_has_words() -> None:
    for entry in TABLE:
        assert isinstance(signature(entry.operands), str)
        for leaf in _leaves(entry.operands):
            assert wanted(leaf)
            assert op.label_of(leaf)


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=lambda f: f.name)
def test_example_of_function_is_right(function: object) -> None:
    assert _errors(f"let x = {function.example}", "file") == []


def test_units_of_metrics_are_known() -> None:
    assert {metric.unit for metric in METRICS.values()} <= set(UNITS)


def test_unknown_kind_of_block() -> None:
    with pytest.raises(KeyError):
        block_kind("nowhere")
