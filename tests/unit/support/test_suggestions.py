"""The nearest names in error messages."""

from __future__ import annotations

import pytest

from moir.support.suggestions import alternatives, did_you_mean, nearest

PASSES = ["fold-constants", "fold-batch-norm", "fuse-gelu", "fuse-swish", "fuse-hswish", "Fuse-Swish"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("fold-constant", ["fold-constants"]),
        ("FUSE-GELU", ["fuse-gelu"]),
        ("fuse-swis", ["Fuse-Swish", "fuse-swish", "fuse-hswish"]),
        ("zzz", []),
    ],
)
def test_nearest_names_are_few_and_the_best_is_first(name: str, expected: list[str]) -> None:
    assert nearest(name, PASSES) == expected


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("Foo", ["Floor"], []),
        ("input_model", ["input_symbol", "input"], []),
        ("missing.onnx", ["digits.onnx"], []),
        ("BertTokenizer", ["com.microsoft.Tokenizer", "contrib.BertTokenizer"], ["contrib.BertTokenizer"]),
        ("serving", ["serving_default"], ["serving_default"]),
        ("loop/out", ["out"], ["out"]),
        ("inptu", ["input"], ["input"]),
        ("graf", ["graph"], ["graph"]),
    ],
)
def test_a_nearest_name_is_a_misspelling_or_a_part(name: str, known: list[str], expected: list[str]) -> None:
    assert nearest(name, known) == expected


def test_hints() -> None:
    assert did_you_mean("fold-constant", PASSES) == "did you mean fold-constants?"
    assert did_you_mean("zzz", PASSES) is None
    assert did_you_mean("zzz", PASSES, "see `moir passes`") == "see `moir passes`"
    assert alternatives(["a", "b", "c"]) == "a, b or c"
