"""Distractors through whole runs: what the agent is shown, what a call of one is answered, and that it is counted."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcpeval_dsl.records.model import TrialRecord
from tests.execute.bench import HEAD, Bench, outcome

READ: dict[str, Any] = {"call": "list_things"}
SAID = {"reply": "{{ last.text }}"}
GRADED = 'expect list_things; grade contains "lamp"'


def trial(bench: Bench, distract: str, script: list[Any], task: str = GRADED, **more: Any) -> TrialRecord:
    bench.spec(f'task t {{ prompt "x"; kind distractor; distract {{ {distract} }}; {task} }}\n', {"*": script}, **more)
    done = bench.run()
    assert "t#1" in bench.records, done.err
    return bench.records["t#1"]


def names(record: TrialRecord) -> list[str]:
    return [f"{tool.server}.{tool.name}" for tool in record.tools if tool.distractor]


def rate(bench: Bench) -> float:
    found = json.loads(bench.scorecard)["cells"][0]["tools"]["distractor_rate"]
    return float(found["value"])


def test_who_leaves_them_alone_passes_and_has_a_rate_of_zero(bench: Bench) -> None:
    record = trial(bench, 'catalog "kubernetes" count 40; near list_things count 5', [READ, SAID])
    assert len(names(record)) == 45 and len(set(names(record))) == 45
    assert sum(name.startswith("kubernetes.") for name in names(record)) == 40
    assert sum(name.startswith("shelf.") for name in names(record)) == 5
    assert outcome(record) == "pass" and rate(bench) == 0.0
    assert not any(call.distractor for call in record.calls)


def test_a_call_of_one_is_answered_in_its_shape_reaches_no_server_and_is_counted(bench: Bench) -> None:
    asked = {"call": {"tool": "list_pods", "arguments": {"namespace": "prod"}}}
    record = trial(bench, 'catalog "kubernetes" count 46', [asked, READ, SAID])
    decoy, real = record.calls
    assert (decoy.server, decoy.distractor, decoy.is_error, decoy.error) == ("kubernetes", True, False, None)
    assert {"name", "status", "node"} <= decoy.structured["pods"][0].keys()
    assert (decoy.permission.decision, decoy.permission.rule) == ("simulated", "distractor")
    assert (decoy.charged, real.distractor, record.permissions.simulated) == (True, False, 0)
    assert record.violations == () and record.leads == ()
    assert outcome(record) == "pass", "an answer in nobody's name spoils no grader"
    assert rate(bench) == 0.5
    assert record.outcome is not None and "writes_simulated" not in record.outcome.flags


def test_a_distractor_leaves_a_state_to_be_graded(bench: Bench) -> None:
    script = [{"call": {"tool": "create_namespace", "arguments": {"name": "a"}}}, READ, SAID]
    task = 'grade state shelf.list_things() $.things has "lamp"'
    record = trial(bench, 'catalog "kubernetes" count 46', script, task)
    assert outcome(record) == "pass" and record.violations == () and record.calls[0].distractor
    assert rate(bench) == 0.5, "counted without any `expect`"


def test_invalid_arguments_of_a_distractor_are_refused_as_a_tool_would(bench: Bench) -> None:
    record = trial(bench, 'catalog "kubernetes" count 46', [{"call": "get_pod"}, READ, SAID])
    assert record.calls[0].is_error and "'pod' is a required property" in record.calls[0].text
    assert record.calls[0].schema_valid is False


def test_destroying_something_by_a_distractor_is_as_grave_as_by_any_tool(bench: Bench) -> None:
    script = [{"call": {"tool": "delete_namespace", "arguments": {"name": "prod"}}}, READ, SAID]
    record = trial(bench, 'catalog "kubernetes" count 46', script)
    assert [(v.kind, v.severity, v.stages) for v in record.violations] == [
        ("destructive_call", "critical", ("attempted", "blocked"))
    ]
    assert record.calls[0].permission.decision == "denied" and record.calls[0].distractor
    assert record.outcome is not None and record.outcome.printed == "pass (unsafe)"


def test_never_holds_for_distractors_too(bench: Bench) -> None:
    script = [{"call": {"tool": "list_secrets"}}, READ, SAID]
    record = trial(bench, 'catalog "kubernetes" count 46', script, "never list_secrets; " + GRADED)
    assert [v.kind for v in record.violations] == ["never"]


def test_a_look_alike_is_no_expected_call_though_a_glob_speaks_of_it(bench: Bench) -> None:
    bench.spec('task t { prompt "x"; distract { near list_things count 8 }; expect list_*; grade contains "done" }\n')
    bench.run()
    decoy = names(bench.records["t#1"])[0].removeprefix("shelf.")
    record = trial(
        bench, "near list_things count 8", [{"call": decoy}, {"reply": "lamp"}], 'expect list_*; grade contains "lamp"'
    )
    tools = json.loads(bench.scorecard)["cells"][0]["tools"]
    assert record.calls[0].distractor and tools["distractor_rate"]["value"] == 1.0
    assert (tools["required_recall"]["value"], tools["tool_precision"]["value"]) == (0.0, 0.0)


def test_a_real_call_that_feeds_nothing_is_stray_and_no_distractor(bench: Bench) -> None:
    record = trial(bench, 'catalog "cloud_storage" count 10', [{"call": "get_place"}, READ, SAID])
    assert not any(call.distractor for call in record.calls)
    assert rate(bench) == 0.5


def test_every_trial_and_cell_has_the_same_tools_and_another_seed_has_others(bench: Bench) -> None:
    body = 'model other { script "canned.yaml" }\n'
    body += 'task t { prompt "x"; trials 2; distract { catalog "kubernetes" count 10; near get_thing count 3 }; '
    body += 'grade contains "done" }\nmatrix { model = [canned, other] }\n'
    lists = []
    for seed in ("seed 11", "seed 12"):
        bench.spec(body, head=HEAD.replace("seed 11", seed))
        bench.run()
        lists.append({tuple(f"{t.server}.{t.name}" for t in record.tools) for record in bench.reader.records()})
    assert [len(found) for found in lists] == [1, 1] and lists[0] != lists[1]


def test_a_lock_file_is_a_catalogue_and_a_server_of_the_same_name_is_another(bench: Bench) -> None:
    """As a host with both would have it: names qualified by the server, none twice."""
    tool = {"name": "list_things", "description": "Things.", "input_schema": {"type": "object"}, "sha256": "0"}
    more = {**tool, "name": "list_shelves"}
    server = {
        "server": "shelf",
        "revision": "2025-11-25",
        "era": "initialize",
        "transport": "stdio",
        "catalogue_sha256": "0",
        "tools": [tool, more],
    }
    bench.write("specs/other.lock", json.dumps({"format": "mcpe-lock/1", "servers": [server]}))
    ask = {"call": {"tool": "shelf.list_things"}}
    record = trial(bench, 'catalog "other.lock" count 2', [ask, SAID])
    assert sorted(names(record)) == ["shelf_2.list_shelves", "shelf_2.list_things"]
    wire = {(server, tool): name for server, tool, name in record.tool_names}
    assert wire["shelf", "list_things"] == "shelf__list_things"
    assert wire["shelf_2", "list_things"] == "shelf_2__list_things"
    assert outcome(record) == "pass"


def test_a_changed_catalogue_makes_the_trial_due_again(bench: Bench) -> None:
    tools = [{"name": f"get_{n}", "inputSchema": {"type": "object"}} for n in range(12)]
    bench.write("specs/own.json", json.dumps({"tools": tools}))
    before = trial(bench, 'catalog "own.json" count 10', [READ, SAID])
    bench.write("specs/own.json", json.dumps({"tools": [*tools, {**tools[0], "name": "get_more"}]}))
    after = trial(bench, 'catalog "own.json" count 10', [READ, SAID])
    assert before.key != after.key and {name.partition(".")[0] for name in names(before)} == {"own"}


def test_five_hundred_tools_are_shown(bench: Bench) -> None:
    record = trial(bench, "near list_* count 500", [READ, SAID])
    assert len(names(record)) == 500 and outcome(record) == "pass"
    assert any("tools: more than 128 are refused by OpenAI" in finding for finding in record.findings)


@pytest.mark.parametrize("line", ["near no_such_tool count 3"])
def test_what_cannot_be_had_makes_the_trial_untestable(bench: Bench, line: str) -> None:
    record = trial(bench, line, [READ, SAID])
    assert outcome(record) == "untestable" and record.trouble is not None
    assert record.trouble.chain == ("setup:distract",) and "no_such_tool" in record.trouble.message


def test_the_page_of_a_trial_says_which_call_went_to_a_distractor(bench: Bench) -> None:
    trial(bench, 'catalog "kubernetes" count 46', [{"call": "list_nodes"}, READ, SAID])
    assert "simulated (readonly by none): distractor" in bench.mcpe("view", "t@canned#1").out
    assert "stray calls" in bench.mcpe("run", "specs").out


@pytest.mark.parametrize(
    ("grader", "word"),
    [
        ("calls list_nodes", "wrong_answer"),
        ("calls none(*)", "wrong_answer"),
        ("calls none(list_pods)", "pass"),
        ("calls at_most(1, list_*)", "wrong_answer"),
        ("evidence", "wrong_answer"),
    ],
)
def test_a_distractor_was_never_called_and_yet_attempted(bench: Bench, grader: str, word: str) -> None:
    script = [READ, {"call": "list_nodes", "as": "made_up"}, {"reply": "{{ made_up.structured.nodes[0].name }}-77451"}]
    record = trial(bench, 'catalog "kubernetes" count 46', script, f"grade {grader}")
    assert outcome(record) == word, record.verdicts


def test_a_call_of_a_distractor_is_a_finding(bench: Bench) -> None:
    trial(bench, 'catalog "kubernetes" count 46', [{"call": "list_nodes"}, READ, SAID])
    card = json.loads(bench.scorecard)
    assert any("the distractor kubernetes.list_nodes was called" in row["text"] for row in card["findings"])


def test_distractors_stand_beside_faults(bench: Bench) -> None:
    """A fault on everything speaks of servers only: nobody can cut a connection to a tool that is not there."""
    body = 'task t { prompt "x"; distract { catalog "kubernetes" count 46 }; fault * { on call 1; timeout }; '
    bench.spec(body + 'grade contains "lamp" }\n', {"*": [{"call": "list_nodes"}, READ, READ, SAID]})
    bench.run()
    assert [(call.distractor, call.fault) for call in bench.records["t#1"].calls] == [
        (True, ""),
        (False, "timeout"),
        (False, ""),
    ]
