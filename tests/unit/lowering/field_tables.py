"""Reads the tables of fields in `fields/`: what frameworks without a package of their own say of attributes.

Activation _npx_activation
    act_type: str
LeakyReLU
    act_type: str = 'leaky'; slope: float = 0.25
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple


class Field(NamedTuple):
    """A field: one of the kinds int, float, bool, str, ints, floats, strs and message, and the text of its default."""

    kind: str
    default: Any
    is_required: bool


@cache
def field_table(framework: str) -> Mapping[str, Mapping[str, Field]]:
    """The fields of each entry of a table, by name."""
    text = (Path(__file__).parent / "fields" / f"{framework}.txt").read_text(encoding="utf-8")
    results: dict[str, Mapping[str, Field]] = {}
    for names, fields in re.findall(r"((?:^\w.*\n)+)((?:^    .*\n)+)", text, re.MULTILINE):
        entry = dict(map(_field, " ".join(fields.split()).split("; ")))
        results |= dict.fromkeys(names.split(), entry)
    return results


def _field(text: str) -> tuple[str, Field]:
    match = re.fullmatch(r"(\w+): (\w+)(?: = (.*))?", text)
    assert match is not None, text
    name, kind, default = match.groups()
    return name, Field(kind, None if default is None else ast.literal_eval(default), default is None)
