"""In-place and `out=` overloads of aten: which operands each writes, and the overload that computes the new value.

relu_.default(self)                     writes `self` with the result of relu.default(self)
gt.Tensor_out(self, other, out)         writes `out` with the result of gt.Tensor(self, other)
topk.values(self, k, values, indices)   writes both with the results of topk.default(self, k)
"""

from __future__ import annotations

from moir.dialects.framework import FrameworkOp
from moir.dialects.properties import value_of
from moir.raising.pytorch import overloads


def _kinds(groups: dict[str, str], mark: str) -> dict[str, str]:
    """A table: overload that writes -> the functional overload that computes the written value.

    `groups` has pairs of names of overloads -> operators with both; `mark` is appended to the operator that writes.
    """
    kinds: dict[str, str] = {}
    for pair, operators in groups.items():
        overload, plain = pair.split()
        kinds |= {f"{operator}{mark}.{overload}": f"{operator}.{plain}" for operator in operators.split()}
    return kinds


WRITERS: dict[str, str] = {
    **_kinds(overloads.IN_PLACE, "_"),
    # What these write is computed by an operation of another name, or torch has no operation for it.
    "zero_.default": "zeros_like.default",
    "fill_diagonal_.default": "fill_diagonal.default",
    "normal_.default": "normal_functional.default",
    "_index_put_impl_.default": "index_put.default",
    **{f"{name}_.default": f"{name}.default" for name in ("dropout", "feature_dropout", "alpha_dropout")},
    **{f"__i{name}__.{each}": f"__{name}__.{each}" for name in ("and", "or", "xor", "lshift", "rshift") for each in ("Tensor", "Scalar")},
}
"""The operations that write to their first operand, with the operation that computes the written value."""

OUT: dict[str, str] = _kinds(overloads.OUT, "")
"""The operations that write to their last operands, with the operation that computes the written values."""


def written_count(op: FrameworkOp) -> int:
    """The number of trailing operands that an out= overload, one of `OUT`, writes.

    One for each result; if it writes a list of tensors, the length of the list.
    """
    names: tuple[str, ...] = value_of(op.properties["arguments"])
    stem = names[-1].partition(".")[0]
    return max(len(op.results), sum(name.partition(".")[0] == stem for name in names))
