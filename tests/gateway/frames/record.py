"""Records what public servers answer to good and bad calls; run by hand when servers are added, never by the tests.

`python -m tests.gateway.frames.record SERVERS.json` where the file maps a name of `calls.json` to the server's command line, a
list; each server runs in a directory of its own, with no variables but PATH and HOME, and is given loopback addresses only.
What is written tells no place of this machine, and cuts long texts.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from mcpeval_dsl.gateway.model import Launch, Pin
from mcpeval_dsl.gateway.probe import probe
from mcpeval_dsl.gateway.session import open_session

FRAMES = Path(__file__).parent
LONGEST = 600
PATH = "/usr/local/bin:/usr/bin:/bin"


def fixture(folder: Path) -> None:
    """A page, a text, a repository with one commit, and a database with one table."""
    (folder / "notes.txt").write_text("remember the milk\n", encoding="utf-8")
    (folder / "page.html").write_text("<h1>Hello</h1>", encoding="utf-8")
    (folder / "llms.txt").write_text("# Docs\n", encoding="utf-8")
    with sqlite3.connect(folder / "data.db") as database:
        database.execute("create table notes (id integer primary key, text text not null)")
        database.execute("insert into notes values (1, 'milk')")
    for words in (
        ("init", "-q", "-b", "main", "repo"),
        (
            "-C",
            "repo",
            "-c",
            "user.name=A",
            "-c",
            "user.email=a@example.com",
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            "one",
        ),
    ):
        subprocess.run(("git", *words), cwd=folder, check=True)


async def record(name: str, argv: list[str], calls: list[dict[str, Any]]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve()
        fixture(folder)
        web = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(folder)))
        Thread(target=web.serve_forever, daemon=True).start()
        places = {"$HERE": str(folder), "$WEB": f"http://127.0.0.1:{web.server_address[1]}"}
        words = tuple(replaced(word, places) for word in argv)
        launch = Launch(
            name, words, cwd=place, env={"PATH": PATH, "HOME": place}, start_timeout=60.0, call_timeout=60.0
        )
        pin = await probe(launch)
        answers = [await answer(launch, pin, call, places) for call in calls]
        web.shutdown()
        web.server_close()
    identity = {"server": pin.info.name or name, "version": pin.info.version, "revision": pin.revision}
    return identity | {"calls": answers}


async def answer(launch: Launch, pin: Pin, call: Mapping[str, Any], places: Mapping[str, str]) -> dict[str, Any]:
    session = await open_session(launch, pin)
    try:
        wire = await session.call(call["tool"], replaced(call["arguments"], places))
    finally:
        await session.close()
    back = {value: key for key, value in places.items()}
    body = (
        {"result": wire.result} if wire.result is not None else {"error": {"code": wire.code, "message": wire.message}}
    )
    if wire.ending not in ("result", "rpc_error"):
        raise SystemExit(f"{launch.server}: {call['tool']} ended with {wire.ending}: {wire.message}")
    if wire.data is not None:
        body["error"]["data"] = wire.data
    schema = next((tool.output_schema for tool in pin.tools if tool.name == call["tool"]), None)
    return {**call, "output_schema": schema, "answer": short(replaced(body, back))}


def replaced(value: Any, words: Mapping[str, str]) -> Any:
    text = json.dumps(value)
    for old, new in words.items():
        text = text.replace(json.dumps(old)[1:-1], json.dumps(new)[1:-1])
    return json.loads(text)


def short(value: Any) -> Any:
    """Without `_meta` and the rest of long texts: classes are decided by how they begin."""
    if isinstance(value, str):
        return value if len(value) <= LONGEST else value[:LONGEST] + " …"
    if isinstance(value, dict):
        return {key: short(item) for key, item in value.items() if key != "_meta"}
    return [short(item) for item in value] if isinstance(value, list) else value


def main() -> None:
    calls = json.loads((FRAMES / "calls.json").read_text(encoding="utf-8"))
    for name, argv in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")).items():
        found = asyncio.run(record(name, argv, calls[name]))
        (FRAMES / f"{name}.json").write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
