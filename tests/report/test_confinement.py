"""One phrase for what kept the programs of a run from the machine."""

from __future__ import annotations

import pytest

from mcpeval_dsl.report.confinement import confinement

SAID = {
    ("bwrap", "bwrap, no network"): "programs in bubblewrap without network",
    ("bwrap",): "programs in bubblewrap",
    (
        "bwrap, listed hosts",
        "bwrap, no network",
    ): "programs in bubblewrap without network or with the hosts that the spec lists",
    ("bwrap, network open",): "programs in bubblewrap with an open network",
    ("landlock, no TCP",): "programs under Landlock without TCP",
    ("none, network open", "none"): "programs without a sandbox",
    ("bwrap, no network", "none, network open"): "programs in bubblewrap without network and without a sandbox",
    (): "programs without a sandbox",
}


@pytest.mark.parametrize(("labels", "phrase"), SAID.items(), ids=[" + ".join(labels) for labels in SAID])
def test_one_phrase(labels: tuple[str, ...], phrase: str) -> None:
    assert confinement(labels) == phrase
