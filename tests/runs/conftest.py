"""The bench of the execution room, for whole runs."""

from __future__ import annotations

from tests.execute.conftest import bench

__all__ = ["bench"]
