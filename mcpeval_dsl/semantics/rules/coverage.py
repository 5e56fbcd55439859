"""Rule: every locked tool has an effect class, by annotation or by a hint that is believed."""

from __future__ import annotations

from fnmatch import fnmatchcase

from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.semantics.lower.assemble import Lowered
from mcpeval_dsl.semantics.model import Catalogue
from mcpeval_dsl.source import Location


def coverage(lowered: Lowered) -> None:
    """Warn about tools that nothing classes: calls to them are refused."""
    catalogues = {catalogue.name: catalogue for catalogue in lowered.suite.catalogues}
    for server in lowered.suite.servers:
        known = lowered.ctx.known.get(server.name)
        if known is None or server.private:
            continue
        catalogue = catalogues.get(server.catalog or server.name, Catalogue(server.name))
        believed = catalogue.trust_hints or server.trust_hints
        bare = [
            name
            for name, tool in known.tools.items()
            if not _annotated(catalogue, name) and not (believed and tool.read_only_hint is not None)
        ]
        if bare:
            _report(lowered, server.name, catalogue.name, bare, server.at)


def _annotated(catalogue: Catalogue, tool: str) -> bool:
    return any(fnmatchcase(tool, p.tool) for a in catalogue.annotations for p in a.patterns)


def _report(lowered: Lowered, server: str, catalogue: str, bare: list[str], at: Location | None) -> None:
    listed = ", ".join(f"`{name}`" for name in bare[:5]) + (f" and {len(bare) - 5} more" if len(bare) > 5 else "")
    lowered.ctx.problems.found.append(
        Diagnostic(
            "MCPE321",
            f"{len(bare)} of the tools of `{server}` {'has' if len(bare) == 1 else 'have'} no effect class: {listed}",
            at,
            "A tool that is neither annotated nor classed by a believed hint is not permitted.",
            f"add it to `annotations {catalogue} {{ … }}`",
            "warning",
        )
    )
