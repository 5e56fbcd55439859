"""Each step of an environment on its own: what it leaves, and what it says when it cannot be done."""

from __future__ import annotations

import asyncio
import io
import os
import socket
import sqlite3
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import zstandard

from mcpeval_dsl.execute import folders
from mcpeval_dsl.execute.environ import minimal
from mcpeval_dsl.execute.names import Names
from mcpeval_dsl.execute.processes import sweep
from mcpeval_dsl.execute.steps import StepFailed, Workspace, ports_of
from mcpeval_dsl.semantics.expressions import (
    Command,
    Condition,
    CopyStep,
    Entry,
    FileText,
    ForStep,
    ListOf,
    Literal,
    LoadStep,
    PortStep,
    ReadyStep,
    Ref,
    RenderStep,
    Requirement,
    ResetStep,
    RunStep,
    StartStep,
    Step,
    Template,
    UnpackStep,
    WriteStep,
)
from mcpeval_dsl.values.reading import LocalReader

PYTHON = Literal(sys.executable)


def text(words: str) -> Template | Literal:
    return Template(words, ()) if "{{" in words else Literal(words)


def python(code: str) -> tuple[Literal, ...]:
    return (PYTHON, Literal("-c"), Literal(code))


class Place:
    """A workspace with a spec's folder beside it."""

    def __init__(self, root: Path) -> None:
        self.spec = root / "spec"
        self.spec.mkdir()
        self.folder = folders.create(root, "trial")
        ports = ports_of([PortStep("web"), PortStep("other")])
        values = {"workdir": str(self.folder.work), "home": str(self.folder.home), "port": ports, "who": "Ada"}
        self.names = Names(values)

        async def no_calls(step: Any, scope: Any) -> Any:
            raise AssertionError("no server here")

        self.workspace = Workspace(
            self.folder,
            self.names,
            spec_folder=self.spec,
            project_root=root,
            variables=lambda: minimal(self.folder, {"GIVEN": "yes"}),
            reader=LocalReader(self.folder.work, root, env=minimal(self.folder, {})),
            call=no_calls,
        )

    def perform(self, *steps: Step, then: Callable[[], Any] | None = None) -> Any:
        """All steps; `then` is asked while background processes still live."""

        async def go() -> Any:
            try:
                await self.workspace.perform(steps)
                return then() if then is not None else None
            finally:
                await self.workspace.stop()

        return asyncio.run(go())

    def fails(self, *steps: Step) -> str:
        with pytest.raises(StepFailed) as caught:
            self.perform(*steps)
        return caught.value.reason

    def work(self, name: str) -> Path:
        return self.folder.work / name


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    found = Place(tmp_path)
    yield found
    folders.remove(found.folder.root)


def test_copy_takes_files_and_folders(place: Place) -> None:
    (place.spec / "tree/inner").mkdir(parents=True)
    (place.spec / "tree/inner/a.txt").write_text("a")
    (place.spec / "one.txt").write_text("one")
    place.perform(
        CopyStep(text("one.txt"), None),
        CopyStep(text("one.txt"), text("{{ workdir }}/deep/er/two.txt")),
        CopyStep(text("tree"), text("tree")),
    )
    assert [place.work(name).read_text() for name in ("one.txt", "deep/er/two.txt", "tree/inner/a.txt")] == [
        "one",
        "one",
        "a",
    ]


def test_copied_links_do_not_lead_out(place: Place) -> None:
    (place.spec / "tree").mkdir()
    (place.spec / "secret.txt").write_text("original")
    (place.spec / "tree/link.txt").symlink_to(place.spec / "secret.txt")
    place.perform(CopyStep(text("tree"), text("tree")), WriteStep(text("tree/link.txt"), text("changed")))
    assert (place.spec / "secret.txt").read_text() == "original"


@pytest.mark.parametrize("target", ["../../out.txt", "/etc/mcpe-out.txt", "link/out.txt"])
def test_nothing_is_written_outside_the_trials_folder(place: Place, tmp_path: Path, target: str) -> None:
    place.work("link").symlink_to(tmp_path)
    assert "outside the trial's own folder" in place.fails(WriteStep(text(target), text("x")))
    assert not (tmp_path / "out.txt").exists()


@pytest.mark.parametrize("kind", ["tar", "tar.gz", "tar.zst", "zip"])
def test_unpack(place: Place, kind: str) -> None:
    _archive(place.spec / f"a.{kind}", kind, {"docs/read.txt": b"words"})
    place.perform(UnpackStep(text(f"a.{kind}"), text("{{ workdir }}/out")))
    assert place.work("out/docs/read.txt").read_text() == "words"


@pytest.mark.parametrize("kind", ["tar", "tar.zst", "zip"])
def test_an_archive_that_would_leave_its_folder_is_refused(place: Place, kind: str) -> None:
    _archive(place.spec / f"a.{kind}", kind, {"../../../escaped.txt": b"out"})
    assert place.fails(UnpackStep(text(f"a.{kind}"), text("{{ workdir }}/out")))
    assert not list(place.folder.root.parent.rglob("escaped.txt"))


@pytest.mark.parametrize("kind", ["tar", "tar.gz", "tar.zst", "zip", "tar.xz"])
@pytest.mark.parametrize("damage", ["cut", "noise"])
def test_a_damaged_archive_is_a_sentence(place: Place, kind: str, damage: str) -> None:
    path = place.spec / f"a.{kind}"
    _archive(path, kind, {"a.txt": os.urandom(50_000)})
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] if damage == "cut" else b"no archive at all")
    assert place.fails(UnpackStep(text(path.name), text("out")))


def _archive(path: Path, kind: str, files: dict[str, bytes]) -> None:
    if kind == "zip":
        with zipfile.ZipFile(path, "w") as packed:
            for name, data in files.items():
                packed.writestr(name, data)
        return
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode={"tar.gz": "w:gz", "tar.xz": "w:xz"}.get(kind, "w")) as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    data = plain.getvalue()
    path.write_bytes(zstandard.ZstdCompressor().compress(data) if kind == "tar.zst" else data)


def test_write_and_render_use_the_names_of_the_trial(place: Place) -> None:
    (place.spec / "config.tmpl").write_text("for {{ who }} on {{ number }}")
    place.perform(
        WriteStep(text("{{ workdir }}/hello.txt"), text("Hello {{ who }}")),
        RenderStep(text("config.tmpl"), text("config"), (Entry("number", Ref(("port", "web"))),)),
    )
    assert place.work("hello.txt").read_text() == "Hello Ada"
    assert place.work("config").read_text() == f"for Ada on {place.names.values['port']['web']}"


def test_a_name_without_a_value_is_a_sentence(place: Place) -> None:
    assert "nobody" in place.fails(WriteStep(text("a"), text("Hello {{ nobody }}")))


def test_load_makes_a_real_database(place: Place) -> None:
    (place.spec / "shop.sql").write_text("create table items (name); insert into items values ('lamp'), ('vase');")
    place.perform(LoadStep(text("shop.sql"), text("{{ workdir }}/shop.db")))
    with sqlite3.connect(place.work("shop.db")) as connection:
        assert connection.execute("select count(*) from items").fetchone() == (2,)
    connection.close()


def test_load_says_what_is_wrong_with_the_script(place: Place) -> None:
    (place.spec / "bad.sql").write_text("create tabel items (name);")
    assert "tabel" in place.fails(LoadStep(text("bad.sql"), text("a.db")))


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (CopyStep(text("absent.txt"), None), "absent.txt"),
        (LoadStep(text("absent.sql"), text("a.db")), "absent.sql"),
        (RunStep(python("import sys; sys.exit('no good')")), "exit code 1: no good"),
        (RunStep((Literal("mcpe-no-such-program"),)), "cannot be started"),
        (RunStep(python("import time; time.sleep(60)"), timeout=0.2), "took longer than 0.2 s"),
        (StartStep((Literal("mcpe-no-such-program"),)), "could not be started"),
        (ReadyStep("exists", text("{{ workdir }}/never"), 0.1), "not ready within 0.1 s"),
        (ReadyStep("tcp", text("no-port"), 0.1), "names no port"),
        (ForStep("x", Literal("text"), None, None, ()), "needs a list"),
        (ResetStep(FileText(Literal("absent"))), "the reset failed"),
    ],
)
def test_a_step_that_cannot_be_done_says_why(place: Place, step: Step, words: str) -> None:
    assert words in place.fails(step)


def test_run_has_the_trials_variables_and_folder(place: Place) -> None:
    code = "import os, json; json.dump([os.getcwd(), dict(os.environ)], open('seen.json', 'w'))"
    place.perform(RunStep(python(code)))
    seen = place.work("seen.json").read_text()
    assert str(place.folder.work) in seen and '"GIVEN": "yes"' in seen and str(place.folder.home) in seen
    assert "PYTEST_CURRENT_TEST" not in seen


def test_a_file_beside_the_spec_is_found_from_the_trials_folder(place: Place) -> None:
    (place.spec / "make.py").write_text("open('made.txt', 'w').write('by the script')")
    place.perform(RunStep((Literal("python3"), Literal("make.py"))))
    assert place.work("made.txt").read_text() == "by the script"


def test_what_a_timed_out_command_started_ends_with_it(place: Place) -> None:
    code = "import subprocess, time; subprocess.Popen(['sleep', '300']); time.sleep(60)"
    place.fails(RunStep(python(code), timeout=0.5))
    assert sweep(str(place.folder.temporary)) == 0


def test_start_stays_until_the_trial_ends(place: Place) -> None:
    port = place.names.values["port"]["web"]
    answered = place.perform(
        StartStep(
            python(
                f"import http.server as h; h.HTTPServer(('127.0.0.1', {port}), h.BaseHTTPRequestHandler).serve_forever()"
            )
        ),
        ReadyStep("tcp", text("127.0.0.1:{{ port.web }}"), 20),
        ReadyStep("tcp", text(f"127.0.0.1:{port}"), 20),
        then=lambda: _listens(port),
    )
    assert answered
    assert not _listens(port)
    assert sweep(str(place.folder.temporary)) == 0


def test_ready_http_waits_for_an_answer(place: Place) -> None:
    place.names.values["code"] = 0
    server = """
import http.server, sys, time
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(204); self.end_headers()
    def log_message(self, *_): pass
time.sleep(0.3)
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Answer).serve_forever()
"""
    place.perform(
        StartStep((*python(server), text("{{ port.web }}"))),
        ReadyStep("http", text("http://127.0.0.1:{{ port.web }}/health"), 20),
    )


def test_one_that_dies_before_it_is_ready_is_not_waited_for(place: Place) -> None:
    reason = place.fails(
        StartStep(python("import sys; sys.exit('no configuration')")),
        ReadyStep("tcp", text("127.0.0.1:{{ port.web }}"), 600),
    )
    assert "exit code 1" in reason and "no configuration" in reason


def test_ports_differ_and_are_free(place: Place) -> None:
    ports = place.names.values["port"]
    assert ports["web"] != ports["other"]
    with socket.socket() as free:
        free.bind(("127.0.0.1", ports["other"]))


def test_for_goes_through_a_list_within_its_limit(place: Place) -> None:
    rows = ListOf(tuple(Literal(name) for name in ("a", "b", "c", "d")))
    other = Condition(Ref(("row",)), "!=", Literal("b"))
    place.perform(ForStep("row", rows, other, 2, (WriteStep(text("{{ row }}.txt"), text("{{ row }}")),)))
    assert sorted(path.name for path in place.folder.work.iterdir()) == ["a.txt", "c.txt"]
    assert "row" not in place.names.values


@pytest.mark.parametrize(("code", "accepted"), [("0", True), ("3", False)])
def test_reset_is_accepted_by_what_it_requires(place: Place, code: str, accepted: bool) -> None:
    required = Requirement(Condition(Ref(("exit",)), "==", Literal(0)))
    step = ResetStep(Command(python(f"import sys; sys.exit({code})")), (required,))
    if accepted:
        place.perform(step)
    else:
        assert "not accepted" in place.fails(step)


def test_the_failing_step_knows_its_place(place: Place) -> None:
    steps: Sequence[Step] = (
        WriteStep(text("a"), text("a")),
        CopyStep(text("absent"), None),
        WriteStep(text("b"), text("b")),
    )
    place.fails(*steps)
    assert place.work("a").exists() and not place.work("b").exists()


def test_a_folder_of_an_earlier_attempt_goes_with_its_processes(place: Place, tmp_path: Path) -> None:
    asyncio.run(_left(place))
    again = folders.create(tmp_path, "trial")
    assert again.root == place.folder.root
    assert list(again.work.iterdir()) == []
    assert sweep(str(again.temporary)) == 0


async def _left(place: Place) -> None:
    """A background process that nobody ended, as after a kill of the runner."""
    variables = minimal(place.folder, {})
    await asyncio.create_subprocess_exec("sh", "-c", "setsid sleep 300 & exit 0", env=variables)
    await asyncio.sleep(0.2)
    place.work("old").write_text("x")


def test_read_only_folders_are_removed(place: Place) -> None:
    place.work("locked/inner").mkdir(parents=True)
    place.work("locked/inner/a.txt").write_text("a")
    place.work("locked/inner").chmod(0o500)
    place.work("locked").chmod(0o500)
    folders.remove(place.folder.root)
    assert not place.folder.root.exists()


def _listens(port: int) -> bool:
    with socket.socket() as sock:
        sock.settimeout(1)
        return sock.connect_ex(("127.0.0.1", port)) == 0
