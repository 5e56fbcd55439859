"""Semantics, the table: the deterministic layer."""

from __future__ import annotations

from mcpeval_dsl.semantics.directives.model import Directive, define
from mcpeval_dsl.semantics.directives.operands import (
    Commas,
    Condition,
    Maybe,
    Quantity,
    Quoted,
    Tag,
    either,
    seq,
    word,
)
from mcpeval_dsl.semantics.directives.scenarios import SCENARIOS

CHECKS: tuple[Directive, ...] = (
    define(
        "capability",
        "check",
        seq(Tag("a capability", "capability"), word("required", "optional", "absent", label="state")),
        "A capability the server declares, or does not.",
        "capability tools required",
        repeat="add",
    ),
    define(
        "tool",
        "check",
        seq(Tag("a tool", "tool"), word("present", "absent", label="state")),
        "A tool the catalogue has, or has not.",
        "tool purge absent",
        repeat="add",
    ),
    define("schema", "check", word("valid", label="state"), "Every schema of the catalogue is valid.", "schema valid"),
    define(
        "transport",
        "check",
        seq(word("stdio", "streamable_http", "sse", label="transport"), Maybe(word("rejected", label="state"))),
        "A transport the server speaks, or refuses.",
        "transport sse rejected",
        repeat="add",
    ),
    define(
        "protocol",
        "check",
        seq(Quoted("a protocol revision", "revision"), word("supported", "rejected", label="state")),
        "A protocol revision the server speaks, or refuses.",
        'protocol "2026-07-28" supported',
        repeat="add",
    ),
    define(
        "auth",
        "check",
        either(
            word("none", "expired", label="identity"),
            seq(word("scope", label="identity"), Quoted("a scope", "scope")),
        ),
        "What happens without a token, with an expired one, or with one scope only.",
        "auth none { require status == 401 }",
        block="auth",
        repeat="add",
    ),
    define(
        "origin",
        "check",
        seq(Quoted("an Origin header", "origin"), word("rejected", label="state")),
        "A foreign Origin header is refused.",
        'origin "https://evil.example" rejected',
        repeat="add",
    ),
    define(
        "latency",
        "check",
        seq(
            Condition(),
            word("over", label="over_word"),
            Quantity("count", "calls", 1, 10_000, True),
            word("calls", label="calls_word"),
        ),
        "A bound on the time calls take: N calls like the one above it, or N lists of tools where no call stands above.",
        "latency p95 <= 800ms over 20 calls",
        repeat="add",
    ),
    define(
        "conformance",
        "check",
        Commas(word(*SCENARIOS, label="scenario")),
        "Scenarios of the protocol that any server can be held to.",
        "conformance server-initialize, ping",
        repeat="add",
    ),
    define(
        "oauth",
        "check",
        Commas(word("metadata", "pkce", "audience", label="rule")),
        "Rules of authorisation the server keeps.",
        "oauth metadata, pkce",
        repeat="add",
    ),
)
