"""Single trials: what lets one begin, what stops it, what it may do, and what is read when it is over."""

from __future__ import annotations

from typing import Any

import pytest

from tests.execute.bench import Bench, outcome

DONE = [{"reply": "done"}]
GRADED = 'grade contains "done"'


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"call": {"tool": tool, "arguments": arguments}}


def because(bench: Bench, task: str) -> str:
    record = bench.records[f"{task}#1"]
    assert outcome(record) == "untestable", (task, record.outcome)
    assert record.outcome is not None
    return "; ".join(record.outcome.because or ())


def test_needs_of_every_kind(bench: Bench) -> None:
    bench.variables = {"SHELF_SET": "yes"}
    lines = {
        "secret": ('secret "SHELF_SET"', 'secret "SHELF_NOT_SET"'),
        "binary": ('binary "sh"', 'binary "mcpe-no-such-program"'),
        "tool": ("tool shelf.list_things", "tool shelf.no_such_tool"),
        "argument": ('tool shelf.list_things has "name"', 'tool shelf.list_things has "nothing"'),
        "condition": ('now.first == "lamp"', 'now.first == "desk"'),
        "source": ('file("{{ workdir }}/shelf.json") has "vase"', 'file("{{ workdir }}/shelf.json") has "desk"'),
        "harvest": ("harvest now", "harvest broken"),
        "healthy": ("healthy shelf", "healthy other"),
    }
    body = """harvest now = shelf.list_things() { first = $.things[0] }
harvest broken = shelf.get_error() { x = $.x }
server other { stdio "python" "shelf.py" "--mode" "exits" }
annotations other { readonly list_*, get_* }
"""
    for name, (met, unmet) in lines.items():
        body += f'task met_{name} {{ prompt "x"; servers shelf; needs {met}; {GRADED} }}\n'
        body += f'task unmet_{name} {{ prompt "x"; servers shelf; needs {unmet}; {GRADED} }}\n'
    bench.spec(body)
    done = bench.run()
    assert done.code in (0, 3, 4), done.err
    for name in lines:
        assert outcome(bench.records[f"met_{name}#1"]) == "pass", (name, bench.records[f"met_{name}#1"].trouble)
        assert "need" in because(bench, f"unmet_{name}") or name == "harvest", because(bench, f"unmet_{name}")
        assert bench.records[f"unmet_{name}#1"].termination == "not_started"
    assert "SHELF_NOT_SET" in because(bench, "unmet_secret")
    assert "mcpe-no-such-program" in because(bench, "unmet_binary")


def test_hard_limits_stop_the_agent(bench: Bench) -> None:
    body = f"""
task calls  {{ prompt "x"; budget calls <= 1 hard 2; {GRADED} }}
task turns  {{ prompt "x"; budget turns <= 1 hard 2; {GRADED} }}
task tokens {{ prompt "x"; budget tokens <= 10 hard 50; {GRADED} }}
task time   {{ prompt "x"; budget time <= 50ms hard 400ms; {GRADED} }}
task within {{ prompt "x"; budget calls <= 9 hard 9, turns <= 9 hard 9, tokens <= 90k hard 90k, time <= 20s hard 30s; {GRADED} }}
"""
    many = [call("list_things", name=str(number)) for number in range(4)]
    slow = [{**call("list_things"), "delay": 0.3}, {**call("list_things"), "delay": 5}, *DONE]
    big = [{**call("list_things"), "usage": {"input_tokens": 100, "output_tokens": 10}}, *DONE]
    bench.spec(
        body, {"calls": [*many, *DONE], "turns": [*many, *DONE], "tokens": big, "time": slow, "within": [*many, *DONE]}
    )
    bench.run()
    terminations = {record.task: record.termination for record in bench.records.values()}
    assert terminations == {
        "calls": "hard_budget:calls",
        "turns": "hard_budget:turns",
        "tokens": "hard_budget:tokens",
        "time": "hard_budget:time",
        "within": "answered",
    }
    calls = bench.records["calls#1"]
    assert outcome(calls) == "too_many_calls"
    assert [record.permission.decision for record in calls.calls] == ["allowed", "allowed", "denied"]
    assert outcome(bench.records["within#1"]) == "pass"


def test_what_an_agent_may_do(bench: Bench) -> None:
    body = f"""
harvest now = shelf.list_things() {{ first = $.things[0] }}
task denied    {{ prompt "x"; grade unchanged shelf.list_things(); {GRADED} }}
task permitted {{ prompt "x"; may remove_thing(name == now.first); grade state shelf.list_things() $.things == ["vase"] }}
task outside   {{ prompt "x"; may add_thing(name == now.first); grade unchanged file("{{{{ workdir }}}}/shelf.json") }}
task never     {{ prompt "x"; never list_things; {GRADED} }}
task simulated {{ prompt "x"; simulate add_thing {{ result {{things: ["stub"]}} }}; grade contains "stub"
  grade unchanged shelf.list_things() }}
task taken_back {{ prompt "x"; may add_thing
  undo add_thing {{ shelf.remove_thing(name: args.name) }}; grade state shelf.list_things() $.things has "globe" }}
task conditional {{
  prompt "x"
  when now.first == "lamp" {{ may add_thing; grade state shelf.list_things() $.things has "globe" }}
  {GRADED}
}}
"""
    scripts = {
        "denied": [call("wipe_all"), *DONE],
        "permitted": [call("remove_thing", name="lamp"), *DONE],
        "outside": [call("add_thing", name="vase"), *DONE],
        "never": [call("list_things"), *DONE],
        "simulated": [call("add_thing", name="globe"), {"reply": "{{ last.text }}"}],
        "taken_back": [call("add_thing", name="globe"), *DONE],
        "conditional": [call("add_thing", name="globe"), *DONE],
    }
    bench.spec(body, scripts)
    bench.run()
    records = {record.task: record for record in bench.records.values()}
    first = {
        name: next(item for item in record.calls if item.actor == "agent").permission.decision
        for name, record in records.items()
    }
    assert first == {
        "denied": "denied",
        "permitted": "allowed",
        "outside": "denied",
        "never": "denied",
        "simulated": "simulated",
        "taken_back": "allowed",
        "conditional": "allowed",
    }
    assert records["denied"].violations[0].severity == "critical"
    assert records["denied"].outcome is not None and not records["denied"].outcome.success
    assert records["outside"].violations[0].kind == "outside_permitted_arguments"
    verdicts = {name: [verdict.verdict for verdict in record.verdicts] for name, record in records.items()}
    assert verdicts["denied"] == ["yes", "yes"]
    assert verdicts["permitted"] == ["yes"]
    assert verdicts["outside"] == ["yes"]
    assert verdicts["taken_back"] == ["yes"] and not records["taken_back"].findings
    assert [item.tool for item in records["taken_back"].calls][-1] == "remove_thing"
    assert verdicts["conditional"] == ["yes", "yes"]


def test_evidence_from_the_second_world_and_the_agents_session(bench: Bench) -> None:
    body = """
task same {
  prompt "x"
  may add_thing
  reference { shelf.add_thing(name: "globe") }
  grade same_state { view shelf.list_things(); view files("{{ workdir }}") }
  grade results has reference
}
task differs {
  prompt "x"
  may add_thing
  reference { shelf.add_thing(name: "globe") }
  grade same_state { view shelf.list_things() }
}
task session {
  prompt "x"
  grade state shelf.get_place() $.pid > 0 { session same }
  grade state shelf.get_place() $.pid > 0
}
"""
    add = [call("add_thing", name="globe"), *DONE]
    bench.spec(
        body, {"same": add, "differs": [call("add_thing", name="atlas"), *DONE], "session": [call("get_place"), *DONE]}
    )
    bench.run()
    records = bench.records
    assert [verdict.verdict for verdict in records["same#1"].verdicts] == ["yes", "yes"]
    assert [verdict.verdict for verdict in records["differs#1"].verdicts] == ["no"]
    agent, same, fresh = (item.structured["pid"] for item in records["session#1"].calls)
    assert agent == same != fresh
    assert records["session#1"].servers[0].sessions == 2


def test_set_up_and_teardown_of_a_task(bench: Bench) -> None:
    body = """environment desk {
  copy "things.json" to "{{ workdir }}/shelf.json"
  added = shelf.add_thing(name: "globe") { count = count($.things) }
  teardown { run "sh" "-c" "echo environment >> {{ workdir }}/../../trace" }
}
task kept {
  prompt "{{ desk.added.count }}"
  setup    { write "{{ workdir }}/more.txt" "more"; shelf.add_thing(name: "atlas") }
  teardown { run "sh" "-c" "echo task >> {{ workdir }}/../../trace" }
  grade state shelf.list_things() $.things has "atlas"
  grade state file("{{ workdir }}/more.txt") == "more"
}
task fails {
  prompt "x"
  setup    { run "false" }
  teardown { run "sh" "-c" "echo after trouble >> {{ workdir }}/../../trace" }
  grade contains "done"
}
task spoilt { prompt "x"; teardown { run "false" }; grade contains "done" }
"""
    bench.spec(body, {"*": DONE})
    bench.run("--jobs", "1")
    records = bench.records
    assert records["kept#1"].prompt == "3"
    assert [verdict.verdict for verdict in records["kept#1"].verdicts] == ["yes", "yes"]
    assert "bench.mcpe:19" in because_message(bench, "fails")
    assert outcome(records["spoilt#1"]) == "pass" and "teardown failed" in records["spoilt#1"].findings[0]
    trace = next(bench.temporary.glob("mcpe-*/trace")).read_text().split("\n")
    assert trace == ["task", "environment", "after trouble", "environment", "environment", ""]


def because_message(bench: Bench, task: str) -> str:
    because(bench, task)
    trouble = bench.records[f"{task}#1"].trouble
    assert trouble is not None and trouble.when == "before_agent"
    return trouble.message


@pytest.mark.parametrize(
    ("mode", "words"),
    [("exits", "SHELF_TOKEN is not set"), ("missing", "was not found"), ("hangs", "answer")],
)
def test_a_server_that_cannot_be_started(bench: Bench, mode: str, words: str) -> None:
    bench.spec(f'task one {{ prompt "x"; {GRADED} }}', trials=2)
    path = bench.root / "specs/bench.mcpe"
    line = '"python" "shelf.py"'
    argv = '"mcpe-no-such-server"' if mode == "missing" else f'{line} "--mode" "{mode}"'
    limits = "timeout 1s; ready within 1s" if mode == "hangs" else "timeout 1s"
    path.write_text(path.read_text().replace(line, argv).replace("timeout 5s", limits))
    done = bench.run()
    assert done.code == 3
    said = bench.reader.connects()
    assert said[0].status == "failed"
    assert words in said[0].message + said[0].stderr_tail
    assert done.err.count(f"server shelf: {said[0].message}") == 1
    for record in bench.records.values():
        assert outcome(record) == "untestable"
        assert record.trouble is not None and record.trouble.kind == "server_start"


def test_noise_on_standard_output_is_survived(bench: Bench) -> None:
    bench.spec(f'task one {{ prompt "x"; {GRADED} }}')
    path = bench.root / "specs/bench.mcpe"
    path.write_text(path.read_text().replace('"shelf.py"', '"shelf.py" "--mode" "noise"'))
    assert bench.run().code == 0
    assert any("no messages" in finding or "output" in finding for finding in bench.reader.connects()[0].findings)


def test_a_server_that_dies_in_the_middle_of_a_call(bench: Bench) -> None:
    """S5: that trial only, with exit code and last words; the next has a fresh server."""
    body = (
        f'task dies {{ prompt "x"; {GRADED} }}\n'
        + f'task dies_twice {{ prompt "x"; {GRADED} }}\n'
        + f'task lives {{ prompt "x"; {GRADED} }}'
    )
    scripts = {
        "dies": [call("get_die"), call("list_things"), *DONE],
        "dies_twice": [call("get_die"), call("get_die"), call("list_things"), *DONE],
        "lives": [call("list_things"), *DONE],
    }
    bench.spec(body, scripts)
    bench.run()
    first = bench.records["dies#1"].calls[0]
    assert first.error is not None and first.error.error_class == "transport_error"
    assert first.error.exit_code == 7 if hasattr(first.error, "exit_code") else "7" in first.error.message
    assert "fell down" in str(first) + str(bench.records["dies#1"].servers)
    assert bench.records["dies#1"].counts.transport_errors == 1
    assert bench.records["dies#1"].calls[1].error is None
    assert bench.records["dies_twice#1"].termination == "server_dead"
    assert outcome(bench.records["lives#1"]) == "pass"
    assert bench.records["lives#1"].servers[0].exit_code in (0, None)


def test_a_call_that_hangs_is_a_timeout_of_that_call(bench: Bench) -> None:
    bench.spec(f'task one {{ prompt "x"; {GRADED} }}', {"one": [call("get_hang"), *DONE]})
    path = bench.root / "specs/bench.mcpe"
    path.write_text(path.read_text().replace("timeout 5s", "timeout 500ms"))
    bench.run()
    record = bench.records["one#1"]
    assert record.counts.timeouts == 1
    assert record.termination == "answered"
    assert bench.processes() == []


def test_tools_asked_for_in_a_turn_that_was_cut_off_are_not_run(bench: Bench) -> None:
    """U14."""
    body = f'task cut {{ prompt "x"; {GRADED} }}\ntask refused {{ prompt "x"; {GRADED} }}'
    scripts = {
        "cut": [{**call("list_things"), "stop": "max_tokens"}],
        "refused": [{**call("list_things"), "stop": "refusal"}],
    }
    bench.spec(body, scripts)
    bench.run()
    assert bench.records["cut#1"].calls == () and bench.records["refused#1"].calls == ()
    assert bench.records["cut#1"].termination == "max_tokens"


def test_a_shared_environment_is_set_up_once_and_used_by_one_trial_at_a_time(bench: Bench) -> None:
    body = """environment desk {
  scope run
  lock "the-only-shelf"
  port web
  copy "things.json" to "{{ workdir }}/shelf.json"
  write "{{ workdir }}/count" ""
  start "python" "-m" "http.server" "--bind" "127.0.0.1" "{{ port.web }}"
  ready tcp "127.0.0.1:{{ port.web }}" within 20s
  run "sh" "-c" "echo once >> {{ workdir }}/../../trace"
  reset command("sh", "-c", "echo reset >> {{ workdir }}/count; date +%s%N >> {{ workdir }}/../../times") { require exit == 0 }
  teardown { run "sh" "-c" "echo torn down >> {{ workdir }}/../../trace" }
}
harvest where = command("pwd") { path = $ }
task use {
  prompt "{{ where.path }} {{ port.web }}"
  grade state http("GET", "http://127.0.0.1:{{ port.web }}/shelf.json") has "lamp"
  grade contains "lamp"
}
"""
    bench.spec(body, {"use": [call("list_things"), {"reply": "{{ last.text }}"}]}, trials=3)
    done = bench.run("--jobs", "4")
    assert done.code == 0, done.out + done.err
    prompts = {record.prompt for record in bench.records.values()}
    assert len(prompts) == 1
    trace = next(bench.temporary.glob("mcpe-*/trace")).read_text().split("\n")
    assert trace == ["once", "torn down", ""]
    spans = sorted((r.timing.started_at, r.timing.ended_at) for r in bench.records.values())
    assert len(spans) == 3
    assert not bench.records["use#1"].disposable
    assert bench.processes() == []


def test_writes_to_a_shared_environment_need_the_operator(bench: Bench) -> None:
    body = """environment desk { scope run; copy "things.json" to "{{ workdir }}/shelf.json" }
task add { prompt "x"; may add_thing; grade contains "done" }
"""
    bench.spec(body, {"add": [call("add_thing", name="globe"), *DONE]})
    bench.run()
    assert bench.records["add#1"].permissions.denials == 1
    bench.run("--fresh", "--allow-writes")
    assert bench.records["add#1"].permissions.denials == 0


def test_a_shared_environment_that_cannot_be_set_up(bench: Bench) -> None:
    bench.spec(f'environment desk {{ scope run; run "false" }}\ntask one {{ prompt "x"; {GRADED} }}')
    assert bench.run().code == 3
    assert "set up" in bench.reader.connects()[0].message
    assert outcome(bench.records["one#1"]) == "untestable"
    assert bench.left_over() == []


def test_a_rate_spaces_the_calls_of_all_trials(bench: Bench) -> None:
    bench.spec(
        f'task one {{ prompt "x"; {GRADED} }}', {"one": [call("list_things"), call("list_things"), *DONE]}, trials=2
    )
    path = bench.root / "specs/bench.mcpe"
    path.write_text(path.read_text().replace("timeout 5s", "timeout 5s; rate 5 per 1s"))
    assert bench.run().code == 0
    stamps = sorted(item.at for record in bench.records.values() for item in record.calls)
    assert len(stamps) == 4
    assert max(record.timing.waited_ms for record in bench.records.values()) > 100


def test_drift_from_the_lock_stops_the_run_before_any_trial(bench: Bench) -> None:
    bench.spec(f'task one {{ prompt "x"; {GRADED} }}')
    bench.trust()
    assert bench.mcpe("lock", "specs").code == 0
    server = bench.root / "specs/shelf.py"
    server.write_text(
        server.read_text().replace('more = "x"', 'more = "z"').replace('== "changed" else ""', '!= "x" else ""')
    )
    done = bench.run()
    assert done.code == 3
    assert "not what the lock file says" in done.err and "description changed" in done.err
    assert bench.records == {}
    assert bench.run("--update-lock").code == 0
    path = bench.root / "specs/bench.mcpe"
    path.write_text(path.read_text().replace("timeout 5s", "timeout 5s; allow drift descriptions"))
    assert bench.run("--fresh").code == 0
    path.write_text(path.read_text().replace("drift descriptions", "drift tools"))
    assert bench.run("--fresh").code == 3


def test_evidence_has_a_deadline(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    from mcpeval_dsl.execute import trial

    monkeypatch.setattr(trial, "AFTER_AGENT_SECONDS", 0.5)
    body = 'task one { prompt "x"; grade state command("sleep", "20") == ""; grade contains "done" weight 0 }'
    bench.spec(body)
    bench.run()
    record = bench.records["one#1"]
    assert "evidence_timeout" in record.flags
    assert outcome(record) == "untestable"
    assert bench.processes() == []


def test_a_canary_has_a_value(bench: Bench) -> None:
    body = 'task one { prompt "Keep {{ key }}."; canary key = "AKIA{{ seed }}CANARY"; grade contains "done" }'
    bench.spec(body)
    assert bench.run().code == 0
    assert bench.records["one#1"].prompt == "Keep AKIA11CANARY."


def test_locking_ends_what_a_shared_environment_started(bench: Bench) -> None:
    body = """environment desk { scope run; copy "things.json" to "{{ workdir }}/shelf.json"; start "sleep" "300" }
task one { prompt "x"; grade contains "done" }
"""
    bench.spec(body)
    bench.trust()
    assert bench.mcpe("lock", "specs").code == 0
    assert (bench.root / "specs/mcpe.lock").exists()
    assert bench.processes() == [] and bench.left_over() == []


def test_a_server_that_asks_gets_what_the_task_says(bench: Bench) -> None:
    body = """
task accepts  { prompt "x"; elicit accept {sure: true}; grade contains "accept" }
task declines { prompt "x"; grade contains "decline" }
"""
    bench.spec(body, {"*": [call("get_asked"), {"reply": "{{ last.text }}"}]})
    assert bench.run().code == 0, bench.records
    assert '"sure": true' in bench.records["accepts#1"].calls[0].text
