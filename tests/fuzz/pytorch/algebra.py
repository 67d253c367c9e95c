"""Operators of linear algebra, transforms and complex numbers on the samples of torch's own tests."""

from __future__ import annotations

from fnmatch import fnmatch
from functools import cache
from typing import Any

import torch
from torch.testing._internal.common_methods_invocations import op_db

from tests.fuzz.case import Case
from tests.fuzz.draw import Draw
from tests.fuzz.pytorch.operators import ALGEBRA, sample_of

REAL = (*(torch.float32,) * 5, torch.float64, torch.int64)
COMPLEX = (*(torch.complex64,) * 2, torch.complex128)

WITH_COMPLEX = (
    *("abs", "add", "sub", "mul", "div", "rsub", "neg", "exp", "log", "sqrt", "rsqrt", "sin", "cos", "tanh", "sigmoid", "square", "pow"),
    *("reciprocal", "sum", "mean", "prod", "cumsum", "matmul", "mm", "bmm", "mv", "dot", "vdot", "inner", "outer", "addmm", "baddbmm"),
    *("einsum", "tensordot", "kron", "nn.functional.linear", "nn.functional.conv1d", "nn.functional.conv2d", "addcmul", "addcdiv"),
    *("reshape", "view", "permute", "transpose", "flatten", "unsqueeze", "squeeze", "cat", "stack", "split", "chunk", "unbind", "flip"),
    *("roll", "repeat", "expand", "tile", "gather", "index_select", "__getitem__", "index_put", "where", "masked_fill", "tril", "triu"),
    *("diagonal", "diag", "diag_embed", "constant_pad_nd", "nn.functional.pad", "eq", "ne", "isfinite", "isnan", "trace", "clone", "to"),
    *("zeros_like", "ones_like", "full_like", "new_zeros", "new_ones", "norm", "var", "std", "select", "slice", "narrow", "unfold", "lerp"),
)
"""Operators that networks of complex numbers have beside those of complex numbers alone."""

EXCLUDED = ("pca_lowrank", "svd_lowrank", "linalg.vander")
"""Operators that are random, and one that `operators` draws."""


def _of_factors(result: list[torch.Tensor]) -> list[torch.Tensor]:
    """Singular values, and the product with their vectors, which are those up to a sign, for equal values up to a rotation."""
    left, values, right = result
    count = values.shape[-1]
    return [values, (left[..., :count] * values.unsqueeze(-2)) @ right[..., :count, :]]


def comparable(name: str, result: list[torch.Tensor], _: torch.Tensor) -> list[torch.Tensor]:
    """Results that are the same in any implementation."""
    if name == "linalg.svd" and len(result) == 3:
        return _of_factors(result)
    if name == "svd" and len(result) == 3:
        return _of_factors([result[0], result[1], result[2].mH])
    if name == "linalg.eigh":
        values, vectors = result
        return [values, (vectors * values.unsqueeze(-2)) @ vectors.mH]
    if name == "linalg.lstsq":
        return result[:1]
    return result


@cache
def _operators(only: str) -> dict[str, list[Any]]:
    results: dict[str, list[Any]] = {}
    for info in op_db:
        drawn = any(fnmatch(info.name, glob) for glob in ALGEBRA) or info.name in WITH_COMPLEX
        if drawn and info.name not in EXCLUDED and fnmatch(info.name, only):
            results.setdefault(info.name, []).append(info)
    return results


def algebra(draw: Draw, only: str) -> Case:
    """A program of one operator; of complex numbers where others are drawn elsewhere, and a third of the time."""
    known = _operators(only)
    name = draw.subject(list(known))
    types = COMPLEX if name in WITH_COMPLEX or draw.chance(0.33) else REAL
    among = (*types, *(each for each in (*REAL, *COMPLEX) if not any(other in known[name][0].dtypes for other in types)))
    return sample_of(draw, name, draw.one_of(known[name]), among, lambda result, first: comparable(name, result, first))
