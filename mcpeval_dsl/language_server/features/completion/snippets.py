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
            if op.NOTHING in operand.parts:
                return ""
            return self.operand(operand.parts[-1])
        if isinstance(operand, op.Commas):
            return self.operand(operand.part)
        return self.leaf(operand)

    def leaf(self, leaf: op.Leaf) -> str:
        if isinstance(leaf, op.Word):
            return leaf.words[0] if len(leaf.words) == 1 else self.choice(leaf.words[:30])
        if isinstance(leaf, (op.Quoted, op.TextValue)):
            return f'"{self.place(leaf.what.replace(_QUOTE, ""))}"'
        if isinstance(leaf, op.Quantity):
            return self.place(_number(leaf))
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
_LITTLE_CHOICE = 2
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


_WRITTEN: dict[str, str] = {
    "task": 'task ${1:name} "${2:title}" {\n  prompt "${3:the prompt}"\n  grade $0\n}',
    "harvest": "harvest ${1:name} = ${2:server}.${3:tool}($4) {\n  ${5:field} = \\$.${6:path}$0\n}",
    "server": 'server ${1:name} {\n  stdio   "${2:program}"\n  version "${3:1.0.0}"$0\n}',
    "model": 'model ${1:name} { ${2|anthropic,litellm,script,local|} "${3:id}" }',
    "gate": "gate {\n  require task_success >= ${1:80%}$0\n}",
    "needs": 'needs ${1|secret,binary|} "${2:name}"',
    "answer": "answer ${1|text,none,json,schema|}",
    "stop": 'stop says "${1:###STOP###}"',
    "latency": "latency ${1|p95,p50,mean,max|} <= ${2:800ms} over ${3:20} calls",
    "state": 'state ${1:server.tool()} ${2:\\$.path} == ${3:"value"}',
    "json": 'json ${1:\\$.path} == ${2:"value"}',
    "protocol_error": 'protocol_error ${1:-32603} "${2:internal error}"',
}
"""Where the operands alone say too little."""


def _number(leaf: op.Quantity) -> str:
    """A number that fits."""
    if leaf.unit == "number" and leaf.least and leaf.least > 1:
        return f"{leaf.least:g}"
    return UNITS[leaf.unit].example


def _named(leaf: op.Leaf) -> str:
    if isinstance(leaf, op.NameOf):
        return leaf.kinds[0]
    return "name" if isinstance(leaf, op.NewName) else "word"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("$", "\\$").replace("}", "\\}")


def snippet(entry: Directive) -> str:
    """The directive with its operands, and its block where it must have one; equal to the word where nothing follows."""
    if entry.name in _WRITTEN:
        return _WRITTEN[entry.name]
    writer = _Writer()
    words = [entry.name, writer.operand(entry.operands)]
    text = " ".join(word for word in words if word)
    if entry.block is None or not entry.block.required:
        return text
    return f"{text} {{\n  {_first(entry.block.kind)}\n}}"


def _first(kind: str) -> str:
    """The word that a block of this kind cannot do without, if it has little choice; else a place to write."""
    names = [requirement.names for requirement in block_kind(kind).requires if requirement.least]
    return f"{names[0][0]} $0" if names and len(names[0]) <= _LITTLE_CHOICE else "$0"
