"""The suite that shows lift: every cell runs, both arms answer, and the numbers say who gains what, for any fixture."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.execute.bench import Bench, outcome
from tests.runs.test_arms import by_cell

SPECS = Path(__file__).parents[2] / "specs"


def test_two_agents_in_two_hosts_with_a_server_and_without(bench: Bench) -> None:
    for name in ("lift", "tracker"):
        shutil.copytree(SPECS / name, bench.root / name, ignore=shutil.ignore_patterns("__pycache__"))
    bench.write("mcpe.toml", 'specs = ["lift"]\n')
    path = bench.root / "lift" / "lift.mcpe"
    text = path.read_text("utf-8")
    assert "let fixture = 7 " in text and "trials 3" in text
    path.write_text(text.replace("let fixture = 7 ", "let fixture = 12 ").replace("trials 3", "trials 1"), "utf-8")
    assert bench.mcpe("trust", "lift", "--yes").code == 0
    done = bench.mcpe("run", "lift", "--jobs", "4")
    assert done.code == 0, done.err
    cells = by_cell(bench)
    assert len(cells) == 8 and {len(records) for records in cells.values()} == {6}
    right = {cell: sum(outcome(record) == "pass" for record in records) for cell, records in cells.items()}
    for host in ("plain", "searching"):
        assert right[f"steady+{host}+cli"] == 6 and right[f"steady+{host}+mcp"] == 5
        assert right[f"quick+{host}+mcp"] > right[f"quick+{host}+cli"]
    for cell, records in cells.items():
        served = sum(record.counts.served for record in records)
        assert (served > 0) == cell.endswith("mcp")
        assert (sum(record.counts.native for record in records) > 0) == cell.endswith("cli")
        assert (sum(record.counts.searches for record in records) > 0) == cell.endswith("searching+mcp")
    (lift,) = json.loads(bench.scorecard)["comparisons"]
    agents = {row["agent"]: row["difference"]["value"] for row in lift["rows"] if not row["group"]}
    assert set(agents) == {f"{model}+{host}" for model in ("steady", "quick") for host in ("plain", "searching")}
    assert all((gain > 0) == agent.startswith("quick") for agent, gain in agents.items())
    assert {tool for arm in lift["arms"] for tool in arm["tools"]} == {"shell"}
