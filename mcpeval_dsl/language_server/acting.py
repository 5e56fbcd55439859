"""Language server: requests for what can be done at a place, and for what is shown between the lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from mcpeval_dsl.language_server import converting
from mcpeval_dsl.language_server.features.code_actions import KINDS, actions
from mcpeval_dsl.language_server.features.code_lens import lenses
from mcpeval_dsl.language_server.features.inlay_hints import hints
from mcpeval_dsl.language_server.protocol import Ready

if TYPE_CHECKING:
    from mcpeval_dsl.language_server.server import Server


def register(server: Server) -> None:
    """Code actions, code lenses and inlay hints."""
    kinds = [lsp.CodeActionKind(kind) if kind != KINDS[2] else kind for kind in KINDS]

    @server.answer(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions(kinds))
    def code_action(params: lsp.CodeActionParams) -> Ready | None:
        uri = params.text_document.uri
        snapshot, project = server.snapshot(uri), server.service.project(uri)
        if snapshot is None or project is None:
            return None
        only = None if params.context.only is None else [str(getattr(k, "value", k)) for k in params.context.only]
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
    def code_lens(params: lsp.CodeLensParams) -> Ready | None:
        uri = params.text_document.uri
        snapshot, project = server.snapshot(uri), server.service.project(uri)
        if snapshot is None or project is None:
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
