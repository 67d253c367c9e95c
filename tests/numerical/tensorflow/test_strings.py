"""Operations on strings of TensorFlow: what bytes say is computed, the rest is reported with what can be done."""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from moir.conversion import save_model
from moir.errors import ConversionError
from moir.interface import convert_model
from tests.numerical.tensorflow.conversion import Build, check, core

REFUSALS: dict[str, tuple[Any, str]] = {
    "AsString": (lambda x: tf.strings.as_string(tf.strings.to_number(x)), "more digits"),
    "DecodeJpeg": (lambda x: tf.io.decode_jpeg(x[0]), "bit by bit"),
    "ReadFile": (lambda x: tf.io.read_file(x[0]), "no operation that reads files"),
    "StaticRegexReplace": (lambda x: tf.strings.regex_replace(x, "(?i)a", "1"), "automaton, .* nor can OpenVINO Tokenizers: it has flags"),
    "StringToHashBucketStrong": (lambda x: tf.strings.to_hash_bucket_strong(x, 7, [1, 2]), "64 bits"),
}


@pytest.mark.parametrize("kind", REFUSALS)
def test_is_refused(kind: str) -> None:
    function, reason = REFUSALS[kind]
    with pytest.raises(ConversionError, match=reason) as caught:
        check(function, {"x": np.array(["12"], object)}, forms=("static",), expected=[])
    assert caught.value.operation == f"tf.{kind}"
    assert re.search("model|set of characters", caught.value.hint or "")


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


raw = tf.raw_ops
FLEXIBLE = ("static", "dynamic")
WORDS = np.array([" a b  c", "x", "", "b, b\t", "end "], object)
NUMBERS = np.array(["12", " -7 ", "+0", "2147483647", "-2147483648"], object)
FLOATS = np.array(
    ["12", " -7.25", "1e3", "-1.5E-4 ", ".5", "3.", "inf", "-INF", "nan", "1.17549e-38", "9.87654e-37", "3.4e38", "1e99", "00123.4500"],
    object,
)
MATRIX = np.array([["a", "bc", ""], ["", "", "d"]], object)
BYTES = np.array([["abcdefgh", "ABCDEFGH"], ["01234567", "!@#$%^&*"]], object)
LETTERS = np.array(["", "a", "ab", "abc", "abcd~", "A\u00e4\u65e5\U0001f600"], object)

CASES: dict[str, tuple[Build, dict[str, Any]]] = {
    "strip": (lambda x: tf.strings.strip(x), {"x": WORDS}),
    "join": (lambda x, y: tf.strings.join([x, "-\u00e9", y, x], "::"), {"x": MATRIX, "y": MATRIX[:, ::-1].copy()}),
    "join scalars": (lambda x, y: tf.strings.join([x, y]), {"x": np.array("a", object), "y": np.array("b", object)}),
    "reduce": (lambda x: tf.strings.reduce_join(x, 1, separator=", "), {"x": MATRIX}),
    "reduce first": (lambda x: tf.strings.reduce_join(x, [0, 1], separator="-"), {"x": MATRIX}),
    "reduce all": (lambda x: tf.strings.reduce_join(x, [1, 0], separator="-"), {"x": MATRIX}),
    "reduce kept": (lambda x: tf.strings.reduce_join(x, 0, keepdims=True), {"x": MATRIX}),
    "reduce none": (lambda x: tf.strings.reduce_join(x, [], separator="-"), {"x": MATRIX}),
    "segments": (
        lambda x, i: tf.strings.unsorted_segment_join(x, i, 4, separator="-"),
        {"x": WORDS, "i": np.array([2, 0, 3, 2, 0], np.int32)},
    ),
    "split words": (lambda x: raw.StringSplitV2(input=x, sep=""), {"x": WORDS}),
    "split": (lambda x: raw.StringSplitV2(input=x, sep=" "), {"x": WORDS}),
    "split at a text": (lambda x: raw.StringSplitV2(input=x, sep=", "), {"x": WORDS}),
    "split none": (lambda x: raw.StringSplitV2(input=x, sep="-"), {"x": WORDS}),
    "split, version 1": (lambda x: raw.StringSplit(input=x, delimiter=" ,", skip_empty=False), {"x": WORDS}),
    "split, version 1 without empty": (lambda x: raw.StringSplit(input=x, delimiter=" ,", skip_empty=True), {"x": WORDS}),
    "split bytes": (lambda x: raw.StringSplit(input=x, delimiter=""), {"x": WORDS}),
    "integers as text": (
        lambda x: [raw.AsString(input=x), raw.AsString(input=x, width=5), raw.AsString(input=x, width=5, fill="0")],
        {"x": np.array([[0, 7, -12], [123456, -2147483648, 2147483647]], np.int32)},
    ),
    "booleans as text": (lambda x: raw.AsString(input=x), {"x": np.array([True, False])}),
    "text as integers": (lambda x: tf.strings.to_number(x, tf.int32), {"x": NUMBERS}),
    "text as floats": (lambda x: tf.strings.to_number(x), {"x": FLOATS}),
    "remove": (lambda x: tf.strings.regex_replace(x, "[ ,]", ""), {"x": WORDS}),
    "replace runs": (lambda x: tf.strings.regex_replace(x, r"\s+", "<>"), {"x": WORDS}),
    "replace a text": (lambda x: tf.strings.regex_replace(x, ", b", "\u00e9"), {"x": WORDS}),
    "equal": (
        lambda x, y: [raw.Equal(x=x, y=y), raw.NotEqual(x=y, y=x), raw.Equal(x=x, y=""), raw.Equal(x="a\0b", y=x)],
        {"x": np.array([["a", "ab", "", "\u00e9", "a\0b", "abcde"]], object), "y": np.array([["a"], ["ab"], ["\u00e9"], [""]], object)},
    ),
    "select": (
        lambda c, x, y: [tf.where(c, x, y), tf.where(c, x, "none"), raw.Select(condition=c, x=x, y=y)],
        {"c": np.array([True, False, True]), "x": np.array(["a", "bc", ""], object), "y": np.array(["\u00e9", "", "xyz"], object)},
    ),
    "select rows": (
        lambda c, x, y: raw.Select(condition=c, x=x, y=y),
        {"c": np.array([True, False]), "x": MATRIX, "y": MATRIX[::-1].copy()},
    ),
    "punctuation": (
        lambda x: tf.strings.regex_replace(x, r'[!"#$%&()\*\+,-\./:;<=>?@\[\\\]^_`{|}~\']', ""),
        {"x": np.array(["Hello, [world]!", "a-b_c\\d'e", "\u00e4!"], object)},
    ),
    "match": (
        lambda x: [tf.strings.regex_full_match(x, pattern) for pattern in ("[a-z ]+", "x", "end ", ".*", "[^b]*")],
        {"x": WORDS},
    ),
    "raw bytes": (lambda x: tf.io.decode_raw(x, tf.uint8), {"x": BYTES}),
    "raw numbers": (
        lambda x: [tf.io.decode_raw(x, dtype, little) for dtype in (tf.int8, tf.int16, tf.uint16, tf.int32) for little in (True, False)],
        {"x": BYTES},
    ),
    "raw floats": (lambda x: tf.io.decode_raw(x, tf.float32), {"x": BYTES}),
    "base 64": (lambda x: [tf.io.encode_base64(x), tf.io.encode_base64(x, pad=True)], {"x": LETTERS}),
    "from base 64": (
        lambda x: tf.io.decode_base64(x),
        {"x": np.array(["", "YQ==", "YQ", "YWI", "YWI=", "YWJj", "w6Qtfg"], object)},
    ),
    "code points": (lambda x: raw.UnicodeDecode(input=x, input_encoding="UTF-8"), {"x": LETTERS}),
    "code points and offsets": (lambda x: raw.UnicodeDecodeWithOffsets(input=x, input_encoding="UTF-8"), {"x": LETTERS}),
    "characters": (
        lambda x, s: raw.UnicodeEncode(input_values=x, input_splits=s, output_encoding="UTF-8"),
        {"x": np.array([65, 0x7F, 0x80, 0x7FF, 0x800, 0xD800, 0xFFFF, 0x10000, 0x110000, -1], np.int32), "s": np.array([0, 2, 2, 7, 10])},
    ),
    "n-grams": (
        lambda x, s: raw.StringNGrams(
            data=x,
            data_splits=s,
            separator="-",
            ngram_widths=[2, 3],
            left_pad="<",
            right_pad=">>",
            pad_width=-1,
            preserve_short_sequences=False,
        ),
        {"x": np.array(["a", "bb", "", "c", "d"], object), "s": np.array([0, 3, 3, 4, 5])},
    ),
    "n-grams without pads": (
        lambda x, s: raw.StringNGrams(
            data=x, data_splits=s, separator="", ngram_widths=[1, 3], left_pad="", right_pad="", pad_width=0, preserve_short_sequences=False
        ),
        {"x": np.array(["a", "bb", "", "c", "d"], object), "s": np.array([0, 3, 3, 4, 5])},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_by_bytes(name: str) -> None:
    function, inputs = CASES[name]
    check(function, inputs, forms=FLEXIBLE, rtol=3e-7, atol=0)


def test_standardized_words() -> None:
    def standardized(x: Any) -> Any:
        return raw.StringSplitV2(input=tf.strings.regex_replace(tf.strings.lower(x), r"[!,.]", ""), sep="")

    check(standardized, {"x": np.array(["Hello, World!", "ONE two. three", "..."], object)}, forms=FLEXIBLE)


@pytest.mark.parametrize("name", ["strip", "integers as text", "text as floats", "punctuation", "base 64"])
def test_scalars_by_bytes(name: str) -> None:
    function, inputs = CASES[name]
    check(function, {"x": np.array(inputs["x"].reshape(-1)[1], inputs["x"].dtype)}, forms=FLEXIBLE, rtol=3e-7, atol=0)


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("weights", [[], [1.5, 2.0, -1.0, 0.5, 4.0, 8.0]], ids=["", "weights"])
def test_counts_of_rows(binary: bool, weights: list[float]) -> None:
    inputs = {"splits": np.array([0, 2, 2, 6]), "values": np.array([1, 1, 0, 3, 2, 7], np.int32), "weights": np.array(weights, np.float32)}

    def counts(splits: Any, values: Any, weights: Any) -> Any:
        return raw.RaggedBincount(splits=splits, values=values, size=4, weights=weights, binary_output=binary)

    if not (binary and weights):
        check(counts, inputs, forms=FLEXIBLE)


VECTORIZATIONS: dict[str, dict[str, Any]] = {
    "words": {"output_mode": "int"},
    "words of a length": {"output_mode": "int", "output_sequence_length": 6},
    "characters": {"output_mode": "int", "split": "character", "output_sequence_length": 5},
    "punctuation": {"output_mode": "int", "standardize": "strip_punctuation"},
    "which": {"output_mode": "multi_hot"},
    "how many": {"output_mode": "count", "ngrams": 2},
    "weighted": {"output_mode": "tf_idf"},
}


@pytest.mark.parametrize("name", VECTORIZATIONS)
def test_text_vectorization(name: str, tmp_path: Path) -> None:
    layer = tf.keras.layers.TextVectorization(max_tokens=50, **VECTORIZATIONS[name])
    layer.adapt(["the quick brown fox, jumps!", "over the lazy dog.", "hello World hello"])
    model = tf.keras.Sequential([tf.keras.Input((1,), dtype=tf.string), layer])
    model.export(tmp_path / "model", verbose=False)
    module = convert_model(tmp_path / "model", tokenizers=False)
    save_model(module, tmp_path / "model.xml")
    compiled = core().compile_model(core().read_model(tmp_path / "model.xml"), "CPU")
    for texts in ([["The QUICK dog!"], ["unknown hello, hello"]], [["a"]], [[""], ["fox"]]):
        actual = compiled([np.array(texts, np.str_)])[0]
        np.testing.assert_allclose(actual, model(tf.constant(texts)).numpy(), rtol=1e-5)


LETTERS_WITH_CASE = np.array(
    [["AbÇÖ Ж", "ΑΣ", "İI", "strasse"], ["ẞß", "", "ΑΣ ΟΔΥΣΣΕΥΣ.", "ﬁŉΐ"], ["Σ", "aΣ'b ΑΣ\u2019\u0391", "日本ǅ𐐀𐐨", "a\u03c3\u03c2"]],
    object,
)


@pytest.mark.parametrize("kind", [tf.raw_ops.StringLower, tf.raw_ops.StringUpper])
def test_letters_beyond_ascii(kind: Any) -> None:
    """The small form of a letter may be another one at the end of a word, and capitals may be several characters."""
    check(lambda x: kind(input=x, encoding="utf-8"), {"x": LETTERS_WITH_CASE}, forms=("static", "dynamic"))
