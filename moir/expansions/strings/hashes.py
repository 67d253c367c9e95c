"""Hashes of strings and integers."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import si64, string
from moir.dialects.shapes import element_of, shape_of, tensor
from moir.expansions.strings.digits import written
from moir.expansions.strings.texts import Texts, unpacked
from moir.expansions.strings.tokenizers import check_permitted, operation
from moir.rewriting.builder import OpBuilder


def hashed(op: OpBuilder, texts: Texts, buckets: int) -> SSAValue:
    """The bucket of each string: its FarmHash (Fingerprint64) modulo `buckets`, as si64."""
    reason = "the hash needs products modulo 2^64, which no operation set defines"
    check_permitted(op, reason, "leave out --no-tokenizers, or cut the model after this node, where the values are numbers")
    result = tensor(shape_of(texts.begins), si64)
    return operation(op, "StringToHashBucket", texts, {"num_buckets": str(buckets)}, [result])[0]


def bins(op: OpBuilder, x: SSAValue, count: int) -> SSAValue:
    """The hash bucket, below `count`, of each string, or of the decimal digits of each integer, as si64."""
    return hashed(op, unpacked(op, x if element_of(x) == string else written(op, x, 0, zeros=False)), count)
