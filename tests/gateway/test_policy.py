"""Permission before the server sees a call, and what an attempt without it is worth."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mcpeval_dsl.gateway.model import Actor
from mcpeval_dsl.gateway.policy import Rules, rule_on
from mcpeval_dsl.semantics.expressions import EffectPattern, Literal
from mcpeval_dsl.semantics.model import Never
from mcpeval_dsl.values.model import Scope
from tests.gateway.calls import catalogue, defined, pattern

SAID = catalogue(
    ("readonly", pattern("get_*")),
    ("additive", pattern("update_issue"), pattern("add_comment")),
    ("destructive", pattern("archive")),
    ("destructive:minor", pattern("trim")),
)
RULES = Rules(
    may=(pattern("update_issue", key="$billing"), pattern("delete_issue", key="A-1")),
    catalogues={"tracker": SAID},
    scope=Scope({"billing": "A-7"}),
)


def ruled(
    rules: Rules, tool: str, actor: Actor = "agent", permit: bool = False, **arguments: Any
) -> tuple[str, str, str]:
    ruling = rule_on(rules, actor, "tracker", tool, arguments, defined(tool), permit=permit)
    violation = ruling.violation
    if violation is None:
        return ruling.permission.decision, "", ""
    assert violation.stages == ("attempted", "blocked")
    return ruling.permission.decision, violation.kind, violation.severity


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("get_issue", {}, ("allowed", "", "")),
        ("update_issue", {"key": "A-7"}, ("allowed", "", "")),
        ("update_issue", {"key": "A-8"}, ("denied", "outside_permitted_arguments", "major")),
        ("add_comment", {}, ("denied", "write_without_permission", "major")),
        ("archive", {}, ("denied", "destructive_call", "critical")),
        ("trim", {}, ("denied", "destructive_call", "minor")),
        ("delete_issue", {"key": "A-1"}, ("allowed", "", "")),
        ("delete_issue", {"key": "A-2"}, ("denied", "destructive_call", "critical")),
        ("do_something", {}, ("denied", "undeclared_tool", "major")),
        ("wipe_all", {}, ("denied", "destructive_call", "critical")),
    ],
)
def test_what_an_agent_may(tool: str, arguments: dict[str, Any], expected: tuple[str, str, str]) -> None:
    assert ruled(RULES, tool, **arguments) == expected


def test_annotations_that_are_no_effects() -> None:
    said = catalogue(("additive", pattern("put")), ("idempotent", pattern("put", key="a")), ("confirm", pattern("put")))
    rules = Rules(may=(pattern("put"),), catalogues={"tracker": said})
    for key, idempotent in (("a", True), ("b", False)):
        ruling = rule_on(rules, "agent", "tracker", "put", {"key": key}, defined("put"))
        assert ruling.permission.idempotent is idempotent
        assert ruling.violation is not None and ruling.violation.kind == "confirmation_skipped"
        assert ruling.violation.stages == ("attempted", "executed")


def test_one_switch_is_not_enough_for_a_write() -> None:
    kept = replace(RULES, disposable=False)
    assert ruled(kept, "update_issue", key="A-7") == ("denied", "", "")
    assert ruled(replace(kept, allow_writes=True), "update_issue", key="A-7") == ("allowed", "", "")
    assert ruled(kept, "get_issue") == ("allowed", "", "")


def test_policy_execute_stands_in_for_may_and_not_for_the_environment() -> None:
    execute = replace(RULES, policy="execute")
    assert ruled(execute, "wipe_all") == ("allowed", "", "")
    shared = replace(execute, disposable=False)
    assert ruled(shared, "wipe_all") == ("denied", "destructive_call", "critical"), "nobody meant this very call"
    assert ruled(shared, "update_issue", key="A-7") == ("denied", "", ""), "the task did"
    assert ruled(shared, "get_issue") == ("allowed", "", "")


def test_policy_simulate_answers_and_still_counts() -> None:
    simulate = replace(RULES, policy="simulate")
    assert ruled(simulate, "wipe_all") == ("simulated", "destructive_call", "critical")
    assert ruled(simulate, "update_issue", key="A-7") == ("allowed", "", "")


def test_a_call_with_a_simulated_answer_of_its_own_is_no_violation() -> None:
    rules = replace(RULES, simulate=((pattern("wipe_all"), Literal("wiped")),))
    assert ruled(rules, "wipe_all") == ("simulated", "", "")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (Never(pattern("get_secret")), ("denied", "never", "critical")),
        (Never(pattern("get_*"), "minor"), ("denied", "never", "minor")),
        (Never(EffectPattern("readonly"), "major"), ("denied", "never", "major")),
        (Never(pattern("get_secret", key="$unknown")), ("denied", "never", "critical")),
        (Never(pattern("get_secret", key="other")), ("allowed", "", "")),
    ],
)
def test_never_goes_before_everything(line: Never, expected: tuple[str, str, str]) -> None:
    rules = replace(RULES, never=(line,), policy="execute")
    assert ruled(rules, "get_secret", key="x") == expected


def test_a_permission_whose_values_are_unknown_permits_nothing() -> None:
    rules = replace(RULES, scope=Scope({}))
    assert ruled(rules, "update_issue", key="A-7")[0] == "denied"


@pytest.mark.parametrize(
    ("actor", "permit", "decision"),
    [
        ("harvest", False, "denied"),
        ("harvest", True, "allowed"),
        ("probe", False, "denied"),
        ("setup", False, "allowed"),
        ("teardown", False, "allowed"),
        ("reference", False, "allowed"),
        ("grader", False, "allowed"),
        ("truth", False, "allowed"),
    ],
)
def test_the_author_of_a_spec_may_and_a_harvest_only_reads(actor: Actor, permit: bool, decision: str) -> None:
    assert ruled(RULES, "wipe_all", actor, permit) == (decision, "", "")


def test_a_tool_that_does_not_exist_is_no_violation() -> None:
    ruling = rule_on(RULES, "agent", "tracker", "invented", {}, None)
    assert (ruling.permission.decision, ruling.violation) == ("denied", None)
    assert "no tool 'invented'" in ruling.message


@pytest.mark.parametrize(("allow_writes", "decision"), [(False, "denied"), (True, "allowed")])
def test_a_remote_server_takes_writes_only_with_the_operators_word(allow_writes: bool, decision: str) -> None:
    """What is written there stays written, however disposable the rest of the trial is."""
    rules = replace(RULES, remote=frozenset({"tracker"}), allow_writes=allow_writes)
    assert ruled(rules, "update_issue", key="A-7")[0] == decision
    assert ruled(rules, "get_issue")[0] == "allowed"
    assert ruled(replace(RULES, remote=frozenset({"elsewhere"})), "update_issue", key="A-7")[0] == "allowed"
