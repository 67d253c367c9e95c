"""A model of one call of Keras as the model of a case, with random variables."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from tests.fuzz.case import Case, Contents, Reference
from tests.fuzz.comparison import tolerances
from tests.fuzz.draw import Array, Draw, NoCase
from tests.fuzz.keras.backend_faults import check, checked_additions
from tests.fuzz.keras.recipe import Call, keras
from tests.numerical.keras.models import randomize

POLICIES = (*("float32",) * 12, "mixed_float16", "mixed_bfloat16")
"""Element types of computation, the first one more often."""

KINDS: Mapping[str, str] = {
    "AveragePooling": "AveragePool",
    "AvgPool": "AveragePool",
    "Conv": "Conv",
    "Convolution": "Conv",
    "DepthwiseConv": "Conv",
    "MaxPool": "MaxPool",
    "MaxPooling": "MaxPool",
    "SeparableConv": "Conv",
}
"""Classes without their rank that ONNX has by another name; a class of the same name needs no entry."""

ONNX_OF: Mapping[str, str] = {
    "add": "Add",
    "amax": "ReduceMax",
    "amin": "ReduceMin",
    "argmax": "ArgMax",
    "argmin": "ArgMin",
    "argsort": "TopK",
    "clip": "Clip",
    "concatenate": "Concat",
    "cumsum": "CumSum",
    "divide": "Div",
    "einsum": "Einsum",
    "elu": "Elu",
    "equal": "Equal",
    "exp": "Exp",
    "expm1": "Expm1",
    "floor_divide": "Div",
    "fmod": "Mod",
    "gelu": "Gelu",
    "greater": "Greater",
    "hard_sigmoid": "HardSigmoid",
    "greater_equal": "GreaterOrEqual",
    "hard_tanh": "Clip",
    "leaky_relu": "LeakyRelu",
    "less": "Less",
    "less_equal": "LessOrEqual",
    "logaddexp": "Exp",
    "logsumexp": "ReduceLogSumExp",
    "log_softmax": "LogSoftmax",
    "matmul": "MatMul",
    "max": "ReduceMax",
    "maximum": "Max",
    "mean": "ReduceMean",
    "min": "ReduceMin",
    "minimum": "Min",
    "mod": "Mod",
    "multiply": "Mul",
    "normalize": "Max",
    "power": "Pow",
    "prod": "ReduceProd",
    "relu": "Relu",
    "relu6": "Relu6",
    "scatter_update": "ScatterND",
    "segment_max": "ScatterND",
    "segment_min": "ScatterND",
    "softmax": "Softmax",
    "softplus": "Softplus",
    "sparse_sigmoid": "Clip",
    "sort": "TopK",
    "subtract": "Sub",
    "sum": "ReduceSum",
    "top_k": "TopK",
    "transpose": "Transpose",
    "where": "Where",
}
"""Functions of `keras.ops` by their names in ONNX, for the rules of faults."""


@dataclass(frozen=True)
class KerasModel:
    """A model of one call.

    Args:
        content: the file.
        suffix: its form.
        kind: the operation by its name in ONNX.
        operands: the values of its inputs.
        variables: the values of its variables.
        expected: what Keras computes.
        declared: the element types of the results as Keras declares them.
        text: the model in one line.
    """

    content: bytes = field(repr=False)
    suffix: str
    kind: str
    operands: Sequence[Array]
    variables: Sequence[Array]
    expected: Sequence[Array]
    declared: Sequence[str]
    text: str

    guesses_empty_shapes = False

    def save(self, folder: Path) -> Path:
        """Write the model."""
        path = folder / f"model.{self.suffix}"
        path.write_bytes(self.content)
        return path

    def describe(self) -> str:
        """The model in one line."""
        return self.text

    def references(self) -> Sequence[tuple[str, Reference]]:
        """Keras, which has computed the results already; they have the element types that it declares."""
        pairs = list(zip(self.expected, self.declared, strict=True))
        return [("Keras", lambda _: [of_declared_type(*pair) for pair in pairs])]

    def contents(self, inputs: Mapping[str, Array]) -> Contents:
        """What the model is made of."""
        return Contents(frozenset((self.kind,)), [*inputs.values(), *self.variables], True, (self.kind, self.operands))

    def check(self, expected: Sequence[Array]) -> None:
        """Everything that Keras computes is right."""


def plain(value: Any) -> Array:
    """A result of Keras as an array; texts are objects, complex numbers pairs. Raises NoCase for tensors that are not dense."""
    result: Any = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
    if np.iscomplexobj(result):
        return np.stack([result.real, result.imag], axis=-1)
    if result.dtype.kind in "OSU":
        return np.array([each.decode() if isinstance(each, bytes) else str(each) for each in result.ravel()], object).reshape(result.shape)
    return result


def of_declared_type(result: Array, declared: str) -> Array:
    """A result in the element type that Keras declares for it; backends have other ones now and then.

    JAX with 64 bits makes int64 of integers, TensorFlow makes int32 of a number beside int8, and Keras says float32 of
    the reciprocals of float16. Integers that are declared where every backend computes real numbers, as those of a
    leaky ReLU of integers, are no element type that the result could have.
    """
    is_real = result.dtype.kind in "fV"
    if declared in ("string", result.dtype.name) or is_real != ("float" in declared):
        return result
    return result.astype(ml_dtypes.bfloat16 if declared == "bfloat16" else declared)


def step_of(result: Array, declared: str) -> float:
    """How far the runtime may be off where Keras declares f32 for what a backend computes in halves."""
    if declared != "float32" or result.dtype.itemsize >= 4 or result.dtype.kind not in "fV":
        return 0.0
    relative, absolute = tolerances(result)
    numbers = np.abs(result.astype(np.float64))
    return absolute + relative * float(numbers[np.isfinite(numbers)].max(initial=0.0))


def saved(model: Any, suffix: str) -> tuple[bytes, Any]:
    """The file of a model, and the model that Keras loads from it; the model itself where Keras cannot load it.

    Some layers write another element type than the one they compute in, so that the loaded model computes something
    else.
    """
    policy = keras.config.dtype_policy()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"model.{suffix}"
        model.save(path)
        keras.config.set_dtype_policy("float32")
        try:
            loaded = keras.models.load_model(path, compile=False)
            # HDF5 files do not tell functions from layers: in place of a function Keras loads the layer of its name, in f32.
            is_same = [type(each) for each in loaded.operations] == [type(each) for each in model.operations]
            return path.read_bytes(), loaded if is_same else model
        except Exception:
            return path.read_bytes(), model
        finally:
            keras.config.set_dtype_policy(policy)


def said(draw: Draw, array: Array, call: Call) -> list[int | None]:
    """The shape that an input declares: the batch is mostly unknown, other sizes but the channels now and then."""
    shape: list[int | None] = list(array.shape)
    if not call.fixed and draw.chance(0.25):
        shape = [None if draw.chance(0.5) and axis != call.channels % array.ndim else size for axis, size in enumerate(array.shape)]
    shape[0] = array.shape[0] if draw.chance(0.2) else None
    return shape


def tensor_name(array: Array) -> str:
    """The element type as Keras calls it."""
    return "string" if array.dtype.kind == "O" else array.dtype.name


def keras_case(draw: Draw, subject: str, kind: str, make: Any, policy: str) -> Case:
    """A case of what `make` draws, made and computed with a policy of element types.

    Raises NoCase if Keras does not make or compute it.
    """
    keras.config.set_dtype_policy(policy)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check(subject, call := make())
            return _case(draw, subject, kind, call, policy)
    except NoCase:
        raise
    except Exception as error:
        raise NoCase(f"{type(error).__name__}: {error}") from None
    finally:
        keras.config.set_dtype_policy("float32")


def _case(draw: Draw, subject: str, kind: str, call: Call, policy: str) -> Case:
    arrays: dict[str, Array] = {f"x{index}": array for index, array in enumerate(call.arrays)}

    def named(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            arrays[name := f"k{len(arrays)}"] = value
            return name
        return [named(each) for each in value] if isinstance(value, list) else value

    keywords = {name: named(value) for name, value in call.keywords.items()}
    inputs = {name: keras.Input(batch_shape=said(draw, array, call), dtype=tensor_name(array), name=name) for name, array in arrays.items()}

    def given(value: Any, tensors: Mapping[str, Any]) -> Any:
        if isinstance(value, list):
            return [given(each, tensors) for each in value]
        return tensors[value] if isinstance(value, str) and value in tensors else value

    def called(tensors: Mapping[str, Any]) -> Any:
        values = [tensors[f"x{index}"] for index in range(len(call.arrays))]
        return call.layer(*([values] if call.joined else values), **{name: given(each, tensors) for name, each in keywords.items()})

    outputs = [each for each in keras.tree.flatten(called(inputs)) if each is not None]
    model = keras.Model(list(inputs.values()), outputs)
    if not any("int" in str(each.dtype) for each in model.variables):
        randomize(model, draw.integer(0, 1 << 30))
    suffix = "h5" if draw.chance(0.1) else "keras"
    content, loaded = saved(model, suffix)
    tensors = [keras.ops.convert_to_tensor(array, dtype=tensor_name(array)) for array in arrays.values()]
    with checked_additions():
        expected = [plain(each) for each in keras.tree.flatten(loaded(tensors, training=False))]
    declared = [str(output.dtype) for output in loaded.outputs]
    if any(each.size == 0 for each in expected):
        raise NoCase("a result without elements")
    if getattr(call.layer, "data_format", "") == "channels_first" and any(each.shape[1] == each.shape[-1] for each in expected):
        raise NoCase("TensorFlow takes the last dimension for that of the channels where both are of one size")
    names: list[str] = []
    for each in model.outputs:
        layer = each._keras_history.operation.name
        names.append(layer if layer not in names else f"{layer}_{sum(name == layer or name.startswith(f'{layer}_') for name in names)}")
    shapes = ", ".join(f"{name}: {array.dtype}{list(array.shape)} as {list(inputs[name].shape)}" for name, array in arrays.items())
    options = call.layer.get_config() if hasattr(call.layer, "get_config") else {}
    shown = {name: value for name, value in options.items() if isinstance(value, str | int | float | bool | list | tuple)}
    text = f"{subject}({shapes}) {shown} {call.keywords} {policy} .{suffix}".replace("\n", " ")
    variables = [np.asarray(each) for each in model.variables if "bfloat16" not in str(each.dtype)]
    if subject == "Activation":
        kind = ONNX_OF.get(options["activation"], kind)
    source = KerasModel(content, suffix, kind, list(arrays.values()), variables, expected, declared, text)
    steps = [step_of(*pair) for pair in zip(expected, declared, strict=True)]
    return Case(subject, source, arrays, names, steps if any(steps) else ())
