"""Makes the demo tracker's database: `python fixture.py tracker.db --seed 7`. Another seed, another world of the same shape."""

from __future__ import annotations

import argparse
import json
import random
import sqlite3
from datetime import date, timedelta

SCHEMA = """
create table projects (id integer primary key, name text, prefix text, cached_count integer default 0);
create table issues (key text primary key, project integer, number integer, title text, status text, assignee text,
                     created text, labels text default '[]');
create table comments (id integer primary key, key text, body text);
create table pages (id integer primary key, title text, body text);
"""
TEAMS = ["backend", "frontend", "platform", "support", "payments", "mobile"]
PROJECTS = [("Billing", "BILL", 1, 23), ("Website", "WEB", 1, 12), ("Legacy", "LEG", 101, 7), ("Archive", "ARC", 1, 0)]
SUBJECTS = [
    "Invoice",
    "Refund",
    "Export",
    "Login page",
    "Receipt",
    "Currency list",
    "Search box",
    "Session",
    "Reminder",
]
FAULTS = [
    "is slow",
    "shows the wrong total",
    "fails on retry",
    "loses its filter",
    "times out",
    "is cut off",
    "repeats",
]
REGIONS = [
    f"{area}-{side}-{n}" for area in ("eu", "us", "ap", "sa") for side in ("east", "west", "north") for n in (1, 2)
]
SECRET_WORDS = ["idempotency", "webhook", "sandbox", "checksum"]


def issues(chance: random.Random, connection: sqlite3.Connection) -> None:
    for number, (name, prefix, first, count) in enumerate(PROJECTS, start=1):
        connection.execute("insert into projects (id, name, prefix) values (?, ?, ?)", (number, name, prefix))
        days = chance.sample(range(400), count)
        titles = chance.sample([f"{subject} {fault}" for subject in SUBJECTS for fault in FAULTS], count)
        status = ["open"] * max(count - count // 3, 0) + ["closed"] * (count // 3)
        chance.shuffle(status)
        for offset in range(count):
            created = date(2025, 1, 6) + timedelta(days=days[offset])
            row = (f"{prefix}-{first + offset}", number, first + offset, titles[offset], status[offset])
            connection.execute(
                "insert into issues (key, project, number, title, status, assignee, created) values (?, ?, ?, ?, ?, ?, ?)",
                (*row, chance.choice(TEAMS), created.isoformat()),
            )


def comments(chance: random.Random, connection: sqlite3.Connection) -> None:
    keys = [row[0] for row in connection.execute("select key from issues where project = 1 order by number")]
    for word, key in zip(SECRET_WORDS, chance.sample(keys, len(SECRET_WORDS)), strict=True):
        connection.execute(
            "insert into comments (key, body) values (?, ?)", (key, f"Looks like the {word} check again.")
        )


def pages(chance: random.Random, connection: sqlite3.Connection) -> None:
    regions = sorted(chance.sample(REGIONS, 11))
    example = chance.sample(regions, 2)
    texts = [
        (
            "Quick start",
            f"Pick a region. A region is set once per region token, for example region={example[0]}."
            f" A second region={example[1]} can follow. Every region has its own region key.",
        ),
        ("Failover", "Failover moves a region to another region when the first region is down. One region at a time."),
        ("Pricing by region", "A region is billed per region hour; moving between a region and another is free."),
        ("Data residency", "Where data may be kept, by region: " + ", ".join(regions) + "."),
        ("Changelog", "The region picker was added."),
        ("Tokens", "A token lives for an hour."),
    ]
    chance.shuffle(tail := texts[4:])
    connection.executemany("insert into pages (title, body) values (?, ?)", texts[:4] + tail)
    connection.execute("create table regions as select value as name from json_each(?)", (json.dumps(regions),))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("database")
    options.add_argument("--seed", type=int, default=7)
    given = options.parse_args()
    chance = random.Random(given.seed)
    with sqlite3.connect(given.database) as connection:
        connection.executescript(SCHEMA)
        issues(chance, connection)
        comments(chance, connection)
        pages(chance, connection)


if __name__ == "__main__":
    main()
