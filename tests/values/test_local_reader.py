"""Reading from this machine: what comes back, what is refused, and that nothing is changed or left running."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from mcpeval_dsl.semantics.expressions import Http
from mcpeval_dsl.semantics.expressions import Literal as Text
from mcpeval_dsl.values.model import Reading, Scope
from mcpeval_dsl.values.reading import Limits, LocalReader
from mcpeval_dsl.values.subject import subject_of, value_of
from tests.values.shorthand import expression


@pytest.fixture
def reader(tmp_path: Path) -> LocalReader:
    (tmp_path / "work").mkdir()
    (tmp_path / "project").mkdir()
    limits = Limits(seconds=5, bytes=100_000, tree_bytes=100_000)
    return LocalReader(tmp_path / "work", tmp_path / "project", env={"PATH": "/usr/bin:/bin"}, limits=limits)


def read(reader: LocalReader, source: Any, **names: Any) -> Reading:
    made = source if isinstance(source, Http) else expression(source)
    return asyncio.run(reader.read(made, Scope({"workdir": str(reader.workdir), **names})))  # type: ignore[arg-type]


def test_a_file_is_its_text(reader: LocalReader) -> None:
    (reader.workdir / "a.txt").write_bytes(b"gr\xc3\xbc\xc3\x9fe \xff")
    assert read(reader, {"file": {"template": "{{ workdir }}/a.txt"}}).text == "grüße \ufffd"


def test_a_relative_path_is_looked_up_in_the_trial_and_then_in_the_project(reader: LocalReader) -> None:
    (reader.project / "a.txt").write_text("project")
    assert read(reader, {"file": "a.txt"}).text == "project"
    (reader.workdir / "a.txt").write_text("trial")
    assert read(reader, {"file": "a.txt"}).text == "trial"


@pytest.mark.parametrize(
    ("path", "error_class"), [("gone.txt", "absent"), (".", "absent"), ("big", "source"), ("a\0b", "source")]
)
def test_a_file_that_cannot_be_read(reader: LocalReader, path: str, error_class: str) -> None:
    (reader.workdir / "big").write_bytes(b"x" * 100_001)
    found = read(reader, {"file": path})
    assert found.error and found.error_class == error_class


def test_a_tree_is_digests_by_relative_path(reader: LocalReader) -> None:
    (reader.workdir / "d" / "in").mkdir(parents=True)
    (reader.workdir / "d" / "in" / "b").write_text("x")
    (reader.workdir / "d" / "a").write_text("x")
    (reader.workdir / "d" / "link").symlink_to("/etc")
    tree = subject_of(read(reader, {"files": "d"}))
    assert list(tree) == ["a", "in/b", "link"]
    assert tree["a"] == tree["in/b"] and tree["link"] == "link:/etc"
    assert read(reader, {"files": "nowhere"}).error_class == "absent"


def database(reader: LocalReader) -> Path:
    path = reader.workdir / "x.db"
    with sqlite3.connect(path) as connection:
        connection.execute("create table t (id integer, name text, data blob)")
        connection.executemany("insert into t values (?, ?, ?)", [(1, "a", b"\xff"), (2, "b", None)])
    connection.close()
    return path


def test_rows_are_objects_and_a_single_cell_is_a_value(reader: LocalReader) -> None:
    path = str(database(reader))
    rows = read(reader, {"sql": "select * from t order by id", "on": path})
    assert value_of(rows) == [{"id": 1, "name": "a", "data": "\ufffd"}, {"id": 2, "name": "b", "data": None}]
    assert value_of(read(reader, {"sql": "select count(*) as n from t", "on": path})) == 2
    assert value_of(read(reader, {"sql": "select id from t where id > 9", "on": path})) == []


@pytest.mark.parametrize(
    ("query", "error_class", "said"),
    [
        ("delete from t", "source", "readonly"),
        ("select * from gone", "absent", "no such table"),
        ("selec", "source", "syntax error"),
        ("select 1; drop table t", "source", "one statement"),
        ("select randomblob(200000)", "source", "more than 100000 bytes"),
    ],
)
def test_a_query_only_reads(reader: LocalReader, query: str, error_class: str, said: str) -> None:
    path = database(reader)
    found = read(reader, {"sql": query, "on": str(path)})
    assert found.error_class == error_class and said in str(found.error)
    assert value_of(read(reader, {"sql": "select count(*) from t", "on": str(path)})) == 2


def test_an_endless_query_is_stopped(reader: LocalReader) -> None:
    short = replace(reader, limits=Limits(seconds=0.2))
    endless = "with recursive c(n) as (select 1 union all select n + 1 from c) select max(n) from c"
    found = read(short, {"sql": endless, "on": str(database(reader))})
    assert found.error == "the query took too long" and found.error_class == "source"


def test_a_database_that_is_not_there_is_not_made(reader: LocalReader) -> None:
    assert read(reader, {"sql": "select 1", "on": "none.db"}).error_class == "absent"
    assert not (reader.workdir / "none.db").exists()


def test_a_command_gives_output_and_exit(reader: LocalReader) -> None:
    code = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    found = read(reader, {"command": [sys.executable, "-c", code]})
    assert (found.text, found.fields["exit"], found.fields["stderr"]) == ("out", 3, "err\n")
    assert value_of(found) == "out"


def test_a_command_sees_only_the_named_variables_and_no_shell(
    reader: LocalReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_TOKEN", "secret")
    code = "import os, sys; print(os.environ.get('API_TOKEN'), sys.argv[1])"
    assert read(reader, {"command": [sys.executable, "-c", code, "$(id); *"]}).text == "None $(id); *"


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["no-such-program-here"], "cannot be started"),
        ([sys.executable, "-c", "import time; time.sleep(60)"], "took longer than"),
        ([sys.executable, "-c", "print('x' * 200000)"], "wrote more than"),
    ],
)
def test_a_command_that_does_not_work(reader: LocalReader, argv: list[str], said: str) -> None:
    short = replace(reader, limits=Limits(seconds=1, bytes=100_000))
    found = read(short, {"command": argv})
    assert found.error_class == "source" and said in str(found.error)


class _Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(302 if self.path == "/away" else 404 if self.path == "/gone" else 200)
        if self.path == "/away":
            self.send_header("Location", "http://example.com/")
        self.send_header("X-Auth", self.headers.get("Authorization", "none"))
        self.end_headers()
        self.wfile.write(b'{"price": 12.5}' if self.path != "/big" else b"x" * 200_000)

    def log_message(self, format: str, *args: Any) -> None:
        return


@pytest.fixture
def site() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), _Answers)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_http_gives_body_status_and_headers(reader: LocalReader, site: str) -> None:
    found = read(reader, Http(Text("GET"), Text(f"{site}/x"), auth=Text("key")))
    assert value_of(found) == {"price": 12.5}
    assert (found.fields["status"], found.fields["headers"]["x-auth"]) == (200, "Bearer key")
    assert read(reader, Http(Text("GET"), Text(f"{site}/gone"))).fields["status"] == 404


def test_http_stays_where_it_was_sent(reader: LocalReader, site: str) -> None:
    assert read(reader, Http(Text("GET"), Text(f"{site}/away"))).fields["status"] == 302
    for url in (
        "http://example.com/",
        "http://10.0.0.1/",
        "file:///etc/passwd",
        "http://[",
        "http://127.0.0.1.example/",
    ):
        assert read(reader, Http(Text("GET"), Text(url))).error_class == "source"
    assert "more than" in str(read(reader, Http(Text("GET"), Text(f"{site}/big"))).error)


def test_http_that_does_not_answer(reader: LocalReader, site: str) -> None:
    assert "does not answer" in str(read(reader, Http(Text("GET"), Text("http://127.0.0.1:9/"))).error)


def test_tool_calls_and_resources_go_through_what_is_handed_in(reader: LocalReader) -> None:
    seen: list[Any] = []

    async def call(server: str, tool: str, arguments: Any, session: str) -> Reading:
        seen.append((server, tool, dict(arguments), session))
        return Reading(text="done")

    async def resource(server: str | None, uri: str) -> Reading:
        seen.append((server, uri))
        return Reading(text="memo")

    through = replace(reader, call=call, resource=resource)
    source = {"tool": "t.get", "arguments": {"key": {"ref": "key"}, "page": {"apply": "absent"}}}
    assert read(through, source, key="K").text == "done"
    assert read(through, {"resource": "memo://x", "server": "t"}).text == "memo"
    assert seen == [("t", "get", {"key": "K"}, "own"), ("t", "memo://x")]
    assert read(reader, source, key="K").error_class == "source"


def test_arguments_without_a_value_are_told(reader: LocalReader) -> None:
    found = read(reader, {"file": {"ref": "nothing.here"}})
    assert found.error == "`nothing` has no value here" and found.error_class == "source"
