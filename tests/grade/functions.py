"""Functions that the tests use as graders of their own."""

from __future__ import annotations

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
    time.sleep(0.5)
    return True


def endless(record: dict[str, Any]) -> bool:
    while True:
        time.sleep(0.05)
