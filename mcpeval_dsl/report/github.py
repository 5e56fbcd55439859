"""Report: for GitHub Actions, a step summary and annotations at the lines of the spec.

An annotation is a workflow command on standard output; its values are escaped as the runner's own toolkit does, so that
no text of a server can end one command and begin another.
"""

from __future__ import annotations

from collections.abc import Iterator

from mcpeval_dsl.diagnostics.render.safe import visible
from mcpeval_dsl.report.markdown import render as markdown
from mcpeval_dsl.report.measured import measured
from mcpeval_dsl.report.page import plural
from mcpeval_dsl.report.text_judges import named, summed_up
from mcpeval_dsl.score import model

_SUMMARY_BYTES = 1_000_000
_EACH = 10
"""GitHub shows ten errors and ten warnings of a step."""


def summary(card: model.Scorecard, run: str) -> bytes:
    """Markdown for $GITHUB_STEP_SUMMARY, cut at a line where GitHub would refuse it."""
    data = markdown(card, run).encode("utf-8", "replace")
    if len(data) <= _SUMMARY_BYTES:
        return data
    cut = data[:_SUMMARY_BYTES].rpartition(b"\n")[0]
    return cut + b"\n\nCut here: the whole is in `mcpe report --format markdown`.\n"


def commands(card: model.Scorecard, folder: str = "") -> Iterator[str]:
    """Workflow commands, one a line: rules of the gate first, then failures. `folder`: the project in the repository."""
    said = {"error": 0, "warning": 0}
    for level, at, title, message in (*_rules(card), *_judges(card), *_failures(card)):
        said[level] += 1
        if said[level] <= _EACH:
            yield _command(level, f"{folder}/{at}" if folder and at else at, title, message)


def _rules(card: model.Scorecard) -> Iterator[tuple[str, str, str, str]]:
    for rule in card.gate.rules:
        if rule.word == "PASS":
            continue
        came = f" is {measured(rule, rule.measured)}" if rule.measured is not None else ""
        where = f" in {rule.segment}" if rule.segment else ""
        text = f"{rule.text.removeprefix('require ')}{came}{where}"
        yield "error", rule.at, f"gate {rule.word}", f"{text}. {rule.reason}".strip()
    for reason in card.gate.reasons:
        yield "error", "", f"gate {card.gate.word}", reason


def _judges(card: model.Scorecard) -> Iterator[tuple[str, str, str, str]]:
    """Judges on which something hangs that they do not bear."""
    for row in card.judges:
        if not row.believed or (not row.decides and row.verdicts):
            yield "warning", row.at, f"judge {named(row)}", summed_up(row)


def _failures(card: model.Scorecard) -> Iterator[tuple[str, str, str, str]]:
    for row in card.failures:
        if row.known_failure is not None:
            continue
        why = row.reason or f"expected {row.expected}, got {row.actual}"
        yield "warning", row.at, f"{row.instance}: {row.outcome}", f"{row.cell}, {plural(row.trials, 'trial')}: {why}"


def _command(level: str, at: str, title: str, message: str) -> str:
    path, line, column, *_ = (*at.rsplit(":", 2), "", "", "")
    places = {"file": path, "line": line, "col": column} if line.isdigit() else {}
    properties = ",".join(f"{key}={_property(value)}" for key, value in {**places, "title": title}.items() if value)
    return f"::{level} {properties}::{_data(message)}"


def _data(text: str) -> str:
    return visible(text.replace("\r", " ").replace("\n", " "))[:4000].replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
