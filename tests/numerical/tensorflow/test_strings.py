"""Operations on strings of TensorFlow: what bytes say is computed, the rest is reported with what can be done."""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from moir.conversion import convert_model, save_model
from moir.errors import ConversionError
from tests.numerical.tensorflow.conversion import check, core

FUNCTIONS: dict[str, Any] = {
    "StringLower": lambda x: tf.strings.lower(x, "utf-8"),
    "StringStrip": lambda x: tf.strings.strip(x),
    "StringToNumber": lambda x: tf.strings.to_number(x),
    "StringToHashBucketFast": lambda x: tf.strings.to_hash_bucket_fast(x, 7),
    "StringSplitV2": lambda x: tf.raw_ops.StringSplitV2(input=x, sep=" ").indices,
    "StaticRegexReplace": lambda x: tf.strings.to_number(tf.strings.regex_replace(x, "a", "1")),
    "DecodeRaw": lambda x: tf.io.decode_raw(x, tf.uint8),
}


@pytest.mark.parametrize("kind", FUNCTIONS)
def test_is_refused(kind: str) -> None:
    with pytest.raises(ConversionError, match=r"does not compute this on strings|beyond ASCII") as caught:
        check(FUNCTIONS[kind], {"x": np.array(["12"], object)}, forms=("static",), expected=[])
    assert caught.value.operation == f"tf.{kind}"
    assert re.search("cut the model|before the model", caught.value.hint or "")


TEXTS = np.array([["Abc xYZ", "", "äÖ€ß"], ["0-9", "@AZ[`az{", "日本 Q"]], object)


@pytest.mark.parametrize("unit", ["BYTE", "UTF8_CHAR"])
@pytest.mark.parametrize("x", [TEXTS, TEXTS[0], np.array("Aé", object)], ids=["matrix", "list", "scalar"])
def test_length(unit: str, x: np.ndarray) -> None:
    check(lambda x: tf.strings.length(x, unit=unit), {"x": x}, forms=("static", "dynamic"))


@pytest.mark.parametrize("function", [tf.strings.lower, tf.strings.upper])
def test_case(function: Any) -> None:
    check(lambda x: function(x), {"x": TEXTS}, forms=("static", "dynamic"))


@pytest.mark.parametrize(("position", "length"), [(0, 2), (1, 9), (-2, 1), (3, 0)])
def test_substring(position: int, length: int) -> None:
    x = np.array(["abcdef", "xyz", "0123"], object)
    check(lambda x: tf.strings.substr(x, position, length), {"x": x}, forms=("static", "dynamic"))


def test_substrings_of_their_own() -> None:
    inputs = {"x": np.array(["abcdef", "xyz"], object), "at": np.array([4, -3], np.int64), "size": np.array([1, 2], np.int64)}
    check(lambda x, at, size: tf.strings.substr(x, at, size), inputs, forms=("static", "dynamic"))


def test_strings_from_a_table() -> None:
    module = tf.Module()
    pairs = tf.lookup.KeyValueTensorInitializer(tf.constant([1, 5], tf.int64), tf.constant(["one", "fünf"]))
    module.table = tf.lookup.StaticHashTable(pairs, "none")
    module.call = tf.function(lambda x: {"y": module.table.lookup(x)}, input_signature=[tf.TensorSpec([None], tf.int64, "x")])
    with TemporaryDirectory() as folder:
        tf.saved_model.save(module, folder, {"serving_default": module.call.get_concrete_function()})
        save_model(convert_model(folder), Path(folder) / "model.xml")
        compiled = core().compile_model(core().read_model(Path(folder) / "model.xml"), "CPU")
        assert [str(text) for text in compiled([np.array([5, 2, 1])])[0]] == ["fünf", "none", "one"]
