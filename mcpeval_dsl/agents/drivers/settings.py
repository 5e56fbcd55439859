"""What a driver is opened with, and what says that it cannot be."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class DriverSettings:
    """The operator's side of a model: never from a spec. Times in seconds.

    `retry_time` bounds the time one turn may spend in retries and waits; `concurrency` is where the adaptive limit starts.
    """

    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    project_root: Path = Path()
    request_timeout: float = 300.0
    retry_time: float = 300.0
    concurrency: int = 4
    seed: int = 0


class DriverUnavailable(Exception):
    """A model whose driver cannot be opened; `reason` is a sentence for the user."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
