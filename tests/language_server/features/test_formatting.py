"""Formatting in the editor, stretch by stretch, gives what `mcpe fmt` makes of the whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcpeval_dsl.language_server.features import formatting as module
from mcpeval_dsl.language_server.features.formatting import formatting, laid_out, stretches
from mcpeval_dsl.syntax.formatting import format_edits, format_text
from mcpeval_dsl.syntax.formatting.tokens import Pieces
from tests.language_server.features.cases import applied
from tests.language_server.features.marked import Memory, plain
from tests.syntax.formatting.drawn import drawn
from tests.syntax.formatting.same import is_spec
from tests.syntax.formatting.shaken import shaken

SPECS = sorted((Path(__file__).parents[3] / "specs").glob("*/*.mcpe"))


def formatted(text: str) -> str:
    return applied(text, [(e.start, e.end, e.text) for e in formatting(plain(text))])


@pytest.mark.parametrize("path", SPECS, ids=lambda p: p.stem)
def test_specs_laid_out_without_care(path: Path) -> None:
    for seed in "abcd":
        text = shaken(path.read_text("utf-8"), seed)
        assert formatted(text) == format_text(text).value


def test_generated_specs() -> None:
    texts = [text for number in range(150) if is_spec(text := drawn(f"editor/{number}"))]
    joined = ["\n\n".join(texts[at : at + 3]) for at in range(0, len(texts) - 3, 3)]
    assert len(joined) > 20
    for text in (*texts, *(j for j in joined if is_spec(j))):
        assert formatted(text) == format_text(text).value, text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n\n",
        "# only a comment",
        "\n\n  \nlet a = 1",
        "let a = 1\n\n\n\n# why\n\n\n# more\nlet bb = 2\n\n\n",
        "let a = 1 # x\n \t \nlet bb = 2 # y\nlet ccc = 3\n",
        "let a = 1;\n\nlet b = 2\n",
        "let a = 1\n\n;\nlet b = 2\n",
        "let a = 1\n\nin x\n",
        "let a = b\n\n# why\n\nhas x\n",
        "a in\n\nb\n",
        'task t {\n\n\nprompt """\na\n\n\nb\n"""\n\n\n}\n\n\nlet x = [\n\n1,\n\n\n2]\n',
        "let a = 1\r\n\r\n\r\nlet b = 2\r\n",
        "let a = 1\r\n\n\nlet b = 2\n",
    ],
)
def test_empty_lines(text: str) -> None:
    assert formatted(text) == format_text(text).value


def test_broken_text_is_left() -> None:
    assert formatting(plain("let a = 1\n\n\ntask t { grade (\n")) == ()


def test_only_what_touches_a_range() -> None:
    text = "let  a = 1\n\n\n\nlet  b = 2\n\n\n\nlet  c = 3\n"
    middle = text.index("  b")
    within = (middle, middle + 2)
    found = formatting(plain(text), within)
    assert applied(text, [(e.start, e.end, e.text) for e in found]) == "let  a = 1\n\n\n\nlet b = 2\n\n\n\nlet  c = 3\n"
    assert found == format_edits(text, within=within).value


def test_after_a_keystroke_one_stretch_is_laid_out(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join(f'task t{number} {{ prompt  "x" }}\n\n' for number in range(50))
    memory = Memory({"a.mcpe": text})
    snapshot = memory.snapshot("a.mcpe")
    assert snapshot is not None
    assert len(stretches(snapshot)) == 50
    formatting(snapshot)
    laid: list[str] = []

    def counted(part: str, pieces: Pieces) -> object:
        laid.append(part)
        return format_edits(part, pieces=pieces)

    monkeypatch.setattr(module, "format_edits", counted)
    memory.texts["a.mcpe"] = text.replace("task t7 ", "task changed ")
    snapshot = memory.snapshot("a.mcpe")
    assert snapshot is not None
    assert len(formatting(snapshot)) == 50 + 1  # and the empty line at the end
    assert laid == ['task changed { prompt  "x" }\n']
    laid_out.cache_clear()
