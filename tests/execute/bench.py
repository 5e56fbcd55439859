"""A small project on disk that is really run: a spec, its scripts, the shelf server; and what its run left on record."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import yaml

from mcpeval_dsl.cli.main import main
from mcpeval_dsl.records.folder import runs
from mcpeval_dsl.records.model import HarvestRecord, TrialRecord
from mcpeval_dsl.records.reader import RunReader

SHELF = Path(__file__).parent / "servers" / "shelf.py"
ROOT = Path(__file__).parents[2]

HEAD = """suite bench "Bench" { trials TRIALS; seed 11; defaults { environment desk } }
server shelf { stdio "python" "shelf.py"; timeout 5s }
annotations shelf { readonly list_*, get_*; additive add_thing; destructive remove_thing, wipe_all }
model canned { script "canned.yaml" }
"""


@dataclass(frozen=True, slots=True)
class Ended:
    code: int
    out: str
    err: str


@dataclass(slots=True)
class Bench:
    """`run` trusts the spec and runs it in this process; `start` gives a process to be interrupted or killed."""

    root: Path
    variables: dict[str, str] = field(default_factory=dict)

    def write(self, path: str, text: str) -> Path:
        full = self.root / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_text(text, encoding="utf-8")
        return full

    def spec(self, body: str, scripts: Mapping[str, Any] | None = None, *, trials: int = 1, head: str = HEAD) -> Path:
        """`body` after the usual head; an environment `desk` is added unless the body has one."""
        self.write("mcpe.toml", 'specs = ["specs"]\n')
        self.write("specs/shelf.py", SHELF.read_text(encoding="utf-8"))
        self.write("specs/canned.yaml", yaml.safe_dump({"tasks": dict(scripts or {"*": [{"reply": "done"}]})}))
        self.write("specs/things.json", '["lamp", "vase"]')
        if "environment desk" not in body:
            body = 'environment desk { copy "things.json" to "{{ workdir }}/shelf.json" }\n' + body
        return self.write("specs/bench.mcpe", head.replace("TRIALS", str(trials)) + body)

    def environment(self) -> dict[str, str]:
        # Tests look at processes by number and leave marks outside the trial; those of the sandbox ask for it.
        own = {"MCPE_STATE_DIR": str(self.root.parent / "state"), "MCPE_SANDBOX": "none"}
        own |= {"TMPDIR": str(self.temporary)}
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("MCPE_", "COV_"))}
        return {**kept, **own, **self.variables}

    @property
    def temporary(self) -> Path:
        folder = self.root.parent / "tmp"
        folder.mkdir(exist_ok=True)
        return folder

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-W", "error", "-m", "mcpeval_dsl.cli.main", *arguments]

    def mcpe(self, *arguments: str) -> Ended:
        """A command in this process, with the bench's variables, folder and files for its output."""
        out, err = io.StringIO(), io.StringIO()
        with (
            mock.patch.dict(os.environ, self.environment(), clear=True),
            mock.patch.object(tempfile, "tempdir", None),
            mock.patch.object(sys, "stdin", io.StringIO()),
            contextlib.chdir(self.root),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            code = main(arguments)
        return Ended(code, out.getvalue(), err.getvalue())

    def process(self, *arguments: str, timeout: float = 90) -> Ended:
        """A command as a process of its own, to its end."""
        done = subprocess.run(
            self.command(*arguments),
            cwd=self.root,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=timeout,
            stdin=subprocess.DEVNULL,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """The command in a process group of its own, to be interrupted or killed."""
        return subprocess.Popen(
            self.command(*arguments),
            cwd=self.root,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def trust(self) -> None:
        done = self.mcpe("trust", "specs", "--yes")
        assert done.code == 0, done.err

    def run(self, *arguments: str, trust: bool = True) -> Ended:
        """Trusts, runs, and asserts that nothing of ours leaked out."""
        if trust:
            self.trust()
        done = self.mcpe("run", "specs", *arguments)
        assert "Traceback" not in done.err + done.out, done.err
        assert "internal error" not in done.err, done.err
        return done

    @property
    def reader(self) -> RunReader:
        return RunReader(runs(self.root)[0])

    @property
    def records(self) -> dict[str, TrialRecord]:
        """Trial id without its cell (`task#1`) -> record."""
        return {f"{record.task}#{record.trial}": record for record in self.reader.records()}

    @property
    def harvests(self) -> dict[str, HarvestRecord]:
        return {record.harvest: record for record in self.reader.harvests()}

    @property
    def scorecard(self) -> bytes:
        return (runs(self.root)[0].path / "scorecard.json").read_bytes()

    def left_over(self) -> list[str]:
        """Folders of trials that still stand."""
        return sorted(path.name for base in self.temporary.glob("mcpe-*") if base.is_dir() for path in base.iterdir())

    def started(self, wanted: set[str]) -> set[str]:
        """The command lines that run once all of `wanted` do, or after a minute."""
        until = time.monotonic() + 60
        while time.monotonic() < until and not wanted <= {words.strip() for words in self.processes()}:
            time.sleep(0.05)
        return {words.strip() for words in self.processes()}

    def left_by_killing(self, run: subprocess.Popen[str]) -> list[str]:
        """Kill `run`; what still runs of it once all is gone, or after half a minute."""
        run.send_signal(signal.SIGKILL)
        run.communicate()
        until = time.monotonic() + 30
        while time.monotonic() < until and self.processes():
            time.sleep(0.05)
        return self.processes()

    def processes(self) -> list[str]:
        """Command lines of living processes that were started with this bench's folder for temporary files."""
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            try:
                inside = str(self.temporary).encode() in (entry / "environ").read_bytes()
                words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                dead = (entry / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
            except OSError:
                continue
            if inside and words and not dead:
                found.append(words)
        return found


def outcome(record: TrialRecord) -> str:
    assert record.outcome is not None
    return record.outcome.outcome


def answer(record: TrialRecord) -> Any:
    """What the agent said, as JSON where it is JSON."""
    try:
        return json.loads(record.answer.text)
    except ValueError:
        return record.answer.text
