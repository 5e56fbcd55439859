"""Writes the TextMate grammar of the VS Code extension, and the Vim syntax, from the language's own tables.

    python tools/textmate.py [FOLDER]      FOLDER is editors/, where nothing is said

Terminals come from `grammar/mcpe.lark` by way of the parser's tables, words from the table of directives. A test runs the grammar
in a TextMate engine and compares what it says of each character with the scanner.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from mcpeval_dsl.semantics.directives import TABLE, directives_in
from mcpeval_dsl.syntax.tables import load

ROOT = Path(__file__).resolve().parents[1]
GRAMMAR = Path("vscode/syntaxes/mcpe.tmLanguage.json")
VIM = Path("neovim/syntax/mcpe.vim")
NOTE = "Made by tools/textmate.py from the language's tables: change those."
VALUE_FOLLOWS = r"""(?=[ \t]*(?:[\w"'/$\[*-]|\{[ \t]*\}|OBJECT))"""


def terminals() -> dict[str, str]:
    """The regular expressions of the terminals, as Oniguruma reads them."""
    return {name: pattern.replace("\\/", "/") for name, pattern in load().terminals.items()}


def words() -> tuple[list[str], list[str]]:
    """The words that open a statement: at the top of a file, and elsewhere."""
    top = sorted(directives_in("file"))
    return top, sorted({entry.name for entry in TABLE} - set(top))


def one_of(names: list[str]) -> str:
    """Longer words first, as a word may begin like another one."""
    return "(?:" + "|".join(sorted(names, key=lambda name: (-len(name), name))) + ")"


def grammar() -> dict[str, Any]:
    found = terminals()
    name, top, others = found["NAME"], *words()
    object_ = found["_OBJ"].replace("\n", "\\n")
    value_follows = VALUE_FOLLOWS.replace("OBJECT", object_)
    operator = r"(?:not[ \t]+)?(?:in|has|under)(?![\w-])"
    begins = r"(^|[{;])([ \t]*)"
    # a word with an operator that only compares, a comma or a colon behind it is a value or a key
    ends = r"(?![\w-])(?![ \t]*(?:[,:.)\]]|==|!=|!?~|=))"
    punctuation = {"1": {"name": "punctuation.mcpe"}}
    patterns: list[dict[str, Any]] = [
        {"name": "comment.line.number-sign.mcpe", "match": r"#.*$"},
        {
            "match": rf"{begins}({one_of(top)}){ends}(?:([ \t]+)({name})(?=[ \t{{;#]|$))?",
            "captures": {
                **punctuation,
                "3": {"name": "keyword.control.mcpe"},
                "5": {"name": "entity.name.type.mcpe"},
            },
        },
        {
            "match": rf"{begins}({one_of(others)}){ends}",
            "captures": {**punctuation, "3": {"name": "keyword.other.mcpe"}},
        },
        {
            "match": rf"{begins}({name})(?=[ \t]*=(?!=))",
            "captures": {**punctuation, "3": {"name": "variable.other.definition.mcpe"}},
        },
        {
            "match": rf"(?:(?<=[\w\])}}\"/%*$])[ \t]+|^[ \t]*)({operator}){value_follows}",
            "captures": {"1": {"name": "keyword.operator.word.mcpe"}},
        },
        {"name": "keyword.operator.comparison.mcpe", "match": r"==|!=|<=|>=|<|>|!?~"},
        text("string.quoted.triple.raw.mcpe", 'r("{3,})(?!")', []),
        text("string.quoted.triple.mcpe", '("{3,})(?!")', [{"include": "#template"}]),
        {"name": "string.quoted.double.raw.mcpe", "match": line(found["RAW"])},
        {"name": "constant.language.metric.mcpe", "match": found["METRIC"]},
        {"name": "variable.other.glob.mcpe", "match": found["GLOB"]},
        {"match": rf"({name})(?=\()", "captures": {"1": {"name": "entity.name.function.mcpe"}}},
        {"name": "variable.other.mcpe", "match": name},
        {"name": "constant.numeric.mcpe", "match": found["NUMBER"]},
        {
            "match": "(" + line(found["STRING"]) + ")",
            "captures": {
                "1": {
                    "name": "string.quoted.double.mcpe",
                    "patterns": [{"include": "#template"}, {"include": "#escape"}],
                }
            },
        },
        {"name": "string.regexp.mcpe", "match": line(found["REGEX"])},
        {"name": "support.variable.jsonpath.mcpe", "match": line(found["JSONPATH"])},
        {"name": "keyword.operator.assignment.mcpe", "match": "="},
        {"name": "punctuation.mcpe", "match": r"[{}()\[\],.:;]"},
        {"name": "string.quoted.double.unfinished.mcpe", "match": r'"(?:\\.|[^"\\])*$'},
    ]
    return {
        "information_for_contributors": [NOTE],
        "name": "mcpe",
        "scopeName": "source.mcpe",
        "fileTypes": ["mcpe"],
        "patterns": patterns,
        "repository": {
            "escape": {"name": "constant.character.escape.mcpe", "match": r'\\(?:u[0-9A-Fa-f]{4}|["\\/nrt])'},
            "template": {
                "name": "meta.template.mcpe",
                "match": r"(\{\{)([^{}]*)(\}\})",
                "captures": {
                    "1": {"name": "punctuation.definition.template.mcpe"},
                    "2": {"name": "variable.other.template.mcpe"},
                    "3": {"name": "punctuation.definition.template.mcpe"},
                },
            },
        },
    }


def text(scope: str, begin: str, inside: list[dict[str, str]]) -> dict[str, Any]:
    """A text of several lines; it ends with as many quotes as it begins with."""
    return {"name": scope, "begin": begin, "end": r'(?<!")\1(?!")', "patterns": inside}


def line(pattern: str) -> str:
    """A terminal that ends on its line: the engine sees one line at a time."""
    return pattern.replace("\n", "\\n")


def vim() -> str:
    """The same for Vim and old Neovim, coarser: words, texts, numbers, comments."""
    top, others = words()
    lines = [
        f'" {NOTE}',
        'if exists("b:current_syntax") | finish | endif',
        "syn iskeyword @,48-57,_,-",
        rf'syn match mcpeDeclaration contained "\<\%({vim_one_of(top)}\)\>"',  # keywords could not hold `contains`
        rf'syn match mcpeWord contained "\<\%({vim_one_of(others)}\)\>"',
        r'syn match mcpeStatement "\%(^\|[{;]\)\s*\zs\h[[:alnum:]_-]*\>\%(\s*[,:.)\]=]\)\@!" contains=mcpeDeclaration,mcpeWord',
        r'syn match mcpeNumber "\<-\?\$\?\d[0-9_]*\%(\.\d\+\)\?\%(ms\|KB\|MB\|GB\|[smhdkM%]\)\?"',
        r'syn match mcpeOperator "==\|!=\|<=\|>=\|!\?\~\|[<>=]"',
        r'syn match mcpePath "\$\%(\.\.\?[[:alnum:]_*-]\+\|\[[^]]*\]\)*"',
        r'syn match mcpeRegex "\%([ (,:]\)\@1<=/[^/*[:space:]]\%(\\.\|[^/\\]\)*/[imsx]*"',
        r'syn match mcpeEscape contained "\\\%(u\x\{4}\|["\\/nrt]\)"',
        r'syn match mcpeTemplate contained "{{[^{}]*}}"',
        r'syn region mcpeString start=+"+ skip=+\\.+ end=+"+ oneline contains=mcpeEscape,mcpeTemplate',
        r'syn region mcpeString start=+\<r"+ end=+"+ oneline',
        r'syn region mcpeText start=+\z("\{3,}\)+ end=+\z1+ contains=mcpeTemplate',
        r'syn region mcpeText start=+\<r\z("\{3,}\)+ end=+\z1+',
        'syn match mcpeComment "#.*$"',
    ]
    links = {
        "Declaration": "Structure",
        "Word": "Statement",
        "Number": "Number",
        "Operator": "Operator",
        "Path": "Identifier",
        "Regex": "String",
        "Escape": "SpecialChar",
        "Template": "Special",
        "String": "String",
        "Text": "String",
        "Comment": "Comment",
    }
    lines += [f"hi def link mcpe{name} {group}" for name, group in links.items()]
    return "\n".join([*lines, 'let b:current_syntax = "mcpe"', ""])


def vim_one_of(names: list[str]) -> str:
    return r"\|".join(names)


def made() -> dict[Path, str]:
    """What is generated, by its path below editors/."""
    return {GRAMMAR: json.dumps(grammar(), indent=2, ensure_ascii=False) + "\n", VIM: vim()}


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "editors"
    for path, content in made().items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
