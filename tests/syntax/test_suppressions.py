"""Comments that ignore findings: for how much they hold, what is wrong with them, and that in a text they are text."""

from __future__ import annotations

import time

import pytest

from mcpeval_dsl import pipeline
from mcpeval_dsl.diagnostics.suppression import Suppressions
from mcpeval_dsl.semantics.catalogue import KnownServer, KnownTool
from mcpeval_dsl.source import SourceFile
from tests.diagnostics.edits import apply_fixes
from tests.semantics.memory import Memory

SERVER = 'server s { stdio "s" }\n'
OTHERS = "# mcpe: ignore-file[MCPE370, MCPE371, MCPE372] because these tests are about MCPE366\n"


def codes(text: str) -> list[tuple[int, str]]:
    found = pipeline.check("a.mcpe", Memory({"a.mcpe": OTHERS + text}), design=True).diagnostics
    return sorted((d.at.line - 1 if d.at else 0, d.code) for d in found)


def task(name: str, tail: str = "", head: str = "") -> str:
    return f'task {name} {{{head}\n  prompt "Mean of {name}?"\n  grade  number 1.25{tail}\n}}\n'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (task("a"), [(3, "MCPE366")]),
        (task("a", "  # mcpe: ignore[MCPE366] because it is exact"), []),
        (task("a", "  # mcpe: ignore[366] because it is exact"), []),
        (task("a", "  #mcpe:ignore[mcpe366]  because  it is exact"), []),
        ("# mcpe: ignore[MCPE366] because it is exact\n" + task("a"), []),
        ("# mcpe: ignore[MCPE366] because it is exact\n# and more about it\n\n" + task("a"), []),
        ("# mcpe: ignore[MCPE366] because it is exact\n" + task("a") + task("b"), [(8, "MCPE366")]),
        ("# mcpe: ignore-file[MCPE366] because all are exact\n" + task("a") + task("b"), []),
        (task("a") + "# mcpe: ignore-file[MCPE366] because all are exact\n", []),
        (task("a", head="  # mcpe: ignore[MCPE366] because it is exact"), [(1, "MCPE362"), (3, "MCPE366")]),
        ("# mcpe: ignore[MCPE366]\n" + task("a"), [(1, "MCPE361")]),
        ("# mcpe: ignore[MCPE366] because\n" + task("a"), [(1, "MCPE361")]),
        ("# mcpe: ignore[] because it is exact\n" + task("a"), [(1, "MCPE360"), (4, "MCPE366")]),
        ("# mcpe: ignore because it is exact\n" + task("a"), [(1, "MCPE360"), (4, "MCPE366")]),
        ("# mcpe: ignore[MCPE999] because it is exact\n" + task("a"), [(1, "MCPE360"), (4, "MCPE366")]),
        ("# about mcpe: ignore[MCPE366] because\n" + task("a"), [(4, "MCPE366")]),
        ("# mcpe: ignore[MCPE366, MCPE309] because it is exact\n" + task("a"), [(1, "MCPE362")]),
    ],
)
def test_for_how_much_a_comment_holds(text: str, expected: list[tuple[int, str]]) -> None:
    assert codes(text) == expected


def test_the_innermost_of_several_is_the_one_that_is_used() -> None:
    text = task("a", "  # mcpe: ignore[MCPE366] because of this line")
    assert codes("# mcpe: ignore[MCPE366] because of the task\n" + text) == [(1, "MCPE362")]


def test_in_a_text_it_is_text() -> None:
    text = 'task a {\n  prompt """\n    Mean? # mcpe: ignore[MCPE366] because it is exact\n    """\n  grade number 1.25\n}\n'
    assert codes(text) == [(5, "MCPE366")]
    assert codes('task a { prompt "# mcpe: ignore[MCPE366] because it"; grade number 1.25 }\n') == [(1, "MCPE366")]


def test_behind_a_statement_of_several_lines_it_holds_for_all_of_it() -> None:
    text = (
        'task a {\n  prompt "Who?"\n  grade contains "Ada",\n    "TBD"  # mcpe: ignore[MCPE369] because it is said\n}\n'
    )
    assert codes(text) == []


def test_lines_may_end_as_on_windows() -> None:
    text = "# mcpe: ignore[MCPE366] because 𝒳 ist genau\n" + task("a")
    assert codes(text.replace("\n", "\r\n")) == []


def test_an_error_stays_an_error() -> None:
    text = '# mcpe: ignore[MCPE306] because it is a sketch\ntask a { prompt "Who?" }\n'
    assert codes(text) == [(1, "MCPE363"), (2, "MCPE306")]


def test_nothing_is_unused_where_errors_kept_rules_from_looking() -> None:
    text = '# mcpe: ignore[MCPE366] because it is exact\ntask a { prompt "Mean?"; grade numbr 1.25 }\n'
    found = [code for _, code in codes(text)]
    assert "MCPE362" not in found and len(found) == 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            SERVER + "# mcpe: ignore[MCPE309] because of it\n" + task("a", " within 1%"),
            SERVER + task("a", " within 1%"),
        ),
        (task("a", " within 1%  # mcpe: ignore[MCPE366] because"), task("a", " within 1%")),
        (
            "# mcpe: ignore[MCPE309, MCPE366] because of it\n" + task("a"),
            "# mcpe: ignore[MCPE366] because of it\n" + task("a"),
        ),
    ],
)
def test_what_is_not_used_can_be_removed(before: str, after: str) -> None:
    file = SourceFile("a.mcpe", OTHERS + before)
    found = pipeline.check("a.mcpe", Memory({"a.mcpe": file.text}), design=True).diagnostics
    unused = [d for d in found if d.code == "MCPE362"]
    assert apply_fixes(file, unused) == OTHERS + after


def test_nobody_knows_of_what_only_a_lock_or_a_plan_brings_up() -> None:
    head = "# mcpe: ignore[MCPE378, MCPE581] because of the lock and the plan\n"
    assert codes(head + task("a", " within 1%")) == []
    known = {"s": KnownServer("s", {"get": KnownTool("get", read_only_hint=True)})}
    text = OTHERS + SERVER + "annotations s { trust hints }\n" + head + task("a", " within 1%")
    found = pipeline.check("a.mcpe", Memory({"a.mcpe": text}), known, design=True).diagnostics
    assert [(d.code, d.title) for d in found] == [("MCPE362", "nothing here is `MCPE378`")]


def test_a_comment_with_very_many_codes_is_none() -> None:
    head = "# mcpe: ignore[" + "MCPE366, " * 100_000 + "] because of all\n"
    assert codes(head + task("a")) == [(1, "MCPE360"), (4, "MCPE366")]
    assert len(codes("# mcpe: ignore[MCPE3X] because of all\n" * 5_000 + task("a"))) == 5_001


def test_ten_thousand_comments_take_no_longer_than_their_number() -> None:
    each = "# mcpe: ignore[MCPE366] because it is exact\n" + task("t{}")
    text = (
        "".join(each.replace("{}", str(number)) for number in range(500)) + "# mcpe: ignore[MCPE309] because\n" * 9_500
    )
    suppressions = Suppressions()
    begun = time.process_time()
    found = pipeline.check("a.mcpe", Memory({"a.mcpe": OTHERS + text}), suppressions=suppressions).diagnostics
    without = time.process_time() - begun
    begun = time.process_time()
    pipeline.check("a.mcpe", Memory({"a.mcpe": OTHERS + text.replace("mcpe:", "mcpe-")}))
    assert found == () and without < 3 * (time.process_time() - begun) + 1
