"""Score: one of two runs that are compared, and how the trials of the other are brought into its table."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from mcpeval_dsl.plan.model import Plan
from mcpeval_dsl.records.model import ConnectRecord, Manifest
from mcpeval_dsl.score import model
from mcpeval_dsl.score.frame import Frame


@dataclass(frozen=True, slots=True)
class Side:
    """A run with all that a comparison reads. `manifest` is None for trials that no run folder holds; `repeats` are trials that
    only play another one back, `answered` the provider's names of what answered in each cell, `began` an ISO 8601 text."""

    name: str
    plan: Plan
    frame: Frame
    safety: model.Safety
    leads: Sequence[model.LeadRow]
    connects: Sequence[ConnectRecord] = ()
    manifest: Manifest | None = None
    repeats: int = 0
    answered: Mapping[str, Collection[str]] = field(default_factory=dict)
    began: str = ""


def aligned(frame: Frame, onto: Frame) -> Frame:
    """The same trials with the codes that `onto` gives its task instances; instances it lacks get codes after those."""
    names = dict.fromkeys(onto.instances)
    names.update(dict.fromkeys(frame.instances))
    code = {name: number for number, name in enumerate(names)}
    mapped = np.array([code[group.instance] for group in frame.groups], dtype=np.int64)
    return replace(frame, instance_of=mapped, instances=list(names))


def matched_cells(plan: Plan, other: Plan) -> Mapping[str, str]:
    """Cell of `plan` -> cell of `other`: of the same name, or the only one left over on either side."""
    names, others = [cell.id for cell in plan.cells], [cell.id for cell in other.cells]
    found = {name: name for name in names if name in others}
    left, rest = [n for n in names if n not in found], [n for n in others if n not in found]
    if len(left) == len(rest) == 1:
        found[left[0]] = rest[0]
    return found
