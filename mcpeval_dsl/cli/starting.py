"""Command line, behind `mcpe init`: how the server is reached from the spec to be, asking it, and writing all or nothing."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from mcpeval_dsl.cli import exits
from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.interchange.starter.model import VARIABLE, Reached

if TYPE_CHECKING:
    from mcpeval_dsl.interchange.starter.spec import Draft
    from mcpeval_dsl.plan.model import LockedServer, Plan

_PROGRAMS = (".js", ".mjs", ".cjs", ".ts", ".py", ".sh", ".rb", ".php", ".jar", ".exe", ".ps1", ".lua", ".pl")
_SECRETS = r"(?:api-?)?(?:key|token|secret|password|passwd|auth|credentials?)"
_SECRET_FLAG = re.compile(rf"(?i)--?(?:[\w]+-)*{_SECRETS}")
_SECRET_URL = re.compile(rf"(?i)://[^/?#]*:[^/?#]*@|[?&](?:[\w]+[-_])*{_SECRETS.replace('-', '[-_]')}=")
_FETCHERS = ("npx", "uvx", "pipx", "bunx", "pnpx", "pnpm", "yarn")
_SKIPPED = frozenset("node python python3 npx uvx uv run docker bun deno java ruby php -m -y -q -i --rm start".split())  # noqa: SIM905


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


@dataclass(frozen=True, slots=True)
class Asked:
    """What the server said; without `locked`, why not."""

    locked: LockedServer | None
    diagnostics: tuple[Diagnostic, ...] = ()
    code: int = exits.CLEAN


@dataclass(slots=True)
class Drafts:
    """A reader of files that are not written yet, and of those that are."""

    root: Path
    files: dict[str, bytes] = field(default_factory=dict)

    def read(self, path: str) -> bytes:
        return self.files[path] if path in self.files else (self.root / path).read_bytes()

    def exists(self, path: str) -> bool:
        return (
            path in self.files or any(name.startswith(f"{path}/") for name in self.files) or (self.root / path).exists()
        )


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
    from mcpeval_dsl.interchange import words

    if name and (not words.is_name(name) or name in words.words_of_the_language()):
        why = "is a word of the language" if words.is_name(name) else "is no name"
        hint = f"--name {words.Names().new(name, 'server')}"
        raise Wrong(f"`{name}` {why}, so no server can be called that", hint=hint)
    return name or words.Names().new(_called(server, argv) if server else "notes", "server")


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


def _called(server: str, argv: Sequence[str] | None) -> str:
    """A name for the server: the last word of its package or program, without what all of them say."""
    if argv is None:
        host = re.sub(r"(?i)^https?://|[:/?#].*$", "", server)
        parts = [part for part in host.split(".") if part not in ("www", "mcp", "api", "localhost")]
        word = parts[0] if parts and not parts[0].isdigit() else ""
    else:
        word = next((w for w in argv if w not in _SKIPPED and not w.startswith("-")), argv[0])
        word = re.sub(r"^@[^/]+/", "", word)
        path = Path(word)
        plain = path.name if path.suffix.lower() not in _PROGRAMS else path.stem
        if plain in ("index", "main", "server", "__main__", "cli", "app"):
            folders = [
                part for part in path.parts[:-1] if part not in ("build", "dist", "src", "lib", "bin", ".", "..", "/")
            ]
            plain = folders[-1] if folders else Path.cwd().name
        word = re.sub(r"@[\d.]+$|@latest$", "", plain)
    word = re.sub(r"(?i)(^|[-_.])(mcp|server)(?=$|[-_.])", r"\1", word).strip("-_.")
    from mcpeval_dsl.interchange import words

    return words.slug(word, "mine") if word else "mine"


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
        data = path.is_dir() or not (number == 0 or path.suffix.lower() in _PROGRAMS or os.access(path, os.X_OK))
        if data and inside:
            copies.append((placed, path.name))
            found.append(f"{{{{ workdir }}}}/{path.name}")
        else:
            found.append(placed if path.is_file() else str(path.absolute()))
    return tuple(found), tuple(copies)


def ask(start: Start, trust_file: str, yes: bool) -> Asked:
    """The server's catalogue. Starts it, or connects to it, once it is trusted."""
    from mcpeval_dsl.cli import lock
    from mcpeval_dsl.execute import settings

    plan = _plan(start)
    if isinstance(plan, Diagnostic):
        return Asked(None, (plan,), exits.SPEC)
    problem = _trusted(start.root, plan, trust_file, yes)
    if problem is not None:
        return Asked(None, (problem,), exits.SPEC)
    try:
        settings.load(start.root)
    except ValueError as error:
        return Asked(None, (Diagnostic("MCPE507", str(error)),), exits.SPEC)
    with _standing(start.root / start.beside):
        (record,) = lock.ask(start.root, plan)
    if record.status == "failed":
        return Asked(None, (_silent(start.reached, record),), exits.INCOMPLETE)
    return Asked(lock.locked(record, plan.servers[0].transport))


@contextmanager
def _standing(folder: Path) -> Iterator[None]:
    """The folder of the spec to be, which paths of the spec begin at; what was made for that is taken away again."""
    made: list[Path] = []
    try:
        for each in (*reversed(folder.parents), folder):
            if not each.exists():
                each.mkdir()
                made.append(each)
        yield
    finally:
        for each in reversed(made):
            _undo(each, None)


def _plan(start: Start) -> Plan | Diagnostic:
    """A plan that does nothing but reach the server, as the spec to be will."""
    from mcpeval_dsl import pipeline
    from mcpeval_dsl.interchange.starter.spec import draft
    from mcpeval_dsl.plan.build import build
    from mcpeval_dsl.plan.model import LockedServer, Selection

    nothing = LockedServer(
        server=start.reached.name, revision="", era="initialize", transport="stdio", catalogue_sha256=""
    )
    made = draft(start.reached, nothing)
    files = {start.spec: made.spec.encode(), f"{start.beside}/scripts/agent.yaml": made.script.encode()}
    checked = pipeline.check(start.spec, Drafts(start.root, files))
    problems = [d for d in checked.diagnostics if d.severity == "error"]
    built = build(checked.value, None, {}, Selection()) if checked.value is not None and not problems else None
    if built is None or built.value is None:
        found = (problems or list(built.diagnostics if built is not None else ()))[0]
        return replace(found, at=None)
    return built.value


def _trusted(root: Path, plan: Plan, trust_file: str, yes: bool) -> Diagnostic | None:
    from mcpeval_dsl.cli import trusting
    from mcpeval_dsl.diagnostics.render.safe import visible
    from mcpeval_dsl.execute import trust

    stores = [trust.personal_store(), *([trust.TrustFile(Path(trust_file))] if trust_file else [])]
    items = trusting.of_plan(plan, root)

    def agreed(new: Sequence[object]) -> bool:
        for item in items:
            print(f"trusted  {visible(item.shown())}", file=sys.stderr)
        return bool(new)

    can_ask = sys.stdin.isatty() and sys.stderr.isatty()
    problem = trust.require(items, stores, agreed if yes else trusting.ask if can_ask else None)
    if problem is not None and problem.code == "MCPE500":
        return replace(
            problem, title="this server is not trusted to be started", hint="read the line above; then add --yes"
        )
    return problem


def _silent(reached: Reached, record: object) -> Diagnostic:
    message, last = str(getattr(record, "message", "")), str(getattr(record, "stderr_tail", ""))
    body = f"{message}." + (f"\nIts last words: {last}" if last else "")
    hint = "start the command by hand to see why; nothing was written"
    if reached.url:
        hint = "see whether it answers there, and what it wants: --header NAME=VARIABLE; nothing was written"
    if reached.argv and Path(reached.argv[0]).name in _FETCHERS:
        program = reached.argv[0]
        hint = (
            f"install the server and name its program: `{program}` loads it anew for each trial, which has no network"
        )
    elif reached.argv and not reached.env and re.search(r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b", last):
        hint = "name the variables it needs: --env TOKEN; nothing was written"
    return Diagnostic("MCPE404", f"the server `{reached.name}` could not be asked for its tools", None, body, hint)


def draft(start: Start, locked: LockedServer) -> Draft:
    """The first spec; a plainer one where the catalogue is so odd that the first one does not compile."""
    from mcpeval_dsl import pipeline
    from mcpeval_dsl.interchange.starter import spec
    from mcpeval_dsl.plan import lock as locks
    from mcpeval_dsl.plan.model import Lock

    known = locks.known(Lock(servers=(locked,)))
    for sketched in (True, False):
        made = spec.draft(start.reached, locked, sketched=sketched)
        made = replace(made, spec=_formatted(made.spec))
        files = {start.spec: made.spec.encode(), f"{start.beside}/scripts/agent.yaml": made.script.encode()}
        if pipeline.check(start.spec, Drafts(start.root, files), known).ok:
            break
    return made


def _formatted(text: str) -> str:
    from mcpeval_dsl.syntax.formatting.document import format_text

    found = format_text(text)
    return text if found.value is None else found.value


def files(start: Start, locked: LockedServer, made: Draft) -> dict[str, bytes]:
    """Every file by its path relative to the root."""
    from mcpeval_dsl.plan import lock as locks
    from mcpeval_dsl.plan.model import Lock

    found = {
        start.spec: made.spec.encode("utf-8", "replace"),
        f"{start.beside}/scripts/agent.yaml": made.script.encode("utf-8", "replace"),
        f"{start.beside}/{locks.LOCK_FILE}": locks.write(Lock(servers=(locked,))),
    }
    return found | dict(_around(start, locked=True, starts=not start.reached.url))


def example(start: Start) -> dict[str, bytes]:
    """The suite of a newcomer: a server of its own, which only needs Python."""
    from mcpeval_dsl.interchange.starter import example

    found = {f"{start.beside}/{name}": text.encode() for name, text in example.files(start.reached.name).items()}
    return found | dict(_around(start, locked=False, starts=False))


def _around(start: Start, *, locked: bool, starts: bool) -> Iterator[tuple[str, bytes]]:
    """What the project lacks of settings, ignored files and a workflow; what it has is left alone, or added to."""
    from mcpeval_dsl.interchange.starter import folder

    if not start.configured:
        yield "mcpe.toml", folder.settings(str(PurePosixPath(start.beside).parent)).encode()
    path = start.root / ".gitignore"
    before = path.read_text("utf-8", "surrogateescape") if path.is_file() else None
    if (text := folder.ignored(before)) is not None:
        yield ".gitignore", text.encode("utf-8", "surrogateescape")
    if not (start.root / folder.WORKFLOW).exists():
        yield folder.WORKFLOW, folder.workflow(start.spec, locked=locked, starts=starts).encode()


def write(start: Start, files: dict[str, bytes]) -> Diagnostic | None:
    """Writes all of them; where that fails, what was written is taken away again."""
    there = [path for path in files if path != ".gitignore" and (start.root / path).exists()]
    if there:
        title = f"{there[0]} is there already" + (f", and {len(there) - 1} more" if len(there) > 1 else "")
        hint = "choose another --name, or move the folder away"
        return Diagnostic("MCPE690", title, None, "`mcpe init` overwrites nothing.", hint)
    made: list[Path] = []
    before = {path: (start.root / path).read_bytes() for path in files if (start.root / path).is_file()}
    try:
        for path, data in files.items():
            full = start.root / path
            for parent in reversed(full.parents):
                if not parent.exists():
                    parent.mkdir()
                    made.append(parent)
            made.append(full)
            full.write_bytes(data)
    except OSError as error:
        for full in reversed(made):
            _undo(
                full, before.get(full.relative_to(start.root).as_posix()) if full.is_relative_to(start.root) else None
            )
        return Diagnostic(
            "MCPE692", f"{error.filename or path} cannot be written: {error.strerror}", hint="nothing was written"
        )
    return None


def _undo(full: Path, before: bytes | None) -> None:
    import contextlib

    with contextlib.suppress(OSError):
        if before is not None:
            full.write_bytes(before)
        elif full.is_dir():
            full.rmdir()
        else:
            full.unlink()
