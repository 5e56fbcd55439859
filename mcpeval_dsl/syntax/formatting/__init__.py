"""Syntax, beside the parser: the one canonical form of a spec. `format_text` gives it, `format_edits` how to get there."""

from mcpeval_dsl.syntax.formatting.document import format_text
from mcpeval_dsl.syntax.formatting.edits import Replacement, format_edits

__all__ = ["Replacement", "format_edits", "format_text"]
