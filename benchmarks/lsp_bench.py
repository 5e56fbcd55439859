"""Times of `mcpe lsp`, the real process, on specs of 1,000 and 10,000 lines.

Requests of each kind: 95 of 100 answers within 50 ms and 150 ms, at rest and sent in the same breath as a keystroke, while
the text is analysed in the background. Cold: sent in the same breath as the file is opened, which is one that the server
has never seen. There a request that looks at all of a file waits until it is read, which is shown and limited to 0.1 ms a
line; the limits above hold for a request about one place behind it. Diagnostics: from a keystroke to the syntax error it
makes, and to the error of meaning.

What counts is the clock on an idle machine. At a load above 1.5 it is what the thread that answers spent, which then is the
least an idle machine would need; both are printed.

Run: `python benchmarks/lsp_bench.py [ROUNDS]`. Exit code 1 when a limit is passed.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from figures import heading
from lint_bench import spec_of

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from tests.language_server.client import Client, session  # noqa: E402

LIMITS = {1_000: 50.0, 10_000: 150.0}  # ms, for 95 of 100 answers
SYNTAX, MEANING = {1_000: 100.0, 10_000: 200.0}, {1_000: 500.0, 10_000: 2_000.0}  # ms, median
READ = {1_000: 100.0, 10_000: 1_000.0}  # ms, for a request that waits until a file just opened is read
OPTIONS = {"tabSize": 2, "insertSpaces": True}
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
        "references": ("textDocument/references", {**at, "context": {"includeDeclaration": True}}),
        "before a rename": ("textDocument/prepareRename", at),
        "rename": ("textDocument/rename", {**at, "newName": "renewed"}),
        "names of project": ("workspace/symbol", {"query": "made"}),
        "formatting": ("textDocument/formatting", {**document, "options": OPTIONS}),
        "formatting, part": ("textDocument/rangeFormatting", {**document, "range": screen, "options": OPTIONS}),
        "colours, changed": ("textDocument/semanticTokens/full/delta", {**document, "previousResultId": "0"}),
    }


class Time(NamedTuple):
    """Milliseconds by the clock, and of a processor."""

    clock: float
    spent: float


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


def spent(client: Client, *, beside: bool = False) -> float:
    """Milliseconds of a processor that the answering thread has had, or with `beside` the process that analyses."""
    threads = Path(f"/proc/{client.process.pid}/task/{client.process.pid}")
    if not threads.exists():
        return 0.0
    pid = (threads / "children").read_text().split()[0] if beside else client.process.pid
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e6


def timed(client: Client, request: tuple[str, dict[str, Any]], before: Callable[[], None]) -> Time:
    """Of a request with what comes `before` it in the same breath."""
    had, begin = spent(client), time.perf_counter()
    before()
    client.request(*request)
    return Time((time.perf_counter() - begin) * 1000, spent(client) - had)


def quiet(client: Client) -> None:
    """Wait until nothing comes from the server for a while, and it does nothing either."""
    end = time.monotonic() + 60
    had = -1.0
    while time.monotonic() < end:
        try:
            client.wait_for_more(1.0)
        except TimeoutError:
            if spent(client) - had < 20:
                return
            had = spent(client)


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def show(title: str, values: list[Time], limit: float, share: float = 0.95) -> bool:
    busy = os.getloadavg()[0] > 1.5
    over = percentile([v.spent if busy else v.clock for v in values], share) > limit
    said = f"limit {limit:g} ms at {share * 100:g} %, {'spent' if busy else 'by the clock'}"
    print(f"  {title:28} {_short(values)}   n={len(values)}  {said}{'  OVER THE LIMIT' if over else ''}")
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
    rest: dict[str, list[Time]] = {name: [] for name in kinds}
    typing: dict[str, list[Time]] = {name: [] for name in kinds}
    for _ in range(rounds):
        for name, request in kinds.items():
            rest[name].append(timed(client, request, lambda: None))
    for _ in range(rounds):
        for name, request in kinds.items():
            typing[name].append(timed(client, request, typist.key))
            time.sleep(0.05)  # so that analyses are under way at all times
    within = True
    for name in kinds:
        within &= show(f"{name}, at rest", rest[name], LIMITS[size])
        within &= show(f"{name}, typing", typing[name], LIMITS[size])
    within &= show("all requests at rest", [t for each in rest.values() for t in each], LIMITS[size])
    within &= show("all requests while typing", [t for each in typing.values() for t in each], LIMITS[size])
    if typist.typed:
        typist.key()
    within &= show("keystroke to syntax error", _errors(client, typist, "}", "MCPE1", rounds), SYNTAX[size], 0.5)
    within &= show(
        "keystroke to error of meaning", _errors(client, typist, "zz ", "MCPE201", rounds, True), MEANING[size], 0.5
    )
    return _cold(client, text, size, min(rounds, 5)) and within


def _cold(client: Client, text: str, size: int, rounds: int) -> bool:
    """Each kind as the first request about a file, and one about a place behind it."""
    within = True
    behind: list[Time] = []
    number = 0
    for name in requests("", 0):
        found: list[Time] = []
        for _ in range(rounds):
            number += 1
            fresh = text.replace("made_", f"cold{number}_")  # so that nothing that is kept helps
            path = f"cold{number}.mcpe"
            lines = fresh.split("\n")
            line = next(i for i in range(len(lines) // 2, len(lines)) if WANTED in lines[i])
            kinds = requests(client.uri(path), line)
            had, begin = spent(client), time.perf_counter()
            uri = client.open(path, fresh)
            asked, local = client.ask(*kinds[name]), client.ask(*kinds["selection"])
            for times, request in ((behind, local), (found, asked)):
                client.answer(request)
                times.append(Time((time.perf_counter() - begin) * 1000, spent(client) - had))
            client.close(uri)
            quiet_for(client, 0.3)
        within &= show(f"{name}, cold", found, READ[size])
    return show("one about a place, behind it", behind, LIMITS[size]) and within


def _errors(client: Client, typist: Typist, typed: str, code: str, rounds: int, beside: bool = False) -> list[Time]:
    found: list[Time] = []
    for _ in range(min(rounds, 10)):
        quiet_for(client, 1.0)
        had, begin = spent(client, beside=beside), time.perf_counter()
        typist.edit(2, 2, typed)
        _until(client, typist.version, code)
        found.append(Time((time.perf_counter() - begin) * 1000, spent(client, beside=beside) - had))
        typist.edit(2, 2 + len(typed), "")
    return found


def _until(client: Client, version: int, code: str) -> None:
    """Wait until the diagnostics of a version have a code that begins so."""
    seen = 0
    while True:
        for message in client.told[seen:]:
            params = message.get("params") or {}
            found = [str(d["code"]) for d in params.get("diagnostics", ())]
            if params.get("version") == version and any(each.startswith(code) for each in found):
                return
        seen = len(client.told)
        client.wait_for_more(30.0)


def quiet_for(client: Client, seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            client.wait_for_more(end - time.monotonic())
        except TimeoutError:
            return


def _short(values: list[Time]) -> str:
    clock, spent_ = [v.clock for v in values], [v.spent for v in values]
    return (
        f"clock {statistics.median(clock):6.1f} / {percentile(clock, 0.95):6.1f}"
        f"   spent {statistics.median(spent_):5.1f} / {percentile(spent_, 0.95):5.1f}"
    )


def main() -> int:
    heading(__file__)
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    print("  ms, medians / 95 of 100: by the clock, and spent by the thread that answers")
    within = True
    for size in LIMITS:
        within &= measure(size, rounds)
    return int(not within)


if __name__ == "__main__":
    sys.exit(main())
