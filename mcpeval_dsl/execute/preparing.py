"""Before a server is probed for the first time in a run: its `prepare`, in a folder of the run that trials only read.

Done once, and kept while the run may be continued; made again where what it is made of has changed or it did not finish.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from mcpeval_dsl.execute.environ import minimal
from mcpeval_dsl.execute.files import created
from mcpeval_dsl.execute.folders import TrialFolder, remove
from mcpeval_dsl.execute.names import extended
from mcpeval_dsl.execute.networking import opened
from mcpeval_dsl.execute.processes import failure_of
from mcpeval_dsl.execute.steps import OUTPUT_CAP, StepFailed, beside_spec
from mcpeval_dsl.gateway.model import ServerStartError
from mcpeval_dsl.gateway.spaces import NetworkUnavailable
from mcpeval_dsl.plan.keys import digest
from mcpeval_dsl.semantics.expressions import RunStep
from mcpeval_dsl.semantics.model import Environment, Server
from mcpeval_dsl.semantics.preparing import Preparation
from mcpeval_dsl.values.evaluate import evaluate
from mcpeval_dsl.values.model import EvaluationError, Scope
from mcpeval_dsl.values.processes import Wrap, run_command
from mcpeval_dsl.values.regular import regular_text
from mcpeval_dsl.values.sources import argv_of
from mcpeval_dsl.values.text import as_text

if TYPE_CHECKING:
    from mcpeval_dsl.execute.context import RunContext

STEP_SECONDS = 900.0
"""A build takes longer than a step of a trial; `timeout` of the command says otherwise."""
GIT_SECONDS = 120.0
DONE = "done"


def place_of(run_folder: Path, server: Server) -> TrialFolder:
    """Where a server's own folder is in a run, or would be; `{{ prepared }}` is its work directory."""
    return TrialFolder(run_folder.resolve() / "prepared" / server.name)


def commit_at(server: Server, spec_folder: Path) -> str | None:
    """The commit that `checkout` means now. None without one, or where git knows none by that name."""
    checkout = server.prepare.checkout if server.prepare is not None else None
    if checkout is None:
        return None
    done = _git(spec_folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{checkout.ref}^{{commit}}")
    return done.stdout.decode().strip() if done is not None and done.returncode == 0 else None


async def prepared(context: RunContext, server: Server, scope: Scope) -> None:
    """Make the server's folder, unless this run has it. Raises ServerStartError, the same each time."""
    if server.prepare is None:
        return
    lock: asyncio.Lock = context.shared.setdefault(f"prepare:{server.name}", asyncio.Lock())
    known: dict[str, ServerStartError | None] = context.shared.setdefault("prepared", {})
    async with lock:
        if server.name not in known:
            known[server.name] = await _problem(context, server, server.prepare, scope)
    problem = known[server.name]
    if problem is not None:
        raise problem


async def all_prepared(context: RunContext, servers: Iterable[Server], scope: Scope) -> None:
    """The same for every server that a world may start; one that cannot be made keeps no other from it."""
    for server in servers:
        with contextlib.suppress(ServerStartError):
            await prepared(context, server, scope)


async def _problem(
    context: RunContext, server: Server, preparation: Preparation, scope: Scope
) -> ServerStartError | None:
    try:
        await _kept_or_made(context, server, preparation, scope)
    except (StepFailed, EvaluationError, OSError) as error:
        where = f" ({error.at})" if isinstance(error, StepFailed) and error.at is not None else ""
        return ServerStartError(server.name, "not_prepared", f"it could not be prepared: {error}{where}")
    return None


async def _kept_or_made(context: RunContext, server: Server, preparation: Preparation, scope: Scope) -> None:
    """Raises StepFailed, EvaluationError, OSError."""
    folder = place_of(context.run_folder, server)
    commit = await asyncio.to_thread(commit_at, server, context.spec_folder)
    mark = digest([preparation, commit])
    try:
        if regular_text(folder.root / DONE) == mark:
            return
    except (OSError, UnicodeDecodeError):
        remove(folder.root)
    await _make(context, preparation, commit, folder, extended(scope, prepared=str(folder.work)))
    with os.fdopen(created(folder.root, DONE), "w", encoding="utf-8") as stream:
        stream.write(mark)


async def _make(
    context: RunContext, preparation: Preparation, commit: str | None, folder: TrialFolder, scope: Scope
) -> None:
    remove(folder.root)
    for part in (folder.root, folder.work, folder.home, folder.temporary, folder.logs):
        part.mkdir(mode=0o700, parents=part is folder.root)
    if preparation.checkout is not None:
        if commit is None:
            ref = preparation.checkout.ref
            raise StepFailed(f"the repository of the spec has no commit `{ref}`", preparation.checkout.at)
        await asyncio.to_thread(_checkout, context.spec_folder, commit, folder.work, preparation)
    place = Environment("", network=preparation.network)
    try:
        network = await opened(context.sandbox, place, (), folder.root, scope)
    except NetworkUnavailable as problem:
        raise StepFailed(str(problem), preparation.at) from problem
    try:
        wrap = network.sandbox_of().wrapping(folder.root, folder.work)
        for step in preparation.steps:
            await _run(context, step, folder, scope, wrap)
    finally:
        await network.close()


async def _run(context: RunContext, step: RunStep, folder: TrialFolder, scope: Scope, wrap: Wrap) -> None:
    try:
        words = argv_of(step.argv, scope)
        own = {entry.key: as_text(evaluate(entry.value, scope)) for entry in step.env}
    except EvaluationError as error:
        raise StepFailed(error.reason, step.at) from error
    argv = [beside_spec(word, context.spec_folder, program=index == 0) for index, word in enumerate(words)]
    seconds = step.timeout or STEP_SECONDS
    ran = await run_command(argv, folder.work, minimal(folder, own), seconds, OUTPUT_CAP, wrap=wrap, cut=True)
    failure = failure_of(ran, argv)
    if failure is not None:
        raise StepFailed(failure, step.at)


def _checkout(spec_folder: Path, commit: str, target: Path, preparation: Preparation) -> None:
    """The files of a commit, whole, without touching the repository or its work tree."""
    at = preparation.checkout.at if preparation.checkout is not None else None
    top = _git(spec_folder, "rev-parse", "--show-toplevel")
    if top is None or top.returncode != 0:
        raise StepFailed("the spec does not lie in a git repository", at)
    with tempfile.TemporaryFile() as archive:
        root = Path(top.stdout.decode().rstrip("\n"))
        made = _git(root, "archive", "--format=tar", commit, into=archive.fileno())
        if made is None or made.returncode != 0:
            said = made.stderr.decode("utf-8", "replace").strip()[:400] if made is not None else "git does not answer"
            raise StepFailed(f"the files of commit {commit[:12]} cannot be had: {said}", at)
        archive.seek(0)
        try:
            with tarfile.open(fileobj=archive) as members:
                members.extractall(target, filter="data")
        except (tarfile.TarError, OSError) as error:
            raise StepFailed(f"the files of commit {commit[:12]} cannot be written: {error}", at) from error


def _git(folder: Path, *words: str, into: int | None = None) -> subprocess.CompletedProcess[bytes] | None:
    program = shutil.which("git")
    if program is None:
        return None
    try:
        return subprocess.run(
            [program, *words],
            cwd=folder,
            stdout=subprocess.PIPE if into is None else into,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            timeout=GIT_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
