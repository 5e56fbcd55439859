"""The published schemas are those of the models."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcpeval_dsl.plan.schema import REGISTRY, schema

FOLDER = Path(__file__).parents[2] / "schemas"


@pytest.mark.parametrize(("name", "reference"), REGISTRY)
def test_schema_is_current(name: str, reference: str) -> None:
    current = (FOLDER / f"{name}.schema.json").read_bytes()
    assert current == schema(reference), "write them with `python -m mcpeval_dsl.plan.schema`"


def test_every_schema_is_in_the_registry() -> None:
    assert {p.name.removesuffix(".schema.json") for p in FOLDER.glob("*.json")} == {name for name, _ in REGISTRY}
