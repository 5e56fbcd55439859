"""Score, before the table: how the numbers of one trial are laid out, in a digest and in the table alike."""

from __future__ import annotations

import struct

from mcpeval_dsl.records.model import CallCounts
from mcpeval_dsl.score.measures import NAMES

SPLITS = ("train", "heldout")
COUNTS = tuple(CallCounts.model_fields)
PRINTED = ("not run", "ungraded", "pass", "pass (unsafe)", "wrong_answer", "too_many_calls", "untestable")
FLAGS = (
    "on_missing",
    "infrastructure",
    "success",
    "correct",
    "testable",
    "within_budgets",
    "lesser_violations",
    "critical",
    "called_server",
)
FIELDS: tuple[tuple[str, str] | tuple[str, str, tuple[int]], ...] = (
    ("split", "i1"),
    ("printed", "i1"),
    *((name, "?") for name in FLAGS),
    ("charged", "<i4"),
    ("turns", "<i4"),
    ("judged", "<i4"),
    ("judge_missing", "<i4"),
    ("tokens", "<i8"),
    ("cost", "<f8"),
    ("grading_cost", "<f8"),
    ("user_cost", "<f8"),
    ("agent_ms", "<f8"),
    ("counts", "<i4", (len(COUNTS),)),
    ("measures", "<f8", (len(NAMES),)),
)
"""Of a numpy record without gaps; `LAYOUT` packs the same."""
LAYOUT = struct.Struct(f"<bb{len(FLAGS)}?4iq4d{len(COUNTS)}i{len(NAMES)}d")
