"""Functions of `keras.ops`: of elements, along axes, of shapes, of products."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from tests.fuzz.draw import Array, Draw
from tests.fuzz.keras.recipe import Call, function_recipe, keras

ops: Any = keras.ops

REAL = (np.float32, np.float32, np.float32, np.float16)
NUMERIC = (np.float32, np.float32, np.float32, np.float16, np.int32, np.int64, np.uint8, np.int8)
INTEGERS = (np.int32, np.int64, np.uint8, np.int8)


def array(draw: Draw, types: Sequence[Any], shape: Sequence[int] | None = None, special: float = 0.1) -> Array:
    """An array of one of some element types; its first dimension is the batch, which is not empty."""
    return draw.array(np.dtype(draw.one_of(types)), draw.filled(1, 4) if shape is None else shape, special)


def call(name: str, arrays: Sequence[Array], *, joined: bool = False, **keywords: Any) -> Call:
    """A call of a function with constants as keywords."""
    return Call(partial(getattr(ops, name), **keywords), arrays, joined=joined)


@function_recipe(
    "abs absolute arccos arccosh arcsin arcsinh arctan arctanh cbrt ceil cos cosh deg2rad erf erfc erfinv exp exp2 expm1 floor isfinite "
    "isinf isnan isneginf isposinf log log10 log1p log2 logical_not negative rad2deg reciprocal round rsqrt sigmoid sign signbit sin sinh "
    "sqrt square tan tanh trunc conj real relu relu6 silu selu softplus softsign log_sigmoid hard_sigmoid hard_silu hard_tanh tanh_shrink "
    "sparse_plus sparse_sigmoid mish nan_to_num copy zeros_like ones_like sinc i0 exp2 angle imag lgamma digamma swish hard_swish"
)
def of_one(draw: Draw, name: str) -> Call:
    """A function of elements."""
    types = REAL if draw.chance(0.75) else NUMERIC
    return call(name, [array(draw, types)])


OPTIONS: dict[str, Callable[[Draw], dict[str, Any]]] = {
    "celu": lambda draw: {"alpha": draw.one_of((1.0, 0.5))},
    "elu": lambda draw: {"alpha": draw.one_of((1.0, 0.5))},
    "leaky_relu": lambda draw: {"negative_slope": draw.one_of((0.2, 0.5))},
    "gelu": lambda draw: {"approximate": draw.chance(0.5)},
    "softmax": lambda draw: {"axis": draw.one_of((-1, 0))},
    "log_softmax": lambda draw: {"axis": draw.one_of((-1, 0))},
    "soft_shrink": lambda draw: {"threshold": draw.one_of((0.5, 1.0))},
    "hard_shrink": lambda draw: {"threshold": draw.one_of((0.5, 1.0))},
    "threshold": lambda draw: {"threshold": 0.5, "default_value": draw.one_of((0.0, 2.0))},
    "squareplus": lambda draw: {"b": draw.one_of((4, 1))},
    "clip": lambda draw: {"x_min": draw.one_of((-1, 0, -0.5)), "x_max": draw.one_of((1, 2, 0.5))},
    "round": lambda draw: {"decimals": draw.one_of((0, 1, 2))},
    "cast": lambda draw: {"dtype": draw.one_of(("int32", "float16", "bool", "int64", "uint8", "float32"))},
    "full_like": lambda draw: {"fill_value": draw.one_of((0, 3, 1.5))},
    "expand_dims": lambda draw: {"axis": draw.one_of((0, -1, 1))},
    "flip": lambda draw: {"axis": draw.one_of((None, 0, -1))},
    "roll": lambda draw: {"shift": draw.integer(-3, 5), "axis": draw.one_of((None, 0, -1))},
    "diff": lambda draw: {"n": draw.integer(1, 2), "axis": -1},
    "tile": lambda draw: {"repeats": draw.one_of((2, (2, 1), (1, 2, 3)))},
    "tril": lambda draw: {"k": draw.integer(-2, 2)},
    "triu": lambda draw: {"k": draw.integer(-2, 2)},
    "diagonal": lambda draw: {"offset": draw.integer(-1, 1), "axis1": 0, "axis2": -1},
    "trace": lambda draw: {"offset": draw.integer(-1, 1), "axis1": 0, "axis2": -1},
    "diag": lambda draw: {"k": draw.integer(-1, 1)},
    "normalize": lambda draw: {"axis": -1, "order": draw.one_of((1, 2, 3))},
    "nan_to_num": lambda draw: {"nan": draw.one_of((0.0, 1.5)), "posinf": draw.one_of((None, 9.0)), "neginf": draw.one_of((None, -9.0))},
}


@function_recipe(" ".join(OPTIONS))
def with_options(draw: Draw, name: str) -> Call:
    """A function of one tensor with constants."""
    most = {"expand_dims": 1, "tril": 2, "triu": 2, "diagonal": 2, "trace": 2, "normalize": 2, "diag": 1, "diff": 1}
    least = most.get(name, 1)
    data, options = array(draw, REAL if draw.chance(0.7) else NUMERIC, draw.filled(least, 4)), OPTIONS[name](draw)
    if name == "round" and data.dtype == np.float16:
        # TensorFlow rounds products to f16, which may then be in the middle; the runtime computes them in f32.
        scaled = data * np.float16(10 ** options["decimals"])
        data = np.where(np.abs(scaled - np.trunc(scaled)) == 0.5, np.float16(0), data)
    if name == "squareplus" and data.dtype == np.float16:
        # Their squares are infinite in f16.
        data = np.where(np.abs(data) > 250, np.float16(250), data)
    return call(name, [data], **options)


@function_recipe(
    "add subtract multiply divide true_divide divide_no_nan floor_divide mod power maximum minimum equal not_equal greater greater_equal "
    "less less_equal logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift "
    "left_shift right_shift arctan2 hypot logaddexp logaddexp2 heaviside fmax fmin fmod ldexp nextafter copysign gcd lcm outer isclose"
)
def of_two(draw: Draw, name: str) -> Call:
    """A function of two tensors that broadcast, perhaps of two element types, or of a tensor and a number."""
    types = INTEGERS if any(part in name for part in ("bitwise", "shift", "gcd", "lcm")) else NUMERIC
    shape = draw.filled(1, 4)
    first = array(draw, types, shape)
    if "shift" in name:
        return call(name, [first, draw.between(first.dtype, shape, 0, 6)])
    second = first.dtype.type if draw.chance(0.7) else draw.one_of(types)
    if draw.chance(0.2):
        number = draw.one_of((2, 0.5, -1.5, 3))
        return Call((lambda x: getattr(ops, name)(x, number)) if draw.chance(0.6) else (lambda x: getattr(ops, name)(number, x)), [first])
    other = draw.array(np.dtype(second), [shape[0], *[1 if draw.chance(0.2) else size for size in shape[1:]]], 0.1)
    return call(name, [first, other])


@function_recipe(
    "sum prod mean max min amax amin all any std var logsumexp argmax argmin count_nonzero median ptp average cumsum cumprod sort argsort "
    "nansum nanmean nanmax nanmin nanprod nanvar nanstd"
)
def reduction(draw: Draw, name: str) -> Call:
    """A function along axes."""
    data = array(draw, REAL if draw.chance(0.7) else NUMERIC, special=0.0)
    rank = data.ndim
    single = name in ("argmax", "argmin", "cumsum", "cumprod", "sort", "argsort", "average")
    axis: Any = draw.axis(rank)
    if not single and draw.chance(0.5):
        axis = tuple(sorted({draw.integer(0, rank - 1) for _ in range(2)}))
    if not single and draw.chance(0.2):
        axis = None
    kept = {} if name in ("cumsum", "cumprod", "sort", "argsort", "average", "count_nonzero") else {"keepdims": draw.chance(0.4)}
    return call(name, [data], axis=axis, **kept)


@function_recipe("reshape transpose squeeze swapaxes moveaxis broadcast_to ravel repeat rot90 fliplr flipud split array_split unstack pad")
def movement(draw: Draw, name: str) -> Call:
    """A function that moves elements."""
    shape = draw.filled(2 if name in ("rot90", "fliplr", "swapaxes") else 1, 4)
    rank = len(shape)
    axis = draw.axis(rank)
    match name:
        case "reshape":
            keywords: dict[str, Any] = {"newshape": draw.one_of(((-1,), (shape[0], -1), (1, -1), (-1, 1)))}
        case "transpose":
            keywords = {"axes": draw.one_of((None, draw.permutation(rank)))}
        case "squeeze":
            shape[axis] = 1
            keywords = {"axis": axis}
        case "swapaxes":
            keywords = {"axis1": axis, "axis2": draw.axis(rank)}
        case "moveaxis":
            keywords = {"source": axis, "destination": draw.axis(rank)}
        case "broadcast_to":
            keywords = {"shape": (draw.integer(1, 3), *shape)}
        case "repeat":
            keywords = {"repeats": draw.integer(1, 3), "axis": draw.one_of((None, axis))}
        case "rot90":
            keywords = {"k": draw.integer(-2, 4)}
        case "split":
            parts = draw.integer(1, 3)
            shape[axis] = parts * draw.integer(1, 2)
            keywords = {"indices_or_sections": parts, "axis": axis}
        case "array_split":
            keywords = {"indices_or_sections": draw.integer(1, 3), "axis": axis}
        case "unstack":
            keywords = {"axis": axis}
        case "pad":
            mode = draw.one_of(("constant", "constant", "reflect", "symmetric"))
            shape = [max(3, size) for size in shape]
            keywords = {"pad_width": [tuple(draw.integers(2, 0, 2)) for _ in shape], "mode": mode}
            if mode == "constant":
                keywords["constant_values"] = draw.one_of((None, 1.5, 0))
        case _:
            keywords = {}
    return Call(partial(getattr(ops, name), **keywords), [array(draw, NUMERIC, shape)], fixed=name in ("split", "array_split", "unstack"))


@function_recipe("concatenate stack hstack vstack dstack append")
def joined(draw: Draw, name: str) -> Call:
    """Several tensors as one."""
    shape, dtype = draw.filled(1, 3), np.dtype(draw.one_of(NUMERIC))
    arrays = [draw.array(dtype, shape) for _ in range(2 if name == "append" else draw.integer(2, 4))]
    if name == "append":
        return call(name, arrays, axis=draw.one_of((None, 0, -1)))
    return call(name, arrays, joined=True, **({"axis": draw.axis(len(shape))} if name in ("concatenate", "stack") else {}))


@function_recipe("take take_along_axis one_hot multi_hot top_k in_top_k searchsorted digitize bincount segment_sum segment_max slice")
def indexing(draw: Draw, name: str) -> Call:
    """A function of places."""
    shape = draw.filled(1, 3)
    data, axis = array(draw, REAL, shape), draw.axis(len(shape))
    integers = draw.one_of((np.int32, np.int64))
    match name:
        case "take":
            places = draw.between(integers, draw.filled(1, 2), -shape[axis], shape[axis] - 1)
            return call(name, [data, places], axis=draw.one_of((None, axis)) if draw.chance(0.2) else axis)
        case "take_along_axis":
            other = list(shape)
            other[axis] = draw.integer(1, 3)
            return call(name, [data, draw.between(integers, other, 0, shape[axis] - 1)], axis=axis)
        case "one_hot":
            return call(name, [draw.between(integers, shape, -1, 5)], num_classes=draw.integer(2, 6), axis=draw.one_of((-1, 0)))
        case "multi_hot":
            return call(name, [draw.between(integers, draw.filled(2, 3), 0, 3)], num_classes=4)
        case "top_k":
            return call(name, [array(draw, REAL, shape, 0.0)], k=draw.integer(1, shape[-1]))
        case "in_top_k":
            scores = array(draw, (np.float32,), [draw.integer(1, 4), 5], 0.0)
            return call(name, [draw.between(np.int32, scores.shape[:1], 0, 4), scores], k=draw.integer(1, 4))
        case "searchsorted":
            line = np.sort(array(draw, (np.float32,), [draw.integer(1, 5)], 0.0))
            return call(name, [line, array(draw, (np.float32,), draw.filled(1, 1))], side=draw.one_of(("left", "right")))
        case "digitize":
            return call(name, [data.astype(np.float32)], bins=np.array([-1.0, 0.0, 1.0], np.float32))
        case "bincount":
            return call(name, [draw.between(np.int32, draw.filled(1, 1), 0, 4)], minlength=6)
        case "segment_sum" | "segment_max":
            # What the largest of a segment without elements is depends on the backend.
            keys = np.arange(shape[0], dtype=np.int32) // 2
            return call(name, [data, keys], num_segments=int(keys[-1]) + 1 + (name == "segment_sum"))
        case _:
            starts = [draw.integer(0, size - 1) for size in shape]
            sizes = tuple(draw.integer(1, size - start) for start, size in zip(starts, shape, strict=True))
            return call(name, [data], start_indices=starts, shape=sizes)


EINSUMS = ("ij,jk->ik", "bij,bjk->bik", "ij->ji", "ij->i", "i,i->", "i,j->ij", "bhqd,bhkd->bhqk", "ii->i", "ij,ij->ij", "abc,cd->abd")


@function_recipe("matmul dot tensordot inner vdot einsum cross kron")
def product(draw: Draw, name: str) -> Call:
    """A product of tensors."""
    sizes = {letter: draw.integer(1, 4) for letter in "abcdhijkq"}
    match name:
        case "einsum":
            equation = draw.one_of(EINSUMS)
            terms = equation.split("->")[0].split(",")
            arrays = [array(draw, (np.float32,), [sizes[letter] for letter in term], 0.0) for term in terms]
            return Call(lambda *tensors: ops.einsum(equation, *tensors), arrays)
        case "matmul":
            batch = draw.one_of(((), (2,), (2, 3)))
            shapes: Any = ([*batch, 3, sizes["k"]], [*draw.one_of((batch, ())), sizes["k"], 2])
            if draw.chance(0.2):
                shapes = draw.one_of((([4], [4]), ([2, 4], [4]), ([4], [4, 3]), ([4], [2, 4, 3])))
        case "tensordot":
            return call(
                name,
                [array(draw, (np.float32,), [2, 3, 4], 0.0), array(draw, (np.float32,), [3, 4, 2], 0.0)],
                axes=draw.one_of((2, ((1, 2), (0, 1)), ((2,), (1,)))) if True else 1,
            )
        case "cross":
            shapes = ([2, 3], [2, 3])
        case _:
            shapes = draw.one_of((([4], [4]), ([2, 4], [3, 4] if name == "inner" else [4, 3])))
            if name == "vdot":
                shapes = ([2, 3], [2, 3])
    return call(name, [array(draw, (np.float32,), shape, 0.0) for shape in shapes])


@function_recipe("where select get_item average_pool max_pool")
def others(draw: Draw, name: str) -> Call:
    """A choice by conditions, a part by an index, a pooling."""
    shape = draw.filled(1, 3)
    match name:
        case "where":
            arrays = [draw.random.random(shape) < 0.5, *(draw.array(np.dtype(draw.one_of(NUMERIC)), shape) for _ in range(2))]
            return Call(ops.where, arrays)
        case "select":
            arrays = [
                draw.random.random(shape) < 0.5,
                draw.random.random(shape) < 0.5,
                *(array(draw, (np.float32,), shape) for _ in range(2)),
            ]
            return Call(lambda a, b, x, y: ops.select([a, b], [x, y], default=draw.one_of((0, 1.5))), arrays)
        case "get_item":
            size = shape[0]
            key = draw.one_of(
                (0, -1, slice(None), slice(None, None, -1), slice(0, size, 2), None, (Ellipsis, 0), (slice(None), None), Ellipsis)
            )
            return Call(lambda x: ops.get_item(x, key), [array(draw, NUMERIC, shape)])
        case _:
            data = array(draw, (np.float32,), [2, *draw.integers(2, 3, 6), 2], 0.0)
            return call(name, [data], pool_size=draw.integer(1, 3), strides=draw.integer(1, 2), padding=draw.one_of(("valid", "same")))
