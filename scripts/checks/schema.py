"""JSON Schemas of docs/schema."""

import json
import os

from .tools import ROOT


def validator(command):
    """The validator of what a command prints, or None where Python has no jsonschema."""
    try:
        from jsonschema import Draft202012Validator
    except ImportError:
        return None
    with open(os.path.join(ROOT, "docs", "schema", f"{command}.json")) as file:
        schema = json.load(file)
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def problems_of(validator, content):
    """What in the content is not as the schema wants, as one line; empty where all is."""
    if not validator:
        return ""
    found = [f"{'/'.join(map(str, e.absolute_path))}: {e.message[:200]}" for e in validator.iter_errors(content)]
    return "not as the schema wants: " + "; ".join(found[:3]) if found else ""
