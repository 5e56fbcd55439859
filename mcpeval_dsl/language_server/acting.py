"""Language server: requests for what can be done at a place, and for what is shown between the lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from mcpeval_dsl.language_server import converting
from mcpeval_dsl.language_server.features.code_actions import FORMAT, KINDS, actions, looks_at_form
from mcpeval_dsl.language_server.features.code_lens import lenses
from mcpeval_dsl.language_server.features.inlay_hints import hints
from mcpeval_dsl.language_server.protocol import Ready
from mcpeval_dsl.language_server.snapshot import Snapshot

if TYPE_CHECKING:
    from mcpeval_dsl.language_server.server import Server


def alone(snapshot: Snapshot) -> list[Snapshot]:
    return [snapshot]


def register(server: Server) -> None:
    """Code actions, code lenses and inlay hints."""
    kinds = [kind if kind == FORMAT else lsp.CodeActionKind(kind) for kind in KINDS]  # that one is our own

    @server.answer(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions(kinds))
    def code_action(params: lsp.CodeActionParams) -> Any:
        uri = params.text_document.uri
        only = None if params.context.only is None else [str(getattr(k, "value", k)) for k in params.context.only]
        if only and looks_at_form(only):
            return server.when_read(uri, "form", lambda snapshot: possible(snapshot, params, only), alone)
        snapshot = server.snapshot(uri)
        return None if snapshot is None else possible(snapshot, params, only)

    def possible(snapshot: Snapshot, params: lsp.CodeActionParams, only: list[str] | None) -> Ready | None:
        uri = snapshot.uri
        project = server.service.project(uri)
        if project is None:
            return None
        found = actions(snapshot, server.service.found(uri), converting.range_in(params.range), only)
        items = [converting.action(item, project, server.pages, server.versions) for item in found]
        if server.explains and only is None:
            codes = dict.fromkeys(item.of.code for item in found if item.of is not None)
            items += [
                {
                    "title": f"Explain {code}",
                    "command": converting.command(f"Explain {code}", project, ("explain", code)),
                }
                for code in codes
            ]
        return Ready(items)

    @server.answer(lsp.TEXT_DOCUMENT_CODE_LENS, lsp.CodeLensOptions(resolve_provider=False))
    def code_lens(params: lsp.CodeLensParams) -> Any:
        return server.when_read(params.text_document.uri, "names", offered, alone)

    def offered(snapshot: Snapshot) -> Ready | None:
        project = server.service.project(snapshot.uri)
        if project is None:
            return None
        found = [lens for lens in lenses(snapshot) if server.runs or not lens.arguments]
        return Ready(
            [
                {
                    "range": converting.range_out(lens.range),
                    "command": converting.command(lens.title, project, lens.arguments),
                }
                for lens in found
            ]
        )

    @server.answer(lsp.TEXT_DOCUMENT_INLAY_HINT)
    def inlay_hint(params: lsp.InlayHintParams) -> Ready | None:
        snapshot = server.snapshot(params.text_document.uri)
        if snapshot is None:
            return None
        start, end = (snapshot.offset(place) for place in converting.range_in(params.range))
        found = list(hints(snapshot, start, end))
        return Ready(
            [
                {
                    "position": converting.position_out(hint.at),
                    "label": hint.text,
                    "paddingLeft": True,
                    **({"tooltip": hint.tooltip} if hint.tooltip else {}),
                }
                for hint in found
            ]
        )
