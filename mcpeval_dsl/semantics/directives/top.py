"""Semantics, the table: the top of a spec, the suite, tables and loops, matrix, comparisons, gate and scorecard."""

from __future__ import annotations

from mcpeval_dsl.semantics.directives.model import Directive, define
from mcpeval_dsl.semantics.directives.operands import (
    BECAUSE,
    NOTHING,
    Assign,
    Commas,
    Condition,
    Iteration,
    Maybe,
    MetricCondition,
    NameList,
    NameOf,
    NewName,
    Quoted,
    Segment,
    Tag,
    Value,
    either,
    file_of,
    options,
    quantity,
    seq,
    word,
)

_TITLE = Maybe(Quoted("a title", "title"))
_BY = Maybe(seq(word("by", label="by_word"), either(NameList("axes", "by"), Tag("an axis", "by"))))
_MEMBERS = ("arm", "server", "model", "host")
_WHERE = seq(word("where", label="where_word"), Commas(Segment()))
_LIMIT = seq(word("limit", label="limit_word"), quantity("count", "limit", least=1, whole=True))
_KEY = seq(word("key", label="key_word"), Value("key"))
_LOOP = seq(Iteration(), options(seq(word("where", label="where_word"), Condition("where")), _KEY, _LIMIT))

TOP: tuple[Directive, ...] = (
    define(
        "import",
        "file",
        Quoted("the path of a spec, relative to this one", "path"),
        "Takes over the names another file declares.",
        'import "shared/models.mcpe"',
        repeat="add",
    ),
    define(
        "suite",
        "file",
        seq(NewName("suite"), _TITLE),
        "Names the suite; holds run settings and the defaults of its tasks.",
        'suite tracker "Issue tracker" { trials 5; seed 7 }',
        block="suite",
    ),
    define("let", "file", Assign("let"), "A named value.", 'let project = "acme/shop"', repeat="add"),
    define(
        "server",
        "file",
        seq(NewName("server"), _TITLE),
        "A server under test, or with `private` one the agent never sees.",
        'server tracker { stdio "python" "-m" "tracker_server"; version "1.5.0" }',
        block="server",
        repeat="add",
    ),
    define(
        "environment",
        "file for",
        NewName("environment"),
        "What each trial starts from, fresh every time.",
        'environment desk { copy "fixtures/tracker.db" to "{{ workdir }}/tracker.db" }',
        block="environment",
        repeat="add",
    ),
    define(
        "annotations",
        "file",
        NameOf(("catalogue",), "catalogue"),
        "The spec's word on what the tools of a catalogue do; it stands over the server's hints.",
        "annotations tracker { readonly list_*, get_*; destructive purge }",
        block="annotations",
        repeat="add",
    ),
    define(
        "model",
        "file",
        NewName("model"),
        "A model: one driver and its settings.",
        'model sonnet { anthropic "claude-sonnet-4-5"; max_tokens 4096 }',
        block="model",
        repeat="add",
    ),
    define(
        "host",
        "file",
        NewName("host"),
        "The harness a model acts through.",
        "host loop { instructions include; tool_result_limit 25k }",
        block="host",
        repeat="add",
    ),
    define(
        "judge",
        "file",
        NewName("judge"),
        "A judge with settings of its own.",
        'judge strict { anthropic "claude-opus-4-5"; threshold 80%; repeats 3 }',
        block="judge",
        repeat="add",
    ),
    define(
        "profile",
        "file",
        NewName("profile"),
        "Settings shared by the tasks that `use` it.",
        "profile writing { tags write; kind write; grade evidence }",
        block="profile",
        repeat="add",
    ),
    define(
        "task",
        "file for",
        seq(NewName("task"), _TITLE),
        "One task.",
        'task oldest "Oldest open issue" { prompt "Which issue is oldest?"; grade contains "BILL-7" }',
        block="task",
        repeat="add",
    ),
    define(
        "arm",
        "file",
        NewName("arm"),
        "A treatment: what the agent has.",
        "arm mcp { servers tracker }",
        block="arm",
        repeat="add",
    ),
    define(
        "lift",
        "file",
        seq(NameOf(_MEMBERS, "treatment"), word("over", label="over_word"), NameOf(_MEMBERS, "baseline"), _BY),
        "How much better the tasks go with the treatment than with the baseline.",
        "lift mcp over cli by [tag, model]",
        repeat="add",
    ),
    define(
        "compare",
        "file",
        seq(NameOf(_MEMBERS, "treatment"), word("over", label="over_word"), NameOf(_MEMBERS, "baseline"), _BY),
        "Two members of one axis, paired on the same tasks.",
        "compare tracker_2 over tracker_1 by tag",
        repeat="add",
    ),
    define(
        "matrix",
        "file",
        NOTHING,
        "The axes whose product is the cells of the run.",
        "matrix { model = [sonnet, canned]; host = [loop] }",
        block="matrix",
    ),
    define(
        "check",
        "file",
        NameOf(("server", "catalogue"), "server"),
        "Deterministic checks of a server and its protocol; no model takes part.",
        "check tracker { tool purge absent; schema valid }",
        block="check",
        repeat="add",
    ),
    define(
        "gate",
        "file",
        NOTHING,
        "What must hold for a release.",
        "gate { require safety.critical == 0; require task_success >= 80% }",
        block="gate",
    ),
    define(
        "scorecard",
        "file",
        NOTHING,
        "Weights of the dimensions; safety stays a gate whatever it weighs.",
        "scorecard { task_success 60%; reliability 40% }",
        block="scorecard",
    ),
    define(
        "table",
        "file",
        seq(NewName("table"), Maybe(file_of("the path of a CSV, JSON or JSON Lines file"))),
        "Rows for `for`, written here or read from a file.",
        'table questions { columns id, ask; row "a", "How many?" }',
        block="table",
        repeat="add",
    ),
    define(
        "for",
        "file",
        _LOOP,
        "One copy of the tasks inside per row. The limit bounds the plan; rows that do not come are `not_applicable`.",
        'for q in questions key q.id limit 10 { task ask { prompt q.ask; grade contains "x" } }',
        block="for",
        repeat="add",
    ),
    define(
        "for",
        "reference",
        _LOOP,
        "The steps inside, once per row.",
        "for f in tree.files where f ~ /^2025-/ limit 40 { fs.move_file(source: f) }",
        block="reference",
        repeat="add",
    ),
    define(
        "for",
        "grade_judge",
        _LOOP,
        "The claims inside, once per row.",
        'for f in ada.facts limit 5 { claim "states: {{ f }}" }',
        block="grade_judge",
        repeat="add",
        run="later",
    ),
    define(
        "for",
        "grade_any",
        _LOOP,
        "The graders inside, once per row.",
        "for f in ada.facts limit 5 { contains f }",
        block="grade_any",
        repeat="add",
        run="later",
    ),
)

SUITE: tuple[Directive, ...] = (
    define(
        "trials",
        "suite defaults profile task",
        quantity("count", "trials", least=1, whole=True),
        "Trials per task and cell.",
        "trials 5",
        default="1",
    ),
    define(
        "seed",
        "suite",
        quantity("count", "seed", whole=True),
        "What all chance in the run starts from.",
        "seed 20261130",
        default="0",
    ),
    define(
        "policy",
        "suite defaults",
        word("deny", "simulate", "execute", label="policy"),
        "What happens to a call that the task does not permit.",
        "policy deny",
        default="deny",
    ),
    define(
        "defaults",
        "suite",
        NOTHING,
        "Settings of every task.",
        "defaults { environment desk; budget calls <= 6 hard 15 }",
        block="defaults",
    ),
    define(
        "splits",
        "suite",
        seq(
            word("heldout", label="split"),
            quantity("percent", "share"),
            Maybe(seq(word("by", label="by_word"), word("cluster", "task", "tag", label="by"))),
        ),
        "Holds out a share of the tasks, drawn with the seed; what is named together stays together.",
        "splits heldout 30% by cluster",
    ),
    define(
        "judge",
        "suite defaults profile task",
        NameOf(("judge", "model"), "judge"),
        "The judge, or the model, behind every `grade judge`.",
        "judge sonnet",
    ),
)

TABLES: tuple[Directive, ...] = (
    define(
        "columns",
        "table",
        Commas(Tag("a column", "column")),
        "Names of the columns; the first is the key unless `key` says otherwise.",
        "columns id, ask, answer",
    ),
    define(
        "row",
        "table",
        Commas(Value("cell")),
        "One row, a cell per column. A bare name in a cell is a reference.",
        'row "head", "What is the newest message?", head.message',
        repeat="add",
    ),
)

MATRIX: tuple[Directive, ...] = tuple(
    define(
        name,
        "matrix",
        Commas(Segment()),
        f"{verb} the cells in which all of the conditions hold; commas mean *and*.",
        f"{name} model == canned, arm == cli",
        repeat="add",
    )
    for name, verb in (("exclude", "Leaves out"), ("include", "Adds"))
)

GATES: tuple[Directive, ...] = (
    define(
        "require",
        "gate",
        seq(MetricCondition(), options(_WHERE, BECAUSE)),
        "A condition on a metric, in one segment with `where`. `.low` and `.high` are the bounds of its interval.",
        "require task_success.low >= 75% where tag == write",
        block="gate_require?",
        repeat="add",
    ),
    define(
        "baseline",
        "gate_require",
        Quoted("the name or path of a run", "run"),
        "The run the metric is compared with: it is read as its change since then.",
        'baseline "runs/main"',
    ),
    *(
        define(name, "scorecard", quantity("percent", "weight"), f"Weight of {what}.", f"{name} 20%")
        for name, what in (
            ("task_success", "end-to-end task success"),
            ("tool_choice", "correct selection of tools and arguments"),
            ("reliability", "reliability and recovery from errors"),
            ("efficiency", "staying within the budgets"),
            ("compatibility", "protocol and capabilities"),
            ("safety", "safe trials without minor findings; critical ones fail the gate in any case"),
        )
    ),
)
