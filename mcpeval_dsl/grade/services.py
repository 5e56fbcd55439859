"""Grade, what the few graders that are not pure may use: a judge model, a directory for commands, the project's code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mcpeval_dsl.agents.model import Driver
from mcpeval_dsl.records.model import VerdictRecord
from mcpeval_dsl.semantics.graders import Judge
from mcpeval_dsl.values.processes import Wrap

OpenJudge = Callable[[str], Driver | None]


@dataclass(frozen=True, slots=True, order=True)
class JudgeSetting:
    """One way of asking: the judge model, how often, and the second judge that must agree (empty: none)."""

    judge: str
    repeats: int = 1
    second: str = ""


def setting_of(grader: Judge) -> JudgeSetting:
    return JudgeSetting(grader.model, max(1, grader.repeats), grader.second or "")


@dataclass(frozen=True, slots=True)
class GradeServices:
    """`judge` gives the driver of a judge model by its name in the spec (None: there is none).

    `workdir` is the trial's own directory while it stands; graded later, commands keep the verdict they gave then. `env` is all
    that a command sees. `settings` is (max_tokens, temperature) by judge. `wrap` puts the sandbox before a
    command. `unbelieved` says why the verdicts of judges that were measured do not count. Times in seconds.

    `kept` are verdicts of judges and commands by grader, which are not asked for again; None leaves that to the grader.
    """

    project: Path
    workdir: Path | None = None
    judge: OpenJudge | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict)
    judge_settings: Mapping[str, tuple[int, float | None]] = field(default_factory=dict)
    catalogues: Mapping[str, str] = field(default_factory=dict)
    unbelieved: Mapping[JudgeSetting, str] = field(default_factory=dict)
    judge_timeout: float = 60.0
    command_timeout: float = 60.0
    wrap: Wrap | None = None
    kept: Mapping[str, VerdictRecord] | None = None
