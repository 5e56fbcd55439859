from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcpeval_dsl.records.codec import DamagedRecord, pack, unpack
from mcpeval_dsl.records.folder import RunFolder, StoreError, find, runs
from mcpeval_dsl.records.model import HarvestRecord, TokenUse, TrialRecord
from mcpeval_dsl.records.reader import RunReader
from mcpeval_dsl.records.store import RunStore, create, open_run
from tests.records.samples import harvest, manifest, outcome, trial

PLAN = json.dumps({"nodes": [{"kind": "trial", "id": f"{task}@m", "trials": 3} for task in ("zeta", "alpha")]}).encode()
IDS = [f"{task}@m#{k}" for task in ("zeta", "alpha") for k in (1, 2, 3)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / ".mcpe" / "runs" / "r1"


def started(folder: Path, **changes: object) -> RunStore:
    store = create(folder, PLAN, manifest(), **changes).value  # type: ignore[arg-type]
    assert store is not None
    return store


def test_a_trial_comes_back_equal(folder: Path) -> None:
    with started(folder) as store:
        assert store.save_trial(trial(IDS[0])).result() is True
        assert list(store.reader.records()) == [trial(IDS[0])]


def test_trials_come_in_order_of_the_plan_whatever_ended_first(folder: Path) -> None:
    with started(folder) as store:
        for id_ in reversed(IDS):
            store.save_trial(trial(id_))
    assert [record.id for record in RunReader(RunFolder(folder)).records()] == IDS


def test_the_first_complete_attempt_wins(folder: Path) -> None:
    with started(folder) as store:
        assert store.save_trial(trial(IDS[0], prompt="first")).result() is True
        assert store.save_trial(trial(IDS[0], prompt="second")).result() is False
        assert [record.prompt for record in store.reader.records()] == ["first"]


def test_a_rerun_keeps_the_earlier_attempt_aside(folder: Path) -> None:
    with started(folder) as store:
        store.save_trial(trial(IDS[0], prompt="first", outcome=outcome("untestable", re_run=True))).result()
        assert store.save_trial(trial(IDS[0], prompt="second"), supersede=True).result() is True
        assert [(record.prompt, record.outcome) for record in store.reader.records()] == [("second", None)]
        assert [record.prompt for record in store.reader.superseded()] == ["first"]


def test_grading_again_replaces_the_grading_and_not_the_facts(folder: Path) -> None:
    with started(folder) as store:
        store.save_trial(trial(IDS[0], outcome=outcome("pass"))).result()
        before = _blob(folder)
        store.save_grading(trial(IDS[0]).key, (), outcome("wrong_answer"), grade_key="g2").result()
        (record,) = store.reader.records()
        assert record.outcome == outcome("wrong_answer")
        assert store.reader.grade_keys() == {record.key: "g2"}
        assert _blob(folder) == before


def _blob(folder: Path) -> bytes:
    with sqlite3.connect(f"file:{folder}/ledger.db?mode=ro", uri=True) as connection:
        data = connection.execute("SELECT data FROM trial").fetchone()[0]
    connection.close()
    assert isinstance(data, bytes)
    return data


def test_harvests_connects_and_events_come_back(folder: Path) -> None:
    with started(folder) as store:
        store.save_harvest(harvest()).result()
        store.save_event("note", {"n": 1}).result()
        assert store.reader.harvests() == (harvest(),)
        assert [(kind, body) for _, kind, body in store.reader.events()] == [("note", {"n": 1})]


def test_an_attempt_is_on_disk_before_its_trial_and_closed_with_its_usage(folder: Path) -> None:
    with started(folder) as store:
        attempt = store.begin_attempt(IDS[0], "k").result()
        lost = store.begin_attempt(IDS[1], "k2").result()
        assert [row["state"] for row in store.reader.attempts()] == ["started", "started"]
        store.save_trial(trial(IDS[0], usage=TokenUse(input_tokens=7)), attempt).result()
        rows = {row["number"]: row for row in store.reader.attempts()}
        assert rows[attempt]["state"] == "finished"
        assert json.loads(rows[attempt]["usage"])["input_tokens"] == 7
        assert rows[lost]["state"] == "started"


def test_futures_can_be_awaited(folder: Path) -> None:
    async def run(store: RunStore) -> list[bool]:
        return await asyncio.gather(*(asyncio.wrap_future(store.save_trial(trial(id_))) for id_ in IDS))

    with started(folder) as store:
        assert asyncio.run(run(store)) == [True] * len(IDS)


def test_the_folder_is_open_to_its_owner_only(folder: Path) -> None:
    started(folder).close()
    assert folder.stat().st_mode & 0o777 == 0o700


def test_after_closing_the_ledger_is_one_file(folder: Path) -> None:
    started(folder).close()
    assert sorted(path.name for path in folder.iterdir()) == ["ledger.db", "manifest.json", "plan.json", "runner.lock"]


def test_the_same_manifest_continues_the_run(folder: Path) -> None:
    with started(folder) as store:
        store.save_trial(trial(IDS[0]))
    again = create(folder, PLAN, manifest(environment={"cpu": "other"})).value
    assert again is not None
    with again:
        assert again.reader.completed_keys() == {trial(IDS[0]).key}


def test_another_manifest_refuses_and_names_the_difference(folder: Path) -> None:
    started(folder).close()
    checked = open_run(folder, manifest(packages={"mcp": "2.4.0"}, sandbox="bwrap"))
    assert checked.value is None
    assert [d.code for d in checked.diagnostics] == ["MCPE540"]
    assert "packages.mcp: 2.3.0 → 2.4.0; sandbox: none → bwrap" in checked.diagnostics[0].body


def test_a_second_runner_is_refused(folder: Path) -> None:
    with started(folder):
        assert [d.code for d in open_run(folder, manifest()).diagnostics] == ["MCPE541"]
    again = open_run(folder, manifest()).value
    assert again is not None
    again.close()


def test_redaction_happens_before_anything_is_written(folder: Path) -> None:
    def redact(value: object) -> object:
        return json.loads(json.dumps(value).replace("hunter2", "[redacted]"))

    with started(folder, redact=redact) as store:
        store.save_trial(trial(IDS[0], prompt="use hunter2")).result()
        assert [record.prompt for record in store.reader.records()] == ["use [redacted]"]


def test_a_lone_surrogate_does_not_stop_the_run(folder: Path) -> None:
    answer = TrialRecord.model_validate(trial(IDS[0])).answer
    object.__setattr__(answer, "text", "half \ud83d")
    with started(folder) as store:
        assert store.save_trial(trial(IDS[0], answer=answer)).result() is True
        assert next(store.reader.records()).answer.text == "half \ufffd\ufffd\ufffd"


def test_one_flipped_byte_is_found_by_name(folder: Path) -> None:
    with started(folder) as store:
        for id_ in IDS[:2]:
            store.save_trial(trial(id_))
    connection = sqlite3.connect(folder / "ledger.db")
    data = bytearray(connection.execute("SELECT data FROM trial WHERE id = ?", (IDS[1],)).fetchone()[0])
    data[len(data) // 2] ^= 1
    connection.execute("UPDATE trial SET data = ? WHERE id = ?", (bytes(data), IDS[1]))
    connection.commit()
    connection.close()
    reader = RunReader(RunFolder(folder))
    assert len(reader.verify()) == 1
    assert IDS[1] in reader.verify()[0]
    with pytest.raises(DamagedRecord):
        list(reader.records())


def test_a_ledger_that_is_no_database_is_a_store_error(folder: Path) -> None:
    started(folder).close()
    (folder / "ledger.db").write_bytes(b"not a database" * 100)
    with pytest.raises(StoreError):
        open_run(folder, manifest())


def test_runs_are_found_by_name_start_and_age(tmp_path: Path) -> None:
    for name in ("2026-a", "2026-b"):
        started(tmp_path / ".mcpe" / "runs" / name).close()
    os.utime(tmp_path / ".mcpe" / "runs" / "2026-a" / "ledger.db", (time.time() + 9, time.time() + 9))
    assert [run.path.name for run in runs(tmp_path)] == ["2026-a", "2026-b"]
    assert find(tmp_path, None) == runs(tmp_path)[0]
    assert find(tmp_path, "2026-b") == runs(tmp_path)[1]
    assert find(tmp_path, "2026") is None
    assert find(tmp_path, "../../etc") is None


_WRITER = """
    import sys
    from pathlib import Path
    from mcpeval_dsl.records.store import create
    from tests.records.samples import manifest, trial
    store = create(Path(sys.argv[1]), b'{"nodes": []}', manifest()).value
    done = store.reader.completed_keys()
    for number in range(1, int(sys.argv[2]) + 1):
        record = trial(f"t@m#{number}")
        if record.key not in done:
            attempt = store.begin_attempt(record.id, record.key).result()
            store.save_trial(record, attempt).result()
            print(record.key, flush=True)
    store.close()
"""


def _start(folder: Path, trials: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(_WRITER), str(folder), str(trials)], stdout=subprocess.PIPE, text=True
    )


def test_killed_at_any_moment_nothing_acknowledged_is_lost_and_the_rest_is_run(folder: Path) -> None:
    process = _start(folder, 100)
    assert process.stdout is not None
    acknowledged = [process.stdout.readline().strip() for _ in range(60)]
    process.send_signal(signal.SIGKILL)
    acknowledged += process.stdout.read().split()
    process.wait()
    process.stdout.close()
    assert set(acknowledged) <= RunReader(RunFolder(folder)).completed_keys()
    second = _start(folder, 100)
    written = second.communicate()[0].split()
    assert second.returncode == 0
    assert len(written) <= 40
    reader = RunReader(RunFolder(folder))
    assert len(reader.completed_keys()) == 100
    assert reader.verify() == ()


_FULL = """
    import resource, signal, sys
    from pathlib import Path
    from mcpeval_dsl.records.store import StoreError, create
    from tests.records.samples import manifest, trial
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    store = create(Path(sys.argv[1]), b'{"nodes": []}', manifest()).value
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
    done = 0
    try:
        for number in range(1, 1000):
            store.save_trial(trial(f"t@m#{number}")).result()
            done = number
    except StoreError as error:
        print(done)
        try:
            store.save_event("late", {}).result()
        except StoreError:
            print("still broken")
    try:
        store.close()
    except StoreError:
        print("said again")
"""


def test_when_the_disk_takes_no_more_what_was_saved_stays_readable(folder: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(_FULL), str(folder)], capture_output=True, text=True, check=False
    )
    done, *rest = ran.stdout.split("\n")
    assert rest == ["still broken", "said again", ""], ran.stderr
    assert 0 < int(done) < 999
    reader = RunReader(RunFolder(folder))
    assert len(reader.completed_keys()) == int(done)
    assert reader.verify() == ()


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(value=json_values, text=st.text())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_value_survives_the_blob(value: object, text: str) -> None:
    record = harvest(value=value, message=text)
    blob = pack(record)
    assert unpack(HarvestRecord, blob.data, blob.sha256, "h") == record


@given(json_values)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_redacting_nothing_changes_nothing(value: object) -> None:
    record = trial(scope={"x": value})
    plain, redacted = pack(record), pack(record, lambda data: data)
    assert unpack(TrialRecord, redacted.data, redacted.sha256, "t") == unpack(
        TrialRecord, plain.data, plain.sha256, "t"
    )
