"""Score: the planned trials of a run as one table of columns, small enough to hold a million of them.

One entry of `trials` is one planned trial, in order of the plan. `recorded` False: not run yet, which counts as untestable
in every bound. numpy is imported here, and this module by nothing that a command imports before it scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mcpeval_dsl.plan.model import Plan, TrialGroup
from mcpeval_dsl.score.measures import NAMES
from mcpeval_dsl.score.numbers import COUNTS, FIELDS, PRINTED
from mcpeval_dsl.score.numbers import SPLITS as SPLITS
from mcpeval_dsl.score.rows import instance_name

Scenario = Literal["as it is", "worst", "best"]
Read = Literal["success", "correct"]
Records = NDArray[np.void]
Places = NDArray[np.int64]
Numbers = NDArray[np.float64]
INCONCLUSIVE_SHARE = 0.10
_MARKS = ("recorded", "planned", "repeated", "doubted", "on_judge")
NUMBERS = np.dtype(list(FIELDS))
"""The numbers of one trial, as a digest has them."""
_COLUMNS = np.dtype(
    [
        ("group", "i4"),
        ("number", "i4"),
        ("cluster", "i4"),
        *((name, "?") for name in _MARKS),
        ("first_latency", "i8"),
        ("latencies", "i4"),
        *FIELDS,
    ]
)


@dataclass(frozen=True, slots=True)
class Group:
    """What all trials of one task instance in one cell share."""

    id: str
    task: str
    instance: str
    cell: str
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Frame:
    """Some of the planned trials with the tables that their codes point into.

    All frames of a run share its columns: `at` are the places of its trials (None: all), and `changed` what is assumed of them
    instead, in their order.
    """

    groups: Sequence[Group]
    instance_of: NDArray[np.int64] = field(repr=False)
    instances: Sequence[str] = field(repr=False)
    clusters: Sequence[str] = field(repr=False)
    latencies: Numbers = field(repr=False)
    columns: Mapping[str, NDArray[Any]] = field(repr=False)
    at: Places | None = field(default=None, repr=False)
    changed: Mapping[str, NDArray[Any]] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.columns["group"]) if self.at is None else len(self.at)

    def __getitem__(self, column: str) -> NDArray[Any]:
        """To be read only: it may be the run's own."""
        if column in self.changed:
            return self.changed[column]
        found = self.columns[column]
        return found if self.at is None else found[self.at]

    def where(self, chosen: NDArray[Any]) -> Frame:
        """The trials of a mask or of positions."""
        places = np.flatnonzero(chosen) if chosen.dtype == bool else chosen
        changed = {name: values[places] for name, values in self.changed.items()}
        return replace(self, at=places if self.at is None else self.at[places], changed=changed)

    def assuming(self, **columns: NDArray[Any]) -> Frame:
        """The same trials, with other values in these columns."""
        return replace(self, changed={**self.changed, **columns})

    def instance(self) -> NDArray[np.int64]:
        found: NDArray[np.int64] = self.instance_of[self["group"]]
        return found

    def of_groups(self, chosen: NDArray[np.bool_]) -> Frame:
        """The trials of the groups that are marked."""
        return self.where(chosen[self["group"]])

    def doubting(self) -> Frame:
        """The same, where trials that rest on a judge nobody should rest on count both ways (`as_if`)."""
        on_judge = self["on_judge"]
        return self.assuming(doubted=on_judge) if on_judge.any() else self

    def first(self) -> Group:
        return self.groups[int(self["group"][0])]

    def counted(self, name: str) -> NDArray[np.int64]:
        """A count of `records.CallCounts`, for each trial."""
        found: NDArray[np.int64] = self["counts"][:, COUNTS.index(name)].astype(np.int64)
        return found

    def measured(self, name: str) -> Numbers:
        """A measure of `score.measures`, for each trial; NaN where there was nothing to measure."""
        found: Numbers = self["measures"][:, NAMES.index(name)]
        return found

    def call_times(self) -> Numbers:
        """Durations (ms) of the calls of these trials."""
        lengths, starts = self["latencies"].astype(np.int64), self["first_latency"]
        if not len(lengths):
            return np.zeros(0)
        within = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return self.latencies[np.repeat(starts, lengths) + within]

    def printed(self) -> tuple[str, ...]:
        return tuple(PRINTED[code] for code in self["printed"].tolist())

    def ended(self, printed: str) -> NDArray[np.bool_]:
        """Which trials have this printed outcome."""
        found: NDArray[np.bool_] = self["printed"] == PRINTED.index(printed)
        return found

    def printed_counts(self) -> dict[str, int]:
        """How many trials each printed outcome has; 0 where none."""
        found = np.bincount(self["printed"], minlength=len(PRINTED)).tolist()
        return dict(zip(PRINTED, found, strict=True))

    def by_group(self) -> Iterator[tuple[Group, Places]]:
        """Positions of the trials of each task instance in each cell, in order of the plan."""
        codes = self["group"]
        if not len(codes):
            return
        order = np.argsort(codes, kind="stable")
        cuts = np.flatnonzero(np.diff(codes[order])) + 1
        for positions in np.split(order, cuts):
            yield self.groups[int(codes[positions[0]])], positions


class FrameBuilder:
    """Fills the table while records are read. Trials that do not apply (`drop`) and repeats are left out of the frame."""

    def __init__(self, plan: Plan) -> None:
        tasks = {task.name: task for task in plan.tasks}
        nodes = [node for node in plan.nodes if isinstance(node, TrialGroup)]
        self.groups = [
            Group(node.id, node.task, instance_name(node), node.cell, tasks[node.task].tags) for node in nodes
        ]
        self._sizes = np.array([node.trials for node in nodes], dtype=np.int64)
        self._starts = np.concatenate([[0], np.cumsum(self._sizes)]).astype(np.int64)
        self._number = {node.id: (at, int(self._starts[at]), node.trials) for at, node in enumerate(nodes)}
        self._clusters: dict[str, int] = {}
        self._latencies: list[Numbers] = []
        self._taken = 0
        self._trials: dict[str, NDArray[Any]] = {
            name: np.zeros((self.size, *kind.shape), dtype=kind.base) for name, kind in _kinds(_COLUMNS)
        }
        self._fill_plan([(tasks[n.task].cluster or n.task, tasks[n.task].split) for n in nodes])

    def _fill_plan(self, of_groups: Sequence[tuple[str, str]]) -> None:
        codes = np.repeat(np.arange(len(self.groups)), self._sizes)
        clusters = np.array([self._cluster(cluster) for cluster, _ in of_groups], dtype=np.int64)
        splits = np.array([SPLITS.index(split) for _, split in of_groups], dtype=np.int64)
        table = self._trials
        table["group"][:], table["planned"][:], table["within_budgets"][:] = codes, True, True
        table["number"][:] = np.arange(self.size) - self._starts[codes] + 1
        if self.size:
            table["cluster"][:], table["split"][:] = clusters[codes], splits[codes]
        for name in ("cost", "grading_cost", "user_cost", "measures"):
            table[name][:] = np.nan

    @property
    def size(self) -> int:
        """How many trials are planned."""
        return int(self._starts[-1])

    def place(self, trial: str) -> int | None:
        """The trial's place in the plan; None for one that the plan does not have."""
        group, _, number = trial.rpartition("#")
        found = self._number.get(group)
        if found is None or not number.isdecimal() or not number.isascii():
            return None
        at = int(number)
        return found[1] + at - 1 if 1 <= at <= found[2] else None

    def group_of(self, place: int) -> tuple[Group, int]:
        """The group of a trial, and the place of its first one."""
        at = int(self._trials["group"][place])
        return self.groups[at], int(self._starts[at])

    def codes(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Number of the group of each."""
        found: NDArray[np.int64] = self._trials["group"][places].astype(np.int64)
        return found

    def drop(self, places: NDArray[np.int64]) -> None:
        self._trials["planned"][places] = False

    def put(self, places: NDArray[np.int64], numbers: Records, latencies: Numbers, lengths: NDArray[np.int64]) -> None:
        """What became of trials: `numbers` as `NUMBERS`, and `lengths` of `latencies` (ms) for each in turn."""
        table = self._trials
        for name in NUMBERS.names or ():
            table[name][places] = numbers[name]
        table["recorded"][places] = True
        table["latencies"][places] = lengths
        table["first_latency"][places] = self._taken + np.cumsum(lengths) - lengths
        self._latencies.append(latencies)
        self._taken += len(latencies)

    def tell(self, places: NDArray[np.int64], cluster: str, repeated: bool, on_judge: bool) -> None:
        """What trials that are alike share. A repeat of an earlier one counts in nothing but the number of repeats."""
        table = self._trials
        table["cluster"][places] = self._cluster(cluster)
        table["repeated"][places], table["planned"][places] = repeated, not repeated
        table["on_judge"][places] = on_judge

    def fill(self, **columns: NDArray[Any]) -> None:
        """All trials at once, as recorded and testable, from columns in order of the plan; for simulations."""
        for name, values in {"recorded": True, "testable": True, "turns": 1, **columns}.items():
            self._trials[name][:] = values

    def frame(self) -> Frame:
        """The trials that count, and how many were left out as repeats is in `repeats`."""
        instances = list(dict.fromkeys(group.instance for group in self.groups))
        number = {instance: at for at, instance in enumerate(instances)}
        return Frame(
            groups=self.groups,
            instance_of=np.array([number[group.instance] for group in self.groups], dtype=np.int64),
            instances=instances,
            clusters=list(self._clusters),
            latencies=np.concatenate(self._latencies) if self._latencies else np.zeros(0),
            columns=self._trials,
            at=None if self._trials["planned"].all() else np.flatnonzero(self._trials["planned"]),
        )

    def repeats(self) -> dict[tuple[str, str], int]:
        """(cell, split) -> how many trials were repeats of another one."""
        places = np.flatnonzero(self._trials["repeated"])
        found: dict[tuple[str, str], int] = {}
        for group, split in zip(*(self._trials[name][places].tolist() for name in ("group", "split")), strict=True):
            key = (self.groups[group].cell, SPLITS[split])
            found[key] = found.get(key, 0) + 1
        return found

    def _cluster(self, name: str) -> int:
        return self._clusters.setdefault(name, len(self._clusters))


def as_if(frame: Frame, scenario: Scenario) -> Frame:
    """The testable trials as they are; or all, with what is missing counted against or for the agent.

    The worst case also takes back passes that rest on a missing verdict. What rests on a doubted judge counts as missing does,
    but for what no judge decides: a critical violation, too many calls.
    """
    if scenario == "as it is":
        return frame.where(frame["testable"])
    best = scenario == "best"
    missing, takes_back = ~frame["testable"], frame["on_missing"] & (not best)
    found = {name: np.where(missing, best, frame[name]) & ~takes_back for name in ("success", "correct")}
    doubted = frame["doubted"]
    if doubted.any():
        open_ = doubted & ~frame["critical"]
        found["success"][open_ & (frame["printed"] != PRINTED.index("too_many_calls"))] = best
        found["correct"][open_] = best
    return frame.assuming(testable=np.ones(len(frame), dtype=bool), **found)


def _kinds(dtype: np.dtype[np.void]) -> Iterator[tuple[str, np.dtype[Any]]]:
    for name in dtype.names or ():
        yield name, dtype[name]
