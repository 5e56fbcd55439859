"""Command line, entry: answers `--version` at once, hands the rest to `app`, and lets no traceback out.

With MCPE_DEBUG=1 an internal error shows its traceback.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

from mcpeval_dsl import __version__
from mcpeval_dsl.cli import exits

_DISK_ERRORS = frozenset({5, 27, 28, 30, 122})  # EIO, EFBIG, ENOSPC, EROFS, EDQUOT


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code of the process."""
    if arguments is None:
        _keep_standard_streams()
        code = main(sys.argv[1:])
        gc.freeze()  # what is left needs no last collection: the process ends
        return code
    if list(arguments) in (["--version"], ["-V"]):
        return _run(arguments)
    from mcpeval_dsl.cli.streams import shown_output

    with shown_output():
        return _run(arguments)


def _run(arguments: Sequence[str]) -> int:
    gc.set_threshold(50_000, 20, 50)  # trees are many small objects without cycles: collecting often finds nothing
    try:
        if list(arguments) in (["--version"], ["-V"]):
            print(f"mcpe {__version__}", flush=True)
            return exits.CLEAN
        from mcpeval_dsl.cli.app import run

        code = run(arguments)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return exits.INTERRUPTED
    except BrokenPipeError:
        # whoever read our output has enough of it; Python would complain once more when it flushes at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exits.CLEAN
    except OSError as error:
        if error.errno in _DISK_ERRORS:
            from mcpeval_dsl.diagnostics.render.safe import visible

            where = f" ({error.filename})" if error.filename else ""
            print(f"error: {visible(f'{error.strerror}{where}')}", file=sys.stderr)
            return exits.DISK
        return _internal(error)
    except Exception as error:
        return _internal(error)


def _keep_standard_streams() -> None:
    """A stream that the caller closed becomes the null device: else the next file opened would take its number."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = sys.stdout or os.fdopen(1, "w")
    sys.stderr = sys.stderr or os.fdopen(2, "w")


def _internal(error: Exception) -> int:
    from mcpeval_dsl.diagnostics.render.safe import visible

    if os.environ.get("MCPE_DEBUG") == "1":
        import traceback

        traceback.print_exception(error)
    text = " ".join(f"{type(error).__name__}: {error}".split())
    print(f"internal error: {visible(text)} (a fault of mcpe; MCPE_DEBUG=1 shows where)", file=sys.stderr)
    return exits.INTERNAL


if __name__ == "__main__":
    sys.exit(main())
