"""`mcpe lint --fix`, `--diff` and `--unsafe-fixes`: what is written, what is not, and that a second time changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcpeval_dsl.cli import exits, fixing, linting
from mcpeval_dsl.cli.main import main

WRONG = """suite t { trials 1 }
model m { script "s.yaml" }
server s { timeout 20sec; stdio "x" }
# mcpe: ignore[MCPE309] because of old times
task a {
  prompt “How many? 𝒳”
  tags = a
  grade number 3 // three
  exact "3"
}
"""
MENDED = """suite t { trials 1 }
model m { script "s.yaml" }
server s { timeout 20s; stdio "x" }
task a {
  prompt "How many? 𝒳"
  tags a
  grade number 3 # three
  grade exact "3"
}
"""


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "mcpe.toml").write_text('specs = ["specs"]\n')
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "s.yaml").write_text("tasks:\n  a:\n    - reply: '3'\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "specs" / "a.mcpe"


def test_what_is_plainly_meant_is_mended_round_by_round(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec.write_text(WRONG, "utf-8")
    assert main(["lint", "--fix"]) == exits.CLEAN
    assert spec.read_text("utf-8") == MENDED
    shown = capsys.readouterr()
    assert shown.err == "mended 6 findings in 1 file\n" and "error" not in shown.out
    before = spec.stat().st_mtime_ns
    assert main(["lint", "--fix"]) == exits.CLEAN
    assert spec.stat().st_mtime_ns == before and capsys.readouterr().err == ""


def test_line_ends_and_a_byte_order_mark_stay(spec: Path) -> None:
    spec.write_bytes(b"\xef\xbb\xbf" + WRONG.replace("\n", "\r\n").encode())
    assert main(["lint", "--fix"]) == exits.CLEAN
    assert spec.read_bytes() == b"\xef\xbb\xbf" + MENDED.replace("\n", "\r\n").encode()


def test_a_diff_writes_nothing(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec.write_text(WRONG, "utf-8")
    assert main(["lint", "--diff"]) == exits.FINDINGS
    shown = capsys.readouterr().out
    assert shown.startswith("--- a/specs/a.mcpe\n+++ b/specs/a.mcpe\n@@ ")
    assert "-server s { timeout 20sec; stdio" in shown and "+server s { timeout 20s; stdio" in shown
    assert spec.read_text("utf-8") == WRONG
    spec.write_text(MENDED, "utf-8")
    assert main(["lint", "--diff"]) == exits.CLEAN and capsys.readouterr().out == ""


def test_a_guess_is_made_only_when_asked_for(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = MENDED.replace("  tags a", "  tgas a")
    spec.write_text(text, "utf-8")
    assert main(["lint", "--fix"]) == exits.SPEC and spec.read_text("utf-8") == text
    way = "mcpe lint --fix --unsafe-fixes makes the likeliest guess for 1 finding\n"
    assert capsys.readouterr().out.endswith(way)
    assert main(["lint", "--diff"]) == exits.CLEAN and capsys.readouterr().err == f"nothing to mend\n{way}"
    assert main(["lint", "--fix", "--unsafe-fixes"]) == exits.CLEAN and spec.read_text("utf-8") == MENDED
    assert main(["lint", "--unsafe-fixes"]) == exits.SPEC
    assert "--unsafe-fixes goes with --fix or --diff" in capsys.readouterr().err


def test_rights_stay_and_links_are_followed(spec: Path) -> None:
    target = spec.with_name("real.txt")
    target.write_text(WRONG, "utf-8")
    target.chmod(0o640)
    spec.symlink_to(target)
    assert main(["lint", "--fix"]) == exits.CLEAN
    assert spec.is_symlink() and target.read_text("utf-8") == MENDED and target.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in spec.parent.iterdir()) == ["a.mcpe", "real.txt", "s.yaml"]


def test_a_file_that_changed_meanwhile_is_left_alone(spec: Path) -> None:
    spec.write_text(WRONG, "utf-8")
    fixed = fixing.fix(linting.Wanted(), unsafe=False)
    spec.write_text("suite other {}\n")
    assert fixing.write(fixed) == ["specs/a.mcpe is left as it was: it was changed meanwhile"]
    assert spec.read_text() == "suite other {}\n"


def test_a_shared_file_is_mended_once(spec: Path) -> None:
    shared = spec.with_name("shared.mcpe")
    shared.write_text("server s { stdio 'x' }\n")
    for name in ("a", "b"):
        rest = MENDED.replace('server s { timeout 20s; stdio "x" }', 'import "shared.mcpe"').replace(
            "suite t", f"suite {name}"
        )
        spec.with_name(f"{name}.mcpe").write_text(rest)
    assert main(["lint", "--fix"]) == exits.CLEAN
    assert shared.read_text() == 'server s { stdio "x" }\n'


def test_what_a_shared_file_ignores_is_used_by_any_of_its_importers(
    spec: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec.with_name("shared.mcpe").write_text(
        'server s { stdio "x" }\n'
        "harvest only = s.get() { key = $.key }  # mcpe: ignore[MCPE280] because one of two suites uses it\n"
    )
    head = 'suite {0} { trials 1 }\nimport "shared.mcpe"\nmodel m { script "s.yaml" }\n'
    spec.write_text(head.replace("{0}", "one") + 'task a { prompt "Who?"; grade contains only.key }\n')
    spec.with_name("b.mcpe").write_text(head.replace("{0}", "two") + 'task a { prompt "Who?"; grade contains "x" }\n')
    assert main(["lint", "--strict", "specs/b.mcpe"]) == exits.CLEAN
    capsys.readouterr()


def test_no_text_comes_out_that_does_not_parse_and_did(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mcpeval_dsl.diagnostics.model import Diagnostic, Edit, Fix
    from mcpeval_dsl.source import Location

    spec.write_text(MENDED, "utf-8")
    brace = Fix("Remove the brace", (Edit(Location("specs/a.mcpe", 1, 9, 1, 10), ""),), safe=True)
    found = linting.look(linting.Wanted())
    bad = Diagnostic("MCPE309", "t", Location("specs/a.mcpe", 1, 1, 1, 2), severity="warning", fixes=(brace,))
    monkeypatch.setattr(fixing, "look", lambda *_: linting.Found(found.specs, (bad,), False))
    fixed = fixing.fix(linting.Wanted(), unsafe=False)
    assert fixed.after == {} and fixed.made == 0
