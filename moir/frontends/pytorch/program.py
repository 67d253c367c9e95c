"""The JSON of a program, and the version of its schema."""

from __future__ import annotations

import json
from typing import Any, cast

from moir.errors import ModelFileError
from moir.files.json_fields import Fields
from moir.frontends.pytorch.archive import Archive

LARGEST_PROGRAM = 1 << 30
"""Largest size of the JSON of a program in bytes."""

KNOWN_MAJORS = frozenset((7, 8))
"""The major versions of the schema that moir reads: files of torch 2.5 to 2.15."""


def read_json(archive: Archive, name: str) -> Fields:
    """The JSON object in a record. Raises ModelFileError if the record contains something else."""
    record = archive.record(name)
    if len(record) > LARGEST_PROGRAM:
        raise archive.error(f"{name}: more than {LARGEST_PROGRAM >> 20} MB of text")
    try:
        content = json.loads(bytes(record))
    except RecursionError:
        raise archive.error(f"{name}: its lists are nested too deeply") from None
    except ValueError as error:
        raise archive.error(f"{name}: no JSON: {error}") from None
    if not isinstance(content, dict):
        raise archive.error(f"{name}: no object of JSON")
    return Fields(cast("dict[str, Any]", content), name, str(archive.path))


def check_version(program: Fields) -> None:
    """Raises ModelFileError for a program of a schema that moir does not know."""
    version = program.fields("schema_version")
    major, minor = version.integer("major"), version.integer("minor", 0)
    if major not in KNOWN_MAJORS:
        reason = f"a program of schema {major}.{minor}; moir reads {' and '.join(f'{each}.x' for each in sorted(KNOWN_MAJORS))}"
        hint = "export it again with torch 2.5 or newer, whose schema moir knows"
        raise ModelFileError(reason, location=program.location, hint=hint)
