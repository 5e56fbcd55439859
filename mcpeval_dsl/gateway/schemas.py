"""JSON Schema of tools: arguments against the input schema as the server gave it, results against the output schema.

Place in the pipeline: used by the door and by the error classes. A `$ref` is never fetched, and a pattern is matched in
linear time: schemas come from servers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from mcpeval_dsl.gateway.catalogue import canonical

MOST_ERRORS = 10


class Validators:
    """Compiled validators by schema, kept for the life of one trial."""

    def __init__(self) -> None:
        self._compiled: dict[str, Any] = {}

    def problems(self, key: str, schema: Mapping[str, Any], value: Any) -> tuple[str, ...] | None:
        """What is wrong with a value, at most ten sentences `pointer: reason`; None where the schema cannot be used.

        `key` names the schema; equal keys must mean equal schemas.
        """
        if key not in self._compiled:
            self._compiled[key] = compiled(schema)
        validator = self._compiled[key]
        if validator is None:
            return None
        found: list[str] = []
        try:
            for error in validator.iter_errors(value):
                found.append(_sentence(error))
                if len(found) == MOST_ERRORS:
                    break
        except Exception:
            # An unresolvable $ref, or a schema that only fails when it is used: no statement about the value.
            return None
        return tuple(sorted(found))


def compiled(schema: Mapping[str, Any]) -> Any:
    """A validator for a schema of whatever draft it names (2020-12 where it names none); None for a broken schema."""
    from jsonschema import Draft202012Validator, SchemaError
    from jsonschema.validators import validator_for
    from referencing import Registry

    plain = _thawed(schema)
    found: Any = validator_for(plain, default=Draft202012Validator)
    try:
        found.check_schema(plain, format_checker=None)
    except SchemaError:
        return None
    return _linear(found)(plain, registry=Registry())


@lru_cache(maxsize=8)
def _linear(validator: Any) -> Any:
    from jsonschema.validators import extend

    make: Callable[..., Any] = extend
    return make(validator, {"pattern": _pattern})


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if isinstance(instance, str):
        expression = _expression(pattern)
        if expression is not None and not expression.search(instance):
            yield ValidationError(f"{instance[:80]!r} does not match {pattern!r}")


@lru_cache(maxsize=512)
def _expression(pattern: str) -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options=options)
    except re2.error:
        return None


def _thawed(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _thawed(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_thawed(item) for item in value]
    return value


def _sentence(error: Any) -> str:
    pointer = "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in error.absolute_path)
    return f"{pointer or '/'}: {str(error.message)[:200]}"


def stub(schema: Mapping[str, Any] | None) -> Any:
    """A small value of a schema's shape: constants, examples and defaults where it has them, else empty values."""
    return None if schema is None else _stub(schema, schema, 8)


def _stub(schema: Any, root: Mapping[str, Any], depth: int) -> Any:
    if not isinstance(schema, Mapping) or depth == 0:
        return None
    for word in ("const", "default"):
        if word in schema:
            return schema[word]
    for word in ("enum", "examples"):
        if isinstance(schema.get(word), list) and schema[word]:
            return schema[word][0]
    reference = schema.get("$ref")
    if isinstance(reference, str):
        return _stub(_local(reference, root), root, depth - 1)
    for word in ("anyOf", "oneOf", "allOf"):
        if isinstance(schema.get(word), list) and schema[word]:
            return _stub(schema[word][0], root, depth - 1)
    return _typed(schema, root, depth)


def _typed(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Any:
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    if kind == "object" or "properties" in schema:
        properties = schema.get("properties")
        wanted = properties if isinstance(properties, Mapping) else {}
        return {name: _stub(inner, root, depth - 1) for name, inner in wanted.items()}
    if kind == "array":
        return [_stub(schema.get("items"), root, depth - 1)] * int(schema.get("minItems") or 0)
    if kind in ("integer", "number"):
        return schema.get("minimum", 0)
    return {"string": "", "boolean": False}.get(str(kind))


def _local(reference: str, root: Mapping[str, Any]) -> Any:
    found: Any = root
    for part in reference.removeprefix("#").split("/")[1:]:
        found = found.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(found, Mapping) else None
    return found


def schema_key(sha256: str, which: str, schema: Mapping[str, Any]) -> str:
    """Name of one schema of one tool for `Validators.problems`."""
    return f"{which}:{sha256 or canonical(schema)}"
