"""Score: the planned trials of a run as one table of columns, small enough to hold a million of them.

One entry of `trials` is one planned trial, in order of the plan. `recorded` False: not run yet, which counts as untestable
in every bound. numpy is imported here, and this module by nothing that a command imports before it scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
Trials = NDArray[np.void]
Numbers = NDArray[np.float64]
INCONCLUSIVE_SHARE = 0.10
_MARKS = ("recorded", "planned", "repeated", "doubted", "on_judge")
NUMBERS = np.dtype(list(FIELDS))
"""The numbers of one trial, as a digest has them."""
_DTYPE = np.dtype(
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
    """Some of the planned trials with the tables that their codes point into."""

    groups: Sequence[Group]
    instance_of: NDArray[np.int64] = field(repr=False)
    instances: Sequence[str] = field(repr=False)
    clusters: Sequence[str] = field(repr=False)
    latencies: Numbers = field(repr=False)
    trials: Trials = field(repr=False)

    def __len__(self) -> int:
        return len(self.trials)

    def __getitem__(self, column: str) -> NDArray[Any]:
        return self.trials[column]

    def where(self, chosen: NDArray[Any]) -> Frame:
        """The trials of a mask or of positions."""
        return replace(self, trials=self.trials[chosen])

    def instance(self) -> NDArray[np.int64]:
        found: NDArray[np.int64] = self.instance_of[self.trials["group"]]
        return found

    def of_groups(self, chosen: NDArray[np.bool_]) -> Frame:
        """The trials of the groups that are marked."""
        return self.where(chosen[self.trials["group"]])

    def doubting(self) -> Frame:
        """The same, where trials that rest on a judge nobody should rest on count both ways (`as_if`)."""
        if not self.trials["on_judge"].any():
            return self
        trials = self.trials.copy()
        trials["doubted"] = trials["on_judge"]
        return replace(self, trials=trials)

    def first(self) -> Group:
        return self.groups[int(self.trials["group"][0])]

    def counted(self, name: str) -> NDArray[np.int64]:
        """A count of `records.CallCounts`, for each trial."""
        found: NDArray[np.int64] = self.trials["counts"][:, COUNTS.index(name)].astype(np.int64)
        return found

    def measured(self, name: str) -> Numbers:
        """A measure of `score.measures`, for each trial; NaN where there was nothing to measure."""
        found: Numbers = self.trials["measures"][:, NAMES.index(name)]
        return found

    def call_times(self) -> Numbers:
        """Durations (ms) of the calls of these trials."""
        lengths, starts = self.trials["latencies"].astype(np.int64), self.trials["first_latency"]
        if not len(lengths):
            return np.zeros(0)
        within = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return self.latencies[np.repeat(starts, lengths) + within]

    def printed(self) -> tuple[str, ...]:
        return tuple(PRINTED[code] for code in self.trials["printed"].tolist())

    def ended(self, printed: str) -> NDArray[np.bool_]:
        """Which trials have this printed outcome."""
        found: NDArray[np.bool_] = self.trials["printed"] == PRINTED.index(printed)
        return found

    def printed_counts(self) -> dict[str, int]:
        """How many trials each printed outcome has; 0 where none."""
        found = np.bincount(self.trials["printed"], minlength=len(PRINTED)).tolist()
        return dict(zip(PRINTED, found, strict=True))

    def by_group(self) -> Iterator[tuple[Group, Frame]]:
        """Trials of each task instance in each cell, in order of the plan."""
        codes = self.trials["group"]
        if not len(codes):
            return
        order = np.argsort(codes, kind="stable")
        cuts = np.flatnonzero(np.diff(codes[order])) + 1
        for positions in np.split(order, cuts):
            yield self.groups[int(codes[positions[0]])], self.where(positions)


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
        self._trials = np.zeros(int(self._starts[-1]), dtype=_DTYPE)
        self._fill_plan([(tasks[n.task].cluster or n.task, tasks[n.task].split) for n in nodes])

    def _fill_plan(self, of_groups: Sequence[tuple[str, str]]) -> None:
        codes = np.repeat(np.arange(len(self.groups)), self._sizes)
        clusters = np.array([self._cluster(cluster) for cluster, _ in of_groups], dtype=np.int64)
        splits = np.array([SPLITS.index(split) for _, split in of_groups], dtype=np.int64)
        table = self._trials
        table["group"], table["planned"], table["within_budgets"] = codes, True, True
        table["number"] = np.arange(len(table)) - self._starts[codes] + 1
        if len(table):
            table["cluster"], table["split"] = clusters[codes], splits[codes]
        for name in ("cost", "grading_cost", "user_cost", "measures"):
            table[name] = np.nan

    @property
    def size(self) -> int:
        """How many trials are planned."""
        return len(self._trials)

    def place(self, trial: str) -> int | None:
        """The trial's place in the plan; None for one that the plan does not have."""
        group, _, number = trial.rpartition("#")
        found = self._number.get(group)
        if found is None or not number.isascii() or not number.isdigit() or not 1 <= int(number) <= found[2]:
            return None
        return found[1] + int(number) - 1

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

    def put(self, places: NDArray[np.int64], numbers: Trials, latencies: Numbers, lengths: NDArray[np.int64]) -> None:
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
        self._trials["recorded"], self._trials["testable"], self._trials["turns"] = True, True, 1
        for name, values in columns.items():
            self._trials[name] = values

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
            trials=self._trials if self._trials["planned"].all() else self._trials[self._trials["planned"]],
        )

    def repeats(self) -> dict[tuple[str, str], int]:
        """(cell, split) -> how many trials were repeats of another one."""
        table = self._trials[self._trials["repeated"]]
        found: dict[tuple[str, str], int] = {}
        for group, split in zip(table["group"].tolist(), table["split"].tolist(), strict=True):
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
    trials = frame.trials.copy()
    missing = ~trials["testable"]
    for column in ("success", "correct"):
        trials[column][missing] = scenario == "best"
        if scenario == "worst":
            trials[column][trials["on_missing"]] = False
    if trials["doubted"].any():
        open_ = trials["doubted"] & ~trials["critical"]
        trials["success"][open_ & (trials["printed"] != PRINTED.index("too_many_calls"))] = scenario == "best"
        trials["correct"][open_] = scenario == "best"
    trials["testable"] = True
    return replace(frame, trials=trials)
