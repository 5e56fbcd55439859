"""The long form of `test_properties`: `python -m tests.syntax.formatting.fuzz [SPECS] [SEED]`, 10,000 valid specs if not said."""

from __future__ import annotations

import sys
import time
from itertools import count

from tests.syntax.formatting.drawn import drawn
from tests.syntax.formatting.same import assert_formats, is_spec


def main() -> int:
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    seed = sys.argv[2] if len(sys.argv) > 2 else "0"
    began, specs, lines, failed = time.process_time(), 0, 0, 0
    for number in count():
        text = drawn(f"{seed}/{number}")
        if not is_spec(text):
            continue
        specs, lines = specs + 1, lines + text.count("\n")
        try:
            assert_formats(text)
        except AssertionError:
            failed += 1
            print(f"seed {seed}/{number}: {text!r}")
        if specs == wanted:
            break
    print(
        f"{specs:,} specs of {number + 1:,} drawn, {lines:,} lines, {failed} failed, {time.process_time() - began:.0f} s of CPU"
    )
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
