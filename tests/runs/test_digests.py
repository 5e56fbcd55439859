"""What a run keeps beside its ledger for scoring: there when it ends, used by the commands that score, and never needed."""

from __future__ import annotations

import json

from mcpeval_dsl.cli.stored import code, read_run
from mcpeval_dsl.records.digests import context_of
from mcpeval_dsl.score.digest import Digester
from tests.execute.bench import Bench

BODY = """
harvest first = shelf.get_thing(number: 0) { name = $.name }
task reads { prompt "Is there a {{ first.name }}?"; grade contains first.name }
task fails { prompt "x"; grade contains "nothing of the kind" }
gate { require task_success >= 90% }
"""
SCRIPTS = {"reads": [{"call": "list_things"}, {"reply": "{{ last.text }}"}], "*": [{"reply": "done"}]}


def kept(bench: Bench) -> tuple[int, int]:
    """Trials whose digest fits, and those that would be graded again."""
    run = read_run(bench.root, bench.reader.folder.path)
    assert run is not None
    digester = Digester(run.plan, code())
    found = list(run.reader.digests())
    fitting = sum(piece is not None and context_of(piece) == digester.context(id_) for id_, _, piece in found)
    return fitting, len(run.reader.outdated(code()))


def test_a_run_keeps_a_digest_of_each_trial_and_scoring_grades_none_again(bench: Bench) -> None:
    bench.spec(BODY, SCRIPTS, trials=3)
    assert bench.run().code == 1
    assert kept(bench) == (6, 0)
    card = bench.scorecard
    gradings = bench.reader.folder.ledger.read_bytes()
    shown = bench.mcpe("score", "--format", "json")
    assert shown.code == 1 and json.loads(shown.out.splitlines()[1])["type"] == "scorecard"
    assert bench.scorecard == card
    assert bench.reader.folder.ledger.read_bytes() == gradings


def test_a_run_without_them_is_graded_and_scored_as_before(bench: Bench) -> None:
    bench.spec(BODY, SCRIPTS, trials=3)
    bench.run()
    card, name = bench.scorecard, bench.reader.folder.path.name
    (bench.reader.folder.path / "digests.db").unlink()
    bench.run("--fresh")
    assert bench.mcpe("compare", bench.reader.folder.path.name, name).code in (0, 4)
    (old,) = [path for path in bench.root.glob(".mcpe/runs/*") if path.name == name]
    assert (old / "digests.db").exists()
    (old / "digests.db").write_bytes(b"garbage" * 1000)
    assert bench.mcpe("score", name).code == 1
    assert (old / "scorecard.json").read_bytes() == card


def test_grading_again_is_done_where_it_is_asked_for(bench: Bench) -> None:
    bench.spec(BODY, SCRIPTS, trials=2)
    bench.run()
    before = bench.reader.folder.ledger.read_bytes()
    assert bench.mcpe("score", "--again").code == 1
    assert bench.reader.folder.ledger.read_bytes() != before
    assert kept(bench) == (4, 0)
