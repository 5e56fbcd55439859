"""A real Neovim without a window, driven with keys from outside, and what a person would see of it written down."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.editors.places import ROOT, program

PLUGIN = ROOT / "editors" / "neovim"
ENTRY = "import sys; from mcpeval_dsl.cli.main import main; sys.exit(main(sys.argv[1:]))"
LIMIT = 60.0  # seconds until what is waited for counts as never coming


class Neovim:
    """One session; `record` is its transcript."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.nvim = program("nvim")
        self.folder = folder
        self.socket = home / "nvim.sock"
        self.record: list[str] = []
        self.log = home / "lsp.log"
        init = home / "init.lua"
        init.write_text(
            f"vim.opt.runtimepath:prepend({json.dumps(str(PLUGIN))})\n"
            "vim.opt.swapfile = false\n"
            "vim.g.mapleader = ','\n"
            "vim.cmd('filetype plugin on'); vim.cmd('syntax on')\n"
            f"require('mcpe').setup({{ cmd = {{ {json.dumps(sys.executable)}, '-c', {json.dumps(ENTRY)}, 'lsp' }} }})\n"
        )
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "HOME": str(home),
            **{f"XDG_{name}_HOME": str(home / name.lower()) for name in ("CONFIG", "DATA", "STATE", "CACHE")},
        }
        self.process = subprocess.Popen(
            [self.nvim, "--headless", "--clean", "--listen", str(self.socket), "-u", str(init)],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        self.until("is there", lambda: self.socket.exists() and self.ask("1") == 1)

    def _remote(self, *arguments: str) -> str:
        command = [self.nvim, "--server", str(self.socket), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=LIMIT, check=False)
        return done.stdout.strip() or done.stderr.strip()

    def ask(self, lua: str) -> Any:
        """The value of a Lua expression."""
        answer = self._remote("--remote-expr", f"luaeval({_quoted(f'vim.fn.json_encode({lua})')})")
        return json.loads(answer)

    def keys(self, keys: str) -> None:
        """Keys as they are typed: `<Esc>`, `<C-x>`."""
        self.record.append(f"keys      {keys}")
        self._remote("--remote-send", keys)

    def until(self, what: str, holds: Any) -> Any:
        """Wait until something is true; says what, where it never comes."""
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            if found := holds():
                return found
            assert self.process.poll() is None, "Neovim has ended"
            time.sleep(0.05)
        messages = self.ask("vim.fn.execute('messages')")
        raise AssertionError("\n".join([f"never came: {what}", *self.record, messages]))

    def text(self) -> list[str]:
        lines: list[str] = self.ask("vim.api.nvim_buf_get_lines(0, 0, -1, false)")
        return lines

    def squiggles(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.ask("vim.diagnostic.get(0)")
        return found

    def show(self, title: str) -> None:
        """The text with what is underlined in it, into the transcript."""
        self.record += ["", f"# {title}: {self.ask('vim.fn.expand([[%:t]])')}"]
        found = self.squiggles()
        for number, line in enumerate(self.text()):
            self.record.append(f"  {line}")
            for each in found:
                if each["lnum"] == number:
                    under = " " * each["col"] + "~" * max(1, each["end_col"] - each["col"])
                    self.record.append(f"  {under} {each.get('code', '')} {each['message'].splitlines()[0]}")
        self.record.append("")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


@contextmanager
def neovim(folder: Path, home: Path) -> Iterator[Neovim]:
    home.mkdir()
    session = Neovim(folder, home)
    try:
        yield session
        session._remote("--remote-send", "<Esc><Cmd>qall!<CR>")
        session.process.wait(30)
    finally:
        session.process.kill()
        session.process.communicate()
