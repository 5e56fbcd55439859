"""Semantics: who needs whose value, cycles among them, and the harvests each task needs in the end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from mcpeval_dsl.diagnostics.model import Label
from mcpeval_dsl.semantics.problems import Problems
from mcpeval_dsl.semantics.symbols import Symbol, noun
from mcpeval_dsl.source import Span

Uses = Mapping[int, tuple[Symbol, Span]]
CARRIERS = frozenset({"let", "harvest", "environment", "table", "loop variable"})


@dataclass(slots=True)
class Dependencies:
    """Edges from a definition to the definitions its text mentions, each with the place of the mention."""

    edges: dict[int, tuple[Symbol, list[tuple[Symbol, Span]]]] = field(default_factory=dict)
    _harvests: dict[int, tuple[str, ...]] = field(default_factory=dict)

    def add(self, symbol: Symbol, uses: Uses, more: Iterable[tuple[Symbol, Span]] = ()) -> None:
        itself = symbol if symbol.kind == "loop variable" else None
        found = [use for use in uses.values() if use[0].kind in CARRIERS and use[0] is not itself]
        found.extend(more)
        self.edges[id(symbol)] = (symbol, found)

    def harvests(self, uses: Iterable[Symbol]) -> tuple[str, ...]:
        """Ids of the harvests reached through lets, tables and environments, in order of first mention."""
        found: dict[str, None] = {}
        seen: set[int] = set()
        pending = list(uses)[::-1]
        while pending:
            symbol = pending.pop()
            if id(symbol) in seen:
                continue
            seen.add(id(symbol))
            if symbol.kind == "harvest":
                found[symbol.id] = None
                continue
            _, targets = self.edges.get(id(symbol), (symbol, []))
            pending.extend(target for target, _ in reversed(targets))
        return tuple(found)


def report_cycles(dependencies: Dependencies, problems: Problems) -> set[int]:
    """Report each circle once, as a path with the place of every step; gives the members."""
    state: dict[int, int] = {}
    members: set[int] = set()
    for key in dependencies.edges:
        if key not in state:
            _search(key, dependencies, state, members, problems)
    return members


def _search(
    start: int, dependencies: Dependencies, state: dict[int, int], members: set[int], problems: Problems
) -> None:
    """Depth-first without recursion: 1 on the way, 2 finished."""
    path: list[tuple[int, Span | None]] = [(start, None)]
    iterators = [iter(dependencies.edges[start][1])]
    state[start] = 1
    while iterators:
        for target, span in iterators[-1]:
            key = id(target)
            if state.get(key) == 1:
                position = next(i for i, (other, _) in enumerate(path) if other == key)
                cycle = path[position:]
                if not any(k in members for k, _ in cycle):
                    members.update(k for k, _ in cycle)
                    _report(dependencies, cycle, span, problems)
            elif key not in state and key in dependencies.edges:
                state[key] = 1
                path.append((key, span))
                iterators.append(iter(dependencies.edges[key][1]))
                break
        else:
            state[path.pop()[0]] = 2
            iterators.pop()


def _report(dependencies: Dependencies, cycle: list[tuple[int, Span | None]], back: Span, problems: Problems) -> None:
    symbols = [dependencies.edges[key][0] for key, _ in cycle]
    spans = [span for _, span in cycle[1:] if span is not None] + [back]
    shown = " → ".join([*(s.name for s in symbols), symbols[0].name])
    labels = tuple(
        Label(span.location(), f"{noun(symbol.kind)[2:].strip()} `{symbol.name}` needs `{following.name}`")
        for symbol, following, span in zip(symbols, [*symbols[1:], symbols[0]], spans, strict=True)
    )
    problems.report(
        "MCPE301",
        spans[0],
        f"these need each other's value: {shown}",
        "Values are read in an order; a circle has none.",
        "let one of them read its value without the others",
        labels=labels,
    )
