"""Operations of onnxruntime-extensions (domain ai.onnx.contrib) that are refused, each with an alternative.

Such nodes stand before or after a network that the operation sets do express: tokenizers before a language model,
decoders of images before a vision model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder
from moir.support.tables import by_member

DOMAIN = "ai.onnx.contrib"

TOKENIZER, WORD_PIECES, DETOKENIZER, IMAGE, DRAWING, SOUND = "tokenizer", "word pieces", "detokenizer", "image", "drawing", "sound"

KINDS: Mapping[str, str] = by_member(
    {
        TOKENIZER: ("BasicTokenizer BlingFireSentenceBreaker CLIPTokenizer HfJsonTokenizer SpmTokenizer TrieTokenizer WordpieceTokenizer"),
        WORD_PIECES: "BertTokenizer HfBertTokenizer",
        DETOKENIZER: "BertTokenizerDecoder BpeDecoder SentencepieceDecoder TrieDetokenizer",
        IMAGE: "DecodeImage ImageDecoder ImageReader",
        DRAWING: "DrawBoundingBoxes EncodeImage",
        SOUND: "AudioDecoder",
    }
)

_CUT = "cut the model after this node with --input, where the values are numbers"
_TOKENIZER_FOLDER = "moir FOLDER converts the tokenizer.json or the SentencePiece model beside a language model as models of their own"

REASONS: Mapping[str, tuple[str, str]] = {
    TOKENIZER: ("tokens are the result of a search in a vocabulary that the operation sets do not have", f"{_CUT}; {_TOKENIZER_FOLDER}"),
    WORD_PIECES: (
        "it has the unknown token for the rest of a word, where OpenVINO Tokenizers has one for the whole word",
        f"{_CUT}; {_TOKENIZER_FOLDER}",
    ),
    DETOKENIZER: (
        "texts of tokens come from a vocabulary that the operation sets do not have",
        f"cut the model before this node with --output; {_TOKENIZER_FOLDER}",
    ),
    IMAGE: ("compressed images cannot be decoded by a model", f"{_CUT}, and decode images before: the pixels become an input"),
    DRAWING: ("a model cannot draw or compress images", "cut the model before this node with --output"),
    SOUND: ("compressed sounds cannot be decoded by a model", f"{_CUT}, and decode sounds before: the samples become an input"),
}
"""For each kind, why it is refused, and what to do instead."""

onnx.lowers_each(
    {
        f"{DOMAIN}.Inverse": lambda op, x: op.Inverse(x, adjoint=False),
        f"{DOMAIN}.NegPos": lambda op, x: [op.Minimum(x, 0), op.Maximum(x, 0)],
    }
)


@onnx.lowers(*(f"{DOMAIN}.{kind}" for kind in KINDS))
def refused(node: LoweringNode, _: OpBuilder) -> NoReturn:
    """onnx.ai.onnx.contrib.BertTokenizer and the other kinds of `KINDS`: refused, with what to do instead."""
    reason, hint = REASONS[KINDS[node.op.KIND.removeprefix(f"{DOMAIN}.")]]
    node.fail(reason, hint=hint)
