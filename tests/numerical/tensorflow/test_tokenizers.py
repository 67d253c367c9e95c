"""Strings that operations of OpenVINO Tokenizers compute, against TensorFlow."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import moir
from moir.conversion import save_model
from moir.dialects.moir import ModuleLevel, models_of
from moir.dialects.properties import value_of
from moir.errors import ConversionError
from moir.expansions.strings.tokenizers import CLASSES_NOTE
from moir.interface import convert_model
from moir.lowering.tensorflow.strings.re2 import UnknownPattern, written_anew
from tests.numerical.runtime import core, load_tokenizers
from tests.numerical.tensorflow.conversion import build, check

load_tokenizers()

FLEXIBLE = ("static", "dynamic")
TEXTS = np.array(
    [
        ["Hello, World 42!", "", "a.b-c_d 3.14"],
        ["aaab abab", "x\ny\n", "foo@bar.org, me@x.y"],
        ["\u00e4\u00d6\u20ac\u00df na\u00efve 12\u0663", "\u65e5\u672c Q\u00a0z\v\t ", "$1 \\1 (x) [y]"],
    ],
    object,
)

REPLACEMENTS = [
    ("[0-9]+", "#", True),
    (r"\d+(\.\d+)?", "<>", True),
    (r"(\w+)@(\w+)", r"\2$\1", True),
    (r"\b\w", "_", True),
    (r"\B.", "\u00e9", True),
    (r"[^[:alnum:]\s]", " ", True),
    (r"\p{L}|\p{Nd}", "", True),
    (r"^\s*\S", "", True),
    ("(a|ab)(c|bab)?", "-", True),
    ("a+?b", "", True),
    ("(?:ab){2,3}", "%", True),
    (".$", "$", True),
    ("[aeiou]", "", False),
    (r"(\S)\s", r"\1\\", False),
    ("abab", "\u00fc", True),
    (r"[\W_]", "-", True),
    (r"\s+", " ", False),
]


@pytest.mark.parametrize(("pattern", "rewrite", "all_matches"), REPLACEMENTS)
def test_replace(pattern: str, rewrite: str, all_matches: bool) -> None:
    check(lambda x: tf.strings.regex_replace(x, pattern, rewrite, all_matches), {"x": TEXTS}, forms=FLEXIBLE)


@pytest.mark.parametrize(("pattern", "is_told"), [(r"[[:alpha:]]\d", False), (r"\p{L}\d", True)])
def test_classes_of_unicode_are_told(pattern: str, is_told: bool, tmp_path: Path) -> None:
    graph, _ = build(lambda x: tf.strings.regex_replace(x, pattern, "-"), {"x": TEXTS}, form="static")
    (tmp_path / "g.pb").write_bytes(graph.as_graph_def().SerializeToString())
    [model] = models_of(convert_model(tmp_path / "g.pb"))
    assert (CLASSES_NOTE in value_of(model.attributes[ModuleLevel.NOTES])) == is_told


def test_replace_in_a_scalar() -> None:
    check(lambda x: tf.strings.regex_replace(x, "l+o?", "L"), {"x": np.array("hello", object)}, forms=FLEXIBLE)


FULL_MATCHES = [
    r"[\w ,]+!?",
    r"(\w\.?)*",
    r"(a|b)+ ?[ab]*",
    ".*",
    r"\W?",
    r"[^0-9]+\d",
    "(foo|x\ny)?\n?",
    r"\S+@\S+, .*",
    r"\b",
    r"\B",
    "x$",
]


@pytest.mark.parametrize("pattern", FULL_MATCHES)
def test_full_match(pattern: str) -> None:
    check(lambda x: tf.strings.regex_full_match(x, pattern), {"x": TEXTS}, forms=FLEXIBLE)


def test_random_patterns() -> None:
    """Random patterns and texts of a few characters: all ways of repeating and choosing."""
    draw = random.Random(11)

    def drawn(depth: int) -> str:
        kind = draw.randrange(7) if depth else 0
        if kind < 2:
            return draw.choice(["a", "b", "c", ".", "[ab]", "[^a]", r"\w", r"\s", "\u00e4"])
        if kind < 4:
            return drawn(depth - 1) + drawn(depth - 1)
        if kind == 4:
            return f"(?:{drawn(depth - 1)}|{drawn(depth - 1)})"
        return f"({drawn(depth - 1)}){draw.choice(['+', '*', '?', '+?', '*?', '??', '{2}', '{1,2}'])}"

    texts = np.array(["".join(draw.choice("abc \u00e4\n") for _ in range(draw.randrange(12))) for _ in range(40)], object)
    patterns: list[str] = []
    while len(patterns) < 12:
        pattern = drawn(3)
        try:
            actual = written_anew(pattern)
        except UnknownPattern:
            continue
        if actual.least:
            patterns.append(pattern)
    for pattern in patterns:
        check(
            lambda x, pattern=pattern: [tf.strings.regex_replace(x, pattern, "-"), tf.strings.regex_full_match(x, pattern)],
            {"x": texts},
            forms=("static",),
        )


def test_large_replacements() -> None:
    """The longest replacements that are converted fit into the room that the extension has."""
    texts = np.array(["a" * size for size in (1, 3, 10, 100, 1000)], object)
    check(lambda x: tf.strings.regex_replace(x, "a|bb", "xyz"), {"x": texts}, forms=("static",))
    check(lambda x: tf.strings.regex_replace(x, "(a)(a)?", r"\1\1\1"), {"x": texts}, forms=("static",))


@pytest.mark.parametrize("every", [True, False])
def test_a_rewrite_that_is_longer_than_there_is_room(every: bool) -> None:
    texts = np.array([["aabc", "ba", ""], ["日a", "xyz", "$a$"]], object)
    check(lambda x: tf.strings.regex_replace(x, "a+|b", "日本 $1 yyyyyyyy", every), {"x": texts}, forms=FLEXIBLE)


@pytest.mark.parametrize("buckets", [1, 10, 2**31 - 1, 2**40])
def test_hashes(buckets: int) -> None:
    draw = random.Random(3)
    texts = np.array(["".join(chr(draw.choice((draw.randrange(32, 127), 0xE9))) for _ in range(size)) for size in range(0, 150, 3)], object)
    check(lambda x: tf.strings.to_hash_bucket_fast(x, buckets), {"x": texts.reshape(5, -1)}, forms=FLEXIBLE)


def written(function: Any, folder: Path) -> Path:
    """A file with the graph of a function of strings."""
    graph, _ = build(function, {"x": TEXTS[0]})
    (folder / "model.pb").write_bytes(graph.as_graph_def().SerializeToString())
    return folder / "model.pb"


def hashed(x: Any) -> Any:
    return tf.strings.to_hash_bucket_fast(tf.strings.regex_replace(x, "(a|b)c*", "d"), 9)


def test_what_a_model_says(tmp_path: Path) -> None:
    module = convert_model(written(hashed, tmp_path))
    save_model(module, tmp_path / "model.xml")
    model = core().read_model(tmp_path / "model.xml")
    assert model.get_rt_info("runtime_extensions").astype(str) == "openvino_tokenizers"
    assert sum(op.get_type_name() in ("RegexNormalization", "StringToHashBucket") for op in model.get_ordered_ops()) == 2
    moir.to_openvino(module, core=core())
    assert str(module).count("the model needs OpenVINO Tokenizers in the runtime") == 1


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (hashed, "an automaton, which the operation sets cannot express, and operations of OpenVINO Tokenizers are ruled out; leave out"),
        (lambda x: tf.strings.to_hash_bucket_fast(x, 9), "modulo 2.64, .* and operations of OpenVINO Tokenizers are ruled out; leave out"),
    ],
)
def test_ruled_out(tmp_path: Path, function: Any, reason: str) -> None:
    with pytest.raises(ConversionError, match=reason):
        convert_model(written(function, tmp_path), tokenizers=False)


@pytest.mark.parametrize(
    ("pattern", "rewrite", "reason"),
    [
        ("a*", "x", "matches nothing as well"),
        ("(a)|(b)", r"\1", "refers to part 1, which a match may lack"),
        ("(a)b|c", r"\0\0\0\0", "more than 3 times as long"),
        ("(?i)ab", "x", "it has flags"),
        ("(a+)+", "x", "may take for ever"),
        (r"\p{Greek}", "x", "it is not a known expression"),
    ],
)
def test_what_is_refused(tmp_path: Path, pattern: str, rewrite: str, reason: str) -> None:
    with pytest.raises(ConversionError, match=re.escape(reason)):
        convert_model(written(lambda x: tf.strings.regex_replace(x, pattern, rewrite), tmp_path))
