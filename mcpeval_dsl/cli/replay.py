"""Command line: `mcpe replay`, one trial again from its record: the same model turns against a fresh server."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mcpeval_dsl.cli import exits

if TYPE_CHECKING:
    from mcpeval_dsl.cli.stored import StoredRun
    from mcpeval_dsl.grade.services import JudgeSetting
    from mcpeval_dsl.plan.model import TrialGroup
    from mcpeval_dsl.records.model import TrialRecord

HELP = """Run one trial again from its record: what the model said is played back, environment and server are fresh.

Shows where the server now answers otherwise, and the outcome then and now. Nothing is written into the run.
With --live the model is asked again instead.

Example: mcpe replay legacy_owner@careful#1
"""


def command(
    run: Annotated[str, typer.Argument(help="A run; or a trial of the latest run, `task@cell#number`.")] = "",
    trial: Annotated[str, typer.Argument(help="A trial, as the scorecard names it.")] = "",
    live: bool = typer.Option(False, "--live", help="Ask the model again instead of playing it back."),
    trust_file: Annotated[list[str] | None, typer.Option(help="Files that say what may be started.")] = None,
    keep: bool = typer.Option(False, "--keep", help="Keep the folder of the trial."),
    form: str = typer.Option("text", "--format", help="text or json (JSON Lines)."),
) -> None:
    from mcpeval_dsl.cli import stored, trusting, view

    if form not in ("text", "json"):
        raise typer.BadParameter(f"--format is text or json, not `{form}`")
    if not trial and "#" in run:
        run, trial = "", run
    if not trial:
        raise typer.BadParameter("name a trial, for example `mcpe replay task@cell#1`; `mcpe view` lists them")
    found = stored.find_run(run or None)
    if found is None:
        raise typer.Exit(exits.SPEC)
    record = view.find_trial(found, trial)
    if not trusting.allowed(found.plan, found.root, tuple(trust_file or ())):
        raise typer.Exit(exits.SPEC)
    again = _again(found, record, live, keep)
    if again is None:
        raise typer.Exit(exits.SPEC)
    if form == "json":
        from mcpeval_dsl.cli.versions import first_line

        print(first_line("replay"))
        print(json.dumps(_summary(record, again), ensure_ascii=False))
    else:
        sys.stdout.write(_text(record, again))
    raise typer.Exit(_code(record, again))


def _again(run: StoredRun, record: TrialRecord, live: bool, keep: bool) -> TrialRecord | None:
    """The trial as it goes now; None after saying why it cannot be run."""
    import asyncio
    from dataclasses import replace

    from mcpeval_dsl.agents.drivers.replay import ReplayDriver
    from mcpeval_dsl.cli import grading
    from mcpeval_dsl.cli.findings import show
    from mcpeval_dsl.diagnostics.model import Diagnostic
    from mcpeval_dsl.execute import prepare
    from mcpeval_dsl.execute import settings as operator
    from mcpeval_dsl.execute.context import Stored
    from mcpeval_dsl.execute.nodes import look_at_models
    from mcpeval_dsl.execute.trial import run_trial

    try:
        settings = replace(operator.load(run.root), keep_folders=keep)
    except ValueError as error:
        show([Diagnostic("MCPE507", str(error))], {}, stream=sys.stderr)
        return None
    made = prepare.context_of(run.plan, run.reader.folder.path / "replay", settings)
    if made.value is None:
        show(made.diagnostics, {}, stream=sys.stderr)
        return None
    context = made.value
    context.connects.update({entry.id: entry for entry in run.reader.connects()})
    context.harvests.update({entry.id: entry for entry in run.reader.harvests()})
    group = _group(run, record)
    if record.user is not None and not live:
        said = tuple(exchange.said for exchange in record.exchanges if exchange.by == "simulated")
        calls = tuple(call for call in record.calls if call.actor == "user")
        context.stored[record.id] = Stored(said, calls, record.user.ended, record.user.closing)
    model = context.cells[group.cell].model
    if not live:
        played = ReplayDriver(None, f"trial {record.id}", [record.model_dump(mode="json")])
        context.drivers = {**context.drivers, model: played}

    async def go() -> TrialRecord:
        if live:
            await look_at_models(context, [group.cell])
        ended = await run_trial(context, group, record.trial)
        try:
            return await grading.finisher(run.plan, context, _unbelieved(run))(ended.record, ended.workdir)
        finally:
            ended.remove()
            for driver in context.drivers.values():
                await driver.close()

    return asyncio.run(go())


def _unbelieved(run: StoredRun) -> dict[JudgeSetting, str]:
    """Judges whose verdicts did not count in the run, by what they were measured to be then."""
    if not run.plan.calibrations:
        return {}
    from mcpeval_dsl.score.judges import judge_scores, unbelieved

    return unbelieved(judge_scores(run.plan, run.reader.judgements()))


def _group(run: StoredRun, record: TrialRecord) -> TrialGroup:
    name = record.id.rpartition("#")[0]
    return next(node for node in run.plan.nodes if node.kind == "trial" and node.id == name)


def _outcome(record: TrialRecord) -> str:
    return record.outcome.printed or record.outcome.outcome if record.outcome is not None else "not graded"


def _summary(then: TrialRecord, now: TrialRecord) -> dict[str, Any]:
    return {
        "trial": then.id,
        "then": _outcome(then),
        "now": _outcome(now),
        "same": _outcome(then) == _outcome(now),
        "trouble": now.trouble.message if now.trouble is not None else None,
        "calls": _calls(then, now),
    }


def _calls(then: TrialRecord, now: TrialRecord) -> list[dict[str, Any]]:
    """The agent's calls side by side; texts with each trial's own folder left out."""
    before = [call for call in then.calls if call.actor == "agent"]
    after = [call for call in now.calls if call.actor == "agent"]
    found = []
    for number in range(max(len(before), len(after))):
        old = before[number] if number < len(before) else None
        new = after[number] if number < len(after) else None
        call = old or new
        assert call is not None
        texts = [_bare(item.text, record) if item else None for item, record in ((old, then), (new, now))]
        found.append(
            {
                "tool": f"{call.server}.{call.tool}",
                "arguments": dict(call.arguments),
                "same": texts[0] == texts[1],
                "then": texts[0],
                "now": texts[1],
            }
        )
    return found


def _bare(text: str, record: TrialRecord) -> str:
    folder = str(record.scope.get("workdir", ""))
    return text.replace(folder.removesuffix("/work"), "{{ trial folder }}") if folder else text


def _text(then: TrialRecord, now: TrialRecord) -> str:
    from mcpeval_dsl.diagnostics.render.safe import visible

    lines = [f"trial {then.id}"]
    for call in _calls(then, now):
        shown = json.dumps(call["arguments"], ensure_ascii=False)
        lines.append(f"  {'same ' if call['same'] else 'OTHER'}  {call['tool']}({shown[:200]})")
        if not call["same"]:
            lines += [f"         then  {_short(call['then'])}", f"         now   {_short(call['now'])}"]
    lines.append(f"  outcome then  {_outcome(then)}")
    lines.append(f"  outcome now   {_outcome(now)}")
    if now.trouble is not None:
        lines.append(f"  {now.trouble.message or ', '.join(now.trouble.chain)}")
    return "\n".join(visible(line) for line in lines) + "\n"


def _short(text: str | None) -> str:
    return "(no such call)" if text is None else " ".join(text.split())[:300]


def _code(then: TrialRecord, now: TrialRecord) -> int:
    """0 the same outcome, 1 another one, 3 where infrastructure kept it from being tested."""
    if now.outcome is not None and now.outcome.re_run:
        return exits.INCOMPLETE
    return exits.CLEAN if _outcome(then) == _outcome(now) else exits.FINDINGS
