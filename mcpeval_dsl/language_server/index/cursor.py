"""Language server, index: where a cursor stands, from the tokens before it: they say it however half-typed the rest is.

The statement so far, with a word put where the cursor is and its brackets closed, is read by the real parser; the way
from the statement down to that word says what may stand there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from mcpeval_dsl.diagnostics.suggestions import closest
from mcpeval_dsl.language_server.parts import Body
from mcpeval_dsl.semantics.directives import Directive, directive_for, directives_in, grader_named
from mcpeval_dsl.semantics.directives.operands import Grader
from mcpeval_dsl.source import SourceFile
from mcpeval_dsl.syntax import tree
from mcpeval_dsl.syntax.build import build
from mcpeval_dsl.syntax.parser import parse_piece
from mcpeval_dsl.syntax.scanner import Token

WORD = "cursor__"
_CLOSERS = {"LPAR": ")", "LSQB": "]", "_IDX": "]", "_OBJ": "}"}
_TEXTS = frozenset({"STRING", "RAW", "TEXT"})
_PREFIXES = frozenset({"NAME", "GLOB", "NUMBER", "METRIC", "CMP"})
_ENDS = frozenset({"RPAR", "RSQB", "STRING", "RAW", "TEXT", "REGEX"})
_PATH = re.compile(r"(?<![\w\"'])\$(?:\.{1,2}[\w*-]*|\[[^\[\]\s]*\]?)*\Z")
_GOES_ON = frozenset({"COMMA", "EQUAL", "CMP"})


class Frame(NamedTuple):
    """An open bracket. `kind` is the kind of block, or '' for any other bracket, which `closer` closes."""

    kind: str
    closer: str
    statement: int
    at: int


@dataclass(frozen=True, slots=True)
class Cursor:
    """`start..end` is the word or text under the cursor, in the part; `prefix` what of it stands before the cursor.

    `way` goes from the statement to the cursor's word; `token` is the text in quotes, the path or the comment that the
    cursor is inside of; `kind` that of the block around, `key` says that a member's name is typed. `opening` is the
    text before the brace of that block.
    """

    start: int
    end: int
    prefix: str
    kind: str = "file"
    way: tuple[Any, ...] = ()
    token: Token | None = None
    key: bool = False
    opening: str = ""

    @property
    def statement(self) -> tree.Statement | None:
        return self.way[0] if self.way else None


def cursor(body: Body, offset: int) -> Cursor | None:
    """Where an offset of a part stands; None inside a comment, a regex, or right behind a closed text."""
    before: list[Token] = []
    under: Token | None = None
    path = _PATH.search(body.text, body.text.rfind("\n", 0, offset) + 1, offset)
    for token in body.tokens:
        if token.start >= offset:
            break
        if token.end >= offset and token.kind != "_NL":
            under = token
            break
        before.append(token)
    if path is not None and (under is None or under.kind not in (*_TEXTS, "COMMENT", "REGEX")):
        before = [token for token in before if token.end <= path.start()]
        token = Token("JSONPATH", path.start(), offset if under is None else max(offset, under.end))
        return _placed(body, before, token.start, token.end, path.group(), token)
    last = before[-1] if before else None
    if (
        under is None
        and last is not None
        and _open(last, body.text)
        and body.text[last.end : offset].strip(" \t") == ""
    ):
        under = Token(last.kind, last.start, offset, last.mended)  # blanks at the end of a text that is not closed
        before.pop()
    if under is None:
        return _placed(body, before, offset, offset, "", None)
    return _under(body, before, under, offset)


def _under(body: Body, before: list[Token], under: Token, offset: int) -> Cursor | None:
    text = body.text
    if under.kind in ("COMMENT", "REGEX"):
        return None
    inside = offset < under.end or _open(under, text)
    if under.kind in _TEXTS and inside:
        return _placed(body, before, under.start, under.end, text[under.start : offset], under)
    if under.kind in _PREFIXES and (under.kind != "CMP" or text[under.start].isalpha()):
        return _placed(body, before, under.start, under.end, text[under.start : offset], None)
    if under.kind == "JUNK" or under.kind in _ENDS:
        return None
    return _placed(body, [*before, under], offset, offset, "", None) if offset == under.end else None


def _open(token: Token, text: str) -> bool:
    """A text whose closing quotes are not typed yet."""
    return (
        token.kind in _TEXTS
        and token.mended is not None
        and not (token.end - token.start > 1 and text[token.end - 1] == '"')
    )


def _placed(body: Body, before: list[Token], start: int, end: int, prefix: str, token: Token | None) -> Cursor:
    frames, statement, last = _frames(body.text, before)
    around = next((frame for frame in reversed(frames) if frame.kind), None)
    kind = "file" if around is None else around.kind
    opening = "" if around is None else body.text[around.statement : around.at]
    key = bool(frames) and frames[-1].closer == "}" and not frames[-1].kind and last in ("_OBJ", "LBRACE", "COMMA")
    closers = "".join(frame.closer for frame in reversed(frames) if not frame.kind)
    word = f"{WORD}: 0" if key else WORD
    source = body.text[statement:start] + word + closers
    return Cursor(start, end, prefix, kind, _way(source), token, key, opening)


def _frames(text: str, tokens: list[Token]) -> tuple[list[Frame], int, str]:
    """The brackets open behind the tokens, where the statement begins, and the kind of the last token."""
    frames: list[Frame] = []
    statement = tokens[0].start if tokens and tokens[0].kind not in ("_NL", "COMMENT") else None
    words: list[Token] = []
    last = ""
    for number, token in enumerate(tokens):
        kind = token.kind
        if kind in ("COMMENT", "JUNK"):
            continue
        in_block = not frames or bool(frames[-1].kind)
        if kind == "_NL":
            if in_block and (text[token.start] == ";" or not (last in _GOES_ON or _continued(tokens, number))):
                statement, words = None, []
            continue
        if statement is None:
            statement = token.start
        last = kind
        if kind == "LBRACE" and in_block:
            opened = opened_block(text, words, frames[-1].kind if frames else "file")
            frames.append(Frame(opened, "" if opened else "}", statement, token.start))
            if opened:
                statement, words = None, []
        elif kind in _CLOSERS or kind == "LBRACE":
            frames.append(Frame("", _CLOSERS.get(kind, "}"), statement, token.start))
        elif kind in ("RPAR", "RSQB", "RBRACE") and frames:
            closed = frames.pop()
            if closed.kind:
                statement, words = closed.statement, []
        elif in_block:
            words.append(token)
    return frames, len(text) if statement is None and not tokens else _begin(tokens, statement), last


def _continued(tokens: list[Token], number: int) -> bool:
    """Whether the line behind a newline begins with an operator, which goes on with the statement."""
    following = next((t for t in tokens[number + 1 :] if t.kind not in ("_NL", "COMMENT")), None)
    return following is not None and following.kind == "CMP"


def _begin(tokens: list[Token], statement: int | None) -> int:
    """Where the text of the statement begins: behind everything, where none has begun."""
    return tokens[-1].end if statement is None else statement


def opened_block(text: str, words: list[Token], kind: str) -> str:
    """The kind of block that `{` opens behind the words of a statement; '' where it is an object."""
    if not words:
        return "when"
    first = text[words[0].start : words[0].end]
    entry: Directive | None = directive_for(first, kind)
    if len(words) > 1 and words[1].kind in ("DOT", "EQUAL") and (entry is None or words[1].kind == "DOT"):
        return "call"
    if entry is None:
        entry = directives_in(kind).get(closest(first, directives_in(kind)) or "")
    if entry is None:
        return "when" if kind == "file" else "call"
    if isinstance(entry.operands, Grader):
        names = [text[w.start : w.end] for w in words[1:3] if w.kind == "NAME"]
        named = next((g for n in names if n != "not" and (g := grader_named(n)) is not None), None)
        entry = named or entry
    return "" if entry.block is None else entry.block.kind


def _way(source: str) -> tuple[Any, ...]:
    """From the statement of a text to the word that stands for the cursor; empty where it is lost."""
    parsed = parse_piece.__wrapped__(source)
    statements = build(source, parsed.tokens, parsed.program, parsed.dropped, SourceFile("", source), 0)
    for statement in statements:
        found = _down(statement)
        if found:
            return tuple(reversed(found))
    return ()


def _down(node: Any) -> list[Any]:
    """The nodes from the cursor's word up to `node`."""
    if isinstance(node, (tree.Name, tree.Glob)):
        return [node] if node.text == WORD else []
    if isinstance(node, tuple):
        for member in node:
            if found := _down(member):
                return found
        return []
    for name in CHILDREN.get(type(node), ()):
        if found := _down(getattr(node, name)):
            found.append(node)
            return found
    return []


CHILDREN: dict[type, tuple[str, ...]] = {
    tree.Directive: ("name", "groups", "block"),
    tree.Action: ("ref", "block"),
    tree.Bound: ("comparison", "block"),
    tree.Binding: ("name", "value", "block"),
    tree.NamedBinding: ("keyword", "name", "value", "block"),
    tree.Block: ("statements",),
    tree.Group: ("items",),
    tree.Comparison: ("left", "right"),
    tree.Ref: ("root", "postfixes"),
    tree.Field: ("name",),
    tree.Index: ("value",),
    tree.CallSuffix: ("arguments",),
    tree.Argument: ("name", "value"),
    tree.ListValue: ("items",),
    tree.ObjectValue: ("pairs",),
    tree.Pair: ("key", "value"),
}
