"""Report: the scorecard as JUnit XML, which CI systems read. A trial is a test case, a cell a suite; the gate and the
checks of a server have one of their own.

A failed trial is a failed case even where the gate holds; what could not be tested, and what is known to fail, is skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from mcpeval_dsl.diagnostics.render.safe import visible_lines
from mcpeval_dsl.report.measured import measured
from mcpeval_dsl.report.text_judges import named, summed_up
from mcpeval_dsl.report.trials import TrialLine
from mcpeval_dsl.score import model

# All that XML 1.0 has no way to write, not even escaped (section 2.2 of the recommendation).
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_UNKNOWN_TIME = "1970-01-01T00:00:00"


@dataclass(frozen=True, slots=True)
class _Case:
    """`kind` empty: passed."""

    name: str
    seconds: float = 0.0
    kind: str = ""
    message: str = ""
    type: str = ""
    text: str = ""


def render(card: model.Scorecard, run: str, lines: Iterable[TrialLine] = ()) -> bytes:
    """UTF-8 with a declaration. `lines` give the times; a trial without one took none.

    What is no trial is dated with the first one.
    """
    trials = {each.id: each for each in lines}
    began = min((each.started_at for each in trials.values() if each.started_at), default="")
    failures: dict[tuple[str, str], list[model.FailureRow]] = {}
    for row in card.failures:
        failures.setdefault((row.instance, row.cell), []).append(row)
    root = Element("testsuites")
    _suite(root, 0, f"{card.suite}.gate", list(_gate(card)), began)
    for check in card.checks:
        _suite(root, len(root), f"{card.suite}.check.{check.server}", list(_lines_of(check)), began)
    if card.judges:
        said = "\n".join(f"{named(row)}: {summed_up(row)}" for row in card.judges)
        _suite(root, len(root), f"{card.suite}.judges", list(_judges(card)), began, said)
    by_cell: dict[str, list[model.TaskRow]] = {}
    for task in card.rows:
        by_cell.setdefault(task.cell, []).append(task)
    for cell, tasks in by_cell.items():
        cases = [case for task in tasks for case in _cases(task, failures, trials, run)]
        times = [each.started_at for each in trials.values() if each.cell == cell and each.started_at]
        _suite(root, len(root), f"{card.suite}.{cell}", cases, min(times, default=""))
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    root.set("name", legal(card.suite))
    root.set("time", f"{sum(float(suite.get('time', '0')) for suite in root):.3f}")
    indent(root)
    return bytes(tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def legal(text: str) -> str:
    """The text with what XML cannot hold replaced by U+FFFD, and what would turn or hide text in words."""
    return visible_lines(_ILLEGAL.sub("\ufffd", text))


def _suite(root: Element, number: int, name: str, cases: list[_Case], started: str, said: str = "") -> None:
    count = {kind: sum(case.kind == kind for case in cases) for kind in ("failure", "error", "skipped")}
    attributes = {
        "name": legal(name),
        "id": str(number),
        "package": legal(name.partition(".")[0]),
        "timestamp": started[:19] or _UNKNOWN_TIME,
        "hostname": "localhost",
        "tests": str(len(cases)),
        "failures": str(count["failure"]),
        "errors": str(count["error"]),
        "skipped": str(count["skipped"]),
        "time": f"{sum(case.seconds for case in cases):.3f}",
    }
    suite = SubElement(root, "testsuite", attributes)
    SubElement(suite, "properties")
    for case in cases:
        about = {"name": legal(case.name), "classname": legal(name), "time": f"{case.seconds:.3f}"}
        element = SubElement(suite, "testcase", about)
        if case.kind == "skipped":
            SubElement(element, "skipped", {"message": legal(case.message)})
        elif case.kind:
            found = SubElement(element, case.kind, {"message": legal(case.message), "type": legal(case.type)})
            found.text = legal(case.text)
    SubElement(suite, "system-out").text = legal(said) or None
    SubElement(suite, "system-err")


def _gate(card: model.Scorecard) -> Iterable[_Case]:
    kinds = {"PASS": "", "FAIL": "failure", "NOT DECIDED": "error"}
    for rule in card.gate.rules:
        came = "" if rule.measured is None else f"measured {measured(rule, rule.measured)}"
        where = f"in {rule.segment}" if rule.segment else ""
        message = ", ".join(filter(None, (rule.word, came, where, rule.reason)))
        yield _Case(rule.text, kind=kinds[rule.word], message=message, type=rule.word, text=rule.at)
    reasons = "\n".join(card.gate.reasons)
    yield _Case("gate", kind=kinds[card.gate.word], message=card.gate.word, type=card.gate.word, text=reasons)


def _judges(card: model.Scorecard) -> Iterable[_Case]:
    """One that is not believed failed nothing: what it was to judge is not graded."""
    for row in card.judges:
        yield _Case(named(row), kind="" if row.believed else "skipped", message=summed_up(row))


def _lines_of(check: model.CheckRow) -> Iterable[_Case]:
    for line in check.lines:
        said = line.reason or (f"expected {line.expected}, got {line.actual}" if line.expected else line.state)
        if line.state == "pass":
            yield _Case(line.what)
        elif line.state == "fail":
            yield _Case(line.what, kind="failure", message=said, type="check", text=line.at)
        else:
            yield _Case(line.what, kind="skipped", message=f"{line.state}: {said}")


def _cases(
    task: model.TaskRow,
    failures: Mapping[tuple[str, str], list[model.FailureRow]],
    trials: Mapping[str, TrialLine],
    run: str,
) -> Iterable[_Case]:
    why = failures.get((task.instance, task.cell), [])
    for number, printed in enumerate(task.outcomes, start=1):
        id_ = f"{task.instance}@{task.cell}#{number}"
        line = trials.get(id_)
        name, seconds = f"{task.instance}#{number}", line.ms / 1000 if line is not None else 0.0
        if printed == "pass":
            yield _Case(name, seconds)
        elif task.known_failure is not None and printed in ("wrong_answer", "too_many_calls"):
            yield _Case(name, seconds, "skipped", f"known failure: {task.known_failure}")
        elif printed in ("wrong_answer", "too_many_calls") or printed.startswith("pass"):
            yield _failed(name, seconds, printed, [row for row in why if row.outcome == printed], f"{run} {id_}")
        else:
            because = f": {line.because}" if line is not None and line.because else ""
            yield _Case(name, seconds, "skipped", f"{printed}{because}")


def _failed(name: str, seconds: float, printed: str, rows: list[model.FailureRow], trial: str) -> _Case:
    """Failures of one task that look alike are told once; each of its trials points to all of them."""
    text = []
    for row in rows:
        facts = {"at": row.at, "expected": row.expected, "actual": row.actual, "reason": row.reason}
        text += [f"{key}: {value}" for key, value in facts.items() if value]
    message = rows[0].reason or f"expected {rows[0].expected}, got {rows[0].actual}" if rows else printed
    return _Case(name, seconds, "failure", message, printed, "\n".join([*text, f"mcpe view {trial}"]))
