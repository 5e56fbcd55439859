"""The judge through a real driver: a script plays the judge, so the plumbing needs no key and no network."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from mcpeval_dsl.agents.drivers.registry import open_driver
from mcpeval_dsl.agents.drivers.settings import DriverSettings
from mcpeval_dsl.grade.registry import grade
from mcpeval_dsl.semantics.model import Model
from tests.grade.building import SERVICES, grader, record

SCRIPT = """
tasks:
  task:
    - expect: { prompt_contains: "The Warehouse project does not exist." }
      reply: '{"claims": [{"claim": 1, "reason": "it says so", "quotes": ["does not exist"], "verdict": "pass"}]}'
  other:
    - reply: "1. The answer is completely wrong"
"""
CLAIMS = {"judge": ["says that there is no such project"]}


def test_a_script_can_be_the_judge(tmp_path: Path) -> None:
    (tmp_path / "judge.yaml").write_text(SCRIPT)
    driver = open_driver(Model("sonnet", "script", "judge.yaml"), DriverSettings(project_root=tmp_path))
    services = replace(SERVICES, judge={"sonnet": driver}.get)
    facts = record(answer="The Warehouse project does not exist.")
    for _ in range(2):
        found = asyncio.run(grade(grader(CLAIMS), facts, services))
        assert (found.verdict, found.score, found.cost_usd) == ("yes", 1.0, 0.0), found.reason
        assert found.parts[0].actual == "does not exist"
    other = facts.model_copy(update={"task": "other"})
    unreadable = asyncio.run(grade(grader(CLAIMS), other, services))
    assert (unreadable.verdict, unreadable.missing_because) == ("missing", "judge_unreadable")
