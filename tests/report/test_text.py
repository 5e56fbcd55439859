"""The printed scorecard: one golden page (`page.txt`, rewritten with --update-cases) and what holds for any."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from mcpeval_dsl.diagnostics.render.safe import width
from mcpeval_dsl.gateway.model import CallError, Permission, Violation
from mcpeval_dsl.records.model import InfraTrouble, Lead, TrialRecord
from mcpeval_dsl.report import transcript
from mcpeval_dsl.report.page import Page, clip, interval, money, number, percent, plural, table
from mcpeval_dsl.report.text import render
from mcpeval_dsl.score.scorecard import Scored, build
from mcpeval_dsl.source import SourceFile
from tests.records.samples import call, trial
from tests.score.samples import plan, rule, run, task, verdict

GOLDEN = Path(__file__).parent / "page.txt"
SPEC = SourceFile("specs/demo.mcpe", 'suite demo "Demo" {\n}\n\n  grade exact "A-1"\n')
HOSTILE = "\x1b[31mred\x07 \u202eevil\r\nnext"


def scored() -> Scored:
    rules = [
        rule("safety.critical == 0", "safety.critical", "==", 0),
        rule("task_success >= 60%", "task_success", ">=", 0.6, unit="percent"),
        rule("lift >= 0", "lift", ">=", 0),
    ]
    made = plan([task("one"), task("two"), task("three")], cells=("strong", "weak"), rules=rules)
    said = {"one@weak": "nnn", "two@weak": "nyn", "three@weak": "uyn", "three@strong": "yyp"}
    records = run(made, said)
    return build(made, [_with_more(record) for record in records])


def _with_more(record: TrialRecord) -> TrialRecord:
    if record.id == "two@weak#1":
        blocked = Violation("write_without_permission", "major", ("attempted", "blocked"), "c1")
        return record.model_copy(update={"violations": (blocked,)})
    if record.task == "three":
        listed = call("c1", "list_issues", arguments={"project": "A"}, text='{"issues": [{"key": "A-1"}]}')
        failed = call("c2", error=CallError("tool_error", "not_found", "Not found: A-1"))
        lead = Lead(
            kind="not_found of a vouched value",
            server="tracker",
            tool="get_issue",
            call="c2",
            evidence=("c1", "c2"),
            argument="/key",
            value="A-1",
            message="Not found: A-1",
        )
        return record.model_copy(update={"calls": (listed, failed), "leads": (lead,)})
    return record


def page(**changes: Any) -> str:
    return render(scored().scorecard, "demo-1", (), {SPEC.path: SPEC}.get, **changes)


def test_the_golden_page(update_cases: bool) -> None:
    if update_cases:
        GOLDEN.write_text(page(), encoding="utf-8")
    assert page() == GOLDEN.read_text(encoding="utf-8")


def test_no_line_is_wider_than_a_hundred_columns() -> None:
    assert max(width(line) for line in page().splitlines()) <= 100


def test_colour_changes_nothing_but_colour() -> None:
    assert re.sub(r"\x1b\[[0-9;]*m", "", page(colour=True)) == page()
    assert "\x1b" not in page()


def test_every_failure_has_the_commands_to_see_it_again() -> None:
    text = page()
    for failure in scored().scorecard.failures:
        assert f"mcpe view demo-1 {failure.first_trial}\n" in text
        assert f"mcpe replay demo-1 {failure.first_trial}\n" in text
        assert f"mcpe run specs/demo.mcpe --select task:{failure.task}\n" in text


def test_the_failing_line_of_the_spec_is_quoted() -> None:
    assert 'specs/demo.mcpe:4:3\n    | grade exact "A-1"\n    expected  A-1\n    actual    B-2\n' in page()


@pytest.mark.parametrize("full", [False, True])
def test_nothing_a_server_or_model_says_reaches_the_terminal_raw(full: bool) -> None:
    error = CallError("tool_error", "unknown", HOSTILE)
    record = trial(
        prompt=HOSTILE,
        calls=(
            call(
                "c1", HOSTILE, arguments={HOSTILE: HOSTILE}, text=HOSTILE, permission=Permission("denied", rule=HOSTILE)
            ),
            call("c2", error=error, schema_errors=(HOSTILE,), turn=1),
        ),
        verdicts=(verdict("no", actual=HOSTILE, expected=HOSTILE, reason=HOSTILE, at=HOSTILE),),
        flags=(HOSTILE,),
    )
    shown = transcript.render(record, Page("r"), full) + transcript.line(record)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", shown)


def test_held_out_tasks_that_all_pass_are_no_finding() -> None:
    made = plan([task("one"), task("two", split="heldout")], trials=2)
    shown = render(build(made, run(made, {})).scorecard, "r")
    assert shown.count("this suite tells nothing apart") == 1


def test_a_hostile_scorecard_is_safe_too() -> None:
    made = plan([task("one")], trials=1)
    records = run(made, {"one@m": "n"}, findings=(HOSTILE,))
    records = [r.model_copy(update={"verdicts": (verdict("no", actual=HOSTILE, reason=HOSTILE),)}) for r in records]
    shown = render(build(made, records).scorecard, "r")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", shown)


def test_a_transcript_tells_the_trial_in_order() -> None:
    shown = transcript.render(trial(verdicts=(verdict("no"),), calls=(call("c1", turn=1, text="one\ntwo"),)), Page("r"))
    places = [
        shown.index(text)
        for text in ("TOLD", "TURN 1", "c1 tracker.get_issue", "→ one", "ANSWER", "VERDICTS", "VIOLATIONS")
    ]
    assert places == sorted(places)


def test_an_untestable_trial_says_what_was_in_the_way() -> None:
    trouble = InfraTrouble(kind="model_api", when="before_agent", chain=("model_api:preflight",), message="no API key")
    assert "  no API key\n" in transcript.render(trial(trouble=trouble), Page("r"))


def test_a_row_that_did_not_come_is_not_called_ungraded() -> None:
    record = trial(not_applicable=True).model_copy(update={"outcome": None})
    assert "not applicable" in transcript.line(record)
    assert "ungraded" not in transcript.render(record, Page("r"))


def test_results_keep_their_indentation() -> None:
    record = trial(calls=(call("c1", turn=1, text='{\n  "key": "A-1"\n}'),))
    assert '    →   "key": "A-1"\n' in transcript.render(record, Page("r"))


def test_the_last_line_is_about_the_code_the_command_ends_with() -> None:
    assert page(exit_code=130).endswith(
        "exit 130: the run was interrupted: run the same command again to continue it\n"
    )


def test_long_results_are_cut_unless_asked_for() -> None:
    record = trial(calls=(call("c1", turn=1, text="\n".join(f"line {n}" for n in range(50))),))
    assert "… 39 more lines" in transcript.render(record, Page("r"))
    assert "line 49" in transcript.render(record, Page("r"), full=True)


def test_more_than_one_pass_are_passes() -> None:
    assert [plural(1, "pass"), plural(3, "pass"), plural(2, "task")] == ["1 pass", "3 passes", "2 tasks"]


def test_numbers_as_people_read_them() -> None:
    assert [percent(0.8888), percent(None), interval(0.1, 1.0), interval(None, None)] == [
        "88.9 %",
        "–",
        "[10.0, 100.0]",
        "no interval",
    ]
    assert [number(12345), number(0.5), number(2.0), money(0.0123), money(12)] == [
        "12 345",
        "0.5",
        "2",
        "$0.0123",
        "$12.00",
    ]


def test_wide_characters_keep_columns_in_line() -> None:
    assert table([("日本", "1"), ("ab", "22")], right=(1,)) == ["日本   1", "ab    22"]
    assert width(clip("日本語の長い題", 9)) <= 9


def test_of_many_tasks_those_that_fail_are_shown() -> None:
    made = plan([task(f"t{n}") for n in range(60)], trials=1)
    shown = render(build(made, run(made, {"t57@m": "n"})).scorecard, "r")
    assert re.search(r"^  t57 +0/1$", shown, re.MULTILINE)
    assert "and 20 more, in mcpe score --format json" in shown


def test_an_interval_over_fewer_clusters_than_tasks_says_so() -> None:
    made = plan([task("one"), task("two"), task("three")])
    records = [r.model_copy(update={"cluster": "c" if r.task == "three" else "a"}) for r in run(made, {})]
    assert "interval over 2 clusters" in render(build(made, records).scorecard, "r")
