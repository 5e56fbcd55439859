"""The shipped tables are those of the grammar, the grammar has no conflicts, and every parser state has its words."""

from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from mcpeval_dsl.syntax import repair
from mcpeval_dsl.syntax.tables import load

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = spec_from_file_location("syntax_tables", ROOT / "tools" / "syntax_tables.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_tables_are_current(tool: ModuleType) -> None:
    shipped = (ROOT / "mcpeval_dsl" / "syntax" / "tables.json").read_text("utf-8")
    assert shipped == tool.render(), "run: python tools/syntax_tables.py"


def test_grammar_has_no_conflicts(tool: ModuleType) -> None:
    from lark.utils import logger

    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        tool.automaton()
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
    assert "onflict" not in stream.getvalue()


def test_every_state_has_a_message(tool: ModuleType) -> None:
    assert tool.missing() == []


def test_every_state_between_two_tokens_is_reachable_by_a_sentence(tool: ModuleType) -> None:
    """What the completeness test walks over is all of it: each state some shift leads to."""
    actions = load().actions
    shifted = {target for state in actions for kind, target in state.items() if target >= 0 and kind != "$END"}
    assert shifted <= set(tool.after_shift(actions))


def texts() -> Iterator[tuple[str, str]]:
    tables = load()
    for number, entry in enumerate(tables.messages):
        for part in (entry, *entry.get("found", ())):
            for field in ("title", "body", "hint"):
                yield f"state {number} {field}", part.get(field, entry[field])
    for name, words in tables.repairs.items():
        for field in ("title", "body", "hint"):
            yield f"repair {name} {field}", words[field]


@pytest.mark.parametrize(("where", "text"), list(texts()))
def test_messages_speak_the_users_language(where: str, text: str) -> None:
    assert text.strip() == text and text
    assert not re.search(r"unexpected|expected one of|token|parse|lark|state|terminal", text.replace("statement", ""))
    assert set(re.findall(r"\{(\w+)\}", text)) <= {"found", "last", "opener", "closer"}


def test_every_repair_has_words() -> None:
    source = Path(repair.__file__).read_text("utf-8")
    named = set(re.findall(r'Repair\("(\w+)"', source)) | {f"remove_{kind.lower()}" for kind in repair.REMOVABLE}
    assert named == set(load().repairs)


def test_tables_are_plain_data() -> None:
    raw = json.loads((ROOT / "mcpeval_dsl" / "syntax" / "tables.json").read_text("utf-8"))
    assert set(raw) >= {"actions", "gotos", "rules", "scan", "terminals", "messages"}
