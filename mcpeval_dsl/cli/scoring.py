"""Command line, shared by run, score and demo: the scorecard of a run folder, written beside its ledger and shown."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from mcpeval_dsl.cli import exits
from mcpeval_dsl.cli.findings import show
from mcpeval_dsl.cli.stored import StoredRun, code, damaged, look_at, read_run
from mcpeval_dsl.cli.versions import first_line

if TYPE_CHECKING:
    from mcpeval_dsl.cli.reporting import Wanted
    from mcpeval_dsl.score.scorecard import Scored
    from mcpeval_dsl.source import SourceFile

SCORECARD = "scorecard.json"


class Summary(Protocol):
    """What a scheduler says at the end: stopped by somebody, or by servers that are not what was locked."""

    @property
    def interrupted(self) -> bool: ...

    @property
    def drift(self) -> tuple[object, ...]: ...


def show_run(
    folder: Path,
    summary: Summary,
    sources: Mapping[str, SourceFile],
    form: str,
    reports: tuple[Wanted, ...] = (),
) -> int:
    """Scores what is on record and shows it; the exit code of the run."""
    run = read_run(folder.parents[2], folder)  # PROJECT/.mcpe/runs/RUN
    if run is None:
        return exits.INTERNAL
    ended = exits.INTERRUPTED if summary.interrupted else exits.INCOMPLETE if summary.drift else None
    return show_scored(run, sources, form, ended, reports)


def show_scored(
    run: StoredRun,
    sources: Mapping[str, SourceFile],
    form: str,
    ended: int | None = None,
    reports: tuple[Wanted, ...] = (),
) -> int:
    """Scores, writes scorecard.json into the run's folder, prints; the exit code, where `ended` has its say."""
    from mcpeval_dsl.cli import reporting
    from mcpeval_dsl.records.codec import DamagedRecord
    from mcpeval_dsl.records.folder import write_whole
    from mcpeval_dsl.score.scorecard import to_bytes

    try:
        scored = score(run)
    except DamagedRecord as error:
        show([damaged(str(error))], {}, stream=sys.stderr)
        return exits.DISK
    code = scored.scorecard.exit_code
    code = code if ended is None else exits.worst(code, ended)
    write_whole(run.reader.folder.path / SCORECARD, to_bytes(scored.scorecard))
    if form == "json":
        card = scored.scorecard.model_dump(mode="json")
        print(first_line("scorecard"))
        print(json.dumps({"type": "scorecard", "run": run.name, "scorecard": card}, ensure_ascii=False))
        timings = [asdict(timing) for timing in scored.timings]
        overheads = [asdict(overhead) for overhead in scored.overheads]
        latencies = [asdict(latency) for latency in scored.latencies]
        line = {"type": "timings", "run": run.name, "cells": timings, "overheads": overheads, "checks": latencies}
        print(json.dumps(line, ensure_ascii=False))
    else:
        from mcpeval_dsl.diagnostics.render.text import wants_colour
        from mcpeval_dsl.report.text import render

        colour = wants_colour(sys.stdout)
        times = (scored.overheads, scored.latencies)
        text = render(scored.scorecard, run.name, scored.timings, sources.get, colour, code, *times)
        sys.stdout.write(text)
    try:
        reporting.write(run, scored, reports, form)
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError) as error:
        print(f"error: cannot write {error.filename}: {error.strerror}", file=sys.stderr)
        return exits.worst(code, exits.SPEC)
    return code


def score(run: StoredRun) -> Scored:
    """Raises DamagedRecord and StoreError."""
    from mcpeval_dsl.cli.sides import baselines_of
    from mcpeval_dsl.score.scorecard import scored
    from mcpeval_dsl.score.stored import gather_stored

    reader = run.reader
    found = gather_stored(run.plan, reader, code())
    card = scored(run.plan, found, reader.connects(), baselines_of(run), reader.checks(), reader.manifest())
    return _with_look(run, card)


def _with_look(run: StoredRun, scored: Scored) -> Scored:
    """Results of held-out tasks are about to be shown: that is a look, and it is counted."""
    from dataclasses import replace

    if not any(cell.split == "heldout" and cell.success is not None for cell in scored.scorecard.cells):
        return scored
    number = look_at(run)
    return replace(scored, scorecard=scored.scorecard.model_copy(update={"heldout_look": number}))
