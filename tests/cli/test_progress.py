"""What a run says while it goes on: counts by cell, cost, time left, limits; lines off a terminal, a table on one."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from mcpeval_dsl.agents.model import TurnRecord, Usage
from mcpeval_dsl.cli import live, progress
from mcpeval_dsl.cli.tally import Tally, clock, tally_of
from mcpeval_dsl.execute import events
from mcpeval_dsl.gateway.model import Violation
from mcpeval_dsl.records.model import Timing, TokenUse, TrialRecord, UserRecord
from tests.score.samples import plan, run, task, trial

PLAN = plan([task("one"), task("two")], cells=("strong", "weak"), trials=2)


def tally(said: dict[str, str] | None = None, **changes: Any) -> Tally:
    found = tally_of(PLAN)
    found.due = 8
    for record in run(PLAN, said or {}, **changes):
        found.add(record)
    return found


def test_trials_are_counted_by_cell() -> None:
    found = tally({"one@weak": "nu", "two@weak": "y-"})
    weak = found.cells["weak"]
    assert (weak.planned, weak.done, weak.passed, weak.testable) == (4, 3, 1, 2)
    assert found.outcomes() == {"pass": 5, "untestable": 1, "wrong_answer": 1}


def test_what_was_finished_before_is_done_but_in_no_rate() -> None:
    found = tally_of(PLAN, ["one@weak#1", "one@weak#2", "nobody@weak#1"])
    found.add(trial("two@weak", 1))
    assert (found.cells["weak"].done, found.cells["weak"].testable) == (3, 1)


def test_an_unknown_price_stays_unknown() -> None:
    used = TokenUse(input_tokens=900, output_tokens=100, cost_usd=0.05)
    assert tally(usage=used).spending() == "$0.40, 8 000 tokens"
    found = tally(usage=used)
    found.add(trial("one@weak", 1, usage=used.model_copy(update={"cost_usd": None})))
    found.add(trial("one@weak", 1, usage=used))
    assert found.spending() == "10 000 tokens, price unknown"


def test_what_the_simulated_user_costs_is_spent_too() -> None:
    used = TokenUse(input_tokens=900, output_tokens=100, cost_usd=0.05)
    found = tally_of(PLAN)
    found.add(trial("one@weak", 1, usage=used, user=UserRecord(model="speaker", usage=used)))
    assert found.spending() == "$0.10, 2 000 tokens"
    found.add(trial("one@weak", 2, usage=used, user=UserRecord(usage=TokenUse(input_tokens=1))))
    assert found.spending() == "3 001 tokens, price unknown"


def test_limits_that_were_hit_are_said() -> None:
    turn = TurnRecord(1, "", (), (), "end_turn", Usage(), "m", 0.0, 1.0, 0.0, 2)
    found = tally_of(PLAN)
    found.add(
        trial(
            "one@weak",
            1,
            termination="hard_budget:calls",
            turns=(turn,),
            timing=Timing(waited_ms=12_000),
            violations=(Violation("never", "critical", ("attempted", "blocked")),),
        )
    )
    assert list(found.limits()) == [
        "waited 12.0 s for the model API",
        "2 retries",
        "1 trial stopped at a limit",
        "1 trial with a critical violation",
    ]
    assert list(tally().limits()) == []


def test_time_left_is_not_guessed_from_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("mcpeval_dsl.cli.tally.time.monotonic", lambda: now)
    found = Tally(due=10, began=80.0)
    assert found.left() is None
    found.done = 2
    assert found.left() is None
    found.done = 4
    assert found.left() == 30.0


@pytest.mark.parametrize(("seconds", "said"), [(4.4, "4 s"), (89, "89 s"), (200, "3 min"), (4800, "1 h 20 min")])
def test_times_are_short(seconds: float, said: str) -> None:
    assert clock(seconds) == said


def test_off_a_terminal_lines_are_plain(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    shown = progress.reporter("text", PLAN)
    records = run(PLAN, {"one@weak": "nn"})
    shown.tell(events.Started("demo", 8, 8, str(tmp_path / "run-1")))
    for number, record in enumerate(records, start=1):
        shown.tell(events.TrialDone(record, number, 8))
    shown.tell(events.Problem("a server \x1b[31mshouts"))
    shown.close()
    assert capsys.readouterr().err.splitlines() == [
        "run run-1: 8 of 8 trials to run",
        "8/8 trials: 6 pass, 2 wrong_answer",
        "a server <U+001B>[31mshouts",
    ]


def table(found: Tally, width: int = 100, most: int = 20) -> list[str]:
    from rich.console import Console

    console = Console(file=io.StringIO(), width=width, color_system=None, force_terminal=False)
    console.print(live.cells(found, most, width))
    for line in live.summary(found):
        console.print(line)
    assert isinstance(console.file, io.StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_the_table_has_a_row_for_each_cell() -> None:
    found = tally({"one@weak": "nu", "two@weak": "y-"})
    lines = table(found)
    assert lines[1].split() == ["strong", "━" * 16, "4/4", "4", "·", "·", "·", "100", "%"]
    assert lines[2].split()[0] == "weak" and lines[2].split()[-6:] == ["1", "1", "·", "1", "50", "%"]
    assert lines[3].startswith("7/8 trials")


@pytest.mark.parametrize("width", [91, 80, 71, 50, 40])
def test_a_narrow_terminal_shows_how_far_and_how_well(width: int) -> None:
    lines = table(tally({"one@weak": "nu", "two@weak": "y-"}), width)
    assert [line.split()[:2] for line in lines[1:3]] == [["strong", "4/4"], ["weak", "3/4"]]
    assert [line.split()[-2:] for line in lines[1:3]] == [["100", "%"], ["50", "%"]]
    assert "✗ wrong" in lines[0] if width >= 72 else "wrong" not in lines[0]
    assert "…" not in "".join(lines[:3]) and max(map(len, lines[:3])) <= width


def test_of_many_cells_those_that_go_on_are_shown() -> None:
    names = [f"cell_{n}" for n in range(30)]
    made = plan([task("one")], cells=names, trials=1)
    found = tally_of(made)
    for name in names[:25]:
        found.add(trial(f"one@{name}", 1))
    lines = table(found, most=10)
    assert [line.split()[0] for line in lines[1:6]] == names[25:]
    assert "and 21 more" in lines[10]


def test_a_hostile_name_is_shown() -> None:
    made = plan([task("one")], cells=("[red]x[/] \x1b]0;t\x07",), trials=1)
    assert "[red]x[/] <U+001B>]0;t<U+0007>" in table(tally_of(made), width=140)[1]


def test_on_a_terminal_the_table_renews_itself_and_leaves(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    shown = progress.reporter("text", PLAN)
    shown.tell(events.Started("demo", 8, 8, str(tmp_path / "run-1")))
    records: list[TrialRecord] = run(PLAN, {})
    for number, record in enumerate(records, start=1):
        shown.tell(events.TrialDone(record, number, 8))
    shown.close()
    said = terminal.getvalue()
    assert "so far" in said and "\x1b[?25h" in said
    assert said.rstrip().endswith("8/8 trials: 8 pass")
