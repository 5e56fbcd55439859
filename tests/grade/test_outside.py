"""Graders that run something of the author's: commands and Python functions."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mcpeval_dsl.grade.model import Verdict
from mcpeval_dsl.grade.publish import to_record
from mcpeval_dsl.grade.registry import grade
from tests.grade.building import SERVICES, grader, record

PY = sys.executable


def command(code: str, tmp_path: Path, *more: str, **facts: Any) -> Verdict:
    services = replace(SERVICES, workdir=tmp_path, project=tmp_path, env={"PATH": "/usr/bin:/bin"}, command_timeout=60)
    written = {"command": [PY, "-c", code, *more], "exit": facts.pop("exit", 0), "timeout": facts.pop("timeout", None)}
    return asyncio.run(grade(grader(written), record(facts), services))


def test_exit_code(tmp_path: Path) -> None:
    assert command("raise SystemExit(0)", tmp_path).verdict == "yes"
    found = command("import sys; print('row 3 differs'); sys.exit(1)", tmp_path)
    assert (found.verdict, found.actual, found.expected) == ("no", 'exit 1: "row 3 differs"', "exit 0")
    assert command("raise SystemExit(4)", tmp_path, exit=4).verdict == "yes"


@pytest.mark.parametrize(
    ("said", "verdict", "because"),
    [
        ({"verdict": "yes", "reason": "good"}, "yes", ""),
        ({"verdict": "no", "reason": "bad", "score": 0.25}, "no", ""),
        ({"verdict": True}, "yes", ""),
        ({"verdict": "missing", "reason": "no network"}, "missing", "no_evidence"),
        ({"verdict": "maybe"}, "missing", "grader_exception"),
        ({"verdict": 1}, "missing", "grader_exception"),
    ],
)
def test_a_json_verdict_stands_above_the_exit_code(
    tmp_path: Path, said: dict[str, Any], verdict: str, because: str
) -> None:
    found = command(f"print('working'); print({json.dumps(said)!r})", tmp_path)
    assert (found.verdict, found.missing_because) == (verdict, because)
    assert found.score == said.get("score")


def test_a_command_sees_the_record_and_its_place(tmp_path: Path) -> None:
    code = (
        "import sys, os, json; r = json.load(sys.stdin);"
        "ok = r['answer']['text'] == os.environ['MCPE_ANSWER'] == 'blue' and os.getcwd() == os.environ['MCPE_WORKDIR']"
        " and sys.argv[1] == 'K' and 'API_TOKEN' not in os.environ; sys.exit(not ok)"
    )
    assert command(code, tmp_path, "K", answer="blue").verdict == "yes"


def test_a_script_of_the_project_is_found(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "work").mkdir()
    (tmp_path / "project" / "verify.py").write_text('print(\'{"verdict": "yes"}\')')
    services = replace(SERVICES, project=tmp_path / "project", workdir=tmp_path / "work")
    found = asyncio.run(grade(grader({"command": [PY, "verify.py"]}), record(), services))
    assert found.verdict == "yes"


@pytest.mark.parametrize(
    ("code", "timeout", "because"),
    [
        ("import time; time.sleep(600)", 0.3, "timeout"),
        ("import os; os.kill(os.getpid(), 9)", 60, "grader_exception"),
        ("print('x' * 2_000_000)", 60, "grader_exception"),
    ],
)
def test_a_command_that_breaks_leaves_the_verdict_missing(
    tmp_path: Path, code: str, timeout: float, because: str
) -> None:
    found = command(code, tmp_path, timeout=timeout)
    assert (found.verdict, found.missing_because) == ("missing", because)


def test_a_command_that_does_not_exist_is_told(tmp_path: Path) -> None:
    services = replace(SERVICES, workdir=tmp_path)
    found = asyncio.run(grade(grader({"command": ["no-such-verifier"]}), record(), services))
    assert found.verdict == "missing" and "cannot be started" in found.reason


def test_graded_again_later_a_command_keeps_its_verdict() -> None:
    written = {"command": ["true"]}
    gone = asyncio.run(grade(grader(written), record(), SERVICES))
    assert (gone.verdict, gone.missing_because) == ("missing", "not_run")
    earlier = to_record(replace(gone, verdict="no", missing_because="", actual="exit 1"))
    kept = record().model_copy(update={"verdicts": (earlier,)})
    assert asyncio.run(grade(grader(written), kept, SERVICES)).actual == "exit 1"


@pytest.mark.parametrize(
    ("name", "verdict", "because", "said"),
    [
        ("right", "yes", "", ""),
        ("word", "no", "", ""),
        ("told", "yes", "", "as it should be"),
        ("pair", "no", "", "not so"),
        ("later", "yes", "", ""),
        ("undecided", "missing", "no_evidence", "says so"),
        ("raises", "missing", "grader_exception", "ValueError: no such row (functions.py:"),
        ("leaves", "missing", "grader_exception", "SystemExit: 3"),
        ("number", "missing", "grader_exception", "gave 1, which is no verdict"),
        ("slow", "missing", "timeout", "took longer than"),
        ("gone", "missing", "grader_exception", "has no function `gone`"),
        ("prints", "yes", "", ""),
        ("crashes", "missing", "grader_exception", "its process ended with -11"),
        ("ends", "missing", "grader_exception", "its process ended with 3"),
        ("hungry", "missing", "grader_exception", "MemoryError"),
    ],
)
def test_python(name: str, verdict: str, because: str, said: str) -> None:
    services = replace(SERVICES, command_timeout=1.5 if because == "timeout" else 60)
    found = asyncio.run(grade(grader({"python": f"functions:{name}"}), record(answer="fine"), services))
    assert (found.verdict, found.missing_because) == (verdict, because)
    assert said in found.reason


@pytest.mark.parametrize(("name", "said"), [("no_such_module:x", "No module named"), ("functions", "module:function")])
def test_python_that_cannot_be_imported(name: str, said: str) -> None:
    found = asyncio.run(grade(grader({"python": name}), record(), SERVICES))
    assert found.missing_because == "grader_exception" and said in found.reason
    assert str(SERVICES.project) not in sys.path


def test_a_function_sees_none_of_the_operators_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_KEY", "key-5b2d")
    found = asyncio.run(grade(grader({"python": "functions:sees"}), record(), SERVICES))
    assert found.verdict == "yes", found.reason


def test_a_function_that_never_returns_does_not_keep_the_run_from_ending() -> None:
    services = replace(SERVICES, command_timeout=0.1)
    found = asyncio.run(grade(grader({"python": "functions:endless"}), record(), services))
    assert found.missing_because == "timeout"
