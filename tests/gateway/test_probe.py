"""The first contact: eras, revisions, lists of many shapes, and one clear sentence for each server that does not come up."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import pytest

from mcpeval_dsl.gateway.model import Launch, Pin, ServerStartError
from mcpeval_dsl.gateway.pins import pin_from_json, pin_to_json
from mcpeval_dsl.gateway.probe import probe
from mcpeval_dsl.gateway.session import open_session
from tests.gateway.starting import ENVIRONMENT, SERVERS, http_server, tiny


def probed(launch: Launch) -> Pin:
    return asyncio.run(probe(launch))


def failure(launch: Launch) -> ServerStartError:
    with pytest.raises(ServerStartError) as caught:
        probed(launch)
    return caught.value


def test_a_server_of_the_older_era_is_pinned_with_its_identity() -> None:
    pin = probed(tiny())
    assert (pin.era, pin.revision) == ("initialize", "2025-11-25")
    assert (pin.info.name, pin.info.version, pin.info.instructions) == ("tiny", "1.2.3", "Be brief.")
    assert [tool.name for tool in pin.tools] == ["echo", "wipe_all"]
    assert pin.findings == ()


def test_an_older_revision_is_asked_for_by_name() -> None:
    assert probed(tiny(protocols=("2025-03-26",))).revision == "2025-03-26"


def test_all_pages_of_the_list_are_read() -> None:
    assert [tool.name for tool in probed(tiny("paged")).tools] == [f"tool_{n}" for n in range(5)]


def test_a_server_without_tools_is_a_server() -> None:
    pin = probed(tiny("no_tools"))
    assert (pin.tools, pin.findings) == ((), ("the server does not know tools/list: it has no tools",))


def test_tools_that_come_after_the_start_are_waited_for() -> None:
    pin = probed(tiny("late_tools"))
    assert [tool.name for tool in pin.tools] == ["echo", "wipe_all"]
    assert "changed just after the start" in pin.findings[0]


def test_one_broken_tool_leaves_the_others_usable() -> None:
    pin = probed(tiny("broken_tool"))
    assert [tool.usable for tool in pin.tools].count(True) == 34
    assert pin.findings == ('tool bad: inputSchema is empty: it does not even say "type": "object"',)


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("ignores_probe", "did not answer server/discover within 0.5 s"),
        ("exits_on_probe", "ended when asked server/discover"),
    ],
)
def test_a_server_that_cannot_be_asked_is_asked_in_the_older_way(mode: str, words: str) -> None:
    async def run() -> tuple[Pin, list[object]]:
        pin = await probe(tiny(mode), discover_seconds=0.5)
        session = await open_session(tiny(mode), pin)
        methods = [f.message.get("method") for f in session.frames if f.message and f.direction == "sent"]
        await session.close()
        assert session.drift is None
        return pin, methods

    pin, methods = asyncio.run(run())
    assert pin.era == "initialize"
    assert words in pin.findings[0]
    assert methods == ["initialize", "notifications/initialized", "tools/list"], "a pinned session does not ask again"


def test_a_slow_start_does_not_decide_the_era() -> None:
    pin = asyncio.run(probe(tiny("asks_late"), discover_seconds=0.3))
    assert (pin.era, pin.revision) == ("discover", "2026-07-28")


def test_a_pin_survives_json() -> None:
    pin = probed(tiny("broken_tool"))
    assert pin_from_json(json.loads(json.dumps(pin_to_json(pin)))) == pin


def test_the_newest_era_over_stdio_costs_no_round_trip_when_pinned() -> None:
    launch = Launch("modern", (sys.executable, str(SERVERS / "modern.py"), "stdio"), env=ENVIRONMENT)

    async def run() -> tuple[Pin, Any, list[object]]:
        pin = await probe(launch, discover_seconds=20)
        session = await open_session(launch, pin)
        wire = await session.call("add", {"a": 1, "b": 2})
        methods = [f.message.get("method") for f in session.frames if f.message and f.direction == "sent"]
        await session.close()
        assert session.drift is None
        return pin, wire.result, methods

    pin, result, methods = asyncio.run(run())
    assert (pin.era, pin.revision) == ("discover", "2026-07-28")
    assert result["structuredContent"] == {"result": 3}
    assert methods == ["tools/list", "tools/call"]


@pytest.mark.parametrize(
    ("launch", "kind", "words"),
    [
        (Launch("x", ("no-such-command-here",), env=ENVIRONMENT), "command_missing", "was not found"),
        (Launch("x", ("/etc/hostname",), env=ENVIRONMENT), "not_executable", "cannot be executed"),
        (Launch("x", ("true",), cwd="/no/such/place", env=ENVIRONMENT), "command_missing", "working directory"),
        (Launch("x", url="http://127.0.0.1:1/mcp"), "refused", "cannot connect to http://127.0.0.1:1/mcp"),
        (tiny("exit_at_start"), "exited", "exit code 3 before it answered initialize: TINY_TOKEN is not set"),
        (tiny("silent", start_timeout=0.5), "no_answer", "no answer to initialize"),
        (tiny("only_noise", start_timeout=1.5), "noise", "3 lines that are no messages"),
        (tiny("old_revision"), "unsupported_revision", "1999-01-01"),
        (tiny(protocols=("2026-07-28",)), "unsupported_revision", "does not speak 2026-07-28"),
        (tiny(protocols=("2030-01-01",)), "unsupported_revision", "no known protocol revision"),
        (tiny("endless"), "endless_list", "more than 200 pages"),
        (tiny("no_list"), "malformed", "no list of tools"),
        (tiny("same_cursor"), "endless_list", "again and again"),
    ],
    ids=lambda value: value if isinstance(value, str) and "_" in value else "",
)
def test_a_server_that_does_not_come_up_gets_one_clear_sentence(launch: Launch, kind: str, words: str) -> None:
    error = failure(launch)
    assert error.kind == kind
    assert words in error.message
    assert "\n" not in error.message


def test_a_url_that_wants_credentials_says_so() -> None:
    with http_server("web.py", "refuse_all") as url:
        error = failure(Launch("web", url=url))
    assert error.kind == "http_status"
    assert "HTTP status 401" in error.message
