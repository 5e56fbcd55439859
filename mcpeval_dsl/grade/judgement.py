"""Grade, what a judge answers: for each claim a reason, quotes, and then pass, fail or unknown. Anything else is unreadable.

No number is ever taken for a verdict: "1. The answer is completely wrong" has none.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Literal

ClaimVerdict = Literal["pass", "fail", "unknown"]
_FENCE = re.compile(r"```(?:json)?\s*\n?(.*?)```", re.DOTALL)
_WORDS: dict[str, ClaimVerdict] = {"pass": "pass", "fail": "fail", "unknown": "unknown"}

SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["claims"],
    "properties": {
        "claims": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["claim", "reason", "quotes", "verdict"],
                "properties": {
                    "claim": {"type": "integer", "description": "number of the claim"},
                    "reason": {"type": "string", "description": "one or two sentences, before the verdict"},
                    "quotes": {"type": "array", "items": {"type": "string"}, "description": "copied from the data"},
                    "verdict": {"enum": ["pass", "fail", "unknown"]},
                },
            },
        }
    },
}


@dataclass(frozen=True, slots=True)
class Judged:
    """One claim as judged once. `invented`: a quote does not occur in the data, so the verdict became unknown."""

    verdict: ClaimVerdict
    reason: str = ""
    quotes: tuple[str, ...] = ()
    invented: bool = False


def read_judgement(text: str, claims: int, data: str) -> tuple[Judged, ...] | str:
    """One `Judged` for each claim in order, or a sentence that says why the answer cannot be read."""
    found = _object(text)
    if found is None:
        return "it holds no JSON object"
    rows = found.get("claims")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        return "it has no list `claims` of objects"
    by_number: dict[int, Judged] = {}
    folded = _folded(data)
    for position, row in enumerate(rows, start=1):
        number = row.get("claim", position)
        verdict = _WORDS.get(str(row.get("verdict", "")).strip().lower())
        if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= claims:
            return f"claim {number!r} is none of 1 to {claims}"
        if verdict is None:
            return f"the verdict of claim {number} is not pass, fail or unknown"
        if number in by_number:
            return f"claim {number} is judged twice"
        by_number[number] = _checked(row, verdict, folded)
    lacking = [number for number in range(1, claims + 1) if number not in by_number]
    if lacking:
        return f"claim {lacking[0]} is not judged"
    return tuple(by_number[number] for number in range(1, claims + 1))


def _checked(row: dict[str, Any], verdict: ClaimVerdict, folded: str) -> Judged:
    """A verdict that rests on a quote which is not in the data is no verdict."""
    given = row.get("quotes", [])
    quotes = (
        tuple(quote for quote in given if isinstance(quote, str) and quote.strip()) if isinstance(given, list) else ()
    )
    invented = any(not _occurs(quote, folded) for quote in quotes)
    reason = row.get("reason", "")
    return Judged("unknown" if invented else verdict, reason if isinstance(reason, str) else "", quotes, invented)


def _occurs(quote: str, folded: str) -> bool:
    """Ellipses stand for what was left out between parts that each occur."""
    parts = [part for part in re.split(r"\s*(?:\.\.\.|…)\s*", _folded(quote)) if part]
    return all(part.strip("\"'“”‘’ ") in folded for part in parts)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _object(text: str) -> dict[str, Any] | None:
    """The whole text, the only fenced block, or the last object that begins a line, as a JSON object."""
    fences = _FENCE.findall(text)
    starts = [match.start() for match in re.finditer(r"(?m)^\s*\{", text)]
    candidates = [text, *fences[-1:], *(text[start:] for start in starts[-3:])]
    for candidate in candidates:
        try:
            found, _ = json.JSONDecoder().raw_decode(candidate.strip())
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict) and "claims" in found:
            return found
    return None
