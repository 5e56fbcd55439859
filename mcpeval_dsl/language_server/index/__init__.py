"""Language server, its memory: what every name in a text is, piece by piece, so that a keystroke costs one piece."""
