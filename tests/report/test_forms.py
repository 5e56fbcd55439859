"""Markdown, JUnit XML and GitHub's own: what they say, and that no text of others becomes part of their markup."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import xmlschema

from mcpeval_dsl.report import github, junit, markdown
from mcpeval_dsl.report.marking import code, plain
from mcpeval_dsl.report.text_judges import named
from mcpeval_dsl.report.trials import lines
from mcpeval_dsl.score import model
from mcpeval_dsl.score.scorecard import build
from tests.report import gallery
from tests.score import samples

HOSTILE = (
    "]]></failure><x>\x00\x0b\ud800\ufffe \r\n::error file=evil::x\n::stop-commands::t "
    "| `` ` ``` <script>hit()</script> [a](javascript:x) @everyone ![i](http://x/y.png) \u202e &amp; %0A, x:y"
)


@cache
def card() -> model.Scorecard:
    made = gallery.plan()
    return build(made, list(gallery.records(made))).scorecard


@cache
def poisoned() -> model.Scorecard:
    """Every open text of a scorecard is hostile."""
    closed = frozenset(
        {"format", "word", "verdict", "outcome", "outcomes", "strength", "status", "severity", "adjusted_by"}
    )
    closed |= {"detectable_from", "kind", "tail_name", "measure", "what", "stages", "spec", "at", "name", "split"}

    def change(value: Any, key: str = "") -> Any:
        if isinstance(value, str):
            return value if key in closed else f"{HOSTILE} {value}"
        if isinstance(value, dict):
            return {k: change(item, k) for k, item in value.items()}
        if isinstance(value, list | tuple):
            return [change(item, key) for item in value]
        return value

    full = card().model_copy(update={"judges": gallery.judges()})
    return model.Scorecard.model_validate(change(full.model_dump()))


def as_xml(found: model.Scorecard) -> ElementTree.Element:
    made = gallery.plan()
    data = junit.render(found, "run-1", lines(gallery.records(made)))
    xmlschema.validate(data.decode(), str(Path(__file__).parent / "junit.xsd"))
    return ElementTree.fromstring(data)


def test_junit_counts_what_the_scorecard_counts() -> None:
    root = as_xml(card())
    counts = [cell.counts for cell in card().cells]
    suites = root.findall("testsuite")[1:]
    assert [int(suite.get("tests", "")) for suite in suites] == [each.planned for each in counts]
    assert [int(suite.get("failures", "")) for suite in suites] == [
        each.wrong_answer + each.too_many_calls + each.unsafe for each in counts
    ]
    assert [int(suite.get("skipped", "")) for suite in suites] == [each.untestable + each.not_run for each in counts]
    assert [case.get("name") for case in root[0].iter("testcase")] == [
        "require safety.critical == 0",
        "require task_success >= 60%",
        "gate",
    ]


def test_junit_dates_what_is_no_trial_with_the_first_one() -> None:
    suites = as_xml(card())
    assert min(suite.get("timestamp", "") for suite in suites) == suites[0].get("timestamp") > "2000"


def test_junit_of_a_failed_trial_says_why_and_where_to_look() -> None:
    failure = next(as_xml(card()).iterfind("testsuite[2]/testcase/failure"))
    assert failure.get("type") in ("wrong_answer", "too_many_calls")
    assert "mcpe view run-1 " in (failure.text or "")


CHECKS = (
    model.CheckRow(
        server="tracker",
        planned=3,
        lines=(
            model.CheckLineRow(what="list_issues(project: A)", state="pass"),
            model.CheckLineRow(
                what="tool get_issue present", state="fail", at="specs/a.mcpe:9:3", expected="it", actual="none"
            ),
            model.CheckLineRow(what="capability tasks required", state="not tested", reason="no server"),
        ),
    ),
)


def test_checks_are_in_every_form() -> None:
    found = card().model_copy(update={"checks": CHECKS})
    suite = as_xml(found).findall("testsuite")[1]
    assert suite.get("name") == "tracker.check.tracker"
    assert [(suite.get(kind)) for kind in ("tests", "failures", "skipped")] == ["3", "1", "1"]
    text = markdown.render(found, "r")
    assert "- `tracker`: 1 of 3 lines pass" in text and "**fail** `tool get_issue present` `none`" in text


def test_junit_takes_a_known_failure_for_skipped_and_an_undecided_gate_for_an_error() -> None:
    rules = [samples.rule("lift >= 0", "lift", ">=", 0)]
    made = samples.plan([samples.task("one", known_failures=samples.known("issue 7"))], rules=rules)
    root = ElementTree.fromstring(junit.render(build(made, samples.run(made, {"one@m": "nnn"})).scorecard, "r"))
    assert root.get("errors") == "2" and root.get("failures") == "0"
    skipped = root.findall("testsuite[2]/testcase/skipped")
    assert [each.get("message") for each in skipped] == ["known failure: issue 7"] * 3


def test_judges_are_in_junit_and_at_their_line_on_github() -> None:
    found = card().model_copy(update={"judges": gallery.judges()})
    (suite,) = as_xml(found).findall("./testsuite[@name='tracker.judges']")
    skipped = [case.get("name", "") for case in suite.findall("testcase") if case.find("skipped") is not None]
    assert (suite.get("failures"), suite.get("errors")) == ("0", "0")
    assert len(suite.findall("testcase")) == len(found.judges)
    assert skipped == [named(row) for row in found.judges if not row.believed] != []
    values = suite.findtext("system-out") or ""
    assert "kappa" in values and "gates may rest on it" in values
    said = [line for line in github.commands(found) if "title=judge " in line]
    doubtful = [row for row in found.judges if not row.believed or (not row.decides and row.verdicts)]
    assert len(said) == len(doubtful) < len(found.judges)
    assert all(line.startswith("::warning ") for line in said) and "file=" in said[0]
    assert not [line for line in github.commands(card()) if "title=judge " in line]
    assert as_xml(card()).findall("./testsuite[@name='tracker.judges']") == []


def test_junit_holds_hostile_texts() -> None:
    root = as_xml(poisoned())
    assert "\ufffd" in (root.get("name") or "")
    assert {element.tag for element in root.iter()} <= {
        *(
            "testsuites",
            "testsuite",
            "testcase",
            "properties",
            "failure",
            "error",
            "skipped",
            "system-out",
            "system-err",
        )
    }


def test_github_annotates_the_lines_of_the_spec() -> None:
    found = list(github.commands(card()))
    assert found[0] == "::error file=specs/demo.mcpe,line=4,col=3,title=gate FAIL::safety.critical == 0 is 2."
    assert any(line.startswith("::warning file=specs/demo.mcpe,line=4,col=3,title=") for line in found)
    assert sum(line.startswith("::warning") for line in found) <= 10


def test_github_names_files_from_the_root_of_the_repository() -> None:
    assert next(github.commands(card(), "packages/api")).startswith("::error file=packages/api/specs/demo.mcpe,line=4")


def test_a_hostile_text_ends_no_workflow_command() -> None:
    found = list(github.commands(poisoned()))
    assert all(re.fullmatch(r"::(error|warning) [^:\n\r]*::[^\n\r]*", line) for line in found)
    for line in found:
        properties = line.split("::")[1].split(" ", 1)[1].split(",")
        keys = [each.partition("=")[0] for each in properties]
        assert keys in (["file", "line", "col", "title"], ["title"])
        assert not any(re.search("[:\r\n]", each) for each in properties)


def test_a_summary_that_github_would_refuse_is_cut_at_a_line() -> None:
    many = card().model_copy(update={"cells": card().cells * 3000})
    found = github.summary(many, "r")
    assert len(found) < 1_024 * 1_024
    assert found.decode().endswith("Cut here: the whole is in `mcpe report --format markdown`.\n")


def test_markdown_shows_gate_cells_matrix_and_lift() -> None:
    text = markdown.render(card(), "run-1")
    assert text.startswith("# ❌ FAIL · Issue tracker\n")
    for cell in card().cells:
        assert cell.success is not None
        assert f"| `{cell.cell}` | " in text and f"**{cell.success.value * 100:.1f} %**" in text
    assert "## Matrix" in text and "| `docs` |" in text
    assert "## Lift of `mcp` over `none`" in text
    assert "`mcpe view run-1 leaves_legacy_alone@haiku.mcp#1`" in text


def test_markdown_keeps_hostile_texts_in_code_or_escaped() -> None:
    text = markdown.render(poisoned(), "run-1")
    outside = re.sub(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", "", text)
    for token in ("<script", "](", "![", "@everyone", "http://"):
        assert token not in re.sub(r"\\.", "", outside), token
    tables = [line for line in text.splitlines() if line.startswith("| ")]
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in tables if "mcpe view" not in line}) <= 12
    assert "\u202e" not in text and "\x00" not in text


@pytest.mark.parametrize("text", ["a", "`", "``a`", "a|b", "x\ny", "`a` and ``b``", " "])
def test_a_code_span_gives_its_text_back(text: str) -> None:
    span = code(text)
    fence = re.match(r"`*", span)
    assert fence is not None
    inside = span[len(fence[0]) : len(span) - len(fence[0])]
    if inside.startswith(" ") and inside.endswith(" "):
        inside = inside[1:-1]
    assert inside.replace("\\|", "|") == " ".join(text.split())
    assert fence[0] not in re.findall("`+", inside) or not inside


def test_plain_text_is_no_markup() -> None:
    assert plain("a <b> *c* @d [e](f) h://x") == r"a &lt;b\> \*c\* \@d \[e\]\(f\) h\://x"
