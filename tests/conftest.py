"""Options of the whole test suite."""

from __future__ import annotations

import pytest
from hypothesis import settings

# Time is kept by --timeout; a first import inside a test is no slow test.
settings.register_profile("suite", deadline=None)
settings.load_profile("suite")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-cases", action="store_true", help="rewrite the expected part of data cases")


@pytest.fixture
def update_cases(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-cases"))
