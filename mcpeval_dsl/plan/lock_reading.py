"""Plan, beside it: the bytes of `mcpe.lock` read and doubted. Every way in which such a file breaks has its own message.

A lock is made by a program, kept in a repository, and merged there: so it comes back truncated, with the marks of an
unfinished merge, put together from two branches, edited, or from another version.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

from mcpeval_dsl.diagnostics.model import Checked, Diagnostic, Label
from mcpeval_dsl.plan.codec import Malformed, decode, encode
from mcpeval_dsl.plan.json_places import location, place, steps_of
from mcpeval_dsl.plan.lock_digest import FORMAT, MOST_BYTES, canonical, entry_digest
from mcpeval_dsl.plan.model import Lock, LockedServer, LockedTool

_MARKS = re.compile(r"^(<{7}|={7}|>{7}|\|{7})(?=[ \r\n]|\Z)", re.MULTILINE)
_AGAIN = "write it again with `mcpe lock`"
_BODY = "A lock file is JSON as `mcpe lock` writes it; the schema is in `schemas/`."
_OTHERS = {"mcpe-plans": "plan file", "mcpe-plan": "plan"}


class _Twice(ValueError):
    """A member that stands twice in one object."""


def read(data: bytes, path: str) -> Checked[Lock]:
    """The lock in `data`; MCPE401 and 406 to 409 say what is wrong with it, with the line."""
    if len(data) > MOST_BYTES:
        return _broken(path, f"it has more than {MOST_BYTES // 1024**2} MB")
    try:
        text = data.decode("utf-8", "surrogatepass").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        return _broken(path, f"byte {error.start} is no UTF-8")
    if (mark := _MARKS.search(text)) is not None:
        return _unmerged(path, text, mark)
    try:
        value = json.loads(text, object_pairs_hook=_object)
    except RecursionError:
        return _broken(path, "it is nested too deeply")
    except json.JSONDecodeError as error:
        return _no_json(path, text, error)
    except _Twice as error:
        return _broken(path, f"the member `{error}` stands twice in one object")
    except ValueError:
        return _broken(path, "a number has too many digits")
    if not isinstance(value, dict):
        return _broken(path, "it is no JSON object", text, 0)
    if (problem := _wrong_format(path, text, value)) is not None:
        return Checked(None, (problem,))
    try:
        lock = decode(Lock, value)
    except Malformed as error:
        where, _, what = str(error).partition(": ")
        return _broken(path, f"{where}: {what}", text, place(text, steps_of(where)))
    except RecursionError:
        return _broken(path, "it is nested too deeply")
    found = (*_doubled(path, text, lock), *_edited(path, text, lock))
    return Checked(None if found else lock, found)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        raise _Twice(next(key for key, _ in pairs if key in seen or seen.add(key)))  # type: ignore[func-returns-value]  # adds
    return found


def _broken(path: str, what: str, text: str = "", offset: int = -1) -> Checked[Lock]:
    at = location(path, text, offset) if offset >= 0 else None
    title = f"{path} is no lock file that this mcpe can read: {what}"
    return Checked(None, (Diagnostic("MCPE401", title, at, _BODY, _AGAIN),))


def _no_json(path: str, text: str, error: json.JSONDecodeError) -> Checked[Lock]:
    if not text.strip():
        return _broken(path, "it is empty")
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
        return _broken(
            path, f"it ends too early (line {text.rstrip().count(chr(10)) + 1})", text, len(text.rstrip()) - 1
        )
    return _broken(path, f"it is no JSON (line {error.lineno})", text, error.pos)


def _unmerged(path: str, text: str, mark: re.Match[str]) -> Checked[Lock]:
    at = location(path, text, mark.start(), 7)
    title = f"{path} has the marks of an unfinished merge (line {at.line})"
    body = "Two branches locked different catalogues. Which of them the servers have now, only the servers can say."
    hint = "take either side, then write it again with `mcpe lock`"
    return Checked(None, (Diagnostic("MCPE407", title, at, body, hint),))


def _wrong_format(path: str, text: str, value: dict[str, Any]) -> Diagnostic | None:
    given = value.get("format")
    if given == FORMAT:
        return None
    if not isinstance(given, str):
        return _broken(path, "it has no `format`", text, 0).diagnostics[0]
    at = location(path, text, place(text, ("format",)), len(json.dumps(given)))
    name, _, version = given.partition("/")
    if name != "mcpe-lock":
        what = f"it is a {_OTHERS[name]}" if name in _OTHERS else f"its format is `{given}`"
        return _broken(path, what, text, place(text, ("format",))).diagnostics[0]
    title = f"{path} has version {version}, and this mcpe reads version 1"
    newer = version.isdigit() and int(version) > 1
    hint = f"update mcpe, or {_AGAIN}" if newer else _AGAIN
    return Diagnostic("MCPE409", title, at, "A lock is read by the version of mcpe that knows its format.", hint)


def _doubled(path: str, text: str, lock: Lock) -> Iterator[Diagnostic]:
    first: dict[str, int] = {}
    for number, server in enumerate(lock.servers):
        if (before := first.setdefault(server.server, number)) == number:
            continue
        spots = [location(path, text, place(text, ("servers", n, "server"))) for n in (before, number)]
        title = f"{path} has the server `{server.server}` twice"
        body = "A server's name has one catalogue in a lock; two of them are left where a merge kept both sides."
        yield Diagnostic("MCPE408", title, spots[1], body, _AGAIN, labels=(Label(spots[0], "the first one"),))


def _edited(path: str, text: str, lock: Lock) -> Iterator[Diagnostic]:
    """Entries whose digest is not that of what they say. One without a digest is from an earlier mcpe, and is believed."""
    for number, server in enumerate(lock.servers):
        if not server.sha256 or server.sha256 == sealed(server):
            continue
        tool = next((n for n, tool in enumerate(server.tools) if not _whole(tool, server.findings)), None)
        steps = ("servers", number, "tools", tool) if tool is not None else ("servers", number)
        what = (
            f"the tool `{server.tools[tool].name}` of `{server.server}`" if tool is not None else f"`{server.server}`"
        )
        title = f"{path} was changed by hand or by a merge: {what} is not what its digest says"
        body = "What a spec is checked against must be what the server said. So this lock is not used."
        yield Diagnostic("MCPE406", title, location(path, text, place(text, steps)), body, _AGAIN)


def sealed(server: LockedServer) -> str:
    """The digest of an entry."""
    return entry_digest(encode(server.model_copy(update={"sha256": ""})))


def _plain(value: Any) -> Any:
    """As digests of tools are made: `1.0` counts as `1`."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return value


def _whole(tool: LockedTool, findings: Iterable[str]) -> bool:
    """Whether the tool's digest can be that of what is said of it. A tool with findings was listed in another form."""
    if any(finding.startswith(f"tool `{tool.name}`") for finding in findings):
        return True
    said = {"name": tool.name, "inputSchema": tool.input_schema, "outputSchema": tool.output_schema}
    said |= {"title": tool.title, "description": tool.description, "annotations": tool.annotations}
    given = {key: _plain(value) for key, value in said.items() if value is not None}
    # what a server lists as empty or null is not kept, but belongs to its digest
    open_ = {"description": ("", None), "annotations": ({}, None), "title": (None,), "outputSchema": (None,)}
    absent = object()
    ways = [[(key, value) for value in (absent, *values)] for key, values in open_.items() if key not in given]
    for way in product(*ways):
        tried = given | {key: value for key, value in way if value is not absent}
        if hashlib.sha256(canonical(tried).encode("ascii")).hexdigest() == tool.sha256:
            return True
    return False
