"""A program that calls one function of a project with a record, and writes what it gave as one line of JSON.

Place in the pipeline: the process of a `python` grader. Started with `python -P`, so it imports nothing of mcpe; what the
function prints goes to standard error. Killed by SIGALRM when its time is over.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

LONGEST = 20_000
SCALARS = (bool, int, float, str, type(None))


def function(name: str, project: Path) -> Callable[..., Any]:
    """`module:function` found from the project root. Raises ImportError with a sentence for people."""
    module_name, _, attribute = name.partition(":")
    if not module_name or not attribute:
        raise ImportError("it is not written `module:function`")
    sys.path.insert(0, str(project))
    found: Any = importlib.import_module(module_name)
    for part in attribute.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        raise ImportError(f"the module `{module_name}` has no function `{attribute}`")
    made: Callable[..., Any] = found
    return made


def answer(given: Any) -> dict[str, Any]:
    """`verdict`, `reason`, `score` and the type of the verdict, whichever of its forms it came in."""
    reason, score = "", None
    if isinstance(given, tuple) and len(given) == 2:
        given, reason = given[0], str(given[1])
    elif isinstance(given, dict):
        reason, score = str(given.get("reason", "")), given.get("score")
        given = given.get("verdict")
    number = isinstance(score, int | float) and not isinstance(score, bool) and 0 <= score <= 1
    said = given[:LONGEST] if isinstance(given, str) else given
    return {
        "verdict": said if type(given) in SCALARS else None,
        "type": type(given).__name__,
        "reason": reason[:LONGEST],
        "score": score if number else None,
    }


def where(problem: BaseException, project: Path) -> str:
    """`ValueError: text (graders/tracker.py:12)`, with the last line that belongs to the project."""
    root = project.resolve()
    frames = traceback.extract_tb(problem.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).resolve().is_relative_to(root)]
    said = f"{type(problem).__name__}: {problem}" if str(problem) else type(problem).__name__
    if not own or own[-1].filename == __file__:
        return said[:LONGEST]
    return f"{said[:LONGEST]} ({Path(own[-1].filename).resolve().relative_to(root).as_posix()}:{own[-1].lineno})"


def called(name: str, project: Path, record: Any) -> dict[str, Any]:
    async def waited(given: Any) -> Any:
        return await given

    try:
        given = function(name, project)(record)
        return answer(asyncio.run(waited(given)) if inspect.isawaitable(given) else given)
    except (
        BaseException
    ) as problem:  # it may raise what it likes: that is all told, and is no crash of a grader's process
        return {"failed": where(problem, project)}


def main() -> None:
    """`module:function project seconds`, the record on standard input."""
    name, project, seconds = sys.argv[1], Path(sys.argv[2]), float(sys.argv[3])
    signal.setitimer(signal.ITIMER_REAL, seconds)
    record = json.load(sys.stdin)
    result = os.dup(1)
    os.dup2(2, 1)
    os.chdir(project)
    said = called(name, project, record)
    with open(result, "w", encoding="ascii") as stream:  # noqa: PTH123  # a descriptor, no path
        stream.write(json.dumps(said))
    # Threads that it left behind are nobody's to wait for.
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
