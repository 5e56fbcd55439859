"""Specs drawn from the grammar: a walk through the parser's automaton, with line breaks and comments wherever they may be."""

from __future__ import annotations

import random

from mcpeval_dsl.syntax.machine import END, Machine
from tests.syntax.sentences import SPELLINGS, acceptable

LONG = '"' + "long text " * 12 + '"'
ROUGH: dict[str, tuple[str, ...]] = {
    **SPELLINGS,
    "NAME": (*SPELLINGS["NAME"], "has", "in", "under", "row", "columns", "grade", "a_rather_long_name_of_something"),
    "STRING": (*SPELLINGS["STRING"], '"ä😀 ; , }"', LONG, '"\\ud83d\\ude00"', '"a\tb"'),
    "TEXT": (
        *SPELLINGS["TEXT"],
        '"""\n\n    a\n\n      b  \n    """',
        '"""\n  a\n b"""',
        '"""x\n  y\n"""',
        '"""\r\n  a\r\n  b\r\n  """',
        '"""\n\tt\n\t\tu\n\t"""',
        '"""\n"""',
        '"""  \n  a\n\n"""',
        '"""\n    deep\n  """',
        '"""\n\u00a0\n  # no comment\n  """',
        '"""a\r\r\nb"""',
    ),
    "CMP": (*SPELLINGS["CMP"], "in", "not in", "not \t has", "under"),
    "_NL": (*SPELLINGS["_NL"], "\n\n\n\n", "; # c\n", "\n  # own\n", "\n# a\n\n# b\n\n", " ;; ", "\n\t\n", " #!x \r\n"),
    "COMMA": (",", ", ", ",\n  ", ", # why\n", "\n, ", " , ", ",\n\n # own\n\n"),
    "LBRACE": ("{", "{\n", "{ ", "{ # head\n", "{\n\n# first\n"),
    "RBRACE": ("}", " }", "\n}", "\n# last\n}"),
    "LPAR": ("(", "(\n", "( ", "( # c\n"),
    "RPAR": (")", "\n)", " # c\n)", ",)"),
    "LSQB": (" [", "[\n", " [ # c\n"),
    "_IDX": ("[", "[ ", "[\n"),
    "RSQB": ("]", "\n]", ",]"),
    "_OBJ": ("{", "{\n", "{ # o\n"),
    "COLON": (":", " : ", ":\n", ": # v\n"),
    "EQUAL": ("=", " = "),
}
_MAY_TOUCH = frozenset({"LPAR", "DOT", "COMMA", "RPAR", "RSQB"})
_CLOSING = frozenset({"RBRACE", "RPAR", "RSQB", END})


def drawn(seed: str) -> str:
    """A text that is a spec by the grammar alone. About two of five have what the scanner refuses all the same."""
    source = random.Random(seed)
    longest = source.choice((5, 20, 60, 150))
    machine, parts, count = Machine(), [], 0
    while True:
        kinds = [k for k in acceptable(machine) if k != "_NL" or machine.previous not in ("_NL", "LBRACE", "COMMA")]
        if END in kinds and (count > longest or source.random() < 0.02):
            break
        closing = [k for k in kinds if k in _CLOSING]
        kind = source.choice(closing if closing and count > longest else [k for k in kinds if k != END])
        machine.feed(kind, count)
        count += 1
        glued = kind == "_IDX" or not parts or (kind in _MAY_TOUCH and source.random() < 0.3)
        parts.append(("" if glued else source.choice((" ", " ", "  ", "\t"))) + source.choice(ROUGH[kind]))
    return "".join(parts) + source.choice(("", "\n", "\n\n", "  # end"))
