"""Report: what each kind of lead means, in words that every report shares."""

from __future__ import annotations

SUSPICIONS = {
    "not_found of a vouched value": "not found, though the server itself named it",
    "schema_mismatch": "refuses what its own schema allows",
    "internal_error": "internal error on a call that fits its schema",
    "invalid_result": "a result that breaks the protocol or its own schema",
    "crash": "the server died",
    "resource_limit": "the server died at a limit of ours",
    "timeout": "no answer in time",
}
