"""Whatever a file holds: a spec that compiles, or one diagnostic; never a traceback, never a spec that says something else."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from mcpeval_dsl.cli import exits
from mcpeval_dsl.cli.main import main
from mcpeval_dsl.interchange import reading
from mcpeval_dsl.interchange.compiled import compile_suite
from mcpeval_dsl.interchange.importing import import_file

QUESTION = "<evaluation><qa_pair><question>{}</question><answer>{}</answer></qa_pair></evaluation>"
EVIL = [
    "{{ workdir }} {% raw %} {# x #}",
    '"""\n{{',
    '" } task x { prompt "y',
    "\\n \\u0000 \\",
    "a\x00b\x1b[31m",
    "\u202e\u2028\ufeff",
    "😀 astral 𝔘",
    "/* # comment */ # more",
    "x" * 100_000,
    "\n" * 5_000 + "x",
    'r"raw" $.a[0] /re/ 20k 5%',
]
NAMES = ["task", "prompt", "a b", "…", "", "x" * 300, "1", "true", '"; drop', "None", "{{ x }}"]


def lint(path: Path) -> int:
    return main(["lint", str(path)])


@pytest.mark.parametrize("evil", EVIL, ids=lambda text: ascii(text[:12]))
def test_no_text_breaks_out_of_its_place(evil: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    data = {
        "name": evil,
        "models": [evil],
        "mcp_servers": {
            evil: {"command": evil, "args": [evil], "env": {"A": evil, evil: "b"}, "headers": {evil: evil}}
        },
        "tool_use_evals": [
            {"query": evil, "answer": evil, "judge_mode": mode, "id": evil} for mode in ("contains", "llm")
        ],
        "abstention_evals": [{"query": evil}],
    }
    Path("evals.json").write_text(json.dumps(data))
    assert main(["import", "evals.json", "-o", "out"]) == exits.CLEAN
    assert lint(Path("out/evals.mcpe")) == exits.CLEAN
    text = Path("out/evals.mcpe").read_text()
    assert sum(line.startswith("task ") for line in text.splitlines()) == 3


@pytest.mark.parametrize("name", NAMES, ids=lambda text: ascii(text[:12]))
def test_any_name_will_do(name: str, tmp_path: Path) -> None:
    evals = [{"name": name, "prompt": "x", "expected_result": "y"}] * 3
    path = tmp_path / "evals.yaml"
    path.write_text(json.dumps({"evals": evals, "mcp_server": {"name": name, "command": "a"}}))
    suite = import_file(path, "evals.yaml").suite
    assert suite is not None and len(suite.tasks) == 3
    assert compile_suite(suite, "evals.yaml").errors == [] and len(suite.tasks) == 3


ENCODED = {
    "a BOM": ("\ufeff" + QUESTION.format("é", "è")).encode(),
    "UTF-16": QUESTION.format("é", "è").encode("utf-16"),
    "UTF-32": QUESTION.format("é", "è").encode("utf-32"),
    "Latin-1": QUESTION.format("é", "è").encode("latin-1"),
    "CRLF": QUESTION.format("é", "è").replace("><", ">\r\n<").encode(),
    "a zero byte": QUESTION.format("é", "\0è").encode(),
}


@pytest.mark.parametrize("name", ENCODED)
def test_any_encoding_is_read(name: str, tmp_path: Path) -> None:
    path = tmp_path / "evaluation.xml"
    path.write_bytes(ENCODED[name])
    suite = import_file(path, "evaluation.xml").suite
    assert suite is not None
    assert suite.tasks[0].prompt == "é" and 'exact "è"' in suite.tasks[0].statements[0].text


LAUGHS = '<!DOCTYPE l [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;">]>' + QUESTION.format("&b;", "&b;")
REFUSED = {
    "nothing": (b"", "it is empty"),
    "blanks": (b" \n\t\n", "it is empty"),
    "bytes": (bytes(range(256)) * 40, "it is no text"),
    "zeros": (b"\0" * 5_000, "it is no text"),
    "deep XML": (b"<evaluation>" + b"<a>" * 9_999 + b"</a>" * 9_999 + b"</evaluation>", "levels deep"),
    "deep JSON": (b'{"evals": ' + b"[" * 9_999, "levels deep"),
    "deep YAML": (b"evals: " + b"[" * 99_999, "nesting"),
    "a bomb of aliases": (
        b"a: &a [1,1,1,1,1,1,1,1]\n"
        + b"".join(b"b%d: &b%d [%s]\n" % (n, n, b",".join([b"*a"] * 99)) for n in range(999)),
        "values",
    ),
    "broken JSON": (b'{"evals": [', "never closed"),
    "broken YAML": (b"evals:\n\t- x", "no YAML"),
    "no format": (b"just: words", "no format"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_one_diagnostic(name: str, tmp_path: Path) -> None:
    data, said = REFUSED[name]
    path = tmp_path / "evals.txt"
    path.write_bytes(data)
    made = import_file(path, "evals.txt")
    assert made.suite is None and len(made.diagnostics) == 1
    assert said in made.diagnostics[0].title


def test_entities_of_a_file_are_not_expanded(tmp_path: Path) -> None:
    path = tmp_path / "evaluation.xml"
    path.write_text(LAUGHS)
    suite = import_file(path, "evaluation.xml").suite
    assert suite is not None and suite.tasks[0].prompt == "&b;"


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "evaluation.xml"
    with path.open("wb") as file:
        file.truncate(reading.MOST_BYTES + 1)
    made = import_file(path, "evaluation.xml")
    assert made.suite is None and "MB is not read" in made.diagnostics[0].title


@pytest.mark.parametrize("name", [".", "gone.xml", "a\0b.xml", "x" * 5_000 + ".xml", "/dev/null"])
def test_what_is_no_file_is_told(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = import_file(Path(name), name)
    assert made.suite is None and made.diagnostics[0].code == "MCPE600"


SHAPES = [
    "null",
    "[]",
    "1",
    '"x"',
    "{}",
    "[null]",
    '{"cases": 1}',
    '{"evals": {"tests": 5}}',
    '{"tests": [1, null, []], "prompts": 3}',
]
SHAPES += [
    '{"workflows": [{"steps": [1]}]}',
    '{"kind": "Task", "spec": []}',
    '{"kind": "Eval", "config": {"taskSets": [5]}}',
]
SHAPES += [
    '{"tool_use_evals": {"a": 1}}',
    '{"cases": [{"inputs": {}, "evaluators": [1, [], {}]}]}',
    '{"cases": [{"steps": 1, "title": 2}]}',
]
SHAPES += [
    '{"tests": [{"vars": [], "assert": [{"type": []}]}], "providers": [[]]}',
    '{"toolHealthSuites": [{"tests": [{"args": 1}]}]}',
]


@pytest.mark.parametrize("text", SHAPES)
@pytest.mark.parametrize(
    "wanted", ["", "mcpchecker", "mcpjam", "mcpvals", "arbiter", "lastmile", "promptfoo", "prompt-table", "mcp-evals"]
)
def test_any_shape_is_read_as_any_format(text: str, wanted: str, tmp_path: Path) -> None:
    path = tmp_path / "evals.json"
    path.write_text(text)
    made = import_file(path, "evals.json", wanted)
    assert made.suite is not None or len(made.diagnostics) == 1
    if made.suite is not None:
        assert compile_suite(made.suite, "evals.json").errors == []


PIECES = [
    b'"',
    b"'",
    b"{",
    b"}",
    b"[",
    b"]",
    b"{{",
    b"\n",
    b"<",
    b">",
    b"&",
    b"null",
    b"[]",
    b"-1",
    b"\\",
    b'"""',
    b"\x00",
    b"\xff",
    b"# ",
]
SOURCES = sorted(
    path
    for path in (Path(__file__).parent / "cases").rglob("*")
    if path.suffix in (".xml", ".json", ".yaml", ".csv", ".md")
)


def broken(data: bytes, random: Random) -> bytes:
    """The bytes with some put in, left out or said twice."""
    found = bytearray(data)
    for _ in range(random.choice([1, 1, 2, 5])):
        at, kind = random.randrange(len(found) + 1), random.random()
        if kind < 0.5:
            found[at:at] = random.choice(PIECES)
        elif kind < 0.8:
            del found[at : at + random.choice([1, 5, 40])]
        else:
            found[at:at] = found[(start := random.randrange(len(found) + 1)) : start + 40]
    return bytes(found)


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_a_file_with_mistakes_is_read_or_told(source: Path, tmp_path: Path) -> None:
    random = Random(source.name)
    for _ in range(8):
        path = tmp_path / source.name
        path.write_bytes(broken(source.read_bytes(), random))
        made = import_file(path, source.name)
        if made.suite is None:
            assert len(made.diagnostics) == 1
            continue
        assert compile_suite(made.suite, source.name).errors == []
        assert not [note for note in made.suite.notes if "would not compile" in note.text]
