"""Leads replayed against small servers: each way in which a suspicion can turn out, from the run to the verdict."""

from __future__ import annotations

import json
import signal
import time
from typing import Any

import pytest

from mcpeval_dsl.execute.remote import is_remote
from mcpeval_dsl.records.folder import runs
from mcpeval_dsl.semantics.expressions import Literal, Template
from mcpeval_dsl.semantics.model import Server
from tests.execute.bench import Bench
from tests.execute.depots import ORDERS, call, confirmed, suite

ARCHIVED = [call("list_orders"), call("get_order", order_id=f"{{{{ {ORDERS}[2].order_id }}}}")]
CREATED = [call("add_order"), call("get_order", order_id="{{ last.structured.order_id }}")]
NAMED = [call("add_order", order_id="ORD-9"), call("get_order", order_id="ORD-9")]
WRITES = "may add_order, issue_pass;"


def verdict(bench: Bench, *arguments: str) -> tuple[int, dict[str, Any]]:
    ended, leads = confirmed(bench, *arguments)
    assert len(leads) == 1, leads
    return ended.code, leads[0]


def answering(bench: Bench, letters: str) -> str:
    return f"--answers {bench.write('answers.txt', letters)}"


def test_failing_ten_of_ten_times_is_a_defect(bench: Bench) -> None:
    suite(bench, ARCHIVED)
    code, lead = verdict(bench, "--window", "0")
    assert (code, lead["status"], lead["failed"], lead["counted"]) == (1, "confirmed", 10, 10)


@pytest.mark.parametrize(
    ("then", "status", "failed", "counted"),
    [("FFF" + "FFPFFFF", "flaky", 9, 10), ("PPP", "not_reproduced", 0, 3), ("PFP", "flaky", 1, 3)],
)
def test_failing_sometimes_is_no_defect(bench: Bench, then: str, status: str, failed: int, counted: int) -> None:
    """Ids are new in each environment: the trial's own would never be found, so every replay binds them again."""
    suite(bench, ARCHIVED, answering(bench, "F" + then))
    code, lead = verdict(bench, "--window", "0")
    assert (code, lead["status"], lead["failed"], lead["counted"]) == (0, status, failed, counted)
    assert lead["low"] <= failed / counted <= lead["high"]
    assert lead["reproduction"] == ""


def test_another_kind_of_error_does_not_count(bench: Bench) -> None:
    suite(bench, ARCHIVED, answering(bench, "F" + 10 * "R"))
    code, lead = verdict(bench, "--window", "0")
    assert (lead["status"], lead["counted"]) == ("unconfirmed", 0)
    assert "rate" in lead["reason"] and "not_found" in lead["reason"]
    assert code == 0


def test_a_provider_that_names_it_no_more_says_nothing(bench: Bench) -> None:
    some = [{"order_id": f"ORD-{n}", "status": s, "since": 0} for n, s in enumerate(("open", "open", "archived"))]
    bench.write("specs/state.json", json.dumps(some))
    suite(bench, ARCHIVED, scope='copy "state.json" to "{{ workdir }}/depot.json"')
    assert bench.run().code in (0, 1)
    bench.write("specs/state.json", json.dumps(some[:2]))
    ended, (lead,) = confirmed(bench, "--window", "0", run=False)
    assert lead["status"] == "unconfirmed" and "provider not reproduced" in lead["reason"]
    assert ended.code == 0


def test_what_is_there_a_moment_later_is_a_finding(bench: Bench) -> None:
    suite(bench, CREATED, "--lag 0.4", task=WRITES)
    code, lead = verdict(bench, "--window", "0.6")
    assert (code, lead["status"]) == (0, "eventual")


def test_what_is_never_there_after_its_creation_is_a_defect(bench: Bench) -> None:
    suite(bench, CREATED, "--lag 600", task=WRITES)
    code, lead = verdict(bench, "--window", "0.05")
    assert (code, lead["status"]) == (1, "confirmed")


def test_the_shortest_prefix_that_fails_is_what_is_told(bench: Bench) -> None:
    suite(bench, [call("list_orders"), *(5 * [call("get_customer", name="Ann")])])
    code, lead = verdict(bench)
    assert (code, lead["status"]) == (1, "confirmed")
    record = next(iter(bench.reader.defects()))
    assert record.rung == "prefix" and record.calls == ("c1", "c2", "c3", "c4", "c5", "c6")
    text = (bench.root / lead["reproduction"]).read_text()
    assert text.count("depot.get_customer(") == 6  # five calls, and one in the evidence


def test_each_attempt_has_an_environment_of_its_own(bench: Bench) -> None:
    suite(bench, NAMED, "--lag 600", task=WRITES)
    assert verdict(bench, "--window", "0")[1]["status"] == "confirmed"


def test_a_write_that_conflicts_with_an_earlier_one_says_nothing(bench: Bench) -> None:
    suite(bench, NAMED, f"--lag 600 --conflicts {bench.root / 'taken.txt'}", task=WRITES)
    lead = verdict(bench, "--window", "0")[1]
    assert lead["status"] == "unconfirmed" and "not reproduced" in lead["reason"]


def test_a_write_to_a_shared_environment_needs_the_operators_word(bench: Bench) -> None:
    suite(bench, CREATED, "--lag 600", task=WRITES, scope="scope run")
    assert bench.run("--allow-writes").code in (0, 1)
    ended, (lead,) = confirmed(bench, "--window", "0", run=False)
    assert (ended.code, lead["status"], lead["counted"]) == (3, "unconfirmed", 0)
    assert "--allow-writes" in lead["reason"]
    ended, (lead,) = confirmed(bench, "--window", "0", "--allow-writes", run=False)
    assert (ended.code, lead["status"]) == (1, "confirmed")


def test_a_token_is_asked_for_again(bench: Bench) -> None:
    """The trial's own has expired by now, which would be another error."""
    suite(bench, [call("issue_pass"), call("get_ledger", pass_id="{{ last.structured.pass_id }}")], task=WRITES)
    code, lead = verdict(bench, "--window", "0")
    assert (code, lead["status"]) == (1, "confirmed")


def test_death_at_our_own_limit_is_no_crash(bench: Bench) -> None:
    suite(bench, [call("get_stock", item="bolt", unit="silo")])
    code, lead = verdict(bench)
    assert (code, lead["kind"], lead["status"]) == (0, "resource_limit", "resource_limit")
    assert "limit of" in lead["reason"] and "memory" in lead["reason"]


def test_no_answer_in_time_is_replayed_too(bench: Bench) -> None:
    suite(bench, [call("get_report")])
    path = bench.root / "specs/bench.mcpe"
    path.write_text(path.read_text().replace("timeout 5s", "timeout 1s"))
    code, lead = verdict(bench)
    assert (code, lead["kind"], lead["status"]) == (1, "timeout", "confirmed")


def test_a_write_in_between_that_explains_nothing(bench: Bench) -> None:
    """Another order was removed before: without that the call fails all the same."""
    remove = call("remove_order", order_id=f"{{{{ {ORDERS}[0].order_id }}}}")
    suite(bench, [ARCHIVED[0], remove, ARCHIVED[1]], task="may remove_order;")
    code, lead = verdict(bench, "--window", "0")
    assert (code, lead["status"]) == (1, "confirmed")
    assert next(iter(bench.reader.defects())).calls == ("c1", "c3")


def test_a_removed_thing_is_not_missed(bench: Bench) -> None:
    """The agent's own removal explains the error, whatever the rung."""
    order = f"{{{{ {ORDERS}[0].order_id }}}}"
    steps = [call("list_orders"), call("remove_order", order_id=order), call("get_order", order_id=order)]
    suite(bench, steps, task="may remove_order;")
    assert confirmed(bench, "--window", "0")[1] == []


def test_confirming_twice_gives_the_same_scorecard(bench: Bench) -> None:
    suite(bench, [*ARCHIVED, call("get_stock", item="bolt", unit="pallet")], "--fixed", trials=2)
    confirmed(bench, "--window", "0")
    first = bench.scorecard
    confirmed(bench, "--window", "0", run=False)
    assert bench.scorecard == first
    assert bench.mcpe("score").code == bench.mcpe("score").code
    assert bench.scorecard == first
    assert b'"status": "confirmed"' in first and bench.reader.verify() == ()


def test_nothing_is_left_behind(bench: Bench) -> None:
    suite(bench, ARCHIVED)
    confirmed(bench, "--window", "0")
    assert bench.left_over() == [] and bench.processes() == []


def test_an_interrupted_replay_leaves_nothing_behind(bench: Bench) -> None:
    suite(bench, ARCHIVED)
    bench.run()
    running = bench.start("defects", "--confirm", "--window", "60")
    until = time.monotonic() + 60
    while sum("depot.py" in words for words in bench.processes()) < 3 and time.monotonic() < until:
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=100)
    assert running.returncode == 130 and "Traceback" not in err
    assert bench.left_over() == [] and bench.processes() == []
    assert bench.mcpe("defects").code == 0 and bench.reader.defects() == ()


def test_nothing_starts_without_trust(bench: Bench) -> None:
    suite(bench, ARCHIVED)
    bench.run()
    (bench.root.parent / "state" / "trust.json").unlink()
    ended = bench.mcpe("defects", "--confirm")
    assert ended.code == 2 and "MCPE500" in ended.err
    assert bench.mcpe("defects").code == 0
    assert not (runs(bench.root)[0].path / "defects").exists()


@pytest.mark.parametrize(
    ("url", "remote"),
    [
        (None, False),
        (Literal("http://127.0.0.1:8080/mcp"), False),
        (Template("http://localhost:{{ port.web }}/mcp", ("port",)), False),
        (Literal("http://127.0.0.1"), False),
        (Literal("https://127.0.0.1.example.com/mcp"), True),
        (Literal("https://mcp.example.com/?at=//localhost/"), True),
        (Template("https://mcp.example.com/{{ port.web }}", ("port",)), True),
        (Literal("https://mcp.example.com/mcp"), True),
        (Template("https://{{ host }}/mcp", ("host",)), True),
    ],
)
def test_a_server_elsewhere_is_not_disposable(url: Any, remote: bool) -> None:
    assert is_remote(Server("s", url=url)) is remote
