"""Weak designs, seen as their author sees them: on the command line, with a lock of a real server."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.cases_public.lending import SUITE, Library, calls
from tests.execute.bench import outcome


def found(library: Library, *options: str) -> list[dict[str, Any]]:
    done = library.bench.mcpe("lint", "specs", "--format", "json", *options)
    lines = [json.loads(line) for line in done.out.splitlines()]
    return [line for line in lines if line["type"] == "diagnostic"]


def codes(library: Library) -> set[str]:
    return {each["code"] for each in found(library)}


def lock(library: Library) -> None:
    assert library.bench.mcpe("trust", "specs", "--yes").code == 0
    assert library.bench.mcpe("lock", "specs").code == 0


@pytest.mark.parametrize("answer", ["__VERIFY_ON_INSTANCE__", "REPLACE_WITH_TITLE"])
def test_a_placeholder_is_no_answer(library: Library, answer: str) -> None:
    library.write(f'task read {{ prompt "Who has it?"; grade contains "{answer}" }}\n')
    (warning,) = (each for each in found(library) if each["code"] == "MCPE369")
    assert warning["severity"] == "warning" and answer in warning["title"]
    assert library.bench.mcpe("lint", "specs", "--strict").code == 1
    library.write('task read { prompt "Who has it?"; grade contains "Emma" }\n')
    assert "MCPE369" not in codes(library)


def test_a_prompt_that_names_a_tool_of_the_lock(library: Library) -> None:
    library.write('task read { prompt "Use get_books to see who has it."; grade contains "Emma" }\n')
    assert "MCPE309" not in codes(library)
    lock(library)
    assert "MCPE309" in codes(library)
    library.write('task read { prompt "Get books, and see who has it."; grade contains "Emma" }\n')
    assert "MCPE309" not in codes(library)


def test_a_tool_that_writes_and_does_not_say_how_is_treated_as_destructive(library: Library) -> None:
    body = 'task read { prompt "Who has it?"; grade contains "Emma" }\n'
    library.write(body, mode="silent")
    lock(library)
    (warning,) = (each for each in found(library) if each["code"] == "MCPE380")
    assert "1 tool of `library` is treated as destructive: `lend_book`" in warning["title"]
    head = SUITE.replace("readonly get_*", "readonly get_*; additive lend_book")
    library.write(body, mode="silent", head=head)
    assert "MCPE380" not in codes(library)
    library.write("# mcpe: ignore-file[MCPE380] because the shelf is made for each trial\n" + body, mode="silent")
    assert not {"MCPE380", "MCPE362"} & codes(library)


def test_what_lint_calls_destructive_is_not_called_without_leave(library: Library) -> None:
    """By its hints the tool only writes; nobody believes them further than that."""
    head = SUITE.replace("readonly get_*", "readonly get_*; trust hints")
    body = 'task read { prompt "x"; grade contains "done" }\ntask lend { prompt "x"; MAY; grade contains "done" }\n'
    for may, reached in (("never wipe_all", 0), ("may lend_book", 1)):
        library.write(body.replace("MAY", may), {"*": calls("lend_book")}, mode="silent", head=head)
        assert library.bench.run("--fresh").code == 0
        assert library.bench.records["read#1"].calls[0].permission.decision == "denied"
        assert library.asked.count("tools/call lend_book") == reached


def test_an_imported_placeholder_is_untestable_until_it_has_a_value(library: Library) -> None:
    library.write("")
    bench = library.bench
    pairs = (("Who has Emma?", "__VERIFY_ON_INSTANCE__"), ("Who has Ida?", "REPLACE_WITH_NAME"), ("Who?", "done"))
    qa = "".join(f"<qa_pair><question>{ask}</question><answer>{said}</answer></qa_pair>" for ask, said in pairs)
    bench.write("old.xml", f"<evaluation>{qa}</evaluation>")
    done = bench.mcpe("import", "old.xml", "-o", "specs/old", "--server", "python specs/odd.py")
    assert done.code == 0 and "1 of 1 without placeholders (100%)" in done.out, done.err
    spec = bench.root / "specs/old/old.mcpe"
    spec.write_text(re.sub(r"^model agent.*$", 'model agent { script "../canned.yaml" }', spec.read_text(), flags=re.M))
    bench.mcpe("trust", "specs/old", "--yes")
    bench.mcpe("run", "specs/old")
    assert {name: outcome(record) for name, record in bench.records.items()} == {
        "who_has_emma#1": "untestable",
        "who_has_ida#1": "untestable",
        "who#1": "pass",
    }
    because = bench.records["who_has_ida#1"].outcome
    assert because is not None and because.because and "REPLACE_WITH_NAME" in because.because[0]


def test_parameters_without_a_word_are_noted(library: Library) -> None:
    library.write('task read { prompt "Who has it?"; grade contains "Emma" }\n')
    lock(library)
    (note,) = (each for each in found(library) if each["code"] == "MCPE379")
    assert note["severity"] == "note" and "`get_books.name`" in note["title"]
    shown = library.bench.mcpe("lint", "specs").out
    assert "note[" not in shown and "1 × MCPE379  parameters without a description" in shown


def test_a_run_gives_no_advice(library: Library) -> None:
    library.write('task read { prompt "Who has it?"; grade contains "TBD" }\n')
    done = library.bench.run()
    assert "MCPE369" not in done.out + done.err and done.code in (0, 1)
