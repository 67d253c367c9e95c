"""Functions of keras.ops as layers of a functional model, all of them in one model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import moir
from tests.numerical.keras.models import differences, keras
from tests.numerical.runtime import core

ops = keras.ops

SINGLE = (
    *("absolute", "arcsinh", "arctan", "ceil", "cos", "cosh", "erf", "exp", "expm1", "floor", "negative", "relu", "relu6", "round"),
    *("sigmoid", "sign", "silu", "sin", "sinh", "softplus", "softsign", "square", "tan", "tanh", "trunc", "log_sigmoid", "hard_sigmoid"),
    *("hard_silu", "hard_tanh", "selu", "tanh_shrink", "squareplus", "exp2", "deg2rad", "rad2deg", "reciprocal", "cbrt", "erfc"),
)
"""Functions of one tensor of real numbers."""

CASES: dict[str, Any] = {
    **{name: lambda a, _, name=name: getattr(ops, name)(a) for name in SINGLE},
    "add": lambda a, b: a + b,
    "subtract from a number": lambda a, _: 2 - a,
    "multiply": lambda a, b: a * b * 3,
    "divide": lambda a, b: a / (ops.abs(b) + 1),
    "divide_no_nan": lambda a, b: ops.divide_no_nan(a, ops.relu(b)),
    "floor_divide": lambda a, _: a // 0.3,
    "mod": lambda a, _: ops.mod(a, 0.7),
    "power": lambda a, _: ops.abs(a) ** 1.5,
    "maximum": lambda a, b: ops.maximum(a, b),
    "minimum with a number": lambda a, _: ops.minimum(a, 0.1),
    "arctan2": lambda a, b: ops.arctan2(a, b),
    "hypot": lambda a, b: ops.hypot(a, b),
    "hypot of large numbers": lambda a, b: ops.hypot(1e30 * a, 1e30 * b),
    "logaddexp": lambda a, b: ops.logaddexp(a, b),
    "where": lambda a, b: ops.where(a > b, a, -1.0),
    "logical": lambda a, b: ops.cast(ops.logical_and(a > 0, ops.logical_not(b > 0)), "float32"),
    "isnan": lambda a, _: ops.cast(ops.isnan(a), "int32"),
    "fmax of NaN": lambda a, b: ops.fmax(ops.log(a), b) + ops.fmax(b, ops.log(a)),
    "fmin of NaN": lambda a, b: ops.fmin(ops.log(a), b),
    "ldexp": lambda a, b: ops.ldexp(a, ops.cast(3 * b, "int32")),
    "ldexp of 0": lambda a, b: ops.ldexp(ops.zeros_like(a), ops.cast(1000 * b, "int32")),
    "nextafter": lambda a, b: ops.nextafter(a, b),
    "heaviside of NaN": lambda a, b: ops.heaviside(ops.log(a), b),
    "clip": lambda a, _: ops.clip(a, -0.5, 0.3),
    "nan_to_num": lambda a, b: ops.nan_to_num(a / ops.relu(b), nan=1.0, posinf=2.0, neginf=-2.0),
    "soft_shrink of NaN": lambda a, _: ops.soft_shrink(ops.log(a)),
    "gelu": lambda a, _: ops.gelu(a),
    "gelu exact": lambda a, _: ops.gelu(a, approximate=False),
    "leaky_relu": lambda a, _: ops.leaky_relu(a, 0.3),
    "softmax": lambda a, _: ops.softmax(a, axis=1),
    "log_softmax": lambda a, _: ops.log_softmax(a, axis=1),
    "glu": lambda a, _: ops.glu(a),
    "sum": lambda a, _: ops.sum(a, axis=1),
    "mean": lambda a, _: ops.mean(a, axis=(1, 2), keepdims=True),
    "var": lambda a, _: ops.var(a, axis=-1),
    "std": lambda a, _: ops.std(a, axis=-1, keepdims=True),
    "max": lambda a, _: ops.max(a, axis=2),
    "min": lambda a, _: ops.min(a, axis=1),
    "prod": lambda a, _: ops.prod(a, axis=1),
    "logsumexp": lambda a, _: ops.logsumexp(a, axis=1),
    "any": lambda a, _: ops.cast(ops.any(a > 0.5, axis=1), "int32"),
    "all": lambda a, _: ops.cast(ops.all(a > -1, axis=1), "int32"),
    "count_nonzero": lambda a, _: ops.count_nonzero(ops.relu(a), axis=1),
    "argmax": lambda a, _: ops.argmax(a, axis=1),
    "argmin of all": lambda a, _: ops.argmin(a, axis=-1, keepdims=True),
    "cumsum": lambda a, _: ops.cumsum(a, axis=1),
    "cumprod": lambda a, _: ops.cumprod(a, axis=1),
    "top_k": lambda a, _: ops.top_k(a, 2)[0],
    "top_k indices": lambda a, _: ops.top_k(a, 2)[1],
    "sort": lambda a, _: ops.sort(a, axis=1),
    "argsort": lambda a, _: ops.argsort(a, axis=-1),
    "average": lambda a, _: ops.average(a, axis=1),
    "normalize": lambda a, _: ops.normalize(a, axis=-1),
    "norm": lambda a, _: ops.norm(a, axis=-1),
    "norm of order 1": lambda a, _: ops.norm(a, ord=1, axis=1),
    "moments": lambda a, _: ops.moments(a, axes=[1])[1],
    "reshape": lambda a, _: ops.reshape(a, (-1, 6, 4)),
    "expand_dims": lambda a, _: ops.expand_dims(a, 2),
    "squeeze": lambda a, _: ops.squeeze(a[:, :1], 1),
    "transpose": lambda a, _: ops.transpose(a, (0, 2, 1)),
    "swapaxes": lambda a, _: ops.swapaxes(a, 1, 2),
    "moveaxis": lambda a, _: ops.moveaxis(a, 1, -1),
    "flip": lambda a, _: ops.flip(a, axis=1),
    "rot90": lambda a, _: ops.rot90(a, axes=(1, 2)),
    "concatenate": lambda a, b: ops.concatenate([a, b], axis=1),
    "stack": lambda a, b: ops.stack([a, b], axis=1),
    # One vector, as Keras declares it and its backends of TensorFlow and OpenVINO compute it.
    "vstack of vectors": lambda a, b: ops.vstack([a[:, 0, 0], b[:, 0, 0]]),
    "hstack": lambda a, b: ops.hstack([a, b]),
    "split": lambda a, _: ops.split(a, 3, axis=2)[1],
    "split at indices": lambda a, _: ops.split(a, [1, 3], axis=1)[2],
    "unstack": lambda a, _: ops.unstack(a, axis=1)[1],
    "tile": lambda a, _: ops.tile(a, (1, 2, 1)),
    "repeat": lambda a, _: ops.repeat(a, 2, axis=1),
    "roll": lambda a, _: ops.roll(a, 2, axis=2),
    "pad": lambda a, _: ops.pad(a, ((0, 0), (1, 0), (0, 2)), constant_values=0.5),
    "pad reflect": lambda a, _: ops.pad(a, ((0, 0), (1, 1), (2, 0)), mode="reflect"),
    "take": lambda a, _: ops.take(a, [0, -1, 2], axis=1),
    "take_along_axis": lambda a, b: ops.take_along_axis(a, ops.argsort(b, axis=1), axis=1),
    "index": lambda a, _: a[:, 1],
    "index of slices": lambda a, _: a[:, 1:-1, ::-2],
    "index with an ellipsis": lambda a, _: a[..., 2],
    "index with a new axis": lambda a, _: a[:, None, -1],
    "one_hot": lambda a, _: ops.one_hot(ops.argmax(a, axis=1), 4),
    "digitize of NaN": lambda a, _: ops.digitize(ops.log(a), bins=np.array([-1.0, 0.0], np.float32)),
    "digitize of integers": lambda a, _: ops.digitize(ops.cast(a * 3, "int32"), bins=np.array([-0.5, 0.5, 1.0], np.float32)),
    "searchsorted of NaN": lambda a, _: ops.searchsorted(np.array([-1.0, 0.0], np.float32), ops.log(ops.reshape(a, (-1,))), side="right"),
    "searchsorted of NaN on the left": lambda a, _: ops.searchsorted(np.array([0.0], np.float32), ops.log(ops.reshape(a, (-1,)))),
    "zeros_like": lambda a, b: ops.zeros_like(a) + ops.ones_like(b),
    "full_like": lambda a, _: ops.full_like(a, 0.3),
    "tril": lambda a, _: ops.tril(a, 1),
    "triu": lambda a, _: ops.triu(a, -1),
    "matmul": lambda a, b: ops.matmul(a, ops.transpose(b, (0, 2, 1))),
    "einsum": lambda a, b: ops.einsum("bij,bkj->bik", a, b),
    "tensordot": lambda a, _: ops.tensordot(a, np.ones((6, 3), np.float32), axes=1),
    "dot": lambda a, _: ops.dot(a, np.ones((6, 2), np.float32)),
    "cast": lambda a, _: ops.cast(a * 3, "int32"),
    "bitwise": lambda a, b: ops.bitwise_and(ops.cast(a * 3, "int32"), ops.cast(b * 3, "int32")),
    "integers and floats": lambda a, _: ops.cast(a * 3, "int32") * 0.5,
    "integer division": lambda a, _: ops.cast(a * 9, "int32") // 4,
    "integers divided": lambda a, _: ops.cast(a * 9, "int32") / 4,
    "max_pool": lambda a, _: ops.max_pool(a, 2, padding="same"),
    "average_pool": lambda a, _: ops.average_pool(a, 2),
    "elu": lambda a, _: ops.elu(a, 0.5),
    "celu": lambda a, _: ops.celu(a, 0.5),
    "broadcast_to": lambda a, _: ops.broadcast_to(a[:1, :1], (2, 4, 6)),
    "outer products": lambda a, b: ops.expand_dims(a, 3) * ops.expand_dims(b, 2),
}

WIDE = ("cbrt", "deg2rad", "heaviside", "hypot", "i0", "rad2deg")
"""Functions whose results are f64 where integers have 64 bits."""


def test_functions(tmp_path: Path) -> None:
    a, b = keras.Input((4, 6), name="a"), keras.Input((4, 6), name="b")
    model = keras.Model([a, b], [make(a, b) for make in CASES.values()])
    assert not differences(model, tmp_path / "model.keras", list(CASES))


def test_element_type_of_indices(tmp_path: Path) -> None:
    """Indices in a 1-D tensor of dynamic size have 64 bits, as Keras declares them."""
    line, x = keras.Input(batch_shape=(None,), name="line"), keras.Input(batch_shape=(4,), name="x")
    model = keras.Model([line, x], [ops.searchsorted(line, x), ops.searchsorted(x, line, side="right")])
    model.save(tmp_path / "model.keras")
    converted = moir.to_openvino(moir.convert_model(tmp_path / "model.keras"))
    assert [each.element_type.to_dtype().name for each in converted.outputs] == [each.dtype for each in model.outputs] == ["int64", "int32"]


def test_functions_without_a_declared_element_type(tmp_path: Path) -> None:
    """They are f32, as Keras declares them, though its backends compute them in halves."""
    x = keras.Input((4,), name="x", dtype="float16")
    outputs = [ops.reciprocal(x), ops.logsumexp(x, axis=1), ops.normalize(x)]
    assert {output.dtype for output in outputs} == {"float32"}
    keras.Model(x, outputs).save(tmp_path / "model.keras")
    model = moir.to_openvino(moir.convert_model(tmp_path / "model.keras"))
    assert {each.element_type.to_dtype().name for each in model.outputs} == {"float32"}


def test_integers_of_64_bits(tmp_path: Path) -> None:
    a, b = keras.Input((4, 6), name="a", dtype="int64"), keras.Input((4, 6), name="b", dtype="int64")
    outputs = [getattr(ops, name)(*((a, b) if name in ("heaviside", "hypot") else (a,))) for name in WIDE]
    assert {str(output.dtype) for output in outputs} == {"float64"}
    assert not differences(keras.Model([a, b], outputs), tmp_path / "model.keras", WIDE)


def test_parts_of_an_axis_of_dynamic_size(tmp_path: Path) -> None:
    x = keras.Input((None, 3), name="x")
    outputs = [*ops.array_split(x, 3, axis=1), *ops.array_split(x, 2, axis=0), *ops.split(x, [1, 3], axis=1)]
    assert not differences(keras.Model(x, outputs), tmp_path / "model.keras")


def test_a_scale_along_an_axis_before_one_of_size_1(tmp_path: Path) -> None:
    """Keras multiplies the tensor by the scale along the last axis, along which the tensor is broadcast."""
    x = keras.Input((3, 1), name="x")
    model = keras.Model(x, keras.layers.RMSNormalization(axis=1)(x))
    assert np.asarray(model(np.ones((2, 3, 1), np.float32))).shape == (2, 3, 3)
    assert not differences(model, tmp_path / "model.keras")


def test_element_types(tmp_path: Path) -> None:
    x, i = keras.Input((4, 4), name="x", dtype="float16"), keras.Input((4, 4), name="i", dtype="uint8")
    model = keras.Model([x, i], [ops.arctan2(x, 0.5), ops.arctan2(-1.5, x), ops.trace(i, axis1=1, axis2=2), ops.lcm(i, 3)])
    model.save(tmp_path / "model.keras")
    assert str(model.outputs[3].dtype) == "int64"
    outputs = moir.to_openvino(moir.convert_model(tmp_path / "model.keras")).outputs
    assert [each.get_element_type().to_string() for each in outputs] == ["f32", "f32", "u32", "i64"]


def test_signs_of_zeros(tmp_path: Path) -> None:
    x = keras.Input((4,), name="x")
    keras.Model(x, ops.signbit(x)).save(tmp_path / "model.keras")
    compiled = core().compile_model(moir.to_openvino(moir.convert_model(tmp_path / "model.keras")), "CPU")
    assert compiled([np.array([[-0.0, 0.0, -np.inf, 2]], np.float32)])[0].tolist() == [[True, False, True, False]]
