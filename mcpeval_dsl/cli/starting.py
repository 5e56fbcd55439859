"""Command line, behind `mcpe init`: the server is asked, a first spec drafted, and all or nothing written."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from mcpeval_dsl.cli import exits
from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.project import writing
from mcpeval_dsl.project.files import FileReader

if TYPE_CHECKING:
    from mcpeval_dsl.cli.reaching import Start
    from mcpeval_dsl.interchange.starter.model import Reached
    from mcpeval_dsl.interchange.starter.spec import Draft
    from mcpeval_dsl.plan.model import LockedServer, Plan

_FETCHERS = ("npx", "uvx", "pipx", "bunx", "pnpx", "pnpm", "yarn")


@dataclass(frozen=True, slots=True)
class Asked:
    """What the server said; without `locked`, why not."""

    locked: LockedServer | None
    diagnostics: tuple[Diagnostic, ...] = ()
    code: int = exits.CLEAN


def ask(start: Start, trust_file: str, yes: bool) -> Asked:
    """The server's catalogue. Starts it, or connects to it, once it is trusted."""
    from mcpeval_dsl.cli import meeting
    from mcpeval_dsl.execute import settings

    plan = _plan(start)
    if isinstance(plan, Diagnostic):
        return Asked(None, (plan,), exits.SPEC)
    problem = _trusted(start.root, plan, trust_file, yes)
    if problem is not None:
        return Asked(None, (problem,), exits.SPEC)
    try:
        settings.load(start.root)
    except ValueError as error:
        return Asked(None, (Diagnostic("MCPE507", str(error)),), exits.SPEC)
    with _standing(start.root / start.beside):
        (record,) = meeting.ask(start.root, plan)
    if record.status == "failed":
        return Asked(None, (_silent(start.reached, record),), exits.INCOMPLETE)
    return Asked(meeting.locked(record, plan.servers[0].transport))


@contextmanager
def _standing(folder: Path) -> Iterator[None]:
    """The folder of the spec to be, which paths of the spec begin at; what was made for that is taken away again."""
    made: list[Path] = []
    try:
        writing.make_folder(folder, made)
        yield
    finally:
        writing.without(made)


def _plan(start: Start) -> Plan | Diagnostic:
    """A plan that does nothing but reach the server, as the spec to be will."""
    from mcpeval_dsl import pipeline
    from mcpeval_dsl.interchange.starter.spec import draft
    from mcpeval_dsl.plan.build import build
    from mcpeval_dsl.plan.model import LockedServer, Selection

    nothing = LockedServer(
        server=start.reached.name, revision="", era="initialize", transport="stdio", catalogue_sha256=""
    )
    made = draft(start.reached, nothing)
    files = {start.spec: made.spec.encode(), f"{start.beside}/scripts/agent.yaml": made.script.encode()}
    checked = pipeline.check(start.spec, FileReader(start.root, overlay=files))
    problems = [d for d in checked.diagnostics if d.severity == "error"]
    built = build(checked.value, None, {}, Selection()) if checked.value is not None and not problems else None
    if built is None or built.value is None:
        found = (problems or list(built.diagnostics if built is not None else ()))[0]
        return replace(found, at=None)
    return built.value


def _trusted(root: Path, plan: Plan, trust_file: str, yes: bool) -> Diagnostic | None:
    from mcpeval_dsl.cli import trusting
    from mcpeval_dsl.diagnostics.render.safe import visible
    from mcpeval_dsl.execute import trust

    stores = [trust.personal_store(), *([trust.TrustFile(Path(trust_file))] if trust_file else [])]
    items = trusting.of_plan(plan, root)

    def agreed(new: Sequence[object]) -> bool:
        for item in items:
            print(f"trusted  {visible(item.shown())}", file=sys.stderr)
        return bool(new)

    can_ask = sys.stdin.isatty() and sys.stderr.isatty()
    problem = trust.require(items, stores, agreed if yes else trusting.ask if can_ask else None)
    if problem is not None and problem.code == "MCPE500":
        return replace(
            problem, title="this server is not trusted to be started", hint="read the line above; then add --yes"
        )
    return problem


def _silent(reached: Reached, record: object) -> Diagnostic:
    from mcpeval_dsl.cli.meeting import told

    message, last = str(getattr(record, "message", "")), str(getattr(record, "stderr_tail", ""))
    body = told(message, last)
    hint = "start the command by hand to see why; nothing was written"
    if reached.url:
        hint = "see whether it answers there, and what it wants: --header NAME=VARIABLE; nothing was written"
    if reached.argv and Path(reached.argv[0]).name in _FETCHERS:
        program = reached.argv[0]
        hint = (
            f"install the server and name its program: `{program}` loads it anew for each trial, which has no network"
        )
    elif reached.argv and not reached.env and re.search(r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b", last):
        hint = "name the variables it needs: --env TOKEN; nothing was written"
    return Diagnostic("MCPE404", f"the server `{reached.name}` could not be asked for its tools", None, body, hint)


def draft(start: Start, locked: LockedServer) -> Draft:
    """The first spec; a plainer one where the catalogue is so odd that the first one does not compile."""
    from mcpeval_dsl import pipeline
    from mcpeval_dsl.interchange.starter import spec
    from mcpeval_dsl.plan import lock as locks
    from mcpeval_dsl.plan.model import Lock

    known = locks.known(Lock(servers=(locked,)))
    for sketched in (True, False):
        made = spec.draft(start.reached, locked, sketched=sketched)
        made = replace(made, spec=_formatted(made.spec))
        files = {start.spec: made.spec.encode(), f"{start.beside}/scripts/agent.yaml": made.script.encode()}
        if pipeline.check(start.spec, FileReader(start.root, overlay=files), known).ok:
            break
    return made


def _formatted(text: str) -> str:
    from mcpeval_dsl.syntax.formatting.document import format_text

    found = format_text(text)
    return text if found.value is None else found.value


def files(start: Start, locked: LockedServer, made: Draft) -> dict[str, bytes]:
    """Every file by its path relative to the root."""
    from mcpeval_dsl.plan import lock as locks
    from mcpeval_dsl.plan.lock_digest import LOCK_FILE
    from mcpeval_dsl.plan.model import Lock

    found = {
        start.spec: made.spec.encode("utf-8", "replace"),
        f"{start.beside}/scripts/agent.yaml": made.script.encode("utf-8", "replace"),
        f"{start.beside}/{LOCK_FILE}": locks.write(Lock(servers=(locked,))),
    }
    return found | dict(_around(start, locked=True, starts=not start.reached.url))


def example(start: Start) -> dict[str, bytes]:
    """The suite of a newcomer: a server of its own, which only needs Python."""
    from mcpeval_dsl.interchange.starter import example

    found = {f"{start.beside}/{name}": text.encode() for name, text in example.files(start.reached.name).items()}
    return found | dict(_around(start, locked=False, starts=False))


def _around(start: Start, *, locked: bool, starts: bool) -> Iterator[tuple[str, bytes]]:
    """What the project lacks of settings, ignored files and a workflow; what it has is left alone, or added to."""
    from mcpeval_dsl.interchange.starter import folder

    if not start.configured:
        yield "mcpe.toml", folder.settings(str(PurePosixPath(start.beside).parent)).encode()
    path = start.root / ".gitignore"
    before = path.read_text("utf-8", "surrogateescape") if path.is_file() else None
    if (text := folder.ignored(before)) is not None:
        yield ".gitignore", text.encode("utf-8", "surrogateescape")
    if not (start.root / folder.WORKFLOW).exists():
        yield folder.WORKFLOW, folder.workflow(start.spec, locked=locked, starts=starts).encode()


def write(start: Start, files: dict[str, bytes]) -> Diagnostic | None:
    """Writes all of them; where that fails, what was written is taken away again."""
    there = [path for path in writing.standing(start.root, files) if path != ".gitignore"]
    if there:
        title = f"{there[0]} is there already" + (f", and {len(there) - 1} more" if len(there) > 1 else "")
        hint = "choose another --name, or move the folder away"
        return Diagnostic("MCPE690", title, None, "`mcpe init` overwrites nothing.", hint)
    try:
        writing.put_all(start.root, files)
    except OSError as error:
        what = f"{error.filename or start.root} cannot be written: {error.strerror}"
        return Diagnostic("MCPE692", what, hint="nothing was written")
    return None
