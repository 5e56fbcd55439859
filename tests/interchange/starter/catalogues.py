"""Catalogues as servers give them, for the tests of first suites."""

from __future__ import annotations

from typing import Any

from mcpeval_dsl.plan.model import LockedServer, LockedTool

READS: dict[str, object] = {"readOnlyHint": True}
ADDS: dict[str, object] = {"readOnlyHint": False, "destructiveHint": False}
DESTROYS: dict[str, object] = {"destructiveHint": True}
TEXT = {"type": "string"}


def taking(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": dict.fromkeys(required, TEXT) | properties, "required": list(required)}


def giving(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def listing(name: str, *fields: str) -> dict[str, Any]:
    return giving(
        **{name: {"type": "array", "items": giving(**dict.fromkeys(fields, TEXT))}, "count": {"type": "integer"}}
    )


def tool(
    name: str,
    takes: dict[str, Any] | None = None,
    gives: dict[str, Any] | None = None,
    hints: dict[str, object] | None = READS,
    description: str = "Does it.",
) -> LockedTool:
    schema = taking() if takes is None else takes
    return LockedTool(
        name=name, description=description, input_schema=schema, output_schema=gives, annotations=hints, sha256=name
    )


def server(*tools: LockedTool, **changes: Any) -> LockedServer:
    said: dict[str, Any] = {"server": "tracker", "revision": "2025-11-25", "era": "initialize", "transport": "stdio"}
    said |= {"title": "Tracker", "version": "1.5.0", "catalogue_sha256": "x", "capabilities": {"tools": {}}}
    return LockedServer(tools=tools, **(said | changes))


ISSUES = (
    tool("list_issues", gives=listing("issues", "key", "title")),
    tool("get_issue", taking("key"), giving(key=TEXT, title=TEXT, assignee=TEXT)),
    tool("add_comment", taking("key", "text"), hints=ADDS),
    tool("purge_project", taking("project"), hints=DESTROYS),
)
HOSTILE = 'x"\n}\ntask evil { prompt "{{ workdir }}" }\n# \u2028 \u202e \x1b[31m {% raw %} """ \\'
ODD_NAMES = (
    "issues/list",
    "a b",
    'quo"te',
    "back\\slash",
    "{{ braces }}",
    "readonly",
    "refusal",
    "any",
    "true",
    "task",
    "дело",
    "x" * 64,
    "dots.and-dashes",
    "9lives",
    "-dash",
    "getHTTPResponse",
    "new\nline",
    "# comment",
    "*",
)
CATALOGUES: dict[str, LockedServer] = {
    "a pair": server(*ISSUES),
    "nothing": server(),
    "prompts only": server(capabilities={"prompts": {}}),
    "only broken tools": server(
        LockedTool(name="broken", sha256="x"), findings=("tool `broken`: inputSchema is missing",)
    ),
    "no hints": server(
        tool("list_things", hints=None), tool("delete_thing", taking("id"), hints=None), tool("zap", hints=None)
    ),
    "only writes": server(tool("add", taking("text"), hints=ADDS), tool("wipe", hints=DESTROYS)),
    "reads without schemas": server(tool("read_graph"), tool("search_nodes", taking("query"))),
    "one read": server(tool("status")),
    "no arguments that can be thought of": server(
        tool("get", taking(id={"type": "string", "pattern": "^[A-Z]{9}$"}) | {"required": ["id"]})
    ),
    "500 tools": server(*(tool(f"tool_{n}", taking("id"), hints=None if n % 3 else READS) for n in range(500))),
    "500 pairs": server(
        *(tool(f"list_{n}", gives=listing("rows", "id", "name")) for n in range(250)),
        *(tool(f"get_{n}", taking("id"), giving(id=TEXT, name=TEXT)) for n in range(250)),
    ),
    "odd names": server(*(tool(name, hints=hints) for name in ODD_NAMES for hints in (None,))),
    "odd names that read": server(*(tool(name) for name in ODD_NAMES)),
    "odd names that destroy": server(*(tool(name, hints=DESTROYS) for name in ODD_NAMES)),
    "hostile texts": server(
        tool("get_issue", taking("key"), description=HOSTILE), title=HOSTILE, version=HOSTILE, instructions=HOSTILE
    ),
    "hostile samples": server(
        tool(
            "get",
            taking(key={"type": "string", "default": HOSTILE}, q={"enum": ['a"b\\', "{{ x }}"]})
            | {"required": ["key", "q"]},
        ),
        tool("put", taking("{{ x }}", 'quo"te')),
    ),
    "hostile fields": server(
        tool("list_rows", gives=listing("rows", 'id"', "id", "{{ x }}", "true", "name")),
        tool("get_row", taking("id"), giving(**{"id": TEXT, 'na"me': TEXT, "{{ y }}": TEXT, "read": TEXT})),
    ),
    "words of the language": server(
        tool("list_task", gives=listing("task", "prompt", "grade")),
        tool("get_task", taking("prompt"), giving(prompt=TEXT, workdir=TEXT, grade=TEXT)),
    ),
    "no title": server(*ISSUES, title=None, version=None),
    "circles": server(tool("get", {"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#"}}}, {"$ref": "#"})),
    "nonsense": server(tool("get", {"type": "object", "properties": 3, "required": "x"}, {"properties": {"a": 5}})),
}
