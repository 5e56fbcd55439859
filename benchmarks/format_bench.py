"""CPU time of `format_text` and `format_edits` on 1,000 and 10,000 lines, beside parsing the same text into its tree.

Run: `python benchmarks/format_bench.py [ROUNDS]`. Exit code 1 when a limit is passed: three times the parser, and 12 times
1,000 lines for 10,000, since formatting is linear.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

from figures import heading, show

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))


def text_of(lines: int) -> str:
    """Specs of this repository, one after the other, names made different, until there are so many lines."""
    specs = [path.read_text("utf-8") for path in sorted((ROOT / "specs").glob("*/*.mcpe"))]
    parts: list[str] = []
    size = number = 0
    while size < lines:
        part = specs[number % len(specs)].replace("task ", f"task t{number}_")
        parts.append(part)
        number, size = number + 1, size + part.count("\n")
    return "".join(parts)


def least_ms(work: Callable[[], object], rounds: int) -> float:
    """Least CPU time of several rounds; nothing is remembered from one to the next."""
    from mcpeval_dsl.syntax.parser import parse_piece

    best = float("inf")
    for _ in range(rounds):
        parse_piece.cache_clear()
        began = time.process_time()
        work()
        best = min(best, time.process_time() - began)
    return best * 1000


def main() -> int:
    from mcpeval_dsl.source import SourceFile
    from mcpeval_dsl.syntax import parse
    from mcpeval_dsl.syntax.formatting import format_edits, format_text

    heading(__file__)
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    within, before = True, 0.0
    for lines in (1_000, 10_000):
        text = text_of(lines)
        rough = text.replace("\n  ", "\n   ").replace(" = ", "=")
        parser = least_ms(lambda text=text: parse(SourceFile("spec.mcpe", text)), rounds)
        spent = least_ms(lambda text=rough: format_text(text), rounds)
        edits = least_ms(lambda text=rough: format_edits(text), rounds)
        limit = min(3 * parser, 12 * before) if before else 3 * parser
        within &= show(f"format_text, {lines:,} lines", spent, "ms", round(limit), ("the parser", parser))
        within &= show(f"format_edits, {lines:,} lines", edits, "ms", None, ("the parser", parser))
        before = spent
    return int(not within)


if __name__ == "__main__":
    sys.exit(main())
