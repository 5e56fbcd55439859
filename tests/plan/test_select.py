"""`--select`, `--exclude` and `--heldout`."""

from __future__ import annotations

import pytest

from mcpeval_dsl.plan.model import Plan
from mcpeval_dsl.plan.splits import assign, draw
from mcpeval_dsl.semantics.model import TypedSuite

from . import suites as s

SUITE = s.suite(
    tasks=(
        s.task(),
        s.plain("longest_waiting", cluster="time"),
        s.plain("leaves_alone", tags=("safety",), kind="safety"),
        s.looped("ask", 3, tags=("table", "read")),
        s.plain("secret_one", split="heldout"),
    )
)
ALL = {f"{t}@{c}" for t in ("label_it", "longest_waiting", "leaves_alone") for c in ("sonnet", "canned")} | {
    f"ask[q{i}]@{c}" for i in range(3) for c in ("sonnet", "canned")
}
LABEL, WAITING, LEAVES = (
    {f"{t}@{c}" for c in ("sonnet", "canned")} for t in ("label_it", "longest_waiting", "leaves_alone")
)
ASK = {i for i in ALL if i.startswith("ask")}
SECRET = {"secret_one@sonnet", "secret_one@canned"}


def _trials(plan: Plan) -> set[str]:
    return {g.id for g in s.groups(plan)}


@pytest.mark.parametrize(
    ("select", "exclude", "expected"),
    [
        ((), (), ALL),
        (("label_it",), (), LABEL),
        (("task:label_it",), (), LABEL),
        (("l*",), (), LABEL | WAITING | LEAVES),
        (("tag:safety",), (), LEAVES),
        (("kind:write",), (), LABEL),
        (("cluster:time",), (), WAITING),
        (("cell:canned",), (), {i for i in ALL if i.endswith("@canned")}),
        (("model:son*",), (), {i for i in ALL if i.endswith("@sonnet")}),
        (("tag:read,cell:canned",), (), {"longest_waiting@canned", *(f"ask[q{i}]@canned" for i in range(3))}),
        (("label_it leaves_alone",), (), LABEL | LEAVES),
        (("label_it", "leaves_alone"), (), LABEL | LEAVES),
        (("label_it,tag:write leaves_alone",), (), LABEL | LEAVES),
        (("ask[q1]",), (), {"ask[q1]@sonnet", "ask[q1]@canned"}),
        (("label_it@canned",), (), {"label_it@canned"}),
        (("billing+",), (), LABEL),
        (("harvest:oldest+",), (), LABEL),
        (("+label_it",), (), LABEL),
        (("tracker+",), (), ALL),
        (("harvest:billing",), (), set()),
        (("split:heldout",), (), SECRET),
        (("split:train",), (), ALL),
        (("split:train split:heldout",), (), ALL | SECRET),
        ((), ("tag:table",), ALL - ASK),
        ((), ("billing+",), ALL - LABEL),
        (("cell:canned",), ("task:ask", "label_it"), {"longest_waiting@canned", "leaves_alone@canned"}),
    ],
)
def test_selection(select: tuple[str, ...], exclude: tuple[str, ...], expected: set[str]) -> None:
    assert _trials(s.made(SUITE, select=select, exclude=exclude)) == expected


def test_what_is_needed_comes_along() -> None:
    plan = s.made(SUITE, select=("label_it@canned",))
    assert [n.id for n in plan.nodes] == ["connect:tracker", "harvest:billing", "harvest:oldest", "label_it@canned"]
    assert [t.name for t in plan.tasks] == ["label_it"]


def test_harvest_alone_is_a_plan_without_trials() -> None:
    plan = s.made(SUITE, select=("oldest",))
    assert [n.id for n in plan.nodes] == ["connect:tracker", "harvest:billing", "harvest:oldest"]


def test_selection_changes_no_key() -> None:
    whole, part = s.made(SUITE), s.made(SUITE, select=("label_it",))
    assert s.node(part, "label_it@canned").key == s.node(whole, "label_it@canned").key


def test_heldout_tasks_are_counted_and_left_out() -> None:
    assert s.made(SUITE).counts.heldout_left_out == 1
    asked = s.made(SUITE, heldout=True)
    assert _trials(asked) == ALL | SECRET and asked.counts.heldout_left_out == 0


@pytest.mark.parametrize(
    ("select", "code", "hint"),
    [
        ("label_iit", "MCPE571", "did you mean `label_it`?"),
        ("task:labell_it", "MCPE571", "did you mean `task:label_it`?"),
        ("tag:serach", "MCPE571", "did you mean `tag:search`?"),
        ("safety", "MCPE571", "write `tag:safety`"),
        ("cell:nowhere", "MCPE571", "there is: canned, sonnet"),
        ("arm:mcp", "MCPE571", "this suite has no arm"),
        ("tags:search", "MCPE572", "did you mean `tag:search`?"),
        ("tag:", "MCPE572", "write for example `task:label_it` or `tag:search,cell:canned`"),
        ("label_it,", "MCPE572", "write for example `task:label_it` or `tag:search,cell:canned`"),
        ("label_it,tag:safety", "MCPE570", "take away one of the options; `mcpe graph` lists what there is to select"),
        ("secret_one", "MCPE570", "add `--heldout`: secret_one is held out"),
    ],
)
def test_mistakes(select: str, code: str, hint: str) -> None:
    assert s.refused(SUITE, select=(select,)) == [(code, hint)]


def test_unknown_name_in_exclude_is_an_error_too() -> None:
    assert s.refused(SUITE, exclude=("label_iit",)) == [("MCPE571", "did you mean `label_it`?")]


def test_everything_excluded_is_an_error() -> None:
    assert s.refused(SUITE, exclude=("*",))[0][0] == "MCPE570"


# --- splits heldout SHARE by FIELD ---------------------------------------------------------------------------------


def _suite(count: int, **changes: object) -> TypedSuite:
    tasks = tuple(s.plain(f"t{i}", cluster=f"c{i % 40}") for i in range(count))
    return s.suite(tasks=tasks, heldout_share=0.3, **changes)


def _held(suite: TypedSuite) -> set[str]:
    return {t.name for t in assign(suite) if t.split == "heldout"}


def test_share_is_met_on_average() -> None:
    assert 240 <= len(_held(_suite(1000))) <= 360


def test_tasks_of_a_cluster_stay_together() -> None:
    suite = _suite(200, heldout_by="cluster")
    held = {t.cluster for t in assign(suite) if t.split == "heldout"}
    assert held.isdisjoint({t.cluster for t in assign(suite) if t.split == "train"})


def test_added_task_moves_no_other() -> None:
    assert _held(_suite(100)) == {name for name in _held(_suite(200)) if int(name[1:]) < 100}


def test_split_depends_on_the_seed() -> None:
    assert _held(_suite(100)) != _held(_suite(100, seed=8))
    assert draw(7, "a") == draw(7, "a") != draw(8, "a")


def test_no_share_leaves_the_spec_s_word() -> None:
    assert {t.name for t in assign(SUITE) if t.split == "heldout"} == {"secret_one"}


def test_tasks_that_share_a_tag_are_drawn_together() -> None:
    tasks = [s.plain(f"t{n}", tags=(f"g{n // 3}", f"h{n // 3}" if n % 3 else f"g{n // 3}")) for n in range(60)]
    drawn = {t.name: t.split for t in assign(s.suite(tasks=tuple(tasks), heldout_share=0.5, heldout_by="tag"))}
    groups = [{drawn[f"t{3 * n + k}"] for k in range(3)} for n in range(20)]
    assert all(len(group) == 1 for group in groups)
    assert {"train", "heldout"} == set(drawn.values())
