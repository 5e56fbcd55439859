"""Suites for real servers pass the whole front end, and every code's examples say what they are examples of."""

from __future__ import annotations

import pytest

from mcpeval_dsl import pipeline
from mcpeval_dsl.diagnostics.registry import CodeInfo, all_codes
from mcpeval_dsl.semantics import check_text, front
from tests.semantics.memory import Memory, examples

SUITES = [path for path in examples() if "/" not in path]
ADVICE = {"MCPE309", "MCPE311", *(f"MCPE{number}" for number in range(360, 390))}
OWN = [i for i in all_codes() if "MCPE250" <= i.code < "MCPE400" and not i.is_command and i.code not in ADVICE]


@pytest.mark.parametrize("path", SUITES)
def test_suite_has_no_errors(path: str) -> None:
    checked = pipeline.check(path, Memory(examples(), anything=True))
    assert [d for d in checked.diagnostics if d.severity == "error"] == []
    assert checked.ok and checked.value is not None
    assert checked.value.tasks and checked.value.cells


@pytest.mark.parametrize("info", OWN, ids=lambda i: i.code)
def test_examples_of_a_code(info: CodeInfo) -> None:
    assert {d.code for d in check_text(info.bad)} == {info.code}
    assert check_text(info.good) == ()


def test_every_code_that_is_reported_is_registered() -> None:
    from pathlib import Path
    from re import findall

    registered = {i.code for i in all_codes()}
    room = Path(front.__file__).parent
    used = {code for p in room.rglob("*.py") for code in findall(r'"(MCPE[23]\d\d)"', p.read_text("utf-8"))}
    assert used - registered == set()


def test_a_function_is_a_reader() -> None:
    def read(path: str) -> bytes:
        if path == "a.mcpe":
            return b'task ask { prompt "How many?"; grade number 3 }\n'
        raise FileNotFoundError(path)

    assert pipeline.check("a.mcpe", read).ok
    missing = pipeline.check("b.mcpe", read)
    assert [d.code for d in missing.diagnostics] == ["MCPE270"]


@pytest.mark.parametrize("data", [b"", b"\x00\x01", b"\xff\xfe x", b"task " * 1_000_000])
def test_bad_input_gives_no_traceback(data: bytes) -> None:
    checked = pipeline.check("a.mcpe", lambda path: data)
    assert not any("Traceback" in d.title for d in checked.diagnostics)


@pytest.mark.parametrize(
    ("spec", "prompt", "codes"),
    [
        ("specs/a.mcpe", "../other/p.md", []),
        ("specs/a.mcpe", "../../p.md", ["MCPE274"]),
        ("a.mcpe", "/etc/hostname", ["MCPE274"]),
        ("/elsewhere/a.mcpe", "p.md", []),
        ("/elsewhere/a.mcpe", "../p.md", ["MCPE274"]),
        ("../elsewhere/a.mcpe", "sub/p.md", []),
    ],
)
def test_only_files_of_the_project_are_read(spec: str, prompt: str, codes: list[str]) -> None:
    text = f'import "{prompt}x"\ntask ask {{ prompt file "{prompt}"; grade number 3 }}\n'
    found = pipeline.check(spec, Memory({spec: text}, anything=True)).diagnostics
    assert [d.code for d in found if d.code == "MCPE274"] == codes * 2
