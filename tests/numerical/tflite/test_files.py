"""Whole files against the interpreter: control flow, states, tables, operations of TensorFlow, and how files may look."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import moir
from moir.dialects.memory_map import Array
from moir.errors import ConversionError, ModelFileError, UsageError
from moir.execution.tflite_runtime import LiteRunner
from moir.frontends.tflite import read_model
from moir.frontends.tflite.flatbuffer import ModelFile
from moir.tools.convert import main
from tests.numerical.runtime import core, run
from tests.numerical.tflite.files import Operator, Sparsity, Tensor, file_of
from tests.numerical.tflite.models import converted, interpreted, kinds

tf: Any = pytest.importorskip("tensorflow")

FIXTURES = Path(__file__).parents[2] / "fixtures" / "tflite"
RANDOM = np.random.default_rng(11)


def request_of(path: Path, folder: Path) -> Any:
    """An infer request of a file."""
    moir.save_model(moir.convert_model(path), folder / "m.xml")
    return core().compile_model(folder / "m.xml", "CPU").create_infer_request()


@pytest.mark.parametrize("name", ["network", "quantized", "shapes", "loops"])
def test_fixtures(tmp_path: Path, name: str) -> None:
    path = FIXTURES / f"{name}.tflite"
    request = request_of(path, tmp_path)
    inputs: dict[str, Array] = {}
    for port in request.model_inputs:
        shape = list(port.shape)
        element = port.element_type.to_dtype()
        inputs[port.any_name] = (RANDOM.normal(size=shape) if element.kind == "f" else RANDOM.integers(0, 3, size=shape)).astype(element)
    expected = interpreted(path.read_bytes(), inputs)
    actual = request.infer(inputs)
    for output in request.model_outputs:
        [key] = [each for each in expected if each in output.names]
        np.testing.assert_allclose(actual[output], expected[key], rtol=1e-4, atol=0.01 if name == "quantized" else 1e-5)


def test_inner_tensors_of_the_interpreter_are_numbers() -> None:
    path = FIXTURES / "quantized.tflite"
    module = read_model(path)
    runner = LiteRunner(path, module, {})
    [port] = runner.interface.inputs
    x = RANDOM.normal(size=(1, 6, 5, 3)).astype(np.float32)
    values = runner.run({port.name: x}, runner.tensors)
    actual = values["tfl.quantize"]
    assert actual.dtype == np.float32
    assert np.abs(actual - np.clip(x, actual.min(), actual.max())).max() < 0.05
    assert values["scores"].shape == (1, 3)


def test_a_variable_keeps_its_value(tmp_path: Path) -> None:
    path = FIXTURES / "state.tflite"
    request = request_of(path, tmp_path)
    runner = tf.lite.Interpreter(str(path)).get_signature_runner()
    for _ in range(3):
        x = RANDOM.normal(size=(2, 3)).astype(np.float32)
        [expected] = runner(x=x).values()
        np.testing.assert_allclose(request.infer({0: x})[0], expected, rtol=1e-5)


def test_operations_of_tensorflow(tmp_path: Path) -> None:
    x = RANDOM.normal(size=(1, 6, 5, 3)).astype(np.float32)
    actual = request_of(FIXTURES / "flex.tflite", tmp_path).infer({0: x})[0]
    np.testing.assert_allclose(actual, (tf.math.erf(x) + tf.math.lgamma(x)).numpy(), rtol=1e-3, atol=1e-4)


class Table(tf.Module):
    """Tables of numbers for texts, and of texts for numbers."""

    def __init__(self) -> None:
        super().__init__()
        keys, values = tf.constant(["a", "bc", ""]), tf.constant([3, 5, 8], tf.int64)
        self.numbers = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, values), -1)
        self.texts = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(values, keys), "none")

    @tf.function(input_signature=[tf.TensorSpec([3], tf.string, name="x"), tf.TensorSpec([2], tf.int64, name="n")])
    def __call__(self, x: Any, n: Any) -> dict[str, Any]:
        return {"number": self.numbers.lookup(x), "text": self.texts.lookup(n), "size": self.numbers.size() + n}


def test_hash_tables(tmp_path: Path) -> None:
    module: Any = Table()
    converter = tf.lite.TFLiteConverter.from_concrete_functions([module.__call__.get_concrete_function()], module)
    path = tmp_path / "m.tflite"
    path.write_bytes(converter.convert())
    request = request_of(path, tmp_path)
    ports = {name: port for port in request.model_inputs for name in port.names}
    outputs = {name: port for port in request.model_outputs for name in port.names}
    actual = request.infer({ports["x"]: np.array(["bc", "", "x"]), ports["n"]: np.array([8, 4])})
    assert list(actual[outputs["number"]]) == [5, 8, -1]
    assert list(request.get_tensor(outputs["text"]).str_data) == ["", "none"]
    assert list(actual[outputs["size"]]) == [11, 7]
    assert "HASHTABLE_SIZE" in kinds(path)


def test_one_buffer_serves_tensors_of_several_types(tmp_path: Path) -> None:
    x = np.zeros((2, 2), np.float32)
    tensors = [Tensor("x", x), Tensor("shape", np.array([4], np.int32), is_constant=True), Tensor("y", np.zeros(4, np.float32))]
    path = tmp_path / "m.tflite"
    path.write_bytes(file_of(tensors, [Operator("RESHAPE", ["x", "shape"], ["y"])], ["x"], ["y"]))
    assert request_of(path, tmp_path).infer({0: x})[0].shape == (4,)


@pytest.mark.parametrize("says_ranks", [False, True])
def test_a_tensor_without_a_shape_is_a_scalar_unless_the_file_says_ranks(tmp_path: Path, says_ranks: bool) -> None:
    scalar = np.zeros((), np.float32)
    one = Tensor("one", np.ones(1, np.float32), is_constant=True, is_ranked=says_ranks)
    path = tmp_path / "m.tflite"
    path.write_bytes(
        file_of([Tensor("x", scalar), one, Tensor("y", scalar)], [Operator("ADD", ["x", "one"], ["y"], "AddOptions")], ["x"], ["y"])
    )
    moir.save_model(moir.convert_model(path), tmp_path / "m.xml")
    model = core().read_model(tmp_path / "m.xml")
    assert model.inputs[0].partial_shape.rank.is_dynamic == says_ranks
    if says_ranks:
        model.reshape([-1, -1])
        actual = core().compile_model(model, "CPU").create_infer_request().infer([np.full((2, 3), 4, np.float32)])[0]
        np.testing.assert_array_equal(actual, np.full((2, 3), 5, np.float32))


SPARSE = {
    "rows": Sparsity([0, 1], [], [3, ([0, 2, 2, 3], [0, 3, 1])], np.array([1, 2, 3], np.float32)),
    "columns": Sparsity([1, 0], [], [4, ([0, 1, 2, 2, 3], [2, 0, 1])], np.array([1, 2, 3], np.float32)),
    "blocks": Sparsity([0, 1, 2], [1], [3, ([0, 1, 1, 2], [1, 0]), 2], np.array([1, 2, 3, 4], np.float32)),
}


@pytest.mark.parametrize("kind", SPARSE)
def test_sparse_weights(tmp_path: Path, kind: str) -> None:
    x, dense = RANDOM.normal(size=(3, 4)).astype(np.float32), np.zeros((3, 4), np.float32)
    tensors = [Tensor("x", x), Tensor("w", dense, is_constant=True, sparsity=SPARSE[kind]), Tensor("d", dense), Tensor("y", x)]
    operators = [Operator("DENSIFY", ["w"], ["d"]), Operator("ADD", ["x", "d"], ["y"], "AddOptions")]
    path = tmp_path / "m.tflite"
    path.write_bytes(file_of(tensors, operators, ["x"], ["y"]))
    interpreter = tf.lite.Interpreter(str(path))
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
    interpreter.invoke()
    expected = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    assert np.count_nonzero(expected - x) >= 3
    np.testing.assert_array_equal(request_of(path, tmp_path).infer({0: x})[0], expected)


class Signatures(tf.Module):
    """A model of two functions."""

    @tf.function(input_signature=[tf.TensorSpec([2], tf.float32, name="x")])
    def first(self, x: Any) -> dict[str, Any]:
        return {"y": x + 1.0}

    @tf.function(input_signature=[tf.TensorSpec([2], tf.float32, name="x")])
    def second(self, x: Any) -> dict[str, Any]:
        return {"z": x * 2.0}


@pytest.fixture(scope="module")
def signatures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("signatures")
    module: Any = Signatures()
    tf.saved_model.save(module, str(folder / "s"), signatures={"first": module.first, "second": module.second})
    converter = tf.lite.TFLiteConverter.from_saved_model(str(folder / "s"), signature_keys=["first", "second"])
    path = folder / "m.tflite"
    path.write_bytes(converter.convert())
    return path


def test_other_signatures_are_noted(signatures: Path) -> None:
    text = str(moir.convert_model(signatures))
    assert 'name = "y"' in text
    assert "the signature of the first subgraph is converted, and not 'second'; --signature chooses one" in text


def test_a_signature_is_chosen(tmp_path: Path, signatures: Path) -> None:
    assert main([str(signatures), "--signature", "second", "-o", str(tmp_path / "m.xml"), "--silent"]) == 0
    compiled = core().compile_model(tmp_path / "m.xml", "CPU")
    [output] = compiled.outputs
    x = np.array([1, 2], np.float32)
    assert "z" in output.names
    np.testing.assert_array_equal(compiled.create_infer_request().infer({"x": x})[output], 2 * x)


def test_the_interpreter_computes_a_signature(signatures: Path) -> None:
    runner = LiteRunner(signatures, read_model(signatures, signature="second"), {"signature": "second"})
    x = np.array([1, 2], np.float32)
    actual = runner.run({"x": x})
    np.testing.assert_array_equal(actual["z"], 2 * x)
    assert len(runner.run({"x": x}, runner.tensors)) >= 1


def test_signatures_that_do_not_exist(signatures: Path) -> None:
    with pytest.raises(UsageError, match=r"the model has no signature 'secon'; did you mean second\?"):
        moir.convert_model(signatures, signature="secon")
    with pytest.raises(UsageError, match=r"it has none; leave out the option|its signatures: "):
        moir.convert_model(FIXTURES / "network.tflite", signature="other")


def test_tensors_that_all_have_an_unknown_rank(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, None, "x")
        y = tf.nn.elu(x, name="y")
        converter = tf.compat.v1.lite.TFLiteConverter(graph.as_graph_def(), [x], [y])
    path = tmp_path / "m.tflite"
    path.write_bytes(converter.convert())
    moir.save_model(moir.convert_model(path), tmp_path / "m.xml")
    model = core().read_model(tmp_path / "m.xml")
    assert model.inputs[0].get_partial_shape().rank.is_dynamic
    given = RANDOM.normal(size=(2, 3)).astype(np.float32)
    [actual] = run(model, {"x": given})
    np.testing.assert_allclose(actual, tf.nn.elu(given).numpy(), rtol=1e-5)


def test_shapes_of_complex_numbers(tmp_path: Path) -> None:
    given = RANDOM.normal(size=(3, 8)).astype(np.float32)

    def function(x: Any) -> dict[str, Any]:
        actual = tf.reshape(tf.signal.rfft2d(x, [4, 8]), [2, -1])
        return {"y": tf.math.imag(actual), "z": tf.math.real(tf.expand_dims(actual, -1))}

    model = converted(function, {"x": given})
    path = tmp_path / "m.tflite"
    path.write_bytes(model)
    request = request_of(path, tmp_path)
    actual, wanted = request.infer({0: given}), interpreted(model, {"x": given})
    for output in request.model_outputs:
        [name] = output.names & wanted.keys()
        np.testing.assert_allclose(actual[output], wanted[name], rtol=1e-4, atol=1e-4)


def test_buffers_after_the_flatbuffer(tmp_path: Path) -> None:
    weights = RANDOM.normal(size=(8, 40)).astype(np.float32)
    x = RANDOM.normal(size=(2, 8)).astype(np.float32)
    path = tmp_path / "m.tflite"
    path.write_bytes(converted(lambda x: {"y": tf.matmul(x, weights)}, {"x": x}, _experimental_use_buffer_offset=True))
    tables = ModelFile(path)
    assert any(tables.root.Buffers(index).Offset() > 1 for index in range(tables.root.BuffersLength()))
    np.testing.assert_allclose(request_of(path, tmp_path).infer({0: x})[0], x @ weights, rtol=1e-4, atol=1e-5)


def test_an_operator_that_nothing_lowers_is_named(tmp_path: Path) -> None:
    x = np.zeros((2, 2), np.float32)
    path = tmp_path / "m.tflite"
    path.write_bytes(file_of([Tensor("x", x), Tensor("y", x)], [Operator("Odd", ["x"], ["y"], custom=b"\x01\x02")], ["x"], ["y"]))
    with pytest.raises(ConversionError, match=r"tflite\.Odd"):
        moir.convert_model(path)


@pytest.mark.parametrize(
    ("tensors", "operators", "message"),
    [
        ([Tensor("x", np.zeros(2, np.float32))], [], "the tensor 'y' of subgraph 0 is read before it is computed"),
        (
            [Tensor("x", np.zeros(2, np.float32), scale=[1.0, 2.0], axis=3)],
            [],
            "the tensor 'y' of subgraph 0 is read before it is computed",
        ),
        (
            [Tensor("x", np.zeros((2, 2), np.int8), scale=[1.0, 2.0], axis=3)],
            [],
            r"the tensor 'x' has 2 scales along dimension 3 of \[2, 2\]",
        ),
        (
            [Tensor("x", np.zeros(2, np.int8), scale=[1.0, 2.0, 3.0])],
            [],
            r"the tensor 'x' has 3 scales along dimension 0 of \[2\]",
        ),
    ],
)
def test_files_that_contradict_themselves(tmp_path: Path, tensors: list[Tensor], operators: list[Operator], message: str) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(file_of([*tensors, Tensor("y", np.zeros(2, np.float32))], operators, ["x"], ["y"]))
    with pytest.raises(ModelFileError, match=message):
        moir.convert_model(path)


@pytest.mark.parametrize("size", [0, 4, 8, 40, 1000])
def test_files_that_end_early(tmp_path: Path, size: int) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes((FIXTURES / "network.tflite").read_bytes()[:size])
    with pytest.raises(ModelFileError, match=str(path)):
        moir.convert_model(path)


CODES = [
    *[("MUL", 6, fields) for fields in ("old", "new", "both")],
    *[("MAXIMUM", 3, fields) for fields in ("old", "new", "both")],
    *[("RELU_0_TO_1", 1, fields) for fields in ("new", "both")],
]
"""Operators of 2 and 3, their result, and the fields that have the number of the operator."""


@pytest.mark.parametrize(("kind", "expected", "fields"), CODES)
def test_the_code_of_an_operator_is_the_larger_of_its_two_fields(tmp_path: Path, kind: str, expected: float, fields: str) -> None:
    operands = ["x"] if kind == "RELU_0_TO_1" else ["x", "y"]
    tensors = [Tensor(name, np.zeros(1, np.float32)) for name in ("x", "y", "z")]
    path = tmp_path / "m.tflite"
    path.write_bytes(file_of(tensors, [Operator(kind, operands, ["z"])], operands, ["z"], code_fields=fields))
    values = [np.array([value], np.float32) for value in (2, 3)][: len(operands)]
    assert request_of(path, tmp_path).infer(values)[0] == [expected]


@pytest.mark.parametrize(
    ("tensor", "message"),
    [
        (Tensor("x", np.zeros(4, ml_dtypes.int2), scale=[0.5]), "'x' of 2-bit integers is no constant"),
        (Tensor("x", np.zeros(4, ml_dtypes.float8_e5m2), scale=[0.5]), "'x' of 8-bit floats has a scale"),
    ],
)
def test_types_of_newer_schemas_that_are_not_supported(tmp_path: Path, tensor: Tensor, message: str) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(file_of([tensor, Tensor("y", np.zeros(4, np.float32))], [Operator("DEQUANTIZE", ["x"], ["y"])], ["x"], ["y"]))
    with pytest.raises(ModelFileError, match=message):
        moir.convert_model(path)


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2"])
def test_floats_of_8_bits_are_cast(tmp_path: Path, name: str) -> None:
    values = np.array([0.5, -3, 1.25, 96], getattr(ml_dtypes, name))
    path = tmp_path / "m.tflite"
    tensors = [Tensor("c", values, is_constant=True), Tensor("f", np.zeros(4, np.float32)), Tensor("x", np.zeros(4, np.float32))]
    operators = [Operator("CAST", ["c"], ["f"]), Operator("ADD", ["x", "f"], ["y"])]
    path.write_bytes(file_of([*tensors, Tensor("y", np.zeros(4, np.float32))], operators, ["x"], ["y"]))
    np.testing.assert_array_equal(request_of(path, tmp_path).infer([np.ones(4, np.float32)])[0], values.astype(np.float32) + 1)
