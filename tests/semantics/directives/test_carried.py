"""No word of the language is lost on its way: what a directive says shows in the typed suite, and a later room reads it."""

from __future__ import annotations

import ast
import dataclasses
from pathlib import Path

import pytest

from mcpeval_dsl import pipeline
from mcpeval_dsl.semantics import disturbances, expressions, graders, model
from mcpeval_dsl.semantics.directives import TABLE, Directive
from tests.semantics.directives.test_lowered import SHARED, SUITE, _frame
from tests.semantics.memory import Memory
from tests.semantics.test_typed import plain

PACKAGE = Path(__file__).parents[3] / "mcpeval_dsl"

SPEAKS_AT_COMPILE_TIME = {
    ("import", "file"): "its names are taken over",
    ("profile", "file"): "its lines are folded into the tasks that use it",
    ("table", "file"): "its rows are those of the loops over it",
    ("columns", "table"): "names of the rows' members",
    ("row", "table"): "its rows are those of the loops over it",
    ("use", "task"): "the lines of a profile are folded in",
    ("judge", "file"): "known to those graders that name it",
}
"""Nothing of these stands in the typed suite by itself."""

INSIDE_WHAT_IS_REFUSED = (
    *("fault", "fault_error", "distract", "dialogue", "turn", "every", "user", "check", "auth", "oauth"),
)
"""Blocks of constructs that `run` refuses as a whole: `test_refused` holds that they are."""

OTHER_THAN_USUAL = {
    ("suite", "file"): 'suite other "Other" {}',
    ("policy", "suite"): "policy simulate",
    ("policy", "defaults"): "policy simulate",
    ("scope", "harvest"): "scope trial",
    ("stdio", "server"): "",
    ("http", "server"): "",
    ("max_tokens", "model"): "max_tokens 99",
    ("max_tokens", "judge"): "max_tokens 99",
    ("instructions", "host"): "instructions omit",
    ("parallel_tools", "host"): "parallel_tools false",
    ("protocol_errors", "host"): "protocol_errors show",
    ("permissions", "host"): "permissions ask",
    ("judge", "task"): "judge haiku",
    ("judge", "profile"): "judge haiku",
    ("judge", "defaults"): "judge haiku",
    ("host_tools", "task"): "host_tools none",
    ("elicit", "task"): "elicit cancel",
    ("elicit", "profile"): "elicit cancel",
    ("elicit", "defaults"): "elicit cancel",
    ("kappa", "judge"): 'calibration file "calibration/tracker.jsonl"; kappa 0.7',
    ("prompt", "task"): "",
    ("text", "inject"): "",
}
"""Lines for those whose example says what holds anyway; '' where the frame has such a line itself."""

DRIVERS = ("anthropic", "litellm", "local", "script", "replay")

NOT_READ_BY_A_RUN = {
    "oauth": "refused by run",
    "oauth_flow": "refused by run",
    "shell": "refused by run",
    "disclose": "refused by run",
    "tool_search": "refused by run",
    "from_file": "told by `lint` only",
    "by": "of comparisons, which are refused by run",
    "treatment": "of comparisons, which are refused by run",
    "end_line": "places, for people",
    "end_column": "places, for people",
    "host_tools": "the loop has no tools of its own; for external hosts",
    "transcript": "read as `reads_whole`, the property of the judge that says what it comes to",
}


LABELS = """{"claim": "x", "answer": "a", "verdict": "pass"}
{"claim": "x", "answer": "b", "verdict": "fail"}
"""


def typed(text: str) -> object:
    files = {
        "base.mcpe": text,
        "calibration/tracker.jsonl": LABELS,
        "catalogs/kubectl.json": "[]",
        "shared/models.mcpe": "",
    }
    for path in ("fixtures/tracker.db", "scripts/tracker.yaml", "fixtures/config.toml", "fixtures/shop.sql"):
        files[path] = ""
    checked = pipeline.check("base.mcpe", Memory(files))
    return None if checked.value is None else plain(checked.value)


CASES = [
    (entry, parent)
    for entry in TABLE
    for parent in entry.parents
    if (entry.name, parent) not in SPEAKS_AT_COMPILE_TIME
    and parent not in INSIDE_WHAT_IS_REFUSED
    and OTHER_THAN_USUAL.get((entry.name, parent)) != ""
    and not (parent in ("model", "judge") and entry.name in DRIVERS)
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c[1]}-{c[0].name}")
def test_a_directive_shows_in_the_typed_suite(case: tuple[Directive, str]) -> None:
    entry, parent = case
    frame = _frame(parent)
    spoken = OTHER_THAN_USUAL.get((entry.name, parent), entry.example)
    with_it, without = (typed(_spec(frame, parent, line)) for line in (spoken, ""))
    if with_it is None or without is None:
        return  # the frame alone or a file it names is an error: `test_lowered` holds its words to their order
    assert with_it != without


def _spec(frame: str, parent: str, line: str) -> str:
    suite = "" if frame.startswith("suite") or line.startswith("suite") else SUITE
    judged = 'grade judge j { claim "x" }' if parent == "judge" else 'grade judge { claim "x" }'
    use = "use p;" if parent == "profile" else ""
    ask = f'task user {{ {use} prompt "x"; {judged} }}' if parent in ("profile", "defaults", "judge", "suite") else ""
    judge = '\njudge fallback { anthropic "x" }' if "judge" not in suite else ""
    hosts = "matrix { model = [sonnet]; host = [h] }" if parent == "host" else ""
    shared = SHARED if line.startswith("environment desk {") else SHARED + "environment desk {}\n"
    frame = frame.replace('grade contains "x"', judged) if line == "judge haiku" else frame
    return f"{suite}{shared}{frame.replace('@', line)}\n{ask}{judge}\n{hosts}\n"


def _read_later() -> set[str]:
    """Names that code after the plan reads as attributes, or takes apart in patterns."""
    rooms = (
        "values",
        "gateway",
        "agents",
        "records",
        "provenance",
        "execute",
        "grade",
        "score",
        "cli",
        "report",
        "plan",
    )
    found: set[str] = set()
    for room in rooms:
        for path in (PACKAGE / room).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Attribute):
                    found.add(node.attr)
                elif isinstance(node, ast.MatchClass):
                    found.update(node.kwd_attrs)
    return found


def test_every_field_of_the_typed_suite_is_read_by_a_later_room() -> None:
    read = _read_later()
    fields = {
        field.name
        for module in (model, graders, expressions, disturbances)
        for kind in vars(module).values()
        if dataclasses.is_dataclass(kind) and isinstance(kind, type) and kind.__module__ == module.__name__
        for field in dataclasses.fields(kind)
    }
    assert sorted(fields - read - set(NOT_READ_BY_A_RUN)) == []
