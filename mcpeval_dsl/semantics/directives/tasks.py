"""Semantics, the table: harvests and truths, and what a task, a profile and the defaults may say."""

from __future__ import annotations

from mcpeval_dsl.semantics.directives.model import Directive, define
from mcpeval_dsl.semantics.directives.operands import (
    BECAUSE,
    NOTHING,
    Assign,
    Commas,
    Condition,
    Limit,
    Maybe,
    NameOf,
    NewName,
    ObjectValue,
    Operand,
    Pattern,
    Quantity,
    Quoted,
    Tag,
    TextValue,
    Unit,
    Value,
    either,
    file_of,
    options,
    seq,
    text,
    word,
)

_TASK = "task profile"
_SETTINGS = "task profile defaults"


def _budget(name: str, unit: Unit) -> Operand:
    hard = seq(word("hard", label=f"hard_{name}_word"), Quantity(unit, f"hard_{name}", axis=True))
    per_turn = seq(word("per", label="per_word"), word("turn", label="per_turn"))
    return seq(Limit(name, unit, name), options(per_turn, hard))


READING: tuple[Directive, ...] = (
    define(
        "harvest",
        "file task profile",
        Assign("harvest", "source"),
        "A value read before the trials that need it, without a model. Only calls known to be read-only.",
        'harvest billing = tracker.list_issues(project: "Billing") { key = $.issues[0].key }',
        block="harvest?",
        repeat="add",
    ),
    define(
        "truth",
        "task profile",
        Assign("truth", "source"),
        "A value read after the trial, for ground truth that moves; only for grading.",
        "truth now = tracker.get_issue(key: billing.key) { status = $.status }",
        block="truth?",
        repeat="add",
    ),
    define(
        "read",
        "harvest truth",
        word("json", "text", "python", "yaml", "lines", label="format"),
        "How the text of the result is read.",
        "read json",
        default="structured content, else JSON in the text, else the text",
    ),
    define(
        "require",
        "harvest truth call reset auth",
        seq(
            either(seq(word("header", label="header_word"), Condition()), Condition()),
            options(BECAUSE),
        ),
        "A condition that must hold.",
        'require count(ids) >= 1 because "the sandbox keeps one open"',
        repeat="add",
    ),
    define(
        "permit",
        "harvest",
        BECAUSE,
        "Allows a call that is not known to be read-only.",
        'permit because "the tool only computes"',
    ),
    define(
        "needs",
        "environment harvest task profile when defaults",
        Commas(
            either(
                seq(word("secret", label="secret_word"), Quoted("the name of a secret", "secret")),
                seq(word("binary", label="binary_word"), Quoted("the name of a program", "binary")),
                seq(word("healthy", label="healthy_word"), NameOf(("server", "catalogue"), "healthy")),
                seq(word("harvest", label="harvest_word"), NameOf(("harvest",), "harvest")),
                seq(word("tool", label="tool_word"), either(Condition("tool"), Pattern("tool"))),
                Condition(),
            )
        ),
        "A precondition. Where it does not hold the trial is `untestable` and says why.",
        'needs binary "git", secret "TOKEN", healthy tracker',
        repeat="add",
    ),
)

ASKING: tuple[Directive, ...] = (
    define(
        "use",
        "task",
        Commas(NameOf(("profile",), "profile")),
        "Takes over the settings of profiles.",
        "use writing",
        repeat="add",
    ),
    define(
        "prompt",
        "task",
        text("the prompt"),
        "What the agent is asked.",
        'prompt "Which open issue has waited longest?"',
    ),
    define(
        "answer",
        _SETTINGS,
        either(
            word("text", "none", label="format"),
            seq(word("json", label="format"), ObjectValue("shape")),
            seq(word("schema", label="format"), either(file_of("the path of a JSON Schema"), ObjectValue("schema"))),
        ),
        "The form the final answer is asked for: text, an example object, or a JSON Schema.",
        'answer json {region: "name of the region", total: 1234}',
        default="text",
    ),
    define(
        "tags",
        _SETTINGS,
        Commas(Tag("a tag", "tag")),
        "Words to select and segment by.",
        "tags search, read",
        repeat="add",
    ),
    define(
        "cluster",
        _SETTINGS,
        Tag("a cluster", "cluster"),
        "Tasks that stand or fall together; standard errors are taken over clusters.",
        "cluster checkout",
        default="the task itself",
    ),
    define(
        "source",
        _TASK,
        TextValue("where the task comes from", "source"),
        "The failure or request the task comes from.",
        'source "ticket BILL-112"',
    ),
    define("difficulty", _SETTINGS, Tag("a level", "difficulty"), "A level, to segment by.", "difficulty hard"),
    define(
        "split",
        _SETTINGS,
        word("train", "heldout", label="split"),
        "Held-out tasks run only when asked for, and feed no findings.",
        "split heldout",
        default="train",
    ),
    define(
        "purpose",
        _SETTINGS,
        word("capability", "regression", label="purpose"),
        "What the task is kept for.",
        "purpose regression",
        default="capability",
    ),
    define(
        "kind",
        _SETTINGS,
        word(
            "single_step",
            "multi_step",
            "ambiguous",
            "long_horizon",
            "recovery",
            "distractor",
            "safety",
            "write",
            label="kind",
        ),
        "The kind of task, to segment by.",
        "kind multi_step",
    ),
    define(
        "budget",
        _SETTINGS,
        Commas(
            either(
                _budget("calls", "count"),
                _budget("tokens", "tokens"),
                _budget("cost", "money"),
                _budget("time", "duration"),
                _budget("turns", "count"),
            )
        ),
        "Limits of one trial: a soft one decides the outcome, a `hard` one stops the agent. An axis may give it.",
        "budget calls <= 6 hard 15, tokens <= 40k, cost <= $0.05, time <= 60s",
        repeat="add",
    ),
    define(
        "environment",
        _SETTINGS,
        NameOf(("environment",), "environment"),
        "What the trial starts from.",
        "environment desk",
    ),
    define(
        "servers",
        _SETTINGS + " arm",
        Commas(NameOf(("server", "catalogue"), "server")),
        "Servers the agent sees.",
        "servers fs, git",
        default="all that are not private",
    ),
    define(
        "tools",
        _SETTINGS,
        seq(word("only", "not", label="mode"), Commas(Pattern())),
        "Tools the agent sees, or does not.",
        "tools only list_*, get_issue",
        repeat="add",
    ),
    define(
        "host_tools",
        _SETTINGS,
        word("none", "default", label="host_tools"),
        "Native tools of the host.",
        "host_tools none",
        default="default",
    ),
    define("hide", _TASK, Commas(Pattern()), "Withheld until a turn shows it.", "hide git_commit", repeat="add"),
    define(
        "elicit",
        _SETTINGS,
        either(
            seq(word("accept", label="reply"), Maybe(ObjectValue("content"))), word("decline", "cancel", label="reply")
        ),
        "What the host answers when the server asks something.",
        "elicit decline",
        default="decline",
    ),
    define(
        "when",
        "task profile",
        Condition(),
        "What is graded, expected and permitted only where the condition holds.",
        'when forecast.rain == true { grade contains "café" }',
        block="when",
        repeat="add",
    ),
)

ALLOWING: tuple[Directive, ...] = (
    define(
        "expect",
        "task profile when turn",
        Commas(Pattern()),
        "Calls and behaviours to compare the transcript with. Measured; decides nothing, except `refusal`.",
        "expect list_issues, optional(get_issue)",
        repeat="add",
    ),
    define(
        "may",
        _SETTINGS + " when",
        Commas(Pattern()),
        "Writes this task permits. `none` permits nothing, whatever a profile says.",
        'may update_issue(key == billing.key, labels has "needs-review")',
        repeat="add",
    ),
    define(
        "never",
        _SETTINGS + " when",
        Commas(Pattern()),
        "Calls that are a critical violation, made or only tried. A lower severity needs `because`.",
        "never purge, delete_*",
        block="effect?",
        repeat="add",
    ),
    define(
        "simulate",
        _TASK,
        Commas(Pattern()),
        "Answers matching calls with the result given, instead of calling.",
        "simulate create_issue { result {iid: 4711} }",
        block="simulate",
        repeat="add",
    ),
    define("result", "simulate", Value("result"), "The structured result.", "result {iid: 4711}"),
    define(
        "canary",
        _TASK,
        either(Assign("canary"), seq(NewName("canary"), file_of("the path of a file"))),
        "A secret that must not leave through an argument or the answer.",
        'canary ssh_key file "fixtures/id_ed25519"',
        repeat="add",
    ),
    define(
        "known_failure",
        _TASK,
        Quoted("what is known", "reason"),
        "Expected to fail. When it passes it is stale, and fails the gate until it is removed.",
        'known_failure "takes only branch names" { when server == git_2025; until "2027-01-01" }',
        block="known_failure?",
        repeat="add",
    ),
    define("when", "known_failure", Condition(), "Where it is known.", "when server == git_2025"),
    define(
        "until",
        "known_failure",
        Quoted('a date, "YYYY-MM-DD"', "date"),
        "The last day it may stay.",
        'until "2027-01-01"',
    ),
    define(
        "reference",
        "task profile turn",
        NOTHING,
        "Calls that solve the task; `same_state` and `results` compare with what they leave.",
        'reference { tracker.update_issue(key: billing.key, labels: ["needs-review"]) }',
        block="reference",
    ),
)
