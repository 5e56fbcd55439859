"""Leads of a server that no trial starts, and leads that several trials show."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.execute.bench import Bench
from tests.execute.depots import DEPOT, ORDERS, call, confirmed, suite

BRIDGE = Path(__file__).parent / "servers" / "bridge.py"
CREATED = [call("add_order"), call("get_order", order_id="{{ last.structured.order_id }}")]
ARCHIVED = [call("list_orders"), call("get_order", order_id=f"{{{{ {ORDERS}[2].order_id }}}}")]


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    """A depot on loopback that goes on through all trials and replays."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number: int = free.getsockname()[1]
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    words = [sys.executable, str(BRIDGE), str(number), sys.executable, str(DEPOT), "--lag", "600"]
    running = subprocess.Popen(words, cwd=folder)
    until = time.monotonic() + 60
    while time.monotonic() < until:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", number), 1):
            break
        time.sleep(0.05)
    yield number
    running.terminate()
    running.wait(60)


def elsewhere(bench: Bench, port: int, steps: list[dict[str, object]], task: str = "") -> None:
    """The host of the URL is not written out as this machine, and no version is named: it is somebody else's server."""
    suite(bench, steps, task=task)
    path = bench.root / "specs/bench.mcpe"
    there = 'let place = "127.0.0.1"\nserver depot { http "http://{{ place }}:PORT/mcp"; timeout 5s }\n'.replace(
        "PORT", str(port)
    )
    lines = [line for line in path.read_text().splitlines() if not line.startswith("server depot")]
    path.write_text("\n".join([lines[0], there, *lines[1:]]) + "\n")


def test_a_write_to_a_server_elsewhere_is_replayed_with_the_operators_word_only(bench: Bench, port: int) -> None:
    elsewhere(bench, port, CREATED, "may add_order;")
    assert bench.run("--allow-writes").code in (0, 1)
    ended, (lead,) = confirmed(bench, "--window", "0", run=False)
    assert (ended.code, lead["status"], lead["counted"]) == (3, "unconfirmed", 0)
    assert "--allow-writes" in lead["reason"]
    ended, (lead,) = confirmed(bench, "--window", "0", "--allow-writes", run=False)
    assert (ended.code, lead["status"]) == (1, "confirmed"), lead
    check = str(lead["reproduction"])
    assert "annotations depot" in (bench.root / check).read_text()
    assert bench.mcpe("trust", check, "--yes").code == 0
    assert bench.mcpe("check", check).code == 3  # it writes
    assert bench.mcpe("check", check, "--allow-writes").code == 1


def test_reading_from_it_needs_no_permission(bench: Bench, port: int) -> None:
    elsewhere(bench, port, [call("list_orders", status="held")])
    ended, (lead,) = confirmed(bench, "--window", "0")
    assert (ended.code, lead["status"]) == (1, "confirmed"), lead


def test_a_lead_that_its_first_trial_does_not_reproduce_is_replayed_from_the_next(bench: Bench) -> None:
    answers = bench.write("answers.txt", "FF" + "PPP" + 10 * "F")
    suite(bench, ARCHIVED, f"--answers {answers}", trials=2)
    ended, (lead,) = confirmed(bench, "--window", "0")
    assert (ended.code, lead["status"], lead["trials"]) == (1, "confirmed", 2)
    (record,) = bench.reader.defects()
    assert record.trial.endswith("#2") and str(lead["first_trial"]).endswith("#1")


def test_one_that_no_trial_reproduces_stays_a_lead(bench: Bench) -> None:
    answers = bench.write("answers.txt", "FF" + 6 * "P")
    suite(bench, ARCHIVED, f"--answers {answers}", trials=2)
    ended, (lead,) = confirmed(bench, "--window", "0")
    assert (ended.code, lead["status"], lead["counted"]) == (0, "not_reproduced", 3)
