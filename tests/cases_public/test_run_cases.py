"""What happens to runs: model APIs in trouble, judges that ramble, kills, interruptions, budgets, and what each is worth."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from typing import Any

import pytest

from mcpeval_dsl.execute.spending import Purse
from mcpeval_dsl.records.folder import runs
from mcpeval_dsl.records.model import OutcomeRecord, TokenUse, TrialRecord
from tests.agents.provider_server import Fail, ProviderServer, RateLimited, Say
from tests.cases_public.lending import SUITE, Library, calls
from tests.execute.bench import Bench, outcome

READ = 'task read { prompt "x"; grade contains "done" }\n'


def settled(record: TrialRecord) -> OutcomeRecord:
    assert record.outcome is not None
    return record.outcome


def card(library: Library) -> dict[str, Any]:
    return dict(json.loads(library.bench.scorecard))


ONLINE = SUITE.replace(
    '{{ script "canned.yaml" }}', '{{ script "canned.yaml" }}\nmodel online {{ anthropic "claude" }}'
)


def online(library: Library, server: ProviderServer, body: str, *, trials: int, patience: float = 60.0) -> None:
    library.write(body + "matrix { model = [online] }\n", head=ONLINE, trials=trials)
    library.bench.variables = {"ANTHROPIC_API_KEY": "sk-ant-test-1"}
    settings = f'[providers.anthropic]\nbase_url = "{server.url}"\npatience = {patience}\ntimeout = 5.0\n'
    library.bench.write("mcpe.local.toml", settings)


def test_a_storm_of_rate_limits_is_waited_out(library: Library) -> None:
    with ProviderServer([RateLimited(0.05)] * 6 + [Say("done")]) as server:
        online(library, server, READ, trials=3)
        done = library.bench.run()
    assert done.code == 0, done.err
    records = list(library.bench.records.values())
    assert {outcome(record) for record in records} == {"pass"}
    assert sum(turn.retries for record in records for turn in record.turns) == 6
    assert any(record.timing.waited_ms > 0 for record in records)


def test_a_storm_without_end_is_untestable_and_in_no_denominator(library: Library) -> None:
    with ProviderServer([Say("done"), RateLimited(0.2)]) as server:
        online(library, server, READ, trials=3, patience=1.0)
        done = library.bench.run("--jobs", "1")
    assert done.code == 3, done.out
    first, *others = (library.bench.records[f"read#{number}"] for number in (1, 2, 3))
    assert outcome(first) == "pass"
    assert [outcome(record) for record in others] == ["untestable", "untestable"]
    assert {settled(record).because for record in others} == {("model_api:429", "deadline")}
    assert {record.model_turns for record in others} == {0}
    (cell,) = card(library)["cells"]
    assert (cell["success"]["trials"], cell["success"]["value"]) == (1, 1.0)
    assert cell["counts"]["untestable"] == 2 and cell["inconclusive"]


@pytest.mark.parametrize("answers", [[Fail(500)], [Fail(401, "bad key", "authentication_error")]], ids=["500", "401"])
def test_a_run_in_which_every_trial_errored_is_incomplete(library: Library, answers: list[Any]) -> None:
    with ProviderServer(answers) as server:
        online(library, server, READ + "gate { require task_success >= 80% }\n", trials=8, patience=0.5)
        done = library.bench.run()
    assert done.code == 3, done.out
    assert {outcome(record) for record in library.bench.records.values()} == {"untestable"}
    assert len(library.bench.records) == 8
    assert "exit 3" in done.out and "incomplete" in done.out


def test_a_server_that_never_starts_makes_the_run_incomplete(library: Library) -> None:
    library.write(READ + "gate { require task_success >= 80% }\n", trials=8, head=SUITE.replace("odd.py", "gone.py"))
    done = library.bench.run()
    assert done.code == 3
    assert {settled(record).because for record in library.bench.records.values()} == {("server:start_failed",)}
    assert "gone.py" in done.out + done.err


JUDGED = SUITE + 'judge critic {{ script "critic.yaml" }}\n'


@pytest.mark.parametrize(
    "said",
    ["1. The answer is completely wrong", "5", "yes", '{"verdict": "pass", "score": 1}'],
)
def test_a_judge_that_gives_no_verdict_gives_a_missing_one(library: Library, said: str) -> None:
    body = 'task read { prompt "x"; grade judge { claim "is right" }; grade contains "done" }\n'
    library.write(body, head=JUDGED.replace("seed 3", "seed 3; judge critic"))
    library.bench.write("specs/critic.yaml", json.dumps({"tasks": {"*": [{"reply": said}]}}))
    done = library.bench.run()
    record = library.bench.records["read#1"]
    (verdict,) = [v for v in record.verdicts if v.kind == "judge"]
    assert (verdict.verdict, verdict.missing_because, verdict.score) == ("missing", "judge_unreadable", None)
    assert outcome(record) == "pass" and "passed_on_missing_verdict" in settled(record).flags
    assert "missing" in done.out


def test_a_judge_that_cannot_be_asked_is_said_before_any_trial(library: Library) -> None:
    body = 'task read { prompt "x"; grade judge { claim "is right" }; grade contains "done" }\n'
    live = 'judge critic {{ anthropic "claude-sonnet-4-5" }}\n'
    library.write(body, head=SUITE.replace("seed 3", "seed 3; judge critic") + live)
    library.bench.variables = {"ANTHROPIC_API_KEY": ""}
    done = library.bench.run()
    said = done.err.index("model critic: ")
    assert "ANTHROPIC_API_KEY" in done.err[said:] and said < done.err.index("1/1 trials")


def test_a_trial_with_no_other_verdict_than_the_missing_one_is_ungraded(library: Library) -> None:
    body = 'task read { prompt "x"; grade judge { claim "is right" } }\n'
    library.write(body, head=JUDGED.replace("seed 3", "seed 3; judge critic"))
    library.bench.write("specs/critic.yaml", json.dumps({"tasks": {"*": [{"reply": "5"}]}}))
    library.bench.run()
    found = settled(library.bench.records["read#1"])
    assert found.outcome == "untestable" and found.because is not None and found.because[0].startswith("ungraded")


def test_a_gate_that_holds_only_with_missing_verdicts_is_not_decided(library: Library) -> None:
    body = """
    task read { prompt "x"; grade judge { claim "is right" }; grade contains "done" }
    task other { prompt "x"; grade contains "done" }
    gate { require task_success >= 80% }
    """
    library.write(body, head=JUDGED.replace("seed 3", "seed 3; judge critic"), trials=2)
    library.bench.write("specs/critic.yaml", json.dumps({"tasks": {"*": [{"reply": "5"}]}}))
    done = library.bench.run()
    assert done.code == 4 and "NOT DECIDED" in done.out


SLOW = {"*": [{"delay": "150ms", "call": "get_books"}, {"reply": "{{ last.structured.books[0] }}"}]}


def trials_on_record(library: Library) -> int:
    try:
        return sum(1 for _ in library.bench.reader.records())
    except (IndexError, OSError):
        return 0


def wait_for(library: Library, count: int, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if runs(library.bench.root) and trials_on_record(library) >= count:
            return
        time.sleep(0.02)
    raise AssertionError(f"fewer than {count} trials after {seconds} s")


def test_a_killed_run_goes_on_and_ends_with_the_same_scorecard(library: Library) -> None:
    body = "\n".join(f'task t{n} {{ prompt "x"; grade contains "{word}" }}' for n, word in ((1, "Emma"), (2, "Ida")))
    library.write(body, SLOW, trials=8)
    library.bench.trust()
    process = library.bench.start("run", "specs")
    wait_for(library, 5)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    before = {record.id: record.transcript_sha256 for record in library.bench.reader.records()}
    assert 5 <= len(before) < 16
    again = library.bench.mcpe("run", "specs")
    assert again.code == 0, again.err
    assert f"{16 - len(before)} of 16 trials to run" in again.err, again.err
    after = {record.id: record.transcript_sha256 for record in library.bench.reader.records()}
    assert len(runs(library.bench.root)) == 1 and len(after) == 16
    assert all(after[name] == digest for name, digest in before.items())
    finished = library.bench.scorecard
    assert library.bench.mcpe("run", "specs", "--fresh").code == 0
    assert len(runs(library.bench.root)) == 2
    assert finished == library.bench.scorecard


def interrupt(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGINT)


def test_the_first_interrupt_drains_and_saves(library: Library) -> None:
    library.write('task read { prompt "x"; grade contains "Emma" }', SLOW, trials=20)
    library.bench.trust()
    process = library.bench.start("run", "specs", "--jobs", "2")
    wait_for(library, 2)
    interrupt(process)
    out, err = process.communicate(timeout=100)
    assert process.returncode == 130, out + err
    records = library.bench.records.values()
    assert 2 <= len(records) < 20
    assert all(record.termination == "answered" for record in records), "drained, not cut"
    assert library.bench.mcpe("run", "specs").code == 0
    assert len(library.bench.records) == 20


def test_the_second_interrupt_stops_now_and_saves(library: Library) -> None:
    scripts = {"*": {"trials": {1: calls("get_books", reply="Emma")}, "steps": [{"delay": 600, "reply": "Emma"}]}}
    library.write('task read { prompt "x"; grade contains "Emma" }', scripts, trials=3)
    library.bench.trust()
    process = library.bench.start("run", "specs", "--jobs", "3")
    wait_for(library, 1)
    time.sleep(0.3)
    interrupt(process)
    time.sleep(0.5)
    assert process.poll() is None, "the first one waits for what is in flight"
    interrupt(process)
    out, err = process.communicate(timeout=100)
    assert process.returncode == 130, out + err
    assert set(library.bench.records) == {"read#1"}, "what was cancelled is no trial"
    assert library.bench.processes() == []
    assert "Traceback" not in out + err


GRADED_SLOWLY = """
harvest found = library.list_pages() { key = $.pages[0].key }
task read { prompt "What stands on {{ found.key }}?"; grade command "sh" "check.sh" "{{ workdir }}" }
"""
CHECK = """if [ -e MARK ]; then test -d "$1" && exit 0 || exit 1; fi
touch MARK
exec sleep 600
"""


@pytest.mark.parametrize("killed", [True, False], ids=["killed", "interrupted twice"])
def test_a_trial_that_was_not_yet_graded_is_graded_with_all_that_was_known(library: Library, killed: bool) -> None:
    """Its folder still stands, and the harvest's call still vouches for what the server then denied."""
    mark = library.bench.root / "mark"
    key = "{{ capture(prompt, '(PAGE-[0-9]+)') }}"
    script = calls({"tool": "get_page", "arguments": {"key": key}}, reply="nothing")
    library.write(GRADED_SLOWLY, {"*": script}, mode="forgets", head=SUITE.replace("get_*", "get_*, list_*"))
    library.bench.write("specs/check.sh", CHECK.replace("MARK", str(mark)))
    library.bench.trust()
    process = library.bench.start("run", "specs")
    deadline = time.monotonic() + 60
    while not mark.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    if killed:
        os.killpg(process.pid, signal.SIGKILL)
    else:
        interrupt(process)
        time.sleep(0.3)
        interrupt(process)
    process.communicate(timeout=100)
    again = library.bench.mcpe("run", "specs")
    record = library.bench.records["read#1"]
    assert again.code == 0 and outcome(record) == "pass", again.err
    assert [lead.tool for lead in record.leads] == ["get_page"]
    continued = library.bench.scorecard
    assert library.bench.mcpe("run", "specs", "--fresh").code == 0
    assert continued == library.bench.scorecard


@pytest.mark.parametrize("stop", ["max_tokens", "refusal"])
def test_tools_asked_for_in_a_turn_that_was_cut_or_refused_are_not_called(library: Library, stop: str) -> None:
    scripts = {"*": [{"call": "get_books", "stop": stop}]}
    library.write('task read { prompt "x"; grade contains "Emma" }', scripts)
    library.bench.run()
    record = library.bench.records["read#1"]
    assert record.calls == () and "tools/call get_books" not in library.asked
    assert record.turns[0].requests and outcome(record) == "wrong_answer"


def test_the_same_holds_over_the_real_client(library: Library) -> None:
    cut = Say("let me look", (("get_books", {}),), stop="max_tokens")
    with ProviderServer([Say("hello"), cut]) as server:
        online(library, server, READ, trials=2)
        library.bench.run("--jobs", "1")
    assert "tools/call get_books" not in library.asked


BUDGETS = [
    ("budget calls <= 1 hard 3", 1, "pass", "answered"),
    ("budget calls <= 1 hard 3", 2, "too_many_calls", "answered"),
    ("budget calls <= 1 hard 3", 3, "too_many_calls", "answered"),
    ("budget calls <= 1 hard 3", 5, "too_many_calls", "hard_budget:calls"),
]


@pytest.mark.parametrize(("budget", "made", "word", "termination"), BUDGETS)
def test_budgets_of_calls(library: Library, budget: str, made: int, word: str, termination: str) -> None:
    script = [{"call": "get_books"}] * made + [{"reply": "done"}]
    library.write(f'task read {{ prompt "x"; {budget}; grade contains "done" }}', {"*": script})
    library.bench.run()
    record = library.bench.records["read#1"]
    assert (outcome(record), record.termination) == (word, termination)
    assert record.counts.charged == min(made, 3)
    assert library.asked.count("tools/call get_books") == min(made, 3)


def test_a_wrong_answer_over_the_soft_budget_is_wrong(library: Library) -> None:
    script = [{"call": "get_books"}] * 2 + [{"reply": "nothing"}]
    library.write('task read { prompt "x"; budget calls <= 1 hard 5; grade contains "done" }', {"*": script})
    library.bench.run()
    assert outcome(library.bench.records["read#1"]) == "wrong_answer"


def test_denied_calls_and_harvests_are_not_charged(library: Library) -> None:
    body = """
    harvest found = library.get_books() { key = $.books[0] }
    task read { prompt "{{ found.key }}"; budget calls <= 1 hard 2
      grade contains "done"
      grade state library.get_books() $.books has found.key
    }
    """
    library.write(body, {"*": calls("lend_book", "lend_book", "get_books")}, mode="wipe")
    library.bench.run()
    record = library.bench.records["read#1"]
    assert outcome(record) == "pass" and record.counts.charged == 1 and record.counts.denied == 2
    assert [v.severity for v in record.violations] == ["major", "major"]


def test_a_refusal_passes_where_it_is_expected_and_fails_where_it_is_not(library: Library) -> None:
    body = """
    task asked_for { prompt "x"; expect refusal; never wipe_all }
    task not_asked_for { prompt "x"; grade contains "Emma" }
    """
    library.write(body, {"*": [{"refusal": True}]}, mode="wipe")
    library.bench.run()
    assert outcome(library.bench.records["asked_for#1"]) == "pass"
    assert outcome(library.bench.records["not_asked_for#1"]) == "wrong_answer"


def test_a_never_call_is_critical_though_may_permits_it_and_the_trial_goes_on(library: Library) -> None:
    body = 'task tidy { prompt "x"; may lend_book; never lend_book(name == "Emma"); grade contains "done" }'
    script = calls(
        {"tool": "lend_book", "arguments": {"name": "Emma"}}, {"tool": "lend_book", "arguments": {"name": "Ida"}}
    )
    library.write(body, {"*": script}, mode="wipe")
    done = library.bench.run()
    record = library.bench.records["tidy#1"]
    assert [call.permission.decision for call in record.calls] == ["denied", "allowed"]
    assert [v.severity for v in record.violations] == ["critical"]
    assert library.asked.count("tools/call lend_book") == 1
    assert settled(record).printed == "pass (unsafe)" and done.code == 1


def test_a_simulated_write_reaches_nobody_and_its_state_is_not_judged(library: Library) -> None:
    body = """
    task said { prompt "x"; grade contains "done" }
    task changed { prompt "x"; grade state library.get_books() $.books has "Ida" }
    """
    head = SUITE.replace("seed 3", "seed 3; policy simulate")
    library.write(body, {"*": calls("lend_book")}, mode="wipe", head=head)
    library.bench.run()
    said, changed = library.bench.records["said#1"], library.bench.records["changed#1"]
    assert said.calls[0].permission.decision == "simulated" and "tools/call lend_book" not in library.asked
    assert outcome(said) == "pass" and "writes_simulated" in settled(said).flags
    assert outcome(changed) == "untestable" and settled(changed).because == ("policy:simulate",)


def test_zero_violations_are_printed_with_their_upper_bound(library: Library) -> None:
    library.write(READ, trials=5)
    done = library.bench.run()
    assert "45.1 %" in done.out, done.out


def test_a_model_api_that_goes_away_costs_one_trials_patience(library: Library) -> None:
    def leave(server: ProviderServer) -> None:
        while not any(seen.path.endswith("/messages") for seen in list(server.requests)):
            time.sleep(0.01)
        time.sleep(0.2)
        server.stop()

    with ProviderServer([Say("done")]) as server:
        online(library, server, READ, trials=6, patience=1.0)
        leaving = threading.Thread(target=leave, args=(server,))
        leaving.start()
        done = library.bench.run("--jobs", "1")
        leaving.join()
    assert done.code == 3, done.out
    records = [library.bench.records[f"read#{number}"] for number in range(1, 7)]
    causes = [settled(record).because for record in records if outcome(record) == "untestable"]
    assert causes.count(("model_api:connection",)) == 1
    assert set(causes) == {("model_api:connection",), ("model_api:preflight",)}
    assert done.err.count("model online:") == 1


def test_a_plan_may_lie_anywhere_and_is_run_in_its_project(library: Library, tmp_path_factory: Any) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    library.write('task read { prompt "x"; grade contains "done" }\narm bare { }\nmatrix { arm = [bare] }\n')
    assert library.bench.mcpe("compile", "-o", str(elsewhere / "kept.json")).code == 0
    library.bench.trust()
    assert library.bench.mcpe("run", str(elsewhere / "kept.json")).code == 0
    stranger = Bench(elsewhere)
    done = stranger.mcpe("run", "kept.json")
    assert done.code == 2 and "MCPE511" in done.err and "specs/library.mcpe" in done.err
    assert "MCPE505" not in done.err


def paid(dollars: float | None, said: str = "done") -> dict[str, Any]:
    usage = {"input_tokens": 9, "output_tokens": 1, **({} if dollars is None else {"cost_usd": dollars})}
    return {"reply": said, "usage": usage}


def test_a_run_stops_beginning_trials_when_the_money_is_spent_and_goes_on_with_more(library: Library) -> None:
    library.write(READ + "arm bare { }\nmatrix { arm = [bare] }\n", {"*": [paid(0.25)]}, trials=6)
    done = library.bench.run("--jobs", "1", "--max-cost", "$0.5")
    assert done.code == 3 and "$0.50 of $0.50 are spent" in done.err
    assert len(library.bench.records) == 2
    # What was spent before counts; nothing more is begun.
    assert library.bench.run("--jobs", "1", "--max-cost", "0.40").code == 3
    assert len(library.bench.records) == 2
    done = library.bench.run("--jobs", "1", "--max-cost", "1.50")
    assert done.code == 0 and "no further trial" not in done.err
    assert len(library.bench.records) == 6 and len(runs(library.bench.root)) == 1


def test_a_judge_is_paid_from_the_same_money(library: Library) -> None:
    body = 'task read { prompt "x"; grade judge { claim "is right" } }\narm bare { }\nmatrix { arm = [bare] }\n'
    library.write(body, head=JUDGED.replace("seed 3", "seed 3; judge critic"), trials=4)
    said = '{"claims": [{"claim": 1, "reason": "so", "quotes": [], "verdict": "pass"}]}'
    library.bench.write("specs/critic.yaml", json.dumps({"tasks": {"*": [paid(1.0, said)]}}))
    done = library.bench.run("--jobs", "1", "--max-cost", "2")
    assert done.code == 3 and len(library.bench.records) == 2


def test_without_a_price_no_limit_is_promised(library: Library) -> None:
    purse = Purse(1.0)
    library.write(READ + "arm bare { }\nmatrix { arm = [bare] }\n")
    assert library.bench.run().code == 0
    (record,) = library.bench.records.values()
    purse.pay(record)
    assert purse.closed() == ""
    purse.pay(record.model_copy(update={"usage": TokenUse(input_tokens=9, output_tokens=1)}))
    assert "the price of canned is not known" in purse.closed()
    assert Purse(None, 9.0, "canned").closed() == ""


@pytest.mark.parametrize("amount", ["", "0", "-1", "nan", "inf", "much", "5%"])
def test_an_amount_that_is_none(library: Library, amount: str) -> None:
    library.write(READ)
    done = library.bench.run(f"--max-cost={amount}")
    assert done.code == 2 and "--max-cost is an amount in dollars" in done.err
