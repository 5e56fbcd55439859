"""Semantics, the table: servers, environments, the steps of set-up and clean-up, annotations."""

from __future__ import annotations

from mcpeval_dsl.semantics.directives.model import Directive, define
from mcpeval_dsl.semantics.directives.operands import (
    NOTHING,
    Argv,
    Assign,
    Commas,
    Maybe,
    NewName,
    Pattern,
    Quoted,
    Source,
    TextValue,
    Value,
    quantity,
    seq,
    text,
    word,
)

_FILES = "environment setup teardown"
_DURATION = quantity("duration", "duration")

SERVERS: tuple[Directive, ...] = (
    define(
        "stdio",
        "server",
        Argv(),
        "The command that starts the server; it speaks on stdin and stdout.",
        'stdio "python" "-m" "tracker_server" "--db" "{{ workdir }}/tracker.db"',
    ),
    define(
        "http",
        "server",
        TextValue("a URL", "url"),
        "The URL of a streamable HTTP server.",
        'http "https://staging.example.com/mcp"',
    ),
    define(
        "header",
        "server",
        Assign("header"),
        "A header of every request.",
        'header "X-Eval-Run" = "{{ run }}"',
        repeat="add",
    ),
    define(
        "oauth",
        "server",
        word("client_credentials", "private_key_jwt", "authorization_code", label="flow"),
        "The authorisation flow.",
        'oauth client_credentials { client_id "mcpe-eval"; client_secret secret("CLIENT_SECRET") }',
        block="oauth",
        run="later",
    ),
    define("client_id", "oauth", TextValue("an identifier"), "The client's id.", 'client_id "mcpe-eval"'),
    define(
        "client_secret",
        "oauth",
        Value("secret"),
        "The client's secret: named here, read when the run starts.",
        'client_secret secret("CLIENT_SECRET")',
    ),
    define("scopes", "oauth", Commas(Quoted("a scope", "scope")), "Scopes asked for.", 'scopes "api", "read_user"'),
    define(
        "protocol",
        "server",
        Commas(Quoted("a protocol revision", "revision")),
        "Protocol revisions the server claims.",
        'protocol "2026-07-28", "2025-11-25"',
    ),
    define(
        "version",
        "server",
        Quoted("a version or commit", "version"),
        "Version or commit under test. Without one no result is used again in another run.",
        'version "1.5.0"',
    ),
    define(
        "catalog",
        "server",
        NewName("catalogue", "catalogue"),
        "The catalogue that several versions share; tasks name the catalogue.",
        "catalog git",
        default="the server's own name",
    ),
    define(
        "timeout",
        "server process",
        _DURATION,
        "The longest one call or command may take.",
        "timeout 10s",
        default="60s",
    ),
    define(
        "rate",
        "server",
        seq(quantity("count", "calls", least=1, whole=True), word("per", label="per_word"), _DURATION),
        "The server's own limit on calls.",
        "rate 60 per 1m",
    ),
    define(
        "price",
        "server",
        seq(quantity("money", "price"), word("per", label="per_word"), word("call", label="call_word")),
        "What one call costs.",
        "price $0.01 per call",
    ),
    define(
        "private", "server", NOTHING, "Never shown to the agent: for set-up, simulated users and checks.", "private"
    ),
    define(
        "trust",
        "server annotations",
        word("hints", label="hints_word"),
        "The server's own hints count as annotations.",
        "trust hints",
    ),
    define(
        "allow",
        "server",
        seq(word("drift", label="drift_word"), Maybe(word("descriptions", "schemas", "tools", label="drift"))),
        "A catalogue that differs from the lock does not stop the run.",
        "allow drift descriptions",
        repeat="add",
    ),
    define(
        "env",
        "server environment process grade_command",
        Assign("variable"),
        "An environment variable. Nothing else of the caller's environment is passed on.",
        'env TRACKER_TOKEN = secret("TRACKER_TOKEN")',
        repeat="add",
    ),
)

ENVIRONMENTS: tuple[Directive, ...] = (
    define(
        "copy",
        _FILES,
        seq(
            TextValue("a path in the project", "source"),
            Maybe(seq(word("to", label="to_word"), TextValue("a path", "target"))),
        ),
        "Copies a file or folder; without `to` into the working directory.",
        'copy "fixtures/tracker.db" to "{{ workdir }}/tracker.db"',
        repeat="add",
    ),
    define(
        "unpack",
        _FILES,
        seq(TextValue("an archive", "source"), word("to", label="to_word"), TextValue("a path", "target")),
        "Unpacks an archive.",
        'unpack "fixtures/project.tar.zst" to "{{ workdir }}/project"',
        repeat="add",
    ),
    define(
        "write",
        _FILES,
        seq(TextValue("a path", "target"), text("the content")),
        "Writes a file.",
        'write "{{ workdir }}/todo.md" "- [ ] pay the invoice"',
        repeat="add",
    ),
    define(
        "render",
        "environment",
        seq(TextValue("a template file", "source"), word("to", label="to_word"), TextValue("a path", "target")),
        "Writes a file from a template file and the names bound in the block.",
        'render "fixtures/config.toml" to "{{ workdir }}/config.toml" { port_number = port.web }',
        block="render",
        repeat="add",
    ),
    define(
        "load",
        _FILES,
        seq(TextValue("an SQL script", "source"), word("into", label="into_word"), TextValue("a database", "target")),
        "Runs an SQL script on a database file.",
        'load "fixtures/shop.sql" into "{{ workdir }}/shop.db"',
        repeat="add",
    ),
    define(
        "run",
        _FILES,
        Argv(),
        "Runs a command to its end; it must exit with 0.",
        'run "bash" "fixtures/make.sh" { timeout 30s }',
        block="process?",
        repeat="add",
    ),
    define(
        "start",
        _FILES,
        Argv(),
        "Starts a process that stays until the trial ends.",
        'start "python" "fixtures/serve.py" "--port" "{{ port.web }}"',
        block="process?",
        repeat="add",
    ),
    define(
        "ready",
        "environment setup",
        seq(
            word("http", "tcp", "exists", label="probe"),
            TextValue("a URL, an address or a path", "target"),
            word("within", label="within_word"),
            _DURATION,
        ),
        "Waits until something answers or exists.",
        'ready http "http://127.0.0.1:{{ port.web }}/health" within 10s',
        repeat="add",
    ),
    define("port", "environment", NewName("port"), "A free port, `{{ port.NAME }}`.", "port web", repeat="add"),
    define(
        "reset",
        "environment",
        Source(),
        "Brings a shared place back to its start before each trial.",
        'reset http("POST", "https://staging.example.com/reset") { require status == 204 }',
        block="reset?",
        repeat="add",
    ),
    define(
        "lock",
        "environment",
        Quoted("the name of a lock", "lock"),
        "One run at a time uses what this names.",
        'lock "staging-sandbox"',
    ),
    define(
        "scope",
        "environment harvest",
        word("trial", "run", label="scope"),
        "Fresh for each trial, or one for the whole run.",
        "scope run",
        default="trial for an environment, run for a harvest",
    ),
)

ANNOTATIONS: tuple[Directive, ...] = (
    *(
        define(
            name,
            "annotations",
            Commas(Pattern()),
            doc,
            example,
            block="effect?",
            repeat="add",
        )
        for name, doc, example in (
            ("readonly", "Calls that change nothing.", "readonly list_*, get_*"),
            ("additive", "Calls that write and destroy nothing.", "additive add_comment"),
            (
                "destructive",
                "Calls that take away or overwrite.",
                'destructive delete_*, update_issue(state == "closed") { severity critical }',
            ),
            ("idempotent", "Calls that may be repeated without further effect.", "idempotent set_status"),
            ("confirm", "Calls before which the agent must ask.", "confirm create_release"),
        )
    ),
    define(
        "severity",
        "effect",
        word("minor", "major", "critical", label="severity"),
        "How bad an unpermitted call is. A lower one than the class has needs `because`.",
        "severity critical",
    ),
    define(
        "because",
        "effect",
        Quoted("the reason", "because"),
        "The reason, shown in the scorecard.",
        'because "prints secrets"',
    ),
)

TASK_STEPS: tuple[Directive, ...] = (
    define(
        "setup",
        "task profile",
        NOTHING,
        "Steps before the agent starts, in order.",
        'setup { run "git" "init" }',
        block="setup",
        repeat="add",
    ),
    define(
        "teardown",
        "task profile environment",
        NOTHING,
        "Steps after the trial, whatever its end.",
        'teardown { run "bash" "fixtures/clean.sh" }',
        block="teardown",
        repeat="add",
    ),
    define(
        "undo",
        "task profile",
        Commas(Pattern()),
        "After the trial, for each matching call the agent made.",
        "undo add_note { tracker.delete_note(id: result.id) }",
        block="undo",
        repeat="add",
    ),
)
