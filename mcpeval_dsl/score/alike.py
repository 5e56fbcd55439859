"""Score, while a run is read: trials of one task instance in one cell that say the same, counted as one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mcpeval_dsl.plan.model import trial_id
from mcpeval_dsl.score.frame import Group
from mcpeval_dsl.score.said import Said


@dataclass(frozen=True, slots=True)
class Alike:
    """`places` are theirs in the plan, ascending; `start` is that of the group's first trial.

    `repeated`: they only play an earlier trial back.
    """

    said: Said
    group: Group
    places: NDArray[np.int64]
    start: int
    repeated: bool = False

    def __len__(self) -> int:
        return len(self.places)

    @property
    def first(self) -> str:
        return self.name(int(self.places[0]))

    def name(self, place: int) -> str:
        return trial_id(self.group.id, place - self.start + 1)

    def named(self, most: int) -> Iterator[tuple[int, str]]:
        """The first of them: place and id."""
        for place in self.places[:most].tolist():
            yield place, self.name(place)


def apart(
    groups: NDArray[np.int64], said: NDArray[np.int32], repeated: NDArray[np.bool_], places: NDArray[np.int64]
) -> Iterator[NDArray[np.int64]]:
    """Places of trials that are alike, those first whose first trial comes first. `places` ascend; all have one entry a trial."""
    if not len(places):
        return
    order = np.lexsort((places, repeated, said, groups))
    keys = [values[order] for values in (groups, said, repeated)]
    differs = np.zeros(len(order) - 1, dtype=bool)
    for values in keys:
        differs |= values[1:] != values[:-1]
    parts = np.split(places[order], np.flatnonzero(differs) + 1)
    yield from sorted(parts, key=lambda part: int(part[0]))
