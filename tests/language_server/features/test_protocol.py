"""The features through the real server: one session as an editor has it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.language_server.client import Client, session

CAPABILITIES: dict[str, Any] = {
    "general": {"positionEncodings": ["utf-16"]},
    "workspace": {"workspaceEdit": {"documentChanges": True}},
    "textDocument": {
        "completion": {"completionItem": {"snippetSupport": True}},
        "definition": {"linkSupport": True},
        "rename": {"prepareSupport": True},
    },
}
REQUEST_FAILED = -32803


@pytest.fixture
def editor(project: Path) -> Iterator[Client]:
    with session(project) as client:
        client.initialize(CAPABILITIES)
        yield client


def at(text: str, mark: str, ahead: int = 0) -> dict[str, int]:
    """The position of `ahead` characters into the first `mark`, in UTF-16 units."""
    offset = text.index(mark) + ahead
    begin = text.rfind("\n", 0, offset) + 1
    return {"line": text.count("\n", 0, offset), "character": len(text[begin:offset].encode("utf-16-le")) // 2}


def ask(editor: Client, method: str, uri: str, **params: Any) -> Any:
    return editor.request(f"textDocument/{method}", {"textDocument": {"uri": uri}, **params})


def analysed(editor: Client, uri: str) -> None:
    """Wait until the file was analysed: then what the lock says is known."""
    until = time.monotonic() + 60
    while editor.diagnostics(uri) is None and time.monotonic() < until:
        ask(editor, "hover", uri, position={"line": 0, "character": 0})
    assert editor.diagnostics(uri) is not None


def test_a_session(editor: Client, project: Path) -> None:
    text = (project / "main.mcpe").read_text("utf-8")
    uri = editor.open("main.mcpe")
    analysed(editor, uri)

    hovered = ask(editor, "hover", uri, position=at(text, "get_issue", 2))
    assert "Tool `get_issue` of `tracker`, as locked" in hovered["contents"]["value"]

    [defined] = ask(editor, "definition", uri, position=at(text, "get_issue", 2))
    lock = (project / "mcpe.lock").read_text()
    assert defined["targetUri"] == editor.uri("mcpe.lock")
    assert defined["targetSelectionRange"]["start"] == at(lock, '"get_issue"', 1)

    [defined] = ask(editor, "definition", uri, position=at(text, "tracker.get", 1))
    assert defined["targetUri"] == editor.uri("shared.mcpe")
    assert defined["originSelectionRange"]["start"] == at(text, "tracker.get")

    position = at(text, "oldest.key }}", 7)
    found = ask(editor, "completion", uri, position=position)["items"]
    assert [item["label"] for item in found] == ["key"]
    assert found[0]["textEdit"]["range"]["start"] == position

    answer = editor.answer(
        editor.ask(
            "textDocument/rename",
            {"textDocument": {"uri": uri}, "position": at(text, "get_issue"), "newName": "x"},
        )
    )
    assert answer["error"]["code"] == REQUEST_FAILED
    assert "a name of the server's" in answer["error"]["message"]

    symbols = editor.request("workspace/symbol", {"query": "canned"})
    assert [(s["name"], s["containerName"]) for s in symbols] == [("canned", "shared.mcpe")]
    assert editor.shut_down() == 0
    assert not [line for line in editor.errors if "Error" in line or "Traceback" in line]


def test_rename_across_files_names_versions(editor: Client, project: Path) -> None:
    text = (project / "shared.mcpe").read_text("utf-8")
    uri = editor.open("shared.mcpe", version=7)
    ready = ask(editor, "prepareRename", uri, position=at(text, "tracker", 3))
    assert ready["placeholder"] == "tracker"
    changes = ask(editor, "rename", uri, position=at(text, "tracker", 3), newName="issues")["documentChanges"]
    assert {change["textDocument"]["uri"]: change["textDocument"]["version"] for change in changes} == {
        uri: 7,
        editor.uri("main.mcpe"): None,
    }
    assert sorted(len(change["edits"]) for change in changes) == [1, 2]


def test_colours_after_a_keystroke_are_a_delta(editor: Client) -> None:
    uri = editor.open("main.mcpe", "task a { tags read }\ntask b { tags write }\n")
    first = ask(editor, "semanticTokens/full", uri)
    insertion = {"range": {"start": {"line": 0, "character": 18}, "end": {"line": 0, "character": 18}}, "text": ", new"}
    editor.change(uri, 2, insertion)
    changed = ask(editor, "semanticTokens/full/delta", uri, previousResultId=first["resultId"])
    data = list(first["data"])
    for edit in changed["edits"]:
        data[edit["start"] : edit["start"] + edit["deleteCount"]] = edit["data"]
    assert data == ask(editor, "semanticTokens/full", uri)["data"]
    assert sum(len(edit["data"]) for edit in changed["edits"]) < len(data) / 2
    again = ask(editor, "semanticTokens/full/delta", uri, previousResultId="unknown")
    assert again["data"] == data


def test_formatting_gives_edits_and_none_for_broken_text(editor: Client) -> None:
    uri = editor.open("main.mcpe", 'task a {prompt   "x"\ntags    read}\n')
    options = {"tabSize": 2, "insertSpaces": True}
    assert ask(editor, "formatting", uri, options=options)
    where = {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 1}}
    assert ask(editor, "rangeFormatting", uri, options=options, range=where)
    editor.replace(uri, 2, "task a { grade (\n")
    assert ask(editor, "formatting", uri, options=options) == []
