"""Before the script driver: a YAML text as values that know their place, with caps on size, depth and aliases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.frozen import dataclass
from mcpeval_dsl.source import Location
from mcpeval_dsl.values.nesting import MOST_BITS

MAX_CHARS = 1_000_000
MAX_DEPTH = 40
MAX_NODES = 50_000
MAX_ALIASES = 200
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Placed:
    """A value at its place. A mapping's value is a dict of texts to (place of the key, Placed); a list's a list of Placed."""

    at: Location
    value: Any

    @property
    def kind(self) -> str:
        if isinstance(self.value, dict):
            return "a mapping"
        if isinstance(self.value, list):
            return "a list"
        if self.value is None:
            return "nothing"
        if isinstance(self.value, bool):
            return "true or false"
        return {str: "a text", int: "a number", float: "a number"}.get(type(self.value), type(self.value).__name__)

    def plain(self) -> Any:
        """The value without places."""
        if isinstance(self.value, dict):
            return {key: item.plain() for key, (_, item) in self.value.items()}
        if isinstance(self.value, list):
            return [item.plain() for item in self.value]
        return self.value


Members = Mapping[str, tuple[Location, Placed]]


class ScriptFault(Exception):
    """One thing wrong in a script file; becomes a diagnostic at the edge of loading."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.title)
        self.diagnostic = diagnostic


def fault(code: str, at: Location, title: str, body: str = "", hint: str = "") -> ScriptFault:
    return ScriptFault(Diagnostic(code, title, at, body, hint))


def members_of(placed: Placed, keys: tuple[str, ...], noun: str) -> Members:
    """Members of a mapping with only these keys. Raises ScriptFault."""
    from mcpeval_dsl.diagnostics.suggestions import closest

    if not isinstance(placed.value, dict):
        raise fault(
            "MCPE522", placed.at, f"a {noun} is {placed.kind} here", f"A {noun} has the keys {', '.join(keys)}."
        )
    members: Members = placed.value
    for key, (at, _) in members.items():
        if key not in keys:
            near = closest(key, keys)
            hint = f"Write `{near}`." if near else f"Use one of {', '.join(keys)}."
            raise fault("MCPE522", at, f"a {noun} has no {key!r}", f"Its keys are {', '.join(keys)}.", hint)
    return members


def read_yaml(path: str, text: str) -> Placed:
    """The document of a text. Raises ScriptFault: not YAML, too large, too deep, a key twice, a key that is no text."""
    start = Location(path, 1, 1, 1, 2)
    if len(text) > MAX_CHARS:
        raise fault("MCPE521", start, f"the script has {len(text)} characters", f"At most {MAX_CHARS} are read.")
    try:
        _measure(path, text)
        node = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        at = _place(path, mark, mark) if mark is not None else start
        raise fault("MCPE521", at, f"the script is not YAML: {error.problem or 'it cannot be read'}") from None
    except yaml.YAMLError as error:
        raise fault("MCPE521", start, f"the script is not YAML: {str(error).splitlines()[0]}") from None
    if node is None:
        raise fault("MCPE521", start, "the script is empty", "", "Begin it with `tasks:`.")
    return _Reader(path).read(node, 0)


def _measure(path: str, text: str) -> None:
    """Counts before anything is built, so that a bomb is refused at the cost of reading it once."""
    depth = nodes = aliases = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            depth += 1
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            depth -= 1
        aliases += isinstance(event, yaml.AliasEvent)
        nodes += isinstance(event, yaml.NodeEvent)
        if depth > MAX_DEPTH or nodes > MAX_NODES or aliases > MAX_ALIASES:
            at = _place(path, event.start_mark, event.end_mark)
            limits = f"At most {MAX_DEPTH} levels, {MAX_NODES} values and {MAX_ALIASES} aliases are read."
            raise fault("MCPE521", at, "the script is nested or repeated too much", limits)


class _Reader:
    """Turns nodes into values. Values under an alias are counted each time they are met."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._count = 0
        self._scalars = yaml.SafeLoader("")

    def read(self, node: yaml.Node, depth: int) -> Placed:
        at = _place(self._path, node.start_mark, node.end_mark)
        self._count += 1
        if depth > MAX_DEPTH or self._count > MAX_NODES:
            raise fault(
                "MCPE521", at, "the script is nested or repeated too much", f"At most {MAX_NODES} values are read."
            )
        if not isinstance(node, yaml.ScalarNode) and node.tag not in ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"):
            raise fault("MCPE521", at, f"a value of the kind {node.tag!r}, which scripts do not have")
        if isinstance(node, yaml.MappingNode):
            return Placed(at, dict(self._pairs(node, depth)))
        if isinstance(node, yaml.SequenceNode):
            return Placed(at, [self.read(item, depth + 1) for item in node.value])
        return Placed(at, self._scalar(node, at))

    def _pairs(self, node: yaml.MappingNode, depth: int) -> Iterator[tuple[str, tuple[Location, Placed]]]:
        seen: set[str] = set()
        for key_node, value_node in node.value:
            at = _place(self._path, key_node.start_mark, key_node.end_mark)
            key = self._scalar(key_node, at) if isinstance(key_node, yaml.ScalarNode) else None
            if isinstance(key, int) and not isinstance(key, bool):
                key = str(key)
            if not isinstance(key, str):
                raise fault(
                    "MCPE521", at, "a key that is no text", "Keys are texts or whole numbers.", "Quote the key."
                )
            if key in seen:
                raise fault("MCPE521", at, f"{key!r} stands twice", "A key may stand once.", "Delete one of them.")
            seen.add(key)
            yield key, (at, self.read(value_node, depth + 1))

    def _scalar(self, node: yaml.Node, at: Location) -> Any:
        # Dates stay texts: a script means what it shows.
        if node.tag == "tag:yaml.org,2002:timestamp":
            return node.value
        try:
            value = self._scalars.construct_object(node)
        except (yaml.YAMLError, ValueError):
            raise fault("MCPE521", at, f"a value of the kind {node.tag!r}, which scripts do not have") from None
        if not isinstance(value, (str, int, float, bool, type(None))):
            raise fault("MCPE521", at, f"a value of the kind {node.tag!r}, which scripts do not have")
        if isinstance(value, int) and value.bit_length() > MOST_BITS:
            raise fault("MCPE521", at, "a number of too many digits", "", "Quote it to make it a text.")
        return value


def _place(path: str, start: Any, end: Any) -> Location:
    return Location(path, start.line + 1, start.column + 1, end.line + 1, max(end.column + 1, 1))
