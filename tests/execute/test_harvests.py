"""Values read before trials: every source, every reading, what is refused, and what a harvest that gave nothing does."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator

import pytest

from mcpeval_dsl.records.model import HarvestRecord
from tests.execute.bench import Bench, outcome

DESK = """environment desk {
  copy "things.json" to "{{ workdir }}/shelf.json"
  write "{{ workdir }}/notes.txt" "first\\nsecond\\n"
  load "shop.sql" into "{{ workdir }}/shop.db"
}
let db = "{{ workdir }}/shop.db"
"""

SOURCES = """
harvest by_tool     = shelf.list_things() { first = $.things[0]; all = $.things[*]; require first == "lamp" }
harvest by_chain    = shelf.get_thing(number: 1) { name = $.name; require name != by_tool.first }
harvest by_sql      = sql("select count(*) as count from items", on: db) { count = $[0].count }
harvest by_file     = file("{{ workdir }}/notes.txt") { word = /(\\w+)/ }
harvest by_files    = files("{{ workdir }}") { digest = $["notes.txt"] }
harvest by_command  = command("sh", "-c", "echo five words come from here; exit 3") { word = /(\\w+)/ }
harvest by_http     = http("GET", "URL/things") { name = $.name }
harvest by_resource = resource("shelf://kept") { text = $ }
harvest as_lines    = file("{{ workdir }}/notes.txt") { read lines; second = $[1] }
harvest as_python   = shelf.get_prose() { read python; last = $[1] }
harvest as_yaml     = shelf.get_prose(text: "name: vase\\nsize: 3") { read yaml; size = $.size }
harvest as_text     = shelf.get_prose(text: "[1, 2]") { read text; whole = $ }
harvest as_json     = shelf.get_prose(text: "[1, 2]") { read json; second = $[1] }
harvest whole       = shelf.list_things()
harvest here        = command("pwd") { path = $ }
harvest in_trial    = shelf.get_place() { scope trial; pid = $.pid }
"""


@pytest.fixture(scope="module")
def web() -> Iterator[str]:
    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"name": "globe"}')

        def log_message(self, *_: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_every_source_and_reading(bench: Bench, web: str) -> None:
    names = [line.split()[1] for line in SOURCES.splitlines() if line]
    uses = " ".join(f"{{{{ {name} }}}}" for name in names)
    body = DESK + SOURCES.replace("URL", web) + f'task use {{ prompt "{uses}"; grade contains here.path }}\n'
    bench.spec(body, {"use": [{"call": "get_place"}, {"reply": "{{ last.structured.cwd }}"}]}, trials=2)
    bench.write("specs/shop.sql", "create table items (name); insert into items values ('lamp'), ('vase');")
    done = bench.run()
    assert done.code == 0, done.out + done.err
    values = {name: record.value for name, record in bench.harvests.items()}
    assert values["by_tool"] == {"first": "lamp", "all": ["lamp", "vase"]}
    assert values["by_chain"] == {"name": "vase"}
    assert values["by_sql"] == {"count": 2}
    assert values["by_file"] == {"word": "first"}
    assert values["by_files"]["digest"].startswith("sha256:")
    assert values["by_command"] == {"word": "five"}
    assert values["by_http"] == {"name": "globe"}
    assert values["by_resource"] == {"text": "kept text"}
    assert values["as_lines"] == {"second": "second"}
    assert values["as_python"] == {"last": "b"}
    assert values["as_yaml"] == {"size": 3}
    assert values["as_text"] == {"whole": "[1, 2]"}
    assert values["as_json"] == {"second": 2}
    assert values["whole"] == {"things": ["lamp", "vase"]}
    # What names the harvest's own folder means each trial's own: the grader found it in the answer.
    assert "trial folder" in values["here"]["path"]
    prompts = [bench.records[f"use#{number}"].prompt for number in (1, 2)]
    assert prompts[0] != prompts[1] and "trial folder" not in prompts[0]
    assert "in_trial" not in values
    assert bench.records["use#1"].scope["in_trial"]["pid"] != bench.records["use#2"].scope["in_trial"]["pid"]


TROUBLE = """
harvest nothing  = sql("select name from items where name = 'desk'", on: db) { names = $[*].name }
harvest no_path  = shelf.list_things() { name = $.missing.name }
harvest failing  = shelf.get_error() { name = $.name }
harvest dying    = shelf.get_die() { name = $.name }
harvest denied   = shelf.add_thing(name: "new") { things = $.things }
harvest refused  = shelf.list_things() { name = $.things[0]; require name == "desk" because "the fixture has one" }
harvest dependent = shelf.get_thing(number: count(nothing.names)) { name = $.name }
harvest later     = shelf.get_thing(number: count(dependent.name)) { name = $.name }
harvest needy     = shelf.list_things() { name = $.things[0]; needs secret "SHELF_NOT_SET" }
harvest permitted = shelf.add_thing(name: "new") { things = $.things; permit because "a copy is changed" }
"""


def test_a_harvest_that_gives_nothing_makes_its_tasks_untestable_and_says_why(bench: Bench) -> None:
    names = [line.split()[1] for line in TROUBLE.splitlines() if line]
    tasks = (
        "".join(f'task use_{name} {{ prompt "Tell {{{{ {name} }}}}."; grade contains "done" }}\n' for name in names)
        + 'task use_none { prompt "Tell."; grade contains "done" }\n'
    )
    bench.spec(DESK + TROUBLE + tasks)
    bench.write("specs/shop.sql", "create table items (name); insert into items values ('lamp');")
    done = bench.run()
    assert done.code != 1, done.out
    status = {name: record.status for name, record in bench.harvests.items()}
    assert status == {
        "nothing": "empty",
        "no_path": "empty",
        "failing": "failed",
        "dying": "failed",
        "denied": "failed",
        "refused": "failed",
        "dependent": "blocked",
        "later": "blocked",
        "needy": "blocked",
        "permitted": "ok",
    }
    assert "the fixture has one" in bench.harvests["refused"].message
    assert "SHELF_NOT_SET" in bench.harvests["needy"].message
    assert "permit" in bench.harvests["denied"].message
    assert "exit" in bench.harvests["dying"].message
    for name in names:
        record = bench.records[f"use_{name}#1"]
        if name == "permitted":
            assert outcome(record) == "pass"
            continue
        assert outcome(record) == "untestable", name
        assert record.prompt == "" and not record.turns
        assert record.outcome is not None and any(name in cause for cause in record.outcome.because or ())
    chain = bench.records["use_later#1"].outcome
    assert chain is not None and chain.because is not None
    assert [cause.split(":")[0] for cause in chain.because] == ["harvest nothing", "harvest dependent", "harvest later"]
    assert outcome(bench.records["use_none#1"]) == "pass"
    assert "untestable" in done.out or "NOT TESTED" in done.out


def test_rows_of_a_harvest_become_trials_and_absent_rows_do_not_apply(bench: Bench) -> None:
    body = """
harvest shelf_now = shelf.list_things() { names = $.things[*] }
for thing in shelf_now.names where thing != "vase" limit 3 {
  task name_it { prompt "Say {{ thing }}."; grade contains thing }
}
"""
    bench.spec(body, {"name_it": [{"reply": "{{ prompt }}"}]})
    bench.write("specs/things.json", '["lamp", "vase", "globe"]')
    done = bench.run()
    assert done.code == 0, done.out + done.err
    records = sorted(bench.reader.records(), key=lambda record: record.id)
    assert [record.not_applicable for record in records] == [False, False, True]
    assert [record.answer.text for record in records[:2]] == ["Say lamp.", "Say globe."]
    assert records[2].trouble is None


def test_a_harvest_of_each_row_is_read_for_the_rows_there_are(bench: Bench) -> None:
    body = """
harvest shelf_now = shelf.list_things() { names = $.things[*] }
for thing in shelf_now.names limit 3 {
  task name_it {
    harvest twice = command("echo", thing, thing) { line = $ }
    prompt "Say {{ twice.line }}."
    grade contains twice.line
  }
}
"""
    bench.spec(body, {"name_it": [{"reply": "{{ prompt }}"}]})
    assert bench.run().code == 0
    records = sorted(bench.reader.records(), key=lambda record: record.id)
    assert [record.answer.text for record in records[:2]] == ["Say lamp lamp.", "Say vase vase."]
    assert records[2].not_applicable and records[2].outcome is None


def test_a_truth_is_read_after_the_agent(bench: Bench) -> None:
    body = """
task add_one {
  prompt "Add a globe and say how many things there are."
  may    add_thing
  truth  now = shelf.list_things() { count = count($.things) }
  grade  number now.count
}
"""
    bench.spec(body, {"add_one": [{"call": {"tool": "add_thing", "arguments": {"name": "globe"}}}, {"reply": "3"}]})
    assert bench.run().code == 0
    record = bench.records["add_one#1"]
    assert outcome(record) == "pass"
    assert [call.actor for call in record.calls] == ["agent", "truth"]


def test_harvests_are_read_in_a_world_of_their_own(bench: Bench) -> None:
    """What a permitted harvest changes is gone before any trial."""
    body = """
harvest grown = shelf.add_thing(name: "new") { things = $.things; permit because "a copy is changed" }
task use { prompt "{{ count(grown.things) }}"; grade state shelf.list_things() count($.things) == 2 }
"""
    bench.spec(body)
    assert bench.run().code == 0, bench.records
    grown: HarvestRecord = bench.harvests["grown"]
    assert len(grown.value["things"]) == 3
    assert grown.calls[0].actor == "harvest"
