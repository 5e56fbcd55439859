"""Rule: an arm leaves the agent something, and lift is measured against more than an agent without tools."""

from __future__ import annotations

from mcpeval_dsl.diagnostics.model import Diagnostic, Label
from mcpeval_dsl.semantics.arms import Arm
from mcpeval_dsl.semantics.lower.assemble import Lowered


def arms(lowered: Lowered) -> None:
    """Warn about lift over bare arms alone, and about servers of an arm that no task shows."""
    if lowered.ctx.problems.failed:
        return
    _bare_baselines(lowered)
    _out_of_sight(lowered)


def _bare_baselines(lowered: Lowered) -> None:
    suite = lowered.suite
    by_name = {arm.name: arm for arm in suite.arms}
    lifts = [each for each in suite.comparisons if each.kind == "lift"]
    better = {each.treatment for each in lifts if not by_name[each.baseline].bare}
    for lift in lifts:
        baseline = by_name[lift.baseline]
        if not baseline.bare or lift.treatment in better:
            continue
        labels = () if baseline.at is None else (Label(baseline.at, "this arm has no tools at all"),)
        lowered.ctx.problems.found.append(
            Diagnostic(
                "MCPE352",
                f"`{lift.treatment}` is compared with an agent without any tools, and with nothing else",
                lift.at,
                "That says whether the data is needed, not whether the server is worth having.",
                'add an arm with what people would use otherwise: `arm cli { shell "sqlite3" }`, and a lift over it',
                "warning",
                labels=labels,
            )
        )


def _out_of_sight(lowered: Lowered) -> None:
    """An arm in use none of whose servers any task shows."""
    suite = lowered.suite
    used = {cell.arm for cell in suite.cells}
    catalogue = {server.name: server.catalog or server.name for server in suite.servers}
    shown = {name for task in suite.tasks for name in (*task.servers, *(catalogue.get(n, n) for n in task.servers))}
    for arm in suite.arms:
        if arm.name in used and arm.servers and suite.tasks and not _meets(arm, shown, catalogue):
            lowered.ctx.problems.found.append(
                Diagnostic(
                    "MCPE353",
                    f"no task shows a server of the arm `{arm.name}`",
                    arm.at,
                    "An agent has the servers that are both in its arm and among the task's `servers`.",
                    "take `servers` out of the tasks, or add the arm's servers there",
                    "warning",
                )
            )


def _meets(arm: Arm, shown: set[str], catalogue: dict[str, str]) -> bool:
    return any(name in shown or catalogue.get(name, name) in shown for name in arm.servers)
