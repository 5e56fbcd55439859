"""Report: what kept the programs of a run from the machine, as one phrase of the labels that its records carry."""

from __future__ import annotations

from collections.abc import Iterable

_KINDS = {"bwrap": "in bubblewrap", "landlock": "under Landlock", "none": "without a sandbox"}
_NETWORKS = {
    "no network": "without network",
    "no TCP": "without TCP",
    "listed hosts": "with the hosts that the spec lists",
    "listed hosts over TCP": "with the TCP hosts that the spec lists",
    "network open": "with an open network",
}


def confinement(labels: Iterable[str]) -> str:
    """`bwrap, no network` and `bwrap, listed hosts` are one sandbox with two kinds of trials; a bare `bwrap` is the label
    of trials that started nothing, and says nothing where others did."""
    networks: dict[str, dict[str, None]] = {}
    for label in sorted(labels, key=_openness):
        kind, _, network = label.partition(", ")
        networks.setdefault(kind, {}).update({network: None} if network and kind != "none" else {})
    phrases = [_phrase(kind, [*found]) for kind, found in networks.items()]
    return "programs " + " and ".join(phrases or [_KINDS["none"]])


def _phrase(kind: str, networks: list[str]) -> str:
    said = [_NETWORKS.get(network, network) for network in networks]
    return " ".join([_KINDS.get(kind, f"in {kind}"), " or ".join(said)]).rstrip()


def _openness(label: str) -> tuple[int, str]:
    network = label.partition(", ")[2]
    return ([*_NETWORKS].index(network) if network in _NETWORKS else len(_NETWORKS), label)
