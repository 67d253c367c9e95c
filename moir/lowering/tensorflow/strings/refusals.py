"""Operations on strings and files that the operation sets cannot express; they raise an error with the reason."""

from __future__ import annotations

from typing import NoReturn

from moir.lowering.binder import LoweringNode
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder

_COMPRESSED = "decompression reads its input bit by bit, each step depending on the one before"
_RECORDS = "the bytes of a record say where its parts are, each part depending on the one before"
_HASH = "the hash is made of products of 64 bits, which are not supported"

REASONS = {
    "DecodeBmp": "the header of an image says its rank and size, which the operation sets cannot take from bytes",
    "DecodeCSV": "quoted fields change the meaning of the bytes that follow them",
    "DecodeGif": _COMPRESSED,
    "DecodeImage": _COMPRESSED,
    "DecodeJSONExample": _RECORDS,
    "DecodeJpeg": _COMPRESSED,
    "DecodePng": _COMPRESSED,
    "DecodeWav": "the header of the sound says where its samples are and of which kind, which the operation sets cannot take from bytes",
    "EncodeJpeg": "compression writes its output bit by bit, each step depending on the one before",
    "EncodePng": "compression writes its output bit by bit, each step depending on the one before",
    "ParseExample": _RECORDS,
    "ParseExampleV2": _RECORDS,
    "ParseSingleExample": _RECORDS,
    "ParseTensor": _RECORDS,
    "ReadFile": "the operation sets have no operation that reads files",
    "StringFormat": "the operation sets have no operation that writes tensors as text",
    "StringToHashBucket": _HASH,
    "StringToHashBucketStrong": _HASH,
    "UnicodeScript": "the operation sets have no table of the scripts of characters",
    "UnicodeTranscode": "the operation sets have no tables of encodings",
}
"""For each kind, why it cannot be converted."""


@tf.lowers(*REASONS)
def refused(node: LoweringNode, _: OpBuilder) -> NoReturn:
    """tf.DecodeJpeg(x), likewise the other kinds of `REASONS`: raises ConversionError, because the operation sets
    cannot express it.
    """
    node.fail(
        REASONS[node.op.KIND],
        hint="cut the model after this node, where the values are numbers, and compute those outside, as with OpenVINO Tokenizers",
    )
