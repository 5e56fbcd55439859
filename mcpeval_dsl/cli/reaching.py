"""Command line, inside `mcpe init`: its arguments made sure of: the project, the name of the server, how it is reached."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.interchange.server_names import PROGRAMS
from mcpeval_dsl.interchange.starter.model import VARIABLE, Reached

_SECRETS = r"(?:api-?)?(?:key|token|secret|password|passwd|auth|credentials?)"
_SECRET_FLAG = re.compile(rf"(?i)--?(?:[\w]+-)*{_SECRETS}")
_SECRET_URL = re.compile(rf"(?i)://[^/?#]*:[^/?#]*@|[?&](?:[\w]+[-_])*{_SECRETS.replace('-', '[-_]')}=")


class Wrong(Exception):
    """The command line says something that cannot be; `diagnostic` says what."""

    def __init__(self, title: str, body: str = "", hint: str = "", code: str = "MCPE691") -> None:
        super().__init__(title)
        self.diagnostic = Diagnostic(code, title, None, body, hint)


@dataclass(frozen=True, slots=True)
class Start:
    """Where things will be: `root` of the project, `spec` relative to it; `configured` where the project has settings."""

    root: Path
    spec: str
    reached: Reached
    configured: bool

    @property
    def beside(self) -> str:
        """The folder of the spec, relative to the root."""
        return str(PurePosixPath(self.spec).parent)


def begin(folder: Path, server: str, name: str, env: Iterable[str], headers: Iterable[str]) -> Start:
    """Everything that the command line says, made sure of. Raises Wrong."""
    root, base, configured = _project(folder)
    argv = _words(server)
    called = _name(name, server, argv)
    spec = str(PurePosixPath(base) / called / f"{called}.mcpe")
    reached = Reached(called, env=tuple(env), headers=tuple(_header(each) for each in headers))
    for variable in reached.env:
        if not re.fullmatch(r"[A-Za-z_]\w*", variable):
            raise Wrong(f"`{variable}` is no name of a variable", "Values are not written into specs.", "--env TOKEN")
    if server and argv is None:
        reached = replace(reached, url=server)
    elif argv is not None:
        placed, copies = _placed(argv, root, root / PurePosixPath(spec).parent)
        reached = replace(reached, argv=placed, copies=copies)
    if (reached.headers and not reached.url) or (reached.env and reached.url):
        raise Wrong("--header is for servers with a URL, --env for those with a command")
    return Start(root, spec, reached, configured)


def _project(folder: Path) -> tuple[Path, str, bool]:
    """Its root, the folder of its specs, and whether it has settings.

    A folder that is named is a project of its own, wherever it lies; else it is the one that the working folder is in.
    """
    from mcpeval_dsl.project import files as project

    if folder.exists() and not folder.is_dir():
        raise Wrong(f"{folder} is a file", "The suite is written into the folder of a project.", "name a folder")
    if not folder.is_dir():
        return folder.absolute(), "specs", False
    found = project.find(folder)
    if found.value is None:
        problem = found.diagnostics[0]
        raise Wrong(problem.title, problem.body, problem.hint, problem.code)
    config = found.value.config
    if config is None or (folder != Path() and config.parent != folder.absolute()):
        return folder.absolute(), "specs", False
    base = next((each for each in found.value.specs if not each.endswith(".mcpe")), "specs")
    return found.value.root, base, True


def _name(name: str, server: str, argv: Sequence[str] | None) -> str:
    """The server's name in the spec: the one that was given, or one made of the command."""
    from mcpeval_dsl.interchange import server_names, words

    if name and (not words.is_name(name) or name in words.words_of_the_language()):
        why = "is a word of the language" if words.is_name(name) else "is no name"
        hint = f"--name {words.Names().new(name, 'server')}"
        raise Wrong(f"`{name}` {why}, so no server can be called that", hint=hint)
    if name or not server:
        return name or "notes"
    found = server_names.of_url(server, "mine") if argv is None else server_names.of_command(argv, "mine")
    return words.Names().new(found, "server")


def _words(server: str) -> tuple[str, ...] | None:
    """The command's words; None for a URL or nothing."""
    from mcpeval_dsl.gateway.redact import Redactor

    if not server or re.match(r"(?i)https?://", server):
        if server and (
            any(c.isspace() or not c.isprintable() for c in server) or not re.match(r"(?i)https?://[^/?#]+", server)
        ):
            raise Wrong(f"`{server}` is no URL")
        if server and (_SECRET_URL.search(server) or Redactor().text(server)[1]):
            hint = '--header "Authorization=TRACKER_TOKEN" names a variable of yours'
            raise Wrong("a secret would stand in the spec", "Values of secrets are not written into specs.", hint)
        return None
    try:
        found = tuple(shlex.split(server))
    except ValueError as error:
        raise Wrong("--server is no command line", f"{error}.", "put its words as a shell takes them") from None
    if not found or any("\0" in word for word in found):
        raise Wrong("--server names no command", hint='--server "node build/index.js"')
    _without_secrets(found)
    return found


def _without_secrets(argv: Sequence[str]) -> None:
    """Raises Wrong where a word is, or looks like, a secret: it would stand in the spec, and in its repository."""
    from mcpeval_dsl.gateway.redact import Redactor

    flag = ""
    for word in argv:
        name, mark, value = word.partition("=")
        if _SECRET_FLAG.fullmatch(name) and mark:
            flag = name
        else:
            value = word
        bare = bool(VARIABLE.fullmatch(value)) or value.startswith("-") or Path(value).exists()
        if (flag and not bare) or Redactor().text(word)[1]:
            title = f"the value of `{flag}` would stand in the spec" if flag else "a secret would stand in the spec"
            hint = f"name a variable of yours, in single quotes: --server '{Path(argv[0]).name} {flag or '--token'} $TOKEN'"
            raise Wrong(title, "Values of secrets are not written into specs.", hint)
        flag = word if _SECRET_FLAG.fullmatch(word) else ""


def _header(text: str) -> tuple[str, str]:
    name, mark, variable = text.partition("=")
    if not mark or not re.fullmatch(r"[A-Za-z0-9-]+", name) or not re.fullmatch(r"[A-Za-z_]\w*", variable):
        raise Wrong(
            f"`{text}` is no header", "Values are not written into specs.", '--header "Authorization=TRACKER_TOKEN"'
        )
    return name, variable


def _placed(argv: Sequence[str], root: Path, beside: Path) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """The words as the spec has them: files that are there by their path from the spec, data as a copy for each trial."""
    found: list[str] = []
    copies: list[tuple[str, str]] = []
    for number, word in enumerate(argv):
        path = Path(word)
        here = not word.startswith("-") and not path.is_absolute() and path.exists() and (number > 0 or "/" in word)
        if not here:
            found.append(word)
            continue
        placed = Path(os.path.relpath(path.absolute(), beside)).as_posix()
        inside = path.resolve().is_relative_to(root.resolve()) and path.resolve() != root.resolve()
        data = path.is_dir() or not (number == 0 or path.suffix.lower() in PROGRAMS or os.access(path, os.X_OK))
        if data and inside:
            copies.append((placed, path.name))
            found.append(f"{{{{ workdir }}}}/{path.name}")
        else:
            found.append(placed if path.is_file() else str(path.absolute()))
    return tuple(found), tuple(copies)
