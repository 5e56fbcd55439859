"""Texts drawn from the grammar itself: a walk through the parser's automaton, each terminal spelled in some way."""

from __future__ import annotations

from hypothesis import strategies as st

from mcpeval_dsl.syntax.machine import END, Machine

SPELLINGS: dict[str, tuple[str, ...]] = {
    "NAME": ("task", "into", "hash", "not", "a1", "x-y", "r", "pass"),
    "GLOB": ("list_*", "*", "a*b"),
    "STRING": ('""', '"a b"', '"{{ x }}"', r'"\"\\"', '"#"', '"{"'),
    "RAW": ('r""', r'r"\d"', 'r"}"'),
    "TEXT": ('"""a"""', '"""\n  x\n  """', '""""q """ q""""', 'r"""\n{\n"""'),
    "NUMBER": ("0", "-1", "20k", "$0.05", "80%", "250ms", "1_000.5"),
    "REGEX": ("/a/", r"/[/}]\//im", '/"/'),
    "JSONPATH": ("$", "$.a[0]", '$["}"]', "$..b"),
    "METRIC": ("pass^3", "pass@10"),
    "CMP": ("==", "!=", "<=", ">", "~", "!~"),
    "_NL": ("\n", ";", "\r\n", " # note\n", "\n\n"),
    "LBRACE": ("{",),
    "_OBJ": ("{",),
    "RBRACE": ("}",),
    "LPAR": ("(",),
    "RPAR": (")",),
    "LSQB": (" [",),
    "_IDX": ("[",),
    "RSQB": ("]",),
    "COMMA": (",", ",\n  "),
    "DOT": (".",),
    "COLON": (":",),
    "EQUAL": ("=",),
}
_GLUED_BEHIND = frozenset({"_IDX"})


@st.composite
def sentences(draw: st.DrawFn, longest: int = 40) -> str:
    """A text of the language. Blanks stand between all tokens but before an index."""
    machine = Machine()
    parts: list[str] = []
    for step in range(4 * longest):
        kinds = sorted(
            k for k in acceptable(machine) if k != "_NL" or machine.previous not in ("_NL", "LBRACE", "COMMA")
        )
        if END in kinds and step >= draw(st.integers(1, longest)):
            break
        closing = [k for k in kinds if k in ("RBRACE", "RPAR", "RSQB", END)]
        kind = draw(st.sampled_from(closing if closing and step > longest else [k for k in kinds if k != END]))
        machine.feed(kind, step)
        spelling = draw(st.sampled_from(SPELLINGS[kind]))
        parts.append(spelling if kind in _GLUED_BEHIND or not parts else " " + spelling)
    return "".join(parts)


def acceptable(machine: Machine) -> list[str]:
    """Terminals that can be read next."""
    snapshot = machine.snapshot()
    found = []
    for kind in (*SPELLINGS, END):
        if machine.feed(kind, 0):
            found.append(kind)
            machine.restore(snapshot)
    return found
