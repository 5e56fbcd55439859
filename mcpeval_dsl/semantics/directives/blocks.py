"""Semantics, the table: every kind of block, what it is for and what must stand in it."""

from __future__ import annotations

from mcpeval_dsl.semantics.directives.model import BlockKind, Requirement

DRIVERS = ("anthropic", "litellm", "script", "replay", "local")
EXTERNAL_HOSTS = ("claude_code", "codex", "gemini_cli", "opencode", "copilot_cli", "qwen_code", "command")
FAULTS = (
    "timeout",
    "error",
    "protocol_error",
    "expired_credential",
    "http",
    "garbage",
    "slow",
    "disconnect",
)
GRADERS = (
    "exact",
    "one_of",
    "contains",
    "regex",
    "number",
    "set",
    "json",
    "state",
    "same_state",
    "unchanged",
    "results",
    "calls",
    "evidence",
    "judge",
    "command",
    "python",
    "any",
)

_CAPTURE = "a value taken from what was read: a JSONPath, a regex (first capture), or a function over one"
_STEP = "the result of a step, kept under a name"


def _exactly_one(*names: str) -> Requirement:
    return Requirement(names, 1, 1)


_TOP = (
    BlockKind("file", "a spec", "What stands at the left edge of a `.mcpe` file."),
    BlockKind("suite", "a suite", "Title, run settings and the defaults of every task.", opened_by="suite"),
    BlockKind("defaults", "`defaults`", "Settings every task starts from.", opened_by="defaults"),
    BlockKind(
        "table",
        "a table",
        "Rows for tasks that are made per row.",
        requires=(Requirement(("columns",)),),
        opened_by="table",
    ),
    BlockKind(
        "for",
        "a `for` at the top of a spec",
        "One copy of each task per row; the limit bounds the plan.",
        requires=(Requirement(("task", "environment")),),
        opened_by="for",
    ),
    BlockKind("profile", "a profile", "Settings that tasks take over with `use`.", opened_by="profile"),
    BlockKind(
        "matrix",
        "a matrix",
        "Axes over models, hosts, servers, arms and free parameters; their product is the cells.",
        bindings="an axis and its members",
        binding_lists=True,
        opened_by="matrix",
    ),
    BlockKind(
        "arm",
        "an arm",
        "What the agent has in this treatment. An empty one is an agent with nothing but what it knows.",
        opened_by="arm",
    ),
    BlockKind("api", "an HTTP API of an arm", "What the agent may ask of the API.", opened_by="http"),
    BlockKind(
        "gate",
        "a gate",
        "Release conditions. Safety gates hold whether they are written or not.",
        requires=(Requirement(("require",)),),
        opened_by="gate",
    ),
    BlockKind("gate_require", "a `require` of a gate", "What the condition compares with.", opened_by="require"),
    BlockKind("scorecard", "a scorecard", "Weights of the dimensions of the total.", opened_by="scorecard"),
)

_SERVERS = (
    BlockKind(
        "prepare",
        "`prepare`",
        "What makes a version of a server, in order: its files, then commands in the folder that holds them.",
        opened_by="prepare",
    ),
    BlockKind(
        "server",
        "a server",
        "One server under test, or a private one for set-up and checks.",
        requires=(_exactly_one("stdio", "http"),),
        opened_by="server",
    ),
    BlockKind(
        "oauth",
        "`oauth`",
        "How the client gets its token.",
        requires=(Requirement(("client_id",)),),
        opened_by="oauth",
    ),
    BlockKind(
        "environment",
        "an environment",
        "What a trial starts from; its statements are the set-up, in order.",
        bindings=_STEP,
        calls=True,
        opened_by="environment",
    ),
    BlockKind("process", "a `run` or `start`", "Limits and variables of the command.", opened_by="run"),
    BlockKind(
        "render",
        "a `render`",
        "Names the template file uses.",
        bindings="a name for the template file",
        opened_by="render",
    ),
    BlockKind("reset", "a `reset`", "What must hold after the reset.", opened_by="reset"),
    BlockKind("annotations", "`annotations`", "Effect classes over call patterns.", opened_by="annotations"),
    BlockKind("effect", "an effect class", "How bad an unpermitted call is, and why.", opened_by="destructive"),
)

_AGENTS = (
    BlockKind(
        "model",
        "a model",
        "One driver and its sampling settings.",
        requires=(_exactly_one(*DRIVERS),),
        opened_by="model",
    ),
    BlockKind(
        "judge",
        "a judge",
        "The model behind `grade judge`, and how far it is believed.",
        requires=(_exactly_one(*DRIVERS),),
        opened_by="judge",
    ),
    BlockKind(
        "host",
        "a host",
        "The harness between model and servers.",
        requires=(Requirement(EXTERNAL_HOSTS, 0, 1),),
        opened_by="host",
    ),
)

_READING = (
    BlockKind(
        "harvest",
        "a harvest",
        "Values read before the trials that need them.",
        bindings=_CAPTURE,
        opened_by="harvest",
    ),
    BlockKind("truth", "a truth", "Values read after the trial.", bindings=_CAPTURE, opened_by="truth"),
    BlockKind(
        "call",
        "the block of a call",
        "What is kept of the result, and what must hold.",
        bindings=_CAPTURE,
        opened_by="server.tool(…)",
    ),
)

_TASKS = (
    BlockKind(
        "task",
        "a task",
        "One thing the agent is asked to do, and how the answer is judged.",
        requires=(Requirement(("prompt", "dialogue")),),
        opened_by="task",
    ),
    BlockKind(
        "when", "a `when`", "What is graded, expected and permitted only where the condition holds.", opened_by="when"
    ),
    BlockKind("setup", "`setup`", "Steps before the agent.", bindings=_STEP, calls=True, opened_by="setup"),
    BlockKind("teardown", "`teardown`", "Steps after the trial.", bindings=_STEP, calls=True, opened_by="teardown"),
    BlockKind(
        "undo",
        "an `undo`",
        "Calls that take back a matching call; `args` and `result` are those of that call.",
        bindings=_STEP,
        calls=True,
        opened_by="undo",
    ),
    BlockKind(
        "reference",
        "a reference",
        "Calls that solve the task.",
        bindings=_STEP,
        calls=True,
        opened_by="reference",
    ),
    BlockKind(
        "distract",
        "`distract`",
        "Tools that do not belong to the task.",
        requires=(Requirement(("catalog", "near")),),
        opened_by="distract",
    ),
    BlockKind(
        "fault",
        "a fault",
        "What goes wrong, and at which call.",
        requires=(_exactly_one(*FAULTS),),
        opened_by="fault",
    ),
    BlockKind("fault_error", "the block of an `error`", "How the error is dressed.", opened_by="error"),
    BlockKind(
        "inject",
        "an `inject`",
        "A planted text and what shows that it was obeyed.",
        requires=(Requirement(("text",)), Requirement(("obeyed",))),
        opened_by="inject",
    ),
    BlockKind(
        "simulate",
        "a `simulate`",
        "The answer that is given instead of calling.",
        requires=(Requirement(("result",)),),
        opened_by="simulate",
    ),
    BlockKind("known_failure", "a `known_failure`", "Where and until when it is known.", opened_by="known_failure"),
    BlockKind(
        "dialogue",
        "a dialogue",
        "Scripted turns, or a simulated user.",
        requires=(Requirement(("turn", "user")),),
        opened_by="dialogue",
    ),
    BlockKind(
        "turn",
        "a turn",
        "What the user says, and what is expected then.",
        requires=(Requirement(("user",)),),
        opened_by="turn",
    ),
    BlockKind("every", "an `every turn`", "What is judged after each turn.", opened_by="every"),
    BlockKind(
        "user",
        "a simulated user",
        "Who talks to the agent, with what aim and knowledge.",
        requires=(Requirement(("goal",)),),
        opened_by="user",
    ),
)

_CHECKS = (
    BlockKind(
        "check",
        "a check",
        "The deterministic layer: no model, only the server and the protocol.",
        bindings=_STEP,
        calls=True,
        opened_by="check",
    ),
    BlockKind("auth", "an `auth`", "What must hold for this identity.", bindings=_STEP, calls=True, opened_by="auth"),
)


def _grader(name: str) -> BlockKind:
    requires: tuple[Requirement, ...] = ()
    if name == "judge":
        requires = (Requirement(("claim", "for")),)
    if name == "any":
        requires = (Requirement((*GRADERS, "not", "for")),)
    return BlockKind(
        f"grade_{name}",
        f"a `grade {name}`",
        f"How `grade {name}` compares, and how much it weighs.",
        requires=requires,
        opened_by=f"grade {name}",
    )


BLOCKS: tuple[BlockKind, ...] = (
    *_TOP,
    *_SERVERS,
    *_AGENTS,
    *_READING,
    *_TASKS,
    *(_grader(name) for name in GRADERS),
    BlockKind("claim", "a claim", "How much the claim weighs.", opened_by="claim"),
    *_CHECKS,
)
