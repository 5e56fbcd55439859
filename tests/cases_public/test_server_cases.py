"""What servers do, end to end: each fault gives its one right answer, in the record and on the exit code."""

from __future__ import annotations

from tests.cases_public.lending import Library, calls
from tests.cases_public.servers import LONG_NAME
from tests.execute.bench import outcome


def test_all_pages_of_the_tool_list_reach_the_model_and_the_lock(library: Library) -> None:
    names = [f"get_shelf_{number}" for number in range(1, 6)]
    scripts = {"*": [{"expect": {"tools": names}, "call": "get_shelf_5"}, {"reply": "done"}]}
    library.write('task all { prompt "x"; grade calls get_shelf_5 }', scripts, mode="paged")
    done = library.bench.run()
    record = library.bench.records["all#1"]
    assert done.code == 0, done.err
    assert [tool.name for tool in record.tools] == names
    assert library.bench.mcpe("lock", "specs").code == 0
    lock = (library.bench.root / "specs/mcpe.lock").read_text()
    assert all(name in lock for name in names)


def test_a_tool_list_without_end_is_cut_and_said(library: Library) -> None:
    library.write('task all { prompt "x"; grade contains "done" }', mode="endless")
    done = library.bench.run()
    assert done.code == 3
    record = library.bench.records["all#1"]
    assert outcome(record) == "untestable"
    assert record.trouble is not None and "more than 200 pages" in record.trouble.message
    assert "more than 200 pages" in done.out + done.err


def test_a_tools_error_reaches_the_model_and_is_no_pass_by_itself(library: Library) -> None:
    scripts = {
        "*": [
            {"call": {"tool": "get_lent", "arguments": {"name": "Ada"}}},
            {"expect": {"result_is_error": True, "result_contains": "no reader"}, "reply": "I could not find out."},
        ]
    }
    library.write('task lent { prompt "x"; grade contains "Emma" }', scripts)
    assert library.bench.run().code == 0
    record = library.bench.records["lent#1"]
    assert outcome(record) == "wrong_answer"
    assert record.counts.tool_errors == 1 and record.counts.protocol_errors == 0
    assert record.turns[0].answers[0].is_error


def test_a_server_that_dies_in_a_call_spoils_that_trial_only(library: Library) -> None:
    scripts = {"*": {"trials": {1: calls("get_end")}, "steps": calls("get_books")}}
    library.write('task read { prompt "x"; grade calls get_books }', scripts, trials=3)
    library.bench.run("--jobs", "1")
    first, *others = (library.bench.records[f"read#{number}"] for number in (1, 2, 3))
    error = first.calls[0].error
    assert error is not None and error.error_class == "transport_error" and first.counts.transport_errors == 1
    assert error.code == 7 and "the library burnt down" in error.message
    assert "the library burnt down" in first.servers[0].stderr_tail
    assert outcome(first) != "pass"
    assert [outcome(record) for record in others] == ["pass", "pass"]


def test_an_undescribed_destructive_tool_is_called_by_nobody(library: Library) -> None:
    """The agent lacks one of the two switches, then the other; a harvest lacks its permit."""
    body = """
    environment shared { scope run }
    task not_permitted { prompt "x"; grade contains "done" }
    task not_disposable { prompt "x"; may wipe_all; environment shared; grade contains "done" }
    """
    library.write(body, {"*": calls("wipe_all")}, mode="wipe")
    done = library.bench.run()
    records = library.bench.records
    assert "tools/call wipe_all" not in library.asked
    denied = records["not_permitted#1"].calls[0]
    assert denied.permission.decision == "denied" and not denied.charged and denied.error is not None
    assert denied.error.error_class == "denied" and records["not_permitted#1"].counts.tool_errors == 0
    assert [(v.severity, v.stages) for v in records["not_permitted#1"].violations] == [
        ("critical", ("attempted", "blocked"))
    ]
    assert records["not_disposable#1"].calls[0].permission.decision == "denied"
    assert done.code == 1, "a critical violation fails the run whatever the score"
    outcomes = {name: record.outcome for name, record in records.items()}
    spoilt = outcomes["not_permitted#1"]
    assert spoilt is not None and (spoilt.outcome, spoilt.printed, spoilt.success) == ("pass", "pass (unsafe)", False)


def test_both_switches_together_let_the_write_through(library: Library) -> None:
    library.write('task wipe { prompt "x"; may wipe_all; grade calls wipe_all }', {"*": calls("wipe_all")}, mode="wipe")
    assert library.bench.run().code == 0
    assert library.asked.count("tools/call wipe_all") == 1


def test_a_harvest_calls_no_tool_that_is_not_known_to_read(library: Library) -> None:
    body = """
    harvest gone = library.wipe_all() { called = $.called }
    task one { prompt "{{ gone.called }}"; grade contains "done" }
    """
    library.write(body, mode="wipe")
    done = library.bench.run()
    assert done.code == 4, done.out
    assert "tools/call wipe_all" not in library.asked
    assert outcome(library.bench.records["one#1"]) == "untestable"


def test_the_callers_variables_stay_with_the_caller(library: Library) -> None:
    library.bench.variables = {"API_TOKEN": "canary-1c93f0"}
    seen = [{"call": "get_variables", "as": "seen"}, {"reply": "{{ seen.text }}"}]
    library.write('task look { prompt "x"; grade contains "HOME" }', {"*": seen})
    assert library.bench.run().code == 0
    assert "API_TOKEN" not in library.bench.records["look#1"].calls[0].text
    assert "canary-1c93f0" not in library.bench.records["look#1"].model_dump_json()


def test_a_variable_that_the_spec_names_reaches_the_server(library: Library) -> None:
    library.bench.variables = {"API_TOKEN": "canary-1c93f0"}
    seen = [{"call": "get_variables", "as": "seen"}, {"reply": "{{ seen.text }}"}]
    body = 'environment named { env API_TOKEN = secret("API_TOKEN") }\n'
    library.write(body + 'task look { prompt "x"; environment named; grade contains "API_TOKEN" }', {"*": seen})
    assert library.bench.run().code == 0
    assert "canary-1c93f0" not in library.bench.records["look#1"].model_dump_json()


def test_a_server_deaf_to_the_probe_is_probed_once_and_pinned(library: Library) -> None:
    library.write('task read { prompt "x"; grade calls get_books }', {"*": calls("get_books")}, mode="deaf", trials=3)
    assert library.bench.run().code == 0
    assert library.asked.count("server/discover") == 1
    records = list(library.bench.records.values())
    assert {(r.servers[0].revision, r.servers[0].era) for r in records} == {("2025-11-25", "initialize")}
    assert max(record.timing.start_ms for record in records) < 2_500


def test_a_server_that_ends_when_probed_is_asked_in_the_older_way(library: Library) -> None:
    library.write('task read { prompt "x"; grade calls get_books }', {"*": calls("get_books")}, mode="touchy", trials=2)
    done = library.bench.run()
    assert done.code == 0, done.err
    assert library.asked.count("server/discover") == 1
    assert "ended when asked server/discover" in done.out + done.err


def test_one_broken_tool_leaves_the_other_34_usable(library: Library) -> None:
    library.write('task read { prompt "x"; grade calls get_shelf_34 }', {"*": calls("get_shelf_34")}, mode="many")
    done = library.bench.run()
    assert done.code == 0, done.err
    assert len(library.bench.records["read#1"].tools) == 34
    assert "get_broken" in done.out + done.err


def test_a_result_against_the_output_schema_is_kept_and_classed(library: Library) -> None:
    step = {"expect": {"result_contains": "many", "result_is_error": False}, "reply": "{{ last.structured.count }}"}
    library.write('task count { prompt "x"; grade exact "many" }', {"*": [{"call": "get_count"}, step]}, mode="shape")
    assert library.bench.run().code == 0
    record = library.bench.records["count#1"]
    assert record.counts.invalid_results == 1 and record.counts.tool_errors == 0
    assert record.calls[0].structured == {"count": "many"}
    assert record.calls[0].error is not None and record.calls[0].error.error_class == "invalid_result"


def test_what_a_server_started_ends_with_the_trial(library: Library) -> None:
    library.write('task read { prompt "x"; grade contains "done" }', mode="parent", trials=2)
    assert library.bench.run().code == 0
    assert library.bench.processes() == []


TWO = """suite library "Library" {{ trials {trials}; seed 3 }}
server library {{ stdio "python" "odd.py" "--mode" "{mode}" "--log" "{log}"; timeout {timeout} }}
server archive {{ stdio "python" "odd.py" "--mode" "{mode}"; timeout {timeout} }}
annotations library {{ readonly * }}
annotations archive {{ readonly * }}
model canned {{ script "canned.yaml" }}
"""


def test_odd_and_equal_tool_names_are_legal_on_the_wire_and_canonical_in_the_record(library: Library) -> None:
    script = calls("library.get_books", "archive.get_books", "library.ro.dotted-name/slash", f"library.{LONG_NAME}")
    body = 'task all { prompt "x"; servers library, archive; grade calls library.get_books, archive.get_books }'
    library.write(body, {"*": script}, mode="names", head=TWO)
    done = library.bench.run()
    assert done.code == 0, done.out + done.err
    record = library.bench.records["all#1"]
    assert [(c.server, c.tool) for c in record.calls] == [
        ("library", "get_books"),
        ("archive", "get_books"),
        ("library", "ro.dotted-name/slash"),
        ("library", LONG_NAME),
    ]
    wire = [name for _, _, name in record.tool_names]
    assert len(set(wire)) == len(wire) == 12
    assert all(len(name) <= 64 and set(name) <= set(WIRE_LETTERS) for name in wire)
    assert {"tools/call get_books", "tools/call ro.dotted-name/slash", f"tools/call {LONG_NAME}"} <= set(library.asked)


def test_a_choice_at_the_root_of_a_schema_is_said_rewritten_on_record_and_judged_as_written(library: Library) -> None:
    script = calls({"tool": "get_book", "arguments": {"title": "Emma"}}, {"tool": "get_book", "arguments": {}})
    library.write('task book { prompt "x"; grade calls get_book }', {"*": script}, mode="union")
    done = library.bench.run()
    assert done.code == 0, done.out + done.err
    record = library.bench.records["book#1"]
    assert [call.schema_valid for call in record.calls] == [True, False]
    assert next(tool for tool in record.tools if tool.name == "get_book").input_schema["anyOf"]
    assert any("anyOf" in finding and "get_book" in finding for finding in record.findings), record.findings
    assert "anyOf" in done.out, done.out


WIRE_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"


def test_a_long_call_that_reports_progress_is_not_cut(library: Library) -> None:
    """The limit renews with each report; without reports it holds."""
    slow = {"tool": "get_slowly", "arguments": {"steps": 8, "pause": 0.4}}
    quiet = {"tool": "get_slowly", "arguments": {"steps": 8, "pause": 0.4, "tells": False}}
    scripts = {"patient": calls(slow), "cut": calls(quiet)}
    body = 'task patient { prompt "x"; grade calls get_slowly }\ntask cut { prompt "x"; grade contains "done" }'
    library.write(body, scripts, mode="slow", timeout="1500ms")
    library.bench.run()
    patient, cut = library.bench.records["patient#1"], library.bench.records["cut#1"]
    assert patient.calls[0].error is None and patient.calls[0].duration_ms > 3_000
    assert cut.calls[0].error is not None and cut.calls[0].error.error_class == "timeout"
