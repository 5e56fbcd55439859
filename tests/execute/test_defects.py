"""From an agent that knows of no bug to a check that fails until the server is mended."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.execute.bench import Bench
from tests.execute.depots import ORDERS, call, confirmed, suite

STEPS = [
    call("list_orders"),
    call("get_order", order_id=f"{{{{ {ORDERS}[0].order_id }}}}"),
    call("get_order", order_id=f"{{{{ {ORDERS}[2].order_id }}}}"),
    call("get_order", order_id="ORD-invented"),  # near misses: made up, and not what the schema allows
    call("get_order", order_id=7),
    call("get_stock", item="bolt", unit="crate"),
    call("get_stock", item="bolt", unit="pallet"),
    call("list_orders", status="held"),
]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """A run of two trials whose leads were all replayed."""
    bench = Bench(tmp_path_factory.mktemp("seeded") / "project")
    bench.root.mkdir()
    suite(bench, STEPS, trials=2)
    ended, leads = confirmed(bench, "--window", "0")
    assert ended.code == 1
    bench.write("leads.json", json.dumps(leads))
    return bench


def mended(text: str) -> str:
    """The server's own text without its bugs."""
    return text.replace('"--sound", action="store_true"', '"--sound", action="store_true", default=True')


def leads_of(bench: Bench) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads((bench.root / "leads.json").read_text())
    return found


def checks(bench: Bench) -> list[Path]:
    return sorted((bench.root / ".mcpe/runs").glob("*/defects/*.mcpe"))


def test_seeded_bugs_are_confirmed_and_nothing_else(done: Bench) -> None:
    found = {(lead["tool"], lead["kind"], lead["status"], lead["trials"]) for lead in leads_of(done)}
    assert found == {
        ("get_order", "not_found of a vouched value", "confirmed", 2),
        ("get_stock", "crash", "confirmed", 2),
        ("list_orders", "schema_mismatch", "confirmed", 2),
    }


def test_they_are_listed_with_the_calls_that_show_them(done: Bench) -> None:
    listed = done.mcpe("defects")
    assert listed.code == 0
    assert "3 confirmed of 3 leads" in listed.out
    assert "c1 depot.list_orders({})" in listed.out and "c3 depot.get_order(" in listed.out
    assert listed.out.count("mcpe check ") == 3


def test_the_scorecard_says_so(done: Bench) -> None:
    card = json.loads(done.scorecard)
    assert {lead["status"] for lead in card["leads"]} == {"confirmed"}
    assert "CONFIRMED, 10 of 10 replays failed alike" in done.mcpe("score").out
    assert json.loads(done.scorecard) == card


def test_each_is_a_spec_without_mistakes_that_fails_here(done: Bench) -> None:
    assert len(checks(done)) == 3
    for path in checks(done):
        assert done.mcpe("lint", str(path), "--strict").code == 0
        assert done.mcpe("trust", str(path), "--yes").code == 0
        ended = done.mcpe("check", str(path))
        assert ended.code == 1, ended.err
        assert "FAIL" in ended.out
        assert path.read_text().startswith("# depot.")


def test_each_passes_once_the_server_is_mended(done: Bench) -> None:
    server = done.root / "specs/depot.py"
    text = server.read_text()
    server.write_text(mended(text))
    try:
        for path in checks(done):
            assert done.mcpe("trust", str(path), "--yes").code == 0
            ended = done.mcpe("check", str(path))
            assert ended.code == 0, ended.out
    finally:
        server.write_text(text)


def test_each_stands_alone(done: Bench) -> None:
    """The spec of the run is gone, and of it nothing is repeated that the calls do not need."""
    spec = done.root / "specs/bench.mcpe"
    text = spec.read_text()
    spec.unlink()
    try:
        for path in checks(done):
            said = path.read_text()
            assert "import " not in said and "task " not in said and "model " not in said and "annotations " not in said
            assert done.mcpe("trust", str(path), "--yes").code == 0
            assert done.mcpe("check", str(path)).code == 1
    finally:
        spec.write_text(text)


def test_one_that_cannot_be_asked_is_no_verdict(done: Bench) -> None:
    server = done.root / "specs/depot.py"
    text = server.read_text()
    server.write_text("raise SystemExit('no database')\n")
    try:
        for path in checks(done):
            assert done.mcpe("trust", str(path), "--yes").code == 0
            ended = done.mcpe("check", str(path))
            assert ended.code == 3 and "NOT TESTED" in ended.out, ended.out
    finally:
        server.write_text(text)


def test_a_value_inside_a_text_is_bound_again_too(bench: Bench) -> None:
    inside = "{{ json(results[0].structured.data).orders[2].order_id }}"
    suite(bench, [STEPS[0], call("get_order", order_id=inside)], "--inside")
    ended, (lead,) = confirmed(bench, "--window", "0")
    assert ended.code == 1 and lead["status"] == "confirmed"
    (path,) = checks(bench)
    assert "json($.data).orders[2].order_id" in path.read_text()
    server = bench.root / "specs/depot.py"
    for code, text in ((1, server.read_text()), (0, mended(server.read_text()))):
        server.write_text(text)
        assert bench.mcpe("trust", str(path), "--yes").code == 0
        assert bench.mcpe("check", str(path)).code == code


def test_a_check_has_the_set_up_that_the_defect_needs(bench: Bench) -> None:
    """Here the bug needs a file of the task's own set-up, and a fixture that lies beside the spec."""
    bench.write("specs/tired.txt", "x")
    suite(
        bench,
        [call("get_customer", name="Ann")],
        task='setup { copy "tired.txt" to "{{ workdir }}/tired" };',
        scope="let_me = depot.list_orders()",
    )
    ended, (lead,) = confirmed(bench)
    assert (ended.code, lead["status"]) == (1, "confirmed"), lead["reason"]
    (path,) = checks(bench)
    said = path.read_text()
    assert 'specs/tired.txt" to "{{ workdir }}/tired"' in said and "let_me = depot.list_orders()" in said
    assert bench.mcpe("lint", str(path), "--strict").code == 0
    assert bench.mcpe("trust", str(path), "--yes").code == 0
    assert bench.mcpe("check", str(path)).code == 1


def test_a_run_whose_server_is_gone_is_not_decided(bench: Bench) -> None:
    suite(bench, STEPS)
    bench.run()
    (bench.root / "specs/depot.py").write_text("raise SystemExit('no database')\n")
    ended, leads = confirmed(bench, "--window", "0", run=False)
    assert ended.code == 3
    assert {lead["status"] for lead in leads} == {"unconfirmed"}


def test_checks_go_where_they_are_wanted_and_only_what_is_asked_for(bench: Bench) -> None:
    suite(bench, STEPS)
    bench.run()
    ended, leads = confirmed(bench, "--window", "0", "--only", "get_stock", "-o", "checks", run=False)
    assert ended.code == 1
    assert [path.name.rpartition("-")[0] for path in (bench.root / "checks").iterdir()] == ["depot-get_stock-crash"]
    assert sorted(str(lead["status"]) for lead in leads) == ["", "", "confirmed"]


def test_a_lead_that_is_not_there_is_not_replayed(bench: Bench) -> None:
    suite(bench, STEPS)
    bench.run()
    ended = bench.mcpe("defects", "--confirm", "--only", "get_customer")
    assert ended.code == 2 and "MCPE510" in ended.err and "depot.get_stock:crash:" in ended.err


def test_a_gate_on_defects_waits_for_the_replay(bench: Bench) -> None:
    suite(bench, STEPS[:3])
    path = bench.root / "specs/bench.mcpe"
    path.write_text(path.read_text() + "gate { require defects == 0 }\n")
    done = bench.run()
    assert done.code == 4 and "mcpe defects --confirm" in done.out
    confirmed(bench, "--window", "0", run=False)
    assert bench.mcpe("score").code == 1


def test_a_run_without_leads(bench: Bench) -> None:
    suite(bench, STEPS[:2])
    ended, leads = confirmed(bench)
    assert ended.code == 0 and leads == []
    assert "no lead seen" in bench.mcpe("defects").out


def test_a_defect_of_a_harvest_is_replayed_without_an_agent(bench: Bench) -> None:
    suite(bench, [])
    path = bench.root / "specs/bench.mcpe"
    harvest = 'harvest held = depot.list_orders(status: "held") { id = $.orders[0].order_id }\n'
    path.write_text(path.read_text() + harvest + 'task two { prompt "{{ held.id }}"; grade contains "done" }\n')
    ended, (lead,) = confirmed(bench)
    assert (ended.code, lead["status"]) == (1, "confirmed")
    assert str(lead["first_trial"]).startswith("harvest ")


def test_a_harvested_value_that_is_not_found_blocks_trials(bench: Bench) -> None:
    """One harvest names an order, the next does not find it: a lead with two calls, told with the trials once it is confirmed."""
    suite(bench, [])
    path = bench.root / "specs/bench.mcpe"
    path.write_text(
        path.read_text()
        + "harvest listed = depot.list_orders() { id = $.orders[2].order_id }\n"
        + "harvest one = depot.get_order(order_id: listed.id) { status = $.status }\n"
        + 'task two { prompt "{{ one.status }}"; grade contains "done" }\n'
        + 'task three { prompt "{{ listed.id }}"; grade contains "done" }\n'
    )
    ended, (lead,) = confirmed(bench, "--window", "0")
    assert (ended.code, lead["status"], lead["kind"]) == (1, "confirmed", "not_found of a vouched value"), lead
    assert [call["tool"] for call in lead["evidence"]] == ["depot.list_orders", "depot.get_order"]
    card = json.loads(bench.scorecard)
    (row,) = card["untestable"]
    assert row["trials"] == 1 and row["because"][-1] == f"defect {lead['id']}"
    (check,) = checks(bench)
    assert check.read_text().count("depot.get_order(") == 2


def test_a_harvest_that_fails_for_the_environments_sake_is_no_defect(bench: Bench) -> None:
    """Ids are new in each environment, so that the second harvest finds nothing; replayed in one, it does."""
    suite(bench, [])
    path = bench.root / "specs/bench.mcpe"
    path.write_text(
        path.read_text()
        + "harvest listed = depot.list_orders() { id = $.orders[0].order_id }\n"
        + "harvest one = depot.get_order(order_id: listed.id) { status = $.status }\n"
        + 'task two { prompt "{{ one.status }}"; grade contains "done" }\n'
    )
    ended, (lead,) = confirmed(bench, "--window", "0")
    assert (ended.code, lead["status"]) == (0, "not_reproduced")
    (row,) = json.loads(bench.scorecard)["untestable"]
    assert not any(cause.startswith("defect") for cause in row["because"])
