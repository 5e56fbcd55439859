"""Why a trial could not be tested is said in words: every reason a verdict may be missing for, and families with their detail."""

from __future__ import annotations

from typing import get_args

import pytest

from mcpeval_dsl.agents.hosts.endings import SCRIPT_KINDS
from mcpeval_dsl.grade.model import MissingBecause
from mcpeval_dsl.report.causes import in_words


@pytest.mark.parametrize(
    "cause",
    [
        *(f"ungraded:{because}" for because in get_args(MissingBecause) if because),
        *(f"{whose}:{kind}" for whose in ("script", "user_script") for kind in SCRIPT_KINDS),
    ],
)
def test_no_code_is_left_to_read(cause: str) -> None:
    assert ":" not in in_words(cause) and "_" not in in_words(cause)


@pytest.mark.parametrize(
    ("cause", "words"),
    [
        ("model_api:529", "the model API failed (529)"),
        ("prepare:tracker", "a version could not be prepared (tracker)"),
        ("harvest archived: empty", "harvest archived: empty"),
        ("setup", "the environment could not be set up"),
    ],
)
def test_families_keep_their_detail(cause: str, words: str) -> None:
    assert in_words(cause) == words
