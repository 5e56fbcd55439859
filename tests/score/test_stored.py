"""A run scored from what lies beside its ledger has the scorecard, to the byte, that its records give."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpeval_dsl.plan.model import Plan
from mcpeval_dsl.records.codec import DamagedRecord
from mcpeval_dsl.records.digests import context_of
from mcpeval_dsl.records.folder import StoreError
from mcpeval_dsl.records.reader import RunReader
from mcpeval_dsl.records.store import RunStore, create, open_run
from mcpeval_dsl.score.digest import Digester
from mcpeval_dsl.score.plain import indented
from mcpeval_dsl.score.scorecard import build, scored, to_bytes
from mcpeval_dsl.score.stored import gather_stored
from tests.records.samples import manifest, outcome
from tests.score.random_runs import Run, random_run
from tests.score.samples import plan, run, verdict

CODE = "this code"


@contextmanager
def store_of(folder: Path, made: Plan, digests: bool = True) -> Iterator[RunStore]:
    nodes = [{"kind": "trial", "id": n.id, "trials": n.trials} for n in made.nodes if n.kind == "trial"]
    digester = Digester(made, CODE) if digests else None
    store = create(folder, json.dumps({"nodes": nodes}).encode(), manifest(), None, digester).value
    assert store is not None
    with store:
        yield store


def saved(folder: Path, found: Run, order: Random | None = None, digests: bool = True) -> RunReader:
    """The run on disk, its trials in any order, as `mcpe run` saves them."""
    with store_of(folder, found.plan, digests) as store:
        for record in found.earlier:
            store.save_trial(record)
        again = {record.key for record in found.earlier}
        for record in order.sample(found.records, len(found.records)) if order else found.records:
            store.save_trial(record, supersede=record.key in again)
        for harvest in found.harvests:
            store.save_harvest(harvest)
    return store.reader


def from_records(made: Plan, reader: RunReader) -> bytes:
    harvests = reader.harvests()
    found = build(made, reader.records(), reader.connects(), harvests, reader.superseded(), manifest=reader.manifest())
    return to_bytes(found.scorecard)


def from_digests(made: Plan, reader: RunReader, code: str = CODE) -> bytes:
    found = gather_stored(made, reader, code)
    return to_bytes(scored(made, found, reader.connects(), manifest=reader.manifest()).scorecard)


def fitting(made: Plan, reader: RunReader, code: str = CODE) -> int:
    """How many trials have a digest that can be used."""
    digester = Digester(made, code)
    return sum(piece is not None and context_of(piece) == digester.context(id_) for id_, _, piece in reader.digests())


def beside(reader: RunReader, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(reader.folder.path / "digests.db")) as connection, connection:
        connection.execute(statement, values)


@settings(max_examples=25, deadline=None)
@given(number=st.integers(0, 10**6))
def test_digests_and_records_give_the_same_scorecard(tmp_path_factory: pytest.TempPathFactory, number: int) -> None:
    found = random_run(number)
    reader = saved(tmp_path_factory.mktemp("run"), found, Random(number))
    graded = sum(record.outcome is not None or bool(record.verdicts) for record in found.records)
    assert fitting(found.plan, reader) == graded
    assert from_digests(found.plan, reader) == from_records(found.plan, reader)


@settings(max_examples=10, deadline=None)
@given(number=st.integers(0, 10**6))
def test_what_is_wrong_with_digests_changes_no_scorecard(tmp_path_factory: pytest.TempPathFactory, number: int) -> None:
    found, chance = random_run(number), Random(number)
    reader = saved(tmp_path_factory.mktemp("run"), found)
    right = from_records(found.plan, reader)
    for damage in (
        "DELETE FROM digest WHERE trial % 3 = ?",
        "UPDATE digest SET data = CAST(data || x'00' AS BLOB) WHERE trial % 3 = ?",
        "UPDATE digest SET data = data || x'ff' WHERE trial % 3 = ?",
        "UPDATE digest SET bound = randomblob(32) WHERE trial % 3 = ?",
        "UPDATE digest SET data = 'text' WHERE trial % 3 = ?",
        "UPDATE digest SET trial_sha256 = '' WHERE trial % 3 = ?",
        "UPDATE digest SET grading = grading + 1 WHERE trial % 3 = ?",
        "UPDATE digest SET (data, bound) = (SELECT data, bound FROM digest LIMIT 1) WHERE trial % 3 = ?",
    ):
        beside(reader, damage, chance.randint(0, 2))
        assert from_digests(found.plan, reader) == right


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / ".mcpe" / "runs" / "r1"


def test_what_is_missing_is_made_and_kept(folder: Path) -> None:
    found = random_run(7)
    reader = saved(folder, found, digests=False)
    assert fitting(found.plan, reader) == 0
    right = from_records(found.plan, reader)
    assert from_digests(found.plan, reader) == right
    graded = sum(record.outcome is not None or bool(record.verdicts) for record in found.records)
    assert fitting(found.plan, reader) == graded
    assert from_digests(found.plan, reader) == right


def test_other_code_and_another_task_make_their_own(folder: Path) -> None:
    found = random_run(8)
    reader = saved(folder, found)
    first = found.plan.tasks[0]
    renamed = found.plan.model_copy(update={"tasks": (first.__class__(**_fields(first) | {"title": "new"}),)})
    alone = found.plan.model_copy(update={"tasks": (*renamed.tasks, *found.plan.tasks[1:])})
    assert fitting(found.plan, reader, "other code") == 0
    assert 0 < fitting(alone, reader) < fitting(found.plan, reader) or len(found.plan.tasks) == 1
    assert from_digests(found.plan, reader, "other code") == from_records(found.plan, reader)


def _fields(item: object) -> dict[str, object]:
    return {name: getattr(item, name) for name in item.__dataclass_fields__}  # type: ignore[attr-defined]


@pytest.mark.parametrize("damage", [b"no database at all" * 50, b""])
def test_a_file_that_is_no_database_is_begun_anew(folder: Path, damage: bytes) -> None:
    found = random_run(9)
    reader = saved(folder, found)
    right = from_records(found.plan, reader)
    (folder / "digests.db").write_bytes(damage)
    assert from_digests(found.plan, reader) == right
    assert fitting(found.plan, reader) > 0


def test_a_file_cut_in_two_changes_no_scorecard(folder: Path) -> None:
    made = plan(trials=200)
    found = Run(made, run(made, {}))
    reader = saved(folder, found)
    path = folder / "digests.db"
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    assert from_digests(made, reader) == from_records(made, reader)


def test_a_grading_that_was_replaced_outdates_the_digest(folder: Path) -> None:
    made = plan()
    records = run(made, {})
    reader = saved(folder, Run(made, records))
    before = from_digests(made, reader)
    store = open_run(folder, None).value  # without digests: an earlier mcpe, or one that was killed before it kept them
    assert store is not None
    with store:
        no = verdict("no")
        store.save_grading(records[0].key, (no,), outcome("wrong_answer")).result()
    assert fitting(made, reader) == len(records) - 1
    assert from_digests(made, reader) == from_records(made, reader) != before


@pytest.mark.parametrize(("table", "what"), [("trial", "trial one@m#1"), ("grading", "grading of one@m#1")])
def test_a_damaged_record_is_told_with_and_without_its_digest(folder: Path, table: str, what: str) -> None:
    made = plan()
    reader = saved(folder, Run(made, run(made, {})))
    with closing(sqlite3.connect(folder / "ledger.db")) as connection, connection:
        connection.execute(f"UPDATE {table} SET data = CAST(data || x'00' AS BLOB) WHERE rowid = 1")
    paths: tuple[Callable[[Plan, RunReader], bytes], ...] = (from_digests, from_records)
    for path in paths:
        with pytest.raises(DamagedRecord, match=what):
            path(made, reader)


ODD_ROWS = {
    "a text for bytes": "UPDATE trial SET data = 'text' WHERE rowid = 1",
    "a number for bytes": "UPDATE grading SET data = 7 WHERE rowid = 1",
    "bytes for a name": "UPDATE trial SET id = x'ff00' WHERE rowid = 1",
    "a name of no trial": "UPDATE trial SET id = 'other@m#1' WHERE rowid = 1",
    "two records changed about": """
        UPDATE trial SET (data, sha256) = (SELECT data, sha256 FROM trial o WHERE o.rowid = 5 - trial.rowid)
        WHERE rowid IN (1, 4)""",
}


@pytest.mark.parametrize("digests", [True, False], ids=["with digests", "without"])
@pytest.mark.parametrize("what", ODD_ROWS)
def test_a_row_of_something_else_is_damage(folder: Path, what: str, digests: bool) -> None:
    made = plan()
    reader = saved(folder, Run(made, run(made, {})), digests=digests)
    with closing(sqlite3.connect(folder / "ledger.db")) as connection, connection:
        connection.execute(ODD_ROWS[what])
    for path in (from_digests, from_records):
        with pytest.raises(DamagedRecord):
            path(made, reader)


def test_a_trial_of_another_plan_is_damage(folder: Path) -> None:
    made = plan()
    reader = saved(folder, Run(made, run(made, {})), digests=False)
    fewer = made.model_copy(update={"nodes": made.nodes[:1]})
    with pytest.raises(DamagedRecord, match="the plan of this run has no such trial"):
        from_digests(fewer, reader)


def test_a_damaged_ledger_is_no_matter_of_digests(folder: Path) -> None:
    made = plan()
    reader = saved(folder, Run(made, run(made, {})))
    (folder / "ledger.db").write_bytes(b"not a database" * 100)
    with pytest.raises(StoreError, match="damaged"):
        from_digests(made, reader)


def test_a_folder_that_cannot_be_written_is_scored(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mcpeval_dsl.records import digest_writer

    made = plan()
    reader = saved(folder, Run(made, run(made, {})), digests=False)

    def refuse(path: Path) -> sqlite3.Connection:
        raise sqlite3.OperationalError("attempt to write a readonly database")

    monkeypatch.setattr(digest_writer, "_connect", refuse)
    assert from_digests(made, reader) == from_records(made, reader)
    assert not (folder / "digests.db").exists()


def test_only_gradings_of_this_code_that_are_complete_are_not_outdated(folder: Path) -> None:
    made = plan()
    records = run(made, {"one@m": "ymy"})
    reader = saved(folder, Run(made, records))
    assert reader.outdated(CODE) == [records[1].key]
    assert len(reader.outdated("other code")) == len(records)
    (folder / "digests.db").unlink()
    assert len(reader.outdated(CODE)) == len(records)


leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
plain = st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))


@given(plain)
def test_indented_json_is_that_of_the_standard_library(value: object) -> None:
    assert indented(value) == json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False)
