"""Times of `mcpe lsp`, the real process, on specs of 1,000 and 10,000 lines (wall time, so on an idle machine).

Requests: 95 of 100 answers within 50 ms and 150 ms, at rest and sent in the same breath as a keystroke, while the text is
analysed in the background. Diagnostics: from a keystroke to the syntax error it makes, and to the error of meaning.

Run: `python benchmarks/lsp_bench.py [ROUNDS]`. Exit code 1 when a limit is passed.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from figures import heading
from lint_bench import spec_of

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from tests.language_server.client import Client, session  # noqa: E402

LIMITS = {1_000: 50.0, 10_000: 150.0}  # ms, for 95 of 100 answers
SYNTAX, MEANING = {1_000: 100.0, 10_000: 200.0}, {1_000: 500.0, 10_000: 2_000.0}  # ms, median
WANTED = "grade  contains billing.key, billing.assignee"


def requests(uri: str, line: int) -> dict[str, tuple[str, dict[str, Any]]]:
    """A request of each kind, at a task in the middle; `line` is that of its `grade`."""
    document = {"textDocument": {"uri": uri}}
    at = {**document, "position": {"line": line, "character": 19}}
    screen = {"start": {"line": max(0, line - 30), "character": 0}, "end": {"line": line + 30, "character": 0}}
    return {
        "completion": ("textDocument/completion", {**document, "position": {"line": line, "character": 2}}),
        "hover": ("textDocument/hover", at),
        "definition": ("textDocument/definition", at),
        "highlights": ("textDocument/documentHighlight", at),
        "symbols": ("textDocument/documentSymbol", document),
        "folding": ("textDocument/foldingRange", document),
        "colours, all": ("textDocument/semanticTokens/full", document),
        "colours, screen": ("textDocument/semanticTokens/range", {**document, "range": screen}),
        "code lenses": ("textDocument/codeLens", document),
        "inlay hints": ("textDocument/inlayHint", {**document, "range": screen}),
        "code actions": (
            "textDocument/codeAction",
            {**document, "range": screen, "context": {"diagnostics": []}},
        ),
        "links": ("textDocument/documentLink", document),
        "signature": ("textDocument/signatureHelp", at),
        "selection": ("textDocument/selectionRange", {**document, "positions": [at["position"]]}),
    }


class Typist:
    """Types and takes back a letter in the prompt of a task in the middle."""

    def __init__(self, client: Client, uri: str, line: int) -> None:
        self.client, self.uri, self.line = client, uri, line
        self.version = 1
        self.typed = False

    def key(self) -> None:
        self.edit(10, 11 if self.typed else 10, "" if self.typed else "x")
        self.typed = not self.typed

    def edit(self, start: int, end: int, text: str) -> None:
        self.version += 1
        where = {"start": {"line": self.line, "character": start}, "end": {"line": self.line, "character": end}}
        self.client.change(self.uri, self.version, {"range": where, "text": text})


def timed(client: Client, request: tuple[str, dict[str, Any]]) -> float:
    begin = time.perf_counter()
    client.request(*request)
    return (time.perf_counter() - begin) * 1000


def quiet(client: Client) -> None:
    """Wait until nothing comes from the server for a while."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            client.wait_for_more(1.0)
        except TimeoutError:
            return


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def show(title: str, values: list[float], limit: float | None, share: float = 0.95) -> bool:
    reached = percentile(values, share)
    over = limit is not None and reached > limit
    said = f"limit {limit:g} ms at {share * 100:g} %" if limit is not None else ""
    print(
        f"  {title:34} median {statistics.median(values):7.1f} ms   95 % {percentile(values, 0.95):7.1f} ms   "
        f"n={len(values)}  {said}{'  OVER THE LIMIT' if over else ''}"
    )
    return not over


def measure(size: int, rounds: int) -> bool:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "mcpe.toml").write_text('specs = ["."]\n')
        for file in ("fixtures/tracker.db", "scripts/tracker.yaml"):
            (folder / file).parent.mkdir(exist_ok=True)
            (folder / file).write_text("" if file.endswith("db") else "tasks: {}\n")
        text = spec_of(size)
        (folder / "spec.mcpe").write_text(text, encoding="utf-8")
        with session(folder) as client:
            begin = time.perf_counter()
            client.initialize()
            print(f"{size:,} lines: initialize {(time.perf_counter() - begin) * 1000:.0f} ms")
            uri = client.open("spec.mcpe")
            return _measured(client, uri, text, size, rounds)


def _measured(client: Client, uri: str, text: str, size: int, rounds: int) -> bool:
    lines = text.split("\n")
    line = next(i for i in range(len(lines) // 2, len(lines)) if WANTED in lines[i])
    typist = Typist(client, uri, next(i for i in range(line, 0, -1) if "prompt " in lines[i]))
    quiet(client)
    kinds = requests(uri, line)
    rest: dict[str, list[float]] = {name: [] for name in kinds}
    typing: dict[str, list[float]] = {name: [] for name in kinds}
    for _ in range(rounds):
        for name, request in kinds.items():
            rest[name].append(timed(client, request))
    for _ in range(rounds):
        for name, request in kinds.items():
            typist.key()
            typing[name].append(timed(client, request))
            time.sleep(0.05)  # so that analyses are under way at all times
    within = True
    for name in kinds:
        print(f"  {name:17} at rest {_short(rest[name])}   while typing {_short(typing[name])}")
    within &= show("all requests at rest", [ms for each in rest.values() for ms in each], LIMITS[size])
    within &= show("all requests while typing", [ms for each in typing.values() for ms in each], LIMITS[size])
    if typist.typed:
        typist.key()
    within &= show("keystroke to syntax error", _errors(client, typist, "}", "MCPE1", rounds), SYNTAX[size], 0.5)
    within &= show(
        "keystroke to error of meaning", _errors(client, typist, "zz ", "MCPE201", rounds), MEANING[size], 0.5
    )
    return within


def _errors(client: Client, typist: Typist, typed: str, code: str, rounds: int) -> list[float]:
    found = []
    for _ in range(min(rounds, 10)):
        quiet_for(client, 1.0)
        typist.edit(2, 2, typed)
        found.append(_until(client, typist.version, code))
        typist.edit(2, 2 + len(typed), "")
    return found


def _until(client: Client, version: int, code: str) -> float:
    """Milliseconds until the diagnostics of a version have a code that begins so."""
    begin = time.perf_counter()
    seen = 0
    while True:
        for message in client.told[seen:]:
            params = message.get("params") or {}
            if params.get("version") == version and any(
                str(d["code"]).startswith(code) for d in params.get("diagnostics", ())
            ):
                return (time.perf_counter() - begin) * 1000
        seen = len(client.told)
        client.wait_for_more(20.0)


def quiet_for(client: Client, seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            client.wait_for_more(end - time.monotonic())
        except TimeoutError:
            return


def _short(values: list[float]) -> str:
    return f"{statistics.median(values):6.1f} / {percentile(values, 0.95):6.1f}"


def main() -> int:
    heading(__file__)
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    print("  medians / 95 of 100, in ms")
    within = True
    for size in LIMITS:
        within &= measure(size, rounds)
    return int(not within)


if __name__ == "__main__":
    sys.exit(main())
