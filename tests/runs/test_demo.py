"""The demo: all four outcomes, a blocked destructive call, a defect with its evidence, and the same for any fixture."""

from __future__ import annotations

import re
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from mcpeval_dsl.records.model import TrialRecord
from tests.execute.bench import Bench, outcome

SPEC = Path(__file__).parents[2] / "specs" / "tracker"


def demo(root: Path, fixture: int | None = None, trials: int = 1) -> tuple[str, dict[str, TrialRecord]]:
    """The demo suite run from a copy, with fewer trials and, if asked, another world: what it prints, and its records."""
    bench = Bench(root / f"project-{fixture}")
    shutil.copytree(SPEC, bench.root / "specs", ignore=shutil.ignore_patterns("__pycache__"))
    bench.write("mcpe.toml", 'specs = ["specs"]\n')
    path = bench.root / "specs/tracker.mcpe"
    text = path.read_text(encoding="utf-8")
    assert "let fixture = 7 " in text and "trials 5" in text
    text = text.replace("trials 5", f"trials {trials}")
    if fixture is not None:
        text = text.replace("let fixture = 7 ", f"let fixture = {fixture} ")
    path.write_text(text, encoding="utf-8")
    done = bench.run("--jobs", "4", "--report", "html", "--report", "junit=junit.xml")
    assert done.code == 1, done.err
    assert "FAIL" in done.out
    (page,) = bench.root.glob(".mcpe/runs/*/report.html")
    assert f"html report: {page}" in done.err and "number website.open" in page.read_text("utf-8")
    assert "<testsuites " in (bench.root / "junit.xml").read_text("utf-8")
    return done.out, {record.id: record for record in bench.reader.records()}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, TrialRecord]]:
    """As `make demo` runs it."""
    return demo(tmp_path_factory.mktemp("demo"), trials=5)


@pytest.fixture(scope="module")
def first(whole: tuple[str, dict[str, TrialRecord]]) -> dict[str, TrialRecord]:
    return whole[1]


def test_the_readme_shows_what_it_prints(whole: tuple[str, dict[str, TrialRecord]]) -> None:
    """Every line of the excerpt, in order; lines between may be left out."""
    readme = (
        (SPEC.parents[1] / "README.md").read_text("utf-8").replace("specs/tracker/tracker.mcpe", "specs/tracker.mcpe")
    )
    excerpt = next(
        block for block in re.findall(r"^```\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL) if "GATE" in block
    )
    printed = iter(whole[0].splitlines())
    assert len(excerpt.splitlines()) > 20
    assert [line for line in excerpt.splitlines() if line and line not in printed] == []


def test_all_four_outcomes_are_there(first: dict[str, TrialRecord]) -> None:
    outcomes = Counter(outcome(record) for record in first.values())
    assert set(outcomes) == {"pass", "wrong_answer", "too_many_calls", "untestable"}
    assert outcome(first["longest_waiting@careful#1"]) == "pass"
    assert outcome(first["longest_waiting@hasty#1"]) == "too_many_calls"
    assert outcome(first["which_regions@hasty#1"]) == "wrong_answer"
    assert outcome(first["archive_owner@careful#1"]) == "untestable"
    because = first["archive_owner@careful#1"].outcome
    assert because is not None and "harvest archived" in (because.because or ("",))[0]


def test_a_destructive_call_is_blocked_before_the_server_sees_it(first: dict[str, TrialRecord]) -> None:
    record = first["leaves_legacy_alone@hasty#1"]
    call = next(call for call in record.calls if call.tool == "purge_project")
    assert call.permission.decision == "denied" and call.arguments
    violation = record.violations[0]
    assert violation.severity == "critical" and violation.stages == ("attempted", "blocked")
    unchanged = next(verdict for verdict in record.verdicts if verdict.kind == "unchanged")
    assert unchanged.verdict == "yes"


def test_a_lead_on_the_seeded_bug_has_two_calls_as_evidence(first: dict[str, TrialRecord]) -> None:
    lead = first["legacy_owner@careful#1"].leads[0]
    assert (lead.server, lead.tool) == ("tracker", "get_issue")
    assert len(lead.evidence) == 2 and lead.evidence[0] != lead.evidence[1]
    assert lead.value is not None and re.fullmatch(r"LEG-\d{3}", lead.value)


def test_one_answer_is_wrong_though_every_call_succeeded(first: dict[str, TrialRecord]) -> None:
    record = first["which_regions@hasty#1"]
    assert record.calls and not any(call.is_error for call in record.calls)
    assert outcome(record) == "wrong_answer"
    found = next(call for call in record.calls if call.tool == "search_pages").structured["results"]
    truth = next(page for page in found if page["title"] == "Data residency")
    assert found.index(truth) == 3, "the right page ranks fourth"


def test_each_trial_names_everything_it_was_made_with(first: dict[str, TrialRecord]) -> None:
    record = first["label_it@careful#1"]
    server = record.servers[0]
    assert (server.name, server.version, server.transport) == ("tracker", "1.5.0", "stdio")
    assert server.revision and server.era and server.catalogue_sha256
    assert record.agent.driver == "script" and record.agent.host == "loop"
    assert record.timing.duration_ms > 0 and record.usage.input_tokens > 0
    assert record.tool_names and record.system and record.harness_version


@pytest.mark.parametrize("seed", [1, 4711])
def test_another_fixture_leaves_every_outcome_as_it_is(
    first: dict[str, TrialRecord], tmp_path: Path, seed: int
) -> None:
    again = demo(tmp_path, seed)[1]
    assert {key: outcome(record) for key, record in again.items()} == {
        key: outcome(record) for key, record in first.items() if key.endswith("#1")
    }
    prompts = [first["legacy_owner@careful#1"].prompt, again["legacy_owner@careful#1"].prompt]
    titles = [first["label_it@careful#1"].prompt, again["label_it@careful#1"].prompt]
    assert titles[0] != titles[1] or prompts[0] != prompts[1]


@pytest.fixture(scope="module")
def fixture_values(tmp_path_factory: pytest.TempPathFactory) -> Iterator[set[str]]:
    """Keys, titles, regions and dates of a few worlds."""
    found: set[str] = set()
    folder = tmp_path_factory.mktemp("worlds")
    for seed in (1, 7, 23, 4711):
        database = folder / f"{seed}.db"
        subprocess.run([sys.executable, SPEC / "server/fixture.py", database, "--seed", str(seed)], check=True)
        with closing(sqlite3.connect(database)) as connection:
            for row in connection.execute("select key, title, created from issues"):
                found.update(row)
            found |= {name for (name,) in connection.execute("select name from regions")}
    yield found


@pytest.mark.parametrize("script", sorted(path.name for path in (SPEC / "scripts").glob("*.yaml")))
def test_scripts_hold_no_value_of_the_fixture(script: str, fixture_values: set[str]) -> None:
    text = (SPEC / "scripts" / script).read_text(encoding="utf-8")
    assert fixture_values
    assert [value for value in fixture_values if re.search(rf"\b{re.escape(value)}\b", text)] == []
