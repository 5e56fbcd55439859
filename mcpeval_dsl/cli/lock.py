"""Command line: `mcpe lock`, which asks the servers of each spec for their tools, behind trust, and writes `mcpe.lock`."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mcpeval_dsl.cli import exits
from mcpeval_dsl.diagnostics.model import Diagnostic

if TYPE_CHECKING:
    from mcpeval_dsl.cli.specs import Loaded, Specs
    from mcpeval_dsl.plan.lock import Change
    from mcpeval_dsl.plan.model import Lock, LockedServer, Plan

HELP = """Ask the servers for their tools and write mcpe.lock beside each spec. Starts the servers, after trust.

With --diff nothing is written: each change is said with its class, breaking, behavioural or cosmetic. It compares the lock
beside the specs with the servers as they are now; `--diff OLD.lock` compares an older file with them; `--diff OLD.lock
NEW.lock` compares two files (`-` is standard input) and starts nothing.

Example: mcpe lock specs/tracker.mcpe
"""


@dataclass(slots=True)
class Folder:
    """One lock file to be: what it said and what the servers of its specs said now."""

    path: str
    old: Lock | None
    met: dict[str, LockedServer] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)


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
    folders = meet(specs, trust_file) if specs.suites and not specs.failed else {}
    if form == "json":
        print(json.dumps({"type": "version", "format": "mcpe.lock", "version": 1}))
    outdated = False
    for folder in folders.values():
        outdated = _settle(specs, folder, check, form) or outdated
    show(specs.diagnostics, specs.sources, "text", sys.stderr) if specs.diagnostics else None
    raise typer.Exit(code(specs, folders, check and outdated))


def code(specs: Specs, folders: dict[str, Folder], outdated: bool) -> int:
    infrastructure = any(folder.failed for folder in folders.values())
    wrong = any(d.severity == "error" and d.code not in ("MCPE404", "MCPE405") for d in specs.diagnostics)
    codes = [exits.SPEC if wrong or not folders else exits.CLEAN]
    codes += [exits.INCOMPLETE] if infrastructure else []
    return exits.worst(*codes, *([exits.FINDINGS] if outdated else []))


def meet(specs: Specs, trust_file: str) -> dict[str, Folder]:
    """Every spec's servers, once trusted; nothing is started where any of them is not."""
    from mcpeval_dsl.cli import specs as loading
    from mcpeval_dsl.execute import settings

    assert specs.project is not None
    plans = [(loaded, plan) for loaded in specs.suites if (plan := _plan(specs, loaded)) is not None]
    problem = _trusted(specs.project.root, [plan for _, plan in plans], trust_file)
    if problem is not None:
        specs.diagnostics.append(problem)
        return {}
    try:
        settings.load(specs.project.root)
    except ValueError as error:
        specs.diagnostics.append(Diagnostic("MCPE507", str(error)))
        return {}
    folders: dict[str, Folder] = {}
    for loaded, plan in plans:
        path = loading.lock_path(loaded.path)
        if path not in folders:
            mark = len(specs.diagnostics)
            folders[path] = Folder(path, loading.read_lock(specs, loaded.path))
            # a lock that cannot be read is replaced here, so it stands in nobody's way
            specs.diagnostics[mark:] = [replace(d, severity="warning") for d in specs.diagnostics[mark:]]
        _gather(specs, loaded, folders[path], ask(specs.project.root, plan))
    return folders


def _plan(specs: Specs, loaded: Loaded) -> Plan | None:
    """The whole suite, held-out tasks too: a server is met in an environment that a trial of it would have."""
    from mcpeval_dsl.plan.build import build
    from mcpeval_dsl.plan.model import Selection

    made = build(loaded.suite, None, {}, Selection(heldout=True))
    specs.diagnostics.extend(d for d in made.diagnostics if d.severity == "error")
    return made.value


def _trusted(root: Path, plans: Sequence[Plan], trust_file: str) -> Diagnostic | None:
    """Asks for what is started here: servers and the set-up of their environments, not what graders would start."""
    from mcpeval_dsl.cli import trusting
    from mcpeval_dsl.execute import trust

    stores = [trust.personal_store(), *([trust.TrustFile(Path(trust_file))] if trust_file else [])]
    bare = [plan.model_copy(update={"tasks": (), "harvests": ()}) for plan in plans]
    items = [item for plan in bare for item in trusting.of_plan(plan, root)]
    can_ask = sys.stdin.isatty() and sys.stderr.isatty()
    return trust.require(tuple(dict.fromkeys(items)), stores, trusting.ask if can_ask else None)


def ask(root: Path, plan: Plan) -> list[Any]:
    """One `ConnectRecord` for each server of the plan, all asked at the same time."""
    import asyncio
    import tempfile

    from mcpeval_dsl.execute import nodes, prepare, settings
    from mcpeval_dsl.execute.context import RunContext
    from mcpeval_dsl.execute.shared import end_shared
    from mcpeval_dsl.gateway.redact import Redactor
    from mcpeval_dsl.plan.drafts import connect_id
    from mcpeval_dsl.plan.model import ConnectNode

    async def everything(folder: str) -> list[Any]:
        secrets = {n: value for n in prepare.secret_names(plan) if (value := os.environ.get(n)) is not None}
        context = RunContext(
            plan=plan,
            run_folder=Path(folder),
            spec_folder=(root / plan.suite.spec).parent.resolve(),
            settings=settings.load(root),
            redactor=Redactor(secrets),
            drivers={},
            secrets=secrets,
        )
        connects = (ConnectNode(id=connect_id(s.name), server=s.name, key="") for s in plan.servers)
        try:
            return list(await asyncio.gather(*(nodes.connect(context, node) for node in connects)))
        finally:
            await end_shared(context)

    with tempfile.TemporaryDirectory(prefix="mcpe-lock-") as folder:
        return asyncio.run(everything(folder))


def _gather(specs: Specs, loaded: Loaded, folder: Folder, records: list[Any]) -> None:
    for record in records:
        server = next(s for s in loaded.suite.servers if s.name == record.server)
        folder.names.add(server.name)
        if record.status == "failed":
            folder.failed.add(server.name)
            body = f"{record.message}." + (f"\nIts last words: {record.stderr_tail}" if record.stderr_tail else "")
            title = f"server `{server.name}` could not be asked for its tools"
            hint = "start the command by hand to see why; the entry it had is kept"
            specs.diagnostics.append(Diagnostic("MCPE404", title, server.at, body, hint))
            continue
        met = locked(record, server.transport)
        known = folder.met.get(server.name)
        if known is not None and known.catalogue_sha256 != met.catalogue_sha256:
            title = f"two specs in one folder mean different servers by `{server.name}`"
            hint = "rename one of them, or keep the specs in folders of their own"
            specs.diagnostics.append(Diagnostic("MCPE402", title, server.at, hint=hint))
        folder.met[server.name] = met


def locked(record: Any, transport: Any) -> LockedServer:
    """A connect record as the lock keeps it."""
    from mcpeval_dsl.execute import locking
    from mcpeval_dsl.gateway.pins import pin_from_json

    return locking.locked(record.server, pin_from_json(dict(record.pin)), transport)


def _settle(specs: Specs, folder: Folder, check: bool, form: str) -> bool:
    """Shows and writes one lock file; True where it was out of date."""
    from mcpeval_dsl.plan import lock as locks
    from mcpeval_dsl.plan.model import Lock

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
            _write_whole(path, data)
        print(json.dumps({"type": "lock", "path": folder.path}) if form == "json" else f"lock written to {folder.path}")
    return outdated


def _write_whole(path: Path, data: bytes) -> None:
    """All of it or nothing: whoever reads meanwhile sees the old file."""
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        beside.write_bytes(data)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


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
    print(f"{server.server}: {name}, {len(server.tools)} tools, revision {server.revision}")
    for change in changes:
        print(f"  changed  {visible(change.what)}")
    for finding in server.findings:
        print(f"  finding  {visible(finding)}")
