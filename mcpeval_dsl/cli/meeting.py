"""Command line, shared by `mcpe lock` and `mcpe init`: the servers of specs are asked for their tools, behind trust."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcpeval_dsl.cli import exits
from mcpeval_dsl.diagnostics.model import Diagnostic

if TYPE_CHECKING:
    from mcpeval_dsl.cli.specs import Loaded, Specs
    from mcpeval_dsl.plan.model import Lock, LockedServer, Plan


@dataclass(slots=True)
class Folder:
    """One lock file to be: what it said and what the servers of its specs said now."""

    path: str
    old: Lock | None
    met: dict[str, LockedServer] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)


def exit_code(specs: Specs, folders: dict[str, Folder], outdated: bool) -> int:
    """Of a command that asked the servers: what is wrong, who did not answer, and whether the lock is `outdated`."""
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


def told(message: str, stderr: str) -> str:
    """Why a server could not be asked, with its last words where the message does not end in them."""
    last = stderr.strip()
    return f"{message}." if not last or message.endswith(last) else f"{message}.\nIts last words: {last}"


def _gather(specs: Specs, loaded: Loaded, folder: Folder, records: list[Any]) -> None:
    for record in records:
        server = next(s for s in loaded.suite.servers if s.name == record.server)
        folder.names.add(server.name)
        if record.status == "failed":
            folder.failed.add(server.name)
            body = told(record.message, record.stderr_tail)
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
