"""The statements of an environment, set-up or teardown, carried out in order for one trial."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mcpeval_dsl.execute import files
from mcpeval_dsl.execute.folders import TrialFolder
from mcpeval_dsl.execute.names import Names, extended
from mcpeval_dsl.execute.processes import Background, failure_of
from mcpeval_dsl.semantics.expressions import (
    CallStep,
    CopyStep,
    Expression,
    ForStep,
    LoadStep,
    PortStep,
    ReadyStep,
    RenderStep,
    ResetStep,
    RunStep,
    StartStep,
    Step,
    UnpackStep,
    WriteStep,
)
from mcpeval_dsl.semantics.hosts import is_loopback, plain
from mcpeval_dsl.source import Location
from mcpeval_dsl.values.evaluate import condition, evaluate
from mcpeval_dsl.values.model import EvaluationError, Reading, Scope, SourceReader
from mcpeval_dsl.values.processes import Wrap, run_command
from mcpeval_dsl.values.sources import argv_of
from mcpeval_dsl.values.subject import with_subject

STEP_TIMEOUT = 120.0
OUTPUT_CAP = 1024 * 1024

CallSteps = Callable[[CallStep, Scope], Awaitable[Any]]


class StepFailed(Exception):
    """A step could not be done: the trial is untestable. `reason` is a sentence, `at` its place in the spec."""

    def __init__(self, reason: str, at: Location | None, kind: str = "setup") -> None:
        super().__init__(reason)
        self.reason = reason
        self.at = at
        self.kind = kind


def ports_of(steps: Sequence[Step]) -> dict[str, int]:
    """A free loopback port for every `port` line; all are held at once, so that they differ."""
    names = [step.name for step in steps if isinstance(step, PortStep)]
    found: dict[str, int] = {}
    with contextlib.ExitStack() as held:
        for name in names:
            sock = held.enter_context(socket.socket())
            sock.bind(("127.0.0.1", 0))
            found[name] = sock.getsockname()[1]
    return found


class Workspace:
    """Carries out steps in one trial's folder. Relative sources are looked for beside the spec, targets in `workdir`."""

    def __init__(
        self,
        folder: TrialFolder,
        names: Names,
        *,
        spec_folder: Path,
        project_root: Path,
        variables: Callable[[], Mapping[str, str]],
        reader: SourceReader,
        call: CallSteps,
        wrap: Wrap | None = None,
        answers: Callable[[int], Awaitable[bool | None]] | None = None,
    ) -> None:
        """`answers`: whether something listens at a port that leads into the trial's own network; None for any other."""
        self.folder = folder
        self.names = names
        self.spec_folder = spec_folder
        self.project_root = project_root
        self._variables = variables
        self._reader = reader
        self._call = call
        self._wrap = wrap
        self._answers = answers
        self.background: list[Background] = []

    async def perform(self, steps: Sequence[Step], owner: str = "") -> None:
        """All steps in order; what a named call gave is bound under `owner`. Raises StepFailed."""
        for step in steps:
            try:
                await self._one(step, owner)
            except EvaluationError as error:
                raise StepFailed(error.reason, step.at) from error
            except (OSError, ValueError) as error:
                raise StepFailed(_sentence(error), step.at) from error

    async def stop(self) -> None:
        """End every background process."""
        for process in reversed(self.background):
            await process.stop()
        self.background.clear()

    async def _one(self, step: Step, owner: str) -> None:
        scope = self.names.scope()
        match step:
            case CopyStep():
                source = self.source(step.source, scope)
                target = self._target(step.to, scope) if step.to is not None else self.folder.work / source.name
                await asyncio.to_thread(files.copy, source, target, self.project_root, self.folder.root)
            case UnpackStep():
                source, target = self.source(step.source, scope), self._target(step.to, scope)
                await asyncio.to_thread(files.unpack, source, target)
            case WriteStep():
                files.write(self._target(step.path, scope), _text(evaluate(step.text, scope)))
            case RenderStep():
                more = {entry.key: evaluate(entry.value, scope) for entry in step.bindings}
                files.render(self.source(step.source, scope), self._target(step.to, scope), extended(scope, **more))
            case LoadStep():
                script, into = self.source(step.script, scope), self._target(step.into, scope)
                await asyncio.to_thread(files.load_sql, script, into)
            case RunStep():
                await self._run(step, scope)
            case StartStep():
                await self._start(step, scope)
            case CallStep():
                await self._call_step(step, scope, owner)
            case PortStep():
                pass
            case ReadyStep():
                await self._ready(step, scope)
            case ResetStep():
                await self._reset(step, scope)
            case ForStep():
                await self._for(step, scope, owner)

    def argv(self, words: Sequence[Expression], scope: Scope) -> tuple[str, ...]:
        """Words of a command line; a word that names a file beside the spec becomes its absolute path."""
        texts = argv_of(tuple(words), scope)
        return tuple(beside_spec(word, self.spec_folder, program=index == 0) for index, word in enumerate(texts))

    def source(self, expression: Expression, scope: Scope) -> Path:
        """An absolute path, else one beside the spec, else one of the project."""
        path = Path(_text(evaluate(expression, scope)))
        beside = self.spec_folder / path
        return beside if beside.exists() else self.project_root / path

    def _target(self, expression: Expression, scope: Scope) -> Path:
        path = Path(_text(evaluate(expression, scope)))
        target = path if path.is_absolute() else self.folder.work / path
        return files.inside(target, self.folder.root)

    async def _run(self, step: RunStep, scope: Scope) -> None:
        argv = self.argv(step.argv, scope)
        ran = await run_command(
            list(argv),
            self.folder.work,
            self._own(step, scope),
            step.timeout or STEP_TIMEOUT,
            OUTPUT_CAP,
            wrap=self._wrap,
        )
        failure = failure_of(ran, argv)
        if failure is not None:
            raise StepFailed(failure, step.at)

    def _own(self, step: RunStep | StartStep, scope: Scope) -> dict[str, str]:
        """The environment's variables, and those of this one process."""
        return {**self._variables(), **{entry.key: _text(evaluate(entry.value, scope)) for entry in step.env}}

    async def _start(self, step: StartStep, scope: Scope) -> None:
        argv = self.argv(step.argv, scope)
        try:
            variables = self._own(step, scope)
            log = files.created(self.folder.root, self.folder.logs.name, f"start-{len(self.background) + 1}.log")
            process = await Background.start(argv, cwd=self.folder.work, env=variables, log=log, wrap=self._wrap)
        except OSError as error:
            raise StepFailed(f"`{' '.join(argv)}` could not be started: {error.strerror}", step.at) from error
        self.background.append(process)

    async def _call_step(self, step: CallStep, scope: Scope, owner: str) -> None:
        value = await self._call(step, scope)
        if step.name is not None:
            self.names.bind((owner, step.name) if owner else (step.name,), value)

    async def _ready(self, step: ReadyStep, scope: Scope) -> None:
        target = _text(evaluate(step.target, scope))
        until = time.monotonic() + step.within
        while not await self._is_ready(step.probe, target):
            for process in self.background:
                if process.exit_code is not None:
                    shown = " ".join(process.argv)
                    raise StepFailed(
                        f"`{shown}` ended with exit code {process.exit_code} before `{target}` was ready: "
                        f"{process.tail()[-400:]}",
                        step.at,
                    )
            if time.monotonic() > until:
                raise StepFailed(f"`{target}` was not ready within {step.within:g} s", step.at)
            await asyncio.sleep(0.05)

    async def _is_ready(self, probe: str, target: str) -> bool:
        if probe == "exists":
            return Path(target).exists()
        if probe == "http":
            return await asyncio.to_thread(files.http_answers, target)
        host, _, port = target.removeprefix("tcp://").rpartition(":")
        if not port.isdigit():
            raise ValueError(f'`{target}` names no port; write "127.0.0.1:{{{{ port.NAME }}}}"')
        if self._answers is not None and is_loopback(plain(host or "localhost")):
            known = await self._answers(int(port))
            if known is not None:
                return known
        return await asyncio.to_thread(files.tcp_answers, host or "127.0.0.1", int(port))

    async def _reset(self, step: ResetStep, scope: Scope) -> None:
        reading = await self._reader.read(step.source, scope)
        if reading.error is not None:
            raise StepFailed(f"the reset failed: {reading.error}", step.at)
        self._require(step, reading, scope)

    def _require(self, step: ResetStep, reading: Reading, scope: Scope) -> None:
        inner = extended(with_subject(scope, reading), **reading.fields)
        for requirement in step.requires:
            result = condition(requirement.condition, inner)
            if not result.holds:
                raise StepFailed(f"the reset was not accepted: {result.actual}", requirement.at or step.at)

    async def _for(self, step: ForStep, scope: Scope, owner: str) -> None:
        rows = evaluate(step.over, scope)
        if not isinstance(rows, list):
            raise StepFailed("`for` needs a list to go through", step.at)
        done = 0
        for row in rows:
            if step.limit is not None and done >= step.limit:
                break
            self.names.values[step.variable] = row
            if step.where is not None and not condition(step.where, self.names.scope()).holds:
                continue
            await self.perform(step.steps, owner)
            done += 1
        self.names.values.pop(step.variable, None)


def beside_spec(word: str, spec_folder: Path, *, program: bool) -> str:
    """A relative path of a file that lies beside the spec, made absolute; any other word as it is."""
    if not word or word.startswith("-") or Path(word).is_absolute() or (program and "/" not in word):
        return word
    candidate = spec_folder / word
    try:
        return str(candidate.resolve()) if candidate.is_file() else word
    except (OSError, ValueError):
        return word


def _text(value: Any) -> str:
    return value if isinstance(value, str) else str(value)


def _sentence(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: `{error.filename}`" if error.filename else error.strerror
    return str(error)
