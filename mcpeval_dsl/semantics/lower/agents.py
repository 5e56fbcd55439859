"""Semantics, lowering: models, judge profiles and hosts."""

from __future__ import annotations

import math
from typing import Any, cast

from mcpeval_dsl.semantics.expressions import Literal
from mcpeval_dsl.semantics.graders import Calibration
from mcpeval_dsl.semantics.lower.calibration import labels_of_file
from mcpeval_dsl.semantics.lower.context import Context, Unlowerable
from mcpeval_dsl.semantics.lower.steps import argv
from mcpeval_dsl.semantics.lower.values import lower_value
from mcpeval_dsl.semantics.lower.words import Words, only
from mcpeval_dsl.semantics.model import Driver, Host, Model, Price
from mcpeval_dsl.semantics.reader import beside
from mcpeval_dsl.syntax.tree import Directive

_BYTES_PER_TOKEN = 4

DRIVERS = ("anthropic", "litellm", "script", "replay", "local")
AGENTS = ("claude_code", "codex", "gemini_cli", "opencode", "copilot_cli", "qwen_code", "command")


def lower_model(ctx: Context, statement: Directive) -> Model:
    """`model NAME { … }`; a judge profile is a model that only judges."""
    name = Words.of(statement).name().text
    fields: dict[str, Any] = {}

    def lower(line: Directive) -> None:
        if statement.name.text != "judge" or not _judging_line(ctx, name, line):
            _model_line(ctx, line, fields)

    ctx.directives(statement, "model", lower)
    if "driver" not in fields:
        raise Unlowerable(statement.name.span, "a model with a driver")
    return Model(name=name, at=statement.span.location(), **fields)


def _model_line(ctx: Context, line: Directive, fields: dict[str, Any]) -> None:
    word = line.name.text
    if word == "price":
        fields["price"] = _price(line)
        return
    words = only(line)
    if word in DRIVERS:
        text = words.string()
        target = text.value
        if word in ("script", "replay"):
            ctx.fixture(text.span.file, target, text.span)
            target = beside(text.span.file.path, target)
        fields["driver"] = cast(Driver, word)
        fields["target"] = target
    elif word in ("max_tokens", "thinking"):
        fields[word] = int(words.number().value)
    elif word == "temperature":
        fields[word] = float(words.number().value)
    else:
        raise Unlowerable(line.name.span, "a directive of `model`")
    words.end()


def _judging_line(ctx: Context, judge: str, line: Directive) -> bool:
    """Settings of a judge profile that hold where a grader says nothing else; True when the line is one of them."""
    word = line.name.text
    settings = ctx.judging.setdefault(judge, {})
    words = only(line) if word not in DRIVERS and word != "price" else Words.of(line)
    if word in ("threshold", "repeats"):
        settings[word] = words.number().value
    elif word == "transcript":
        settings[word] = words.name().text
    elif word == "second":
        second = words.name()
        ctx.name(("model", "judge"), second)
        settings[word] = second.text
    elif word == "calibration":
        words.take("file")
        path = words.string()
        settings[word] = Calibration(judge, path.value, labels_of_file(ctx, path), at=line.span.location())
    elif word == "kappa":
        settings[word] = float(words.number().value)
        settings["kappa_at"] = line.span
    else:
        return False
    words.end()
    return True


def _price(line: Directive) -> Price:
    """`price input $1.25, output $10 per 1M`: USD per token."""
    found: dict[str, float] = {}
    per = 1_000_000.0
    for group in line.groups:
        words = Words.group(group)
        while words:
            kind = words.take("input", "output", "cached", "per")
            if kind is None:
                raise Unlowerable(words.place, "`price input $1, output $2 per 1M`")
            amount = float(words.number().value)
            if kind == "per":
                per = amount
            else:
                found[kind] = amount
    return Price(**{kind: amount / per for kind, amount in found.items()})


def lower_host(ctx: Context, statement: Directive) -> Host:
    """`host NAME { … }`."""
    name = Words.of(statement).name().text
    fields: dict[str, Any] = {}
    ctx.directives(statement, "host", lambda line: _host_line(ctx, line, fields))
    return Host(name=name, at=statement.span.location(), **fields)


def _host_line(ctx: Context, line: Directive, fields: dict[str, Any]) -> None:
    word = line.name.text
    words = only(line)
    match word:
        case "instructions" | "permissions" | "protocol_errors":
            fields[word] = words.name().text
        case "tool_prefix" | "tool_suffix":
            fields[word] = lower_value(ctx, ctx.values, words.value())
        case "tool_result_limit":
            limit = words.number()
            fields[word] = math.ceil(limit.value / (_BYTES_PER_TOKEN if limit.unit == "bytes" else 1))
        case "max_turns":
            fields[word] = int(words.number().value)
        case "tool_search":
            fields[word] = True
        case "parallel_tools":
            fields[word] = words.name().text == "true"
        case "command":
            fields["agent"] = "command"
            fields["command"] = argv(ctx, ctx.values, words)
        case _ if word in AGENTS:
            fields["agent"] = word
            if words:
                fields["command"] = (Literal(words.string().value),)
        case _:
            raise Unlowerable(line.name.span, "a directive of `host`")
    words.end()
