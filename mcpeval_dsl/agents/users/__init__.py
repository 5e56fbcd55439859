"""Whoever talks to an agent in a dialogue."""
