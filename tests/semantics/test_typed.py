"""`tests/cases/typed/*.mcpe`: specs, and beside each the typed suite as JSON, without places and defaults."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from mcpeval_dsl import pipeline
from tests.semantics.memory import Memory

CASES = Path(__file__).parents[1] / "cases" / "typed"


def plain(value: Any) -> Any:
    """Dataclasses as objects: the kind first, then every field that differs from its default."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        found: dict[str, Any] = {}
        for field in dataclasses.fields(value):
            item = getattr(value, field.name)
            if field.name == "kind" and isinstance(field.default, str) and item == field.default:
                found = {"kind": item, **found}
            elif field.name != "at" and item != field.default:
                found[field.name] = plain(item)
        return found
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return value


@pytest.mark.parametrize("path", sorted(CASES.glob("*.mcpe")), ids=lambda p: p.stem)
def test_case(path: Path, update_cases: bool) -> None:
    files = {path.name: path.read_text("utf-8")}
    files.update({f"{p.parent.name}/{p.name}": p.read_text("utf-8") for p in CASES.glob("files/*")})
    checked = pipeline.check(path.name, Memory(files))
    assert [d for d in checked.diagnostics if d.severity == "error"] == []
    found = json.dumps(plain(checked.value), indent=1, ensure_ascii=False) + "\n"
    expected = path.with_suffix(".json")
    if update_cases:
        expected.write_text(found, "utf-8")
        return
    assert json.loads(found) == json.loads(expected.read_text("utf-8"))
