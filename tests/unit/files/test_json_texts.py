"""JSON texts that describe models: texts that are not objects with numbers of 64 bits and whole characters are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from moir.errors import ModelFileError
from moir.files.json_texts import parsed_object


def test_numbers_of_64_bits() -> None:
    assert parsed_object('{"a": 9223372036854775807, "b": -9223372036854775808}', Path("m"), "it") == {"a": 2**63 - 1, "b": -(2**63)}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": 9223372036854775808}', "does not fit into 64 bits"),
        ('{"a": ' + 10_000 * "9" + "}", "does not fit into 64 bits"),
        ("[1]", "not a JSON object"),
        ('{"a": "\\ud800"}', "half of a surrogate pair"),
    ],
)
def test_what_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ModelFileError, match=reason):
        parsed_object(text, Path("m"), "it")
