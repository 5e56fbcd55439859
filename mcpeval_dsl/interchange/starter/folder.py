"""Interchange, starter: what stands around a first spec in its project: settings, what git leaves out, continuous integration."""

from __future__ import annotations

IGNORED = (".mcpe/", "mcpe.local.toml")
WORKFLOW = ".github/workflows/mcpe.yml"


def settings(folder: str) -> str:
    """`mcpe.toml`."""
    return f"# Folders and files with the project's specs.\nspecs = [{_toml(folder)}]\n"


def _toml(text: str) -> str:
    import json

    return json.dumps(text, ensure_ascii=False)


def ignored(before: str | None) -> str | None:
    """`.gitignore` with what runs leave behind and what is the operator's own; None where nothing has to be added."""
    known = {line.strip() for line in (before or "").splitlines()}
    missing = [line for line in IGNORED if line not in known and line.rstrip("/") not in known]
    if not missing:
        return None
    text = before or ""
    gap = "" if not text or text.endswith("\n") else "\n"
    return f"{text}{gap}# runs of mcpe, and the operator's own settings\n" + "".join(f"{line}\n" for line in missing)


def workflow(spec: str, *, locked: bool, starts: bool) -> str:
    """A GitHub workflow: what needs no server always, and the lock against the server where it can be started there."""
    lines = [
        "name: mcpe",
        "on:",
        "  push:",
        "  pull_request:",
        "permissions:",
        "  contents: read",
        "jobs:",
        "  specs:",
        "    runs-on: ubuntu-latest",
        "    steps:",
        "      - uses: actions/checkout@v4",
        "      - uses: actions/setup-python@v5",
        "        with:",
        '          python-version: "3.12"',
        "      - run: pip install mcpeval_dsl  # or where you have it from: git+https://…",
        "      # nothing is started here",
        "      - run: mcpe lint --format github",
        "      - run: mcpe fmt --check",
        "      - run: mcpe compile",
    ]
    if locked:
        lines.append("      - run: mcpe lock --check --offline")
    if starts:
        lines += [
            "      # the lock is compared with the server itself: install it before this step, or leave the step out",
            f"      - run: mcpe trust {spec} --write mcpe-trust.json",
            f"      - run: mcpe lock --check {spec} --trust-file mcpe-trust.json",
        ]
    return "\n".join(lines) + "\n"
