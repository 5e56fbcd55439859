"""Language server, completion: the operands of a directive as a snippet, from the table."""

from __future__ import annotations

from mcpeval_dsl.semantics.directives import Directive, block_kind
from mcpeval_dsl.semantics.directives import operands as op
from mcpeval_dsl.semantics.directives.blocks import GRADERS
from mcpeval_dsl.semantics.directives.wording import UNITS


class _Writer:
    """Numbers the places to fill in, in order."""

    def __init__(self) -> None:
        self.count = 0

    def place(self, text: str) -> str:
        self.count += 1
        return f"${{{self.count}:{_escaped(text)}}}"

    def choice(self, words: tuple[str, ...]) -> str:
        self.count += 1
        listed = ",".join(word.replace("\\", "\\\\").replace(",", "\\,").replace("|", "\\|") for word in words)
        return f"${{{self.count}|{listed}|}}"

    def operand(self, operand: op.Operand) -> str:
        """What must be written; what may be left out is left out."""
        if isinstance(operand, op.Sequence):
            return " ".join(text for part in operand.parts if (text := self.operand(part)))
        if isinstance(operand, (op.Maybe, op.Options)):
            return ""
        if isinstance(operand, op.Choice):
            return self.operand(next((p for p in reversed(operand.parts) if p != op.NOTHING), op.NOTHING))
        if isinstance(operand, op.Commas):
            return self.operand(operand.part)
        return self.leaf(operand)

    def leaf(self, leaf: op.Leaf) -> str:
        if isinstance(leaf, op.Word):
            return leaf.words[0] if len(leaf.words) == 1 else self.choice(leaf.words[:30])
        if isinstance(leaf, (op.Quoted, op.TextValue)):
            return f'"{self.place(leaf.what.strip(_QUOTE))}"'
        if isinstance(leaf, op.Quantity):
            return self.place(UNITS[leaf.unit].example)
        if isinstance(leaf, (op.Limit, op.Below)):
            name = f"{leaf.name} " if isinstance(leaf, op.Limit) else ""
            return f"{name}<= {self.place(UNITS[leaf.unit].example)}"
        if isinstance(leaf, op.Assign):
            value = 'server.tool(argument: "value")' if leaf.value == "source" else "value"
            return f"{self.place('name')} = {self.place(value)}"
        if isinstance(leaf, op.Grader):
            return f"{self.choice(GRADERS)} {self.place('value')}"
        return self.place(_PLACES.get(type(leaf)) or _named(leaf))


_QUOTE = '"'
_PLACES: dict[type, str] = {
    op.Value: "value",
    op.ListValue: "[]",
    op.NameList: "[tag]",
    op.ObjectValue: "{name: value}",
    op.RegexValue: "/pattern/",
    op.Path: "$.path",
    op.Pattern: "tool",
    op.Source: "server.tool()",
    op.Condition: "value == value",
    op.MetricCondition: "task_success >= 80%",
    op.Segment: "model == name",
    op.Argv: '"program"',
    op.Iteration: "item in list",
}


def _named(leaf: op.Leaf) -> str:
    if isinstance(leaf, op.NameOf):
        return leaf.kinds[0]
    return "name" if isinstance(leaf, op.NewName) else "word"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("$", "\\$").replace("}", "\\}")


def snippet(entry: Directive) -> str:
    """The directive with its operands, and its block where it must have one; equal to the word where nothing follows."""
    writer = _Writer()
    words = [entry.name, writer.operand(entry.operands)]
    text = " ".join(word for word in words if word)
    if entry.block is None or not entry.block.required:
        return text
    return f"{text} {{\n  {_first(entry.block.kind, writer)}\n}}"


def _first(kind: str, writer: _Writer) -> str:
    """What a block of this kind cannot do without, if that is one word; else a place to write."""
    requires = [r.names[0] for r in block_kind(kind).requires if len(r.names) == 1 and r.least]
    return f"{requires[0]} $0" if requires else "$0"
