"""Command line, shared by compile, graph, lock and run: the plans of the specs of one command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.project.files import digests
from mcpeval_dsl.project.loading import Loaded, Specs, load, lock_path, read_lock

if TYPE_CHECKING:
    from mcpeval_dsl.plan.model import Plan, Selection

__all__ = ["Loaded", "Specs", "load", "lock_path", "plan", "read_lock", "read_scripts"]


def read_scripts(specs: Specs) -> None:
    """Mistakes in the scripts of scripted models go to `specs.diagnostics`. What cannot be read is told elsewhere."""
    scripts = {model.target for loaded in specs.suites for model in loaded.suite.models if model.driver == "script"}
    if scripts:
        from mcpeval_dsl.agents.drivers.script_form import faults

        specs.diagnostics.extend(faults(sorted(scripts), specs.reader.read))


def plan(specs: Specs, selection: Selection, *, trials: bool = False) -> list[Plan]:
    """The plans of all suites in which something is selected; what is wrong goes to `specs.diagnostics`.

    `trials`: they are about to be run or priced, so what so few of them cannot decide is said.
    A name in `--select` or `--exclude` has to be known in one of the suites, not in each.
    """
    from mcpeval_dsl.plan.build import build

    assert specs.project is not None
    several = len(specs.suites) > 1
    plans: list[Plan] = []
    elsewhere: list[list[Diagnostic]] = []
    for loaded in specs.suites:
        paths = (*loaded.suite.files, *loaded.suite.fixtures)
        made = build(
            loaded.suite,
            loaded.lock,
            digests(specs.project.root, paths),
            selection,
            loaded.warnings,
            several=several,
        )
        own = [d for d in made.diagnostics if d.code not in ("MCPE570", "MCPE571")] if several else made.diagnostics
        specs.diagnostics.extend(own)
        elsewhere.append([d for d in made.diagnostics if d.code in ("MCPE570", "MCPE571")])
        if made.value is not None:
            plans.append(made.value)
            if trials:
                found = specs.suppressions.apply(_out_of_reach(made.value))
                specs.diagnostics.extend(specs.project.lint.apply(found))
    if several:
        specs.diagnostics.extend(_nowhere(elsewhere, bool(plans)))
    return plans


def _out_of_reach(plan: Plan) -> list[Diagnostic]:
    """Rules of the gate that so few tasks and trials cannot decide. Statistics are loaded only where a rule needs them."""
    rules = plan.suite.gate.rules
    if not any(rule.bound is not None or rule.metric in ("lift", "compare") for rule in rules):
        return []
    from mcpeval_dsl.score.foresight import foresee

    return foresee(plan)


def _nowhere(found: list[list[Diagnostic]], something: bool) -> list[Diagnostic]:
    """The unknown names that no suite knows; where nothing at all is selected, that."""
    from dataclasses import replace

    unknown = [{d.title: d for d in each if d.code == "MCPE571"} for each in found]
    titles = set.intersection(*(set(each) for each in unknown)) if unknown else set()
    errors = [replace(d, severity="error") for title, d in unknown[0].items() if title in titles] if unknown else []
    nothing = [d for each in found for d in each if d.code == "MCPE570"]
    return errors or ([] if something else nothing)
