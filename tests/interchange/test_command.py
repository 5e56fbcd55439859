"""`mcpe import` as a user meets it: what it writes, what it refuses, and that it starts and reaches nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mcpeval_dsl.cli import exits, import_
from mcpeval_dsl.cli.main import main
from mcpeval_dsl.interchange.importing import formats

CASES = Path(__file__).parent / "cases"
XML = "<evaluation><qa_pair><question>How many?</question><answer>3</answer></qa_pair></evaluation>"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "mcpe.toml").write_text('specs = ["evals"]\n')
    (tmp_path / "evaluation.xml").write_text(XML)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_writes_a_spec_and_a_report_into_the_specs_of_the_project(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", "evaluation.xml"]) == exits.CLEAN
    said = capsys.readouterr()
    assert sorted(path.name for path in (project / "evals").iterdir()) == ["evaluation.import.txt", "evaluation.mcpe"]
    assert "read as mcp-builder evaluation.xml" in said.out and "runnable  1 of 1" in said.out and said.err == ""
    assert (project / "evals" / "evaluation.import.txt").read_text() in said.out
    assert said.out.endswith(" && mcpe lock evals/evaluation.mcpe && mcpe run evals/evaluation.mcpe\n")
    assert main(["compile"]) == exits.CLEAN
    assert main(["fmt", "--check"]) == exits.CLEAN


def test_help_names_every_format() -> None:
    assert sorted(import_.FORMATS.replace(" or ", ", ").split(", ")) == sorted(formats())


def test_json_is_lines_of_objects(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "evaluation.xml", "--format", "json"]) == exits.CLEAN
    version, first, *rest = map(json.loads, capsys.readouterr().out.splitlines())
    assert version["schema"] == "mcpe-import/1"
    assert first["type"] == "import" and first["share"] == 1.0 and first["spec"] == "evals/evaluation.mcpe"
    assert {"type": "kept", "path": "evaluation.xml", "line": 1, "task": "how_many"}.items() <= next(
        line for line in rest if line["type"] == "kept"
    ).items()


def test_json_of_a_refusal_is_one_diagnostic_behind_the_version(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", "gone.xml", "--format", "json"]) == exits.SPEC
    shown = capsys.readouterr()
    lines = [json.loads(line) for line in shown.out.splitlines()]
    assert [line["type"] for line in lines] == ["version", "diagnostic"] and not shown.err


@pytest.mark.parametrize(
    ("told", "written"),
    [
        ("python3 tools/server.py --port 7", 'stdio "python3" "../tools/server.py" "--port" "7"'),
        ("./tools/server.py", 'stdio "../tools/server.py"'),
        ("python3 gone.py", 'stdio "python3" "gone.py"'),
        ("tools --quiet", 'stdio "tools" "--quiet"'),  # a program on PATH, though a folder has its name
        ("node bridge.js https://mcp.example.org", 'stdio "node" "bridge.js" "https://mcp.example.org"'),
    ],
)
def test_files_of_the_server_are_named_from_where_the_spec_is(project: Path, told: str, written: str) -> None:
    (project / "tools").mkdir()
    (project / "tools" / "server.py").write_text("")
    assert main(["import", "evaluation.xml", "--server", told]) == exits.CLEAN
    assert f"  {written}\n" in (project / "evals" / "evaluation.mcpe").read_text()


def test_xml_may_stand_in_a_fence_with_words_around_it(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "told.xml").write_text(f"Here it is:\n```xml\n{XML}\n```\nAsk if there is more.\n")
    assert main(["import", "told.xml"]) == exits.CLEAN
    said = capsys.readouterr().out
    assert "runnable  1 of 1" in said
    assert "told.xml:1  “Here it is:” stands outside of every element and is left out" in said
    (project / "told.xml").write_text("Nothing < to ask.\n")
    assert main(["import", "told.xml", "--force"]) == exits.SPEC
    assert "it begins with no element" in capsys.readouterr().err


def test_it_writes_over_nothing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["import", "evaluation.xml"])
    spec = project / "evals" / "evaluation.mcpe"
    spec.write_text("mine")
    assert main(["import", "evaluation.xml"]) == exits.SPEC
    assert "MCPE603" in capsys.readouterr().err and spec.read_text() == "mine"
    assert main(["import", "evaluation.xml", "--force"]) == exits.CLEAN
    assert spec.read_text().startswith("# Imported from")


def test_nothing_is_half_written(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "evals").mkdir()
    (project / "evals" / "evaluation.import.txt").mkdir()
    assert main(["import", "evaluation.xml", "--force"]) == exits.SPEC
    assert "Traceback" not in capsys.readouterr().err
    assert [path.name for path in (project / "evals").iterdir()] == ["evaluation.import.txt"]


def test_what_the_spec_needs_is_put_beside_it(project: Path) -> None:
    assert main(["import", str(CASES / "checker" / "eval.yaml"), "-o", "out"]) == exits.CLEAN
    written = {str(path.relative_to(project / "out")) for path in (project / "out").rglob("*") if path.is_file()}
    assert {
        "eval.mcpe",
        "eval.import.txt",
        "eval_files/find-lamp/setup.sh",
        "eval_files/find-lamp/step_1.sh",
    } == written
    assert main(["lint", "out/eval.mcpe"]) == exits.CLEAN


def test_a_folder_of_tasks_is_one_spec(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", str(CASES / "checker" / "tasks"), "-o", "out", "--server", "python shelf.py"]) == exits.CLEAN
    assert "2 of 2 carried over" in capsys.readouterr().out
    assert (project / "out" / "tasks_files" / "find-lamp" / "setup.sh").exists()
    assert main(["lint", "out/tasks.mcpe"]) == exits.CLEAN


def test_two_files_of_one_name_do_not_meet(project: Path) -> None:
    (project / "more").mkdir()
    (project / "more" / "evaluation.xml").write_text(XML)
    assert main(["import", "evaluation.xml", "more/evaluation.xml"]) == exits.CLEAN
    assert (project / "evals" / "evaluation.mcpe").exists() and (project / "evals" / "evaluation_2.mcpe").exists()


def test_one_bad_file_does_not_keep_the_others(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "nowhere.xml", "evaluation.xml"]) == exits.SPEC
    said = capsys.readouterr()
    assert "MCPE600" in said.err and "there is no such file" in said.err and "runnable  1 of 1" in said.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "which files to import"),
        (("evaluation.xml", "--from", "mcp-bilder"), "did you mean `mcp-builder`?"),
        (("evaluation.xml", "--format", "xml"), "text or json"),
        (("notes.json",), "MCPE601"),
        (("notes.json", "--from", "arbiter"), "MCPE602"),
        (("evaluation.xml", "--server", "a 'b"), "a quote is never closed"),
        (("evaluation.xml", "--server", "gone.json"), "there is no such file"),
        (("--transcript", "notes.json"), "MCPE604"),
        (("--transcript", "latest:task@cell#1"), "MCPE604"),
    ],
)
def test_what_cannot_be_done_is_told(
    arguments: tuple[str, ...], said: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "notes.json").write_text('{"a": 1}')
    assert main(["import", *arguments]) == exits.SPEC
    shown = capsys.readouterr()
    assert said in shown.err and "Traceback" not in shown.err
    assert not (project / "evals").exists()


def test_names_of_files_cannot_speak_to_the_terminal(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = "\x1b[31mred\x07.xml"
    (project / name).write_text(XML.replace("How many", "\x1b[2J how \x00 many"))
    main(["import", name])
    assert "\x1b" not in capsys.readouterr().out
    spec = next((project / "evals").glob("*.mcpe")).read_text()
    assert "\x1b" not in spec and "\x00" not in spec
    assert "\x1b" not in next((project / "evals").glob("*.txt")).read_text()


def test_the_name_of_a_file_stays_in_its_comment(project: Path) -> None:
    name = "a\nserver evil { stdio 'x' }\n#.xml"
    (project / name).write_text(XML)
    assert main(["import", name]) == exits.CLEAN
    spec = next((project / "evals").glob("*.mcpe")).read_text()
    assert not any(line.startswith("server evil") for line in spec.splitlines())


def test_references_of_a_source_lead_nowhere_outside_of_its_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret.sh").write_text("echo secret-of-mine\n")
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "link.sh").symlink_to(tmp_path / "secret.sh")
    steps = "\n".join(
        f"    - script: {{file: {name}}}" for name in ("../secret.sh", str(tmp_path / "secret.sh"), "link.sh")
    )
    task = f"kind: Task\nmetadata: {{name: a}}\nspec:\n  verify:\n{steps}\n  prompt: {{inline: Go.}}\n"
    (inner / "task.yaml").write_text(task)
    monkeypatch.chdir(inner)
    assert main(["import", "task.yaml", "-o", "out"]) == exits.CLEAN
    for path in (inner / "out").rglob("*"):
        assert not path.is_file() or "secret-of-mine" not in path.read_text()


def test_specs_outside_the_project_are_written_by_name_only(
    project: Path, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (project / "evals").symlink_to(outside)
    assert main(["import", "evaluation.xml"]) == exits.SPEC
    assert "say with -o" in capsys.readouterr().err and list(outside.iterdir()) == []
    assert main(["import", "evaluation.xml", "-o", "evals"]) == exits.CLEAN
    assert (outside / "evaluation.mcpe").is_file()


AUDITED = """
import sys
EVENTS = ("subprocess.", "os.exec", "os.posix_spawn", "os.fork", "os.system", "socket.", "pty.")
def hook(event, args):
    if event.startswith(EVENTS):
        sys.stderr.write(f"AUDIT {event} {args}\\n")
sys.addaudithook(hook)
from mcpeval_dsl.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def test_it_starts_nothing_and_connects_nowhere(project: Path) -> None:
    names = ("checker/eval.yaml", "promptfoo.yaml", "lastmile/datasets/shelf.yaml", "mcpvals.json", "session.jsonl")
    files = [str(CASES / name) for name in names]
    arguments = [
        "import",
        *files[:-1],
        "--transcript",
        files[-1],
        "--server",
        "python -c 'raise SystemExit'",
        "-o",
        "out",
    ]
    done = subprocess.run(
        [sys.executable, "-c", AUDITED, *arguments], cwd=project, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == exits.CLEAN, done.stderr
    assert "AUDIT" not in done.stderr
