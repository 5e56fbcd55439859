"""What a person, a program, GitHub and a code scanner get."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpeval_dsl.diagnostics.model import Diagnostic, Edit, Fix, Label
from mcpeval_dsl.diagnostics.ordering import ordered
from mcpeval_dsl.diagnostics.render import github, json_lines, sarif, text
from mcpeval_dsl.diagnostics.render.safe import visible
from mcpeval_dsl.source import Location, SourceFile

FILE = SourceFile("a.mcpe", "suite x {\n\ttimeout 20sec\n  wide 名前 here\n}\n")
TIMEOUT = Location("a.mcpe", 2, 10, 2, 15)
FIRST = Location("a.mcpe", 1, 1, 1, 6)
FOUND = Diagnostic(
    "MCPE115",
    "`20sec` is no number",
    TIMEOUT,
    "Units are short.\nThey touch.",
    "write 20s",
    labels=(Label(FIRST, "in this suite"),),
    fixes=(Fix("Replace `20sec` by `20s`", (Edit(TIMEOUT, "20s"),), safe=True),),
)
WIDE = Diagnostic("MCPE201", "nothing is called here", Location("a.mcpe", 3, 11, 3, 15), severity="warning")
NOWHERE = Diagnostic("MCPE575", "there is no spec: 100%, no\nline", hint="give a path")


def source_of(path: str) -> SourceFile | None:
    return FILE if path == "a.mcpe" else None


def test_text_shows_line_caret_rule_and_edit() -> None:
    assert text.render(FOUND, source_of).split("\n") == [
        "error[MCPE115]: `20sec` is no number",
        " --> a.mcpe:2:10",
        "  |",
        "2 |  timeout 20sec",
        "  |          ^^^^^",
        " --> a.mcpe:1:1",
        "  |",
        "1 | suite x {",
        "  | ^^^^^ in this suite",
        "  = Units are short.",
        "  = They touch.",
        "  = hint: write 20s",
    ]


def test_carets_stand_under_wide_characters() -> None:
    line, caret = text.render(WIDE, source_of).split("\n")[3:5]
    assert line.index("here") + 2 == caret.index("^^^^")


def test_text_without_a_place_or_source() -> None:
    gone = Diagnostic(
        "MCPE101", "t", Location("gone.mcpe", 5, 1, 5, 2), labels=(Label(Location("gone.mcpe", 6, 1, 6, 2), "l"),)
    )
    assert text.render(gone, source_of).split("\n")[1:] == [" --> gone.mcpe:5:1", " --> gone.mcpe:6:1: l"]
    assert text.render(NOWHERE, source_of).startswith("error[MCPE575]: there is no spec")


def test_colour_only_where_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[" in text.render(FOUND, source_of, colour=True)
    assert "\x1b" not in text.render(FOUND, source_of)

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert text.wants_colour(Terminal()) and not text.wants_colour(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not text.wants_colour(Terminal())


def test_a_summary_counts() -> None:
    assert text.summary([FOUND, FOUND, WIDE]).startswith("2 errors, 1 warning")
    assert text.render_all([], source_of) == ""


@given(st.text())
def test_nothing_printed_steers_the_terminal(words: str) -> None:
    shown = text.render(Diagnostic("MCPE110", words, FIRST, words, words), lambda _: SourceFile("a.mcpe", words))
    assert not set(shown) & {"\x1b", "\r", "\x07", "\x08", "\x7f", "\x9b", "\u202e", "\u2066", "\u200b", "\u2028"}
    shown.encode()


def test_direction_marks_are_shown() -> None:
    assert visible("a\u202eb\x1b[2Jc") == "a<U+202E>b<U+001B>[2Jc"


def test_json_lines_begin_with_the_version_and_end_with_counts() -> None:
    lines = [json.loads(line) for line in json_lines.render_all([FOUND, WIDE, NOWHERE]).splitlines()]
    assert lines[0] == {"type": "version", "format": "mcpe.diagnostics", "version": 1}
    assert lines[-1] == {"type": "summary", "error": 2, "warning": 1, "note": 0}
    assert lines[1]["edit"] == {
        "at": {"path": "a.mcpe", "line": 2, "column": 10, "end_line": 2, "end_column": 15},
        "text": "20s",
    }
    assert lines[3]["at"] is None


def test_github_escapes_what_would_end_a_command() -> None:
    lines = github.render_all([FOUND, WIDE, NOWHERE]).splitlines()
    assert lines[0].startswith("::error file=a.mcpe,line=2,col=10,endLine=2,endColumn=15,title=MCPE115 `20sec`")
    assert lines[1].startswith("::warning ")
    assert lines[2] == (
        "::error title=MCPE575 there is no spec%3A 100%25%2C no%0Aline::there is no spec: 100%25, no%0Aline%0Ahint: give a path"
    )


def test_sarif_has_rules_places_and_fixes() -> None:
    run = json.loads(sarif.render_all([FOUND, WIDE, NOWHERE]))["runs"][0]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["MCPE115", "MCPE201", "MCPE575"]
    first, second, third = run["results"]
    assert first["ruleIndex"] == 0 and first["level"] == "error"
    region = {"startLine": 2, "startColumn": 10, "endLine": 2, "endColumn": 15}
    assert first["locations"][0]["physicalLocation"] == {"artifactLocation": {"uri": "a.mcpe"}, "region": region}
    assert first["fixes"][0]["artifactChanges"][0]["replacements"][0]["insertedContent"] == {"text": "20s"}
    assert first["relatedLocations"][0]["message"] == {"text": "in this suite"}
    assert second["level"] == "warning" and third["locations"] == []


def test_a_fix_of_several_edits_is_one_fix_with_a_name_in_every_format() -> None:
    both = Fix("Rename it", (Edit(TIMEOUT, "20s"), Edit(FIRST, "Suite"), Edit(Location("b.mcpe", 1, 1, 1, 1), "x")))
    found = Diagnostic("MCPE201", "t", FIRST, severity="note", fixes=(both, Fix("Leave it", ())))
    (result,) = json.loads(sarif.render_all([found]))["runs"][0]["results"]
    assert result["level"] == "note" and [fix["description"]["text"] for fix in result["fixes"]] == ["Rename it"]
    changes = result["fixes"][0]["artifactChanges"]
    assert [(each["artifactLocation"]["uri"], len(each["replacements"])) for each in changes] == [
        ("a.mcpe", 2),
        ("b.mcpe", 1),
    ]
    line = json.loads(json_lines.render_all([found]).splitlines()[1])
    assert [(fix["title"], fix["safe"], len(fix["edits"])) for fix in line["fixes"]] == [
        ("Rename it", False, 3),
        ("Leave it", False, 0),
    ]
    assert line["edit"] is None and github.render_all([found]).startswith("::notice file=a.mcpe,line=1")


def test_order_is_that_of_the_text_and_each_is_shown_once() -> None:
    assert ordered([WIDE, FOUND, NOWHERE, FOUND]) == [NOWHERE, FOUND, WIDE]
