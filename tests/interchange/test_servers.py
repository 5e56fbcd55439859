"""Servers of other tools: what is kept, that no secret is copied, and where a server comes from when the source has none."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from mcpeval_dsl.interchange.compiled import compile_suite
from mcpeval_dsl.interchange.importing import import_file
from mcpeval_dsl.interchange.model import Suite

SECRET = "s3cret-value-of-mine-0123456789"
KEY = "-".join(("sk", "ant", "x1" * 20))


def suite_of(folder: Path, server: dict[str, Any] | None, *told: str) -> tuple[Suite, str]:
    servers = {} if server is None else {"mcp_servers": {"shelf": server}}
    data = {**servers, "abstention_evals": [{"query": "hello there"}]}
    path = folder / "evals.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    made = import_file(path, "evals.json", told=told)
    assert made.suite is not None, made.diagnostics
    compiled = compile_suite(made.suite, "evals.json")
    assert compiled.errors == []
    return made.suite, re.sub(r"(?<=\S) +", " ", compiled.text)


SERVERS: dict[str, tuple[dict[str, Any], str]] = {
    "a command": ({"command": "node", "args": ["a.js", "--x"]}, 'stdio "node" "a.js" "--x"'),
    "a command line": ({"command": "uvx my-server --flag"}, 'stdio "uvx" "my-server" "--flag"'),
    "a list": ({"command": ["node", "a.js"]}, 'stdio "node" "a.js"'),
    "a url": ({"url": "https://example.org/mcp"}, 'http "https://example.org/mcp"'),
    "plain variables": ({"command": "x", "env": {"MODE": "a", "N": 1}}, 'env MODE = "a"'),
    "a variable of the caller": ({"command": "x", "env": {"PLACE": "${PLACE:-here}"}}, 'env PLACE = secret("PLACE")'),
    "a list of variables": ({"command": "x", "env": ["API_TOKEN=" + SECRET]}, 'env API_TOKEN = secret("API_TOKEN")'),
    "a secret by its name": ({"command": "x", "env": {"API_KEY": SECRET}}, 'env API_KEY = secret("API_KEY")'),
    "a secret by its shape": ({"command": "x", "env": {"HARMLESS": KEY}}, 'env HARMLESS = secret("HARMLESS")'),
    "a secret in an argument": ({"command": "x", "args": ["--api-key", SECRET]}, '"--api-key" "{{ api_key }}"'),
    "a secret behind a sign": ({"command": "x", "args": [f"--token={SECRET}"]}, '"--token={{ token }}"'),
    "a shape in an argument": ({"command": "x", "args": [KEY]}, 'stdio "x" "{{ server_secret }}"'),
    "a bearer": (
        {"url": "https://a.org", "headers": {"Authorization": f"Bearer {SECRET}"}},
        '"Bearer {{ shelf_authorization }}"',
    ),
    "a variable in a header": ({"url": "https://a.org", "headers": {"X-K": "a ${TOKEN} b"}}, 'X-K = "a {{ token }} b"'),
    "an odd header": ({"url": "https://a.org", "headers": {"X Odd": "plain"}}, '"X Odd" = "plain"'),
    "a secret in a url": ({"url": f"https://a.org/mcp?api_key={SECRET}"}, 'http "{{ shelf_url }}"'),
    "a password in a url": ({"url": f"https://me:{SECRET}@a.org/mcp"}, 'http "{{ shelf_url }}"'),
    "quotes and braces": ({"command": "x", "args": ['a "b" {{ c }} \\']}, '"a \\"b\\" {{ \'{{\' }} c }} \\\\"'),
}


@pytest.mark.parametrize("name", SERVERS)
def test_a_server_is_kept_and_its_secrets_are_not(name: str, tmp_path: Path) -> None:
    server, wanted = SERVERS[name]
    suite, text = suite_of(tmp_path, server)
    assert wanted in text
    assert SECRET not in text and KEY not in text
    assert all(SECRET not in note.text and KEY not in note.text for note in suite.notes)
    if "secret(" in text:
        assert any("read from your environment" in note.text for note in suite.notes)


def test_a_server_that_is_switched_off_is_lost(tmp_path: Path) -> None:
    suite, text = suite_of(tmp_path, {"command": "x", "disabled": True})
    assert "REPLACE_WITH_THE_COMMAND_OF_YOUR_SERVER" in text
    assert any(note.what == "lost" and "switched off" in note.text for note in suite.notes)


def test_sse_is_said(tmp_path: Path) -> None:
    suite, _ = suite_of(tmp_path, {"url": "https://a.org/sse", "type": "sse"})
    assert any("SSE" in note.text for note in suite.notes)


@pytest.mark.parametrize(
    ("told", "wanted"),
    [
        ("python -m my_server --db 'a b'", 'server my {\n  stdio "python" "-m" "my_server" "--db" "a b"'),
        ("npx -y @scope/mcp-server-notes@1.2", "server notes {"),
        ("https://mcp.example.org/mcp", 'server example {\n  http "https://mcp.example.org/mcp"'),
    ],
)
def test_a_server_can_be_told(told: str, wanted: str, tmp_path: Path) -> None:
    assert wanted in suite_of(tmp_path, None, told)[1]


def test_a_file_of_settings_can_be_told(tmp_path: Path) -> None:
    settings = tmp_path / "mcp.json"
    settings.write_text(json.dumps({"mcpServers": {"one": {"command": "a"}, "two": {"url": "https://b.org"}}}))
    text = suite_of(tmp_path, None, str(settings))[1]
    assert 'server one {\n  stdio "a"' in text and "server two {" in text


def test_without_a_server_there_is_a_block_to_fill_in(tmp_path: Path) -> None:
    suite, text = suite_of(tmp_path, None)
    assert 'stdio "REPLACE_WITH_THE_COMMAND_OF_YOUR_SERVER"' in text
    assert any(note.what == "look" and "--server" in note.text for note in suite.notes)


def test_a_credential_in_a_prompt_is_pointed_at(tmp_path: Path) -> None:
    path = tmp_path / "evals.json"
    path.write_text(json.dumps({"abstention_evals": [{"query": f"Use {KEY}"}, {"query": "Use nothing"}]}))
    suite = import_file(path, "evals.json").suite
    assert suite is not None
    assert [note.task for note in suite.notes if "looks like a credential" in note.text] == [suite.tasks[0].name]
