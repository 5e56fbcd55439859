"""Interchange: how other tools start or reach servers -> `server` blocks. No secret is copied: the spec names it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

from mcpeval_dsl.gateway.redact import Redactor
from mcpeval_dsl.interchange import server_names, words
from mcpeval_dsl.interchange.model import PLACE, Server, Suite, What
from mcpeval_dsl.interchange.trees.node import Node, Unreadable

_SECRET = re.compile(
    r"key|token|secret|passw|auth|credential|cookie|session|dsn|connection_?string|database_url", re.IGNORECASE
)
_FLAG = re.compile(
    r"(--?[\w-]*(?:key|token|secret|passw\w*|auth\w*|credential\w*)[\w-]*)(?:=(.+))?", re.IGNORECASE | re.DOTALL
)
_VARIABLE = re.compile(
    r"\$\{(\w+)(?::?-([^}]*))?\}|\$(\w+)|\{\{\s*env\.(\w+)\s*\}\}|\{env\.(\w+)\}|<([A-Z][A-Z0-9_]{3,})>"
)
_FILE = re.compile(r"\.{0,2}/?[\w@.-]+(?:/[\w@.-]+)*\.(?:js|mjs|cjs|ts|py|sh|rb|jar|json|ya?ml|toml|db|go|exe)")
PLACEHOLDER = "REPLACE_WITH_THE_COMMAND_OF_YOUR_SERVER"


def from_map(suite: Suite, servers: Node, path: str, base: Path | None) -> None:
    """`mcpServers` and its like: name -> settings."""
    for name, settings in servers.pairs.items():
        if settings.kind == "map":
            one(suite, name, settings, path, base)


def one(suite: Suite, name: str, settings: Node, path: str, base: Path | None) -> Server | None:
    """One server's settings; None where they are of no use."""
    if settings.flag("disabled"):
        suite.note("lost", f"the server `{name}` is switched off", path, settings.line)
        return None
    command, url = settings.text("command"), settings.text("url", "serverUrl", "httpUrl", "endpoint")
    if not command and not url:
        given = settings.get("command")
        argv = [item.raw for item in given.items] if given is not None and given.kind == "list" else []
        if not argv:
            suite.note("lost", f"the server `{name}` has neither a command nor a URL", path, settings.line)
            return None
    else:
        argv = [command] if command and (" " not in command or settings.get("args")) else shlex_split(command)
    server = Server(suite.names.new(name, "server"))
    suite.servers.append(server)
    server.argv = _argv(suite, server, [*argv, *settings.texts("args", "arguments")], path, settings.line, base)
    if url:
        _url(suite, server, url, path, settings.line)
    _variables(suite, server, settings, path)
    for key, value in settings.map_of("headers").items():
        server.headers[key] = _value(suite, key, value.raw, path, value.line, server, header=True)
    _rest(suite, server, settings, path)
    return server


def _variables(suite: Suite, server: Server, settings: Node, path: str) -> None:
    env = settings.get("env", "environment")
    if env is None:
        return
    pairs = dict(env.pairs)
    for item in env.items:  # NAME=value, as Go programs take it
        name, _, text = item.raw.partition("=")
        pairs[name] = Node("text", item.line, text)
    for key, value in pairs.items():
        if re.fullmatch(r"[A-Za-z_]\w*", key):
            server.env[key] = _value(suite, key, value.raw, path, value.line, server)
        else:
            suite.note(
                "lost", f"the environment variable `{key[:40]}` has no name that can be written", path, value.line
            )


_KNOWN = frozenset(
    [
        "command",
        "args",
        "arguments",
        "env",
        "environment",
        "headers",
        "url",
        "serverUrl",
        "httpUrl",
        "endpoint",
        "type",
        "transport",
        "name",
        "enabled",
        "disabled",
        "timeout",
        "alwaysAllow",
        "enableAllTools",
        "autoApprove",
        "description",
    ]
)


def _rest(suite: Suite, server: Server, settings: Node, path: str) -> None:
    transport = settings.text("type", "transport")
    if transport == "sse":
        server.comments.append(
            "the source speaks SSE, which the protocol has left; the server must answer streamable HTTP"
        )
        suite.note("changed", f"the server `{server.name}`: SSE is read as streamable HTTP", path, settings.line)
    if settings.get("alwaysAllow", "autoApprove"):
        suite.note(
            "lost",
            "the list of tools that need no approval: here a call is permitted by its effect",
            path,
            settings.line,
        )
    for key in settings.pairs:
        if key not in _KNOWN:
            suite.note("lost", f"the setting `{key}` of the server `{server.name}`", path, settings.line_of(key))


def _argv(suite: Suite, server: Server, argv: list[str], path: str, line: int, base: Path | None) -> list[str]:
    """The words of a command, as the language writes them: secrets by name, files by their path from the spec."""
    written: list[str] = []
    secret_next = ""
    for number, word in enumerate(argv):
        flag = _FLAG.fullmatch(word) if number else None
        if secret_next:
            written.append(_template(suite, _named(secret_next), path, line))
            secret_next = ""
        elif flag is not None and flag[2] is not None:
            written.append(f'"{flag[1]}=' + _template(suite, _named(flag[1]), path, line)[1:])
        elif (found := _with_variables(suite, word, path, line)) is not None:
            written.append(found)
        elif _shape(word):
            written.append(_template(suite, "SERVER_SECRET", path, line))
        else:
            written.append(words.quoted(word))
        if flag is not None and flag[2] is None and number + 1 < len(argv) and not argv[number + 1].startswith("-"):
            secret_next = flag[1]
    local = [word for word in argv if _FILE.fullmatch(word) and not word.startswith("/")]
    if local and base is not None:
        server.comments.append(f"paths as in the source, from its folder: {', '.join(local[:3])}")
        said = f"the paths {', '.join(local[:3])} are as in the source; put the files beside the spec, or correct them"
        suite.note("look", f"the server `{server.name}`: {said}", path, line)
    return written


def _named(flag: str) -> str:
    return re.sub(r"\W+", "_", flag.strip("-")).upper() or "SERVER_SECRET"


def _url(suite: Suite, server: Server, url: str, path: str, line: int) -> None:
    try:
        parts = urlsplit(url)
        secret = bool(parts.password or parts.username or _SECRET.search(parts.query) or _shape(url))
    except ValueError:
        secret = True
    variables = _with_variables(suite, url, path, line)
    if variables is not None:
        server.url = variables
    elif secret:
        name = f"{re.sub(r'[^A-Za-z0-9]+', '_', server.name).upper()}_URL"
        server.url = _template(suite, name, path, line)
    else:
        server.url = words.quoted(url)


def _shape(text: str) -> bool:
    return bool(Redactor().text(text)[1])


def _value(suite: Suite, key: str, value: str, path: str, line: int, server: Server, *, header: bool = False) -> str:
    found = _with_variables(suite, value, path, line)
    if found is not None:
        return found
    if not value or not (_SECRET.search(key) or _shape(value)):
        return words.quoted(value)
    prefix = re.match(r"(?:Bearer|Basic|Token|token|ApiKey) +", value) if header else None
    name = _named(key) if not header else f"{_named(server.name)}_{_named(key)}"
    if prefix is not None:
        return f'"{prefix[0]}' + _template(suite, name, path, line)[1:]
    _secret(suite, name, path, line, copied=False)
    return f"secret({words.quoted(name)})"


def _with_variables(suite: Suite, text: str, path: str, line: int) -> str | None:
    """A value that names variables of the environment; None where it names none."""
    found = list(_VARIABLE.finditer(text))
    if not found:
        return None
    if len(found) == 1 and found[0].group() == text:
        name = _variable_name(found[0])
        _secret(suite, name, path, line, copied=True)
        return f"secret({words.quoted(name)})"
    parts: list[str] = []
    position = 0
    for each in found:
        parts.append(words.quoted(text[position : each.start()])[1:-1])
        parts.append(_template(suite, _variable_name(each), path, line)[1:-1])
        position = each.end()
    return f'"{"".join(parts)}{words.quoted(text[position:])[1:-1]}"'


def _variable_name(found: re.Match[str]) -> str:
    return next(each for each in (found[1], found[3], found[4], found[5], found[6]) if each)


def _template(suite: Suite, name: str, path: str, line: int) -> str:
    """`"{{ name }}"` for a secret that stands within a text; the `let` that names it is the suite's."""
    _secret(suite, name, path, line, copied=True)
    if name not in suite.secrets:
        suite.secrets[name] = suite.names.new(words.slug(name, "secret"), "secret")
    return '"{{ ' + suite.secrets[name] + ' }}"'


def _secret(suite: Suite, name: str, path: str, line: int, *, copied: bool) -> None:
    what: What = "changed" if copied else "look"
    said = f"`{name}` is read from your environment when the run starts; no value of it is in the spec"
    suite.note_once(what, said, path, line)


def placeholder(suite: Suite, path: str, name: str = PLACE) -> None:
    """The source names no server: a block to be filled in."""
    server = Server(suite.names.new(name, "server"), argv=[words.quoted(PLACEHOLDER)], placeholder=True)
    server.comments.append("the source names no server: write the command that starts yours, or `http` and its URL")
    suite.servers.append(server)
    said = (
        "no server is named: fill in its block, or import again with --server COMMAND, URL or a file with `mcpServers`"
    )
    suite.note("look", said, path, 1)


def given(suite: Suite, told: Iterable[str]) -> None:
    """What the command was told: a command line, a URL, or a file with `mcpServers`. Raises Unreadable."""
    for each in told:
        file = Path(each)
        if file.suffix in (".json", ".yaml", ".yml") and " " not in each:
            found = of_file(file, each)
            if found is None:
                raise Unreadable("it has no `mcpServers`")
            from_map(suite, found, each, None)
        elif re.match(r"https?://", each):
            server = Server(suite.names.new(server_names.of_url(each, "server"), "server"))
            suite.servers.append(server)
            _url(suite, server, each, "--server", 1)
        else:
            argv = shlex_split(each)
            server = Server(suite.names.new(server_names.of_command(argv, "server"), "server"))
            suite.servers.append(server)
            server.argv = _argv(suite, server, argv, "--server", 1, None)


def of_file(path: Path, shown: str) -> Node | None:
    """The servers that a file of settings names: Claude's, VS Code's, lastmile's. Raises Unreadable."""
    from mcpeval_dsl.interchange import reading
    from mcpeval_dsl.interchange.trees import json_tree, yaml_tree

    text = reading.read(path, shown).text
    roots = (json_tree.read(text),) if path.suffix == ".json" else yaml_tree.read(text)
    for root in roots:
        nested = root.get("mcp")
        found = root.get("mcpServers", "mcp_servers", "servers") or (nested and nested.get("servers"))
        if found is not None and found.kind == "map":
            return found
    return None


def shlex_split(text: str) -> list[str]:
    try:
        return shlex.split(text) or [PLACEHOLDER]
    except ValueError:
        raise Unreadable(f"`{text[:60]}` is no command line: a quote is never closed") from None
