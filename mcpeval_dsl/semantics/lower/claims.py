"""Semantics, lowering: claims kept in a file of their own."""

from __future__ import annotations

from mcpeval_dsl.semantics.expressions import Expression
from mcpeval_dsl.semantics.graders import Claim
from mcpeval_dsl.semantics.lower.context import Context
from mcpeval_dsl.semantics.lower.references import file_text, template
from mcpeval_dsl.semantics.symbols import Scope
from mcpeval_dsl.source import SourceFile, Span
from mcpeval_dsl.syntax.tree import String


def claims_of_file(ctx: Context, scope: Scope, path: String) -> list[Claim]:
    """Claims of a YAML or JSON list (texts, or `{claim, weight, disclose}`); any other file is one claim."""
    file = ctx.read_text(path.span.file, path.value, path.span)
    if file is None:
        return []
    if not path.value.endswith((".yaml", ".yml", ".json")):
        return [Claim(file_text(ctx, scope, file), from_file=True, at=path.span.location())]
    rows = _rows(ctx, file, path)
    found: list[Claim] = []
    for row in rows:
        text = row if isinstance(row, str) else row.get("claim") if isinstance(row, dict) else None
        if not isinstance(text, str):
            _broken(ctx, path, "each entry is a text, or has `claim`")
            return found
        options = row if isinstance(row, dict) else {}
        found.append(
            Claim(
                _claim_text(ctx, scope, file, text),
                float(options.get("weight", 1.0)),
                bool(options.get("disclose", False)),
                True,
                path.span.location(),
            )
        )
    return found


def _claim_text(ctx: Context, scope: Scope, file: SourceFile, text: str) -> Expression:
    """The text of one entry, at its place in the file where that can be found."""
    start = max(file.text.find(text), 0)
    end = min(start + len(text), len(file.text))
    offsets = [min(start + i, end) for i in range(len(text) + 1)]
    return template(ctx, scope, text, offsets, Span(file, start, end))


def _rows(ctx: Context, file: SourceFile, path: String) -> list[object]:
    import yaml

    try:
        loaded = yaml.safe_load(file.text)
    except yaml.YAMLError as fault:
        _broken(ctx, path, str(fault).split("\n", 1)[0])
        return []
    if isinstance(loaded, dict):
        loaded = loaded.get("claims")
    if not isinstance(loaded, list):
        _broken(ctx, path, "it holds no list of claims")
        return []
    return loaded


def _broken(ctx: Context, path: String, reason: str) -> None:
    title = f"the claims in `{path.value}` cannot be used: {reason}"
    ctx.problems.report("MCPE273", path.span, title, "", "write a list of texts, or of `claim` with `weight`")
