"""What a trial starts sees its own trial and little else, and does not outlive the run, however that ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from mcpeval_dsl.execute import settings as operator
from mcpeval_dsl.gateway import landlock, sandbox, spaces
from mcpeval_dsl.gateway.sandbox import Sandbox, SandboxUnavailable, choose
from mcpeval_dsl.records.folder import runs
from tests.execute.bench import Bench, outcome

KINDS = ["none", *([choose().kind] if choose().kind != "none" else []), *(["landlock"] if landlock.abi() else [])]
CONFINED = KINDS[1:]
FULL = [kind for kind in KINDS if kind == "bwrap"]
DONE: list[dict[str, Any]] = [{"reply": "done"}]
HANGING = """environment desk { copy "things.json" to "{{ workdir }}/shelf.json"; start "sh" "-c" "setsid sleep 301 & sleep 302" }
task busy { prompt "x"; grade contains "done" }
"""


def confined(bench: Bench, kind: str) -> Bench:
    bench.variables = {"MCPE_SANDBOX": kind}
    return bench


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_outlives_a_run_that_is_killed(bench: Bench, kind: str) -> None:
    calls = [{"call": {"tool": "get_spawned", "arguments": {"session": True}}}, {"call": {"tool": "get_hang"}}, *DONE]
    confined(bench, kind).spec(HANGING, {"busy": calls})
    bench.trust()
    run = bench.start("run", "specs")
    try:
        wanted = {"sleep 300", "sleep 301", "sleep 302"}
        assert wanted <= bench.started(wanted)
        assert bench.left_by_killing(run) == []
    finally:
        run.kill()
        run.communicate()


@pytest.mark.parametrize("kind", CONFINED)
def test_only_the_trials_folder_is_writable(bench: Bench, tmp_path: Path, kind: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    body = f"""environment desk {{
  copy "things.json" to "{{{{ workdir }}}}/shelf.json"
  run "sh" "-c" "echo in > inside; echo out > {outside}/marker || echo refused > said; echo > /dev/null"
  run "sh" "-c" "echo home > $HOME/kept && echo tmp > $TMPDIR/kept"
}}
task one {{
  prompt "x"
  grade state file("{{{{ workdir }}}}/inside") has "in"
  grade state command("sh", "-c", "echo no > {outside}/second; cat inside") == "in"
  grade command "sh" "-c" "echo no > {outside}/third; test -f inside"
}}
"""
    confined(bench, kind).spec(body)
    assert bench.run().code == 0, bench.records["one#1"]
    assert outcome(bench.records["one#1"]) == "pass"
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("kind", FULL)
def test_what_is_none_of_its_business_is_hidden(bench: Bench, tmp_path: Path, kind: str) -> None:
    home = tmp_path / "home"
    for place in (".ssh/id", ".aws/credentials", ".config/app"):
        (home / place).parent.mkdir(parents=True, exist_ok=True)
        (home / place).write_text("private")
    (home / ".netrc").write_text("private")
    listing = f"ls -A {home}/.ssh {home}/.aws {home}/.config; cat {home}/.netrc; ls ../..; ls {bench.root}/.mcpe; ps -A -o comm"
    body = f"""environment desk {{
  copy "things.json" to "{{{{ workdir }}}}/shelf.json"
  run "sh" "-c" "({listing}) > seen 2>&1; echo private > /tmp/mcpe-own-view && cat /tmp/mcpe-own-view >> seen"
}}
task one {{ prompt "x"; grade state file("{{{{ workdir }}}}/seen") has "app" }}
task two {{ prompt "x"; grade state file("{{{{ workdir }}}}/seen") has "app" }}
"""
    confined(bench, kind).variables["HOME"] = str(home)
    bench.spec(body)
    bench.trust()
    done = bench.process("run", "specs", "--jobs", "2", "--keep")
    assert done.code == 0, done.err
    assert not Path("/tmp/mcpe-own-view").exists()
    for folder in (place / "seen" for place in bench.temporary.glob("mcpe-*/*/work")):
        seen = folder.read_text()
        assert not {"id", "credentials"} & set(seen.split()) and seen.count("private") == 1
        assert folder.parents[1].name in seen
        assert [each for each in folder.parents[2].iterdir() if each.name in seen] == [folder.parents[1]]
        assert "runs" not in seen and "mcpeval_dsl" not in seen


@pytest.mark.parametrize("kind", KINDS)
def test_the_record_the_manifest_and_the_scorecard_say_what_was_used(bench: Bench, kind: str) -> None:
    confined(bench, kind).spec('task one { prompt "x"; grade contains "done" }')
    done = bench.run()
    said = {"bwrap": "bwrap, no network", "landlock": "landlock, no TCP", "none": "none, network open"}[kind]
    phrase = {
        "bwrap": "in bubblewrap without network",
        "landlock": "under Landlock without TCP",
        "none": "without a sandbox",
    }
    assert f"  programs {phrase[kind]}\n" in done.out
    assert bench.records["one#1"].sandbox == said
    assert bench.reader.manifest().sandbox == ("none, network open" if kind == "none" else kind)
    assert json.loads(bench.scorecard)["sandbox"] == [said]
    assert bench.left_over() == [] and bench.processes() == []
    assert len(runs(bench.root)) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_how_a_server_died_is_told_through_the_sandbox(bench: Bench, kind: str) -> None:
    scripts = {"one": [{"call": {"tool": "get_killed"}}, *DONE]}
    confined(bench, kind).spec('task one { prompt "x"; grade contains "done" }', scripts)
    bench.run()
    error = bench.records["one#1"].calls[0].error
    assert error is not None and "signal 9" in error.message


def test_a_program_that_is_not_there_is_still_told(bench: Bench) -> None:
    head = """suite bench "Bench" { trials TRIALS; seed 11; defaults { environment desk } }
server shelf { stdio "no-such-program" }
model canned { script "canned.yaml" }
"""
    confined(bench, "auto").spec('task one { prompt "x"; grade contains "done" }', head=head)
    done = bench.run()
    assert done.code == 3
    assert "was not found" in done.out + done.err


@pytest.mark.parametrize("kind", KINDS)
def test_commands_and_background_processes_have_limits(bench: Bench, kind: str) -> None:
    said = "ulimit -c; ulimit -n; ulimit -f"
    body = f"""environment desk {{
  copy "things.json" to "{{{{ workdir }}}}/shelf.json"
  run "sh" "-c" "sleep 0.1; ({said}) > ran"
  start "sh" "-c" "sleep 0.3; ({said}) > started; sleep 60"
}}
task one {{
  prompt "x"
  grade state file("{{{{ workdir }}}}/ran") has "8192"
  grade state command("sh", "-c", "sleep 0.5; cat started") has "8192"
  grade command "sh" "-c" "sleep 0.1; test $(ulimit -c) = 0 && test $(ulimit -f) != unlimited"
}}
"""
    confined(bench, kind).spec(body)
    bench.run()
    assert [verdict.verdict for verdict in bench.records["one#1"].verdicts] == ["yes"] * 3


GRADERS = """import os, socket
from pathlib import Path


def confined(record):
    Path("OUTSIDE/marker").write_text("no")
    return True


def alone(record):
    return sorted(name for _, name in socket.if_nameindex()) == ["lo"], os.getcwd()


def there(record):
    return record["answer"]["text"] == "done" and Path("graders.py").exists() and Path("WORK").is_dir()
"""


@pytest.mark.parametrize("kind", FULL)
def test_functions_that_grade_are_confined_too(bench: Bench, tmp_path: Path, kind: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    bench.write("specs/graders.py", GRADERS.replace("OUTSIDE", str(outside)).replace("WORK", str(bench.root)))
    body = """task one {
  prompt "x"
  grade python "graders:confined"
  grade python "graders:alone"
  grade python "graders:there"
}
"""
    confined(bench, kind).spec(body)
    bench.run()
    said = bench.records["one#1"].verdicts
    assert [each.verdict for each in said] == ["yes"] * 3, said
    again = bench.mcpe("score", "--again")
    assert again.code == 0, again.err
    assert [each.verdict for each in bench.records["one#1"].verdicts] == ["yes"] * 3
    # What they wrote was in a view of their own.
    assert list(outside.iterdir()) == []


BAD_SETTINGS = {
    'sandbox = "on"': "is a table",
    '[sandbox]\nmod = "auto"': "unknown key `mod`",
    '[sandbox]\nmode = "docker"': "one of auto, bwrap, landlock, none",
    '[sandbox]\nnetwork = "off"': "true or false",
    "[sandbox]\nwritable = 3": "list of folders",
}


@pytest.mark.parametrize("text", BAD_SETTINGS)
def test_bad_settings_are_refused_with_a_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "mcpe.local.toml").write_text(text)
    with pytest.raises(ValueError, match=BAD_SETTINGS[text]):
        operator.load(tmp_path)


def test_a_variable_goes_before_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mcpe.local.toml").write_text('[sandbox]\nmode = "bwrap"\nwritable = ["data"]\n')
    monkeypatch.setenv("MCPE_SANDBOX", "none")
    found = operator.load(tmp_path).sandbox
    assert found.mode == "none" and found.writable == (str(tmp_path / "data"),)
    monkeypatch.setenv("MCPE_SANDBOX", "jail")
    with pytest.raises(ValueError, match="MCPE_SANDBOX"):
        operator.load(tmp_path)


def test_asking_for_what_is_not_there_is_refused_before_anything_starts(bench: Bench) -> None:
    confined(bench, "bwrap").spec('task one { prompt "x"; grade contains "done" }')
    bench.trust()
    with mock.patch.object(sandbox, "bubblewrap", return_value=None):
        from mcpeval_dsl.execute import confinement

        confinement._chosen.cache_clear()
        with pytest.raises(SandboxUnavailable, match="not installed"):
            choose("bwrap")
        done = bench.mcpe("run", "specs")
        confinement._chosen.cache_clear()
        assert done.code == 2 and "MCPE507" in done.err and "mcpe doctor" in done.err
        assert choose("auto") == Sandbox()


def test_this_machine_can_show_what_is_confined() -> None:
    """Where it cannot, the tests above have nothing to try: that is a gap of the machine's, and no success."""
    offered = sandbox.choose()
    assert offered.kind == "bwrap", f"{offered.kind}: install bubblewrap and permit user namespaces (mcpe doctor)"
    program = sandbox.bubblewrap()
    assert program is not None
    assert spaces.unfiltered(program) is None, "lists of hosts cannot be kept here (mcpe doctor)"
    assert landlock.abi() > 0, "this kernel has no Landlock"
