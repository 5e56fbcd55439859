"""Code actions, code lenses and inlay hints, as functions of a text with what was found about it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from mcpeval_dsl import pipeline
from mcpeval_dsl.diagnostics.model import Diagnostic, Edit, Fix
from mcpeval_dsl.language_server.features.code_actions import FIX_ALL, FORMAT, QUICK, Action, actions
from mcpeval_dsl.language_server.features.code_lens import lenses
from mcpeval_dsl.language_server.features.diagnostics import Shown, message, shown
from mcpeval_dsl.language_server.features.inlay_hints import hints
from mcpeval_dsl.language_server.figures import figures
from mcpeval_dsl.language_server.parts import parts_of
from mcpeval_dsl.language_server.places import Places
from mcpeval_dsl.language_server.snapshot import Analysis, Snapshot
from mcpeval_dsl.plan.build import build
from mcpeval_dsl.source import Location
from tests.language_server.features.marked import Memory

SPECS = sorted((Path(__file__).parents[3] / "specs").glob("*/*.mcpe"))
SPEC = """suite small "A small one" {
  trials 3
}
model one { script "one.yaml" }
model two { script "two.yaml" }
task first "The first" {
  prompt \"\"\"
    Say
    yes
  \"\"\"
  trials 4
  budget calls <= 3 hard 5
  grade contains "yes"
}
task second { prompt "Say no"; grade contains "no" }
"""


class Texts(Memory):
    """Files that a spec names are there, and empty."""

    def read(self, path: str) -> bytes:
        return self.texts.get(path, "").encode()


def snapshot_of(text: str, before: str = "") -> Snapshot:
    """A text with the analysis of itself, or of the text before."""
    path = "spec.mcpe"
    analysed = before or text
    checked = pipeline.check(path, Texts({path: analysed}).read, design=True)
    known = figures(checked.value) if checked.value is not None and checked.ok else None
    analysis = Analysis(path, {path: analysed}, checked.diagnostics, {}, known)
    return Snapshot(
        "file:///spec.mcpe", path, text, 1, "utf-16", parts_of(path, text).items, {}, Texts({path: text}), analysis
    )


def found_in(snapshot: Snapshot) -> list[Shown]:
    analysis = snapshot.analysis
    assert analysis is not None
    return shown(analysis.diagnostics, snapshot.path, Places(analysis.texts, {snapshot.path: snapshot.text}, "utf-16"))


def made(text: str, edits: Mapping[str, tuple[object, ...]], snapshot: Snapshot) -> str:
    """The text after the edits of an action."""
    found = sorted(edits[snapshot.path], key=lambda e: e.range, reverse=True)  # type: ignore[attr-defined]
    for edit in found:
        start, end = (snapshot.offset(place) for place in edit.range)  # type: ignore[attr-defined]
        text = text[:start] + edit.text + text[end:]  # type: ignore[attr-defined]
    return text


def offered(snapshot: Snapshot, line: int, only: list[str] | None = None) -> list[Action]:
    return actions(snapshot, found_in(snapshot), ((line, 0), (line, 99)), only)


def test_a_fix_is_offered_at_its_line_and_mends_it() -> None:
    text = SPEC.replace("grade contains", "grad contains", 1)
    snapshot = snapshot_of(text)
    (fix,) = [a for a in offered(snapshot, 12) if a.kind == QUICK and a.of and a.of.code == "MCPE201"]
    assert made(text, fix.edits, snapshot) == SPEC
    assert [a for a in offered(snapshot, 4) if a.of and a.of.code == "MCPE201"] == []


def test_a_fix_moves_with_its_text_and_goes_when_that_is_touched() -> None:
    before = SPEC.replace("grade contains", "grad contains", 1)
    moved = snapshot_of("# typed since\n" + before, before)
    (fix,) = [a for a in offered(moved, 13) if a.of and a.of.code == "MCPE201"]
    assert made(moved.text, fix.edits, moved) == "# typed since\n" + SPEC
    touched = snapshot_of(before.replace("grad contains", "grax contains"), before)
    assert [a for a in offered(touched, 12) if a.of and a.of.code == "MCPE201"] == []


@pytest.mark.parametrize(("line", "expected"), [(6, 5), (8, 5), (5, 5)])
def test_a_comment_that_ignores_never_stands_inside_a_text(line: int, expected: int) -> None:
    """A finding inside the prompt is ignored above the statement, or the comment would be part of the text."""
    snapshot = snapshot_of(SPEC)
    at = Location("spec.mcpe", line + 1, 5, line + 1, 7)
    item = shown(
        [Diagnostic("MCPE371", "advice", at, severity="note")], "spec.mcpe", Places({"spec.mcpe": SPEC}, {}, "utf-16")
    )
    (action,) = [a for a in actions(snapshot, item, ((line, 0), (line, 99))) if "Ignore" in a.title]
    text = made(SPEC, action.edits, snapshot)
    number = next(i for i, each in enumerate(text.split("\n")) if "ignore[MCPE371]" in each)
    assert number in (expected, expected + 1)
    inside = text[text.index('"""') : text.rindex('"""')]
    assert "ignore" not in inside


def test_errors_are_not_ignored() -> None:
    snapshot = snapshot_of(SPEC.replace("grade contains", "grad contains", 1))
    assert [a for a in offered(snapshot, 12) if "Ignore" in a.title and a.of and a.of.source.severity == "error"] == []


def test_the_comment_has_the_indentation_and_the_line_ends_of_the_file() -> None:
    text = SPEC.replace("\n", "\r\n")
    snapshot = snapshot_of(text)
    at = Location("spec.mcpe", 12, 3, 12, 9)
    item = shown(
        [Diagnostic("MCPE371", "advice", at, severity="note")], "spec.mcpe", Places({"spec.mcpe": text}, {}, "utf-16")
    )
    (action,) = [a for a in actions(snapshot, item, ((11, 0), (11, 5))) if "Ignore" in a.title]
    assert "\r\n  # mcpe: ignore[MCPE371] because \r\n  budget" in made(text, action.edits, snapshot)


def fixable(line: int, *edits: tuple[int, int, str], safe: bool = True) -> Diagnostic:
    places = tuple(Edit(Location("spec.mcpe", line, start, line, end), text) for start, end, text in edits)
    return Diagnostic("MCPE201", f"wrong at {line}", places[0].at, fixes=(Fix("Mend it", places, safe),))


def test_all_safe_fixes_at_once_leave_out_what_gets_in_the_way() -> None:
    text = "abcdef\nabcdef\n"
    snapshot = snapshot_of(text)
    found = [
        fixable(1, (1, 3, "X")),
        fixable(1, (2, 4, "Y")),  # meets the first
        fixable(1, (5, 6, "Z"), (2, 3, "Q")),  # half of it does: none of it is made
        fixable(1, (4, 5, "W"), safe=False),  # a guess
        fixable(2, (1, 1, ">"), (7, 7, "<")),
    ]
    (action,) = actions(
        snapshot, shown(found, "spec.mcpe", Places({"spec.mcpe": text}, {}, "utf-16")), ((0, 0), (0, 0)), [FIX_ALL]
    )
    assert made(text, action.edits, snapshot) == "Xcdef\n>abcdef<\n"


def test_formatting_is_an_action_where_it_is_asked_for() -> None:
    text = SPEC.replace("  trials 3", "      trials    3")
    snapshot = snapshot_of(text)
    (action,) = offered(snapshot, 0, [FORMAT])
    assert "\n  trials 3\n" in made(text, action.edits, snapshot)
    assert not [a for a in offered(snapshot, 0) if a.kind == FORMAT]
    assert offered(snapshot_of(SPEC[:-3]), 0, [FORMAT]) == []


def test_lenses_say_how_to_run_and_what_it_costs() -> None:
    given = [(lens.range[0][0], lens.title, lens.arguments) for lens in lenses(snapshot_of(SPEC))]
    assert given == [
        (0, "run all", ("run", "spec.mcpe")),
        (0, "2 tasks × 2 cells: 14 trials · calls without a limit, free", ()),
        (5, "run this task", ("run", "spec.mcpe", "--select", "task:first")),
        (5, "8 trials · at most 40 calls, free", ()),
        (14, "run this task", ("run", "spec.mcpe", "--select", "task:second")),
        (14, "6 trials · calls without a limit, free", ()),
    ]


def test_lenses_of_rows_of_checks_and_of_half_typed_text() -> None:
    text = (
        "table rows { columns a; row 1; row 2; row 3 }\n"
        + SPEC
        + 'for r in rows {\n  task each { prompt "Say {{ r.a }}"; grade contains r.a }\n}\n'
    )
    given = [(lens.title, lens.arguments) for lens in lenses(snapshot_of(text))]
    assert ("18 trials · calls without a limit, free", ()) in given
    broken = snapshot_of(SPEC.replace("task second {", "task second"), SPEC)
    titles = [lens.title for lens in lenses(broken)]
    assert "8 trials · at most 40 calls, free" in titles
    assert [lens.title for lens in lenses(snapshot_of("task t {"))] == ["run this task"]


def test_tasks_held_out_run_only_when_asked_for() -> None:
    given = list(lenses(snapshot_of(SPEC.replace('{ prompt "Say no"', '{ split heldout; prompt "Say no"'))))
    assert "1 task × 2 cells: 8 trials · at most 40 calls, free" in [lens.title for lens in given]
    assert ("run", "spec.mcpe", "--select", "task:second", "--heldout") in [lens.arguments for lens in given]


@pytest.mark.parametrize("spec", SPECS, ids=lambda path: path.parent.name)
def test_the_figures_are_those_of_the_plan(spec: Path) -> None:
    suite = pipeline.check(spec.name, pipeline.ProjectFiles(spec.parent)).value
    assert suite is not None
    plan, found = build(suite).value, figures(suite)
    assert plan is not None
    if found is None:
        assert plan.counts.trials == 0
        return
    assert (found.total.trials, found.total.cells) == (plan.counts.trials, plan.counts.cells)
    assert (found.total.calls, found.total.cost) == (plan.ceilings.calls.value, plan.ceilings.cost_usd.value)


def test_hints_say_what_trials_mean() -> None:
    given = [(hint.at, hint.text) for hint in hints(snapshot_of(SPEC))]
    assert given == [((1, 10), "× 2 cells"), ((10, 10), "× 2 cells = 8")]
    one = [(hint.at, hint.text) for hint in hints(snapshot_of(SPEC.replace('model two { script "two.yaml" }\n', "")))]
    assert one == [((1, 10), "in one cell")]


def test_the_effect_that_can_be_seen_is_that_of_power() -> None:
    many = SPEC + "".join(f'task t{n} {{ prompt "Say {n}"; grade contains "{n}" }}\n' for n in range(20))
    texts = [hint.text for hint in hints(snapshot_of(many))]
    assert texts[:2] == ["× 2 cells", "shows 28 points"]


def test_a_message_is_title_rule_and_hint() -> None:
    assert message(Diagnostic("MCPE201", "a", None, "b", "c")) == "a\nb\n→ c"
    assert message(Diagnostic("MCPE201", "a")) == "a"
