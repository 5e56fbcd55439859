"""Escapes of terminals, turned writing and markup in every text of a server and an agent: shown, never obeyed."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest

from tests.cases_public.lending import Library, calls

SERVER = Path(__file__).parent / "servers" / "shouting.py"
EVIL = "\x1b[31mRED\x1b[0m\x1b]0;title\x07\x9b2J\r\nFAKE: all passed\u202egnp.exe\u2066[bold]m[/bold]<script>alert(1)</script>"
KEY = "KANBAN-1702" + EVIL

HEAD = """suite library "Library" {{ trials {trials}; seed 3 }}
server pages {{ stdio "python" "shouting.py"; timeout {timeout} }}
annotations pages {{ readonly list_*, get_* }}
model canned {{ script "canned.yaml" }}
"""
BODY = """
harvest first = pages.list_pages() { key = $.pages[0].key }
task read { prompt "Read {{ first.key }}."; grade contains "nothing like it"; grade exact "{{ first.key }}x" }
task ends { prompt "x\u202e\x9b2J"; grade contains "nothing like it" }
"""
CHECK = """suite checks "Checks"
server pages { stdio "python" "../specs/shouting.py"; timeout 5s }
annotations pages { readonly list_*, get_* }
check pages { pages.list_pages() { require result has "other" }; pages.get_page() { require result has "x" } }
"""
COMMANDS = (
    ("score",),
    ("score", "--format", "json"),
    ("view",),
    ("view", "read@canned#1"),
    ("view", "ends@canned#1", "--full"),
    ("defects",),
    ("defects", "--confirm"),
    ("report", "--format", "text"),
    ("report", "--format", "markdown", "-o", "-"),
    ("report", "--format", "json", "-o", "-"),
    ("report", "--format", "junit", "-o", "-"),
    ("report", "--format", "github", "-o", "-"),
    ("report", "--format", "html", "-o", "-"),
    ("runs",),
    ("runs", "--format", "json"),
    ("view", "read@canned#1", "--format", "json"),
    ("defects", "--format", "json"),
    ("compile", "specs", "--format", "json"),
    ("graph", "specs", "--format", "json"),
    ("doctor", "--format", "json"),
    ("replay", "read@canned#1"),
    ("trust", "checks", "--yes"),
    ("check", "checks"),
    ("lock", "specs"),
    ("lock", "specs", "--check"),
    ("compile", "specs"),
    ("compile", "specs", "-o", "-"),
    ("graph", "specs"),
    ("doctor",),
)


def obeyed(text: str) -> set[str]:
    """Characters that a terminal or a reader's eye would obey."""
    return {
        f"U+{ord(letter):04X}"
        for letter in text
        if (unicodedata.category(letter) in ("Cc", "Cs") and letter not in "\n\t")
        or unicodedata.bidirectional(letter) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
    }


@pytest.fixture
def shouted(library: Library) -> Library:
    library.bench.write("specs/shouting.py", SERVER.read_text(encoding="utf-8"))
    page = {"tool": "get_page", "arguments": {"key": KEY}}
    scripts = {
        "read": calls("list_pages", page, "get_coded", {"tool": "get_page", "arguments": {EVIL: EVIL}}, reply=EVIL),
        "ends": calls("get_end", "list_pages", reply={"answer": EVIL, EVIL: [EVIL]}),
    }
    library.bench.write("checks/checks.mcpe", CHECK)
    library.write(BODY, scripts, head=HEAD)
    return library


def test_nothing_printed_is_obeyed(shouted: Library) -> None:
    ended = [("run", shouted.bench.run())]
    assert ended[0][1].code == 0, ended[0][1].err
    for words in COMMANDS:
        carry_out = shouted.bench.process if words[0] == "report" else shouted.bench.mcpe
        ended.append((" ".join(words), carry_out(*words)))
    for name, done in ended:
        assert "Traceback (most recent call last):\n  File" not in done.err, (name, done.err)
        assert "internal error: " not in done.err.replace("internal error \\x1b", ""), (name, done.err)
        assert obeyed(done.out + done.err) == set(), name
        assert not re.search(r"^FAKE: all passed", done.out + done.err, re.MULTILINE), name
    shown = dict(ended)["view read@canned#1"].out
    assert "RED" in shown and "[bold]m[/bold]" in shown and "KANBAN-1702" in shown, "it is shown all the same"
    leads = dict(ended)["defects"].out
    assert "pages.get_coded" in leads and "pages.get_page" in leads, "what it named with escapes, it named"
