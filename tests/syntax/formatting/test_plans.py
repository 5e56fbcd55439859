"""Formatting never changes a plan: its bytes are the same before and after, apart from places in the text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mcpeval_dsl import pipeline
from mcpeval_dsl.plan import files
from mcpeval_dsl.plan.build import build
from mcpeval_dsl.project.files import FileReader
from mcpeval_dsl.syntax.formatting import format_text
from tests.syntax.formatting.shaken import shaken

ROOT = Path(__file__).parents[3]
SPECS = sorted((ROOT / "specs").glob("*/*.mcpe"))


class Edited(FileReader):
    """The files of a folder, one of them with another text."""

    def __init__(self, path: Path, text: str) -> None:
        super().__init__(path.parent)
        self.edited = {path.name: text.encode()}

    def read(self, path: str) -> bytes:
        return self.edited.get(path) or super().read(path)


def plan_of(path: Path, text: str) -> str:
    checked = pipeline.check(path.name, Edited(path, text))
    assert checked.value is not None and checked.ok, checked.diagnostics
    plan = build(checked.value, None, {}).value
    assert plan is not None
    return json.dumps(without_places(json.loads(files.write(plan))))


def without_places(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_places(item) for key, item in value.items() if key != "at"}
    return [without_places(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_the_plan_stays(path: Path) -> None:
    rough = shaken(path.read_text("utf-8"), path.stem)
    formatted = format_text(rough).value
    assert formatted is not None and formatted != rough
    assert plan_of(path, formatted) == plan_of(path, rough)
