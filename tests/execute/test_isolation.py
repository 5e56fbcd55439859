"""What a trial's server sees of the caller: nothing but what the spec names; and nothing of a trial stays."""

from __future__ import annotations

from tests.execute.bench import Bench, answer, outcome

LOOK = {
    "*": [
        {"call": "get_variables", "as": "seen"},
        {"call": "get_place", "as": "place"},
        {"reply": "{{ seen.text }}"},
    ]
}


def test_a_server_sees_none_of_the_callers_variables_unless_named(bench: Bench) -> None:
    bench.variables = {"API_TOKEN": "canary-5e1f", "NAMED_TOKEN": "named-77aa", "PYTHONPATH": "/nowhere"}
    body = """environment desk { copy "things.json" to "{{ workdir }}/shelf.json"; env GIVEN = "by the spec" }
    task look { prompt "Look."; grade regex /by the spec/ }
    """
    bench.spec(body, LOOK, trials=2)
    assert bench.run().code == 0
    first, second = bench.records["look#1"], bench.records["look#2"]
    seen, other = answer(first), answer(second)
    assert "API_TOKEN" not in seen and "NAMED_TOKEN" not in seen and "PYTHONPATH" not in seen
    assert seen["GIVEN"] == "by the spec"
    assert seen["TZ"] == "UTC" and seen["LANG"] == "C.UTF-8"
    assert {seen["HOME"], seen["TMPDIR"]}.isdisjoint({other["HOME"], other["TMPDIR"]})
    place = first.calls[1].structured
    assert place["cwd"].endswith("/work") and place["mode"] == "0o700"
    assert place["pid"] != second.calls[1].structured["pid"]


def test_a_named_secret_reaches_the_server_and_no_file(bench: Bench) -> None:
    bench.variables = {"SHELF_TOKEN": "tok-3b9d55e1c2"}
    body = """environment desk { copy "things.json" to "{{ workdir }}/shelf.json"; env SHELF_TOKEN = secret("SHELF_TOKEN") }
    task look { prompt "Look."; grade regex /SHELF_TOKEN/ }
    """
    bench.spec(body, LOOK)
    done = bench.run()
    record = bench.records["look#1"]
    assert record.redactions and "tok-3b9d55e1c2" not in record.model_dump_json()
    assert "tok-3b9d55e1c2" not in done.out + done.err
    for path in (bench.root / ".mcpe").rglob("*"):
        assert not path.is_file() or b"tok-3b9d55e1c2" not in path.read_bytes(), path


def test_folders_and_processes_are_gone_after_the_run(bench: Bench) -> None:
    body = """environment desk { copy "things.json" to "{{ workdir }}/shelf.json"; start "sleep" "300" }
    task child { prompt "x"; grade contains "pid" }
    task orphan { prompt "x"; grade contains "pid" }
    """
    scripts = {
        "child": [{"call": "get_spawned"}, {"reply": "{{ last.text }}"}],
        "orphan": [{"call": {"tool": "get_spawned", "arguments": {"session": True}}}, {"reply": "{{ last.text }}"}],
    }
    bench.spec(body, scripts)
    assert bench.run().code == 0, bench.records
    assert bench.left_over() == []
    assert bench.processes() == []


def test_a_server_that_leaves_a_child_when_it_ends_leaves_none_after_the_trial(bench: Bench) -> None:
    """S16: it exits on end of file, but what it started at its start does not."""
    bench.spec('task one { prompt "x"; grade contains "done" }')
    path = bench.root / "specs/bench.mcpe"
    path.write_text(path.read_text().replace('"shelf.py"', '"shelf.py" "--mode" "orphan"'))
    assert bench.run().code == 0
    assert bench.processes() == []


def test_what_a_finished_set_up_command_left_behind_is_ended(bench: Bench) -> None:
    """It has left its session and its parent: only the trial's variables tell whose it is."""
    body = """environment desk { run "sh" "leave.sh" }
    task one { prompt "x"; grade contains "done" }
    """
    bench.spec(body)
    bench.write("specs/leave.sh", "setsid sleep 300 >/dev/null 2>&1 &\nexit 0\n")
    assert bench.run().code == 0
    assert bench.processes() == []


def test_kept_folders_stay_private(bench: Bench) -> None:
    bench.spec('task one { prompt "x"; grade contains "done" }')
    assert bench.run("--keep").code == 0
    kept = [path for base in bench.temporary.glob("mcpe-*") for path in base.iterdir()]
    assert kept and all(path.stat().st_mode & 0o777 == 0o700 for path in kept)
    assert outcome(bench.records["one#1"]) == "pass"
