"""`mcpe report`, `mcpe run --report` and `mcpe view --serve` over a run on disk."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest

from mcpeval_dsl.cli import reporting, scoring
from mcpeval_dsl.cli.main import main
from mcpeval_dsl.cli.serving import Server, Watched
from mcpeval_dsl.cli.stored import read_run
from mcpeval_dsl.plan import files
from mcpeval_dsl.records.store import create
from tests.records.samples import manifest
from tests.score.samples import plan, rule, run, task

NAME = "demo-20261130-100000-0001"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a run of two tasks, of which the second fails; its last trial is not there yet."""
    (tmp_path / "mcpe.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE"):
        monkeypatch.delenv(name, raising=False)
    made = plan([task("one"), task("two")], rules=[rule("task_success >= 60%", "task_success", ">=", 0.6)])
    found = tmp_path / ".mcpe" / "runs" / NAME
    store = create(found, files.write(made), manifest(files.write(made), run=NAME)).value
    assert store is not None
    with store:
        for record in run(made, {"two@m": "nn-"}):
            store.save_trial(record)
    return found


def add_the_last(folder: Path) -> None:
    data = (folder / "plan.json").read_bytes()
    made = files.read(data, "plan.json").value
    assert made is not None
    store = create(folder, data, manifest(data, run=NAME)).value
    assert store is not None
    with store:
        store.save_trial(run(made.plans[0], {"two@m": "--y", "one@m": "---"})[0])


@pytest.mark.parametrize(
    ("form", "begins"),
    [
        ("text", "demo: Demo (specs/demo.mcpe)"),
        ("markdown", "# ❔ NOT DECIDED · Demo"),
        ("json", '{\n "format": "mcpe-scorecard/1"'),
        ("junit", "<?xml version='1.0' encoding='utf-8'?>"),
        ("github", "::error file=specs/demo.mcpe,line=4,col=3,title=gate NOT DECIDED::"),
    ],
)
def test_it_prints(folder: Path, capsys: pytest.CaptureFixture[str], form: str, begins: str) -> None:
    assert main(["report", "--format", form]) == 0
    assert capsys.readouterr().out.startswith(begins)


def test_json_is_the_published_scorecard(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["score", "--no-grade"])
    capsys.readouterr()
    main(["report", "--format", "json"])
    assert capsys.readouterr().out.encode() == (folder / "scorecard.json").read_bytes()


def test_html_goes_into_the_folder_of_the_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", NAME, "--format", "html"]) == 0
    page = folder / "report.html"
    assert f"html report: {page}" in capsys.readouterr().err
    assert page.stat().st_mode & 0o077 == 0
    assert page.read_text().startswith("<!doctype html>")


def test_it_goes_where_o_says(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "--format", "html", "-o", "out.html"]) == 0
    assert (tmp_path / "out.html").read_text().startswith("<!doctype html>")
    assert main(["report", "--format", "html", "-o", "-"]) == 0
    assert capsys.readouterr().out.startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--format", "htm"], "did you mean `html`?"),
        (["--format", "html", "-o", "nowhere/x.html"], "cannot write nowhere/x.html: No such file or directory"),
        (["--format", "github", "-o", "nowhere/x.md"], "cannot write nowhere/x.md"),
        (["nothing"], "MCPE542"),
    ],
)
def test_what_cannot_be(folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    assert main(["report", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_a_step_summary_is_appended_to(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    step = tmp_path / "step.md"
    step.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(step))
    assert main(["report", "--format", "github"]) == 0
    assert step.read_text().startswith("before\n# ❔ NOT DECIDED")


def test_annotations_start_from_the_checkout(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path.parent))
    main(["report", "--format", "github"])
    assert f"file={tmp_path.name}/specs/demo.mcpe,line=4" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("word", "said"), [("pdf", "one of text, markdown"), ("html=a=b", None), ("jnuit=x", "did you mean `junit`?")]
)
def test_what_run_may_be_asked_to_report(word: str, said: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "nothing.json", "--report", word]) == 2
    assert said is None or said in capsys.readouterr().err


def test_a_damaged_record_is_in_no_report(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import sqlite3

    connection = sqlite3.connect(folder / "ledger.db")
    connection.execute("UPDATE trial SET data = x'00' WHERE id = 'two@m#2'")
    connection.commit()
    connection.close()
    assert main(["report", "--format", "html"]) == 74
    assert "MCPE543" in capsys.readouterr().err
    assert not (folder / "report.html").exists()


@pytest.fixture
def server(folder: Path) -> Iterator[Server]:
    found = read_run(folder.parents[2], folder)
    assert found is not None
    made = Server(Watched(found))
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield made
    finally:
        made.shutdown()
        thread.join()
        made.server_close()


def ask(
    server: Server, name: str = "", method: str = "GET", **headers: str
) -> tuple[int, bytes, http.client.HTTPMessage]:
    address = urlsplit(server.url)
    assert address.hostname == "127.0.0.1" and address.port is not None
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=10)
    path = name if name.startswith("/") else address.path + name
    connection.request(method, path, headers={key.replace("_", "-"): value for key, value in headers.items()})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, body, answer.headers


def test_it_serves_the_page_with_its_policy(server: Server) -> None:
    status, body, headers = ask(server)
    assert (status, body[:15]) == (200, b"<!doctype html>")
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"


def test_it_serves_a_trial(server: Server) -> None:
    status, body, _ = ask(server, f"trial?id={quote('two@m#2')}")
    assert (status, json.loads(body)["printed"]) == (200, "wrong_answer")
    assert ask(server, "trial?id=nobody")[0] == 404


@pytest.mark.parametrize(
    ("name", "headers", "status"),
    [
        ("", {"Host": "rebound.example"}, 403),
        ("", {"Host": "127.0.0.1"}, 403),
        ("data", {"Sec_Fetch_Site": "cross-site"}, 403),
        ("data", {"Sec_Fetch_Site": "same-site"}, 403),
        ("/", {}, 404),
        ("/guessed/", {}, 404),
        ("/%2e%2e/data", {}, 404),
        ("other", {}, 404),
        ("/?%00=%ff", {}, 404),
    ],
)
def test_others_are_kept_out(server: Server, name: str, headers: dict[str, str], status: int) -> None:
    answered, body, _ = ask(server, name, **headers)
    assert answered == status and b"demo" not in body


def test_an_address_that_is_none_is_answered_too(server: Server) -> None:
    port = server.server_address[1]
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(f"GET http://[broken HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        assert connection.recv(1000).startswith(b"HTTP/1.1 404 ")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_it_only_reads(server: Server, method: str) -> None:
    assert ask(server, "data", method)[0] == 501


def test_it_follows_a_run_that_goes_on(server: Server, folder: Path) -> None:
    first = json.loads(ask(server, "state")[1])["version"]
    assert json.loads(ask(server, "data")[1])["card"]["recorded"] == 5
    add_the_last(folder)
    server.watched._took = 0.0
    assert json.loads(ask(server, "state")[1])["version"] > first
    assert json.loads(ask(server, "data")[1])["card"]["recorded"] == 6


def test_the_command_serves_until_it_is_interrupted(folder: Path) -> None:
    command = [sys.executable, "-m", "mcpeval_dsl.cli.main", "view", "--serve"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        try:
            with urllib.request.urlopen(f"{address}data", timeout=10) as answer:
                assert json.load(answer)["run"] == NAME
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0


def test_annotations_keep_out_of_json_lines(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = read_run(folder.parents[2], folder)
    assert found is not None
    scoring.show_scored(found, {}, "json", reports=reporting.wanted(["github=summary.md"]))
    shown = capsys.readouterr()
    assert [json.loads(line)["type"] for line in shown.out.splitlines()[1:]] == ["scorecard", "timings"]
    assert shown.err.startswith("::error ")


def test_one_trial_cannot_be_served_as_the_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["view", NAME, "two@m#2", "--serve"]) == 2
    assert "--serve shows the whole run" in capsys.readouterr().err
