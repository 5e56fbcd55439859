"""Very large files: the part under the cursor is looked at, and nothing takes long."""

from __future__ import annotations

import time

import pytest

from mcpeval_dsl.language_server.features.completion import complete
from mcpeval_dsl.language_server.features.hover import hover
from mcpeval_dsl.language_server.features.rename import Refusal, rename
from mcpeval_dsl.language_server.features.symbols import document_symbols
from mcpeval_dsl.language_server.index.part import LARGEST_PART
from mcpeval_dsl.language_server.index.project import LARGEST
from mcpeval_dsl.language_server.snapshot import Snapshot
from tests.language_server.features.marked import plain

HEAD = "harvest billing = s.list() { key = $.key }\ntask first { grade contains billing.key }\n"
SOON = 1.0  # seconds of CPU; reading all would take ten


@pytest.fixture(scope="module")
def large() -> Snapshot:
    task = 'task many_%d { prompt "What is it, and how many are there of it in all of these?"; grade contains "x" }\n'
    text = HEAD + "".join(task % number for number in range(LARGEST // 90))
    assert len(text) > LARGEST
    return plain(text)


def test_in_a_large_file_the_part_under_the_cursor_is_known(large: Snapshot) -> None:
    started = time.process_time()
    assert "grade" in [item.label for item in complete(large, HEAD.index("grade"))]
    shown = hover(large, HEAD.index("grade") + 1)
    assert shown is not None
    assert "A verdict" in shown.text
    assert time.process_time() - started < SOON


def test_a_large_file_is_not_renamed_in(large: Snapshot) -> None:
    found = rename(large, HEAD.index("first"), "other")
    assert isinstance(found, Refusal)


def test_a_large_part_is_not_read_and_not_renamed_in() -> None:
    rows = "".join(f'  row "a{number}", billing.key\n' for number in range(LARGEST_PART // 20))
    snapshot = plain(f"{HEAD}table big {{\n  columns id, key\n{rows}}}\n")
    started = time.process_time()
    assert [s.name for s in document_symbols(snapshot)] == ["billing", "first"]
    found = rename(snapshot, HEAD.index("billing"), "other")
    assert isinstance(found, Refusal)
    assert found.reason.startswith("what begins in specs/main.mcpe, line 3, is too large")
    assert time.process_time() - started < SOON
