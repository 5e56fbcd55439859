"""Command line, shared: may what a plan starts be started? Asks on a terminal, refuses where nobody can be asked."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mcpeval_dsl.cli.findings import show

if TYPE_CHECKING:
    from mcpeval_dsl.execute.startables import Startable
    from mcpeval_dsl.plan.model import Plan


def of_plan(plan: Plan, root: Path, *, starting: bool = True, grading: bool = False) -> tuple[Startable, ...]:
    """Everything the plan can start, in the sandbox that this machine gives it; with `grading` what grading again starts.

    Without `starting` the sandbox is not tried, but guessed: a command that only reads starts nothing.
    """
    from mcpeval_dsl.execute import settings as operator
    from mcpeval_dsl.execute.confinement import expected, sandbox_of
    from mcpeval_dsl.execute.startables import of_grading, startables

    listed = of_grading if grading else startables
    folder = (root / plan.suite.spec).parent.resolve()
    try:
        settings = operator.load(root)
    except ValueError:
        return listed(plan, folder)  # whoever starts something refuses these settings in a moment
    try:
        sandbox = sandbox_of(settings) if starting else expected(settings)
    except ValueError:
        sandbox = expected(settings)
    return listed(plan, folder, sandbox)


def allowed(plan: Plan, root: Path, trust_files: Iterable[str] = (), *, grading: bool = False) -> bool:
    """Whether all of it is trusted, by the operator's store, a trust file or an answer now. Says why not."""
    from mcpeval_dsl.execute import trust

    stores = [trust.personal_store(), *(trust.TrustFile(Path(name)) for name in trust_files)]
    can_ask = sys.stdin.isatty() and sys.stderr.isatty()
    items = of_plan(plan, root, grading=grading)
    doing = "Grading its trials again" if grading else "Running it"
    problem = trust.require(items, stores, ask if can_ask else None, doing)
    if problem is None:
        return True
    if {item.sandbox for item in items} != {
        item.sandbox for item in of_plan(plan, root, starting=False, grading=grading)
    }:
        hint = "bubblewrap cannot be used here (see `mcpe doctor`): read the lines, then `MCPE_SANDBOX=none mcpe trust SPEC`"
        problem = replace(problem, hint=hint)
    show([problem], {}, stream=sys.stderr)
    return False


def ask(items: Sequence[Startable]) -> bool:
    """The question, with the exact lines; anything but yes is no."""
    from mcpeval_dsl.diagnostics.render.safe import visible

    print("This spec wants to start what was not trusted before:", file=sys.stderr)
    for item in items:
        print(f"  {visible(item.shown())}", file=sys.stderr)
    print("Trust exactly these? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
