"""A run of many trials as it lies on disk: scoring it, comparing it with itself, and what both hold in memory.

Run: `python benchmarks/store_bench.py [THOUSANDS [FOLDER]]` (50; a million takes 6 GB of disk for some minutes). Whole
processes are measured, as a user starts them. The peer is reading the bytes of the ledger and checking their hashes, which is
the least that a damaged record is found with. Exit code 1 when a limit is passed.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import zstandard
from figures import heading, show
from score_bench import planned

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from mcpeval_dsl.cli.stored import code
from mcpeval_dsl.gateway.model import ToolDefinition
from mcpeval_dsl.plan import files
from mcpeval_dsl.plan.model import Plan, TrialGroup, trial_key
from mcpeval_dsl.records.codec import plain_bytes
from mcpeval_dsl.records.digest_writer import DigestWriter, insert
from mcpeval_dsl.records.digests import Digest, Whole
from mcpeval_dsl.records.folder import RunFolder, write_whole
from mcpeval_dsl.records.grading import Grading, ungraded
from mcpeval_dsl.records.model import TokenUse, TrialRecord
from mcpeval_dsl.records.writer import connect_writer
from mcpeval_dsl.score.digest import Digester
from mcpeval_dsl.semantics.model import Arm
from tests.records.samples import call, manifest
from tests.score.samples import trial, verdict

NAME, ID, KEY, TASK, CELL = "bench-1", "@id@", "@key@", "@task@", "@cell@"
_WORDS = (
    "open",
    "closed",
    "label",
    "project",
    "owner",
    "billing",
    "search",
    "region",
    "issue",
    "comment",
    "status",
    "due",
)


def tool(number: int) -> ToolDefinition:
    """Of the length that tools have."""
    properties = {
        f"{word}_{number}": {"type": "string", "description": f"The {word} of what is asked for, as {number} names it."}
        for word in _WORDS[: 3 + number % 5]
    }
    text = f"Find what has the {_WORDS[number % len(_WORDS)]} that is asked for. " * 3
    return ToolDefinition("tracker", f"tool_{number}", description=text, input_schema={"properties": properties})


def template(number: int, said: str) -> TrialRecord:
    """A trial of two calls with results of a page; four kilobytes when compressed, as those of the demo are."""
    noise = hashlib.shake_256(bytes([number])).hexdigest(1100)
    calls = tuple(
        call(f"c{n}", f"tool_{n}", text=noise[n * 900 : n * 900 + 900], duration_ms=3.0 + number + n) for n in (1, 2)
    )
    answer = verdict(said, actual=f"B-{number}") if said == "no" else verdict(said)
    made = trial(
        "t@c#1",
        1,
        said,
        calls=calls,
        tools=tuple(tool(n) for n in range(12)),
        usage=TokenUse(input_tokens=900 + number, output_tokens=80, cost_usd=0.01 * (1 + number)),
        verdicts=(answer,),
    )
    return made.model_copy(update={"id": ID, "key": KEY, "task": TASK, "cell": CELL, "cluster": TASK, "trial": 1})


TEMPLATES = [template(n, said) for n, said in enumerate(("yes", "yes", "no", "no"))]


def chosen(plan: Plan) -> Iterator[tuple[TrialGroup, int, int]]:
    """(group, number, template) of every trial; the share that passes goes by task and cell."""
    cells = {cell.id: number for number, cell in enumerate(plan.cells)}
    for node in plan.nodes:
        if isinstance(node, TrialGroup):
            limit = (int(node.task[1:]) * 7 + cells[node.cell] * 3) % node.trials
            for number in range(1, node.trials + 1):
                yield node, number, (0 if number <= limit else 2) + number % 2


class Rows:
    """The bytes of one trial and of its grading, from its template."""

    def __init__(self) -> None:
        self._facts = [plain_bytes(ungraded(each)) for each in TEMPLATES]
        self._gradings = [
            plain_bytes(Grading(grade_key="g", verdicts=t.verdicts, outcome=t.outcome, leads=(), arguments=()))
            for t in TEMPLATES
        ]
        self._compress = zstandard.ZstdCompressor(level=3).compress

    def trial(self, node: TrialGroup, number: int, key: str, which: int) -> bytes:
        data = self._facts[which]
        for mark, value in ((ID, f"{node.id}#{number}"), (KEY, key), (TASK, node.task), (CELL, node.cell)):
            data = data.replace(mark.encode(), value.encode())
        return self._compress(data)

    def grading(self, which: int) -> bytes:
        return self._compress(self._gradings[which])


def digests(digester: Digester, node: TrialGroup) -> list[Digest]:
    update = {"id": f"{node.id}#1", "task": node.task, "cell": node.cell, "cluster": node.task}
    return [digester.digest(each.model_copy(update=update)) for each in TEMPLATES]


def build(root: Path, plan: Plan) -> RunFolder:
    """A project with one finished run of the plan, as `mcpe run` leaves it."""
    folder = RunFolder(root / ".mcpe" / "runs" / NAME)
    folder.make()
    (root / "mcpe.toml").write_text('specs = ["specs"]\n')
    written = files.write(plan)
    write_whole(folder.plan, written)
    write_whole(folder.manifest, manifest(written, run=NAME).model_dump_json().encode())
    digester = Digester(plan, code())
    DigestWriter(folder.path, digester).close()
    ledger, beside = connect_writer(folder.ledger), sqlite3.connect(folder.path / "digests.db")
    ledger.execute("PRAGMA synchronous=OFF")
    ledger.execute("BEGIN")
    rows, made, last = Rows(), [], None
    for place, (node, number, which) in enumerate(chosen(plan), start=1):
        if node is not last:
            made, last = digests(digester, node), node
        key = hashlib.sha256(trial_key(node.key, number).encode()).hexdigest()
        data, grading = rows.trial(node, number, key, which), rows.grading(which)
        found = Whole(place, f"{node.id}#{number}", data, _sha(data), place, grading, _sha(grading))
        ledger.execute(
            "INSERT INTO trial (key, id, attempt, data, sha256) VALUES (?, ?, ?, ?, ?)",
            (key, found.id, place, data, found.sha256),
        )
        ledger.execute("INSERT INTO grading VALUES (?, 'g', ?, ?)", (key, grading, found.grading_sha256))
        insert(beside, digester, found, made[which], code())
        if place % 100_000 == 0:
            ledger.execute("COMMIT")
            beside.commit()
            ledger.execute("BEGIN")
    ledger.execute("COMMIT")
    beside.commit()
    ledger.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    ledger.close()
    beside.close()
    return folder


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def hashed(folder: RunFolder) -> float:
    """Seconds of reading every record and grading and checking its bytes."""
    started = time.perf_counter()
    connection = sqlite3.connect(folder.ledger)
    for table in ("trial", "grading"):
        for data, sha in connection.execute(f"SELECT data, sha256 FROM {table}"):
            assert _sha(data) == sha
    connection.close()
    return time.perf_counter() - started


def process(root: Path, *arguments: str) -> tuple[float, float, float, str]:
    """(seconds on the clock, of CPU, MB at its highest, what it prints) of one command."""
    started = time.perf_counter()
    out = root / "out.txt"
    command = [sys.executable, "-m", "mcpeval_dsl.cli.main", *arguments]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parent.parent)}
    with out.open("wb") as file:
        redirected = [(os.POSIX_SPAWN_DUP2, file.fileno(), 1)]
        before = Path.cwd()
        os.chdir(root)
        child = os.posix_spawn(sys.executable, command, environment, file_actions=redirected)
        os.chdir(before)
        _, _, used = os.wait4(child, 0)
    seconds = time.perf_counter() - started
    return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, out.read_text("utf-8")


def measure(root: Path, thousands: int) -> bool:
    plan = planned(max(1, thousands * 2))
    plan = plan.model_copy(update={"arms": (Arm(name="mcp"), Arm(name="cli"))})
    started = time.perf_counter()
    folder = build(root, plan)
    size = sum(path.stat().st_size for path in folder.path.iterdir()) / 1e6
    trials = sum(1 for _ in chosen(plan))
    print(
        f"  {trials:,} trials, {size / trials * 1000:.1f} KB each on disk; made in {time.perf_counter() - started:.0f} s"
    )
    least = hashed(folder)
    share = trials / 1e6
    seconds, cpu, memory, card = process(root, "score", NAME, "--format", "json")
    said = json.loads(card.splitlines()[1])["scorecard"]
    assert said["recorded"] == trials, said["recorded"]
    results = [
        show("mcpe score, CPU", cpu, "s", 3 + 27 * share),
        show("  on the clock", seconds, "s", None, ("the bytes alone", least)),
        show("  memory at its highest", memory, "MB", 250 + 700 * share),
        show("  memory of a trial, 100 MB aside", (memory - 100) / trials * 1e6, "B"),
    ]
    other = RunFolder(folder.path.with_name("bench-2"))
    other.make()
    for path in folder.path.iterdir():
        os.link(path, other.path / path.name)
    seconds, cpu, memory, _ = process(root, "compare", NAME, "bench-2", "--format", "json")
    results += [
        show("mcpe compare with such a run, CPU", cpu, "s", 4 + 46 * share),
        show("  on the clock", seconds, "s", None, ("the bytes alone", 2 * least)),
        show("  memory at its highest", memory, "MB", 250 + 1200 * share),
    ]
    if thousands <= 50:
        before = (folder.path / "scorecard.json").read_bytes()
        (folder.path / "digests.db").unlink()
        seconds, _, _, _ = process(root, "score", NAME, "--no-grade", "--format", "json")
        show("mcpe score without digests, which makes them", seconds, "s")
        assert (folder.path / "scorecard.json").read_bytes() == before
    return all(results)


def main() -> int:
    thousands = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    heading(__file__)
    with tempfile.TemporaryDirectory(dir=sys.argv[2] if len(sys.argv) > 2 else None) as name:
        return 0 if measure(Path(name), thousands) else 1


if __name__ == "__main__":
    sys.exit(main())
