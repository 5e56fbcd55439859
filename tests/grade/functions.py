"""Functions that the tests use as graders of their own."""

from __future__ import annotations

import ctypes
import os
import time
from typing import Any


def right(record: dict[str, Any]) -> bool:
    return bool(record["answer"]["text"] == "fine")


def word(record: dict[str, Any]) -> str:
    return "no"


def told(record: dict[str, Any]) -> dict[str, Any]:
    return {"verdict": "yes", "reason": "as it should be", "score": 0.5}


def pair(record: dict[str, Any]) -> tuple[bool, str]:
    return False, "not so"


async def later(record: dict[str, Any]) -> str:
    return "yes"


def undecided(record: dict[str, Any]) -> str:
    return "missing"


def raises(record: dict[str, Any]) -> bool:
    raise ValueError("no such row")


def leaves(record: dict[str, Any]) -> bool:
    raise SystemExit(3)


def number(record: dict[str, Any]) -> int:
    return 1


def slow(record: dict[str, Any]) -> bool:
    time.sleep(30)
    return True


def endless(record: dict[str, Any]) -> bool:
    while True:
        time.sleep(0.05)


def prints(record: dict[str, Any]) -> str:
    print("looking at it")
    os.write(1, b"at length\n")
    return "yes"


def crashes(record: dict[str, Any]) -> bool:
    ctypes.string_at(0)
    return True


def ends(record: dict[str, Any]) -> bool:
    os._exit(3)


def sees(record: dict[str, Any]) -> tuple[bool, str]:
    return "BENCH_KEY" not in os.environ, ", ".join(sorted(os.environ))


def hungry(record: dict[str, Any]) -> bool:
    return len(bytearray(8 * 1024**3)) > 0
