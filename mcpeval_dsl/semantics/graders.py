"""What each `grade` line asks for, bound and typed; the room `grade` has one module for each `kind`."""

from __future__ import annotations

from typing import Literal as Word
from typing import TypeAlias

from mcpeval_dsl.frozen import dataclass
from mcpeval_dsl.semantics.expressions import AnyPattern, Condition, Entry, Expression, Source
from mcpeval_dsl.source import Location


@dataclass(frozen=True, slots=True)
class Normalisation:
    """How two answers are made comparable before they are compared; named by the spec, nothing is implied.

    `ignore` holds case, whitespace, punctuation, commas; `ignore_paths` JSONPaths or globs left out of a state.
    `numbers_within` is a fraction.
    """

    ignore: tuple[str, ...] = ()
    ignore_paths: tuple[Expression, ...] = ()
    format: str | None = None
    reading: Word["date", "number", "json", "groups"] | None = None
    unordered: bool = False
    numbers_within: float | None = None
    any_message: bool = False


@dataclass(frozen=True, slots=True)
class Common:
    """What every grader has: `id` is stable within the task (`g1`, `g2`, … in order of the text, `g3.1` inside any).

    `timeout` (s) is for the graders that ask something outside: judge, command, python.
    """

    id: str
    weight: float = 1.0
    normalisation: Normalisation = Normalisation()
    text: str = ""
    at: Location | None = None
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class Exact:
    common: Common
    expected: Expression
    negated: bool = False
    kind: Word["exact"] = "exact"


@dataclass(frozen=True, slots=True)
class OneOf:
    common: Common
    expected: Expression
    kind: Word["one_of"] = "one_of"


@dataclass(frozen=True, slots=True)
class Contains:
    """All of `expected`; negated: none of them."""

    common: Common
    expected: tuple[Expression, ...]
    negated: bool = False
    kind: Word["contains"] = "contains"


@dataclass(frozen=True, slots=True)
class Regex:
    common: Common
    pattern: str
    flags: str = ""
    negated: bool = False
    kind: Word["regex"] = "regex"


@dataclass(frozen=True, slots=True)
class Number:
    """`within` is absolute, or a fraction of the expected number where its unit is percent."""

    common: Common
    expected: Expression
    within: Expression | None = None
    kind: Word["number"] = "number"


@dataclass(frozen=True, slots=True)
class SetOf:
    common: Common
    expected: Expression
    kind: Word["set"] = "set"


@dataclass(frozen=True, slots=True)
class Json:
    """A condition over the answer read as JSON (`$`)."""

    common: Common
    condition: Condition
    kind: Word["json"] = "json"


@dataclass(frozen=True, slots=True)
class State:
    """A condition whose left side reads a source, a truth or a harvest at the end of the trial."""

    common: Common
    condition: Condition
    session: Word["fresh", "same"] = "fresh"
    kind: Word["state"] = "state"


@dataclass(frozen=True, slots=True)
class SameState:
    """Equal to the state after `reference` in a second fresh environment, in every view."""

    common: Common
    views: tuple[Source, ...]
    session: Word["fresh", "same"] = "fresh"
    kind: Word["same_state"] = "same_state"


@dataclass(frozen=True, slots=True)
class Unchanged:
    common: Common
    source: Source
    excepted: tuple[Expression, ...] = ()
    session: Word["fresh", "same"] = "fresh"
    kind: Word["unchanged"] = "unchanged"


@dataclass(frozen=True, slots=True)
class ResultsHasReference:
    """The tool results the agent got contain the results of the reference calls."""

    common: Common
    kind: Word["results"] = "results"


@dataclass(frozen=True, slots=True)
class Calls:
    common: Common
    patterns: tuple[AnyPattern, ...]
    kind: Word["calls"] = "calls"


@dataclass(frozen=True, slots=True)
class Evidence:
    """The facts of the answer came from tool results."""

    common: Common
    kind: Word["evidence"] = "evidence"


@dataclass(frozen=True, slots=True)
class Claim:
    text: Expression
    weight: float = 1.0
    disclose: bool = False
    from_file: bool = False
    at: Location | None = None


@dataclass(frozen=True, slots=True)
class Judge:
    """Claims judged by a model. `threshold` is the share of weight that must hold."""

    common: Common
    claims: tuple[Claim, ...]
    model: str
    threshold: float = 1.0
    repeats: int = 1
    second: str | None = None
    transcript: Word["whole", "answer"] = "answer"
    kind: Word["judge"] = "judge"

    @property
    def reads_whole(self) -> bool:
        """Whether it is shown the transcript, not the last answer alone."""
        return self.transcript == "whole" or self.common.normalisation.any_message


@dataclass(frozen=True, slots=True)
class Labelled:
    """One answer with people's verdict on one claim about it; `task` is what was asked, `whole`: a transcript, no answer.

    `line` says where in the file it stands: a line of JSON Lines or CSV, else the number of the entry.
    """

    claim: str
    answer: str
    holds: bool
    task: str = ""
    whole: bool = False
    line: int = 0


@dataclass(frozen=True, slots=True)
class Calibration:
    """By what a judge is measured, and the least κ at which its verdicts count."""

    judge: str
    path: str
    labels: tuple[Labelled, ...]
    kappa: float = 0.6
    at: Location | None = None


@dataclass(frozen=True, slots=True)
class CommandVerdict:
    """Exit code `exit` (0) or a JSON verdict {"verdict": "yes|no", "reason": …} on stdout."""

    common: Common
    argv: tuple[Expression, ...]
    exit: int = 0
    env: tuple[Entry, ...] = ()
    kind: Word["command"] = "command"


@dataclass(frozen=True, slots=True)
class Python:
    """`module:function`, called with the trial's record as a dictionary."""

    common: Common
    function: str
    kind: Word["python"] = "python"


@dataclass(frozen=True, slots=True)
class AnyOf:
    common: Common
    graders: tuple[Grader, ...]
    kind: Word["any"] = "any"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Made from `expect refusal`: there a refusal is what is asked for."""

    common: Common
    kind: Word["refusal"] = "refusal"


Grader: TypeAlias = (
    Exact
    | OneOf
    | Contains
    | Regex
    | Number
    | SetOf
    | Json
    | State
    | SameState
    | Unchanged
    | ResultsHasReference
    | Calls
    | Evidence
    | Judge
    | CommandVerdict
    | Python
    | AnyOf
    | Refusal
)
