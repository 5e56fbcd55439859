"""A bench for every test that runs a dialogue."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.execute.bench import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    root = tmp_path / "project"
    root.mkdir()
    return Bench(root)
