"""What a feature costs after a keystroke in a long file: it reads one part anew, and no more than looks at the others."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mcpeval_dsl.language_server.features.completion import complete
from mcpeval_dsl.language_server.features.definition import definition
from mcpeval_dsl.language_server.features.folding import folding
from mcpeval_dsl.language_server.features.formatting import formatting
from mcpeval_dsl.language_server.features.hover import hover
from mcpeval_dsl.language_server.features.links import links
from mcpeval_dsl.language_server.features.references import highlights, references
from mcpeval_dsl.language_server.features.rename import rename
from mcpeval_dsl.language_server.features.selection import selection
from mcpeval_dsl.language_server.features.semantic_tokens import semantic_tokens
from mcpeval_dsl.language_server.features.signature_help import signature_help
from mcpeval_dsl.language_server.features.symbols import document_symbols, workspace_symbols
from mcpeval_dsl.language_server.snapshot import Snapshot
from tests.language_server.features.marked import Memory

SPEC = Path(__file__).parents[3] / "specs" / "tracker" / "tracker.mcpe"
LINES = 10_000
MOST = 0.060  # seconds of CPU, the best of three

FEATURES: dict[str, Callable[[Snapshot, int], object]] = {
    "completion": complete,
    "hover": hover,
    "definition": definition,
    "references": references,
    "highlights": highlights,
    "rename": lambda snapshot, offset: rename(snapshot, offset, "renewed"),
    "selection": selection,
    "signature help": signature_help,
    "outline": lambda snapshot, offset: document_symbols(snapshot),
    "folding": lambda snapshot, offset: folding(snapshot),
    "semantic tokens": lambda snapshot, offset: semantic_tokens(snapshot),
    "formatting": lambda snapshot, offset: formatting(snapshot),
    "links": lambda snapshot, offset: links(snapshot),
    "workspace symbols": lambda snapshot, offset: workspace_symbols([snapshot], "open"),
}


def long_spec() -> str:
    """The demo's tasks again and again."""
    text = SPEC.read_text("utf-8")
    head, tasks = text[: text.index("task ")], text[text.index("task ") : text.index("matrix {")]
    found = [head]
    for number in range(1 + LINES // tasks.count("\n")):
        found.append(re.sub(r"^task (\w+)", rf"task \1_{number}", tasks, flags=re.MULTILINE))
    return "".join(found)


@pytest.fixture(scope="module")
def memory() -> Memory:
    memory = Memory({"long.mcpe": long_spec()})
    snapshot = memory.snapshot("long.mcpe")
    assert snapshot is not None
    for feature in FEATURES.values():
        feature(snapshot, 0)
    return memory


@pytest.mark.parametrize("name", FEATURES)
def test_after_a_keystroke(memory: Memory, name: str) -> None:
    took = []
    for letter in "abc":
        text = memory.texts["long.mcpe"]
        at = text.rindex("dd the label") - 1
        memory.texts["long.mcpe"] = text[:at] + letter + text[at + 1 :]
        snapshot = memory.snapshot("long.mcpe")
        assert snapshot is not None
        offset = snapshot.text.rindex("billing.key") + 3
        started = time.process_time()
        FEATURES[name](snapshot, offset)
        took.append(time.process_time() - started)
    assert min(took) < MOST
