"""Plan, for other programs: JSON Schemas of what is written to disk, made from the models and checked in.

`python -m mcpeval_dsl.plan.schema` writes them into `schemas/`. Models of later rooms are named here as text and
imported only when the schemas are made.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

REGISTRY: tuple[tuple[str, str], ...] = (
    ("plan", "mcpeval_dsl.plan.model:PlanFile"),
    ("lock", "mcpeval_dsl.plan.model:Lock"),
    ("record", "mcpeval_dsl.records.model:TrialRecord"),
    ("manifest", "mcpeval_dsl.records.model:Manifest"),
    ("connect", "mcpeval_dsl.records.model:ConnectRecord"),
    ("harvest", "mcpeval_dsl.records.model:HarvestRecord"),
    ("check", "mcpeval_dsl.records.checks:CheckRecord"),
    ("judgement", "mcpeval_dsl.records.judgements:JudgementRecord"),
    ("defect", "mcpeval_dsl.records.defects:DefectRecord"),
    ("scorecard", "mcpeval_dsl.score.model:Scorecard"),
    ("comparison", "mcpeval_dsl.score.comparison:RunComparison"),
)


def schema(reference: str) -> bytes:
    """JSON Schema (draft 2020-12) of the pydantic model or dataclass at `module:name`, as the file's bytes."""
    from pydantic import TypeAdapter

    module, _, name = reference.partition(":")
    model = getattr(import_module(module), name)
    found: dict[str, Any] = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    found.update(TypeAdapter(model).json_schema(mode="validation"))
    return (json.dumps(found, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()


def write(folder: Path) -> list[Path]:
    """Writes `NAME.schema.json` for the whole registry; returns the files that changed."""
    changed: list[Path] = []
    folder.mkdir(parents=True, exist_ok=True)
    for name, reference in REGISTRY:
        path, data = folder / f"{name}.schema.json", schema(reference)
        if not path.exists() or path.read_bytes() != data:
            path.write_bytes(data)
            changed.append(path)
    return changed


if __name__ == "__main__":
    for changed_file in write(Path(sys.argv[1] if len(sys.argv) > 1 else "schemas")):
        print(changed_file)
