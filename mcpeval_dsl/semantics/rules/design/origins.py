"""Rules: a task says whom it is taken from, and has a solution that is known to work."""

from __future__ import annotations

from mcpeval_dsl.semantics.lower.assemble import Lowered
from mcpeval_dsl.semantics.lower.tasks import LoweredTask
from mcpeval_dsl.semantics.model import Task
from mcpeval_dsl.semantics.rules.answers import asks_for_nothing
from mcpeval_dsl.semantics.rules.design.advice import about_task


def origins(lowered: Lowered) -> None:
    """Note tasks without `source`, and those without a reference solution where there is something to solve."""
    entries = lowered.parts.tasks
    _note(
        lowered,
        "MCPE371",
        entries,
        [entry for entry in entries if not entry.task.source],
        ("`{}` does not say where it comes from", "no task says where it comes from"),
        "Tasks that people really asked weigh more than those that were thought up beside the server.",
        'add `source "…"`: a ticket, a log, an interview, or that it is made up',
    )
    solvable = [entry for entry in entries if not asks_for_nothing(entry.task)]
    _note(
        lowered,
        "MCPE372",
        solvable,
        [entry for entry in solvable if not solved(entry.task)],
        ("nothing shows that `{}` can be solved", "nothing shows that any of the tasks can be solved"),
        "A task that nobody has solved may be broken; every agent fails it then.",
        "add `reference { server.tool(…) }`, which `mcpe selftest` plays",
    )


def _note(
    lowered: Lowered,
    code: str,
    all_: list[LoweredTask],
    without: list[LoweredTask],
    titles: tuple[str, str],
    body: str,
    hint: str,
) -> None:
    """Once for the suite where no task has it; else at each task that has not."""
    suite = lowered.parts.suite
    if suite is not None and len(without) == len(all_) > 1:
        lowered.ctx.problems.report(code, suite.name.span, titles[1], body, hint, severity="note")
        return
    for entry in without:
        about_task(lowered, entry, code, titles[0].format(entry.task.name), body, hint, "note")


def solved(task: Task) -> bool:
    """True with reference steps, in the task or in a turn of its dialogue."""
    turns = task.dialogue.turns if task.dialogue is not None else ()
    return bool(task.reference) or any(turn.reference for turn in turns)
