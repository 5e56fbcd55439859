"""Answers that are none, and answers that only look so."""

from __future__ import annotations

import pytest

from mcpeval_dsl.interchange.placeholders import is_placeholder

LATER = "TO" + "DO"
NONE = [
    "__VERIFY_ON_INSTANCE__", "REPLACE_WITH_THE_ID", "REPLACE_ME", LATER, f"{LATER}: run it", f"[{LATER}]", "<your answer here>",
    "{{answer}}", "[PLACEHOLDER: count]", "...", "???", "", "   ", "to be determined", "TBD", "Varies", "depends on the data",
    "VERIFY_AGAINST_LIVE_DATA", "YOUR_ANSWER_HERE", "___", "The id is __REPLACE_ID__", "(expected value)",
]  # fmt: skip
SOME = [
    "42", "Paris", "None", "N/A", "yes", "0", "-", "__init__", "INSERT_ROW", "SET_UP", "UPDATE_USER", "VERIFY-1",
    "replace the file",
    "<b>", "[1, 2]", "{}", "a placeholder text is shown in the field", "VALUE", "To be or not to be", "your-repo",
]  # fmt: skip


@pytest.mark.parametrize("answer", NONE)
def test_placeholders(answer: str) -> None:
    assert is_placeholder(answer)


@pytest.mark.parametrize("answer", SOME)
def test_answers(answer: str) -> None:
    assert not is_placeholder(answer)
