"""The chain of operations of a tokenizer: texts, their pieces, and the ids of the tokens of each text.

%b, %e, %s = opset15.StringTensorUnpack(%texts); extension.SpecialTokensSplit, RegexNormalization, RegexSplit, …;
%begins, %ends, %ids = extension.BPETokenizer(…)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import boolean, si32, si64, ui8
from moir.dialects.shapes import tensor
from moir.expansions.strings.texts import constant_texts
from moir.expansions.strings.tokenizers import operation
from moir.rewriting.builder import OpBuilder
from moir.tokenizers.added_tokens import added_pattern
from moir.tokenizers.definition import (
    BytePairs,
    CharacterMap,
    NormalForm,
    Replacement,
    Split,
    Step,
    TokenizerDefinition,
    Unigram,
    WordPieces,
)

LIST, BYTES, FLAGS = tensor((-1,), si32), tensor((-1,), ui8), tensor((-1,), boolean)
"""The types of begins, ends and ids, of the bytes of texts, and of marks of pieces."""


NO_MATCH = "(?!)"
"""A pattern that matches nothing, by which SpecialTokensSplit marks all pieces of a tokenizer without added tokens.

Without these marks RegexSplit leaves some of several pieces of a text unsplit.
"""


class Pieces:
    """The pieces of texts as values: which pieces belong to each text, their begins and ends, their bytes, and whether
    each is a token.
    """

    def __init__(self, op: OpBuilder, ragged: Sequence[SSAValue], texts: Sequence[SSAValue], flags: SSAValue | None = None) -> None:
        self.op = op
        self.ragged: list[SSAValue] = list(ragged)
        self.texts: list[SSAValue] = list(texts)
        self.flags: SSAValue | None = flags

    def _bytes(self, text: str) -> SSAValue:
        return self.op.constant(np.frombuffer(text.encode(), np.uint8), ui8)

    def normalize(self, kind: str, operands: Sequence[SSAValue], attributes: dict[str, str], *, all_pieces: bool = False) -> None:
        """Append an operation of `kind` that changes the text of the pieces, such as RegexNormalization.

        Args:
            kind: the operation.
            operands: its operands after the texts.
            attributes: its attributes.
            all_pieces: whether it also changes the pieces that are added tokens.
        """
        flags = [] if self.flags is None or all_pieces else [self.flags]
        results = operation(self.op, kind, [*self.texts, *flags, *operands], attributes, [LIST, LIST, BYTES, *([FLAGS] if flags else [])])
        self.texts = list(results[:3])
        if flags:
            self.flags = results[3]

    def split(self, kind: str, pattern: str, attributes: dict[str, str]) -> None:
        """Append an operation of `kind`, with its attributes, that splits the pieces at matches of a pattern."""
        flags = [] if self.flags is None else [self.flags]
        has_flags = kind == "SpecialTokensSplit" or bool(flags)
        results = operation(
            self.op,
            kind,
            [*self.ragged, *self.texts, *flags, self._bytes(pattern)],
            attributes,
            [LIST] * 4 + [BYTES] + ([FLAGS] if has_flags else []),
        )
        self.ragged, self.texts = list(results[:2]), list(results[2:5])
        self.flags = results[5] if has_flags else None

    def apply(self, step: Step) -> None:
        """Append the operation of a step of the tokenizer's definition."""
        if isinstance(step, Replacement):
            attributes = {"global_replace": "true" if step.everywhere else "false"}
            operands = [self._bytes(step.pattern), self._bytes(step.text)]
            self.normalize("RegexNormalization", operands, attributes, all_pieces=step.also_added)
        elif isinstance(step, NormalForm | CharacterMap):
            names = ("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces", "case_fold", "nmt")
            form = step.form if isinstance(step, NormalForm) else ""
            content = [self.op.constant(np.frombuffer(step.content, np.uint8), ui8)] if isinstance(step, CharacterMap) else []
            self.normalize("CharsMapNormalization", content, dict.fromkeys(names, "false") | {"normalization_form": form})
        elif isinstance(step, Split):
            self.split(
                "RegexSplit",
                step.pattern,
                {
                    "behaviour": "isolate" if step.keeps == "all" else "remove",
                    "invert": "true" if step.keeps == "matches" else "false",
                    "max_splits": "-1",
                },
            )
        else:
            flags = [] if self.flags is None else [self.flags]
            results = operation(
                self.op,
                "BytesToChars",
                [*self.ragged, *self.texts, *flags],
                {},
                [LIST] * 4 + [BYTES] + ([FLAGS] if flags else []),
            )
            self.ragged, self.texts = list(results[:2]), list(results[2:5])
            self.flags = results[5] if flags else None


def token_ids(op: OpBuilder, definition: TokenizerDefinition, texts: SSAValue) -> Sequence[SSAValue]:
    """The ids of the tokens of texts, without the ids of a template around them.

    Args:
        op: the builder.
        definition: the tokenizer.
        texts: strings [texts].

    Returns the begins and the ends of each text's ids, i32 [texts], and all ids, i32 [ids].
    """
    begins, ends, symbols = op.StringTensorUnpack.results(texts)
    count = op.Gather(op.ShapeOf(begins, output_type=si64), 0, 0)
    ragged = [op.Range(0, count, 1, output_type=si32), op.Range(1, op.Add(count, 1), 1, output_type=si32)]
    pieces = Pieces(op, ragged, [begins, ends, symbols])
    plain, later = (added_pattern([each for each in definition.added if each.normalized == kind]) for kind in (False, True))
    if definition.prefix:
        others = "".join([f"(?!{pattern})" for pattern in (plain, later) if pattern])
        pieces.apply(Replacement(rf"\A{others}(?=[\s\S])", definition.prefix, everywhere=False))
    if plain or not later:
        pieces.split("SpecialTokensSplit", plain or NO_MATCH, {})
    for step in definition.normalization:
        pieces.apply(step)
    if later:
        pieces.split("SpecialTokensSplit", later, {})
    for step in definition.pre_tokenization:
        pieces.apply(step)
    return _ids(op, definition, pieces)


def _ids(op: OpBuilder, definition: TokenizerDefinition, pieces: Pieces) -> Sequence[SSAValue]:
    algorithm = definition.algorithm
    operands = [*pieces.ragged, *pieces.texts, *constant_texts(op, algorithm.vocabulary)]
    ids = [LIST] * 3
    if isinstance(algorithm, BytePairs):
        lists = ([pair[0] for pair in algorithm.merges], [pair[1] for pair in algorithm.merges], [each[0] for each in algorithm.others])
        attributes = {
            "unk_token": "",
            "fuse_unk": "false",
            "suffix_indicator": "",
            "end_suffix": algorithm.end_of_word,
            "byte_fallback": "false",
            "cache_capacity": str(max(20000, len(algorithm.vocabulary) // 5)),
        }
        constants = [value for texts in lists for value in constant_texts(op, texts)]
        others = op.constant(np.array([each[1] for each in algorithm.others], np.int32), si32)
        return operation(op, "BPETokenizer", [*operands, *constants, others], attributes, ids)
    if isinstance(algorithm, Unigram):
        attributes = {"byte_fallback": "false", "unk_token_id": str(algorithm.unknown), "fuse_unk": "true", "min_score": "0"}
        return operation(op, "UnigramTokenizer", [*operands, op.constant(algorithm.scores)], attributes, ids)
    if isinstance(algorithm, WordPieces):
        attributes = {"suffix_indicator": algorithm.continuation, "max_bytes_per_word": str((1 << 31) - 1)}
        return operation(op, "WordpieceTokenizer", [*operands, op.constant(np.array(algorithm.unknown, np.int32))], attributes, ids)
    values = op.constant(np.arange(len(algorithm.vocabulary), dtype=np.int32))
    unknown = op.constant(np.array(algorithm.unknown, np.int32))
    words = operation(op, "VocabEncoder", [*operands[2:], values, unknown], {}, [LIST])
    return [*pieces.ragged, *words]
