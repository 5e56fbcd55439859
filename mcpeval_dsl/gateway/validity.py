"""Whether what a server gives as JSON Schema is one. Model APIs refuse a whole request for one tool whose schema is not.

Place in the pipeline: below the reading of catalogues. Every session lists its tools, so answers are kept by text.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any


@lru_cache(maxsize=4096)
def schema_fault(text: str) -> str | None:
    """What is wrong with a schema (given as JSON) by the draft it names, else by 2020-12; None for a good one.

    Regular expressions are not looked at: schemas use another dialect than ours.
    """
    from jsonschema import Draft202012Validator, SchemaError
    from jsonschema.validators import validator_for

    try:
        schema = json.loads(text)
        draft: Any = validator_for(schema, default=Draft202012Validator)
        draft.check_schema(schema, format_checker=None)
    except SchemaError as error:
        pointer = "".join(f"/{part}" for part in error.absolute_path)
        return f"{pointer or '/'}: {str(error.message)[:160]}"
    except (RecursionError, TypeError, ValueError) as error:
        return f"it cannot be checked ({type(error).__name__})"
    return None
