"""`mcpe compile` and `mcpe graph`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mcpeval_dsl.plan import files

from .projects import SPEC, Workplace, workplace

__all__ = ["workplace"]


def test_compile_writes_the_plan_and_says_what_a_run_would_cost(workplace: Workplace) -> None:
    workplace.spec()
    ended = workplace.run("compile")
    assert ended.code == 0, ended
    assert "tasks     2 (1 held-out task left out)" in ended.out
    assert "trials    6" in ended.out and "calls     at most 48" in ended.out
    assert "cost      at most $0.00 (scripted)" in ended.out
    assert "longest   connect:notes → harvest:newest → name_it@canned" in ended.out
    plans = files.read((workplace.root / ".mcpe/plan.json").read_bytes()).value
    assert plans is not None and plans.plans[0].suite.name == "notes"
    assert [f.path for f in plans.plans[0].fixtures] == ["specs/fixtures/notes.txt", "specs/scripts/canned.yaml"]


def test_same_bytes_from_any_folder_of_the_project(workplace: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = workplace.spec()
    workplace.run("compile")
    monkeypatch.chdir(spec.parent)
    assert workplace.run("compile", "notes.mcpe", "-o", "here.json").code == 0
    assert (spec.parent / "here.json").read_bytes() == (workplace.root / ".mcpe/plan.json").read_bytes()


def test_formatting_and_order_change_the_text_and_no_key(workplace: Workplace) -> None:
    spec = workplace.spec()

    def keys() -> dict[str, str]:
        workplace.run("compile")
        plans = files.read((workplace.root / ".mcpe/plan.json").read_bytes()).value
        assert plans is not None
        return {n.id: n.key for n in plans.plans[0].nodes} | {"": plans.plans[0].key}

    before = keys()
    head, *tasks = SPEC.split("\ntask ")
    moved = head + "".join(f"\n# a comment\ntask   {t}" for t in tasks).replace("  prompt ", "      prompt    ")
    spec.write_text(moved)
    assert keys() == before
    reordered = head + "".join(f"\ntask {t}\n" for t in reversed(tasks))
    spec.write_text(reordered)
    assert {k: v for k, v in keys().items() if k} == {k: v for k, v in before.items() if k}
    (spec.parent / "fixtures/notes.txt").write_text("two\n")
    changed = keys()
    assert changed["name_it@canned"] != before["name_it@canned"]
    assert changed["connect:notes"] == before["connect:notes"]


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("--select", "nam_it"), "did you mean `name_it`?"),
        (("--select", "name_it,tag:abstain"), "nothing of suite `notes` is selected"),
        (("--exclude", "tag:red"), "did you mean `tag:read`?"),
        (("--select", "kept_back"), "add `--heldout`"),
        (("specs/nots.mcpe",), "did you mean `specs/notes.mcpe`?"),
        (("empty",), "there is no spec in empty"),
        (("--format", "yaml"), "--format is text or json"),
        (("-o", "specs/notes.mcpe/x.json"), "cannot be written"),
    ],
)
def test_wrong_arguments_end_with_2(workplace: Workplace, arguments: tuple[str, ...], what: str) -> None:
    workplace.spec()
    (workplace.root / "empty").mkdir()
    ended = workplace.run("compile", *arguments)
    assert ended.code == 2 and what in ended.err + ended.out, ended
    assert not (workplace.root / ".mcpe").exists()


def test_suite_without_tasks_ends_with_2(workplace: Workplace) -> None:
    workplace.spec(text=SPEC.split("\ntask ")[0])
    assert workplace.run("compile").code == 2


def test_harvest_cycle_of_three_shows_the_path_and_three_places(workplace: Workplace) -> None:
    circle = "".join(
        f"harvest {a} = notes.get_note(id: {b}.id) {{ id = $.id }}\n" for a, b in (("a", "b"), ("b", "c"), ("c", "a"))
    )
    workplace.spec(text=SPEC.replace("contains newest.id", "contains newest.id, a.id") + circle)
    ended = workplace.run("compile")
    assert ended.code == 2
    lines = SPEC.count("\n")
    assert all(f"specs/notes.mcpe:{lines + n}:" in ended.err or f"\n{lines + n} |" in ended.err for n in (1, 2, 3)), (
        ended
    )
    assert ended.err.count("error[") == 1 and "a → b → c → a" in ended.err


def test_several_suites_give_one_plan_each_and_a_name_may_be_known_in_one(workplace: Workplace) -> None:
    workplace.spec()
    workplace.spec("specs/more/other.mcpe", SPEC.replace("suite notes", "suite other").replace("name_it", "say_it"))
    assert workplace.run("compile").out.count("suite ") == 2
    ended = workplace.run("compile", "--select", "say_it")
    assert ended.code == 0 and "suite other" in ended.out and "suite notes" not in ended.out
    ended = workplace.run("compile", "--select", "sai_it")
    assert ended.code == 2 and "did you mean `say_it`?" in ended.err + ended.out


def test_json_is_lines_whose_first_names_the_version(workplace: Workplace) -> None:
    workplace.spec()
    lines = [json.loads(line) for line in workplace.run("compile", "--format", "json").out.splitlines()]
    assert [line["type"] for line in lines] == ["version", "suite", "plan"]
    assert lines[1]["counts"]["trials"] == 6 and lines[1]["ceilings"]["calls"]["value"] == 48


def test_plan_on_standard_output_is_alone_there(workplace: Workplace) -> None:
    workplace.spec()
    program = [sys.executable, "-m", "mcpeval_dsl.cli.main", "compile", "-o", "-"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(program, cwd=workplace.root, env=environment, capture_output=True, check=True)
    assert files.read(done.stdout).ok


def test_spec_with_errors_writes_no_plan(workplace: Workplace) -> None:
    workplace.spec(text=SPEC.replace("contains newest.id", "contians newest.id"))
    ended = workplace.run("compile")
    assert ended.code == 2 and "contains" in ended.err and not (workplace.root / ".mcpe").exists()


AUDITED = """
import sys
seen = []
STARTS = ("subprocess.Popen", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system", "pty.spawn")
def hook(event, arguments):
    if event in STARTS or event.startswith("socket."):
        seen.append((event, repr(arguments)[:200]))
sys.addaudithook(hook)
from mcpeval_dsl.cli.main import main
code = main(sys.argv[1:])
sys.stderr.write(repr(seen))
sys.exit(code or (9 if seen else 0))
"""


@pytest.mark.parametrize("arguments", [("compile",), ("graph",), ("graph", "--format", "dot")])
def test_reading_commands_start_and_connect_nothing(workplace: Workplace, arguments: tuple[str, ...]) -> None:
    workplace.spec()
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        [sys.executable, "-c", AUDITED, *arguments], cwd=workplace.root, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


HEAVY = ("mcp", "mcp_types", "anthropic", "litellm", "scipy", "numpy", "networkx", "httpx", "yaml", "rich.console")


def test_compile_imports_nothing_that_it_does_not_use(workplace: Workplace) -> None:
    # A script would be read, which takes YAML.
    workplace.spec(text=SPEC.replace('script "scripts/canned.yaml"', 'anthropic "claude-sonnet-4-5"'))
    program = (
        "import sys; from mcpeval_dsl.cli.main import main; main(['compile']); print(*sys.modules, file=sys.stderr)"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=workplace.root, env=environment, capture_output=True, text=True, check=True
    )
    assert "plan written" in done.stdout
    assert {name for name in HEAVY if name in done.stderr.split()} == set()


@pytest.mark.parametrize("form", ["text", "dot", "mermaid"])
def test_graph_of_a_spec_and_of_its_plan_are_the_same(workplace: Workplace, form: str) -> None:
    workplace.spec()
    workplace.run("compile")
    drawn = workplace.run("graph", "--format", form)
    assert drawn.code == 0 and "newest" in drawn.out
    assert workplace.run("graph", ".mcpe/plan.json", "--format", form).out == drawn.out


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("no.json",), "no.json cannot be read"),
        (("mcpe.json",), "is no plan file"),
        (("--format", "svg"), "--format is one of text, json, dot, mermaid"),
        (("mcpe.json", "--select", "x"), "a plan file is already selected"),
    ],
)
def test_graph_of_something_else_ends_with_2(workplace: Workplace, arguments: tuple[str, ...], what: str) -> None:
    workplace.spec()
    workplace.write("mcpe.json", "{}")
    ended = workplace.run("graph", *arguments)
    assert ended.code == 2 and what in ended.err
