"""Single operators of PyTorch on the samples of its own tests (`op_db`), of all element types that the IR has."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
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

Comparable = Callable[[list[torch.Tensor], torch.Tensor], list[torch.Tensor]]

TYPES = (
    *(torch.float32,) * 6,
    *(torch.int64,) * 2,
    *(torch.int32, torch.uint8, torch.int8, torch.bool, torch.float16, torch.float64),
)
"""Element types, as often as they are drawn."""

SAMPLES = 80
"""Samples of an operator that are made, of which one is drawn."""

ALGEBRA = (
    *("linalg.*", "lu*", "cholesky*", "svd", "pinverse", "triangular_solve", "logdet", "matrix_exp", "geqrf", "ormqr", "fft.*", "stft"),
    *("istft", "*complex*", "cfloat", "cdouble", "polar", "view_as_*", "real", "imag", "conj*", "resolve_conj", "H", "mH", "angle", "sgn"),
)
"""Operators of linear algebra, of transforms, and of complex numbers alone."""

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
    *(
        "resize*",
        "data_ptr",
        "pca_lowrank",
        "svd_lowrank",
        "*histogramdd*",
        "special.*",
        "polygamma*",
        "*airy*",
        "*bessel*",
        "igamma*",
        "lgamma",
        "mvlgamma*",
        "digamma",
    ),
    *("*ctc_loss*", "*embedding_bag*", "*weight_norm*", "nn.functional.*fractional*", "set_*"),
    *ALGEBRA,
)
"""Operators that no exported network has, or whose samples are random or sparse; `--only` draws them still.

Those of linear algebra, transforms and complex numbers are drawn by `algebra`, more often.
"""

PLACES = {"kthvalue": 1, "topk": 1, "median": 0, "nanmedian": 0, "mode": 0, "sort": 0}
"""Operators of which nothing says which of equal elements they find, with the position of the axis in their arguments."""


def _elements_at(x: torch.Tensor, places: torch.Tensor, axis: int) -> torch.Tensor:
    """The elements at places along an axis, which may be missing in the places."""
    return torch.gather(x, axis, places if places.dim() == x.dim() else places.unsqueeze(axis))


@cache
def operators(only: str = "*") -> dict[str, list[Any]]:
    """The descriptions of operators that match a glob, by name."""
    results: dict[str, list[Any]] = {}
    for info in op_db:
        if fnmatch(info.name, only) and (only != "*" or not any(fnmatch(info.name, glob) for glob in FOREIGN)):
            results.setdefault(info.name, []).append(info)
    return results


def single_operator(draw: Draw, only: str) -> Case:
    """A program of one operator."""
    known = operators(only)
    name = draw.subject(list(known))
    return sample_of(draw, name, draw.one_of(known[name]), TYPES, lambda result, _: result)


def sample_of(draw: Draw, name: str, info: Any, among: Sequence[torch.dtype], comparable: Comparable) -> Case:
    """A program of one operator on one of its samples.

    Args:
        draw: what is drawn.
        name: the name of the operator.
        info: its description.
        among: element types, as often as they are drawn.
        comparable: makes results that are the same in any implementation of results and the first operand.
    """
    types = [each for each in among if each in info.dtypes]
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
        # What is written is a result, too; an input that is written would be one without being asked for.
        held = [each.clone() if index in written else each for index, each in enumerate(given)]
        remaining = iter(held)
        first, args, kwargs = pytree.tree_unflatten([next(remaining) if isinstance(each, torch.Tensor) else each for each in leaves], tree)
        result = pytree.tree_leaves(info.op(first, *args, **kwargs))
        if name in PLACES and len(result) == 2 and first.dim():
            result[1] = _elements_at(first, result[1], kwargs.get("dim", args[PLACES[name]] if len(args) > PLACES[name] else -1))
        result = comparable([each for each in result if isinstance(each, torch.Tensor)], first)
        return (*result, *(held[index] for index in written))

    written: list[int] = []
    tensors = [each.detach() for each in tensors]
    before, versions = [each.clone() for each in tensors], [each._version for each in tensors]
    try:
        with torch.no_grad():
            function(*tensors)
    except Exception as error:
        raise NoCase(str(error)) from None
    # A kernel may write without counting it, or write what has been there before.
    written += [
        index
        for index, each in enumerate(tensors)
        if each._version != versions[index] or not torch.allclose(each, before[index], 0, 0, equal_nan=True)
    ]
    if (
        "batch_norm" in name
        and not written
        and ("with_update" in name or any(each is True for each in (*sample.args, *sample.kwargs.values())))
    ):
        raise NoCase("running statistics are written as they are")
    return exported_case(draw, name, function, before)
