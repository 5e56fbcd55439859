"""Work in the background: what is asked for again is done once, what is under way is told, and no request waits for it."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from mcpeval_dsl.language_server.background import Background, Stopped, Superseded
from tests.language_server.client import session
from tests.language_server.conftest import MAIN


def test_what_is_asked_for_again_before_it_begins_is_done_once() -> None:
    done: list[str] = []
    over = threading.Event()
    background = Background(lambda error: None)
    for name in ("one", "two", "three"):
        background.ask("spec", lambda stopped, name=name: done.append(name), 0.05)  # type: ignore[misc]
    background.ask("other", lambda stopped: over.set(), 0.06)
    background.start()
    assert over.wait(10)
    assert done == ["three"]
    background.end()


def test_work_under_way_is_told_that_newer_is_asked_for() -> None:
    begun, asked, over = threading.Event(), threading.Event(), threading.Event()
    ended: list[str] = []
    background = Background(lambda error: None)
    background.start()
    background.ask("spec", lambda stopped: over.set())  # once finished, so that newer work may take its place
    assert over.wait(10)
    over.clear()

    def long(stopped: Stopped) -> None:
        begun.set()
        assert asked.wait(10)
        if stopped():
            ended.append("superseded")
            raise Superseded
        ended.append("finished")

    background.ask("spec", long)
    assert begun.wait(10)
    background.ask("spec", lambda stopped: over.set())
    asked.set()
    assert over.wait(10)
    assert ended == ["superseded"]
    background.end()


def test_a_fault_in_one_piece_of_work_is_told_and_the_next_is_done() -> None:
    told: list[BaseException] = []
    over = threading.Event()
    background = Background(told.append)
    background.ask("one", lambda stopped: 1 / 0)  # type: ignore[arg-type, return-value]
    background.ask("two", lambda stopped: over.set(), 0.01)
    background.start()
    assert over.wait(10)
    assert [type(error) for error in told] == [ZeroDivisionError]
    background.end()


WAITING = """
import os, sys, time
from mcpeval_dsl.language_server import analyst
kept, server = analyst.Analyst.answer, os.getpid()
def waiting(self, request, stopped):
    while not os.path.exists("go") and os.getppid() == server: time.sleep(0.01)
    return kept(self, request, stopped)
analyst.Analyst.answer = waiting
from mcpeval_dsl.cli.main import main
sys.exit(main(["lsp"]))
"""


@pytest.mark.parametrize("typed", [False, True])
def test_requests_and_syntax_do_not_wait_for_an_analysis(typed: bool, project: Path) -> None:
    with session(project, WAITING) as client:
        client.initialize()
        uri = client.open("main.mcpe", MAIN)
        at = {"textDocument": {"uri": uri}, "position": {"line": 7, "character": 4}}
        assert "task" in str(client.request("textDocument/documentSymbol", at))
        if typed:
            where = {"line": 7, "character": 2}
            client.change(uri, 2, {"range": {"start": where, "end": where}, "text": ")"})
            assert client.request("textDocument/completion", at) is not None
            (found,) = client.until(uri, "MCPE122")
            assert found["range"]["start"] == where
        else:
            assert client.diagnostics(uri) is None
        (project / "go").touch()
        client.until(uri, *(["MCPE122"] if typed else []))
