"""Regular expressions: matched byte by byte if the pattern is a text or a set of ASCII characters, else by
OpenVINO Tokenizers.

    %y = tf.StaticRegexReplace(%x) {pattern = "[.,!]", rewrite = ""}
->  the bytes of %x without those of the set
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from moir.expansions.strings.pieces import occurrences, overlaps
from moir.expansions.strings.texts import (
    Texts,
    constant_texts,
    contiguous,
    flat,
    int32,
    is_one_of,
    one_by_one,
    packed,
    positions_where,
    ranks,
    shape_value,
    size_of,
    together,
    unpacked,
    with_sentinel,
)
from moir.expansions.strings.tokenizers import LARGEST_GROWTH, check_permitted, replaced
from moir.lowering.binder import LoweringNode
from moir.lowering.tensorflow.strings.re2 import Expression, UnknownPattern, rewritten, written_anew
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder

ASCII = bytes(range(128))
BEYOND = bytes(range(128, 256))
"""The bytes that are part of multi-byte characters."""

MARK = "\ufdd0"
"""A character that temporarily replaces a long rewrite; Unicode reserves it for internal use, so that texts lack it."""


@dataclass(frozen=True)
class Pattern:
    """What a regular expression matches: a text, or a set of bytes.

    Args:
        text: the text; None for a set.
        members: the bytes of the set.
        least: the minimum number of bytes in a match of a set.
        repeats: whether a match of a set may have more than one byte.
    """

    text: bytes | None = None
    members: bytes = b""
    least: int = 1
    repeats: bool = False


def parsed(pattern: str) -> Pattern | None:
    """A regular expression as a pattern; None if it is more than a text or a set of characters."""
    if re.fullmatch(r"(\\[^\w]|[\w\s!\"#%&',\-/:;<=>@_`~])+", pattern) and pattern.isascii():
        text = re.sub(r"\\(.)", r"\1", pattern).encode()
        return Pattern(text=text) if len(text) > 1 else Pattern(members=text)
    match = re.fullmatch(
        r"(?P<set>\[(\\.|\[:\w+:\]|[^\]\\])(\\.|\[:\w+:\]|[^\]\\])*\]|\\[sdwSDW]|\.|[\w ])(?P<count>[+*]?)", pattern, re.DOTALL
    )
    if match is None or not pattern.isascii() or "[:" in pattern:
        return None
    members = members_of(match["set"])
    count = match["count"]
    if members is None or (set(members) & set(BEYOND) and not count):
        return None
    return Pattern(members=members, least=0 if count == "*" else 1, repeats=bool(count))


def members_of(text: str) -> bytes | None:
    """The bytes of a set of characters in brackets; None if RE2 might interpret the text otherwise."""
    with warnings.catch_warnings():
        # Python warns of nested sets, which other dialects of regular expressions have.
        warnings.simplefilter("error")
        try:
            compiled: Any = re.compile(text, re.ASCII)
        except (re.error, FutureWarning, DeprecationWarning):
            return None
    members = bytes(each for each in ASCII if compiled.fullmatch(chr(each)))
    if compiled.fullmatch("\u00e9") or compiled.fullmatch("\u65e5"):
        members += BEYOND
    # \s of RE2 does not include the vertical tab.
    return members.replace(b"\v", b"") if "\\s" in text else members


def text_operand(node: LoweringNode, attribute: str, index: int) -> str:
    """A text in an attribute or in a constant operand. Raises ConversionError if it is computed."""
    if node.has(attribute):
        return node.text(attribute)
    constant = node.constant(index)
    if constant is None or constant.size != 1:
        node.fail(f"the {attribute} is computed when the model runs", hint="make it a constant")
    return str(constant.reshape(-1)[0])


def needs_automaton(pattern: Pattern | None) -> bool:
    """Whether the matches of a pattern cannot be determined byte by byte, so that a regular-expression engine is
    needed.

    True for None, an expression that is not a `Pattern`, and for a text whose occurrences may overlap.
    """
    return pattern is None or (pattern.text is not None and overlaps(pattern.text))


def expression_of(node: LoweringNode, op: OpBuilder, text: str) -> Expression:
    """A regular expression of RE2 in the syntax of PCRE2, for OpenVINO Tokenizers.

    Raises ConversionError if it cannot be expressed, or if operations of OpenVINO Tokenizers are not permitted.
    """
    reason = f"the regular expression {text!r} needs an automaton, which the operation sets cannot express"
    hint = "use a text or a set of characters of ASCII, or cut the model after this node"
    check_permitted(op, reason, f"leave out --no-tokenizers, or {hint}")
    try:
        return written_anew(text)
    except UnknownPattern as error:
        node.fail(f"{reason}, nor can OpenVINO Tokenizers: {error.reason}", hint=hint)


def replaced_by_automaton(node: LoweringNode, op: OpBuilder, text: str, rewrite: str) -> SSAValue:
    """Operand 0 with the matches of the regular expression `text` replaced, by an operation of OpenVINO Tokenizers.

    Raises ConversionError if the expression or the rewrite cannot be expressed, or if it matches the empty text.
    """
    expression = expression_of(node, op, text)
    try:
        replacement, size, references = rewritten(rewrite, expression)
    except UnknownPattern as error:
        node.fail(f"in the regular expression {text!r} {error.reason}", hint="use a rewrite with parts that every match has")
    if expression.matches_empty or expression.least == 0:
        node.fail(f"the regular expression {text!r} matches nothing as well", hint="use one that matches at least one character")
    is_long = size > (LARGEST_GROWTH - references) * expression.least
    if is_long and references:
        node.fail(
            f"the rewrite {rewrite!r} is more than {LARGEST_GROWTH} times as long as a match may be, which OpenVINO Tokenizers cannot hold",
            hint="use a shorter one",
        )
    x = unpacked(op, node.operand(0))
    flattened = Texts(flat(op, x.begins), flat(op, x.ends), x.symbols)
    every = node.flag("replace_global", True)
    if not is_long:
        return packed(op, replaced(op, flattened, expression.text, replacement, all_matches=every), shape_value(op, x.begins))
    node.note("strings with the character U+FDD0, which stands for the rewrite in between, have the rewrite there")
    result = replaced(op, flattened, expression.text, MARK, all_matches=every)
    return replaced_by_bytes(op, result, Pattern(text=MARK.encode()), replacement.replace("$$", "$").encode(), shape_value(op, x.begins))


def matched_by_automaton(node: LoweringNode, op: OpBuilder, text: str) -> SSAValue:
    """Whether a pattern matches a whole string, by an operation of OpenVINO Tokenizers: the string is empty after the
    match is removed.
    """
    expression = expression_of(node, op, text)
    x = unpacked(op, node.operand(0))
    flattened = Texts(flat(op, x.begins), flat(op, x.ends), x.symbols)
    left = replaced(op, flattened, rf"\A(?:{expression.text})\z", "", all_matches=False)
    was_empty, is_empty = op.Equal(flattened.begins, flattened.ends), op.Equal(left.begins, left.ends)
    matches = op.Select(was_empty, np.array(expression.matches_empty), is_empty)
    return op.Reshape(matches, shape_value(op, x.begins), special_zero=False)


@tf.lowers("RegexReplace", "StaticRegexReplace")
def replace(node: LoweringNode, op: OpBuilder, input: SSAValue, *, replace_global: bool = True) -> SSAValue:
    """tf.StaticRegexReplace(x) {pattern, rewrite}
    -> the concatenation of the pieces between the matches, with the rewrite between them

    This applies if the pattern is a text or a set of characters, once or repeated. Other patterns need
    extension.RegexNormalization of OpenVINO Tokenizers.
    """
    text, rewrite = text_operand(node, "pattern", 1), text_operand(node, "rewrite", 2)
    pattern = parsed(text)
    if pattern is None or needs_automaton(pattern) or "\\" in rewrite or not replace_global or not pattern.least:
        return replaced_by_automaton(node, op, text, rewrite)
    x = unpacked(op, input)
    return replaced_by_bytes(op, x, pattern, rewrite.encode(), shape_value(op, x.begins))


def replaced_by_bytes(op: OpBuilder, x: Texts, pattern: Pattern, rewrite: bytes, shape: SSAValue) -> SSAValue:
    """Strings x of a shape in which `rewrite` replaces all matches of a pattern, determined byte by byte."""
    texts, new = together(op, [Texts(flat(op, x.begins), flat(op, x.ends), x.symbols), constant_texts(op, [rewrite])])
    size, length = size_of(op, x.symbols), 1
    if pattern.text is not None:
        positions, length = occurrences(op, x, pattern.text), len(pattern.text)
    else:
        positions = positions_where(op, is_one_of(op, x.symbols, pattern.members))
    # The pieces are the bytes that do not match, and the rewrite at the first byte of each match.
    indices = one_by_one(op, size)
    starts = is_at(op, positions, size)
    matched = is_at(op, flat(op, op.Add(op.Unsqueeze(positions, [1]), int32(np.arange(length)))), size) if length > 1 else starts
    if pattern.repeats:
        before = op.Gather(op.Concat(np.zeros(1, bool), matched, axis=0), indices, 0)
        begins_text = is_at(op, op.Minimum(texts.begins, size), op.Add(size, int32(1)))
        starts = op.LogicalAnd(starts, op.LogicalOr(op.LogicalNot(before), op.Gather(begins_text, indices, 0)))
    kept = op.Select(matched, int32(0), int32(1))
    lengths = op.Select(starts, int32(len(rewrite)), kept)
    begins = op.Select(starts, op.Squeeze(new.begins, [0]), indices)
    sums = op.Concat(int32([0]), op.CumSum(lengths, 0), axis=0)
    pieces = Texts(begins, op.Add(begins, lengths), texts.symbols)
    symbols = with_sentinel(op, contiguous(op, pieces).symbols, np.zeros(1, np.uint8))
    limits = [op.Reshape(op.Gather(sums, each, 0), shape, special_zero=False) for each in texts[:2]]
    return op.StringTensorPack(*limits, symbols)


def is_at(op: OpBuilder, positions: SSAValue, size: SSAValue) -> SSAValue:
    """For each index below `size`, whether it is among the ascending `positions`."""
    indices = one_by_one(op, size)
    return op.NotEqual(ranks(op, positions, indices), ranks(op, positions, op.Add(indices, int32(1))))


@tf.lowers("RegexFullMatch", "StaticRegexFullMatch")
def full_match(node: LoweringNode, op: OpBuilder, input: SSAValue) -> SSAValue:
    """tf.StaticRegexFullMatch(x) {pattern} -> whether all bytes of a string belong to the set of the pattern

    If the pattern is a text: whether it occurs in a string of equal length. For other patterns: whether the string is
    empty after extension.RegexNormalization has removed the match.
    """
    text = text_operand(node, "pattern", 1)
    pattern = parsed(text)
    if pattern is None or needs_automaton(pattern):
        return matched_by_automaton(node, op, text)
    texts = unpacked(op, input)
    length = op.Subtract(texts.ends, texts.begins)
    if pattern.text is not None:
        positions = occurrences(op, texts, pattern.text)
        count = op.Subtract(ranks(op, positions, op.Add(texts.begins, int32(1))), ranks(op, positions, texts.begins))
        return op.LogicalAnd(op.Equal(count, int32(1)), op.Equal(length, int32(len(pattern.text))))
    others = positions_where(op, op.LogicalNot(is_one_of(op, texts.symbols, pattern.members)))
    is_full = op.Equal(ranks(op, others, texts.begins), ranks(op, others, texts.ends))
    enough = op.GreaterEqual(length, int32(pattern.least))
    if not pattern.repeats:
        enough = op.Equal(length, int32(1))
    return op.LogicalAnd(is_full, enough)
