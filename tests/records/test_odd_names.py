"""Names of runs that no folder can have."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcpeval_dsl.records.folder import find


@pytest.mark.parametrize("name", ["x" * 5000, "runs/" + "x" * 5000, "\0", "\ud800", "../" * 3000])
def test_a_name_that_no_folder_can_have_is_no_run(tmp_path: Path, name: str) -> None:
    assert find(tmp_path, name) is None
