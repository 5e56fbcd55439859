"""What changes a content key and what does not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import is_dataclass, replace
from typing import Any

import pytest

from mcpeval_dsl.plan.model import Plan, trial_key
from mcpeval_dsl.semantics.arms import Api, Arm, Route
from mcpeval_dsl.semantics.checks import (
    AuthCheck,
    CheckLine,
    ConformanceCheck,
    LatencyCheck,
    OAuthCheck,
    OriginCheck,
    ToolCheck,
    TransportCheck,
)
from mcpeval_dsl.semantics.disturbances import CatalogueTools, Fault, LookAlikes
from mcpeval_dsl.semantics.expressions import (
    ArgumentPattern,
    CallPattern,
    CallStep,
    Condition,
    Entry,
    Literal,
    Ref,
    Requirement,
    RunStep,
    Select,
    Sql,
    Template,
)
from mcpeval_dsl.semantics.graders import AnyOf, Calibration, Common, Grader, Labelled, SameState, State
from mcpeval_dsl.semantics.injections import Inject
from mcpeval_dsl.semantics.model import (
    Annotation,
    Answer,
    Budget,
    Catalogue,
    Cell,
    Check,
    EnvironmentVariable,
    KnownFailure,
    Let,
    Limit,
    Loop,
    Price,
    Truth,
    TypedSuite,
)
from mcpeval_dsl.semantics.preparing import Checkout, Preparation
from mcpeval_dsl.source import Location

from . import suites as s

Change = Callable[[TypedSuite], TypedSuite]


def _task(**changes: Any) -> Change:
    return lambda suite: replace(suite, tasks=(replace(suite.tasks[0], **changes), *suite.tasks[1:]))


def _server(**changes: Any) -> Change:
    return lambda suite: replace(suite, servers=(replace(suite.servers[0], **changes),))


def _environment(**changes: Any) -> Change:
    return lambda suite: replace(suite, environments=(replace(suite.environments[0], **changes),))


def _model(**changes: Any) -> Change:
    return lambda suite: replace(suite, models=(suite.models[0], replace(suite.models[1], **changes)))


def _host(**changes: Any) -> Change:
    return lambda suite: replace(suite, hosts=(replace(suite.hosts[0], **changes),))


def _arm(**changes: Any) -> Change:
    """Every cell in one arm that has the suite's servers, and this besides."""
    arm = Arm("only", servers=("tracker",), **changes)
    return lambda suite: replace(suite, arms=(arm,), cells=tuple(replace(cell, arm="only") for cell in suite.cells))


def _harvest(**changes: Any) -> Change:
    return lambda suite: replace(suite, harvests=(replace(suite.harvests[0], **changes), suite.harvests[1]))


def _suite(**changes: Any) -> Change:
    return lambda suite: replace(suite, **changes)


def _keys(plan: Plan) -> tuple[str, str]:
    group = next(g for g in s.groups(plan) if g.id == "label_it@canned")
    return group.key, group.grade_key


UPDATE = CallPattern("update_issue", arguments=(ArgumentPattern("key", "==", Literal("other")),))

TRIAL_INGREDIENTS: dict[str, Change] = {
    "prompt": _task(prompt=s.text("Something else.")),
    "system": _task(system=(s.text("Be brief."),)),
    "answer": _task(answer=Answer("none")),
    "may": _task(may=(UPDATE,)),
    "never": _task(never=()) if s.task().never else _task(hide=(UPDATE,)),
    "policy": _task(policy="simulate"),
    "soft budget": _task(budget=replace(s.task().budget, calls=Limit(5, 15))),
    "hard budget": _task(budget=replace(s.task().budget, calls=Limit(6, 16))),
    "setup": _task(setup=s.suite().environments[0].steps),
    "teardown": _task(teardown=s.suite().environments[0].steps),
    "servers": _task(servers=()),
    "elicit": _task(elicit="accept"),
    "simulate": _task(simulate=((UPDATE, s.text("done")),)),
    "fault": _task(faults=(Fault("timeout", (UPDATE,)),)),
    "fault at another call": _task(faults=(Fault("timeout", (UPDATE,), nth=2),)),
    "distractors of a catalogue": _task(distract=(CatalogueTools(Literal("kubernetes"), 10, True),)),
    "planted text": _task(injections=(Inject("result", s.text("obey"), (UPDATE,)),)),
    "what shows that a planted text was obeyed": _task(
        injections=(Inject("result", s.text("obey"), (UPDATE,), obeyed=(UPDATE,)),)
    ),
    "look-alikes": _task(distract=(LookAlikes(UPDATE, 3),)),
    "canary": _task(canaries=(("token", s.text("abc")),)),
    "another query for the state": _task(graders=(s.state("get_issue_history"),)),
    "seed": _suite(seed=8),
    "server argv": _server(argv=(s.text("node"),)),
    "server timeout": _server(timeout=11.0),
    "server network": _server(network=("api.example.org",)),
    "server start": _server(start_timeout=31.0),
    "server env": _server(env=(EnvironmentVariable("A", s.text("b")),)),
    "server version": _server(version="2"),
    "server protocols": _server(protocols=("2026-07-28",)),
    "commit of a server": _server(prepare=Preparation(Checkout("v1"))),
    "commands that make a server": _server(prepare=Preparation(steps=(RunStep((s.text("make"),)),))),
    "annotations": _suite(catalogues=(Catalogue("tracker", (Annotation("destructive", (UPDATE,)),)),)),
    "trust hints": _suite(catalogues=(Catalogue("tracker", trust_hints=True),)),
    "environment steps": _environment(steps=()),
    "environment variables": _environment(env=(EnvironmentVariable("A", s.text("b")),)),
    "environment network": _environment(network=("localhost:5432",)),
    "environment scope": _environment(scope="run"),
    "let that a step uses": _suite(lets=(Let("db", s.text("elsewhere.db")),)),
    "model target": _model(target="scripts/other.yaml"),
    "model max_tokens": _model(max_tokens=5),
    "model temperature": _model(temperature=0.5),
    "model driver": _model(driver="replay"),
    "host turns": _host(max_turns=3),
    "host result limit": _host(tool_result_limit=5),
    "host instructions": _host(instructions="omit"),
    "tools found by search": _host(tool_search=True),
    "host permissions": _host(permissions="deny"),
    "host prefix": _host(tool_prefix=s.text("x_")),
    "answers to the agent's questions": _task(answers_for_user=True),
    "budget per turn": _task(budget_per_turn=replace(s.task().budget, calls=Limit(5))),
    "dialogue": _task(dialogue=s.dialogue()),
    "what a turn says": _task(dialogue=s.dialogue("Something else.")),
    "what a turn reads": _task(dialogue=s.dialogue(graders=(s.state("get_issue_history"),))),
    "who plays the user": _task(dialogue=s.dialogue(user=s.user("sonnet"))),
    "what the user wants": _task(dialogue=s.dialogue(user=s.user("sonnet", "another thing"))),
    "harvest source": _harvest(source=s.call("list_issues", project=s.text("Legacy"))),
    "harvest binding": _harvest(bindings=(Entry("key", Select("$.issues[1].key")),)),
    "harvest reading": _harvest(read="text"),
}


def test_what_an_arm_has_is_told_apart() -> None:
    api = Api(s.text("https://api.example.org"))
    changes = [_arm(), _arm(shell=("grep",)), _arm(shell=("grep", "ls")), _arm(shell=("grep",), timeout=5.0)]
    changes += [
        _arm(about=s.text("See tracker.db.")),
        _arm(api=api),
        _arm(api=replace(api, headers=(Entry("A", s.text("b")),))),
    ]
    changes += [_arm(api=replace(api, routes=(Route(method, s.text("/a")),))) for method in ("GET", "POST")]
    assert len({_keys(s.made(change(s.suite())))[0] for change in changes}) == len(changes)


@pytest.mark.parametrize("change", TRIAL_INGREDIENTS.values(), ids=TRIAL_INGREDIENTS.keys())
def test_ingredient_of_a_trial_changes_its_key(change: Change) -> None:
    assert _keys(s.made(change(s.suite())))[0] != _keys(s.made())[0]


def _checked(suite: TypedSuite) -> TypedSuite:
    """The suite with one check, which calls its server in its environment."""
    step = CallStep(s.call("list_issues", project=s.text("Legacy")), "first")
    environment = suite.environments[0].name
    return replace(suite, checks=(Check("tracker", environment=environment, lines=(step, ToolCheck("purge", False))),))


def _lines(*lines: CheckLine) -> Change:
    return lambda suite: replace(suite, checks=(replace(suite.checks[0], lines=lines),))


IS_SLOW = Condition(Ref(("latency", "p95")), "<=", Literal(0.5, "time"))

CHECK_INGREDIENTS: dict[str, Change] = {
    "another line": _lines(ToolCheck("purge", True)),
    "a transport": _lines(TransportCheck("sse")),
    "a transport that is refused": _lines(TransportCheck("sse", True)),
    "an identity": _lines(AuthCheck("none")),
    "a scope": _lines(AuthCheck("scope", "read")),
    "what is required of an identity": _lines(AuthCheck("none", requires=(Requirement(IS_SLOW),))),
    "a call of an identity": _lines(AuthCheck("none", calls=(CallStep(s.call("list_issues")),))),
    "an origin": _lines(OriginCheck("https://evil.example")),
    "a bound on times": _lines(LatencyCheck(IS_SLOW, 5)),
    "number of calls that are timed": _lines(LatencyCheck(IS_SLOW, 6)),
    "a scenario": _lines(ConformanceCheck("ping")),
    "a rule of authorisation": _lines(OAuthCheck("pkce")),
    "argument of a call": _lines(CallStep(s.call("list_issues", project=s.text("Billing")), "first")),
    "another environment": lambda suite: replace(suite, checks=(replace(suite.checks[0], environment=None),)),
    "environment steps": _environment(steps=()),
    "let that a step uses": _suite(lets=(Let("db", s.text("elsewhere.db")),)),
    "server argv": _server(argv=(s.text("node"),)),
    "annotations": _suite(catalogues=(Catalogue("tracker", (Annotation("destructive", (UPDATE,)),)),)),
    "seed": _suite(seed=8),
}


@pytest.mark.parametrize("change", CHECK_INGREDIENTS.values(), ids=CHECK_INGREDIENTS.keys())
def test_ingredient_of_a_check_changes_its_key(change: Change) -> None:
    suite = _checked(s.suite())
    keys = [s.node(s.made(each), "check:tracker").key for each in (suite, change(suite))]
    assert keys[0] != keys[1]


@pytest.mark.parametrize("change", [_task(prompt=s.text("Else.")), _model(max_tokens=5), _host(max_turns=3)])
def test_what_no_check_reads_leaves_its_key(change: Change) -> None:
    suite = _checked(s.suite())
    keys = [s.node(s.made(each), "check:tracker").key for each in (suite, change(suite))]
    assert keys[0] == keys[1]


NO_INGREDIENTS: dict[str, Change] = {
    "title": _task(title="Another title"),
    "tags": _task(tags=("other",)),
    "cluster": _task(cluster="c"),
    "number of trials": _task(trials=9),
    "purpose": _task(purpose="regression"),
    "expected failure": _task(known_failures=(KnownFailure("slow"),)),
    "order of tasks": lambda suite: replace(suite, tasks=tuple(reversed(suite.tasks))),
    "order of harvests": lambda suite: replace(suite, harvests=tuple(reversed(suite.harvests))),
    "order of cells": lambda suite: replace(suite, cells=tuple(reversed(suite.cells))),
    "suite's title": _suite(title="Other"),
    "another task": lambda suite: replace(suite, tasks=(*suite.tasks, s.plain("new"))),
    "let that nothing uses": lambda suite: replace(suite, lets=(suite.lets[0],)),
    "another model": lambda suite: replace(suite, models=(replace(suite.models[0], max_tokens=1), suite.models[1])),
    "name of the cell": _suite(cells=(Cell("canned+loop", "canned", "loop"),)),
    "path of the spec": _suite(path="elsewhere/tracker.mcpe"),
}


def test_what_turns_are_judged_by_is_in_the_grade_key_alone() -> None:
    def keys(*graders: Grader, every: tuple[Grader, ...] = ()) -> tuple[str, str]:
        return _keys(s.made(s.with_task(dialogue=s.dialogue(graders=graders, every=every))))

    plain = keys()
    for other in (keys(s.judged()), keys(every=(s.judged(),))):
        assert other[0] == plain[0] and other[1] != plain[1]


def test_the_model_that_plays_the_user_is_part_of_the_key() -> None:
    before = s.with_task(dialogue=s.dialogue(user=s.user("sonnet")))
    after = replace(before, models=(replace(before.models[0], max_tokens=9), before.models[1]))
    assert before.models[0].name == "sonnet"
    assert _keys(s.made(before))[0] != _keys(s.made(after))[0]


@pytest.mark.parametrize("change", NO_INGREDIENTS.values(), ids=NO_INGREDIENTS.keys())
def test_what_changes_no_trial_changes_no_key(change: Change) -> None:
    plan = s.made(change(s.suite()))
    group = next(g for g in s.groups(plan) if g.task == "label_it" and g.cell.startswith("canned"))
    assert (group.key, group.grade_key) == _keys(s.made())


GRADER_SETTINGS: dict[str, Change] = {
    "expected value": _task(graders=(State(Common("g3"), replace(s.state().condition, right=s.text("x"))),)),
    "weight": _task(graders=(replace(s.state(), common=Common("g3", weight=0.5)),)),
    "another grader": _task(graders=(s.state(), s.judged())),
    "expect": _task(expect=(UPDATE,)),
}


@pytest.mark.parametrize("change", GRADER_SETTINGS.values(), ids=GRADER_SETTINGS.keys())
def test_grader_settings_change_the_grade_key_only(change: Change) -> None:
    key, grade_key = _keys(s.made(change(s.suite())))
    assert key == _keys(s.made())[0] and grade_key != _keys(s.made())[1]


def test_judge_model_is_part_of_the_grade_key() -> None:
    before = s.with_task(graders=(s.judged(),))
    after = replace(before, models=(replace(before.models[0], max_tokens=9), before.models[1]))
    assert _keys(s.made(before))[0] == _keys(s.made(after))[0]
    assert _keys(s.made(before))[1] != _keys(s.made(after))[1]


@pytest.mark.parametrize("change", [{"kappa": 0.7}, {"labels": (Labelled("c", "a", False, line=2),)}])
def test_what_a_judge_is_measured_on_is_part_of_the_grade_key(change: dict[str, Any]) -> None:
    measured = Calibration("sonnet", "labels.jsonl", (Labelled("c", "a", True, line=2),))
    before = replace(s.with_task(graders=(s.judged(),)), calibrations=(measured,))
    after = replace(before, calibrations=(replace(measured, **change),))
    assert _keys(s.made(before))[0] == _keys(s.made(after))[0]
    assert _keys(s.made(before))[1] != _keys(s.made(after))[1]


def test_only_judges_that_are_asked_are_measured() -> None:
    plan = s.made(replace(s.suite(), calibrations=(Calibration("nobody", "labels.jsonl", ()),)))
    assert plan.calibrations == ()


def test_truth_binding_is_grading_and_its_source_is_evidence() -> None:
    truth = Truth("now", s.call("list_issues"), bindings=(Entry("n", Select("$.a")),))
    first = _keys(s.made(s.with_task(truths=(truth,))))
    other_binding = _keys(s.made(s.with_task(truths=(replace(truth, bindings=(Entry("n", Select("$.b")),)),))))
    other_source = _keys(s.made(s.with_task(truths=(replace(truth, source=s.call("get_issue")),))))
    assert first[0] == other_binding[0] and first[1] != other_binding[1]
    assert first[0] != other_source[0]


def test_source_inside_any_grader_is_evidence() -> None:
    def keys(query: str) -> tuple[str, str]:
        source = Sql(s.text(query), s.text("db"))
        return _keys(s.made(s.with_task(graders=(AnyOf(Common("g1"), (s.contains(source),)),))))

    assert keys("select 1")[0] != keys("select 2")[0]


def test_truth_binding_that_a_query_uses_is_evidence() -> None:
    def keys(path: str) -> tuple[str, str]:
        truth = Truth("now", s.call("list_issues"), bindings=(Entry("n", Select(path)),))
        view = SameState(Common("g1"), (s.call("get_issue", key=Ref(("now", "n"))),))
        return _keys(s.made(s.with_task(truths=(truth,), graders=(view,))))

    assert keys("$.a")[0] != keys("$.b")[0]


def test_changed_fixture_makes_its_users_due() -> None:
    for path in ("specs/fixtures/tracker.db", "specs/scripts/tracker.yaml"):
        assert _keys(s.made(digests={**s.DIGESTS, path: "9" * 64}))[0] != _keys(s.made())[0]


def test_fixture_that_another_model_reads_is_no_matter() -> None:
    plan, changed = s.made(), s.made(digests={**s.DIGESTS, "specs/scripts/tracker.yaml": "9" * 64})
    assert s.node(plan, "label_it@sonnet").key == s.node(changed, "label_it@sonnet").key


def test_fixture_that_no_text_names_counts_for_everything() -> None:
    suite = s.suite(fixtures=("specs/fixtures/other.db",))
    changed = s.made(suite, digests={**s.DIGESTS, "specs/fixtures/other.db": "9" * 64})
    assert all(a.key != b.key for a, b in zip(s.made(suite).nodes, changed.nodes, strict=True))


def test_text_of_the_spec_alone_changes_no_key() -> None:
    changed = s.made(digests={**s.DIGESTS, "specs/tracker.mcpe": "9" * 64})
    assert [n.key for n in s.made().nodes] == [n.key for n in changed.nodes]
    assert changed.key == s.made().key


def test_locked_catalogue_is_part_of_every_key_behind_its_server() -> None:
    plan, other = s.made(lock=s.locked()), s.made(lock=s.locked(catalogue_sha256="c" * 64))
    assert all(a.key != b.key for a, b in zip(plan.nodes, other.nodes, strict=True))


def test_findings_of_a_contact_are_no_ingredient() -> None:
    noisy = s.locked(findings=("2 lines on standard output are no messages",))
    assert [n.key for n in s.made(lock=noisy).nodes] == [n.key for n in s.made(lock=s.locked()).nodes]


def test_unrelated_server_changes_no_key() -> None:
    extra = replace(s.suite().servers[0], name="other")
    plan = s.made(s.suite(servers=(*s.suite().servers, extra)))
    assert _keys(plan) == _keys(s.made())


def test_moving_the_whole_text_changes_no_key() -> None:
    plan, moved = s.made(), s.made(_moved(s.suite()))
    assert [n.key for n in plan.nodes] == [n.key for n in moved.nodes] and plan.key == moved.key


def test_row_is_known_by_its_value_and_not_by_its_index() -> None:
    def keys(*rows: str) -> dict[str, str]:
        loop = Loop("q", Ref(("t",)), rows=tuple(Literal(r) for r in rows), keys=rows)
        return {g.row_key or "": g.key for g in s.groups(s.made(s.suite(tasks=(s.plain("ask", loop=loop),))))}

    before, after = keys("a", "b"), keys("new", "a", "b")
    assert {k: after[k] for k in before} == before


def test_parameter_of_the_cell_is_an_ingredient() -> None:
    def key(lang: str) -> str:
        cell = Cell("x", "canned", "loop", parameters=(Entry("lang", Literal(lang)),))
        return s.node(s.made(s.suite(cells=(cell,))), "label_it@x").key

    assert key("de") != key("fr")


def test_every_node_has_a_key_of_its_own() -> None:
    keys = [n.key for n in s.made(s.suite(tasks=(s.task(), s.plain("a"), s.plain("b"), s.looped("c", 5)))).nodes]
    assert len(set(keys)) == len(keys)


def test_trial_keys_differ_by_index() -> None:
    assert trial_key("a", 1) != trial_key("a", 2)


def test_price_of_the_spec_is_an_ingredient() -> None:
    priced = _model(price=Price(1e-6, 2e-6))(s.suite())
    assert _keys(s.made(priced))[0] != _keys(s.made())[0]


def _moved(value: Any) -> Any:
    """The same value with every place in the text somewhere else."""
    if isinstance(value, Location):
        return replace(value, line=value.line + 100, end_line=value.end_line + 100)
    if isinstance(value, tuple):
        return tuple(_moved(item) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        names = list(value.__dataclass_fields__)
        return type(value)(**{name: _moved(getattr(value, name)) for name in names})
    return value


def test_templates_and_budgets_compare_by_content() -> None:
    same = s.with_task(prompt=Template("Add the label to '{{ oldest.title }}'.", ("oldest",), s.at(77)))
    assert _keys(s.made(same)) == _keys(s.made())
    assert _keys(s.made(s.with_task(budget=Budget())))[0] != _keys(s.made())[0]
