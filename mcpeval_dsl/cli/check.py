"""Command line: `mcpe check`, the deterministic layer. Carries out the `check` blocks of specs; no model takes part."""

from __future__ import annotations

import json
import os
import secrets
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from mcpeval_dsl.cli import exits

if TYPE_CHECKING:
    from mcpeval_dsl.cli.specs import Specs
    from mcpeval_dsl.execute.checking import LineResult
    from mcpeval_dsl.execute.settings import RunSettings
    from mcpeval_dsl.plan.model import Plan
    from mcpeval_dsl.semantics.model import Check

HELP = """Carry out the checks of specs: calls, tools, schemas, protocol, access, times. No model takes part.

Each `check` block has a fresh environment of its own. A call with `require` lines passes or fails by them; a call without
leads up to the others. Exit code 1 for a line that fails, 3 for one that could not be tested, 4 for one that holds only in
part or asks for what there is not. `mcpe run` carries checks out too, before its trials.

Example: mcpe check specs/checks.mcpe
"""


def command(
    specs: Annotated[
        list[str] | None, typer.Argument(help="Specs, or folders with specs.", metavar="[SPEC]...")
    ] = None,
    trust_file: Annotated[list[str] | None, typer.Option(help="Files that say what may be started.")] = None,
    allow_writes: bool = typer.Option(
        False, "--allow-writes", help="Let calls that may write through to shared servers."
    ),
    keep: bool = typer.Option(False, "--keep", help="Keep the folders of the environments."),
    form: str = typer.Option("text", "--format", help="text or json (JSON Lines)."),
) -> None:
    from mcpeval_dsl.cli import trusting

    if form not in ("text", "json"):
        raise typer.BadParameter(f"--format is text or json, not `{form}`")
    loaded, plans = _plans(specs or [], form)
    if loaded.failed or not plans or loaded.project is None:
        raise typer.Exit(exits.SPEC)
    settings = _settings(loaded, allow_writes, keep)
    if settings is None:
        raise typer.Exit(exits.SPEC)
    if not all(trusting.allowed(plan, loaded.project.root, tuple(trust_file or ())) for plan in plans):
        raise typer.Exit(exits.SPEC)
    if form == "json":
        from mcpeval_dsl.cli.versions import first_line

        print(first_line("check"))
    codes = []
    for plan in plans:
        found = carry_out(plan, settings)
        for check, results in found:
            sys.stdout.write(_json(plan, check, results) if form == "json" else _text(plan, check, results))
        codes.append(code_of([result for _, results in found for result in results]))
    sys.stdout.flush()
    raise typer.Exit(exits.worst(*codes))


def _plans(specs: list[str], form: str) -> tuple[Specs, list[Plan]]:
    """What can be planned of the specs, those with checks only; everything wrong has been shown."""
    from mcpeval_dsl.cli import specs as loading
    from mcpeval_dsl.cli.findings import show
    from mcpeval_dsl.diagnostics.model import Diagnostic
    from mcpeval_dsl.plan.model import Selection

    loaded = loading.load(specs)
    if loaded.suites and not loaded.failed and not any(each.suite.checks for each in loaded.suites):
        hint = "add `check SERVER { tool NAME present }`"
        loaded.diagnostics.append(Diagnostic("MCPE509", "no spec named has a `check` block", hint=hint))
    loaded.suites = [each for each in loaded.suites if each.suite.checks]
    plans = loading.plan(loaded, Selection()) if loaded.suites and not loaded.failed else []
    problems = "json" if form == "json" else "text"
    show(loaded.diagnostics, loaded.sources, problems, sys.stderr)  # type: ignore[arg-type]  # one of two literals
    return loaded, plans


def _settings(loaded: Specs, allow_writes: bool, keep: bool) -> RunSettings | None:
    from mcpeval_dsl.cli.findings import show
    from mcpeval_dsl.diagnostics.model import Diagnostic
    from mcpeval_dsl.execute import settings as operator

    assert loaded.project is not None
    try:
        return operator.load(loaded.project.root, allow_writes=allow_writes, keep=keep)
    except ValueError as error:
        show([Diagnostic("MCPE507", str(error))], {}, stream=sys.stderr)
        return None


def carry_out(plan: Plan, settings: RunSettings) -> list[tuple[Check, tuple[LineResult, ...]]]:
    """All checks of a plan, one after the other, each with its lines and what became of them."""
    import asyncio

    from mcpeval_dsl.execute import prepare
    from mcpeval_dsl.execute.check_nodes import checks_of_plan

    own = f"{os.getpid()}-{secrets.token_hex(4)}"
    context = prepare.context_of(
        plan, settings.project_root / ".mcpe" / "checks" / own, settings, with_models=False
    ).value
    assert context is not None, "without models there is nothing to refuse"
    return asyncio.run(checks_of_plan(context))


def code_of(results: Sequence[LineResult]) -> int:
    """1 for a line that fails, 3 for one that could not be tested, 4 for one that holds in part or has nothing to hold to."""
    states = {result.state for result in results}
    if "fail" in states:
        return exits.FINDINGS
    if "not tested" in states:
        return exits.INCOMPLETE
    return exits.UNDECIDED if states & {"partial", "unsupported"} else exits.CLEAN


def _text(plan: Plan, check: Check, results: Sequence[LineResult]) -> str:
    from mcpeval_dsl.diagnostics.render.safe import visible

    passed = sum(result.state == "pass" for result in results)
    lines = [f"check {check.server}  ({plan.suite.spec}): {passed} of {len(results)} lines pass"]
    for result in results:
        if result.state == "pass" and not result.reason:
            continue
        lines.append(f"  {result.state.upper():<11} {result.what}   {result.at or ''}".rstrip())
        if result.state == "fail":
            lines += [f"              got       {result.actual}", f"              expected  {result.expected}"]
        if result.reason:
            lines.append(f"              because {result.reason}")
    return "\n".join(visible(line) for line in lines) + "\n"


def _json(plan: Plan, check: Check, results: Sequence[LineResult]) -> str:
    return "".join(
        json.dumps(
            {
                "type": "check",
                "spec": plan.suite.spec,
                "server": check.server,
                "what": result.what,
                "state": result.state,
                "at": str(result.at) if result.at is not None else None,
                "actual": result.actual,
                "expected": result.expected,
                "reason": result.reason,
                "measured": dict(result.measured),
            },
            ensure_ascii=False,
        )
        + "\n"
        for result in results
    )
