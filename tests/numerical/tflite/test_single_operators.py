"""Single operators in files that no converter writes, against the interpreter."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import moir
from moir.dialects.memory_map import Array
from moir.errors import ModelFileError
from tests.numerical.runtime import core
from tests.numerical.tflite.files import Operator, Tensor, file_of

tf: Any = pytest.importorskip("tensorflow")

RANDOM = np.random.default_rng(12)


class Case(NamedTuple):
    """An operator.

    Args:
        kind: its kind.
        inputs: the operands; those of which `fixed` has the number are constants.
        outputs: values of the types and shapes of the results.
        options: the table of its options, and its fields.
    """

    kind: str
    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]
    options: str = ""
    fields: dict[str, Any] = {}
    fixed: tuple[int, ...] = ()


def normal(*shape: int) -> Array:
    return RANDOM.normal(size=shape).astype(np.float32)


def zeros(*shape: int, dtype: str = "float32") -> Array:
    return np.zeros(shape, dtype)


def integers(*values: int) -> Array:
    return np.array(values, np.int32)


POOL = {"Padding": 1, "StrideW": 2, "StrideH": 1, "FilterWidth": 2, "FilterHeight": 3}

CASES = {
    "embedding": Case("EMBEDDING_LOOKUP", (integers(2, 0, 2), normal(4, 3)), (zeros(3, 3),), fixed=(1,)),
    "hash table": Case(
        "HASHTABLE_LOOKUP", (integers(5, 7, -1), integers(-1, 3, 5), normal(3, 2)), (zeros(3, 2), zeros(3, dtype="uint8")), fixed=(1, 2)
    ),
    "norms of windows": Case("L2_POOL_2D", (normal(1, 5, 6, 2),), (zeros(1, 3, 3, 2),), "Pool2DOptions", POOL),
    "fake quantization": Case("FAKE_QUANT", (normal(20),), (zeros(20),), "FakeQuantOptions", {"Min": -0.5, "Max": 1.0, "NumBits": 8}),
    "from zero to one": Case("RELU_0_TO_1", (normal(20),), (zeros(20),)),
    "squeeze": Case("SQUEEZE", (normal(2, 1, 3),), (zeros(2, 3),), "SqueezeOptions", {"SqueezeDims": integers(1)}),
    "shape as an option": Case("RESHAPE", (normal(2, 6),), (zeros(3, 4),), "ReshapeOptions", {"NewShape": integers(3, -1)}),
    "product of lines": Case("FULLY_CONNECTED", (normal(2, 3, 4), normal(5, 4)), (zeros(6, 5),), "FullyConnectedOptions", fixed=(1,)),
    "rows by truth": Case("SELECT", (np.array([True, False]), normal(2, 3), normal(2, 3)), (zeros(2, 3),)),
    "softmax with a factor": Case("SOFTMAX", (normal(2, 5),), (zeros(2, 5),), "SoftmaxOptions", {"Beta": 0.5}),
    "sum with an activation": Case("ADD", (normal(9), normal(9)), (zeros(9),), "AddOptions", {"FusedActivationFunction": 2}),
}


@pytest.mark.parametrize("name", CASES)
def test_single_operators(tmp_path: Path, name: str) -> None:
    case = CASES[name]
    inputs = {f"i{number}": value for number, value in enumerate(case.inputs)}
    outputs = {f"o{number}": value for number, value in enumerate(case.outputs)}
    given = [key for number, key in enumerate(inputs) if number not in case.fixed]
    tensors = [
        *(Tensor(key, value, is_constant=key not in given) for key, value in inputs.items()),
        *(Tensor(key, value) for key, value in outputs.items()),
    ]
    path = tmp_path / "m.tflite"
    path.write_bytes(file_of(tensors, [Operator(case.kind, list(inputs), list(outputs), case.options, case.fields)], given, list(outputs)))
    interpreter = tf.lite.Interpreter(str(path))
    interpreter.allocate_tensors()
    for place, key in zip(interpreter.get_input_details(), given, strict=True):
        interpreter.set_tensor(place["index"], inputs[key])
    interpreter.invoke()
    moir.save_model(moir.convert_model(path), tmp_path / "m.xml")
    found = core().compile_model(tmp_path / "m.xml", "CPU").create_infer_request().infer([inputs[key] for key in given])
    for number, place in enumerate(interpreter.get_output_details()):
        expected = interpreter.get_tensor(place["index"])
        assert found[number].dtype == expected.dtype
        np.testing.assert_allclose(found[number], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["ADD", "fake_quantize"])
def test_custom_operators_have_names_of_their_own(tmp_path: Path, name: str) -> None:
    path = tmp_path / "m.tflite"
    tensors = [Tensor("x", zeros(2)), Tensor("y", zeros(2))]
    path.write_bytes(file_of(tensors, [Operator(name, ["x", "x"], ["y"], custom=b"\0")], ["x"], ["y"]))
    with pytest.raises(ModelFileError, match="a custom operator has the name"):
        moir.convert_model(path)
