"""The grammar of VS Code says of each character what the scanner says, in the engine that VS Code uses."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mcpeval_dsl.syntax.scanner import scan
from tests.editors.places import NODE, NODE_MODULES
from tests.syntax.formatting.drawn import drawn
from tests.syntax.formatting.same import is_spec

ROOT = Path(__file__).parents[2]
GRAMMAR = ROOT / "editors/vscode/syntaxes/mcpe.tmLanguage.json"
SPECS = sorted(
    path
    for folder in ("specs", "tests/cases/examples", "tests/cases/formatting", "tests/cases/typed")
    for path in (ROOT / folder).rglob("*.mcpe")
    if path.stem != "operator_words"  # what begins with `has` is a statement or goes on, by what the line before is
)
CLASSES = {
    "COMMENT": "comment",
    **dict.fromkeys(("STRING", "RAW", "TEXT"), "string"),
    **dict.fromkeys(("NAME", "GLOB"), "word"),
    "NUMBER": "number",
    "REGEX": "regex",
    "JSONPATH": "path",
    "METRIC": "metric",
    **dict.fromkeys(("CMP", "EQUAL"), "operator"),
}
SCOPES = (
    ("comment", "comment"),
    ("string.regexp", "regex"),
    ("string", "string"),
    ("constant.numeric", "number"),
    ("constant.language.metric", "metric"),
    ("support.variable.jsonpath", "path"),
    ("keyword.operator", "operator"),
    ("keyword", "word"),
    ("entity.name", "word"),
    ("variable.other", "word"),
    ("punctuation", "punctuation"),
)


def generator() -> dict[Path, str]:
    """What `tools/textmate.py` makes now."""
    spec = importlib.util.spec_from_file_location("textmate", ROOT / "tools/textmate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["textmate"] = module
    spec.loader.exec_module(module)
    made: dict[Path, str] = module.made()
    return made


def lines_of(text: str) -> list[str]:
    """Lines as an editor has them."""
    return re.split(r"\r?\n", text)


def engine(texts: list[str]) -> list[list[list[tuple[int, int, str]]]]:
    """Per text and line: start, end and scopes of what the engine found."""
    fed = "".join(json.dumps(lines_of(text)) + "\n" for text in texts)
    done = subprocess.run(
        [NODE, str(Path(__file__).with_name("tokens.cjs")), str(GRAMMAR)],
        input=fed,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "NODE_PATH": str(NODE_MODULES)},
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def scanned(text: str) -> list[str]:
    """The class of each character by the scanner; blanks have none."""
    found = [""] * len(text)
    for token in scan(text).items:
        if token.kind == "_NL" and text[token.start] != ";":
            continue
        found[token.start : token.end] = [CLASSES.get(token.kind, "punctuation")] * (token.end - token.start)
    return found


def painted(text: str, lines: list[list[tuple[int, int, str]]]) -> list[str]:
    """The class of each character by the engine, which counts in UTF-16."""
    found: list[str] = []
    for line, tokens in zip(lines_of(text), lines, strict=True):
        units = [""] * (len(line.encode("utf-16-le")) // 2 + 1)
        for start, end, scopes in tokens:
            units[start:end] = [next((c for prefix, c in SCOPES if scopes.startswith(prefix)), "")] * (end - start)
        at = 0
        for character in line:
            found.append(units[at])
            at += 2 if ord(character) > 0xFFFF else 1
        found += [""] * 2
    return found


def differences(text: str, lines: list[list[tuple[int, int, str]]]) -> list[str]:
    """Places where the two disagree, blanks apart."""
    text_lines = lines_of(text)
    ours, found, at = scanned(text), painted(text, lines), 0
    position, wrong = 0, []
    for number, line in enumerate(text_lines, 1):
        for column, character in enumerate(line):
            mine, theirs = ours[position + column], found[at + column]
            if not character.isspace() and mine != theirs:
                wrong.append(f"{number}:{column + 1} {line[column:][:20]!r}: {mine} here, {theirs} there")
        position += len(line) + (2 if text.startswith("\r\n", position + len(line)) else 1)
        at += len(line) + 2
    return wrong


def test_what_is_generated_is_current() -> None:
    for path, content in generator().items():
        assert (ROOT / "editors" / path).read_text("utf-8") == content, "run python tools/textmate.py"


@pytest.fixture(scope="module")
def of_specs() -> dict[Path, list[list[tuple[int, int, str]]]]:
    texts = [path.read_text("utf-8") for path in SPECS]
    return dict(zip(SPECS, engine(texts), strict=True))


@pytest.mark.parametrize("path", SPECS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_specs_are_painted_as_they_are_read(path: Path, of_specs: dict[Path, list[list[tuple[int, int, str]]]]) -> None:
    assert differences(path.read_text("utf-8"), of_specs[path]) == []


def test_drawn_specs_are_painted_as_they_are_read() -> None:
    """But for `in`, `has` and `under`, of which an engine for single lines cannot always say if they are names."""
    texts = [text for number in range(300) if is_spec(text := drawn(f"paint/{number}"))]
    texts = [text for text in texts if "\r\r" not in text]
    assert len(texts) > 100
    wrong = []
    for text, lines in zip(texts, engine(texts), strict=True):
        wrong += [d for d in differences(text, lines) if {"word", "operator"} - set(re.findall(r"\w+", d))]
    assert wrong == []


@pytest.mark.parametrize(
    ("line", "word", "scope"),
    [
        ('task oldest "T" {', "task", "keyword.control.mcpe"),
        ('task oldest "T" {', "oldest", "entity.name.type.mcpe"),
        ("  prompt x", "prompt", "keyword.other.mcpe"),
        ("defaults { budget calls <= 6; trials 1 }", "trials", "keyword.other.mcpe"),
        ("  key = $.a[0]", "key", "variable.other.definition.mcpe"),
        ("  key = $.a[0]", "$.a[0]", "support.variable.jsonpath.mcpe"),
        ("  prompt: 1,", "prompt", "variable.other.mcpe"),
        ("  grade state f(x) has y", "f", "entity.name.function.mcpe"),
        ("  grade state f(x) has y", "has", "keyword.operator.word.mcpe"),
        ("  tags has", "has", "variable.other.mcpe"),
        ('  a "x {{ y }}"', " y ", "string.quoted.double.mcpe meta.template.mcpe variable.other.template.mcpe"),
        (r'  a "x\n"', r"\n", "string.quoted.double.mcpe constant.character.escape.mcpe"),
        ('  a "half', '"half', "string.quoted.double.unfinished.mcpe"),
        ("  timeout 20s", "20s", "constant.numeric.mcpe"),
    ],
)
def test_scopes(line: str, word: str, scope: str) -> None:
    (tokens,) = engine([line])[0]
    assert [scopes for start, end, scopes in tokens if line[start:end] == word][:1] == [scope]


def test_every_word_of_the_language_is_one_of_the_grammar() -> None:
    from mcpeval_dsl.semantics.directives import TABLE

    names = sorted({entry.name for entry in TABLE})
    for name, (tokens,) in zip(names, engine([f"{name} x" for name in names]), strict=True):
        assert tokens[0][2].startswith("keyword"), name
