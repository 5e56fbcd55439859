"""A suite with every name bound: texts that a task plants where its agent will read them, and what shows that it obeyed.

Part of the task in `semantics.model`.
"""

from __future__ import annotations

from typing import Literal as Word

from mcpeval_dsl.frozen import dataclass
from mcpeval_dsl.semantics.expressions import AnyPattern, Condition, Expression
from mcpeval_dsl.source import Location


@dataclass(frozen=True, slots=True)
class Inject:
    """`text` planted in results of calls that `patterns` speak of, in the `target` file or slot, or in descriptions.

    In a result `into` (a JSONPath) or `replace` (a regular expression) say where, else it is added at the end; `nth`
    (from 1) says at which of the calls, else at every one. `marker` is the place in a file. `obeyed` and `states` are
    what shows that the agent did as it was told.
    """

    place: Word["result", "file", "slot", "description"]
    text: Expression
    patterns: tuple[AnyPattern, ...] = ()
    target: Expression | None = None
    into: Expression | None = None
    replace: Expression | None = None
    marker: str | None = None
    nth: int | None = None
    obeyed: tuple[AnyPattern, ...] = ()
    states: tuple[Condition, ...] = ()
    at: Location | None = None
