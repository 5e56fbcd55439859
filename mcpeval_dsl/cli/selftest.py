"""Command line: `mcpe selftest`, whether tasks can be solved and graders tell right from wrong. No model takes part."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from mcpeval_dsl.cli import exits

if TYPE_CHECKING:
    from mcpeval_dsl.cli.examining import Tried
    from mcpeval_dsl.execute.settings import RunSettings
    from mcpeval_dsl.plan.model import Plan

HELP = """Try tasks and graders without a model.

The reference of each task is played as an agent would and has to pass; an agent that does nothing has to fail; and answers
that are wrong in one place (another number, date or name, an item left out, a denial) have to be rejected. Judges are left
out. Held-out tasks are tried too: no agent sees them. Exit code 1 for a finding, 3 for what could not be tried, 4 where
nothing was.

Example: mcpe selftest specs/tracker.mcpe --select label_it
"""


def command(
    specs: Annotated[
        list[str] | None, typer.Argument(help="Specs, or folders with specs.", metavar="[SPEC]...")
    ] = None,
    select: Annotated[list[str] | None, typer.Option("--select", "-s", help="As in `mcpe compile`.")] = None,
    exclude: Annotated[list[str] | None, typer.Option("--exclude", help="As in `mcpe compile`.")] = None,
    jobs: int = typer.Option(0, "--jobs", "-j", min=0, help="Trials in flight; 0 is twice the cores."),
    trust_file: Annotated[list[str] | None, typer.Option(help="Files that say what may be started.")] = None,
    allow_writes: bool = typer.Option(False, "--allow-writes", help="Let permitted writes through to shared servers."),
    keep: bool = typer.Option(False, "--keep", help="Keep the records and the folders of the trials."),
    form: str = typer.Option("text", "--format", help="text or json (JSON Lines)."),
) -> None:
    from mcpeval_dsl.cli import running, selftesting, trusting
    from mcpeval_dsl.cli.findings import show
    from mcpeval_dsl.cli.versions import first_line
    from mcpeval_dsl.execute import prepare

    if form not in ("text", "json"):
        raise typer.BadParameter(f"--format is text or json, not `{form}`")
    chosen = running.choose(specs or ["."], select or [], exclude or [], heldout=True, form=form, trials=False)
    if chosen is None:
        raise typer.Exit(exits.SPEC)
    settings = _settings(chosen.root, jobs, allow_writes, keep)
    refused = [problem for plan in chosen.plans for problem in prepare.unsupported(plan)]
    show(refused, chosen.sources, stream=sys.stderr)
    if settings is None or refused:
        raise typer.Exit(exits.SPEC)
    if not all(trusting.allowed(plan, chosen.root, tuple(trust_file or ())) for plan in chosen.plans):
        raise typer.Exit(exits.SPEC)
    if form == "json":
        print(first_line("selftest"))
    codes = []
    for plan in chosen.plans:
        tried, code = selftesting.carry_out(plan, settings, keep)
        sys.stdout.write(_json(plan, tried) if form == "json" else _text(plan, tried))
        codes.append(code)
        if code in (exits.INTERRUPTED, exits.DISK):
            break
    sys.stdout.flush()
    raise typer.Exit(exits.worst(*codes))


def _settings(root: object, jobs: int, allow_writes: bool, keep: bool) -> RunSettings | None:
    from pathlib import Path

    from mcpeval_dsl.cli.findings import show
    from mcpeval_dsl.diagnostics.model import Diagnostic
    from mcpeval_dsl.execute import settings as operator
    from mcpeval_dsl.execute.confinement import sandbox_of

    assert isinstance(root, Path)
    try:
        found = operator.load(root, jobs=jobs or None, allow_writes=allow_writes, keep=keep)
        sandbox_of(found)
    except ValueError as error:
        show([Diagnostic("MCPE507", str(error))], {}, stream=sys.stderr)
        return None
    return found


def _text(plan: Plan, tried: Sequence[Tried]) -> str:
    from mcpeval_dsl.diagnostics.render.safe import visible
    from mcpeval_dsl.report.page import clip, plural, table, wrapped

    found = sum(len(each.findings) for each in tried)
    rows = [("task", "reference", "does nothing", "wrong answers")]
    for each in tried:
        name = f"{each.instance} ({each.variant})" if each.variant else each.instance
        rejected = f"{each.rejected} of {each.mutants} rejected" if each.mutants else "not tested"
        null = {"pass": "fails", "fail": "PASSES"}.get(each.null, each.null)
        rows.append((clip(visible(name), 40), {"fail": "FAILS"}.get(each.reference, each.reference), null, rejected))
    head = f"{plan.suite.name}  ({plan.suite.spec}): {plural(len(tried), 'task')}, {plural(found, 'finding')}"
    lines = [visible(head), *(f"  {line}" for line in table(rows))]
    for each in tried:
        for text in each.findings:
            lines += wrapped(f"FINDING  {each.instance}: {text}", "  ", "    ")
    besides: dict[str, list[str]] = {}
    for each in tried:
        for text in _besides(each):
            besides.setdefault(text, []).append(each.instance)
    for text, instances in besides.items():
        lines += wrapped(f"{text}: {', '.join(dict.fromkeys(instances))}", "  - ", "    ")
    return "\n".join(lines) + "\n"


def _besides(tried: Tried) -> list[str]:
    """What was not tested, each reason once, and what to know."""
    found: dict[str, list[str]] = {}
    for what, state, because in (
        ("reference", tried.reference, tried.reference_because),
        ("the agent that does nothing", tried.null, tried.null_because),
        ("wrong answers", "not tested" if not tried.mutants else "pass", tried.mutants_because),
    ):
        if state == "not tested" and because:
            found.setdefault(because, []).append(what)
    told = [f"not tested ({', '.join(whats)}): {because}" for because, whats in found.items()]
    return told + tried.notes


def _json(plan: Plan, tried: Sequence[Tried]) -> str:
    lines = [
        json.dumps(
            {"type": "selftest", "suite": plan.suite.name, "spec": plan.suite.spec, **asdict(each)}, ensure_ascii=False
        )
        for each in tried
    ]
    return "".join(f"{line}\n" for line in lines)
