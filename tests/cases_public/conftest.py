"""A library for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases_public.lending import Library
from tests.execute.bench import Bench


@pytest.fixture
def library(tmp_path: Path) -> Library:
    root = tmp_path / "project"
    root.mkdir()
    return Library(Bench(root))
