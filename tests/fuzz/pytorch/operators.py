"""Single operators of PyTorch on the samples of its own tests (`op_db`), of all element types that the IR has."""

from __future__ import annotations

import warnings
from fnmatch import fnmatch
from functools import cache
from itertools import islice
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch.testing._internal.common_methods_invocations import op_db

from tests.fuzz.case import Case
from tests.fuzz.draw import Draw, NoCase
from tests.fuzz.pytorch.exported import exported_case

TYPES = (
    *(torch.float32,) * 6,
    *(torch.int64,) * 2,
    *(torch.int32, torch.uint8, torch.int8, torch.bool, torch.float16, torch.float64),
)
"""Element types, as often as they are drawn."""

SAMPLES = 80
"""Samples of an operator that are made, of which one is drawn."""

FOREIGN = (
    *("*sparse*", "*nested*", "_refs*", "jiterator*", "*_backward*", "*to_sparse*", "torch.ops.aten._flash*", "*efficient_attention*"),
    *("empty*", "new_empty*", "*_like_random*", "masked.*", "cauchy*", "geometric*", "exponential*", "log_normal*", "*uniform*"),
    *(
        "normal*",
        "*randn*",
        "*randint*",
        "*rand_like*",
        "*bernoulli*",
        "multinomial*",
        "*dropout*",
        "*rrelu*",
        "item*",
        "equal",
        "allclose",
    ),
    *("linalg.*", "lu*", "cholesky*", "svd*", "pca_lowrank", "svd_lowrank", "*lobpcg*", "ormqr", "geqrf", "pinverse", "triangular_solve"),
    *(
        "qr",
        "symeig",
        "logdet",
        "lstsq",
        "matrix_exp",
        "det",
        "slogdet",
        "inverse",
        "fft.*",
        "stft",
        "istft",
        "*complex*",
        "polar",
        "view_as_*",
    ),
    *("resize*", "data_ptr", "*histogramdd*", "special.*", "polygamma*", "*airy*", "*bessel*", "igamma*", "lgamma", "mvlgamma*", "digamma"),
    *("*ctc_loss*", "*embedding_bag*", "chalf", "cfloat", "cdouble", "imag", "*weight_norm*", "nn.functional.*fractional*", "set_*"),
)
"""Operators that no exported network has, or whose samples are random, sparse or complex; `--only` draws them still."""


@cache
def operators(only: str = "*") -> dict[str, list[Any]]:
    """The descriptions of operators that match a glob, by name."""
    found: dict[str, list[Any]] = {}
    for info in op_db:
        if fnmatch(info.name, only) and (only != "*" or not any(fnmatch(info.name, glob) for glob in FOREIGN)):
            found.setdefault(info.name, []).append(info)
    return found


def single_operator(draw: Draw, only: str) -> Case:
    """A program of one operator."""
    known = operators(only)
    name = draw.subject(list(known))
    info = draw.one_of(known[name])
    types = [each for each in TYPES if each in info.dtypes]
    if not types:
        raise NoCase("no element type that the IR has")
    torch.manual_seed(draw.integer(0, 2**31 - 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            samples = list(islice(info.sample_inputs("cpu", draw.one_of(types), requires_grad=False), SAMPLES))
        except Exception as error:
            raise NoCase(str(error)) from None
    if not samples:
        raise NoCase("no samples")
    sample = draw.one_of(samples)
    leaves, tree = pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
    tensors = [each for each in leaves if isinstance(each, torch.Tensor)]
    if not tensors:
        raise NoCase("an operator without tensors")

    def function(*given: torch.Tensor) -> Any:
        remaining = iter(given)
        first, args, kwargs = pytree.tree_unflatten([next(remaining) if isinstance(each, torch.Tensor) else each for each in leaves], tree)
        found = pytree.tree_leaves(info.op(first, *args, **kwargs))
        return tuple(each for each in found if isinstance(each, torch.Tensor))

    return exported_case(draw, name, function, tensors)
