"""Operators on tensors of several element types, tensors without dimensions, and numbers of Python."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatch
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from tests.fuzz.case import Case
from tests.fuzz.draw import Draw, NoCase
from tests.fuzz.pytorch.exported import exported_case

TYPES = (
    torch.float32,
    torch.float32,
    torch.int64,
    torch.int32,
    torch.int16,
    torch.int8,
    torch.uint8,
    torch.bool,
    torch.float16,
    torch.float64,
)

BINARY: dict[str, Callable[..., Any]] = {
    **{
        name: getattr(torch, name)
        for name in (
            *("add", "sub", "mul", "div", "true_divide", "floor_divide", "remainder", "fmod", "pow", "atan2", "maximum", "minimum"),
            *("fmax", "fmin", "eq", "ne", "lt", "le", "gt", "ge", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift"),
            *("bitwise_right_shift", "logical_and", "logical_or", "logical_xor", "copysign", "hypot", "xlogy", "heaviside", "logaddexp"),
            *("nextafter", "rsub", "clamp_min", "clamp_max", "float_power", "gcd", "lcm", "isclose"),
        )
    },
    "div floor": lambda x, y: torch.div(x, y, rounding_mode="floor"),
    "div trunc": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
    "add alpha": lambda x, y: torch.add(x, y, alpha=2),
    "sub alpha": lambda x, y: torch.sub(x, y, alpha=3),
    "number - x": lambda x, y: y - x,
    "number / x": lambda x, y: y / x,
    "number // x": lambda x, y: y // x,
    "number % x": lambda x, y: y % x,
    "number ** x": lambda x, y: y**x,
    "where": lambda x, y: torch.where(torch.as_tensor(x) > 0, x, y),
    "masked_fill": lambda x, y: x.masked_fill(x > 1, y),
    "full_like": lambda x, y: torch.full_like(x, 3) + y,
    "fill": lambda x, y: torch.fill(x, y),
    "cat": lambda x, y: torch.cat([x.reshape(-1), y.reshape(-1)]),
    "stack": lambda x, y: torch.stack([x.reshape(-1)[:1], y.reshape(-1)[:1]]),
    "index_put": lambda x, y: x.index_put(
        (torch.tensor([0]),), y.to(x.dtype) if isinstance(y, torch.Tensor) else torch.tensor(y, dtype=x.dtype)
    ),
    "in place": lambda x, y: x.clone().add_(y),
    "in place mul": lambda x, y: x.clone().mul_(y),
    "copy": lambda x, y: x.clone().copy_(y),
    "lerp": lambda x, y: torch.lerp(x, y, 0.3),
    "addcmul": lambda x, y: torch.addcmul(x, y, y, value=2),
    "addcdiv": lambda x, y: torch.addcdiv(x, y, y + 5, value=2),
    "clamp": lambda x, y: torch.clamp(x, y, y + 2),
    "type_as": lambda x, y: x.type_as(y),
}
"""Functions of two values, of which the second may be a number."""

UNARY: dict[str, Callable[..., Any]] = {
    **{
        name: getattr(torch, name)
        for name in (
            *(
                "abs",
                "neg",
                "sqrt",
                "exp",
                "sin",
                "floor",
                "ceil",
                "round",
                "trunc",
                "sign",
                "sigmoid",
                "tanh",
                "relu",
                "reciprocal",
                "square",
            ),
            *("rsqrt", "log1p", "expm1", "erf", "isnan", "isinf", "isfinite", "logical_not", "bitwise_not", "signbit", "frac", "deg2rad"),
            *("sum", "prod", "mean", "std", "var", "amax", "amin", "max", "min", "all", "any", "argmax", "argmin", "count_nonzero"),
            *("nan_to_num", "log2", "exp2", "sinc", "logit", "positive", "sgn"),
        )
    },
    "sum dim": lambda x: x.sum(-1),
    "sum f64": lambda x: x.sum(dtype=torch.float64),
    "mean f32": lambda x: x.mean(dtype=torch.float32),
    "cumsum": lambda x: x.cumsum(-1),
    "cumprod": lambda x: x.cumprod(-1),
    "cumsum i32": lambda x: x.cumsum(-1, dtype=torch.int32),
    "prod dim": lambda x: x.prod(-1),
    "softmax f32": lambda x: F.softmax(x, -1, dtype=torch.float32),
    "norm": lambda x: torch.linalg.vector_norm(x, dim=-1),
    "one_hot": lambda x: F.one_hot(x.abs() % 5, 7),
    "x + 1": lambda x: x + 1,
    "x + 1.5": lambda x: x + 1.5,
    "x * True": lambda x: x * True,
    "x / 2": lambda x: x / 2,
    "x // 2": lambda x: x // 2,
    "x % 3": lambda x: x % 3,
    "x ** 2": lambda x: x**2,
    "x ** 0.5": lambda x: x**0.5,
    "x ** -1": lambda x: x**-1.0,
    "2 ** x": lambda x: 2**x,
    "clamp": lambda x: x.clamp(-1, 2),
    "clamp 0.5": lambda x: x.clamp(min=0.5),
    "gelu": F.gelu,
    "silu": F.silu,
    "to u8": lambda x: x.to(torch.uint8),
    "to i32": lambda x: x.to(torch.int32),
    "to f16": lambda x: x.half(),
    "to bool": lambda x: x.bool(),
    "ones_like": lambda x: x + torch.ones_like(x, dtype=torch.int64),
    "new_zeros": lambda x: torch.cat([x.reshape(-1), x.new_zeros(2)]),
    "arange": lambda x: x + torch.arange(x.shape[-1] if x.ndim else 1),
}


def _tensor(draw: Draw, shape: list[int]) -> torch.Tensor:
    type_ = draw.one_of(TYPES)
    if type_ == torch.bool:
        return torch.from_numpy(np.asarray(draw.random.random(shape) < 0.5))
    low = 0 if type_ == torch.uint8 else -5
    if not type_.is_floating_point:
        return torch.from_numpy(np.asarray(draw.random.integers(low, 6, shape))).to(type_)
    return torch.from_numpy(np.asarray(np.round(draw.random.normal(scale=2, size=shape) * 8) / 8)).to(type_)


def mixed_types(draw: Draw, only: str) -> Case:
    """A program of an operator whose operands are of several element types, broadcast or without dimensions."""
    name = draw.subject([each for each in (*(f"2 {key}" for key in BINARY), *(f"1 {key}" for key in UNARY)) if fnmatch(each, only)])
    shape = draw.one_of(([], [2, 3], [2, 3], [4], [3, 1, 2]))
    if name.startswith("1 "):
        return exported_case(draw, name, lambda x: _results(UNARY[name[2:]](x)), [_tensor(draw, shape)])
    function = BINARY[name[2:]]
    other = draw.one_of(("number", "tensor", "tensor", "scalar tensor"))
    if other == "number":
        number = draw.one_of((2, 3, 1.5, -2.25, 0.5, True, -1, 0.0))
        return exported_case(draw, name, lambda x: _results(function(x, number)), [_tensor(draw, shape)])
    operands = [_tensor(draw, shape), _tensor(draw, [] if other == "scalar tensor" else draw.broadcasts_to(shape))]
    if draw.chance(0.3):
        operands.reverse()
    if name in ("2 gcd", "2 lcm") and any(each.dtype.is_floating_point for each in operands):
        raise NoCase("of integers only")
    return exported_case(draw, name, lambda x, y: _results(function(x, y)), operands)


def _results(result: Any) -> Any:
    return result if isinstance(result, torch.Tensor) else tuple(result)
