"""A session in a real Neovim with the real `mcpe lsp`, typed. Its transcript is written to build/editors/neovim.txt."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.editors import sample
from tests.editors.neovim import Neovim, neovim
from tests.editors.places import ROOT

WINDOWS = """vim.tbl_map(function(window)
  return vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false)
end, vim.api.nvim_list_wins())"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    sample.write(tmp_path / "work")
    return tmp_path / "work"


@pytest.fixture
def editor(project: Path, tmp_path: Path) -> Iterator[Neovim]:
    with neovim(project, tmp_path / "home") as session:
        session.keys(":edit main.mcpe<CR>")
        session.until("the language server", lambda: session.ask("vim.tbl_count(vim.lsp.buf_get_clients(0))") == 1)
        yield session


def line_with(editor: Neovim, part: str) -> str:
    return next((line for line in editor.text() if part in line), "")


@pytest.mark.timeout(300)
def test_a_session(editor: Neovim, project: Path) -> None:
    assert editor.ask("vim.bo.filetype") == "mcpe" and editor.ask("vim.bo.shiftwidth") == 2
    squiggle_comes_and_goes(editor)
    completion_of_an_enum_value(editor)
    hover_and_definition(editor)
    rename_across_files(editor, project)
    formatting(editor)
    run_of_a_task(editor)
    assert "Error" not in editor.ask("vim.fn.execute('messages')")
    record = ROOT / "build" / "editors" / "neovim.txt"
    record.parent.mkdir(parents=True, exist_ok=True)
    record.write_text("\n".join(editor.record) + "\n", encoding="utf-8")


def squiggle_comes_and_goes(editor: Neovim) -> None:
    editor.keys('/status: "open"<CR>f"lct"opne<Esc>')
    (found,) = editor.until("a squiggle", editor.squiggles)
    assert editor.text()[found["lnum"]][found["col"] : found["end_col"]].strip('"') == "opne"
    assert "opne" in found["message"]
    editor.show("A value that the tool does not take")
    editor.keys("u")
    editor.until("no squiggle", lambda: editor.squiggles() == [])
    editor.show("Undone")


def completion_of_an_enum_value(editor: Neovim) -> None:
    editor.keys('/status: "open"<CR>f"lct"<C-x><C-o>')
    shown = editor.until("a menu", lambda: editor.ask("vim.fn.complete_info({'items', 'pum_visible'})")["items"])
    words = [item["word"].strip('"') for item in shown]
    editor.record += ["menu      " + "  ".join(words), ""]
    assert {"open", "in_progress", "closed"} <= set(words)
    editor.keys("<C-n><C-y><Esc>")
    editor.until("the value", lambda: 'status: "in_progress"' in line_with(editor, "expect"))
    editor.until("no squiggle", lambda: editor.squiggles() == [])
    editor.show("A value of the enum, chosen from the menu")
    editor.keys("u")
    editor.until("the old value", lambda: 'status: "open"' in line_with(editor, "expect"))


def hover_and_definition(editor: Neovim) -> None:
    editor.keys("/list_issues<CR>K")
    shown = editor.until("a window", lambda: next((w for w in editor.ask(WINDOWS) if "Lists" in " ".join(w)), None))
    editor.record += ["hover     " + line for line in shown if line.strip()]
    editor.keys("<Esc>/grade<CR>/oldest<CR>gd")
    editor.until("the other file", lambda: editor.ask("vim.fn.expand('%:t')") == "shared.mcpe")
    assert editor.ask("vim.api.nvim_get_current_line()").startswith("harvest oldest")
    editor.show("Where the harvest is defined")
    editor.keys(":edit main.mcpe<CR>")
    editor.until("the spec again", lambda: editor.ask("vim.fn.expand('%:t')") == "main.mcpe")


def rename_across_files(editor: Neovim, project: Path) -> None:
    editor.keys("gg/contains oldest<CR>w")
    editor.keys(":lua vim.lsp.buf.rename('first_issue')<CR>")
    editor.until("the new name", lambda: "contains first_issue.key" in line_with(editor, "grade"))
    assert "{{ first_issue.key }}" in line_with(editor, "prompt")
    editor.until("no squiggle", lambda: editor.squiggles() == [])
    editor.show("Renamed, in the template too")
    editor.keys(":wall!<CR>")
    editor.until("the other file", lambda: "harvest first_issue = tracker" in (project / "shared.mcpe").read_text())
    assert "oldest." not in (project / "main.mcpe").read_text()


def formatting(editor: Neovim) -> None:
    editor.keys("gg/expect<CR>Otags   read,write ;kind write<Esc>")
    editor.until("the line", lambda: "kind write" in line_with(editor, "tags"))
    editor.show("Written without care")
    editor.keys(":lua require('mcpe').format()<CR>")
    editor.until("the form", lambda: line_with(editor, "tags") == "  tags   read, write")
    assert line_with(editor, "kind") == "  kind   write"
    editor.show("Formatted")


def run_of_a_task(editor: Neovim) -> None:
    """The lens above a task starts the command in a terminal, which asks for trust: nothing is started for a spec as it is."""
    lenses = "vim.tbl_map(function(lens) return lens.command.title end, vim.lsp.codelens.get(0) or {})"
    editor.keys(":lua vim.lsp.codelens.refresh()<CR>")
    titles = editor.until("lenses", lambda: editor.ask(lenses))
    editor.record += ["lenses    " + "  ".join(titles)]
    assert "run this task" in titles
    editor.keys("gg/^task<CR>:lua vim.lsp.codelens.run()<CR>")
    editor.keys("1<CR>")
    editor.until("a terminal", lambda: editor.ask("vim.bo.buftype") == "terminal")
    shown = editor.until(
        "the question", lambda: [t for t in editor.text() if t.strip()] if "server.py" in str(editor.text()) else []
    )
    editor.record += ["terminal  " + line for line in shown]
