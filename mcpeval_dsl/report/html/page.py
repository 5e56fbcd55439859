"""Report, the page: one HTML file that needs nothing else, and that lets nothing of what it shows become a part of it.

The template has no place for data but an escaped title and JSON in a script that is not run; everything shown is made by
the page's own script, as text. What may be run, and what may style, is named by digest; nothing may be loaded.
"""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from mcpeval_dsl.report.html.content import Content
from mcpeval_dsl.report.html.packing import for_script

_SCRIPTS = (
    "plot.js",
    "making.js",
    "words.js",
    "trialdata.js",
    "gate.js",
    "outcomes.js",
    "matrix.js",
    "lift.js",
    "charts.js",
    "evidence.js",
    "judges.js",
    "method.js",
    "origins.js",
    "reader.js",
    "triallist.js",
    "pages.js",
)


@dataclass(frozen=True, slots=True)
class Assets:
    """What every page carries. `plot_style` is the sheet that the plotting library puts into its charts."""

    script: str
    style: str
    plot_style: str
    template: str


def render(content: Content, text: str = "") -> str:
    """The whole file. `text` is the scorecard as plain text, for a browser that runs no script."""
    from jinja2 import Environment

    found = assets()
    template = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(found.template)
    return template.render(
        title=content.title,
        policy=policy(live=bool(content.data.get("live"))),
        style=_Whole(found.style),
        script=_Whole(found.script),
        data=_Whole(for_script(content.data)),
        pieces=content.pieces,
        text=text,
    )


def policy(live: bool = False) -> str:
    """The content security policy. A watched run's page may ask the server that it came from, and nobody else."""
    found = assets()
    styles = f"{_digest(found.style)} {_digest(found.plot_style)}"
    return (
        f"default-src 'none'; script-src {_digest(found.script)}; style-src {styles}; img-src data:; "
        f"connect-src {chr(39)}{'self' if live else 'none'}{chr(39)}; base-uri 'none'; form-action 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )


@cache
def assets() -> Assets:
    folder = files("mcpeval_dsl.report.html") / "assets"
    read = {name: (folder / name).read_text("utf-8") for name in (*_SCRIPTS, "page.css", "page.html")}
    own = "\n".join(read[name] for name in _SCRIPTS[1:])
    script = f'{read["plot.js"]}\n(() => {{\n"use strict";\n{own}\n}})();\n'
    return Assets(script, read["page.css"], _plot_style(read["plot.js"]), read["page.html"])


class _Whole(str):
    """Text of ours that is HTML already."""

    def __html__(self) -> str:
        return str(self)


def _plot_style(script: str) -> str:
    """The text of the style element in each chart of the class `plot`."""
    found = re.search(r"`(:where\(\.\$\{\w+\}\) \{.*?)`", script, re.DOTALL)
    if found is None:
        raise ValueError("the plotting library has no style sheet any more")
    return re.sub(r"\$\{\w+\}", "plot", found[1])


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}'"
