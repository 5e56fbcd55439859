"""What a real run leaves behind fits the published schemas: plan, lock, manifest, every kind of record, scorecard."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from mcpeval_dsl.records.codec import pack
from mcpeval_dsl.records.folder import RunFolder
from mcpeval_dsl.records.reader import RunReader

from .projects import Workplace, workplace

__all__ = ["workplace"]

SCHEMAS = Path(__file__).parents[2] / "schemas"
CHECK = "check notes { notes.list_notes() { require $.count >= 1 } }\n"


@pytest.fixture
def run(workplace: Workplace) -> Path:
    """The folder of a run of the example, with a check."""
    (workplace.root / "mcpe.toml").unlink()
    assert workplace.run("init").code == 0
    spec = workplace.root / "specs/notes/notes.mcpe"
    spec.write_text(spec.read_text() + CHECK)
    for command in (("trust", "--yes"), ("lock",), ("compile",), ("run",)):
        ended = workplace.run(*command)
        assert ended.code == 0, ended
    (folder,) = (workplace.root / ".mcpe/runs").iterdir()
    return folder


def valid(name: str, value: Any) -> None:
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(value)


def plain(record: Any) -> Any:
    """A record as it lies in the store."""
    return json.loads(record.model_dump_json())


def records(reader: RunReader) -> Iterator[tuple[str, Any]]:
    yield from (("record", each) for each in reader.records())
    yield from (("harvest", each) for each in reader.harvests())
    yield from (("connect", each) for each in reader.connects())
    yield from (("check", each) for each in reader.checks())


def test_everything_that_is_written(run: Path) -> None:
    root = run.parents[2]
    valid("plan", json.loads((root / ".mcpe/plan.json").read_text()))
    valid("plan", json.loads((run / "plan.json").read_text()))
    valid("lock", json.loads((root / "specs/notes/mcpe.lock").read_text()))
    valid("manifest", json.loads((run / "manifest.json").read_text()))
    valid("scorecard", json.loads((run / "scorecard.json").read_text()))
    seen: dict[str, int] = {}
    for name, record in records(RunReader(RunFolder(run))):
        valid(name, plain(record))
        assert pack(record)
        seen[name] = seen.get(name, 0) + 1
    assert seen == {"record": 15, "harvest": 2, "connect": 1, "check": 1}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("plan", {"format": "mcpe-plans/1", "plans": 3}),
        ("lock", {"format": "mcpe-lock/2"}),
        ("lock", {"servers": [{"server": "tracker"}]}),
        ("manifest", {}),
        ("scorecard", []),
        ("record", {"task": 3}),
        ("harvest", {}),
        ("connect", {}),
        ("check", {}),
    ],
)
def test_a_schema_refuses_what_is_none(name: str, value: Any) -> None:
    with pytest.raises(jsonschema.ValidationError):
        valid(name, value)
