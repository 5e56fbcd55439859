"""Score, second step for a run on disk: what its trials say, from the digests beside the ledger where they fit.

The rest is made from the records, as `gather.gather` makes it, and kept for the next time.
"""

from __future__ import annotations

from contextlib import closing

from mcpeval_dsl.plan.model import Plan
from mcpeval_dsl.records.codec import DamagedRecord
from mcpeval_dsl.records.digest_writer import DigestWriter
from mcpeval_dsl.records.digests import NO_CONTEXT, context_of, packed
from mcpeval_dsl.records.reader import RunReader
from mcpeval_dsl.score.digest import Digester
from mcpeval_dsl.score.gather import Gathered, Gathering


def gather_stored(plan: Plan, reader: RunReader, made_by: str) -> Gathered:
    """The same, to the bit, as `gather` of all that the reader gives. `made_by` names the code that makes digests.

    Raises DamagedRecord, also for a trial that the plan does not have, and StoreError.
    """
    digester = Digester(plan, made_by)
    gathering = Gathering(plan)
    missing: list[str] = []
    for trial, key, piece in reader.digests():
        if piece is not None and context_of(piece) == digester.context(trial):
            gathering.add(gathering.place(trial), piece)
        else:
            missing.append(key)
    if missing:
        _make(reader, missing, gathering, digester)
    for record in reader.superseded():
        gathering.add_superseded(record, digester)
    return gathering.result(reader.connects(), reader.harvests(), reader.defects(), reader.judgements())


def _make(reader: RunReader, keys: list[str], gathering: Gathering, digester: Digester) -> None:
    with closing(DigestWriter(reader.folder.path, digester)) as writer:
        for found in reader.wholes(keys):
            record = found.record()
            if digester.context(record.id) is None:
                raise DamagedRecord(f"trial {record.id}", "the plan of this run has no such trial")
            digest = digester.digest(record)
            gathering.add(gathering.place(record.id), packed(digest, NO_CONTEXT))
            writer.made(found, digest)
