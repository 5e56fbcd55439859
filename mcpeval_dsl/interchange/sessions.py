"""Interchange: recorded sessions -> specs. Secrets are taken out before anything else looks at what was said."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.gateway.redact import Redactor
from mcpeval_dsl.interchange import importing, models, servers, words
from mcpeval_dsl.interchange.importing import Made
from mcpeval_dsl.interchange.model import Suite
from mcpeval_dsl.interchange.transcripts import claude_code, codex, own
from mcpeval_dsl.interchange.transcripts.deriving import Deriving, annotate
from mcpeval_dsl.interchange.transcripts.session import Called, Session
from mcpeval_dsl.interchange.trees.node import Unreadable
from mcpeval_dsl.records.model import RECORD_FORMAT, TrialRecord
from mcpeval_dsl.values.nesting import json_within

MOST_BYTES = 256 * 1024 * 1024
MOST_LINE = 16 * 1024 * 1024
MOST_TURNS = 30
_SECRET_KEY = re.compile(r"passw|secret|token|api_?key|authorization|credential", re.IGNORECASE)


def import_session(source: str, told: Sequence[str], cwd: Path) -> Made:
    """A session by the path of its file, or a trial by `RUN:TRIAL`."""
    made = Made()
    try:
        session = _session(source, cwd)
        _redact(session)
        made.suite = _suite(session, told, source)
    except Unreadable as problem:
        made.diagnostics.append(_nothing(source, problem))
    return made


def _session(source: str, cwd: Path) -> Session:
    path = Path(source)
    if not path.exists() and re.search(r":[^/:]+@[^/]+#\d+$", source):
        return _trial(source, cwd)
    return _file(path, source)


def _trial(source: str, cwd: Path) -> Session:
    from mcpeval_dsl.project.files import find
    from mcpeval_dsl.records import folder
    from mcpeval_dsl.records.folder import RunFolder, StoreError
    from mcpeval_dsl.records.reader import RunReader

    run, _, trial = source.partition(":")
    project = find(cwd).value
    found = folder.find(project.root, run or None) if project is not None else None
    if found is None:
        raise Unreadable(f"there is no run `{run}`")
    try:
        record = RunReader(RunFolder(found.path)).record(trial)
    except (StoreError, OSError) as error:
        raise Unreadable(f"the run cannot be read ({error})") from None
    if record is None:
        raise Unreadable(f"run `{found.path.name}` has no trial `{trial}`")
    session = Session(own.RECORDER, source)
    own.read(record, session)
    return session


def _file(path: Path, shown: str) -> Session:
    if not path.is_file():
        raise Unreadable("there is no such file" if not path.exists() else "it is no regular file")
    if path.stat().st_size > MOST_BYTES:
        raise Unreadable(f"it has more than {MOST_BYTES / 1e6:,.0f} MB")
    session = Session("", shown)
    first = next((line for _, line in _lines(path, Session("", shown)) if _reader_of(line) is not None), None)
    reader = _reader_of(first) if first is not None else None
    if reader is None:
        raise Unreadable("it is no session of Claude Code or Codex, nor a trial of this project")
    session.recorder = reader.RECORDER
    if reader is own:
        _own(path, session)
    else:
        reader.read(_lines(path, session), session)
    return session


def _own(path: Path, session: Session) -> None:
    from pydantic import ValidationError

    try:
        own.read(TrialRecord.model_validate_json(path.read_bytes()), session)
    except ValidationError as error:
        raise Unreadable(f"it is no whole record of a trial ({error.error_count()} problems)") from None


def _reader_of(line: dict[str, Any]) -> Any:
    if line.get("format") == RECORD_FORMAT:
        return own
    return claude_code if claude_code.is_this(line) else codex if codex.is_this(line) else None


def _lines(path: Path, session: Session) -> Iterator[tuple[int, dict[str, Any]]]:
    """Objects of a file of JSON Lines, or the one object a file is; lines that are none are counted and passed over."""
    with path.open("rb") as file:
        start = file.read(1 << 16)
    whole = b"\n" in start and start.lstrip().startswith(b"{\n")
    if whole:
        try:
            value = json_within(path.read_bytes().decode("utf-8", "replace"))
        except ValueError:
            value = None
        if isinstance(value, dict):
            yield 1, value
        return
    with path.open("rb") as file:
        for number, raw in enumerate(file, 1):
            if not raw.strip():
                continue
            try:
                value = json_within(raw.decode("utf-8", "replace")) if len(raw) <= MOST_LINE else None
            except ValueError:
                value = None
            if isinstance(value, dict):
                yield number, value
            else:
                session.broken += 1


def _redact(session: Session) -> None:
    redactor = Redactor()

    def clean(text: str, line: int) -> str:
        found, names = redactor.text(text)
        session.redacted += [(name, line) for name in names]
        return found

    session.system = clean(session.system, 1)
    for said in session.said:
        said.text, said.answer = clean(said.text, said.line), clean(said.answer, said.line)
        for call in said.calls:
            call.text = clean(call.text, call.line)
            call.structured = redactor.value(call.structured)[0]
            arguments, places = redactor.value(call.arguments)
            call.arguments = _by_name(dict(arguments), session, call)
            session.redacted += [(place, call.line) for place in places]


def _by_name(arguments: dict[str, Any], session: Session, call: Called) -> dict[str, Any]:
    for key, value in arguments.items():
        if isinstance(value, str) and value and _SECRET_KEY.search(str(key)) and "cursor" not in str(key):
            if not value.startswith("[redacted"):
                session.redacted.append((f"argument {key}", call.line))
            arguments[key] = "[redacted]"
    return arguments


def _suite(session: Session, told: Sequence[str], source: str) -> Suite:
    if not session.calls:
        raise Unreadable("no tool of an MCP server is called in it")
    _shorten(session)
    if not any(said.text.strip() for said in session.said):
        raise Unreadable("nobody asks for what is called in it")
    suite = Suite(f"session of {session.recorder}")
    servers.given(suite, told)
    _servers(suite, session)
    models.use(suite, session.model)
    calls = {(call.server, call.tool): call for call in session.calls}
    annotate(suite, calls)
    first = next(said.text for said in session.said if said.text.strip())
    Deriving(suite, session).task(" ".join(first.split()[:6]))
    _told(suite, session)
    importing.finish(suite, source)
    return suite


def _shorten(session: Session) -> None:
    """What stands behind the last call of a tool is no part of the task; neither is what was said without leading to one."""
    last = max(number for number, said in enumerate(session.said) if said.calls)
    session.said = session.said[: last + 1][-MOST_TURNS:]


def _servers(suite: Suite, session: Session) -> None:
    """A block for each server that was called, under the name that the session has."""
    wanted = list(dict.fromkeys(call.server for call in session.calls))
    names: dict[str, str] = {}
    for number, server in enumerate(wanted):
        if number < len(suite.servers) and len(wanted) == len(suite.servers):
            names[server] = suite.servers[number].name
        else:
            servers.placeholder(suite, session.path, server)
            names[server] = suite.servers[-1].name
    for call in session.calls:
        call.server = names[call.server]


def _told(suite: Suite, session: Session) -> None:
    path = session.path
    for what, line in dict.fromkeys(session.redacted):
        suite.note("changed", f"a secret was taken out ({words.clean(what)[0][:60]})", path, line)
    if session.other:
        suite.note("lost", f"{session.other} uses of tools that no MCP server has", path, 1)
    if session.sidechains:
        suite.note("lost", f"{session.sidechains} lines of agents that were called by the agent", path, 1)
    if session.broken:
        suite.note("lost", f"{session.broken} lines that are no JSON objects", path, 1)
    failed = [call for call in session.calls if call.is_error]
    if failed:
        suite.note(
            "lost", f"{len(failed)} calls that ended in an error: nobody should expect them", path, failed[0].line
        )
    for harvest in suite.harvests:
        suite.note(
            "kept",
            f"`harvest {harvest.name}`: {len(harvest.lines) - 2} values that were shown before they were used",
            path,
            1,
        )
    said = "effect classes are told by hints and names: correct `annotations` before the first run; harvests call the readonly"
    suite.note("look", said, path, 1)
    said = "values in what the user says are as recorded; where the server has others now, take them from a harvest"
    suite.note("look", said, path, session.said[0].line)


def _nothing(source: str, problem: Unreadable) -> Diagnostic:
    return Diagnostic(
        "MCPE604",
        f"`{source[:120]}` gives no task: {problem.reason}",
        body="A task is made of what a user asked and the calls of MCP tools that followed.",
        hint="name a session in which an MCP server was used, or a trial as `RUN:TASK@CELL#1`",
    )
