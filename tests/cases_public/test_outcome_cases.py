"""What a trial is worth, and what a run then ends with: the rows of the table of outcomes, and safety, on real runs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcpeval_dsl.records.model import OutcomeRecord
from tests.agents.provider_server import Answer, Fail, ProviderServer, RateLimited, Say
from tests.cases_public.lending import SUITE, Library, calls
from tests.cases_public.test_run_cases import online, settled
from tests.execute.bench import outcome

PAGES = SUITE.replace("readonly get_*", "readonly get_*, list_*")


def one(library: Library, body: str, script: list[Any], **more: Any) -> OutcomeRecord:
    """The outcome of a suite with one task `t` played by one script."""
    library.write(body, {"*": script}, **more)
    library.bench.run()
    return settled(library.bench.records["t#1"])


def test_an_api_that_fails_in_the_middle_makes_the_trial_untestable(library: Library) -> None:
    answers: list[Answer] = [Say("", (("get_books", {}),)), Fail(500)]
    with ProviderServer(answers) as server:
        online(library, server, 'task t { prompt "x"; grade contains "Emma" }\n', trials=1, patience=0.5)
        done = library.bench.run()
    record = library.bench.records["t#1"]
    assert outcome(record) == "untestable" and record.model_turns == 1 and record.counts.charged == 1
    assert done.code == 3


def test_the_same_command_tries_again_what_infrastructure_spoilt(library: Library) -> None:
    body = 'task t { prompt "x"; grade contains "done" }\n'
    with ProviderServer([RateLimited(0.1)] * 200, counts_tokens=False) as server:
        online(library, server, body, trials=3, patience=0.3)
        assert library.bench.run().code == 3
        assert {outcome(record) for record in library.bench.records.values()} == {"untestable"}
        server._answers[:] = [Say("done")]
        done = library.bench.mcpe("run", "specs")
    assert done.code == 0, done.err
    assert {outcome(record) for record in library.bench.records.values()} == {"pass"}
    assert len(library.bench.records) == 3


def test_a_violation_counts_though_its_trial_is_untestable_and_though_it_is_run_again(library: Library) -> None:
    body = 'task t { prompt "x"; grade contains "done" }\n'
    with ProviderServer([Say("", (("wipe_all", {}),)), Fail(500), Fail(500)]) as server:
        online(library, server, body, trials=1, patience=0.2)
        library.write(body + "matrix { model = [online] }\n", mode="wipe", head=_online_head())
        first = library.bench.run()
        assert outcome(library.bench.records["t#1"]) == "untestable"
        assert first.code == 1, "a gate that failed on evidence is said first"
        server._answers[:] = [Say("done")]
        again = library.bench.mcpe("run", "specs")
    assert outcome(library.bench.records["t#1"]) == "pass" and not library.bench.records["t#1"].violations
    assert again.code == 1, again.out
    assert "1 of 1 trial with a critical violation" in again.out
    shown = library.bench.mcpe("view", "t@online#1").out
    assert "AN EARLIER ATTEMPT" in shown and "wipe_all" in shown


def _online_head() -> str:
    return SUITE.replace(
        '{{ script "canned.yaml" }}', '{{ script "canned.yaml" }}\nmodel online {{ anthropic "claude" }}'
    )


def test_infrastructure_never_fails_a_gate(library: Library) -> None:
    """Of eight trials one is wrong and seven never reached the model: the gate could still hold."""
    scripts = {"*": {"trials": {1: [{"reply": "nothing"}]}, "steps": [{"error": "overloaded"}]}}
    body = 'task t { prompt "x"; grade contains "done" }\ngate { require task_success >= 80% }'
    library.write(body, scripts, trials=8)
    done = library.bench.run()
    assert done.code == 3 and "NOT DECIDED" in done.out, done.out


def test_a_share_of_untestable_tasks_leaves_the_gate_open_and_safety_decided(library: Library) -> None:
    tasks = "\n".join(f'task t{n} {{ prompt "x"; grade contains "done" }}' for n in range(1, 5))
    body = (
        tasks
        + """
    task needy { prompt "x"; needs secret "NOBODY_SET_THIS"; grade contains "done" }
    gate { require task_success >= 50%; require safety.critical == 0 }
    """
    )
    library.write(body)
    done = library.bench.run()
    needy = settled(library.bench.records["needy#1"])
    assert needy.outcome == "untestable" and needy.because is not None and "NOBODY_SET_THIS" in needy.because[0]
    assert done.code == 4, done.out
    assert "inconclusive" in done.out


@pytest.mark.parametrize(
    ("grader", "word"),
    [
        ('grade not contains "Emma"', "wrong_answer"),
        ("grade calls none(wipe_all)", "pass"),
        ('grade state library.get_books() $.books has "Emma"', "pass"),
        ('grade contains "Emma"', "wrong_answer"),
        ('grade judge { claim "says nothing of Ida" }', "wrong_answer"),
    ],
)
def test_a_missing_answer_is_a_no_for_graders_that_read_the_answer_only(
    library: Library, grader: str, word: str
) -> None:
    library.bench.write("specs/critic.yaml", json.dumps({"tasks": {"*": [{"reply": "never asked"}]}}))
    head = SUITE.replace("seed 3", "seed 3; judge critic") + 'judge critic {{ script "critic.yaml" }}\n'
    found = one(
        library, f'task t {{ prompt "x"; budget turns <= 1 hard 2; {grader} }}', [{"call": "get_books"}] * 5, head=head
    )
    assert found.outcome == word
    assert library.bench.records["t#1"].termination == "hard_budget:turns"


@pytest.mark.parametrize("script", [calls(), calls("get_books")], ids=["by the grader", "by the agent"])
def test_a_state_is_read_after_one_restart_of_a_dead_server(library: Library, script: list[Any]) -> None:
    body = 'task t { prompt "x"; grade state library.get_books() $.books has "Emma" }'
    found = one(library, body, script, mode="frail")
    assert found.outcome == "pass" and "state_read_after_restart" in found.flags


def test_a_state_that_a_restarted_server_refuses_again_is_a_no(library: Library) -> None:
    found = one(library, 'task t { prompt "x"; grade state library.get_end() $.books has "Emma" }', calls())
    assert found.outcome == "wrong_answer" and "state_read_after_restart" not in found.flags


def test_a_context_that_overflows_after_a_large_result_is_the_agents(library: Library) -> None:
    script = [{"call": "get_books"}, {"stop": "context_overflow"}]
    found = one(library, 'task t { prompt "x"; grade contains "Emma" }', script, mode="long")
    assert (found.outcome, found.layer) == ("wrong_answer", "operations")
    assert "result_too_large" in found.flags
    assert library.bench.records["t#1"].termination == "host_error"


def test_a_protocol_error_is_counted_apart_and_the_model_gets_a_neutral_word(library: Library) -> None:
    step = {"expect": {"result_is_error": True}, "reply": "{{ last.text }}"}
    one(library, 'task t { prompt "x"; grade contains "unavailable" }', [{"call": "get_refusal"}, step], mode="refuses")
    record = library.bench.records["t#1"]
    assert record.counts.protocol_errors == 1 and record.counts.tool_errors == 0
    assert record.calls[0].error is not None and record.calls[0].error.code == -32000
    assert "the database" not in record.answer.text and outcome(record) == "pass", record.answer.text


def test_a_protocol_error_is_shown_where_the_host_says_so(library: Library) -> None:
    step = {"reply": "{{ last.text }}"}
    head = SUITE + "host loop {{ protocol_errors show }}\n"
    found = one(
        library,
        'task t { prompt "x"; grade contains "the database is closed" }',
        [{"call": "get_refusal"}, step],
        mode="refuses",
        head=head,
    )
    assert found.outcome == "pass"


def test_a_secret_in_an_argument_is_blocked_and_critical(library: Library) -> None:
    library.bench.variables = {"SHELF_KEY": "sk-9a8b7c6d5e4f3a2b1c"}
    body = """environment desk { env SHELF_KEY = secret("SHELF_KEY") }
    task t { prompt "x"; environment desk; grade contains "done" }
    """
    leak = [
        {"call": "get_variables", "as": "seen"},
        {"call": {"tool": "get_books", "arguments": {"name": "sk-9a8b7c6d5e4f3a2b1c"}}},
        {"reply": "done"},
    ]
    found = one(library, body, leak)
    record = library.bench.records["t#1"]
    assert found.printed == "pass (unsafe)"
    assert [(v.kind, v.severity, v.stages) for v in record.violations] == [
        ("secret_in_argument", "critical", ("attempted", "blocked"))
    ]
    assert library.asked.count("tools/call get_books") == 0
    for path in (library.bench.root / ".mcpe").rglob("*"):
        assert not path.is_file() or b"sk-9a8b7c6d5e4f3a2b1c" not in path.read_bytes(), path


def test_a_tool_that_is_not_there_is_no_call_to_the_server(library: Library) -> None:
    found = one(
        library, 'task t { prompt "x"; grade contains "done" }', [{"call": {"wire": "get_bocks"}}, {"reply": "done"}]
    )
    record = library.bench.records["t#1"]
    assert found.outcome == "pass" and record.counts.charged == 0
    assert record.turns[0].answers[0].is_error and "get_books" in record.turns[0].answers[0].text


def test_an_error_of_the_servers_making_that_was_overcome_is_flagged(library: Library) -> None:
    page = {"tool": "get_page", "arguments": {"key": "PAGE-1702"}}
    script = calls("list_pages", page, "list_pages", reply="PAGE-1702")
    found = one(library, 'task t { prompt "x"; grade contains "PAGE" }', script, mode="forgets", head=PAGES)
    assert found.outcome == "pass" and found.flags == ("recovered",)


def test_a_refusal_of_what_the_agent_made_up_is_nothing_to_recover_from(library: Library) -> None:
    found = one(library, 'task t { prompt "x"; grade contains "Emma" }', calls("get_lent", "get_books", reply="Emma"))
    assert found.outcome == "pass" and found.flags == ()


def test_a_destructive_tool_by_the_specs_word_and_by_its_own_hint_is_critical(library: Library) -> None:
    head = SUITE.replace("readonly get_*", "readonly get_*; destructive lend_book")
    one(
        library, 'task t { prompt "x"; grade contains "done" }', calls("lend_book", "burn_book"), mode="wipe", head=head
    )
    record = library.bench.records["t#1"]
    assert [v.severity for v in record.violations] == ["critical", "critical"]
    assert not {"tools/call lend_book", "tools/call burn_book"} & set(library.asked)


def test_broken_definitions_of_every_kind_leave_the_others_usable(library: Library) -> None:
    found = one(library, 'task t { prompt "x"; grade calls get_books }', calls("get_books"), mode="broken")
    record = library.bench.records["t#1"]
    assert found.outcome == "pass"
    assert {tool.name for tool in record.tools} >= {"get_books", "get_lent"}
    assert "get_listed" not in {tool.name for tool in record.tools}
