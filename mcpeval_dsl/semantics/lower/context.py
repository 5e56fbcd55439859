"""Semantics, lowering: what all parts of it share: symbols, problems, files read, and who uses which name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from posixpath import dirname, relpath
from typing import Any

from mcpeval_dsl.diagnostics.suggestions import closest
from mcpeval_dsl.semantics.catalogue import KnownServer
from mcpeval_dsl.semantics.model import Unsupported
from mcpeval_dsl.semantics.problems import Problems
from mcpeval_dsl.semantics.reader import Reader, beside, inside
from mcpeval_dsl.semantics.symbols import Kind, Scope, Symbol, noun
from mcpeval_dsl.source import SourceFile, Span
from mcpeval_dsl.syntax.tree import Directive, Name, Statement


class Unlowerable(Exception):
    """A statement whose operands have not the shape its directive asks for; `span` is the operand."""

    def __init__(self, span: Span, wanted: str) -> None:
        super().__init__(wanted)
        self.span = span
        self.wanted = wanted


@dataclass(slots=True)
class Context:
    """State of one compilation. `uses` collects the symbols a unit mentions, with the place of the first mention.

    `judging` holds settings of judge profiles by name; `unsupported` what `run` will refuse outside of tasks.
    """

    problems: Problems
    reader: Reader
    known: Mapping[str, KnownServer]
    files: tuple[SourceFile, ...]
    main: SourceFile
    symbols: dict[str, dict[str, Symbol]] = field(default_factory=dict)
    values: Scope = field(default_factory=Scope)
    members: dict[str, tuple[str, ...]] = field(default_factory=dict)
    fixtures: dict[str, None] = field(default_factory=dict)
    texts: dict[str, None] = field(default_factory=dict)
    uses: dict[int, tuple[Symbol, Span]] = field(default_factory=dict)
    dimensions: dict[str, frozenset[str]] = field(default_factory=dict)
    judging: dict[str, dict[str, Any]] = field(default_factory=dict)
    unsupported: list[Unsupported] = field(default_factory=list)
    lost: int = 0

    def of(self, kind: Kind) -> dict[str, Symbol]:
        return self.symbols.setdefault(kind, {})

    @contextmanager
    def collecting(self) -> Iterator[dict[int, tuple[Symbol, Span]]]:
        """Uses met inside the `with`; they count for the surrounding unit too."""
        outer, self.uses = self.uses, {}
        try:
            yield self.uses
        finally:
            for key, use in self.uses.items():
                outer.setdefault(key, use)
            self.uses = outer

    def use(self, symbol: Symbol, span: Span) -> None:
        symbol.used = True
        self.uses.setdefault(id(symbol), (symbol, span))

    @contextmanager
    def statement(self, statement: Statement) -> Iterator[bool]:
        """Guard one statement: silent where an earlier stage spoke, an error where its shape is not understood.

        Yields False when the statement has no block and is flagged: then there is nothing left to lower.
        """
        flagged = self.problems.flagged_header(statement)
        before = self.problems.quiet
        try:
            alive = not (flagged and statement.block is None)
            self.lost += not alive
            yield alive
        except Unlowerable as fault:
            self.lost += 1
            if not self.problems.flagged(statement.span):
                self.problems.report(
                    "MCPE299",
                    fault.span,
                    f"this is not understood here: {fault.wanted}",
                    "The words of a statement stand in a fixed order.",
                    "see the page of this block in docs/reference",
                )
        finally:
            self.problems.quiet = before

    def directives(self, statement: Directive, kind: str, lower: Callable[[Directive], None]) -> None:
        """Lower each line of a block of which all lines are directives; `kind` names the block in an error."""
        for line in statement.block.statements if statement.block else ():
            with self.statement(line) as alive:
                if not alive:
                    continue
                if not isinstance(line, Directive):
                    raise Unlowerable(line.span, f"a directive of `{kind}`")
                lower(line)

    def named(self, kinds: tuple[Kind, ...], name: str, span: Span) -> Symbol | None:
        """A definition of one of the kinds; an error with the nearest name, or saying what the name is instead."""
        for kind in kinds:
            symbol = self.of(kind).get(name)
            if symbol is not None:
                self.use(symbol, span)
                return symbol
        wanted = noun(kinds[0])
        for table in self.symbols.values():
            other = table.get(name)
            if other is not None and other.kind not in kinds and not self.problems.may_be_lost(name, self.files):
                other.used = True
                self._wrong_kind(kinds, name, span, other)
                return None
        if self.problems.may_be_lost(name, self.files):
            return None
        nearest = closest(name, [n for kind in kinds for n in self.of(kind)])
        hint = f"did you mean `{nearest}`?" if nearest else self._offer(kinds)
        title = f"there is no {kinds[0]} named `{name}`"
        body = f"This place takes the name of {wanted}."
        self.problems.report("MCPE254", span, title, body, hint, group=name, meant=(name, nearest))
        return None

    def _wrong_kind(self, kinds: tuple[Kind, ...], name: str, span: Span, other: Symbol) -> None:
        names = [n for kind in kinds for n in self.of(kind)]
        nearest = closest(name, names)
        hint = f"did you mean `{nearest}`?" if nearest else self._offer(kinds)
        title = f"`{name}` is {noun(other.kind)}, not {noun(kinds[0])}"
        body = f"This place takes the name of {noun(kinds[0])}."
        self.problems.report("MCPE251", span, title, body, hint, meant=(name, nearest))

    def _offer(self, kinds: tuple[Kind, ...]) -> str:
        names = sorted(n for kind in kinds for n in self.of(kind))
        if not names:
            return f"define it: `{kinds[0]} NAME {{ … }}`" if kinds[0] != "catalogue" else "define a server"
        return "choose one of: " + ", ".join(f"`{n}`" for n in names[:8])

    def name(self, kinds: tuple[Kind, ...], name: Name) -> Symbol | None:
        return self.named(kinds, name.text, name.span)

    def fixture(self, file: SourceFile, path: str, span: Span) -> str:
        """Note a file the spec names; an error where it does not exist. Gives the path relative to the spec's folder."""
        resolved = beside(file.path, path)
        if self._outside(path, resolved, span):
            return path
        self.fixtures[resolved] = None
        if not self.reader.exists(resolved):
            self.problems.report(
                "MCPE272",
                span,
                f"there is no file `{path}`",
                f"Paths are relative to the file that names them; here that is `{resolved}` in the project.",
                "correct the path, or create the file",
            )
        return self.from_spec(resolved)

    def _outside(self, path: str, resolved: str, span: Span) -> bool:
        """Report a path that leaves the project: a spec may come from anywhere."""
        if inside(self.main.path, resolved):
            return False
        self.problems.report(
            "MCPE274",
            span,
            f"`{path}` lies outside the project",
            "Compiling reads files of the project only, since a spec may come from anywhere.",
            "copy the file into the project, and name it by a relative path",
        )
        return True

    def from_spec(self, path: str) -> str:
        """A path of the project, relative to the folder of the spec: files may be named in imports elsewhere."""
        folder = dirname(self.main.path)
        return relpath(path, folder) if folder else path

    def read_text(self, file: SourceFile, path: str, span: Span) -> SourceFile | None:
        """Read a text the spec includes (a prompt, a table, a schema)."""
        resolved = beside(file.path, path)
        if self._outside(path, resolved, span):
            return None
        self.texts[resolved] = None
        try:
            data = self.reader.read(resolved)
        except OSError:
            self.fixture(file, path, span)
            if self.reader.exists(resolved):
                self.problems.report("MCPE273", span, f"the file `{path}` cannot be read", "", "check its rights")
            self.fixtures.pop(resolved, None)
            return None
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            self.problems.report(
                "MCPE273",
                span,
                f"the file `{path}` is not UTF-8 text",
                "Texts a spec includes are UTF-8.",
                "save it as UTF-8",
            )
            return None
        return SourceFile(resolved, text.replace("\r\n", "\n"))
