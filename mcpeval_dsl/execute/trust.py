"""Nothing is started for a spec that was not trusted. What is trusted lies outside the project, keyed by exact words.

A spec may come from anywhere; running it runs its command lines. So a person says yes once to each exact command line,
or a trust file says it for them where nobody can be asked.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.execute.startables import Startable
from mcpeval_dsl.values.regular import regular_text

FORMAT = "mcpe-trust/1"

Ask = Callable[[Sequence[Startable]], bool]


@dataclass(frozen=True, slots=True)
class TrustFile:
    """A file of trusted digests, each with the line it stands for, so that a person can review it."""

    path: Path

    def digests(self) -> frozenset[str]:
        """What it trusts; an absent file trusts nothing. Raises ValueError for a file that is not a trust file."""
        try:
            data = json.loads(regular_text(self.path))
        except FileNotFoundError:
            return frozenset()
        except OSError as error:
            raise ValueError(f"{self.path} cannot be read: {error.strerror}") from error
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{self.path} is not a trust file: {error}") from error
        if not isinstance(data, dict) or data.get("format") != FORMAT or not isinstance(data.get("trusted"), dict):
            raise ValueError(f"{self.path} is not a trust file of the format {FORMAT}")
        return frozenset(str(key) for key in data["trusted"])

    def add(self, items: Sequence[Startable]) -> None:
        """Add to the file, whole or not at all."""
        self.digests()  # what is no trust file is not written over
        trusted: dict[str, str] = {}
        with contextlib.suppress(FileNotFoundError):
            trusted = dict(json.loads(regular_text(self.path))["trusted"])
        trusted |= {item.digest: item.shown() for item in items}
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        text = json.dumps({"format": FORMAT, "trusted": trusted}, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
        beside = self.path.with_name(f"{self.path.name}.{os.getpid()}")
        beside.write_text(text, encoding="utf-8")
        beside.chmod(0o600)
        beside.replace(self.path)


def personal_store() -> TrustFile:
    """The operator's own store, outside any project; `MCPE_STATE_DIR` names another folder for it."""
    folder = os.environ.get("MCPE_STATE_DIR")
    if folder is None:
        from platformdirs import user_state_path

        return TrustFile(user_state_path("mcpe") / "trust.json")
    return TrustFile(Path(folder) / "trust.json")


def untrusted(items: Sequence[Startable], stores: Sequence[TrustFile]) -> tuple[Startable, ...]:
    """Those that no store trusts. Raises ValueError for an unreadable store."""
    known = frozenset[str]().union(*(store.digests() for store in stores))
    return tuple(item for item in items if known.isdisjoint(item.trusted_by))


def require(
    items: Sequence[Startable], stores: Sequence[TrustFile], ask: Ask | None, doing: str = "Running it"
) -> Diagnostic | None:
    """None when everything may be started; asks for what is new where somebody can be asked, and remembers a yes."""
    try:
        new = untrusted(items, stores)
    except ValueError as error:
        return Diagnostic(
            "MCPE501", "the trust file cannot be read", body=f"{error}.", hint="make it again with `mcpe trust`"
        )
    if not new:
        return None
    if ask is not None and ask(new):
        stores[0].add(new)
        return None
    lines = "\n".join(f"  {item.shown()}" for item in new)
    return Diagnostic(
        "MCPE500",
        "this spec is not trusted to start anything",
        body=f"{doing} would start:\n{lines}\nNothing was started. A command line is trusted once: its exact words, the "
        "program that they start here, the folder, and this sandbox or a stronger one.",
        hint="read the lines above; then `mcpe trust SPEC`, or pass `--trust-file FILE` where nobody can be asked",
    )
