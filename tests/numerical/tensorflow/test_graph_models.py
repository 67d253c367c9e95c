"""Graph models of TensorFlow.js: the runtime computes what TensorFlow does with the same weights."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from google.protobuf.json_format import MessageToDict

import moir
from moir.errors import ModelFileError
from tests.numerical.runtime import Array, core
from tests.numerical.tensorflow.conversion import build, decoded, expected_results
from tests.unit.frontends.tensorflow_js.exporter import dequantized, written_model, written_weights

RANDOM = np.random.default_rng(0)
CLEARED = ("tensor_content", "float_val", "double_val", "int_val", "int64_val", "bool_val", "string_val", "half_val", "scomplex_val")


def weights(*shape: int) -> Array:
    """Random values of float32."""
    return RANDOM.standard_normal(shape).astype(np.float32)


def without_values(nodes: Any, prefix: str = "") -> dict[str, Array]:
    """Take the values out of the constants of a graph; returns them by the names of the constants."""
    values: dict[str, Array] = {}
    for node in nodes:
        if node.op == "Const":
            values[prefix + node.name] = decoded(tf.make_ndarray(node.attr["value"].tensor))
            for field in CLEARED:
                node.attr["value"].tensor.ClearField(field)
    return values


def signature(graph: tf.Graph, inputs: Sequence[str], outputs: Sequence[str]) -> dict[str, Any]:
    """The signature of a graph in JSON."""

    def entries(names: Sequence[str]) -> dict[str, Any]:
        tensors = {name: graph.get_tensor_by_name(f"{name}:0") for name in names}
        return {
            name: {"name": f"{name}:0", "dtype": f"DT_{tensor.dtype.name.upper().replace('FLOAT32', 'FLOAT')}"}
            for name, tensor in tensors.items()
        }

    return {"inputs": entries(inputs), "outputs": entries(outputs)}


def exported(
    folder: Path,
    function: Callable[..., Any],
    inputs: Mapping[str, Array],
    *,
    quantization: Any = None,
    shard: int = 1 << 22,
    **fields: Any,
) -> tuple[Path, list[Array], tf.Graph]:
    """Write a function as a graph model; returns the file, the results for the inputs, and the graph."""
    graph, names = build(function, inputs, form="dynamic")
    expected = expected_results(graph, names, inputs)
    definition = graph.as_graph_def()
    values = without_values(definition.node)
    manifest = written_weights(folder, [values], quantization, shard)
    fields = {"format": "graph-model", "signature": signature(graph, [*inputs], names)} | fields
    return written_model(folder, MessageToDict(definition), manifest, **fields), expected, graph


def results(path: Path, inputs: Mapping[str, Array]) -> list[Array]:
    """The results of a model in OpenVINO Runtime, in the order of the outputs' names."""
    model = moir.to_openvino(moir.convert_model(path))
    compiled = core().compile_model(model, "CPU")
    result = compiled({port.any_name: inputs[port.any_name] for port in compiled.inputs})
    names = sorted(next(name for name in port.get_names() if name.startswith("out_")) for port in compiled.outputs)
    return [result[name] for name in names]


def check(path: Path, expected: Sequence[Array], inputs: Mapping[str, Array]) -> None:
    for got, wanted in zip(results(path, inputs), expected, strict=True):
        assert got.dtype == wanted.dtype
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)


KERNEL, BIAS = weights(3, 3, 2, 4), weights(4)


def network(x: Any) -> Any:
    """A convolution with a bias, a sum over axes of int64, and a choice."""
    y = tf.nn.relu(tf.nn.conv2d(x, KERNEL, 1, "SAME") + BIAS)
    return tf.reduce_mean(y, np.array([1, 2], np.int64)), tf.where(np.array([True, False, True, True]), y, 0.0)


IMAGE = {"x": weights(2, 5, 5, 2)}


@pytest.mark.parametrize("shard", [1 << 22, 100, 7])
def test_a_graph(shard: int, tmp_path: Path) -> None:
    """Weights of int64 are stored as int32. A weight may be in several files."""
    path, expected, _ = exported(tmp_path, network, IMAGE, shard=shard)
    check(path, expected, IMAGE)


def test_a_graph_without_signature(tmp_path: Path) -> None:
    path, expected, _ = exported(tmp_path, network, IMAGE, signature=None)
    check(path, expected, IMAGE)


def test_the_signature_in_the_metadata(tmp_path: Path) -> None:
    """As the converter wrote it until version 1.7; the order of the fields says nothing."""
    path, expected, graph = exported(tmp_path, network, IMAGE)
    fields = json.loads(path.read_text())
    metadata = {"signature": signature(graph, ["x"], ["out_1", "out_0"])}
    fields = {"weightsManifest": fields["weightsManifest"], "modelTopology": fields["modelTopology"], "userDefinedMetadata": metadata}
    path.write_text(json.dumps(fields))
    check(path, expected, IMAGE)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float16"])
def test_quantized_weights(dtype: str, tmp_path: Path) -> None:
    """Only weights of float32 are quantized."""
    path, _, _ = exported(tmp_path, network, IMAGE, quantization=dtype)

    def quantized(x: Any) -> Any:
        y = tf.nn.relu(tf.nn.conv2d(x, dequantized(KERNEL, dtype), 1, "SAME") + dequantized(BIAS, dtype))
        return tf.reduce_mean(y, [1, 2]), tf.where([True, False, True, True], y, 0.0)

    graph, names = build(quantized, IMAGE)
    check(path, expected_results(graph, names, IMAGE), IMAGE)


def test_strings_complex_numbers_and_booleans(tmp_path: Path) -> None:
    factor = np.array([1 + 2j, -0.5j], np.complex64)

    def function(x: Any) -> Any:
        product = tf.complex(x, x) * factor
        return tf.math.real(product), tf.strings.join([tf.constant(["a", "", "λ"]), "b"]), tf.logical_and([True, False], x > 0)

    inputs = {"x": weights(3, 2)}
    path, expected, _ = exported(tmp_path, function, inputs)
    check_parts = results(path, inputs)
    np.testing.assert_allclose(check_parts[0], expected[0], rtol=1e-5)
    assert check_parts[1].tolist() == expected[1].tolist()
    assert check_parts[2].tolist() == expected[2].tolist()


def test_functions(tmp_path: Path) -> None:
    """The constants of a function have its name in the manifest, and in the graph."""
    scale = weights(4, 4)

    def function(x: Any) -> Any:
        return tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, tf.tanh(y @ scale)), (0, x))[1]

    inputs = {"x": weights(2, 4)}
    tf.compat.v1.enable_control_flow_v2()
    try:
        graph, names = build(function, inputs)
    finally:
        tf.compat.v1.disable_control_flow_v2()
    expected = expected_results(graph, names, inputs)
    definition = graph.as_graph_def()
    values = without_values(definition.node)
    for each in definition.library.function:
        own = {node.name for node in each.node_def if node.op == "Const"}
        prefix = f"{each.signature.name}/"
        for node in each.node_def:
            if node.name in own:
                node.name = prefix + node.name
            for index, operand in enumerate(node.input):
                if operand.split(":")[0] in own:
                    node.input[index] = prefix + operand
        for name, operand in each.ret.items():
            if operand.split(":")[0] in own:
                each.ret[name] = prefix + operand
        values |= without_values(each.node_def)
    path = written_model(tmp_path, MessageToDict(definition), written_weights(tmp_path, [values]), signature=signature(graph, ["x"], names))
    check(path, expected, inputs)


def table_graphs(is_placeholder: bool) -> tuple[Any, Any, dict[str, Any]]:
    """A graph that looks up strings, the graph that fills its table, and their common values."""
    keys, values = tf.constant(["cat", "dog", "λ"]), tf.constant([3, 5, 7], tf.int64)
    with tf.Graph().as_default() as initializer:
        table = tf.raw_ops.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64, shared_name="table_1", name="table")
        k, v = tf.constant(["cat", "dog", "λ"], name="keys"), tf.constant([3, 5, 7], tf.int64, name="values")
        tf.raw_ops.LookupTableImportV2(table_handle=table, keys=k, values=v, name="filled")
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.string, [None], "x")
        handle = tf.compat.v1.placeholder(tf.resource, [], "handle")
        if not is_placeholder:
            handle = tf.raw_ops.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64, shared_name="table_1", name="table")
        result = tf.raw_ops.LookupTableFindV2(table_handle=handle, keys=x, default_value=tf.constant(-1, tf.int64, name="default"))
        tf.identity(result, name="out_0")
    del keys, values
    return graph.as_graph_def(), initializer.as_graph_def(), {"x": {"name": "x:0", "dtype": "DT_STRING"}}


@pytest.mark.parametrize("is_placeholder", [True, False])
def test_hash_tables(is_placeholder: bool, tmp_path: Path) -> None:
    graph, initializer, inputs = table_graphs(is_placeholder)
    values = without_values(graph.node) | without_values(initializer.node)
    if is_placeholder:
        inputs["handle"] = {"name": "handle:0", "dtype": "DT_RESOURCE", "resourceId": 12}
    outputs = {"out_0": {"name": "out_0:0", "dtype": "DT_INT64"}}
    fields: dict[str, Any] = {"signature": {"inputs": inputs, "outputs": outputs}, "modelInitializer": MessageToDict(initializer)}
    if is_placeholder:
        fields["initializerSignature"] = {"outputs": {"table": {"name": "table:0", "dtype": "DT_RESOURCE", "resourceId": 12}}}
    path = written_model(tmp_path, MessageToDict(graph), written_weights(tmp_path, [values]), format="graph-model", **fields)
    texts = np.array(["dog", "bird", "λ"])
    assert results(path, {"x": texts})[0].tolist() == [5, -1, 7]


def test_operations_of_the_converter(tmp_path: Path) -> None:
    """The converter fuses PReLU, and depthwise convolutions with what follows them."""
    alpha, kernel, bias = weights(4), weights(3, 3, 2, 2), weights(4)

    def function(x: Any) -> Any:
        return tf.nn.depthwise_conv2d(x, kernel, [1, 1, 1, 1], "SAME")

    graph, names = build(function, IMAGE)
    definition = graph.as_graph_def()
    node = next(each for each in definition.node if each.op == "DepthwiseConv2dNative")
    for name, value in (("bias", bias), ("alpha", alpha)):
        added = definition.node.add(name=name, op="Const")
        added.attr["dtype"].type = tf.float32.as_datatype_enum
        added.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(value))
    node.op = "FusedDepthwiseConv2dNative"
    node.input.extend(["bias", "alpha"])
    node.attr["fused_ops"].list.s.extend([b"BiasAdd", b"Prelu"])
    node.attr["num_args"].i = 2
    prelu = definition.node.add(name="again", op="Prelu")
    prelu.input.extend([node.name, "alpha"])
    next(each for each in definition.node if each.name == names[0]).input[0] = "again"
    values = without_values(definition.node)
    path = written_model(tmp_path, MessageToDict(definition), written_weights(tmp_path, [values]))

    def plain(x: Any) -> Any:
        y = function(x) + bias
        y = tf.where(y >= 0, y, y * alpha)
        return tf.where(y >= 0, y, y * alpha)

    graph, names = build(plain, IMAGE)
    check(path, expected_results(graph, names, IMAGE), IMAGE)


def binary_graph(folder: Path) -> list[Array]:
    """Write a graph as TensorFlow.js did before version 1: a binary graph, and the list of weights; returns the results."""
    graph, names = build(network, IMAGE, form="dynamic")
    definition = graph.as_graph_def()
    manifest = written_weights(folder, [without_values(definition.node)], shard=50)
    (folder / "weights_manifest.json").write_text(json.dumps(manifest))
    (folder / "tensorflowjs_model.pb").write_bytes(definition.SerializeToString())
    return expected_results(graph, names, IMAGE)


def test_a_binary_graph(tmp_path: Path) -> None:
    expected = binary_graph(tmp_path)
    check(tmp_path / "tensorflowjs_model.pb", expected, IMAGE)
    (tmp_path / "tensorflowjs_model.pb").rename(tmp_path / "web_model.pb")
    check(tmp_path / "web_model.pb", expected, IMAGE)


def test_a_binary_graph_without_weights(tmp_path: Path) -> None:
    binary_graph(tmp_path)
    (tmp_path / "weights_manifest.json").unlink()
    with pytest.raises(ModelFileError, match=r"weights are in other files.*copy weights_manifest\.json"):
        moir.read_model(tmp_path / "tensorflowjs_model.pb")
