"""Semantics, lowering: answers with people's verdicts, from the file that a judge's `calibration` names.

Each entry has `claim`, `answer` (or `transcript`) and `verdict`, and may have `task`. Judges are measured on them, so both
verdicts must be there: κ says nothing of a set that is all of one kind.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from mcpeval_dsl.semantics.graders import Calibration, Labelled
from mcpeval_dsl.semantics.lower.context import Context
from mcpeval_dsl.source import SourceFile
from mcpeval_dsl.syntax.tree import String

MOST = 10_000
_WORDS = {
    **dict.fromkeys(("pass", "yes", "true", "1"), True),
    **dict.fromkeys(("fail", "no", "false", "0"), False),
}
_KEYS = frozenset({"claim", "answer", "transcript", "verdict", "task"})


class _Broken(Exception):
    """Why a file cannot be used, in words that follow its name."""


def labels_of_file(ctx: Context, path: String) -> tuple[Labelled, ...]:
    """The labelled answers; none after reporting why they cannot be used."""
    file = ctx.read_text(path.span.file, path.value, path.span)
    if file is None:
        return ()
    try:
        found = tuple(_labelled(line, row) for line, row in _rows(file, path.value))
        _check(found)
    except _Broken as problem:
        ctx.problems.report(
            "MCPE273",
            path.span,
            f"the labelled answers in `{path.value}` cannot be used: {problem}",
            "Each entry has a `claim`, an `answer` (or a `transcript`) and the `verdict` that people gave: pass or fail.",
            'write lines like {"claim": "names the issue", "answer": "It is BILL-7.", "verdict": "pass"}',
        )
        return ()
    return found


def calibrations(ctx: Context) -> tuple[Calibration, ...]:
    """Of every judge that has a set. A least κ without one is an error: nothing would ever be measured against it."""
    found: list[Calibration] = []
    for settings in ctx.judging.values():
        calibration, kappa = settings.get("calibration"), settings.get("kappa")
        if isinstance(calibration, Calibration):
            found.append(calibration if kappa is None else replace(calibration, kappa=kappa))
        elif kappa is not None:
            ctx.problems.report(
                "MCPE332",
                settings["kappa_at"],
                "there is a least kappa and nothing to measure it by",
                "Kappa is measured on answers with people's verdicts.",
                'add `calibration file "calibration.jsonl"` to the judge, or delete `kappa`',
            )
    return tuple(found)


def _rows(file: SourceFile, path: str) -> Iterator[tuple[int, object]]:
    """(line or number of the entry, entry)."""
    if path.endswith((".yaml", ".yml", ".json")):
        yield from enumerate(_listed(file, path), start=1)
    elif path.endswith(".csv"):
        reader = csv.DictReader(file.text.splitlines())
        for row in reader:
            yield reader.line_num, {key: value for key, value in row.items() if value}
    else:
        for number, line in enumerate(file.text.split("\n"), start=1):
            if line.strip():
                yield number, _json(line, f"line {number} is no JSON object")


def _listed(file: SourceFile, path: str) -> Iterable[object]:
    import yaml

    try:
        loaded = json.loads(file.text) if path.endswith(".json") else yaml.safe_load(file.text)
    except (ValueError, RecursionError, yaml.YAMLError) as fault:
        raise _Broken(str(fault).split("\n", 1)[0]) from fault
    if not isinstance(loaded, list):
        raise _Broken("it holds no list")
    return loaded


def _json(line: str, otherwise: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as fault:
        raise _Broken(otherwise) from fault


def _labelled(line: int, row: object) -> Labelled:
    if not isinstance(row, dict):
        raise _Broken(f"entry {line} is no object")
    unknown = [key for key in row if key not in _KEYS]
    if unknown:
        raise _Broken(f"entry {line} has `{unknown[0]}`, which is none of claim, answer, transcript, verdict, task")
    whole = "transcript" in row
    shown = row.get("transcript" if whole else "answer")
    texts = {"claim": row.get("claim"), "transcript" if whole else "answer": shown, "task": row.get("task", "")}
    for name, text in texts.items():
        if not isinstance(text, str) or (not text.strip() and name == "claim"):
            raise _Broken(f"entry {line} has no text `{name}`")
    holds = _WORDS.get(str(row.get("verdict")).strip().lower())
    if holds is None:
        raise _Broken(f"the `verdict` of entry {line} is neither pass nor fail")
    return Labelled(str(row["claim"]), str(shown), holds, str(texts["task"]), whole, line)


def _check(found: tuple[Labelled, ...]) -> None:
    if len(found) > MOST:
        raise _Broken(f"it has {len(found):,} entries; at most {MOST:,} are asked about")
    if len({label.holds for label in found}) < 2:
        what = "it is empty" if not found else f"people said {'pass' if found[0].holds else 'fail'} to all of them"
        raise _Broken(f"{what}, and a judge is measured on both")
