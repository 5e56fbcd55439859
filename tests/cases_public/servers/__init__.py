"""Servers that misbehave, and the names they use."""

LONG_NAME = "find.books-by/" + "x" * 102
