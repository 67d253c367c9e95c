"""The files that are damaged: small models of every format, as the names and bytes of their files."""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import moir
from tests.fuzz.files.language_models import folder_samples, gguf_samples
from tests.fuzz.files.sample import FIXTURES, ROOT, Sample, made, of_folder
from tests.numerical.caffe import networks
from tests.numerical.mxnet import models
from tests.unit.frontends.tensorflow.samples import INT32, Call, constant, function, graph, node, placeholder
from tests.unit.frontends.tensorflow_js.exporter import (
    functional,
    input_layer,
    keras_topology,
    layer,
    written_model,
    written_weights,
)
from tests.unit.small_models import loop_model

# ONNX


def shape_model() -> bytes:
    """Shapes, axes, bounds and sizes that are constants."""
    integers = {
        "shape": [2, -1],
        "starts": [0],
        "ends": [2],
        "axes": [1],
        "steps": [1],
        "repeats": [1, 2],
        "pads": [0, 1, 0, 1],
        "index": [0, 1],
        "wide": [2, 8],
        "k": [2],
    }
    scalars = {"zero": 0, "limit": 4, "one": 1}
    nodes = [
        helper.make_node("Reshape", ["x", "shape"], ["reshaped"], name="reshape"),
        helper.make_node("Slice", ["reshaped", "starts", "ends", "axes", "steps"], ["sliced"], name="slice"),
        helper.make_node("Tile", ["sliced", "repeats"], ["tiled"], name="tile"),
        helper.make_node("Pad", ["tiled", "pads"], ["padded"], name="pad", mode="constant"),
        helper.make_node("Gather", ["padded", "index"], ["gathered"], name="gather", axis=1),
        helper.make_node("Range", ["zero", "limit", "one"], ["range"], name="range"),
        helper.make_node("ConstantOfShape", ["wide"], ["filled"], name="filled", value=numpy_helper.from_array(np.ones(1, np.float32))),
        helper.make_node("TopK", ["filled", "k"], ["largest", "places"], name="top", axis=-1),
        helper.make_node("Expand", ["gathered", "index_shape"], ["expanded"], name="expand"),
        helper.make_node("Split", ["expanded"], ["left", "right"], name="split", axis=1, num_outputs=2),
        helper.make_node("OneHot", ["places", "limit", "values"], ["hot"], name="hot", axis=-1),
        helper.make_node("Einsum", ["left", "right"], ["product"], name="einsum", equation="ab,cb->ac"),
        helper.make_node("Unsqueeze", ["product", "axes"], ["more"], name="unsqueeze"),
        helper.make_node("Transpose", ["more"], ["turned"], name="turn", perm=[2, 0, 1]),
    ]
    initializers = [numpy_helper.from_array(np.array(value, np.int64), name) for name, value in (integers | scalars).items()]
    initializers += [
        numpy_helper.from_array(np.array([2, 2], np.int64), "index_shape"),
        numpy_helper.from_array(np.array([0, 1], np.float32), "values"),
    ]
    outputs = ["turned", "range", "largest", "hot"]
    model_graph = helper.make_graph(
        nodes,
        "shapes",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])],
        [helper.make_empty_tensor_value_info(name) for name in outputs],
        initializers,
    )
    return helper.make_model(model_graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9).SerializeToString()


def branch_model() -> bytes:
    """An If, a recurrent network, a model-local function and quantized data."""
    branches = {
        f"{name}_branch": helper.make_graph(
            [helper.make_node(kind, ["x"], [f"{name}_y"], name=name)], name, [], [helper.make_empty_tensor_value_info(f"{name}_y")]
        )
        for name, kind in (("then", "Relu"), ("else", "Abs"))
    }
    random = np.random.default_rng(3)
    weights = {"w": (1, 8, 4), "r": (1, 8, 2)}
    nodes = [
        helper.make_node("If", ["condition"], ["chosen"], name="if", **branches),
        helper.make_node("LSTM", ["chosen", "w", "r"], ["all", "last"], name="lstm", hidden_size=2),
        helper.make_node("Twice", ["last"], ["twice"], name="twice", domain="own"),
        helper.make_node("QuantizeLinear", ["twice", "scale", "point"], ["small"], name="quantize"),
        helper.make_node("DequantizeLinear", ["small", "scale", "point"], ["y"], name="dequantize"),
        helper.make_node("BatchNormalization", ["chosen", *["channels"] * 4], ["normal"], name="normal"),
    ]
    initializers = [numpy_helper.from_array(random.standard_normal(shape).astype(np.float32), name) for name, shape in weights.items()]
    initializers += [
        numpy_helper.from_array(np.array(0.1, np.float32), "scale"),
        numpy_helper.from_array(np.array(3, np.uint8), "point"),
        numpy_helper.from_array(np.ones(2, np.float32), "channels"),
    ]
    own = helper.make_function(
        "own", "Twice", ["a"], ["b"], [helper.make_node("Add", ["a", "a"], ["b"], name="add")], [helper.make_opsetid("", 18)]
    )
    model_graph = helper.make_graph(
        nodes,
        "branches",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 2, 4]),
            helper.make_tensor_value_info("condition", TensorProto.BOOL, []),
        ],
        [helper.make_empty_tensor_value_info(name) for name in ("y", "normal", "all")],
        initializers,
    )
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("own", 1)]
    return helper.make_model(model_graph, opset_imports=imports, ir_version=9, functions=[own]).SerializeToString()


def external_model() -> Sample:
    """Weights in a file beside the model."""
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[4, 2], data_location=TensorProto.EXTERNAL)
    for key, value in {"location": "weights.bin", "offset": "16", "length": "32"}.items():
        tensor.external_data.add(key=key, value=value)
    model_graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"], name="product")],
        "external",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 2])],
        [tensor],
    )
    model = helper.make_model(model_graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    return Sample("external data", {"m.onnx": model.SerializeToString(), "weights.bin": bytes(64)}, "m.onnx")


@cache
def onnx_samples() -> list[Sample]:
    """ONNX models."""
    digits = (ROOT / "examples" / "digits" / "digits.onnx").read_bytes()
    contents = {"digits": digits, "loop": loop_model().SerializeToString(), "shapes": shape_model(), "branches": branch_model()}
    return [external_model(), *(Sample(name, {"m.onnx": content}, "m.onnx") for name, content in contents.items())]


# TensorFlow


def while_graph() -> bytes:
    """A loop of TensorFlow 2, with its functions, before shapes that are constants."""
    condition = function(
        "cond", "i:INT32 x", "go:BOOL", [constant("n", 3, np.int32), node("less", "Less", "i n:output:0")], {"go": "less:z:0"}
    )
    body = function(
        "body",
        "i:INT32 x",
        "next:INT32 y",
        [constant("one", 1, np.int32), node("add", "AddV2", "i one:output:0"), node("relu", "Relu", "x")],
        {"next": "add:z:0", "y": "relu:activations:0"},
    )
    nodes = [
        placeholder("x", (2, 6)),
        constant("zero", 0, np.int32),
        constant("shape", [3, 4], np.int32),
        constant("begin", [0, 1], np.int32),
        constant("end", [2, 3], np.int32),
        constant("strides", [1, 1], np.int32),
        constant("axis", 1, np.int32),
        node("while", "While", "zero x", cond=Call("cond"), body=Call("body"), T=[INT32, INT32]),
        node("reshape", "Reshape", "while:1 shape"),
        node("slice", "StridedSlice", "reshape begin end strides", begin_mask=1, end_mask=0, shrink_axis_mask=0),
        node("join", "ConcatV2", "slice slice axis", N=2),
        node("split", "Split", "axis join", num_split=2),
        node("pack", "Pack", "split split:1", N=2, axis=0),
        node("max", "ArgMax", "pack axis"),
    ]
    return graph(*nodes, functions=[condition, body]).SerializeToString(deterministic=True)


def frame_graph() -> bytes:
    """A loop of TensorFlow 1."""
    nodes = [
        placeholder("x", (2, 3)),
        constant("zero", 0, np.int32),
        constant("three", 3, np.int32),
        constant("one", 1, np.int32),
        *(node(f"enter_{name}", "Enter", value, frame_name="loop") for name, value in (("i", "zero"), ("x", "x"))),
        *(node(f"enter_{name}", "Enter", name, frame_name="loop", is_constant=True) for name in ("three", "one")),
        *(node(f"merge_{name}", "Merge", f"enter_{name} next_{name}", N=2) for name in ("i", "x")),
        node("less", "Less", "merge_i enter_three"),
        node("condition", "LoopCond", "less"),
        *(node(f"switch_{name}", "Switch", f"merge_{name} condition") for name in ("i", "x")),
        node("add", "AddV2", "switch_i:1 enter_one"),
        node("relu", "Relu", "switch_x:1"),
        node("next_i", "NextIteration", "add"),
        node("next_x", "NextIteration", "relu"),
        node("exit", "Exit", "switch_x"),
        node("y", "Tanh", "exit"),
    ]
    return graph(*nodes).SerializeToString(deterministic=True)


@cache
def tensorflow_samples() -> list[Sample]:
    """TensorFlow's graphs, binary and as text, SavedModels and checkpoints."""
    folder = FIXTURES / "tensorflow"
    graphs = {"while": while_graph(), "frames": frame_graph()}
    checkpoint = of_folder("checkpoint", folder / "checkpoint", "model.meta")
    return [
        *(Sample(name, {"g.pb": content}, "g.pb") for name, content in graphs.items()),
        *(of_folder(name, folder / name) for name in ("saved_model_v2", "keras_3")),
        checkpoint,
        Sample("graph as text", {"g.pbtxt": (folder / "convolution.pbtxt").read_bytes()}, "g.pbtxt"),
    ]


# Caffe, MXNet, IR

CAFFE_LAYERS = {
    "convolution": ("convolution_param { num_output: 4 kernel_size: 3 pad: 1 stride: 2 group: 1 bias_term: true }", "Convolution"),
    "pooling": ("pooling_param { pool: MAX kernel_size: 3 stride: 2 pad: 1 }", "Pooling"),
    "product": ("inner_product_param { num_output: 3 axis: 1 }", "InnerProduct"),
    "response": ("lrn_param { local_size: 5 alpha: 0.7 beta: 0.6 k: 1.5 }", "LRN"),
    "reshape": ("reshape_param { shape { dim: 0 dim: -1 dim: 13 } axis: 0 num_axes: -1 }", "Reshape"),
    "slice": ("slice_param { axis: 1 slice_point: 2 }", "Slice"),
    "scale": ("scale_param { axis: 1 num_axes: 1 bias_term: true }", "Scale"),
    "crop": ("crop_param { axis: 2 offset: 1 }", "Crop"),
    "prior": ("prior_box_param { min_size: 2 max_size: 4 aspect_ratio: 2 flip: true variance: 0.1 }", "PriorBox"),
    "normal": ("batch_norm_param { use_global_stats: true eps: 1e-5 }", "BatchNorm"),
}
CAFFE_WEIGHTS = {
    "convolution": [(4, 6, 3, 3), (4,)],
    "product": [(3, 702), (3,)],
    "scale": [(6,), (6,)],
    "normal": [(6,), (6,), (1,)],
}


@cache
def caffe_samples() -> list[Sample]:
    """Caffe's networks."""

    def network(name: str) -> Callable[[Path], Path]:
        parameters, kind = CAFFE_LAYERS[name]
        bottoms = ["x", "x1"] if name in ("crop", "prior") else ["x"]
        tops = ["y", "z"] if name == "slice" else ["y"]
        text = networks.input_layer(x=(2, 6, 9, 13), **({"x1": (2, 6, 4, 4)} if len(bottoms) > 1 else {}))
        weights = [np.ones(shape, np.float32) for shape in CAFFE_WEIGHTS.get(name, ())]
        return lambda folder: networks.write(folder, text + networks.layer(kind, parameters, bottoms, tops), {"layer": weights})

    classifier = of_folder("classifier of Caffe", FIXTURES / "caffe")
    files = {name: content for name, content in classifier.files.items() if not name.endswith(".py")}
    return [
        Sample(classifier.name, files, "classifier.caffemodel"),
        *(made(f"{name} of Caffe", network(name)) for name in CAFFE_LAYERS),
    ]


@cache
def tensorflow_lite_samples() -> list[Sample]:
    """TensorFlow Lite's models."""
    files = sorted((FIXTURES / "tflite").glob("*.tflite"))
    return [Sample(f"{path.stem} of TensorFlow Lite", {path.name: path.read_bytes()}, path.name) for path in files]


@cache
def mxnet_samples() -> list[Sample]:
    """MXNet's symbols with parameters."""
    folder = FIXTURES / "mxnet"
    files = {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.name.startswith("classifier")}
    cases: dict[str, dict[str, Any]] = {}
    with np.load(folder / "operations.npz") as archive:
        for key in archive.files:
            name, _, part = key.rpartition("/")
            cases.setdefault(name, {})[part] = archive[key]

    def write(arrays: Mapping[str, Any]) -> Callable[[Path], Path]:
        weights = {part: array for part, array in arrays.items() if part.startswith("w")}
        symbol = json.loads(bytes(arrays["symbol"]))
        return lambda target: models.write(target, symbol, weights)

    every = [made(f"{name} of MXNet", write(arrays)) for name, arrays in cases.items() if "symbol" in arrays]
    return [Sample("classifier of MXNet", files, "classifier-symbol.json"), *every]


@cache
def paddle_samples() -> list[Sample]:
    """Programs and PIR of PaddlePaddle with their parameters."""
    folder = FIXTURES / "paddle"
    results: list[Sample] = []
    for name, model in (("classifier", "classifier.pdmodel"), ("classifier_pir", "classifier_pir.json")):
        files = {each: (folder / each).read_bytes() for each in (model, f"{name}.pdiparams")}
        results.append(Sample(f"{name} of PaddlePaddle", files, model))
    for path in sorted(folder.glob("*.zip")):
        with zipfile.ZipFile(path) as archive:
            names = [each for each in archive.namelist() if each.startswith("static.")]
            files = {each: archive.read(each) for each in names}
        results.append(Sample(f"{path.stem} of PaddlePaddle", files, next(each for each in names if each.endswith((".pdmodel", ".json")))))
    return results


@cache
def keras_samples() -> list[Sample]:
    """Keras' archives and HDF5 files."""
    folder = FIXTURES / "keras"
    return [Sample(f"{name} of Keras", {name: (folder / name).read_bytes()}, name) for name in ("functional.keras", "sequential.h5")]


@cache
def tensorflow_js_samples() -> list[Sample]:
    """A layers model and a graph model of TensorFlow.js, with quantized weights in several files."""
    random = np.random.default_rng(0)
    weights = {name: random.random(shape).astype(np.float32) for name, shape in (("fc/kernel", (4, 3)), ("fc/bias", (3,)))}

    def layers_model(folder: Path) -> Path:
        layers = [input_layer("x", [4]), layer("Dense", "fc", ["x"], units=3, use_bias=True)]
        manifest = written_weights(folder, [weights], {"fc/kernel": "uint8"}, 7)
        return written_model(folder, keras_topology(functional(layers, ["x"], ["fc"])), manifest, format="layers-model")

    def graph_model(folder: Path) -> Path:
        constants = {"w": weights["fc/kernel"], "axes": np.array([1], np.int64), "s": np.array(["a", "b"], object)}
        types = {"w": "DT_FLOAT", "axes": "DT_INT64", "s": "DT_STRING"}
        nodes: list[dict[str, Any]] = [{"name": "x", "op": "Placeholder", "attr": {"dtype": {"type": "DT_FLOAT"}}}]
        for name, values in constants.items():
            shape = {"dim": [{"size": str(size)} for size in values.shape]}
            tensor = {"dtype": types[name], "tensorShape": shape}
            nodes.append({"name": name, "op": "Const", "attr": {"value": {"tensor": tensor}, "dtype": {"type": types[name]}}})
        nodes += [
            {"name": "y", "op": "MatMul", "input": ["x", "w"], "attr": {"T": {"type": "DT_FLOAT"}}},
            {"name": "z", "op": "Sum", "input": ["y", "axes"], "attr": {"keep_dims": {"b": True}}},
            {"name": "t", "op": "Identity", "input": ["s"]},
        ]
        outputs = {name: {"name": f"{name}:0", "dtype": dtype} for name, dtype in (("z", "DT_FLOAT"), ("t", "DT_STRING"))}
        signature = {"inputs": {"x": {"name": "x:0", "dtype": "DT_FLOAT"}}, "outputs": outputs}
        manifest = written_weights(folder, [constants], {"w": "uint16"}, 9)
        return written_model(folder, {"node": nodes, "versions": {"producer": 175}}, manifest, format="graph-model", signature=signature)

    return [made("a layers model of TensorFlow.js", layers_model), made("a graph model of TensorFlow.js", graph_model)]


@cache
def stablehlo_samples() -> list[Sample]:
    """Programs of JAX as text, as bytecode and as files of jax.export."""
    folder = FIXTURES / "stablehlo"
    names = [f"{name}.{suffix}" for name in ("mlp", "scan", "elements") for suffix in ("mlir", "mlirbc", "jax")]
    return [Sample(f"{name} of JAX", {name: (folder / name).read_bytes()}, name) for name in names]


@cache
def pytorch_samples() -> list[Sample]:
    """Exported programs with their weights, as views of the archive and pickled."""
    names = ("classifier.pt2", "gru_of_torch_2_5.pt2")
    return [Sample(f"{name} of PyTorch", {name: (FIXTURES / "pytorch" / name).read_bytes()}, name) for name in names]


@cache
def ir_samples() -> list[Sample]:
    """The IR of some of the other samples, and of a few operations of MXNet."""

    def converted(sample: Sample) -> Callable[[Path], Path]:
        def make(folder: Path) -> Path:
            with tempfile.TemporaryDirectory() as text:
                moir.save_model(moir.convert_model(sample.write(Path(text))), folder / "m.xml")
            return folder / "m.xml"

        return make

    sources = [*onnx_samples(), tensorflow_samples()[0], *caffe_samples(), *mxnet_samples()[::9]]
    return [made(f"IR of {sample.name}", converted(sample)) for sample in sources]


FORMATS: Mapping[str, Callable[[], list[Sample]]] = {
    "onnx": onnx_samples,
    "tf": tensorflow_samples,
    "caffe": caffe_samples,
    "mxnet": mxnet_samples,
    "tflite": tensorflow_lite_samples,
    "paddle": paddle_samples,
    "keras": keras_samples,
    "tensorflow-js": tensorflow_js_samples,
    "stablehlo": stablehlo_samples,
    "aten": pytorch_samples,
    "ir": ir_samples,
    "transformers": folder_samples,
    "gguf": gguf_samples,
}
"""The samples of each framework."""

DRAWN = {"onnx-drawn": ("onnx", "tests.fuzz.nodes:single_node"), "tf-drawn": ("tf", "tests.fuzz.tensorflow.nodes:single_operation")}
"""Generators of random models of one node, which make further samples. Those of TensorFlow need TensorFlow."""
