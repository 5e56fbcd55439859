"""Semantics, the table: models and judges, hosts, and what an arm gives the agent."""

from __future__ import annotations

from mcpeval_dsl.semantics.arms import METHODS
from mcpeval_dsl.semantics.directives.model import Directive, define
from mcpeval_dsl.semantics.directives.operands import (
    NOTHING,
    Commas,
    NameOf,
    Quantity,
    Quoted,
    TextValue,
    file_of,
    quantity,
    seq,
    text,
    word,
)

_TOKENS = quantity("tokens", "tokens", least=1, whole=True)
_PER = word("per", label="per_word")

MODELS: tuple[Directive, ...] = (
    *(
        define(name, "model judge", Quoted(what, "model"), doc, example)
        for name, what, doc, example in (
            ("anthropic", "a model's id", "Anthropic's Messages API.", 'anthropic "claude-sonnet-4-5"'),
            ("litellm", "a model's id", "Any provider LiteLLM reaches.", 'litellm "openai/gpt-5"'),
            ("local", "a model's id", "A model on this machine.", 'local "SmolLM2-135M"'),
            (
                "script",
                "the path of a script",
                "A scripted agent: the same turns every time.",
                'script "scripts/tracker.yaml"',
            ),
            (
                "replay",
                "the path of a transcript",
                "A stored transcript, played again.",
                'replay "runs/main/transcripts/3.json"',
            ),
        )
    ),
    define("max_tokens", "model judge", _TOKENS, "Tokens of one reply.", "max_tokens 4096"),
    define(
        "temperature",
        "model judge",
        quantity("number", "temperature"),
        "Sampling temperature; the provider's own when not set.",
        "temperature 0",
    ),
    define("thinking", "model judge", _TOKENS, "Tokens of one reply's reasoning.", "thinking 4k"),
    define(
        "price",
        "model judge",
        seq(
            Commas(seq(word("input", "output", "cached", label="kind"), quantity("money", "price"))),
            _PER,
            quantity("tokens", "tokens", least=1),
        ),
        "Prices instead of the provider's list.",
        "price input $1.25, output $10 per 1M",
    ),
    define(
        "threshold",
        "judge grade_judge",
        quantity("percent", "threshold"),
        "Share of the claims' weight that must hold.",
        "threshold 75%",
        default="100%",
    ),
    define(
        "repeats",
        "judge grade_judge",
        Quantity("count", "repeats", 1, 100, True),
        "How often the judge is asked; the majority counts.",
        "repeats 3",
        default="1",
    ),
    define(
        "second",
        "judge grade_judge",
        NameOf(("model", "judge"), "second"),
        "A second judge; disagreement is printed.",
        "second haiku",
    ),
    define(
        "calibration",
        "judge",
        file_of("the path of labelled answers"),
        "Answers with people's verdicts, by which the judge is measured: JSON Lines, JSON, YAML or CSV.",
        'calibration file "calibration/tracker.jsonl"',
    ),
    define(
        "kappa",
        "judge",
        Quantity("number", "kappa", 0, 1),
        "The least kappa on the calibration set; below it the judge's verdicts count as missing.",
        "kappa 0.6",
        default="0.6",
    ),
)

HOSTS: tuple[Directive, ...] = (
    define(
        "instructions",
        "host",
        word("include", "omit", label="instructions"),
        "Whether the server's instructions reach the model.",
        "instructions include",
        default="include",
    ),
    define(
        "tool_result_limit",
        "host",
        quantity("size", "limit", least=1),
        "Where a result is cut before the model sees it: tokens, or bytes with a unit, four to a token.",
        "tool_result_limit 25k",
    ),
    define(
        "max_turns",
        "host",
        quantity("count", "turns", least=1, whole=True),
        "Turns before the agent is stopped.",
        "max_turns 20",
    ),
    define(
        "tool_prefix", "host", TextValue("a prefix", "prefix"), "Put before tool names.", 'tool_prefix "{{ server }}__"'
    ),
    define("tool_suffix", "host", TextValue("a suffix", "suffix"), "Put after tool names.", 'tool_suffix "_v2"'),
    define(
        "tool_search",
        "host",
        NOTHING,
        "Tools do not stand in the prompt: a tool `tool_search` finds them, and they can be called from the next turn on.",
        "tool_search",
    ),
    define(
        "parallel_tools",
        "host",
        word("true", "false", label="parallel"),
        "Whether several calls of one turn run at once.",
        "parallel_tools true",
        default="true",
    ),
    define(
        "protocol_errors",
        "host",
        word("show", "hide", label="protocol_errors"),
        "Whether the model sees a protocol error or a neutral result in its place.",
        "protocol_errors hide",
        default="hide",
    ),
    define(
        "permissions",
        "host",
        word("ask", "auto", "deny", label="permissions"),
        "What the harness does with a call that no hint says is read-only: asks a person, who answers as `elicit` says; lets it "
        "through; or refuses it.",
        "permissions auto",
        default="auto",
    ),
    *(
        define(name, "host", NOTHING, f"{what} as the host.", name, run="later")
        for name, what in (
            ("claude_code", "Claude Code"),
            ("codex", "Codex CLI"),
            ("gemini_cli", "Gemini CLI"),
            ("opencode", "OpenCode"),
            ("copilot_cli", "Copilot CLI"),
            ("qwen_code", "Qwen Code"),
        )
    ),
    define(
        "command",
        "host",
        TextValue("a command line", "command"),
        "Any other agent with a command line.",
        'command "my-agent --mcp-config {{ workdir }}/mcp.json"',
        run="later",
    ),
)

ARMS: tuple[Directive, ...] = (
    define(
        "shell",
        "arm",
        Commas(Quoted("a program", "program")),
        "Programs that the agent may start in the trial's folder, by one tool `shell`, as it would do without the server.",
        'shell "sqlite3", "grep"',
        repeat="add",
    ),
    define(
        "http",
        "arm",
        TextValue("a URL", "url"),
        "An HTTP API that the agent may ask, by one tool `http_request`: paths below this URL.",
        'http "https://api.example.org/v1" { allow GET "/issues/*" }',
        block="api?",
    ),
    define(
        "allow",
        "api",
        seq(word(*METHODS, label="method"), TextValue("a path below the URL", "path")),
        "Requests that are let through; `*` stands for anything. Without one, every path may be read, and nothing written.",
        'allow POST "/issues"',
        repeat="add",
    ),
    define(
        "about",
        "arm",
        text("what the agent is told"),
        "What the agent is told of what it has in this arm, as a server's instructions tell of its tools.",
        'about "The issues are in tracker.db, an SQLite database: issues(key, title, project, status)."',
    ),
    define(
        "timeout",
        "arm",
        quantity("duration", "duration", least=0.001),
        "The longest one program or request of the agent may take.",
        "timeout 10s",
        default="30s",
    ),
    define(
        "system",
        "task profile defaults",
        Commas(text("the system prompt")),
        "System prompt, before the host's own.",
        'system "You are a terse assistant."',
    ),
)
