"""Command line, shared: the first line of every JSON Lines output, which names the schema of what follows."""

from __future__ import annotations

import json

from mcpeval_dsl import __version__


def first_line(schema: str) -> str:
    """Fields that are not known are to be ignored within a major version."""
    return json.dumps({"type": "version", "schema": f"mcpe-{schema}/1", "mcpe": __version__})
