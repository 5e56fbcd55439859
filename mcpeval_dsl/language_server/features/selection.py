"""Language server, selection ranges: from the word at an offset outwards to the whole file."""

from __future__ import annotations

from typing import Any

from mcpeval_dsl.language_server.features.completion.texts import content
from mcpeval_dsl.language_server.index.cursor import CHILDREN
from mcpeval_dsl.language_server.snapshot import Snapshot
from mcpeval_dsl.syntax.scanner import Token


def selection(snapshot: Snapshot, offset: int) -> list[tuple[int, int]]:
    """Spans that hold the offset, the smallest first, each within the next."""
    part = snapshot.part_at(offset)
    at = offset - part.start
    spans = [(0, len(snapshot.text)), (part.start, part.start + len(part.body.text.rstrip()))]
    for start, end in (*_nodes(part.body.statements, at), *_tokens(part.body.text, part.body.tokens, at)):
        spans.append((part.start + start, part.start + end))
    found: list[tuple[int, int]] = []
    for start, end in sorted(set(spans), key=lambda s: (s[1] - s[0], s[0])):
        if start <= offset <= end and (not found or (start <= found[-1][0] and found[-1][1] <= end)):
            found.append((start, end))
    return found


def _nodes(nodes: tuple[Any, ...], at: int) -> list[tuple[int, int]]:
    """Spans of the nodes around an offset, from the outside in."""
    found: list[tuple[int, int]] = []
    pending = list(nodes)
    while pending:
        node = pending.pop()
        if isinstance(node, tuple):
            pending.extend(node)
            continue
        span = getattr(node, "span", None)
        if span is None or not span.start <= at <= span.end:
            continue
        found.append((span.start, span.end))
        pending.extend(getattr(node, name) for name in CHILDREN.get(type(node), ()))
    return found


def _tokens(text: str, tokens: tuple[Token, ...], at: int) -> list[tuple[int, int]]:
    for token in tokens:
        if token.start > at:
            break
        if at <= token.end and token.kind != "_NL":
            found = [(token.start, token.end)]
            if token.kind in ("STRING", "RAW", "TEXT"):
                found.append(content(text, token.start, token.end))
            return found
    return []
