"""`mcpe score --spec`: other graders for the same trials, and refusal where the trials would be others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mcpeval_dsl.agents.model import Answer
from mcpeval_dsl.cli import specs as loading
from mcpeval_dsl.cli.main import main
from mcpeval_dsl.plan import files
from mcpeval_dsl.plan.model import Plan, Selection, TrialGroup, trial_id, trial_key
from mcpeval_dsl.records.store import create
from tests.records.samples import manifest, trial

SPEC = """suite notes "Notes" {
  trials 2
  seed 7
  defaults { budget calls <= 4 hard 8 }
}
server notes { stdio "python" "server.py" }
model canned { script "canned.yaml" }
task name_it "Newest" {
  prompt "Which note is the newest?"
  grade  exact "plan"
}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mcpe.toml").write_text('specs = ["."]\n')
    (tmp_path / "server.py").write_text("")
    (tmp_path / "canned.yaml").write_text("- match: .*\n  steps:\n    - reply: plan\n")
    (tmp_path / "notes.mcpe").write_text(SPEC)
    made = compiled()
    data = files.write(made)
    store = create(tmp_path / ".mcpe" / "runs" / "notes-1", data, manifest(data, plan_key=made.key)).value
    assert store is not None
    with store:
        for group in made.nodes:
            if isinstance(group, TrialGroup):
                for number in (1, 2):
                    id_, key = trial_id(group.id, number), trial_key(group.key, number)
                    store.save_trial(trial(id_, key=key, answer=Answer("given", "plan"), violations=()))
    return tmp_path


def compiled() -> Plan:
    (made,) = loading.plan(loading.load(["notes.mcpe"]), Selection())
    return made


def gate_of(project: Path) -> str:
    card = json.loads((project / ".mcpe" / "runs" / "notes-1" / "scorecard.json").read_bytes())
    return f"{card['cells'][0]['counts']['passed']} of {card['planned']}, {card['gate']['word']}"


def test_the_graders_of_now_judge_the_trials_of_then(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score"]) == 0
    assert gate_of(project) == "2 of 2, PASS"
    changed = SPEC.replace('exact "plan"', 'exact "diary"') + "gate { require task_success >= 50% }\n"
    (project / "notes.mcpe").write_text(changed)
    assert main(["score", "--spec", "notes.mcpe"]) == 1
    assert gate_of(project) == "0 of 2, FAIL"
    assert main(["score"]) == 1


def test_other_trials_are_refused(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "notes.mcpe").write_text(SPEC.replace("Which note", "What note"))
    assert main(["score", "--spec", "notes.mcpe"]) == 2
    shown = capsys.readouterr().err
    assert "MCPE545" in shown
    assert "name_it" in shown


def test_a_spec_of_another_suite_is_refused(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "other.mcpe").write_text(SPEC.replace("suite notes", "suite others"))
    assert main(["score", "--spec", "other.mcpe"]) == 2
    assert "has no suite `notes`" in capsys.readouterr().err
