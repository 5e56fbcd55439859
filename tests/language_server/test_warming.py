"""What is found in slices is what a request would have found by itself, and nobody waits behind those who wait for it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mcpeval_dsl.language_server.features.folding import folding
from mcpeval_dsl.language_server.features.formatting import formatting, laid_out
from mcpeval_dsl.language_server.features.semantic_tokens import semantic_tokens
from mcpeval_dsl.language_server.features.symbols import document_symbols
from mcpeval_dsl.language_server.index.project import definitions
from mcpeval_dsl.language_server.snapshot import Snapshot
from mcpeval_dsl.language_server.warming import Need, Warming, missing
from tests.language_server.client import Client, session
from tests.language_server.features.marked import Memory
from tests.syntax.formatting.shaken import shaken

SPEC = Path(__file__).parents[2] / "specs" / "tracker" / "tracker.mcpe"
FOUND: dict[str, tuple[Need, Callable[[Snapshot], Any]]] = {
    "names": ("names", lambda s: [(key, [site.name_span for site in sites]) for key, sites in definitions(s).items()]),
    "outline": ("shapes", document_symbols),
    "folds": ("shapes", folding),
    "colours": ("shapes", semantic_tokens),
    "layout": ("form", formatting),
}


class Loop:
    """Does what is to be done later when it is told to."""

    def __init__(self) -> None:
        self.pending: deque[Callable[[], None]] = deque()

    def later(self, seconds: float, do: Callable[[], None]) -> None:
        self.pending.append(do)

    def run(self) -> None:
        while self.pending:
            self.pending.popleft()()


def snapshot_of(text: str) -> Snapshot:
    found = Memory({"a.mcpe": text}).snapshot("a.mcpe")
    assert found is not None
    return found


@pytest.mark.parametrize("name", FOUND)
def test_the_same_as_without(name: str) -> None:
    need, feature = FOUND[name]
    text = shaken(SPEC.read_text("utf-8"), name)
    other = text.replace("tracker", "trackeX")  # of the same shape, and nothing of it is kept
    alone = feature(snapshot_of(other))
    laid_out.cache_clear()
    loop, warmed = Loop(), snapshot_of(text)
    assert missing([warmed], need)
    told: list[int] = []
    Warming(loop.later).find([warmed], need, lambda: told.append(missing([warmed], need)))
    loop.run()
    assert told == [0]
    if name in ("names", "outline"):
        assert str(feature(warmed)).replace("tracker", "trackeX") == str(alone)
    else:
        assert feature(warmed) == alone


def test_warming_leaves_nothing_to_find() -> None:
    loop, file = Loop(), snapshot_of(SPEC.read_text("utf-8") + "# warm\n")
    Warming(loop.later).warm("a", lambda: file)
    loop.run()
    assert [missing([file], need) for need in ("names", "shapes", "form")] == [0, 0, 0]


def test_warming_ends_with_the_file() -> None:
    loop = Loop()
    file = snapshot_of("".join(f'task gone{n} {{ prompt "x {n}" }}\n' for n in range(300)))
    looks = iter([file, file, file])
    Warming(loop.later).warm("a", lambda: next(looks, None))
    loop.run()
    assert 0 < missing([file], "names") < len(file.text)


def test_what_somebody_waits_for_comes_first() -> None:
    loop, order = Loop(), list[str]()
    long = "".join(f'task t{n} {{ prompt "x {n}" }}\n' for n in range(300))
    warmed, wanted = snapshot_of(long), snapshot_of(long.replace("task t", "task u"))
    warming = Warming(loop.later)
    warming.warm("a", lambda: warmed)
    warming.find([wanted], "form", lambda: order.append("before" if missing([warmed], "shapes") else "after"))
    loop.run()
    assert order == ["before"]
    assert missing([warmed], "form") == 0


@pytest.fixture
def opened(tmp_path: Path) -> Any:
    """A long file that was opened in this very moment."""
    (tmp_path / "mcpe.toml").write_text('specs = ["."]\n')
    text = "".join(f'task t{n} {{\n  prompt  "what is {n}?"\n}}\n\n' for n in range(1500))
    with session(tmp_path) as client:
        client.initialize()
        yield client, client.open("long.mcpe", text), text


def document(uri: str) -> dict[str, Any]:
    return {"textDocument": {"uri": uri}, "options": {"tabSize": 2, "insertSpaces": True}}


def order_of(client: Client, *numbers: int) -> list[int]:
    """Requests in the order of their answers."""
    came: list[int] = []
    while len(came) < len(numbers):
        client.wait_for_more(60)
        came += [n for n in client._answers if n in numbers and n not in came]
    return came


def test_a_request_about_a_place_does_not_wait_for_one_about_all(opened: tuple[Client, str, str]) -> None:
    client, uri, _ = opened
    all_of_it = client.ask("textDocument/formatting", document(uri))
    place = client.ask("textDocument/selectionRange", {**document(uri), "positions": [{"line": 9, "character": 4}]})
    assert order_of(client, all_of_it, place) == [place, all_of_it]
    assert len(client.answer(all_of_it)["result"]) == 1500 + 1  # and the empty line at the end


def test_what_was_asked_about_a_text_that_changed_is_not_answered(opened: tuple[Client, str, str]) -> None:
    client, uri, _ = opened
    asked = client.ask("textDocument/formatting", document(uri))
    start = {"line": 0, "character": 0}
    client.change(uri, 2, {"range": {"start": start, "end": start}, "text": "# new\n"})
    assert client.answer(asked, 60)["error"]["code"] == -32801
    assert client.request("textDocument/formatting", document(uri), 60)[0]["range"]["start"]["line"] == 2


def test_a_request_that_waits_can_be_taken_back(opened: tuple[Client, str, str]) -> None:
    client, uri, _ = opened
    asked = client.ask("textDocument/documentSymbol", document(uri))
    client.request("textDocument/selectionRange", {**document(uri), "positions": []})  # its turn has come and gone
    client.notify("$/cancelRequest", {"id": asked})
    assert client.answer(asked)["error"]["code"] == -32800
