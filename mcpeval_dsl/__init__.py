"""mcpe: the compiler for MCP evaluations. Start reading at `pipeline.py`."""

__version__ = "0.1.0"
