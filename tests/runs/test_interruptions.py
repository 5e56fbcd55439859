"""A run that is killed, stopped, starved of disk or started twice: what is finished stays, and the same command goes on."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from mcpeval_dsl.records.folder import runs
from tests.execute.bench import Bench

BODY = """
harvest slow = command("sh", "-c", "sleep 0.3; echo lamp") { name = $ }
harvest then = shelf.get_thing(number: 0) { name = $.name; require name == slow.name }
task reads { prompt "Is there a {{ then.name }}?"; budget calls <= 1 hard 3; grade contains then.name }
task wanders { prompt "Find the vase."; budget calls <= 1 hard 3; grade contains "vase" }
task fails { prompt "x"; grade contains "nothing of the kind" }
task runs_a_command { prompt "x"; grade command "sh" "-c" "grep -q lamp \\"$MCPE_WORKDIR\\"/shelf.json" }
gate { require task_success >= 90% }
"""
SCRIPTS = {
    "reads": [{"call": "list_things", "delay": 0.1}, {"reply": "{{ last.text }}"}],
    "wanders": [
        {"call": "list_things"},
        {"call": {"tool": "list_things", "arguments": {"name": "a"}}, "delay": 0.1},
        {"reply": "{{ last.text }}"},
    ],
    "*": [{"reply": "done", "delay": 0.1}],
}


@pytest.fixture
def suite(bench: Bench) -> Bench:
    bench.spec(BODY, SCRIPTS, trials=3)
    bench.trust()
    return bench


def until(process: subprocess.Popen[str], kind: str, count: int) -> list[dict[str, Any]]:
    """Events that the run tells, up to the `count`-th of a kind; fewer when it ends before."""
    assert process.stderr is not None
    seen = []
    for line in process.stderr:
        event = json.loads(line)
        seen.append(event)
        if event["type"] == kind:
            count -= 1
        if count == 0:
            break
    return seen


def end(process: subprocess.Popen[str]) -> tuple[str, str]:
    out, err = process.communicate(timeout=100)
    assert "Traceback" not in out + err, err
    return out, err


def uninterrupted(suite: Bench, tmp_path: Path) -> bytes:
    """The scorecard of the same suite at the same place, run at one go; its run folder is put aside."""
    assert suite.mcpe("run", "specs").code == 1
    card = suite.scorecard
    runs(suite.root)[0].path.rename(tmp_path / "put-aside")
    return card


def test_killed_at_any_moment_and_continued_gives_the_same_scorecard(suite: Bench, tmp_path: Path) -> None:
    """S/U7: one run killed again and again, each time at another point of its life."""
    card = uninterrupted(suite, tmp_path)
    finished: set[str] = set()
    for kind, count in (("started", 1), ("connected", 1), ("harvestdone", 1), ("trialdone", 1), ("trialdone", 4)):
        process = suite.start("run", "specs", "--format", "json", "--jobs", "2")
        finished |= {event["trial"] for event in until(process, kind, count) if event["type"] == "trialdone"}
        os.killpg(process.pid, signal.SIGKILL)
        end(process)
    assert len(runs(suite.root)) == 1
    done = suite.mcpe("run", "specs")
    assert done.code == 1
    assert suite.scorecard == card
    assert len(finished) >= 5
    attempts: dict[str, list[str]] = {}
    for attempt in suite.reader.attempts():
        attempts.setdefault(attempt["trial"], []).append(attempt["state"])
    for states in attempts.values():
        assert states == ["started"] * (len(states) - 1) + ["finished"], attempts
    assert "finished before" in done.err
    assert suite.left_over() == []
    assert not suite.reader.verify()


def test_killed_at_random_moments(suite: Bench, tmp_path: Path) -> None:
    card = uninterrupted(suite, tmp_path)
    for after in (0.45, 0.9, 1.3, 1.75, 2.2):
        process = suite.start("run", "specs")
        time.sleep(after)
        os.killpg(process.pid, signal.SIGKILL)
        end(process)
    assert suite.mcpe("run", "specs").code == 1
    assert suite.scorecard == card
    assert suite.mcpe("run", "specs").err.count("0 of 12 trials to run") == 1
    assert suite.scorecard == card


def test_an_interrupt_before_any_trial_says_what_is_waited_for(bench: Bench) -> None:
    slow = BODY.replace("sleep 0.3", "sleep 3")
    bench.spec(slow, SCRIPTS)
    bench.trust()
    process = bench.start("run", "specs", "--format", "json")
    until(process, "connected", 1)
    process.send_signal(signal.SIGINT)
    (stopping,) = [event for event in until(process, "stopping", 1) if event["type"] == "stopping"]
    assert (stopping["how"], stopping["before_trials"], stopping["in_flight"]) == ("drain", True, 0)
    end(process)
    assert process.returncode == 130 and bench.reader.attempts() == []


def test_the_first_interrupt_finishes_what_is_in_flight(suite: Bench, tmp_path: Path) -> None:
    """U8."""
    card = uninterrupted(suite, tmp_path)
    process = suite.start("run", "specs", "--format", "json", "--jobs", "2")
    until(process, "trialdone", 1)
    process.send_signal(signal.SIGINT)
    end(process)
    assert process.returncode == 130
    states = [attempt["state"] for attempt in suite.reader.attempts()]
    assert set(states) == {"finished"} and 1 < len(states) < 12
    assert all(record.outcome is not None for record in suite.reader.records())
    assert suite.left_over() == [] and suite.processes() == []
    assert suite.mcpe("run", "specs").code == 1
    assert suite.scorecard == card


@pytest.mark.parametrize("moment", ["trials", "harvest"])
def test_the_second_interrupt_stops_now_and_saves(bench: Bench, moment: str) -> None:
    slow = [{"call": "get_hang"}, {"reply": "done"}]
    harvest = 'harvest slow = command("sleep", "600") { name = $ }\n' if moment == "harvest" else ""
    words = "{{ slow.name }}" if moment == "harvest" else "x"
    bench.spec(
        harvest
        + f'task quick {{ prompt "x"; grade contains "done" }}\ntask slow_one {{ prompt "{words}"; grade contains "done" }}',
        {"quick": [{"reply": "done"}], "slow_one": slow},
    )
    path = bench.root / "specs/bench.mcpe"
    path.write_text(path.read_text().replace("timeout 5s", "timeout 600s"))
    bench.trust()
    process = bench.start("run", "specs", "--format", "json")
    until(process, "trialdone" if moment == "trials" else "connected", 1)
    process.send_signal(signal.SIGINT)
    until(process, "stopping", 1)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    end(process)
    assert process.returncode == 130
    assert bench.left_over() == [] and bench.processes() == []
    if moment == "trials":
        assert sorted(attempt["state"] for attempt in bench.reader.attempts()) == ["cancelled", "finished"]
    assert "slow_one#1" not in bench.records


def test_a_second_runner_is_refused(bench: Bench) -> None:
    """The first waits in its harvest for as long as the second needs."""
    go_on = bench.root / "go-on"
    bench.spec(BODY.replace("sleep 0.3", f"until [ -e '{go_on}' ]; do sleep 0.05; done"), SCRIPTS)
    bench.trust()
    process = bench.start("run", "specs", "--format", "json")
    until(process, "connected", 1)
    other = bench.mcpe("run", "specs")
    assert other.code == 2 and "another runner" in other.err
    go_on.touch()
    end(process)
    assert process.returncode == 1


def test_an_interrupted_run_is_not_continued_with_something_else(suite: Bench) -> None:
    process = suite.start("run", "specs", "--format", "json", "--jobs", "1")
    until(process, "trialdone", 1)
    os.killpg(process.pid, signal.SIGKILL)
    end(process)
    server = suite.root / "specs/shelf.py"
    text = server.read_text()
    server.write_text(text + "\n# another server\n")
    refused = suite.mcpe("run", "specs")
    assert refused.code == 2
    assert "servers.shelf" in refused.err and "→" in refused.err and "--fresh" in refused.err
    assert suite.mcpe("run", "specs", "--fresh").code == 1
    server.write_text(text)
    assert len(runs(suite.root)) == 2


def test_a_full_disk_ends_with_74_and_the_run_can_be_continued(suite: Bench, tmp_path: Path) -> None:
    card = uninterrupted(suite, tmp_path)
    size = 150_000

    def limited() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    process = subprocess.run(
        suite.command("run", "specs", "--jobs", "2"),
        cwd=suite.root,
        env=suite.environment(),
        capture_output=True,
        text=True,
        timeout=90,
        stdin=subprocess.DEVNULL,
        preexec_fn=limited,
    )
    assert process.returncode == 74, process.stderr
    assert "Traceback" not in process.stderr and "error" in process.stderr
    assert suite.mcpe("run", "specs").code == 1
    assert suite.scorecard == card


def test_trials_that_infrastructure_spoilt_are_run_again_and_kept_aside(bench: Bench) -> None:
    """The API fails in the middle; the same command later measures those trials again."""
    body = 'task good { prompt "x"; grade contains "done" }\ntask spoilt { prompt "x"; grade contains "done" }'
    bench.spec(
        body, {"good": [{"reply": "done"}], "spoilt": [{"call": "list_things"}, {"error": "connection"}]}, trials=2
    )
    first = bench.run()
    assert first.code == 3
    again = bench.run()
    assert again.code == 3
    assert "2 of 4 trials to run" in again.err
    assert sorted(record.id for record in bench.reader.superseded()) == ["spoilt@canned#1", "spoilt@canned#2"]
    attempts = [attempt["trial"] for attempt in bench.reader.attempts()]
    assert attempts.count("good@canned#1") == 1 and attempts.count("spoilt@canned#1") == 2


def test_a_model_api_that_is_not_there(bench: Bench) -> None:
    """U2, U3: nothing is anybody's wrong answer; one clear message; exit 3."""
    import socket

    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    head = """suite bench "Bench" { trials 2; seed 11; defaults { environment desk } }
server shelf { stdio "python" "shelf.py"; timeout 5s }
annotations shelf { readonly list_*, get_* }
model claude { anthropic "claude-sonnet-4-5" }
"""
    bench.spec('task one { prompt "x"; grade contains "done" }', head=head)
    bench.write(
        "mcpe.local.toml",
        f'[providers.anthropic]\nbase_url = "http://127.0.0.1:{port}"\napi_key_variable = "BENCH_KEY"\npatience = 1\n',
    )
    bench.variables = {"BENCH_KEY": "key-1f2e3d"}
    done = bench.run()
    assert done.code == 3, done.err
    assert done.err.count("model claude:") == 1
    for record in bench.records.values():
        assert record.outcome is not None and record.outcome.outcome == "untestable" and record.outcome.re_run
        assert record.trouble is not None and record.trouble.when == "before_agent"
    assert "key-1f2e3d" not in done.out + done.err


def test_the_real_client_answers_through_a_run(bench: Bench) -> None:
    from tests.agents.provider_server import Overloaded, ProviderServer, Say

    head = """suite bench "Bench" { trials 1; seed 11; defaults { environment desk } }
server shelf { stdio "python" "shelf.py"; timeout 5s }
annotations shelf { readonly list_*, get_* }
model claude { anthropic "claude-sonnet-4-5" }
"""
    bench.spec('task one { prompt "What is on the shelf?"; grade contains "lamp" }', head=head)
    answers = [Overloaded(), Say(calls=(("list_things", {}),)), Say("A lamp and a vase.")]
    with ProviderServer(answers) as provider:
        bench.write(
            "mcpe.local.toml",
            f'[providers.anthropic]\nbase_url = "{provider.url}"\napi_key_variable = "BENCH_KEY"\npatience = 20\n',
        )
        bench.variables = {"BENCH_KEY": "key-1f2e3d"}
        done = bench.run()
    assert done.code == 0, done.out + done.err
    record = bench.records["one#1"]
    assert record.calls[0].tool == "list_things" and record.usage.input_tokens == 22


def test_a_suite_whose_name_begins_alike_is_another_suite(bench: Bench) -> None:
    bench.spec('task one { prompt "x"; grade contains "done" }')
    assert bench.run().code == 0
    path = bench.root / "specs/bench.mcpe"
    text = path.read_text()
    path.write_text(text.replace("suite bench ", "suite bench-more "))
    assert bench.run().code == 0
    path.write_text(text)
    assert "0 of 1 trials to run" in bench.run().err
    assert len(runs(bench.root)) == 2
