"""Command line, for `python -m mcpeval_dsl`: the same as `mcpe`."""

from __future__ import annotations

import sys

from mcpeval_dsl.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
