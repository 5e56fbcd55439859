"""The tools of the demo tracker: what they promise a model, and what they do."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

PER_PAGE = 5
READ = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
WRITE = {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False}


class ToolFailure(Exception):
    """What the model is told went wrong."""


@dataclass(frozen=True)
class Tool:
    name: str
    description: str
    run: Callable[[sqlite3.Connection, Mapping[str, Any]], dict[str, Any]]
    properties: Mapping[str, Any] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    annotations: Mapping[str, Any] | None = None

    @property
    def schema(self) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "object", "properties": dict(self.properties)}
        if self.required:
            schema["required"] = list(self.required)
        return schema


def text(about: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "description": about, **more}


def project_id(connection: sqlite3.Connection, name: str) -> int:
    row = connection.execute("select id from projects where name = ? collate nocase", (name,)).fetchone()
    if row is None:
        raise ToolFailure(f"There is no project named {name!r}")
    return int(row["id"])


def issue(row: sqlite3.Row) -> dict[str, Any]:
    return {
        "key": row["key"],
        "title": row["title"],
        "status": row["status"],
        "assignee": row["assignee"],
        "created": row["created"],
        "labels": json.loads(row["labels"]),
    }


def paged(connection: sqlite3.Connection, sql: str, values: tuple[Any, ...], page: Any) -> dict[str, Any]:
    number = max(int(page or 1), 1)
    rows = connection.execute(f"{sql} limit ? offset ?", (*values, PER_PAGE + 1, (number - 1) * PER_PAGE)).fetchall()
    return {
        "issues": [issue(row) for row in rows[:PER_PAGE]],
        "page": number,
        "next_page": number + 1 if len(rows) > PER_PAGE else None,
    }


def list_projects(connection: sqlite3.Connection, _: Mapping[str, Any]) -> dict[str, Any]:
    return {"projects": [row["name"] for row in connection.execute("select name from projects order by name")]}


def list_issues(connection: sqlite3.Connection, given: Mapping[str, Any]) -> dict[str, Any]:
    sql, values = "select * from issues where project = ?", (project_id(connection, given["project"]),)
    status = given.get("status", "all")
    if status != "all":
        sql, values = f"{sql} and status = ?", (*values, status)
    order = {"created": "created", "key": "number"}.get(given.get("sort", "created"))
    if order is None:
        raise ToolFailure("sort must be created or key")
    return paged(connection, f"{sql} order by {order}, number", values, given.get("page"))


def search_issues(connection: sqlite3.Connection, given: Mapping[str, Any]) -> dict[str, Any]:
    like = f"%{given['query']}%"
    sql = """select * from issues where title like ? or exists
             (select 1 from comments where comments.key = issues.key and body like ?) order by created, number"""
    return paged(connection, sql, (like, like), given.get("page"))


def find_issues(connection: sqlite3.Connection, given: Mapping[str, Any]) -> dict[str, Any]:
    return paged(
        connection, "select * from issues where title = ? order by number", (given["title"],), given.get("page")
    )


def get_issue(connection: sqlite3.Connection, given: Mapping[str, Any]) -> dict[str, Any]:
    # The bug: keys with three digits are listed, and cannot be read.
    row = None
    if re.fullmatch(r"[A-Z]+-\d{1,2}", given["key"]):
        row = connection.execute("select * from issues where key = ?", (given["key"],)).fetchone()
    if row is None:
        raise ToolFailure(f"Issue {given['key']} not found")
    comments = connection.execute("select body from comments where key = ? order by id", (given["key"],))
    return {**issue(row), "comments": [comment["body"] for comment in comments]}


def add_comment(connection: sqlite3.Connection, given: Mapping[str, Any]) -> dict[str, Any]:
    known(connection, given["key"])
    connection.execute("insert into comments (key, body) values (?, ?)", (given["key"], given["body"]))
    return {"key": given["key"], "added": True}


def update_issue(connection: sqlite3.Connection, given: Mapping[str, Any]) -> dict[str, Any]:
    row = known(connection, given["key"])
    labels = json.loads(row["labels"])
    labels += [label for label in given.get("add_labels", []) if label not in labels]
    connection.execute(
        "update issues set labels = ?, status = ?, assignee = ? where key = ?",
        (json.dumps(labels), given.get("status", row["status"]), given.get("assignee", row["assignee"]), given["key"]),
    )
    return issue(known(connection, given["key"]))


def known(connection: sqlite3.Connection, key: str) -> sqlite3.Row:
    row = connection.execute("select * from issues where key = ?", (key,)).fetchone()
    if row is None:
        raise ToolFailure(f"Issue {key} not found")
    return row


def purge_project(connection: sqlite3.Connection, given: Mapping[str, Any]) -> dict[str, Any]:
    number = project_id(connection, given["project"])
    connection.execute("delete from comments where key in (select key from issues where project = ?)", (number,))
    removed = connection.execute("delete from issues where project = ?", (number,)).rowcount
    return {"project": given["project"], "removed": removed}


def recount(connection: sqlite3.Connection, given: Mapping[str, Any]) -> dict[str, Any]:
    number = project_id(connection, given["project"])
    count = connection.execute("select count(*) from issues where project = ?", (number,)).fetchone()[0]
    connection.execute("update projects set cached_count = ? where id = ?", (count, number))
    return {"project": given["project"], "count": count}


def search_pages(connection: sqlite3.Connection, given: Mapping[str, Any]) -> dict[str, Any]:
    words = [word for word in re.findall(r"\w+", given["query"].lower()) if len(word) > 3]
    rows = connection.execute("select id, title, body from pages order by id").fetchall()
    scored = [(sum(row["body"].lower().count(word.rstrip("s")) for word in words), row) for row in rows]
    best = sorted((pair for pair in scored if pair[0]), key=lambda pair: (-pair[0], pair[1]["id"]))[:5]
    return {"results": [{"id": row["id"], "title": row["title"]} for _, row in best]}


def get_page(connection: sqlite3.Connection, given: Mapping[str, Any]) -> dict[str, Any]:
    row = connection.execute("select * from pages where id = ?", (given["id"],)).fetchone()
    if row is None:
        raise ToolFailure(f"Page {given['id']} not found")
    return {"id": row["id"], "title": row["title"], "body": row["body"]}


PROJECT = text("Name of the project")
PAGE = {"type": "integer", "minimum": 1, "description": "Page to show, from 1"}
KEY = text("Key of the issue")
STATUS = {"type": "string", "enum": ["open", "closed", "all"], "default": "all"}

TOOLS: tuple[Tool, ...] = (
    Tool("list_projects", "All projects.", list_projects, annotations=READ),
    Tool(
        "list_issues",
        "Issues of one project, five to a page, oldest first unless sorted by key.",
        list_issues,
        {
            "project": PROJECT,
            "status": STATUS,
            "sort": {"type": "string", "enum": ["created", "key"], "default": "created"},
            "page": PAGE,
        },
        ("project",),
        READ,
    ),
    Tool(
        "search_issues",
        "Issues whose title or comments contain the words, in any project.",
        search_issues,
        {"query": text("Words to look for"), "page": PAGE},
        ("query",),
        READ,
    ),
    Tool(
        "find_issues",
        "Find issues by title.",
        find_issues,
        {"title": text("Title of the issue"), "page": PAGE},
        ("title",),
        READ,
    ),
    Tool("get_issue", "One issue with its comments.", get_issue, {"key": KEY}, ("key",), READ),
    Tool(
        "add_comment",
        "Add a comment to an issue.",
        add_comment,
        {"key": KEY, "body": text("Text of the comment")},
        ("key", "body"),
        WRITE,
    ),
    Tool(
        "update_issue",
        "Change labels, status or assignee of an issue.",
        update_issue,
        {
            "key": KEY,
            "add_labels": {"type": "array", "items": {"type": "string"}},
            "status": {"type": "string", "enum": ["open", "closed"]},
            "assignee": text("Team that has the issue"),
        },
        ("key",),
        WRITE,
    ),
    Tool(
        "purge_project",
        "Delete every issue of a project for good.",
        purge_project,
        {"project": PROJECT},
        ("project",),
        {"readOnlyHint": False, "destructiveHint": True},
    ),
    Tool("recount", "", recount, {"project": {"type": "string"}}, ("project",)),
    Tool(
        "search_pages",
        "Pages of the handbook that fit the words, best first.",
        search_pages,
        {"query": text("Words to look for")},
        ("query",),
        READ,
    ),
    Tool("get_page", "One page of the handbook.", get_page, {"id": {"type": "integer"}}, ("id",), READ),
)
