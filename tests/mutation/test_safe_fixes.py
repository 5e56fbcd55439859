"""Safe fixes undo single mistakes: the tokens are those of the text before the mistake, or nothing was changed."""

from __future__ import annotations

from mcpeval_dsl import pipeline
from mcpeval_dsl.diagnostics.applying import apply
from mcpeval_dsl.source import SourceFile
from mcpeval_dsl.syntax.scanner import scan
from tests.mutation.mistakes import mistakes
from tests.semantics.memory import Memory, examples

PER_KIND = 1
ROUNDS = 4


def tokens(text: str) -> list[str]:
    return [text[token.start : token.end] for token in scan(text).items if token.kind not in ("COMMENT", "_NL")]


def mended(path: str, text: str) -> str:
    """After so many rounds; one more changes nothing."""
    for _ in range(ROUNDS):
        found = pipeline.check(path, Memory({**examples(), path: text}, anything=True)).diagnostics
        fixes = [fix for diagnostic in found for fix in diagnostic.fixes if fix.safe]
        applied = apply({path: SourceFile(path, text)}, fixes)
        if path not in applied.texts:
            return text
        text = applied.texts[path]
    raise AssertionError(f"{path} is changed again and again")


def test_what_is_mended_is_what_was_meant() -> None:
    wrong, right = [], 0
    for number, (path, text) in enumerate(examples().items()):
        for mistake in mistakes(text, number, PER_KIND) if "/" not in path else ():
            after = mended(path, mistake.text)
            if after != mistake.text:
                right += 1
                if tokens(after) != tokens(text):
                    wrong.append((path, mistake.kind, mistake.offset))
    assert wrong == [] and right >= 20
