"""`mcpe score`, `view` and `runs` over a run on disk."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mcpeval_dsl.cli.main import main
from mcpeval_dsl.plan import files
from mcpeval_dsl.records.folder import RunFolder
from mcpeval_dsl.records.reader import RunReader
from mcpeval_dsl.records.store import create
from mcpeval_dsl.semantics.expressions import Literal
from mcpeval_dsl.semantics.graders import Common, Exact
from tests.records.samples import manifest
from tests.score.samples import AT, plan, rule, run, task


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose one run has an answer `A-1` everywhere, graded `yes` for task one and `no` for task two."""
    (tmp_path / "mcpe.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    tasks = [
        task(name, graders=(Exact(Common("g1", at=AT), Literal(f"A-{n}")),)) for n, name in ((1, "one"), (2, "two"))
    ]
    made = plan(tasks, rules=[rule("task_success >= 60%", "task_success", ">=", 0.6)])
    from mcpeval_dsl.agents.model import Answer

    records = run(made, {"two@m": "nnn"}, answer=Answer("given", "A-1"))
    data = files.write(made)
    store = create(tmp_path / ".mcpe" / "runs" / "demo-1", data, manifest(data)).value
    assert store is not None
    with store:
        for record in records:
            store.save_trial(record)
    return tmp_path


def call(*arguments: str) -> int:
    try:
        return main(list(arguments)) or 0  # type: ignore[func-returns-value]
    except SystemExit as end:
        return int(end.code or 0)


def test_score_ends_with_the_gates_exit_code(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("score", "--no-grade") == 1
    assert "GATE  FAIL" in capsys.readouterr().out


def test_scoring_twice_writes_the_same_bytes(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = project / ".mcpe" / "runs" / "demo-1" / "scorecard.json"
    call("score")
    first = path.read_bytes()
    call("score")
    assert path.read_bytes() == first
    assert json.loads(first)["format"] == "mcpe-scorecard/1"


def test_grading_again_keeps_the_facts_and_finds_the_same(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("score", "demo-1") == 1
    reader = RunReader(RunFolder(project / ".mcpe" / "runs" / "demo-1"))
    words = [(record.task, record.outcome.outcome) for record in reader.records() if record.outcome is not None]
    assert words == [("one", "pass")] * 3 + [("two", "wrong_answer")] * 3
    assert reader.verify() == ()


def test_grading_what_only_reads_looks_at_no_variable(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No trust and no model is needed either: the script of this model does not exist."""
    monkeypatch.setenv("MCPE_STATE_DIR", str(project / "nobody-trusts"))
    assert call("score") == 1
    assert not (project / "nobody-trusts").exists()


def test_score_as_json_names_its_format_first(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call("score", "--no-grade", "--format", "json")
    first, second, third = capsys.readouterr().out.splitlines()
    assert json.loads(first)["schema"] == "mcpe-scorecard/1"
    assert json.loads(second)["scorecard"]["gate"]["word"] == "FAIL"
    assert [cell["cell"] for cell in json.loads(third)["cells"]] == ["m"]


def test_view_lists_trials_or_shows_one(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("view") == 0
    assert len(capsys.readouterr().out.splitlines()) == 6
    assert call("view", "two@m#2") == 0
    assert capsys.readouterr().out.startswith("two@m#2  wrong_answer\n")
    assert call("view", "demo-1", "two@m#2", "--format", "json") == 0
    assert json.loads(capsys.readouterr().out)["id"] == "two@m#2"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("score", "demo-2"), "MCPE542"),
        (("view", "nothing"), "MCPE542"),
        (("view", "demo-1", "two@m#9"), "MCPE544"),
    ],
)
def test_what_is_not_there(
    project: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], code: str
) -> None:
    assert call(*arguments) == 2
    assert code in capsys.readouterr().err


def test_runs_lists_what_there_is(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("runs") == 0
    assert "demo-1" in capsys.readouterr().out
    assert call("runs", "--format", "json") == 0
    assert json.loads(capsys.readouterr().out.splitlines()[1])["trials"] == "6 of 6"


def test_a_damaged_record_is_never_scored(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import sqlite3

    path = project / ".mcpe" / "runs" / "demo-1" / "ledger.db"
    connection = sqlite3.connect(path)
    connection.execute("UPDATE trial SET data = x'00' WHERE id = 'two@m#2'")
    connection.commit()
    connection.close()
    assert call("score", "--no-grade") == 74
    assert "MCPE543" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["score", "view", "report", "defects", "power"])
def test_a_plan_that_was_changed_judges_nothing(
    command: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = project / ".mcpe" / "runs" / "demo-1" / "plan.json"
    text = path.read_text()
    assert "A-2" in text
    path.write_text(text.replace("A-2", "A-1"))
    assert call(command, "demo-1") == 2
    said = capsys.readouterr()
    assert "MCPE543" in said.err and "not the plan that the run was made with" in said.err and not said.out


def test_a_manifest_that_is_none_is_told(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / ".mcpe" / "runs" / "demo-1" / "manifest.json").write_text('{"run": 1}')
    assert call("score") == 74
    assert "it is no manifest of a run" in capsys.readouterr().err


def test_without_any_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mcpe.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    assert call("score") == 2
    assert "MCPE542" in capsys.readouterr().err
    assert call("runs") == 0
