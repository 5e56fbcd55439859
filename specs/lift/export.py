"""Writes the demo tracker's database as text files, as a nightly export would: `python export.py tracker.db export`."""

from __future__ import annotations

import csv
import sqlite3
import sys
from pathlib import Path

ISSUES = """
select created, key, name as project, status, assignee, title
from issues join projects on project = projects.id order by project, issues.number
"""


def main() -> None:
    database, folder = sys.argv[1], Path(sys.argv[2])
    (folder / "pages").mkdir(parents=True)
    with sqlite3.connect(database) as connection:
        for name, query in (("issues", ISSUES), ("comments", "select key, body from comments order by id")):
            rows = connection.execute(query)
            with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as target:
                writer = csv.writer(target)
                writer.writerow([column[0] for column in rows.description])
                writer.writerows(rows)
        for number, title, body in connection.execute("select id, title, body from pages"):
            (folder / "pages" / f"{number}.md").write_text(f"# {title}\n\n{body}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
