"""Interchange, the other way in: a server's catalogue becomes a folder with a first suite. Text in, text out."""
