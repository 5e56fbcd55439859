"""Report: one trial as a person reads it, from what it was told to what the graders said."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from mcpeval_dsl.agents.model import Exchange, NativeCall
from mcpeval_dsl.diagnostics.render.safe import visible, visible_lines
from mcpeval_dsl.gateway.model import CallRecord
from mcpeval_dsl.records.model import TrialRecord, VerdictRecord
from mcpeval_dsl.report.causes import in_words
from mcpeval_dsl.report.page import Page, clip, duration, money, number, plural, wrapped
from mcpeval_dsl.report.tracing import marks

_LINES = 12


def line(record: TrialRecord) -> str:
    """One trial in a list."""
    printed = _printed(record)
    flags = ", ".join(record.outcome.flags) if record.outcome is not None else ""
    return (
        f"{visible(record.id):<44} {printed:<16} {plural(record.counts.charged, 'call'):<9} {visible(flags)}".rstrip()
    )


def render(record: TrialRecord, page: Page, full: bool = False) -> str:
    """The whole trial with a final newline; `full` shows long texts whole."""
    calls = {call.id: call for call in record.calls}
    blocks = [
        _head(record, page),
        _text(page, "TOLD", record.prompt, full) if record.prompt and not record.exchanges else [],
        *_before(record, page, full),
        *_turns(record, page, full),
        _closing(record, page, full),
        _after(record, page, full),
        _text(page, "ANSWER", _answer(record), full),
        _verdicts(record, page),
        _violations(record, page, calls),
        _leads(record, page),
        _commands(record, page),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _printed(record: TrialRecord) -> str:
    if record.outcome is not None:
        return record.outcome.printed
    return "not applicable" if record.not_applicable else "ungraded"


def _head(record: TrialRecord, page: Page) -> list[str]:
    outcome = record.outcome
    word = _printed(record)
    style = "good" if word == "pass" else "unsure" if word in ("untestable", "ungraded", "not applicable") else "bad"
    lines = [f"{page.head(visible(record.id))}  {page.paint(word, style)}"]
    if outcome is not None and outcome.because:
        lines.append("  because " + visible(" → ".join(map(in_words, outcome.because))))
    if record.trouble is not None and record.trouble.message:
        lines += wrapped(record.trouble.message, "  ")
    if outcome is not None and outcome.failure_kind:
        lines.append(f"  {outcome.failure_kind} (layer: {outcome.layer})")
    agent, usage = record.agent, record.usage
    answering = f" ({agent.provider_model})" if agent.provider_model else ""
    lines.append(visible(f"  agent {agent.model}{answering} in {agent.host} {agent.host_version}, seed {record.seed}"))
    servers = ", ".join(f"{s.name} {s.version or '?'} ({s.revision}, {s.transport})" for s in record.servers)
    if servers:
        lines.append(visible(f"  servers {servers}"))
    cost = money(usage.cost_usd) if usage.cost_usd is not None else "price unknown"
    tokens = f"{number(usage.input_tokens)} tokens in, {number(usage.output_tokens)} out, {cost}"
    lines.append(f"  ended: {record.termination}; {tokens}; agent {duration(record.timing.agent_ms)}")
    flags = list(outcome.flags if outcome is not None else record.flags)
    return [*lines, visible(f"  flags {', '.join(flags)}")] if flags else lines


def _answer(record: TrialRecord) -> str:
    return record.answer.text if record.answer.form != "none" else "(none)"


def _text(page: Page, title: str, text: str, full: bool) -> list[str]:
    return [page.head(title), *_indented(text, full)]


def _indented(text: str, full: bool, indent: str = "  ") -> list[str]:
    lines = visible_lines(text).split("\n")
    shown = lines if full or len(lines) <= _LINES else [*lines[: _LINES - 1], f"… {len(lines) - _LINES + 1} more lines"]
    return [indent + (part if full else _clipped(part)) for part in shown]


def _clipped(line: str) -> str:
    """A line of at most 160 columns whose own indentation is kept: JSON and lists stay readable."""
    own = line[: len(line) - len(line.lstrip(" "))][:40]
    return own + clip(line, 160 - len(own)) if line.strip() else ""


def _before(record: TrialRecord, page: Page, full: bool) -> Iterable[list[str]]:
    others = [call for call in record.calls if call.actor in ("setup", "harvest")]
    if others:
        yield [page.head("BEFORE THE AGENT"), *(row for call in others for row in _call(call, page, full))]


def _after(record: TrialRecord, page: Page, full: bool) -> list[str]:
    others = [call for call in record.calls if call.actor in ("truth", "grader", "teardown")]
    if not others:
        return []
    return [page.head("AFTER THE AGENT"), *(row for call in others for row in _call(call, page, full))]


def _turns(record: TrialRecord, page: Page, full: bool) -> Iterable[list[str]]:
    by_turn: dict[int, list[CallRecord]] = {}
    for call in record.calls:
        if call.actor == "agent":
            by_turn.setdefault(call.turn or 0, []).append(call)
    own: dict[int, list[NativeCall]] = {}
    for native in record.native_calls:
        own.setdefault(native.turn, []).append(native)
    origins = _origins(record, page)
    said = {exchange.first: exchange for exchange in record.exchanges}
    for turn in record.turns:
        if turn.number in said:
            yield _said(record, said[turn.number], page, full)
        lines = [page.head(f"TURN {turn.number}") + f"  {turn.stop}"]
        if turn.text.strip():
            lines += _indented(turn.text.strip(), full)
        for call in by_turn.pop(turn.number, ()):
            lines += [*_call(call, page, full), *origins.get(call.id, ())]
        for native in own.pop(turn.number, ()):
            lines += _native(native, page, full)
        yield lines
    for calls in by_turn.values():
        yield [
            page.head("CALLS"),
            *(row for call in calls for row in (*_call(call, page, full), *origins.get(call.id, ()))),
        ]


def _said(record: TrialRecord, exchange: Exchange, page: Page, full: bool) -> list[str]:
    """What the user said, and did with tools of its own before that."""
    by = {"simulated": f"simulated by {record.user.model}" if record.user is not None else "simulated"}
    lines = [page.head(f"USER {exchange.number}") + f"  {visible(by.get(exchange.by, exchange.by))}"]
    for call in record.calls:
        if call.actor == "user" and call.turn == exchange.first - 1:
            lines += _call(call, page, full)
    return [*lines, *_indented(exchange.said, full)]


def _closing(record: TrialRecord, page: Page, full: bool) -> list[str]:
    """How the conversation ended for the user."""
    user = record.user
    if user is None:
        return []
    why = {
        "script": "nothing more to say",
        "says": "said that it is over",
        "state": "what was waited for holds",
        "turns": "the last message was sent",
        "elicit": "answered as the task says",
        "": "the agent stopped before the user did",
    }
    failed = record.trouble is not None and record.trouble.chain[0].startswith("user_")
    lines = [page.head("USER") + f"  {'could not go on' if failed else why[user.ended]}"]
    return [*lines, *_indented(user.closing, full)] if user.closing else lines


def _origins(record: TrialRecord, page: Page) -> dict[str, list[str]]:
    """By failing call, where the arguments that its error is about came from."""
    calls = {call.id: call for call in record.calls}
    found: dict[str, list[str]] = {}
    for name, mark in marks(record.arguments, calls):
        found.setdefault(name, []).append("    " + page.paint(clip(f"· {mark}", 110), "dim"))
    return found


def _call(call: CallRecord, page: Page, full: bool) -> list[str]:
    arguments = json.dumps(dict(call.arguments), ensure_ascii=False, default=str)
    head = f"{call.id} {call.server}.{call.tool}({arguments})"
    lines = ["  " + (visible(head) if full else clip(head, 110))]
    permission = call.permission
    if permission.decision != "allowed":
        rule = f": {permission.rule}" if permission.rule else ""
        text = f"{permission.decision} ({permission.effect} by {permission.source}){rule}"
        lines.append("    " + page.paint(clip(text, 110), "bad"))
    if call.fault:
        lines.append("    " + page.paint(f"injected by fault `{visible(call.fault)}`", "unsure"))
    if call.schema_errors:
        lines.append("    " + page.paint(clip("arguments do not fit: " + "; ".join(call.schema_errors), 110), "unsure"))
    if call.error is not None:
        error = f"{call.error.error_class} ({call.error.kind}): {call.error.message}"
        return [*lines, *(page.paint(part, "unsure") for part in _indented(error, full, "    → "))]
    return [
        *lines,
        *_indented(call.text or json.dumps(call.structured, ensure_ascii=False, default=str), full, "    → "),
    ]


def _native(call: NativeCall, page: Page, full: bool) -> list[str]:
    """A use of a tool that no server has: what it was told, and what it said."""
    head = f"{call.id} {call.tool}({json.dumps(dict(call.arguments), ensure_ascii=False, default=str)})"
    said = _indented(call.text, full, "    → ")
    kind = page.paint("  native tool", "dim")
    return [
        "  " + (visible(head) if full else clip(head, 96)) + kind,
        *((page.paint(part, "unsure") for part in said) if call.is_error else said),
    ]


def _verdicts(record: TrialRecord, page: Page) -> list[str]:
    if not record.verdicts:
        return []
    return [page.head("VERDICTS"), *(row for verdict in record.verdicts for row in _verdict(verdict, page))]


def _verdict(verdict: VerdictRecord, page: Page, indent: str = "  ") -> list[str]:
    style = {"yes": "good", "no": "bad"}.get(verdict.verdict, "unsure")
    weight = "" if verdict.deciding else "  (decides nothing)"
    turn = f"  turn {verdict.turn}" if verdict.turn is not None else ""
    lines = [
        f"{indent}{page.paint(f'{verdict.verdict:<8}', style)}{verdict.kind:<10} {visible(verdict.at)}{turn}{weight}"
    ]
    if verdict.verdict != "yes":
        facts: Mapping[str, str] = {
            "expected": verdict.expected,
            "actual": verdict.actual,
            "reason": verdict.reason or verdict.missing_because,
        }
        lines += [f"{indent}  {name:<9} {clip(value, 100)}" for name, value in facts.items() if value]
    return [*lines, *(row for part in verdict.parts for row in _verdict(part, page, indent + "  "))]


def _violations(record: TrialRecord, page: Page, calls: Mapping[str, CallRecord]) -> list[str]:
    if not record.violations:
        return []
    lines = [page.head("VIOLATIONS")]
    for violation in record.violations:
        call = calls.get(violation.call or "")
        where = f" {call.id} {call.server}.{call.tool}" if call is not None else ""
        lines.append(visible(f"  {violation.severity} {violation.kind}{where}: {' → '.join(violation.stages)}"))
    return lines


def _leads(record: TrialRecord, page: Page) -> list[str]:
    if not record.leads:
        return []
    lines = [page.head("LEADS")]
    for lead in record.leads:
        value = f" {lead.argument} = {lead.value}" if lead.value is not None else ""
        word = " (to replay)" if lead.strength == "to_replay" else ""
        text = f"{lead.server}.{lead.tool}: {lead.kind}{word}{value}; evidence {', '.join(lead.evidence)}"
        lines.append("  " + clip(text, 118))
    return lines


def _commands(record: TrialRecord, page: Page) -> list[str]:
    trial = visible(record.id)
    return [f"mcpe replay {visible(page.run)} {trial}", f"mcpe view {visible(page.run)} {trial} --full"]
