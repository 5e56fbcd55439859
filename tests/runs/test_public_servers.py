"""Suites against servers that were written elsewhere: each starts, is harvested, is asked, and is left as it should be."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from mcpeval_dsl.plan.files import read
from tests.execute.bench import Bench, outcome

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / ".servers" / "bin"
SUITES = {
    "memory": "mcp-server-memory",
    "filesystem": "mcp-server-filesystem",
    "everything": "mcp-server-everything",
    "git": "mcp-server-git",
}
WRITING = {"memory", "filesystem", "git"}


@pytest.mark.parametrize("name", SUITES)
def test_the_suite_passes(bench: Bench, name: str) -> None:
    program = PROGRAMS / SUITES[name]
    assert program.exists(), f"{program.name} is not installed: run `make servers`"
    shutil.copytree(ROOT / "specs" / name, bench.root / "specs", ignore=shutil.ignore_patterns("__pycache__"))
    for path in (bench.root / "specs").glob("*.mcpe"):
        path.write_text(re.sub(r"\btrials +\d+", "trials 1", path.read_text(encoding="utf-8")), encoding="utf-8")
    bench.write("mcpe.toml", 'specs = ["specs"]\n')
    bench.variables = {"PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}", "MCPE_SANDBOX": "auto"}
    done = bench.run("--jobs", "2")
    assert done.code == 0, done.out + done.err
    records = [record for record in bench.reader.records() if not record.not_applicable]
    assert {outcome(record) for record in records} == {"pass"}, done.out
    plan = read(bench.reader.plan_bytes(), "plan.json").value
    assert plan is not None
    tasks = plan.plans[0].tasks
    assert len(tasks) >= 5
    assert bench.reader.harvests()
    kinds = {verdict.kind for record in records for verdict in record.verdicts}
    assert name not in WRITING or kinds & {"state", "same_state", "unchanged"}
    assert bench.left_over() == [] and bench.processes() == []
