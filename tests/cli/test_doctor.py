"""`mcpe doctor` says what there is, what is missing and what is wrong, and of keys only whether they are set."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest

from mcpeval_dsl.cli.main import main
from mcpeval_dsl.execute import machine
from mcpeval_dsl.gateway import sandbox

KEY = "sk-ant-not-a-real-key-0123456789"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MCPE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("MCPE_SANDBOX", "none")
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    return tmp_path


def told(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, Any]]:
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines[0]["schema"] == "mcpe-doctor/1"
    return {line["name"]: line for line in lines[1:]}


def test_it_names_everything_in_text_and_shows_no_key(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    for name in ("python", "sqlite", "bubblewrap", "landlock", "sandbox", "node", "git", "trust store", "loopback"):
        assert name in out
    assert "ANTHROPIC_API_KEY is set" in out and KEY not in out
    assert out.splitlines()[-1].startswith("0 errors")


def test_a_key_that_is_not_set_is_no_error(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    assert main(["doctor", "--format", "json"]) == 0
    assert told(capsys)["key of anthropic"]["state"] == "note"


@pytest.mark.parametrize(("release", "state"), [((3, 45, 0), "warning"), ((3, 51, 3), "ok"), ((3, 52, 0), "ok")])
def test_an_sqlite_that_two_writers_can_corrupt_is_a_warning(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    release: tuple[int, ...],
    state: str,
) -> None:
    monkeypatch.setattr(machine.sqlite3, "sqlite_version_info", release)
    assert main(["doctor", "--format", "json"]) == 0
    assert told(capsys)["sqlite"]["state"] == state


WRONG = {
    "settings": ("mcpe.local.toml", "providers = 3", "mcpe.local.toml"),
    "sandbox": ("mcpe.local.toml", '[sandbox]\nmode = "jail"', "sandbox"),
    "project": ("mcpe.toml", "spec = 1", "project"),
    "trust": ("state/trust.json", "{", "trust store"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_an_error_and_exit_code_1(folder: Path, capsys: pytest.CaptureFixture[str], case: str) -> None:
    path, text, name = WRONG[case]
    (folder / path).parent.mkdir(exist_ok=True)
    (folder / path).write_text(text)
    assert main(["doctor", "--format", "json"]) == 1
    assert told(capsys)[name]["state"] == "error"


def test_without_a_sandbox_it_says_what_to_install(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "bubblewrap", lambda: None)
    assert main(["doctor"]) == 0
    assert "[sandbox]" in capsys.readouterr().out
    monkeypatch.setenv("MCPE_SANDBOX", "bwrap")
    from mcpeval_dsl.execute import confinement

    confinement._chosen.cache_clear()
    assert main(["doctor", "--format", "json"]) == 1
    assert "not installed" in told(capsys)["sandbox"]["detail"]


def test_a_store_that_others_can_write_is_an_error(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = folder / "state/trust.json"
    store.parent.mkdir()
    store.write_text('{"format": "mcpe-trust/1", "trusted": {}}')
    store.chmod(0o622)
    assert main(["doctor", "--format", "json"]) == 1
    assert told(capsys)["trust store"]["state"] == "error"


def test_another_format_is_a_usage_error(folder: Path) -> None:
    assert main(["doctor", "--format", "yaml"]) == 2


def test_lists_of_hosts_that_cannot_be_kept_are_a_warning(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine.sandbox, "bubblewrap", lambda: "true")
    monkeypatch.setattr(machine.sandbox, "tried", lambda *arguments: None)
    for reason, state in ((None, "ok"), ("`nsenter` (util-linux) is not installed", "warning")):
        monkeypatch.setattr(machine.spaces, "unfiltered", lambda program, said=reason: said)
        assert main(["doctor", "--format", "json"]) == 0
        found = told(capsys)["lists of hosts"]
        assert found["state"] == state and (reason is None or reason in found["detail"])


def test_a_folder_without_specs_is_told_how_to_begin(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--format", "json"]) == 0
    found = told(capsys)
    assert found["specs"]["state"] == "note" and "mcpe init" in found["specs"]["hint"]
    assert found["mcpe"]["state"] == found["editor"]["state"] == "ok"


def test_specs_locks_and_trust_of_a_project(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init"]) == 0
    capsys.readouterr()
    assert main(["doctor", "--format", "json"]) == 0
    found = told(capsys)
    assert found["project"]["detail"].endswith("as mcpe.toml says")
    assert (found["specs"]["state"], found["specs"]["detail"]) == ("ok", "1 spec, none with an error")
    assert found["locks"]["state"] == "warning" and "0 of 1 server locked" in found["locks"]["detail"]
    assert found["trust"]["state"] == "warning" and "0 of 1 command line " in found["trust"]["detail"]

    assert main(["trust", "--yes"]) == 0 and main(["lock"]) == 0
    capsys.readouterr()
    assert main(["doctor", "--format", "json"]) == 0
    found = told(capsys)
    assert found["locks"]["state"] == found["trust"]["state"] == "ok"


def test_broken_specs_and_locks_are_errors(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init"]) == 0
    (folder / "specs/notes/mcpe.lock").write_text("{")
    (folder / "specs/notes/bad.mcpe").write_text("suite bad { trialz 3 }")
    capsys.readouterr()
    assert main(["doctor", "--format", "json"]) == 1
    found = told(capsys)
    assert found["specs"]["state"] == "error" and "mcpe lint" in found["specs"]["hint"]
    assert found["locks"]["state"] == "error" and "ends too early" in found["locks"]["detail"]


def test_without_the_language_server_it_says_what_to_install(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from mcpeval_dsl.cli import doctoring

    def none(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(doctoring, "version", none)
    assert main(["doctor", "--format", "json"]) == 0
    assert "[lsp]" in told(capsys)["editor"]["hint"]
