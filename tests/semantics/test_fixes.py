"""What is offered to mend a finding: the text after the first fix, and that the finding is gone then."""

from __future__ import annotations

import pytest

from mcpeval_dsl import pipeline
from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.source import SourceFile
from tests.diagnostics.edits import apply_fixes
from tests.semantics.memory import Memory

SERVER = (
    'environment desk { write "a" "b" }\nserver s { stdio "s" }\n'
    "harvest newest = s.list() { key = $.key; title = $.title }\n"
)
USED = 'task z { prompt "x"; grade contains newest.key, newest.title }\n'
CASES = [
    ("MCPE250", "grade contains newst.key", "grade contains newest.key"),
    (
        "MCPE250",
        'prompt "Is it {{ newst.key }}?"; grade contains "x"',
        'prompt "Is it {{ newest.key }}?"; grade contains "x"',
    ),
    ("MCPE252", "grade contains newest.titel", "grade contains newest.title"),
    ("MCPE226", "grade number cuont(newest.key)", "grade number count(newest.key)"),
    ("MCPE254", "environment dsek; grade contains newest.key", "environment desk; grade contains newest.key"),
    ("MCPE366", "grade number 1.25 weight 2", "grade number 1.25 within 1% weight 2"),
    ("MCPE366", "answer json {x: 1}; grade json $.x == 1.25", "answer json {x: 1}; grade json $.x == 1.25 within 1%"),
    (
        "MCPE373",
        "budget calls <= 1 hard 9; expect at_least(3, list); grade contains newest.key",
        "budget calls <= 3 hard 9; expect at_least(3, list); grade contains newest.key",
    ),
    (
        "MCPE373",
        "budget time <= 9s, calls <= 1 hard 2; expect at_least(3, list); grade contains newest.key",
        "budget time <= 9s, calls <= 3 hard 3; expect at_least(3, list); grade contains newest.key",
    ),
]


def check(text: str) -> tuple[Diagnostic, ...]:
    return pipeline.check("a.mcpe", Memory({"a.mcpe": text, "m.yaml": ""}), design=True).diagnostics


def spec(line: str) -> str:
    prompt = "" if line.startswith("prompt") else 'prompt "How many?"; '
    return f"{SERVER}{USED}task a {{ {prompt}{line} }}\n"


@pytest.mark.parametrize(("code", "before", "after"), CASES)
def test_the_first_fix(code: str, before: str, after: str) -> None:
    text = spec(before)
    found = [d for d in check(text) if d.code == code]
    assert found and not any(fix.safe for d in found for fix in d.fixes)
    mended = apply_fixes(SourceFile("a.mcpe", text), found)
    left = {d.code for d in check(mended)}
    assert code not in left
    assert mended == spec(after)


def test_one_fix_mends_a_name_wherever_it_was_misspelt() -> None:
    text = spec("grade contains newst.key; grade exact newst.title")
    (found,) = (d for d in check(text) if d.code == "MCPE250")
    assert apply_fixes(SourceFile("a.mcpe", text), [found]) == text.replace("newst", "newest")


def test_what_nothing_uses_is_offered_for_removal_with_its_lines() -> None:
    idle = "harvest idle = s.list() {\n  key = $.key\n}\n"
    text = spec("grade contains newest.key")
    with_idle = text.replace("task z", idle + "task z")
    (found,) = (d for d in check(with_idle) if d.code == "MCPE280")
    assert found.fixes[0].title == "Remove the harvest `idle`"
    assert apply_fixes(SourceFile("a.mcpe", with_idle), [found]) == text


def test_a_limit_of_the_defaults_is_not_raised_from_one_task() -> None:
    text = 'suite t { defaults { budget calls <= 1 } }\nmodel m { script "m.yaml" }\n' + spec(
        "expect at_least(3, list); grade contains newest.key"
    )
    (found,) = (d for d in check(text) if d.code == "MCPE373")
    assert found.fixes == ()
