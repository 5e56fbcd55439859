"""Paths and hosts of arguments: what lies outside of a trial, and what only looks like it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mcpeval_dsl.gateway.bounds import Bounds, hosts_in, paths_in
from tests.gateway.calls import defined

OUTSIDE = [
    {"path": "/etc/passwd"},
    {"text": "/etc/passwd"},
    {"path": "/etc/a_new_file"},
    {"uri": "file:///etc/passwd"},
    {"paths": ["note.txt", "/etc/passwd"]},
    {"options": {"file": "/etc/passwd"}},
    {"path": "../../other"},
    {"file": "~/../../x"},
    {"sql": "copy t to '/etc/out.csv'"},
    {"command": "cat /etc/passwd"},
    {"path": "WORK/link"},
    {"url": "https://evil.example/x"},
    {"callbackUrl": "https://EVIL.example:8443/x"},
    {"query": "select http_get('https://evil.example/x')"},
]
WITHIN: list[dict[str, Any]] = [
    {"path": "note.txt"},
    {"path": "WORK/note.txt"},
    {"path": "WORK/a/new/file"},
    {"path": "a/../note.txt"},
    {"path": "/issues/12"},
    {"path": "/README.md"},
    {"path": "/"},
    {"path": "~/notes.txt"},
    {"path": "s3://bucket/../x"},
    {"text": "see /etc/passwd"},
    {"text": "../../other"},
    {"text": "https://evil.example/x"},
    {"title": "https://evil.example/x"},
    {"url": "https://docs.example/x"},
    {"url": "https://api.docs.example/x"},
    {"url": "http://127.0.0.1:8080/x"},
    {"url": "not a url at all"},
    {"url": "http://[broken"},
    {"uri": "file://[broken"},
    {"uri": "file:///etc/a%00b"},
    {"path": "/etc/\ud800"},
    {"path": "../\ud800"},
    {"sql": "copy t to '/etc/\0'"},
    {"sql": "copy t to '/etc/\ud800'"},
    {"path": "/" + "a" * 100_000},
    {"sql": "select '/issues/12' as path"},
    {"depth": 3, "all": True, "none": None},
    {"path": "/shared/fixtures/x"},
]


@pytest.fixture
def bounds(tmp_path: Path) -> Bounds:
    work = tmp_path / "work"
    work.mkdir()
    (work / "link").symlink_to("/etc/passwd")
    roots = (str(tmp_path), *paths_in(["Fixtures are in /shared/fixtures."]))
    hosts = hosts_in(["Read https://docs.example/start.", "http://localhost:3000"])
    return Bounds(roots, hosts, frozenset({"tracker"}), str(work), str(tmp_path / "home"))


def placed(arguments: dict[str, Any], bounds: Bounds) -> dict[str, Any]:
    return {
        name: value.replace("WORK", bounds.workdir) if isinstance(value, str) else value
        for name, value in arguments.items()
    }


@pytest.mark.parametrize("arguments", OUTSIDE, ids=str)
def test_outside(bounds: Bounds, arguments: dict[str, Any]) -> None:
    assert bounds.outside("tracker", placed(arguments, bounds)) is not None


@pytest.mark.parametrize("arguments", WITHIN, ids=str)
def test_within(bounds: Bounds, arguments: dict[str, Any]) -> None:
    assert bounds.outside("tracker", placed(arguments, bounds)) is None


def test_what_is_not_of_this_machine_or_reaches_nobody(bounds: Bounds) -> None:
    assert bounds.outside("remote", {"path": "/etc/passwd"}) is None
    closed = defined("bookmark", openWorldHint=False)
    assert bounds.outside("tracker", {"url": "https://evil.example"}, closed) is None
    assert bounds.outside("tracker", {"url": "https://evil.example"}, None, lambda host: host == "evil.example") is None
    assert Bounds().outside("tracker", {"url": "https://evil.example", "path": "/etc/passwd"}) is None
