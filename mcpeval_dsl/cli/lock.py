"""Command line: `mcpe lock`, which asks the servers of each spec for their tools, behind trust, and writes `mcpe.lock`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from mcpeval_dsl.diagnostics.model import Diagnostic

if TYPE_CHECKING:
    from mcpeval_dsl.cli.meeting import Folder
    from mcpeval_dsl.cli.specs import Specs
    from mcpeval_dsl.plan.lock import Change
    from mcpeval_dsl.plan.model import LockedServer

HELP = """Ask the servers for their tools and write mcpe.lock beside each spec. Starts the servers, after trust.

With --diff nothing is written: each change is said with its class, breaking, behavioural or cosmetic. It compares the lock
beside the specs with the servers as they are now; `--diff OLD.lock` compares an older file with them; `--diff OLD.lock
NEW.lock` compares two files (`-` is standard input) and starts nothing.

Example: mcpe lock specs/tracker.mcpe
"""


def command(
    spec: Annotated[
        list[str] | None,
        typer.Argument(help="Specs or folders, else those of the project; with --diff also lock files."),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit 1 where the lock is out of date.")
    ] = False,
    offline: Annotated[
        bool,
        typer.Option("--offline", help="With --check: start nothing; look whether the lock is whole and complete."),
    ] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Write nothing; say what changed, by class.")] = False,
    fail_on: Annotated[
        str,
        typer.Option("--fail-on", help="With --diff, exit 1 from this class on: breaking, behavioural or cosmetic."),
    ] = "behavioural",
    trust_file: Annotated[str, typer.Option("--trust-file", help="A file of trusted command lines, for CI.")] = "",
    form: Annotated[str, typer.Option("--format", help="text or json (JSON Lines).")] = "text",
) -> None:
    from mcpeval_dsl.cli import meeting
    from mcpeval_dsl.cli import specs as loading
    from mcpeval_dsl.cli.findings import show

    if form not in ("text", "json"):
        raise typer.BadParameter(f"--format is text or json, not `{form}`")
    if (offline and not check) or (diff and (check or offline)):
        raise typer.BadParameter("--offline goes with --check, and --diff with neither")
    if offline:
        from mcpeval_dsl.cli import lock_offline

        raise typer.Exit(lock_offline.check(spec or [], form))
    if diff:
        from mcpeval_dsl.cli import lock_differences

        raise typer.Exit(lock_differences.show(spec or [], trust_file, fail_on, form))
    # what is locked now must not stand in the way of locking it anew
    specs = loading.load(spec or [], with_lock=False)
    folders = meeting.meet(specs, trust_file) if specs.suites and not specs.failed else {}
    if form == "json":
        print(json.dumps({"type": "version", "format": "mcpe.lock", "version": 1}))
    outdated = False
    for folder in folders.values():
        outdated = _settle(specs, folder, check, form) or outdated
    show(specs.diagnostics, specs.sources, "text", sys.stderr) if specs.diagnostics else None
    raise typer.Exit(meeting.exit_code(specs, folders, check and outdated))


def _settle(specs: Specs, folder: Folder, check: bool, form: str) -> bool:
    """Shows and writes one lock file; True where it was out of date."""
    from mcpeval_dsl.plan import lock as locks
    from mcpeval_dsl.plan.model import Lock
    from mcpeval_dsl.project.writing import put

    assert specs.project is not None
    before = {s.server: s for s in folder.old.servers} if folder.old is not None else {}
    # a spec that was not named may still use its entry in the same file
    new = locks.merge(folder.old, folder.met.values(), {*before, *folder.names})
    outdated = False
    for server in new.servers:
        if server.server not in folder.met:
            continue
        old = before.get(server.server)
        changes = locks.diff(old, server) if old is not None else ()
        moved = (
            old is None or bool(changes) or locks.write(Lock(servers=(old,))) != locks.write(Lock(servers=(server,)))
        )
        outdated = outdated or moved
        _show(server, old, changes, form)
    path = specs.project.root / folder.path
    if check and outdated:
        title = f"{folder.path} is out of date"
        specs.diagnostics.append(Diagnostic("MCPE405", title, hint="write it again with `mcpe lock`"))
    elif not check and folder.met and not any(d.code == "MCPE402" for d in specs.diagnostics):
        data = locks.write(new)
        if not path.exists() or path.read_bytes() != data:
            put(path, data)
        print(json.dumps({"type": "lock", "path": folder.path}) if form == "json" else f"lock written to {folder.path}")
    return outdated


def _show(server: LockedServer, old: LockedServer | None, changes: Sequence[Change], form: str) -> None:
    if form == "json":
        line = {
            "type": "server",
            "server": server.server,
            "version": server.version,
            "revision": server.revision,
            "era": server.era,
            "tools": len(server.tools),
            "catalogue_sha256": server.catalogue_sha256,
            "new": old is None,
            "changes": [{"part": c.part, "tool": c.tool, "what": c.what} for c in changes],
            "findings": list(server.findings),
        }
        print(json.dumps(line, ensure_ascii=False))
        return
    from mcpeval_dsl.diagnostics.render.safe import visible

    version = f" {server.version}" if server.version else ""
    name = visible(f"{server.title or 'no name'}{version}")
    print(
        f"{server.server}: {name}, {len(server.tools)} tool{'s' * (len(server.tools) != 1)}, revision {server.revision}"
    )
    for change in changes:
        print(f"  changed  {visible(change.what)}")
    for finding in server.findings:
        print(f"  finding  {visible(finding)}")
