"""Semantics, shape: the one message about a statement whose items do not fit its directive."""

from __future__ import annotations

import re
from typing import NamedTuple

from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.diagnostics.suggestions import closest
from mcpeval_dsl.semantics.directives import operands as op
from mcpeval_dsl.semantics.directives.model import Directive
from mcpeval_dsl.semantics.directives.wording import OF_TREE, UNITS, wanted
from mcpeval_dsl.semantics.shape.findings import after, finding
from mcpeval_dsl.semantics.shape.items import bare, comma_before, is_glob, swallowed
from mcpeval_dsl.semantics.shape.leaves import ACCEPT, OTHER, RANGE, UNIT
from mcpeval_dsl.semantics.shape.matching import FAILED, Matching
from mcpeval_dsl.source import Span
from mcpeval_dsl.syntax import tree
from mcpeval_dsl.syntax.tables import terminal

_BARE = (op.Word, op.NewName, op.NameOf, op.Tag, op.Pattern, op.Grader)
_TEXTS = (op.Quoted, op.TextValue, op.Argv)


class Misfit(NamedTuple):
    """What the message is made from: the statement, its directive, the words of its block, and the attempt."""

    statement: tree.Directive
    directive: Directive
    words: dict[str, Directive]
    matching: Matching

    @property
    def name(self) -> str:
        """How the statement is called in messages."""
        grader = self.matching.grader
        if grader is not None:
            return f"grade {grader.name}"
        return "grade not" if self.matching.negated else self.statement.name.text

    @property
    def hint(self) -> str:
        grader = self.matching.grader
        example = self.directive.example if grader is None else f"grade {grader.example}"
        return f"For example: `{example}`"


def swallowing_comma(statement: tree.Directive, index: int) -> Diagnostic:
    """The comma after which the group `index` was meant as a statement of its own."""
    comma = comma_before(statement, index)
    taken = statement.groups[index].items[0].span.text
    return finding(
        "MCPE213",
        comma,
        f"this comma makes `{taken}` on the next line part of `{statement.name.text}`",
        "A statement goes on after a comma, even on the next line.",
        "Remove the comma.",
        edit="",
    )


def explain(misfit: Misfit, end: int) -> Diagnostic:
    """`end` is where the match stopped, or FAILED; the furthest place tried decides what is said."""
    index = swallowed(misfit.statement, misfit.words)
    if index is not None:
        return swallowing_comma(misfit.statement, index)
    matching = misfit.matching
    at = matching.far if end == FAILED else max(matching.far, end)
    leaves = tuple(matching.wanted) if matching.far == at else ()
    item = matching.row[at] if at < len(matching.row) else None
    if item is None:
        return _missing(misfit, at, leaves)
    return _twice(misfit, at, item) or _split(misfit, at, item, leaves) or _wrong(misfit, item, leaves)


def _missing(misfit: Misfit, at: int, leaves: tuple[op.Leaf, ...]) -> Diagnostic:
    row, statement = misfit.matching.row, misfit.statement
    if at < len(row):
        group = sum(1 for item in row[: at + 1] if item is None)
        comma = comma_before(statement, group)
        before = row[at - 1] if at else None
        body = f"After `{before.span.text}` comes {_alternatives(leaves)}." if leaves and before else ""
        argv = any(isinstance(leaf, op.Argv) for leaf in leaves)
        hint = "Remove the comma: words of a command line stand side by side." if argv else misfit.hint
        title = f"`{misfit.name}` takes no list with commas here"
        return finding("MCPE204", comma, title, body, hint, edit="" if argv else None)
    last = next((item for item in reversed(row) if item is not None), None)
    span = last.span if last else statement.name.span
    return finding(
        "MCPE203",
        statement.name.span.to(span),
        f"`{misfit.name}` needs {_alternatives(leaves) or 'something more'}",
        f"Nothing stands after `{span.text}`." if last else "Nothing stands after the word.",
        misfit.hint,
    )


def _twice(misfit: Misfit, at: int, item: tree.Item) -> Diagnostic | None:
    row = misfit.matching.row
    before = row[at - 1] if at else None
    earlier: tree.Name | tree.Item | None = before if at else misfit.statement.name
    word = bare(item)
    if word is None or earlier is None or earlier.span.text != word:
        # `tags tags a` fits up to the item after the second word
        first = row[0] if row else None
        if at != 1 or first is None or bare(first) != misfit.statement.name.text:
            return None
        earlier, item, word = misfit.statement.name, first, misfit.statement.name.text
    gap = Span(item.span.file, earlier.span.end, item.span.end)
    return finding(
        "MCPE216", item.span, f"the word `{word}` stands twice", "", "Remove one of them.", edit="", edit_at=gap
    )


def _split(misfit: Misfit, at: int, item: tree.Item, leaves: tuple[op.Leaf, ...]) -> Diagnostic | None:
    """Two statements on one line, or a comma left out."""
    matching = misfit.matching
    before = matching.row[at - 1] if at else None
    word = bare(item)
    if word in misfit.words and before is not None and not _is_word(word, leaves):
        return finding(
            "MCPE215",
            item.span,
            f"`{word}` begins a new statement on the line of `{misfit.statement.name.text}`",
            "A statement ends at the end of its line, or at `;`.",
            f"Put `{word}` on a line of its own, or `;` before it.",
            edit="; ",
            edit_at=Span(item.span.file, before.span.end, item.span.start),
        )
    separable = matching.separable
    if before is not None and separable is not None and separable[0] == at:
        alone = Matching(matching.row[at:])
        if alone.match(separable[1], 0) != FAILED:
            return _comma_missing(before, item)
    return None


def _is_word(word: str | None, leaves: tuple[op.Leaf, ...]) -> bool:
    return any(isinstance(leaf, op.Word) and word in leaf.words for leaf in leaves)


def _comma_missing(before: tree.Item, item: tree.Item) -> Diagnostic:
    return finding(
        "MCPE214",
        after(before.span),
        f"a comma is missing between `{_short(before)}` and `{_short(item)}`",
        "Members of a list are separated by commas.",
        "Put a comma between them.",
        edit=",",
        safe=_words(before)[-1:] != _words(item)[:1],  # else it stands twice, as likely
    )


def _words(item: tree.Item) -> list[str]:
    return re.findall(r"[\w-]+", item.span.text)


def _short(item: tree.Item) -> str:
    text = " ".join(item.span.text.split())
    return text if len(text) <= 30 else text[:29] + "…"


def _limitless(item: tree.Item, leaves: tuple[op.Leaf, ...]) -> Diagnostic | None:
    """`budget tokens hard 40k`: the name of a limit without the limit itself."""
    for leaf in leaves:
        if isinstance(leaf, op.Limit) and bare(item) == leaf.name:
            body = "A limit is `NAME <= N`; `hard`, if any, comes after it."
            hint = f"Write for example `{leaf.name} <= {UNITS[leaf.unit].example}`."
            return finding("MCPE203", item.span, f"`{leaf.name}` has no limit", body, hint)
    return None


def _wrong(misfit: Misfit, item: tree.Item, leaves: tuple[op.Leaf, ...]) -> Diagnostic:
    limitless = _limitless(item, leaves)
    if limitless is not None:
        return limitless
    for leaf in leaves:
        if isinstance(leaf, (op.Quantity, op.Limit)):
            found = quantity_misfit(misfit.name, leaf, item)
            if found is not None:
                return found
    if not leaves:
        body = f"`{misfit.name}` is complete before it."
        title = f"`{_short(item)}` is too much for `{misfit.name}`"
        return finding("MCPE204", item.span, title, body, misfit.hint)
    return (
        _quoted_number(misfit, item, leaves)
        or _quoted_word(misfit, item, leaves)
        or _unknown_word(misfit, item, leaves)
        or _unquoted(misfit, item, leaves)
        or _other_kind(misfit, item, leaves)
    )


def quantity_misfit(name: str, leaf: op.Quantity | op.Limit | op.Below, item: tree.Item) -> Diagnostic | None:
    """A number in another unit, or out of bounds; None when that is not what is wrong."""
    number: tree.Item = item
    if isinstance(item, tree.Comparison) and not isinstance(leaf, op.Quantity):
        if isinstance(leaf, op.Limit) and bare(item.left) != leaf.name:
            return None
        if item.operator != "<=":
            title = f"a limit is written with `<=`, not `{item.operator}`"
            return finding("MCPE231", item.operator_span, title, "", f"Write `{name_of(leaf, name)} <= …`.", edit="<=")
        number = item.right
        name = name_of(leaf, name)
    unit = UNITS[leaf.unit]
    if not isinstance(number, tree.Number):
        if isinstance(leaf, op.Quantity):
            return None
        title = f"`{name}` {unit.counts}, `{_short(number)}` is no number"
        return finding("MCPE209", number.span, title, "", f"Write for example `{unit.example}`.")
    rank = ACCEPT[op.Quantity](leaf if isinstance(leaf, op.Quantity) else op.Quantity(leaf.unit), number)
    if rank == UNIT:
        title = f"`{name}` {unit.counts}, `{number.text}` is {OF_TREE[number.unit]}"
        meant = _with_unit(leaf.unit, number)
        hint = f"Write `{meant}`." if meant else f"Write for example `{unit.example}`."
        return finding("MCPE209", number.span, title, _unit_rule(leaf.unit), hint, edit=meant)
    if rank == RANGE and isinstance(leaf, op.Quantity):
        return finding("MCPE232", number.span, f"`{number.text}` is out of range for `{name}`", _bounds(leaf))
    return None


def _with_unit(unit: op.Unit, number: tree.Number) -> str | None:
    """The number as it was most likely meant, where only the unit is missing."""
    if number.unit == "":
        if unit == "percent":
            return f"{number.value * 100:g}%" if 0 < number.value <= 1 else f"{number.text}%"
        return {"money": f"${number.text}", "duration": f"{number.text}s"}.get(unit)
    if number.unit == "percent" and unit == "number":
        return f"{number.value:g}"
    return None


def name_of(leaf: op.Limit | op.Below, name: str) -> str:
    return leaf.name if isinstance(leaf, op.Limit) else name


def _unit_rule(unit: op.Unit) -> str:
    return {
        "duration": "Times have a unit: ms, s, m, h or d.",
        "count": "A plain number; k and M stand for thousands and millions.",
        "tokens": "A plain number; k and M stand for thousands and millions.",
        "money": "Money begins with `$`.",
        "percent": "Percentages end in `%`.",
        "size": "A plain number with k or M counts tokens; KB and MB count bytes.",
        "number": "The number has no unit.",
    }[unit]


def _bounds(leaf: op.Quantity) -> str:
    parts = []
    if leaf.whole:
        parts.append("a whole number")
    if leaf.least is not None:
        parts.append(f"at least {leaf.least * 1000:g}ms" if leaf.unit == "duration" else f"at least {leaf.least:g}")
    if leaf.most is not None:
        parts.append("at most 100%" if leaf.unit == "percent" else f"at most {leaf.most:g}")
    return "It must be " + ", ".join(parts) + "."


def _alternatives(leaves: tuple[op.Leaf, ...]) -> str:
    seen = list(dict.fromkeys(wanted(leaf) for leaf in leaves))
    if len(seen) <= 1:
        return "".join(seen)
    return ", ".join(seen[:-1]) + " or " + seen[-1]


def _quoted_number(misfit: Misfit, item: tree.Item, leaves: tuple[op.Leaf, ...]) -> Diagnostic | None:
    if not isinstance(item, tree.String) or not item.value[:1].isdigit():
        return None
    if not any(isinstance(leaf, op.Quantity) for leaf in leaves):
        return None
    title = f"`{misfit.name}` takes a number here, not a text in quotes"
    edit = item.value if terminal("NUMBER").fullmatch(item.value) else None
    return finding("MCPE206", item.span, title, "", f"Write `{item.value}` without quotes.", edit=edit, safe=True)


def _quoted_word(misfit: Misfit, item: tree.Item, leaves: tuple[op.Leaf, ...]) -> Diagnostic | None:
    if not isinstance(item, tree.String) or not any(isinstance(leaf, _BARE) for leaf in leaves):
        return None
    words = tuple(w for leaf in leaves if isinstance(leaf, op.Word) for w in leaf.words)
    only_words = all(isinstance(leaf, op.Word) for leaf in leaves)
    bare_word = item.value
    if only_words and bare_word not in words:
        bare_word = closest(bare_word, words) or ""
    hint = f"Write `{bare_word}` without quotes." if bare_word else "Leave the quotes out."
    if len(bare_word.split()) > 1:
        bare_word, hint = "", "Leave the text out: a bare word has no blanks."
    return finding(
        "MCPE206",
        item.span,
        f"`{misfit.name}` takes a bare word here, not a text in quotes",
        f"Here stands {_alternatives(leaves)}.",
        hint,
        edit=bare_word or None,
    )


def _unknown_word(misfit: Misfit, item: tree.Item, leaves: tuple[op.Leaf, ...]) -> Diagnostic | None:
    word = bare(item)
    if word is None and isinstance(item, tree.Comparison):
        limits = tuple(leaf.name for leaf in leaves if isinstance(leaf, op.Limit))
        word, item = (bare(item.left), item.left) if limits else (None, item)
    words = tuple(
        w
        for leaf in leaves
        for w in (leaf.words if isinstance(leaf, op.Word) else (leaf.name,) if isinstance(leaf, op.Limit) else ())
    )
    if word is None or not words:
        return None
    near = closest(word, words)
    if near is None and any(isinstance(leaf, _TEXTS) for leaf in leaves):
        return None
    return finding(
        "MCPE208",
        item.span,
        f"`{word}` is not a word that `{misfit.name}` takes",
        f"Here stands {_alternatives(leaves)}.",
        f"Did you mean `{near}`?" if near else misfit.hint,
        edit=near,
    )


def _unquoted(misfit: Misfit, item: tree.Item, leaves: tuple[op.Leaf, ...]) -> Diagnostic | None:
    if not any(isinstance(leaf, _TEXTS) for leaf in leaves) or not isinstance(item, (tree.Ref, tree.Number)):
        return None
    if is_glob(item) or "\n" in item.span.text:
        return None
    text = item.span.text.replace("\\", "\\\\").replace('"', '\\"')
    return finding(
        "MCPE207",
        item.span,
        f"`{misfit.name}` takes a text in quotes here",
        f"Here stands {_alternatives(leaves)}; a bare word would be a name.",
        f'Write `"{text}"`.',
        edit=f'"{text}"',
    )


def _other_kind(misfit: Misfit, item: tree.Item, leaves: tuple[op.Leaf, ...]) -> Diagnostic:
    near = tuple(leaf for leaf in leaves if type(leaf) in ACCEPT and ACCEPT[type(leaf)](leaf, item) > OTHER)
    return finding(
        "MCPE205",
        item.span,
        f"`{misfit.name}` cannot take `{_short(item)}` here",
        f"Here stands {_alternatives(near or leaves)}.",
        misfit.hint,
    )
