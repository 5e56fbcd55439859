"""Command line, behind `mcpe run` and `mcpe demo`: from a chosen plan to a finished, graded and scored run."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from mcpeval_dsl.cli import exits
from mcpeval_dsl.cli.findings import show
from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.source import SourceFile
from mcpeval_dsl.values.regular import regular_bytes

if TYPE_CHECKING:
    from mcpeval_dsl.cli.reporting import Wanted
    from mcpeval_dsl.execute.settings import RunSettings
    from mcpeval_dsl.plan.model import Plan
    from mcpeval_dsl.records.model import Manifest

RUNS = Path(".mcpe") / "runs"


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line says about one run."""

    fresh: bool = False
    name: str = ""
    jobs: int | None = None
    trust_files: tuple[str, ...] = ()
    allow_writes: bool = False
    update_lock: bool = False
    keep: bool = False
    max_cost: float | None = None
    form: str = "text"
    reports: tuple[Wanted, ...] = ()


@dataclass(slots=True)
class Chosen:
    """Plans to run, the root that their paths start from, and texts to quote from."""

    plans: tuple[Plan, ...]
    root: Path
    sources: Mapping[str, SourceFile] = field(default_factory=dict)


def choose(
    targets: list[str], select: list[str], exclude: list[str], heldout: bool, form: str, trials: bool = True
) -> Chosen | None:
    """The plans of a plan file, or of specs compiled now. None when something is wrong: it has been shown."""
    plan_files = [target for target in targets if target.endswith(".json")]
    if plan_files or not targets:
        if select or exclude or heldout:
            raise_usage(
                "--select, --exclude and --heldout choose when a spec is compiled; name specs, or compile again"
            )
        return _from_files(plan_files)
    return _from_specs(targets, select, exclude, heldout, form, trials)


def raise_usage(message: str) -> None:
    """Ends the command as wrong usage."""
    import typer

    raise typer.BadParameter(message)


def _from_files(paths: list[str]) -> Chosen | None:
    from mcpeval_dsl.plan import files
    from mcpeval_dsl.project.files import PLAN_PATH, find

    start = Path.cwd() / paths[0] if paths else Path.cwd()
    project = find(start if start.exists() else Path.cwd())
    if project.value is None:
        show(project.diagnostics, {}, stream=sys.stderr)
        return None
    root = project.value.root
    plans: list[Plan] = []
    for path in [Path.cwd() / name for name in paths] or [root / PLAN_PATH]:
        try:
            data = regular_bytes(path)
        except OSError as error:
            hint = "write it with `mcpe compile`, or name a spec: `mcpe run SPEC`"
            shown = project.value.relative(path)
            why = (error.strerror or "").lower()
            show([Diagnostic("MCPE504", f"there is no plan at {shown} ({why})", hint=hint)], {}, stream=sys.stderr)
            return None
        read = files.read(data, project.value.relative(path))
        show(read.diagnostics, {}, stream=sys.stderr)
        if read.value is None:
            return None
        plans.extend(read.value.plans)
    home = _home(plans, root)
    if home is None:
        named = ", ".join(dict.fromkeys(plan.suite.spec for plan in plans))
        title = f"this plan is of another project: {named} and what it needs is not here"
        hint = "go to the project that it was compiled in, and name it there: `mcpe run PLAN`"
        show([Diagnostic("MCPE511", title, hint=hint)], {}, stream=sys.stderr)
        return None
    root = home
    changed = _changed(plans, root)
    show(changed, {}, stream=sys.stderr)
    if any(item.severity == "error" for item in changed):
        return None
    return Chosen(tuple(plans), root, _texts(plans, root))


def _home(plans: list[Plan], root: Path) -> Path | None:
    """The project of the plans: that of their folder, else the one that the command is given in.

    A plan names files from the root of its project, and not where that is. None where no file of it is at either place.
    """
    from mcpeval_dsl.project.files import find

    here = find(Path.cwd()).value
    paths = {entry.path for plan in plans for entry in (*plan.files, *plan.fixtures)}
    roots: list[Path] = [root, *([here.root] if here is not None else ())]
    for candidate in roots:
        if any((candidate / path).exists() for path in paths):
            return candidate
    return None if paths else root


def _texts(plans: list[Plan], root: Path) -> dict[str, SourceFile]:
    """The specs behind the plans, to quote from; one that is gone is not quoted."""
    found: dict[str, SourceFile] = {}
    for name in {entry.path for plan in plans for entry in plan.files}:
        try:
            found[name] = SourceFile(name, (root / name).read_text(encoding="utf-8", errors="replace"))
        except OSError:
            continue
    return found


def _changed(plans: list[Plan], root: Path) -> list[Diagnostic]:
    """Fixtures that are not what the plan was made from (an error), and specs that are not (a warning)."""
    from mcpeval_dsl.project.files import digests

    found: list[Diagnostic] = []
    hint = "run `mcpe compile` again"
    for plan in plans:
        now = digests(root, [entry.path for entry in (*plan.files, *plan.fixtures)])
        for entry in plan.fixtures:
            if now.get(entry.path) != entry.sha256:
                what = "is gone" if entry.path not in now else "has changed"
                body = "A run starts from exactly what was compiled."
                found.append(
                    Diagnostic("MCPE505", f"{entry.path} {what} since the plan was made", body=body, hint=hint)
                )
        for entry in plan.files:
            if now.get(entry.path) != entry.sha256:
                title = f"{entry.path} has changed since the plan was made"
                found.append(
                    Diagnostic("MCPE506", title, body="The plan is run as it is.", hint=hint, severity="warning")
                )
    return found


def _from_specs(
    targets: list[str], select: list[str], exclude: list[str], heldout: bool, form: str, trials: bool
) -> Chosen | None:
    from mcpeval_dsl.cli import specs as loading
    from mcpeval_dsl.plan.model import Selection

    specs = loading.load(targets)
    if trials:
        loading.read_scripts(specs)
    plans: list[Plan] = []
    if not specs.failed and specs.suites:
        plans = loading.plan(
            specs, Selection(select=tuple(select), exclude=tuple(exclude), heldout=heldout), trials=trials
        )
    problems = "json" if form == "json" else "text"
    show(specs.diagnostics, specs.sources, problems, sys.stderr)  # type: ignore[arg-type]  # one of two literals
    if specs.failed or not plans or specs.project is None:
        return None
    return Chosen(tuple(plans), specs.project.root, dict(specs.sources))


def run_one(plan: Plan, chosen: Chosen, options: Options) -> int:
    """One suite's run from trust to scorecard; the exit code of `score.exit`, or why it never began."""
    from mcpeval_dsl.cli import trusting
    from mcpeval_dsl.execute import prepare
    from mcpeval_dsl.execute import settings as operator
    from mcpeval_dsl.execute.manifest import manifest_of
    from mcpeval_dsl.gateway.sandbox import SandboxUnavailable
    from mcpeval_dsl.plan import files

    refused = prepare.unsupported(plan)
    if refused:
        show(refused, chosen.sources, stream=sys.stderr)
        return exits.SPEC
    try:
        settings = operator.load(chosen.root, jobs=options.jobs, allow_writes=options.allow_writes, keep=options.keep)
    except ValueError as error:
        show([Diagnostic("MCPE507", str(error))], {}, stream=sys.stderr)
        return exits.SPEC
    if not trusting.allowed(plan, chosen.root, options.trust_files):
        return exits.SPEC
    settings = replace(settings, max_cost=options.max_cost)
    data = files.write(plan)
    spec_folder = (chosen.root / plan.suite.spec).parent.resolve()
    try:
        manifest = manifest_of(plan, data, "", spec_folder, settings)
    except SandboxUnavailable as error:
        hint = 'set mode = "auto" or "none" under [sandbox] in mcpe.local.toml; `mcpe doctor` says what there is'
        show([Diagnostic("MCPE507", str(error), hint=hint)], {}, stream=sys.stderr)
        return exits.SPEC
    folder = (
        named_folder(chosen.root, options.name, manifest, options.fresh)
        if options.name
        else choose_folder(chosen.root, plan, manifest, options.fresh)
    )
    if folder is None:
        return exits.SPEC
    manifest = manifest.model_copy(update={"run": folder.name})
    return carry_out(plan, data, folder, manifest, settings, chosen, options)


def carry_out(
    plan: Plan,
    data: bytes,
    folder: Path,
    manifest: Manifest,
    settings: RunSettings,
    chosen: Chosen,
    options: Options,
) -> int:
    """Run what is due in this folder, then show the scorecard."""
    import asyncio

    from mcpeval_dsl.cli import calibrating, grading, progress, scoring
    from mcpeval_dsl.cli.stored import code
    from mcpeval_dsl.execute import prepare
    from mcpeval_dsl.execute.interrupts import StopRequest, signals_to
    from mcpeval_dsl.execute.scheduler import RunSummary, Scheduler
    from mcpeval_dsl.records import store as stores
    from mcpeval_dsl.score.digest import Digester

    made = prepare.context_of(plan, folder, settings)
    if made.value is None:
        show(made.diagnostics, chosen.sources, stream=sys.stderr)
        return exits.SPEC
    context = made.value
    if options.update_lock:
        context.shared["update_lock"] = True
    digester = Digester(plan, code())
    opened = stores.create(folder, data, manifest, lambda value: context.redactor.value(value)[0], digester)
    if opened.value is None:
        show(opened.diagnostics, {}, stream=sys.stderr)
        return exits.SPEC
    store = opened.value
    shown = progress.reporter(options.form, plan)

    async def go() -> RunSummary:
        stop = StopRequest()
        with signals_to(stop):
            unbelieved = await calibrating.measure(plan, context, store, stop, options.form == "json")
            finish = grading.finisher(plan, context, unbelieved)
            summary = await Scheduler(context, store, finish, shown.tell, stop).run()
        for driver in context.drivers.values():
            await driver.close()
        return summary

    try:
        summary = asyncio.run(go())
    finally:
        shown.close()
        store.close()
    return scoring.show_run(folder, summary, chosen.sources, options.form, options.reports)


def is_name(name: str) -> bool:
    """Whether a run may be called so."""
    from mcpeval_dsl.records.folder import SAFE_NAME

    return SAFE_NAME.fullmatch(name) is not None


def named_folder(root: Path, name: str, manifest: Manifest, fresh: bool) -> Path | None:
    """The run of that name, new or continued; None, after saying why, where there is another one of that name."""
    from mcpeval_dsl.records.folder import RunFolder
    from mcpeval_dsl.records.manifests import differences, refusal
    from mcpeval_dsl.records.reader import RunReader

    base = root / RUNS
    base.mkdir(parents=True, exist_ok=True, mode=0o700)
    there = RunFolder(base / name)
    if not there.exists:
        return there.path
    kept = RunReader(there).manifest()
    different = differences(kept, manifest)
    if not different and not fresh:
        return there.path
    if different:
        show([refusal(kept, different)], {}, stream=sys.stderr)
    else:
        print(f"error: there is a run `{name}` already: give the new one another name", file=sys.stderr)
    return None


def choose_folder(root: Path, plan: Plan, manifest: Manifest, fresh: bool) -> Path | None:
    """The newest run of the suite if it is this very run, or can be continued; else a new folder.

    None, after saying why, where the newest run was interrupted and was made with something else.
    """
    from mcpeval_dsl.records.folder import StoreError, runs
    from mcpeval_dsl.records.manifests import differences, refusal
    from mcpeval_dsl.records.reader import RunReader

    base = root / RUNS
    base.mkdir(parents=True, exist_ok=True, mode=0o700)
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    name = plan.suite.name[:50]  # a folder has at most 255 bytes in its name
    new = base / f"{name}-{stamp}-{secrets.token_hex(2)}"
    if fresh:
        return new
    for run in runs(root):
        reader = RunReader(run)
        try:
            kept = reader.manifest()
        except StoreError:
            print(f"run {run.path.name} is left alone: its manifest is damaged", file=sys.stderr)
            continue
        if kept.run.rsplit("-", 3)[0] != name:
            continue
        different = differences(kept, manifest)
        if not different:
            return run.path
        if _finished(reader):
            return new
        if kept.plan_key == manifest.plan_key:
            show([refusal(kept, different)], {}, stream=sys.stderr)
            return None
        print(
            f"run {kept.run} of this suite was not finished; this plan is another one, so a new run begins",
            file=sys.stderr,
        )
        return new
    return new


def _finished(reader: object) -> bool:
    from mcpeval_dsl.records.reader import RunReader

    assert isinstance(reader, RunReader)
    planned = set(reader.planned())
    return planned <= {record.id for record in reader.records()}
