"""`mcpe check`: each kind of line where it holds and where it does not, and what is said when it cannot be asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.execute.bench import Bench

DEPOT = Path(__file__).parents[1] / "execute" / "servers" / "depot.py"
HEAD = '''suite depot "Depot" {}
server depot { stdio "python" "depot.py" "--fixed"; timeout 5s }
environment yard {
  write "{{ workdir }}/depot.json" r"""[{"order_id": "ORD-7", "status": "open", "since": 0}]"""
  write "{{ workdir }}/name.txt" "ORD-7"
}
'''
DEFAULTS = HEAD.replace("{}", "{ defaults { environment yard } }", 1)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    (tmp_path / "project").mkdir()
    found = Bench(tmp_path / "project")
    found.write("mcpe.toml", 'specs = ["specs"]\n')
    found.write("specs/depot.py", DEPOT.read_text(encoding="utf-8"))
    return found


def checked(bench: Bench, lines: str, head: str = HEAD) -> tuple[int, list[tuple[str, str]]]:
    """The exit code, and each line with its state."""
    bench.write("specs/depot.mcpe", f"{head}check depot {{\n{lines}\n}}\n")
    assert bench.mcpe("trust", "specs", "--yes").code == 0
    ended = bench.mcpe("check", "specs/depot.mcpe", "--format", "json")
    assert "internal error" not in ended.err and "Traceback" not in ended.err, ended.err
    found = [json.loads(line) for line in ended.out.splitlines()]
    return ended.code, [(line["what"], line["state"]) for line in found if line["type"] == "check"]


@pytest.mark.parametrize(
    ("line", "state"),
    [
        ("tool get_order present", "pass"),
        ("tool purge present", "fail"),
        ("tool purge absent", "pass"),
        ("tool get_order absent", "fail"),
        ("schema valid", "pass"),
        ("capability tools required", "pass"),
        ("capability prompts required", "fail"),
        ("capability prompts absent", "pass"),
        ("capability tools absent", "fail"),
        ("capability prompts optional", "pass"),
        ('protocol "2025-11-25" supported', "pass"),
        ('protocol "2026-07-28" supported', "fail"),
        ('protocol "2026-07-28" rejected', "pass"),
        ('protocol "2025-11-25" rejected', "fail"),
        ('depot.get_order(order_id: "ORD-7") { require class == none }', "pass"),
        ('depot.get_order(order_id: "ORD-8") { require class == none }', "fail"),
        ('depot.get_order(order_id: "ORD-8") { require class == tool_error }', "pass"),
        ('depot.get_order(order_id: "ORD-8") { require class in [tool_error, protocol_error] }', "pass"),
        ('depot.get_order(order_id: "ORD-8") { require class != error_in_success }', "pass"),
        ('depot.get_order(order_id: "ORD-8") { require error ~ /ORD-8 not found/ }', "pass"),
        ('depot.get_order(order_id: "ORD-7") { require error ~ /not found/ }', "fail"),
        ('depot.get_order(order_id: "ORD-7") { require $.status == "open" }', "pass"),
        ('depot.get_order(order_id: "ORD-7") { require $.status == "held" }', "fail"),
        ('depot.get_order(order_id: "ORD-7") { require result.status == "open" }', "pass"),
        ('depot.get_order(order_id: "ORD-7") { require latency.p95 <= 4s }', "pass"),
        ('depot.get_order(order_id: "ORD-7") { require latency.max <= 0ms }', "fail"),
        ('depot.get_order(order_id: "ORD-7") { require latency <= 4s }', "pass"),
        ('depot.get_order(order_id: "ORD-7") { require latency <= 0ms }', "fail"),
        ('depot.get_stock(item: "a", unit: "pallet") { require class == transport_error }', "pass"),
        ('depot.get_order(order_id: "ORD-7") { require $.order_id == file("{{ workdir }}/name.txt") }', "pass"),
        ('depot.get_order(order_id: file("{{ workdir }}/name.txt")) { require class == none }', "pass"),
        ('depot.get_order(order_id: "ORD-8")', "not tested"),
        ("depot.list_orders() { x = $.orders[5].order_id }", "not tested"),
        ('depot.get_order(order_id: "ORD-7") { require $.gone == "x" }', "fail"),
    ],
)
def test_a_line(bench: Bench, line: str, state: str) -> None:
    code, found = checked(bench, line)
    assert [each for _, each in found] == [state]
    assert code == {"pass": 0, "fail": 1, "not tested": 3}[state]


def test_later_lines_use_what_earlier_ones_read(bench: Bench) -> None:
    code, found = checked(
        bench,
        """  first = depot.list_orders() { id = $.orders[0].order_id; require $.orders[0].status == "open" }
  depot.get_order(order_id: first.id) { require $.order_id == first.id }
  depot.get_order(order_id: "{{ first.id }}") { require class == none }""",
    )
    assert code == 0 and len(found) == 3


def test_what_rests_on_a_failed_line_is_not_tested(bench: Bench) -> None:
    code, found = checked(
        bench,
        """  first = depot.get_order(order_id: "ORD-8") { id = $.order_id }
  depot.get_order(order_id: first.id) { require class == none }
  tool get_order present""",
    )
    assert [state for _, state in found] == ["not tested", "not tested", "pass"]
    assert code == 3


def test_each_block_has_a_fresh_environment(bench: Bench) -> None:
    two = """  depot.add_order(order_id: "ORD-9") { require class == none }
  depot.list_orders() { require count($.orders[*]) == 2 }"""
    bench.write("specs/depot.mcpe", f"{HEAD}check depot {{\n{two}\n}}\ncheck depot {{\n{two}\n}}\n")
    bench.mcpe("trust", "specs", "--yes")
    ended = bench.mcpe("check")
    assert ended.code == 0, ended.out
    assert ended.out.count("2 of 2 lines pass") == 2
    assert bench.left_over() == [] and bench.processes() == []


def test_a_write_to_a_shared_environment_needs_the_operators_word(bench: Bench) -> None:
    shared = HEAD.replace("environment yard {", "environment yard { scope run;")
    shared += "annotations depot { readonly list_*, get_* }\n"
    lines = 'depot.get_order(order_id: "ORD-7") { require class == none }\ndepot.add_order() { require class == none }'
    code, found = checked(bench, lines, shared)
    assert code == 3 and [state for _, state in found] == ["pass", "not tested"]
    assert bench.mcpe("check", "--allow-writes").code == 0


def test_a_failure_is_told_with_what_came_and_what_was_expected(bench: Bench) -> None:
    bench.write("specs/depot.mcpe", HEAD + 'check depot { depot.get_order(order_id: "X") { require class == none } }\n')
    bench.mcpe("trust", "specs", "--yes")
    said = bench.mcpe("check", "specs/depot.mcpe").out
    assert "0 of 1 lines pass" in said and "specs/depot.mcpe:7:" in said
    assert "tool_error: Order X not found" in said and '== "none"' in said


def test_a_server_that_does_not_start_is_not_tested(bench: Bench) -> None:
    bench.write("specs/depot.py", "raise SystemExit('no database')\n")
    code, found = checked(bench, 'tool purge absent\ndepot.get_order(order_id: "X") { require class == tool_error }')
    assert code == 3 and [state for _, state in found] == ["not tested", "not tested"]


def test_nothing_starts_without_trust(bench: Bench) -> None:
    bench.write("specs/depot.mcpe", HEAD + "check depot { tool purge absent }\n")
    ended = bench.mcpe("check")
    assert ended.code == 2 and "MCPE500" in ended.err


@pytest.mark.parametrize(
    ("line", "state", "said"),
    [
        ("transport stdio", "pass", ""),
        ("transport stdio rejected", "fail", "supported"),
        ("transport sse rejected", "unsupported", "pipes"),
        ("auth none { require status == 401 }", "unsupported", "pipes"),
        ('origin "https://evil.example" rejected', "unsupported", "pipes"),
        ("oauth metadata", "unsupported", "pipes"),
        ("latency p95 <= 3s over 20 calls", "pass", ""),
        ("latency p50 < 0ms over 2 calls", "fail", "p50"),
        ("conformance ping", "fail", "-32601"),
        ("conformance unknown-method", "pass", ""),
        ("conformance cancellation", "pass", ""),
        ("conformance unknown-notification", "pass", ""),
        ("conformance malformed-message", "fail", "the server ended"),
        ("conformance pagination", "partial", "cursor"),
        ("conformance tools-list", "partial", "no description"),
        ("conformance caching", "unsupported", "2025-11-25"),
        ("conformance dns-rebinding-protection", "unsupported", "pipes"),
    ],
)
def test_a_line_about_the_protocol(bench: Bench, line: str, state: str, said: str) -> None:
    bench.write("specs/depot.mcpe", f"{HEAD}check depot {{\n  {line}\n}}\n")
    assert bench.mcpe("trust", "specs", "--yes").code == 0
    ended = bench.mcpe("check", "--format", "json")
    (found,) = [json.loads(text) for text in ended.out.splitlines()][1:]
    assert found["state"] == state and said in found["actual"] + found["reason"], found
    assert ended.code == {"pass": 0, "fail": 1, "partial": 4, "unsupported": 4}[state]


def test_times_are_of_calls_like_the_one_above(bench: Bench) -> None:
    lines = 'depot.get_order(order_id: "ORD-7") { require class == none }\nlatency max <= 5s over 4 calls'
    bench.write("specs/depot.mcpe", f"{HEAD}check depot {{\n{lines}\n}}\n")
    bench.mcpe("trust", "specs", "--yes")
    ended = bench.mcpe("check", "--format", "json")
    last = json.loads(ended.out.splitlines()[-1])
    assert last["state"] == "pass" and last["what"] == "latency max of depot.get_order over 4 calls"
    assert set(last["measured"]) == {"mean", "p50", "max"}, "four calls have no 95th percentile"
    assert 0 < last["measured"]["p50"] <= last["measured"]["max"] < 5000


def test_a_call_that_ends_otherwise_is_no_measurement(bench: Bench) -> None:
    lines = 'depot.get_customer(name: "Ann") { require class == none }\nlatency p95 <= 5s over 9 calls'
    code, found = checked(bench, lines)
    assert code == 3 and [state for _, state in found] == ["pass", "not tested"]


@pytest.mark.parametrize(
    "line", ["latency p99 <= 1s over 5 calls", "latency p95 <= 5 over 5 calls", "latency p95 > 1s over 5 calls"]
)
def test_a_bound_that_means_nothing_is_found_by_the_compiler(bench: Bench, line: str) -> None:
    bench.write("specs/depot.mcpe", f"{HEAD}check depot {{\n  {line}\n}}\n")
    ended = bench.mcpe("lint")
    assert ended.code == 2 and "depot.mcpe:8:" in ended.out


@pytest.mark.parametrize("scope", ["", "scope trial; "])
def test_a_check_uses_harvested_values(bench: Bench, scope: str) -> None:
    harvest = "annotations depot { readonly list_* }\n"
    harvest += f"harvest first = depot.list_orders() {{ {scope}id = $.orders[0].order_id }}\n"
    line = "depot.get_order(order_id: first.id) { require $.order_id == first.id }"
    assert checked(bench, line, DEFAULTS + harvest) == (0, [("depot.get_order", "pass")])


def test_a_harvest_without_a_value_leaves_its_check_untested(bench: Bench) -> None:
    harvest = "harvest first = depot.list_orders() { id = $.orders[7].order_id }\n"
    bench.write("specs/depot.mcpe", f"{HEAD}{harvest}check depot {{ depot.get_order(order_id: first.id) }}\n")
    bench.mcpe("trust", "specs", "--yes")
    ended = bench.mcpe("check")
    assert ended.code == 3 and "harvest first" in ended.out


def test_specs_without_checks_are_an_error(bench: Bench) -> None:
    bench.write("specs/depot.mcpe", HEAD + 'model m { script "m.yaml" }\ntask t { prompt "x"; grade contains "x" }\n')
    bench.write("specs/m.yaml", "tasks: {t: [{reply: x}]}\n")
    ended = bench.mcpe("check")
    assert ended.code == 2 and "MCPE509" in ended.err


def test_an_unknown_class_is_found_by_the_compiler(bench: Bench) -> None:
    bench.write("specs/depot.mcpe", HEAD + "check depot { depot.list_orders() { require class == tool_eror } }\n")
    ended = bench.mcpe("lint")
    assert ended.code == 2 and "tool_error" in ended.out
