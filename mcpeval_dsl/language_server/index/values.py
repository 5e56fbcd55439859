"""Language server, index: names in values, templates, conditions, sources and call patterns of one part."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mcpeval_dsl.language_server.index.model import Key, Occurrence, Role, depth
from mcpeval_dsl.language_server.index.scopes import Scope, field_keys, value_keys
from mcpeval_dsl.semantics import templates
from mcpeval_dsl.semantics.definitions import LITERALS
from mcpeval_dsl.semantics.directives.metrics import SEGMENTS
from mcpeval_dsl.semantics.directives.patterns import BEHAVIOURS, COMBINATORS, EFFECT_CLASSES
from mcpeval_dsl.semantics.directives.variables import ERROR_CLASSES
from mcpeval_dsl.semantics.expressions import CONSTANTS
from mcpeval_dsl.semantics.shape.items import bare
from mcpeval_dsl.source import Span
from mcpeval_dsl.syntax import tree

AXES = ("model", "host", "server", "arm")
SERVERS = ("server", "catalogue")
_NAMED_AXES: dict[str, tuple[str, ...]] = {
    "model": ("model",),
    "host": ("host",),
    "server": SERVERS,
    "arm": ("arm",),
    "task": ("task",),
}
_WORD_AXES = ("split", "kind", "purpose")
_DEEPEST = 8
_MEMBERS = ("arm", "server", "model", "host")


def name_keys(kinds: Iterable[str], name: str) -> tuple[Key, ...]:
    """Keys of a bare word that names one of `kinds`."""
    spaces = ["value" if kind in ("harvest", "table", "let") else kind for kind in kinds]
    if "catalogue" in spaces and "server" not in spaces:
        spaces.insert(0, "server")  # a server is its own catalogue
    return tuple(dict.fromkeys((space, name) for space in spaces))


def written(name: tree.Name | tree.String | tree.Glob) -> str:
    """A name without its quotes."""
    return name.value if isinstance(name, tree.String) else name.text


def inner(name: tree.Name | tree.String | tree.Glob) -> Span:
    """The place of a name without its quotes."""
    if isinstance(name, tree.String) and name.offsets:
        return Span(name.span.file, name.offsets[0], name.offsets[-1])
    return name.span


class Values:
    """Collects occurrences; statements are walked by `walking`."""

    def __init__(self) -> None:
        self.found: list[Occurrence] = []

    def add(
        self, span: Span, role: Role, name: str, keys: tuple[Key, ...] = (), detail: str = "", *, defines: bool = False
    ) -> None:
        self.found.append(Occurrence(span.start, span.end, role, name, keys, defines, detail))

    def value(self, item: tree.Item, scope: Scope) -> None:
        """Names in a value or a condition."""
        if isinstance(item, tree.String):
            self.text(item, scope)
        elif isinstance(item, tree.Ref):
            self.ref(item, scope)
        elif isinstance(item, tree.ListValue):
            for member in item.items:
                self.value(member, scope)
        elif isinstance(item, tree.ObjectValue):
            for pair in item.pairs:
                self.add(inner(pair.key), "key", written(pair.key))
                self.value(pair.value, scope)
        elif isinstance(item, tree.Comparison):
            self.condition(item, scope)

    def text(self, text: tree.String, scope: Scope) -> None:
        """Names in the templates of a text."""
        if not text.has_templates or "{{" not in text.value:
            return
        offsets = text.offsets
        found = templates.read(text.value)
        for applied in found.functions:
            self.in_text(offsets, applied.start, applied.end, "function", applied.name, ())
        for mention in found.mentions:
            root = str(mention.root.key)
            if root.lower() in LITERALS:
                self.in_text(offsets, mention.root.start, mention.root.end, "constant", root, ())
                continue
            self.in_text(offsets, mention.root.start, mention.root.end, "symbol", root, value_keys(scope, root))
            keys = field_keys
            trail: tuple[Key, ...] = ()
            for number, step in enumerate(mention.steps):
                if not isinstance(step.key, str):
                    break
                trail = keys(scope, root, step.key) if number == 0 else _deeper(trail, step.key)
                quoted = step.end - step.start - len(step.key)
                start = step.start + quoted // 2
                self.in_text(offsets, start, step.end - quoted // 2, "field", step.key, trail)

    def in_text(
        self, offsets: Sequence[int], start: int, end: int, role: Role, name: str, keys: tuple[Key, ...]
    ) -> None:
        self.found.append(Occurrence(offsets[start], offsets[end - 1] + 1, role, name, keys, False, "", True))

    def ref(self, ref: tree.Ref, scope: Scope) -> None:
        """A name with fields and indexes, a function, or a tool call."""
        root = ref.root
        if isinstance(root, tree.Glob):
            return
        first = ref.postfixes[0] if ref.postfixes else None
        if isinstance(first, tree.CallSuffix):
            self.function(root, first, scope)
            self.postfixes(ref.postfixes[1:], (), scope)
            return
        second = ref.postfixes[1] if len(ref.postfixes) > 1 else None
        if isinstance(first, tree.Field) and isinstance(second, tree.CallSuffix):
            self.tool_call(root, first, second, scope)
            self.postfixes(ref.postfixes[2:], (), scope)
            return
        if root.text in CONSTANTS and first is None:
            self.add(root.span, "constant", root.text)
            return
        self.add(root.span, "symbol", root.text, value_keys(scope, root.text))
        if isinstance(first, tree.Field) and not isinstance(first.name, tree.Glob):
            keys = field_keys(scope, root.text, written(first.name))
            self.add(inner(first.name), "field", written(first.name), keys)
            self.postfixes(ref.postfixes[1:], keys, scope)
        else:
            self.postfixes(ref.postfixes, (), scope)

    def postfixes(self, postfixes: Sequence[tree.Postfix], owner: tuple[Key, ...], scope: Scope) -> None:
        for postfix in postfixes:
            if isinstance(postfix, tree.Field):
                owner = _deeper(owner, written(postfix.name))
                self.add(inner(postfix.name), "field", written(postfix.name), owner)
            elif isinstance(postfix, tree.Index):
                owner = ()
                self.value(postfix.value, scope)
            else:
                for argument in postfix.arguments:
                    self.value(argument.value, scope)

    def function(self, root: tree.Name, suffix: tree.CallSuffix, scope: Scope) -> None:
        name = root.text
        self.add(root.span, "function", name)
        for number, argument in enumerate(suffix.arguments):
            if argument.name is not None:
                self.add(inner(argument.name), "parameter", written(argument.name), (), name)
            server = bare(argument.value)
            if name == "resource" and number == 0 and server is not None and argument.name is None:
                self.add(argument.value.span, "symbol", server, name_keys(SERVERS, server))
            else:
                self.value(argument.value, scope)

    def tool_call(self, root: tree.Name, field: tree.Field, suffix: tree.CallSuffix, scope: Scope) -> None:
        """`server.tool(argument: value)`."""
        self.add(root.span, "symbol", root.text, name_keys(SERVERS, root.text))
        tool = written(field.name)
        self.add(inner(field.name), "tool", tool, (("tool", tool),), root.text)
        self.arguments(f"{root.text}.{tool}", suffix, scope)

    def arguments(self, callee: str, suffix: tree.CallSuffix, scope: Scope) -> None:
        tool = callee.partition(".")[2]
        for argument in suffix.arguments:
            if argument.name is not None:
                name = written(argument.name)
                self.add(inner(argument.name), "argument", name, (("argument", tool, name),), callee)
            self.value(argument.value, scope)

    def condition(self, item: tree.Comparison, scope: Scope) -> None:
        """`value OPERATOR value`; an axis of the cell is compared with a bare word."""
        axis = bare(item.left)
        if axis in SEGMENTS and scope.find(axis) is None and _words(item.right):
            self.segment(item, scope)
            return
        if axis == "class" and bare(item.right) in ERROR_CLASSES:
            self.add(item.left.span, "symbol", axis, (("variable", axis),))
            self.add(item.right.span, "word", bare(item.right) or "", (), axis)
            return
        self.value(item.left, scope)
        self.value(item.right, scope)

    def segment(self, item: tree.Comparison, scope: Scope) -> None:
        """`axis OPERATOR word`."""
        axis = bare(item.left)
        if axis is None:
            self.value(item.left, scope)
            self.value(item.right, scope)
            return
        if axis in SEGMENTS:
            self.add(item.left.span, "axis", axis, (("axis", axis),))
        else:
            self.add(item.left.span, "symbol", axis, value_keys(scope, axis))
        members = item.right.items if isinstance(item.right, tree.ListValue) else (item.right,)
        for member in members:
            self.member(axis, member, scope)

    def member(self, axis: str, item: tree.Value, scope: Scope) -> None:
        """What an axis is compared with, or made of."""
        name = bare(item)
        if name is None or name in CONSTANTS:
            self.value(item, scope)
        elif axis in _NAMED_AXES:
            self.add(item.span, "symbol", name, name_keys(_NAMED_AXES[axis], name))
        elif axis in ("tag", "cluster", "difficulty"):
            self.add(item.span, "tag", name, ((axis, name),))
        elif axis in _WORD_AXES:
            self.add(item.span, "word", name, (), axis)
        else:
            self.value(item, scope)

    def metric(self, item: tree.Comparison, scope: Scope) -> None:
        """`metric OPERATOR quantity`."""
        left = item.left
        if not isinstance(left, tree.Ref):
            self.add(left.span, "metric", left.span.text)
            return
        call = next((p for p in left.postfixes if isinstance(p, tree.CallSuffix)), None)
        fields = [p for p in left.postfixes if isinstance(p, tree.Field)]
        name = ".".join([left.root.text, *(written(f.name) for f in fields)])
        if call is None:
            self.add(left.span, "metric", name)
            return
        self.add(left.root.span, "metric", name)
        for argument in call.arguments:
            member = bare(argument.value)
            if member is not None and left.root.text == "gap":
                self.add(argument.value.span, "word", member, (), "split")
            elif member is not None:
                self.add(argument.value.span, "symbol", member, name_keys(_MEMBERS, member))

    def pattern(self, item: tree.Item, scope: Scope, catalogue: str = "") -> None:
        """A call pattern; `catalogue` is whose tools bare names mean."""
        if isinstance(item, tree.String):
            self.add(inner(item), "tool", item.value, (("tool", item.value),), catalogue)
        if not isinstance(item, tree.Ref):
            return
        root, first = item.root, item.postfixes[0] if item.postfixes else None
        suffix = item.postfixes[-1] if item.postfixes else None
        if isinstance(first, tree.Field):
            self.qualified(item, first, scope)
        elif isinstance(root, tree.Name):
            self.bare_pattern(root, suffix, scope, catalogue)
        elif isinstance(suffix, tree.CallSuffix):
            self.arguments(f"{catalogue}.{root.text}", suffix, scope)

    def bare_pattern(self, root: tree.Name, suffix: tree.Postfix | None, scope: Scope, catalogue: str) -> None:
        name = root.text
        if isinstance(suffix, tree.CallSuffix) and name in COMBINATORS:
            self.add(root.span, "combinator", name)
            for argument in suffix.arguments:
                if argument.name is None and not isinstance(argument.value, tree.Comparison):
                    self.pattern(argument.value, scope, catalogue)
                else:
                    self.value(argument.value, scope)
        elif suffix is None and name in BEHAVIOURS:
            self.add(root.span, "behaviour", name)
        elif suffix is None and (name in EFFECT_CLASSES or name == "confirm"):
            self.add(root.span, "effect", name)
        elif suffix is None and scope.find(name) is not None:
            self.add(root.span, "symbol", name, value_keys(scope, name))
        else:
            self.add(root.span, "tool", name, (("tool", name),), catalogue)
            if isinstance(suffix, tree.CallSuffix):
                self.arguments(f"{catalogue}.{name}", suffix, scope)

    def qualified(self, item: tree.Ref, field: tree.Field, scope: Scope) -> None:
        """`server.tool`, with or without arguments; or a row's field that holds a tool's name."""
        root = item.root.text
        if scope.find(root) is not None:
            self.ref(item, scope)
            return
        self.add(item.root.span, "symbol", root, (*name_keys(SERVERS, root), ("value", root)))
        tool = written(field.name)
        if not isinstance(field.name, tree.Glob):
            self.add(inner(field.name), "tool", tool, (("tool", tool),), root)
        last = item.postfixes[-1]
        if isinstance(last, tree.CallSuffix):
            self.arguments(f"{root}.{tool}", last, scope)


def _deeper(owner: tuple[Key, ...], name: str) -> tuple[Key, ...]:
    """Keys of a field of what `owner` names; none so deep that no block declares it."""
    return tuple(("field", key, name) for key in owner if depth(key) < _DEEPEST)


def _words(item: tree.Item) -> bool:
    """Bare words, as axes are compared with."""
    if isinstance(item, tree.ListValue):
        return bool(item.items) and all(bare(i) is not None for i in item.items)
    return bare(item) is not None
