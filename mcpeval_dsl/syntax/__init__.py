"""Second room: text -> tree. `decode` bytes, `parse` a file; tables come from `grammar/`, words from `semantics`."""

from mcpeval_dsl.syntax.reading import decode, parse

__all__ = ["decode", "parse"]
