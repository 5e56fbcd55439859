"""What ran in a trial's folder may leave links behind: nothing outside is written or read through them."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from mcpeval_dsl.execute import files
from mcpeval_dsl.execute.processes import Background
from mcpeval_dsl.semantics.expressions import CopyStep, Literal, LoadStep, ReadyStep, StartStep
from tests.execute.bench import Bench
from tests.execute.test_steps import Place, place, python
from tests.runs.test_versions import in_cells, in_git

__all__ = ["place"]


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A file of the user's."""
    file = tmp_path / "kept" / "file"
    file.parent.mkdir()
    file.write_text("precious")
    return file


def test_a_link_in_the_place_of_a_file_is_replaced(tmp_path: Path, kept: Path) -> None:
    (tmp_path / "own").symlink_to(kept)
    with os.fdopen(files.created(tmp_path, "own"), "w") as stream:
        stream.write("ours")
    assert kept.read_text() == "precious" and (tmp_path / "own").read_text() == "ours"


def test_a_link_in_the_place_of_a_folder_is_refused(tmp_path: Path, kept: Path) -> None:
    (tmp_path / "logs").symlink_to(kept.parent)
    with pytest.raises(OSError):
        files.created(tmp_path, "logs", "file")
    assert kept.read_text() == "precious"


def test_the_output_of_a_process_goes_through_no_link(place: Place, kept: Path) -> None:
    (place.folder.logs / "start-1.log").symlink_to(kept)
    place.perform(StartStep(python("print('hello')")))
    assert kept.read_text() == "precious"


def test_the_end_of_an_output_is_read_from_the_output(place: Place, kept: Path) -> None:
    log = place.folder.logs / "start-1.log"
    code = (
        f"import os; print('ours', flush=True); os.unlink({str(log)!r}); os.mkfifo({str(log)!r}); raise SystemExit(3)"
    )
    said = place.fails(StartStep(python(code)), ReadyStep("exists", Literal("/nonexistent"), 20))
    assert said.endswith("was ready: ours\n")


@pytest.mark.parametrize("left", ["folder", "file"])
def test_a_copied_folder_lands_nowhere_else(place: Place, kept: Path, left: str) -> None:
    (place.spec / "given/kept").mkdir(parents=True)
    (place.spec / "given/kept/file").write_text("theirs")
    if left == "folder":
        place.work("kept").symlink_to(kept.parent)
    else:
        place.work("kept").mkdir()
        place.work("kept/file").symlink_to(kept)
    said = place.fails(CopyStep(Literal("given"), Literal(".")))
    assert "outside the trial's own folder" in said
    assert kept.read_text() == "precious"


@pytest.mark.parametrize("line", ["attach '{}' as other", "attach '{}' || '' as other", "vacuum into '{}'"])
def test_a_script_of_a_database_makes_no_other(place: Place, tmp_path: Path, line: str) -> None:
    other = tmp_path / "other.db"
    (place.spec / "make.sql").write_text(line.format(other) + "; create table other.t (n)")
    said = place.fails(LoadStep(Literal("make.sql"), Literal("own.db")))
    assert "could not be loaded" in said and not other.exists()


def test_a_script_of_a_database_may_tidy_up(place: Place) -> None:
    (place.spec / "make.sql").write_text("create table t (n); vacuum; attach ':memory:' as m; detach m")
    place.perform(LoadStep(Literal("make.sql"), Literal("own.db")))
    assert place.work("own.db").stat().st_size > 0


def test_a_script_without_an_end_is_stopped(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LOAD_SECONDS", 0.2)
    (place.spec / "make.sql").write_text(
        "create table t as with recursive c(n) as (select 1 union all select n + 1 from c) select max(n) from c"
    )
    assert "took longer than 0.2 s" in place.fails(LoadStep(Literal("make.sql"), Literal("own.db")))


@pytest.mark.parametrize("target", ["127.0.0.1:99999", "127.0.0.1:123456789012345678901"])
def test_a_port_that_cannot_be_is_not_ready(place: Place, target: str) -> None:
    assert "was not ready" in place.fails(ReadyStep("tcp", Literal(target), 0.1))


def test_what_speaks_no_http_is_not_ready(place: Place) -> None:
    serving = "import socket; s = socket.create_server(('127.0.0.1', {}))"
    code = f"{serving}\nwhile True: s.accept()[0].sendall(b'hello\\n\\n')"
    port = place.names.values["port"]["web"]
    said = place.fails(StartStep(python(code.format(port))), ReadyStep("http", Literal(f"http://127.0.0.1:{port}/"), 1))
    assert "was not ready" in said


def test_a_start_that_fails_leaves_no_descriptor_open(place: Place) -> None:
    def starts() -> None:
        log = files.created(place.folder.root, "logs", "x.log")
        with pytest.raises(OSError):
            asyncio.run(Background.start(["/nonexistent"], cwd=place.folder.work, env={}, log=log))

    starts()
    before = len(list(Path("/proc/self/fd").iterdir())) if sys.platform == "linux" else 0
    starts()
    assert before == (len(list(Path("/proc/self/fd").iterdir())) if sys.platform == "linux" else 0)


@pytest.mark.parametrize(
    ("line", "code"),
    [("ln -s KEPT ../done", 0), ("mkdir ../done", 3), ("mkfifo ../done", 0), ("printf '\\\\377' > ../done", 0)],
    ids=["link", "folder", "pipe", "no text"],
)
def test_the_mark_of_a_prepared_version_is_a_file_of_its_own(bench: Bench, kept: Path, line: str, code: int) -> None:
    in_git(bench, f'prepare {{ checkout "v1"; run "sh" "-c" "{line.replace("KEPT", str(kept))}" }}')
    in_cells(bench, code=code)
    assert kept.read_text() == "precious"
