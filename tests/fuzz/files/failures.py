"""The smallest files that once were an internal error, a hang, or an IR that the runtime refuses, by what is in them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from tests.fuzz.files.sample import Sample, made
from tests.numerical.caffe import networks
from tests.numerical.mxnet import models
from tests.numerical.pytorch.programs import Program, archive
from tests.unit.frontends.openvino_ir import documents
from tests.unit.frontends.tensorflow.samples import constant, graph, node, placeholder

HUGE = 2**62
X = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4])


def onnx_sample(*nodes: Any, shape: Sequence[int | str] | None = (1, 4), version: int = 18, **constants: Any) -> Callable[[], Sample]:
    """A model of nodes that read `x` and make `y`, in a version of the operator set; constants by name."""

    def make() -> Sample:
        result = helper.make_graph(
            list(nodes),
            "m",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
            [helper.make_empty_tensor_value_info("y")],
            [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
        )
        model = helper.make_model(result, opset_imports=[helper.make_opsetid("", version)], ir_version=9)
        return Sample("m", {"m.onnx": model.SerializeToString()}, "m.onnx")

    return make


def one(kind: str, *operands: str, **attributes: Any) -> Any:
    """A node that makes `y`."""
    return helper.make_node(kind, list(operands), ["y"], name="y", **attributes)


def graph_sample(*nodes: Any) -> Callable[[], Sample]:
    """A graph of nodes that read `x`."""
    return lambda: Sample("g", {"g.pb": graph(placeholder("x", (2, 3)), *nodes).SerializeToString()}, "g.pb")


def program_sample(*lines: str) -> Callable[[], Sample]:
    """A program of StableHLO."""
    return lambda: Sample("m", {"m.mlir": "\n".join(lines).encode()}, "m.mlir")


def ir_sample(text: str, weights: bytes = b"") -> Callable[[], Sample]:
    """An IR."""
    return lambda: Sample("m", {"m.xml": text.encode(), "m.bin": weights}, "m.xml")


def caffe_sample(text: str, blobs: Sequence[np.ndarray[Any, Any]] = ()) -> Callable[[], Sample]:
    """A network with the blobs of its layer `layer`."""
    return lambda: made("net", lambda folder: networks.write(folder, text, {"layer": list(blobs)}))


def exported_sample(size: Sequence[Any]) -> Callable[[], Sample]:
    """A program of PyTorch that makes zeros of a size, in which `n` stands for the number of rows of its input."""

    def make() -> Sample:
        program = Program()
        rows = program.number("aten.sym_size.int", [("self", program.input("x", "f32", ["s0", 3])), ("dim", 0)])
        sizes = [rows if each == "n" else each for each in size]
        program.output(program.node("aten.zeros.default", [("size", sizes)], "f32", ["s0", 3]))
        return Sample("m", {"m.pt2": archive(program.records())}, "m.pt2")

    return make


def mxnet_sample(*nodes: Mapping[str, Any], weights: Mapping[str, np.ndarray[Any, Any]] | None = None) -> Callable[[], Sample]:
    """A symbol of nodes after the variable `x`."""

    def write(folder: Path) -> Path:
        variables = [{"op": "null", "name": name, "inputs": []} for name in ("x", *(weights or ()))]
        every = [*variables, *nodes]
        symbol = {"nodes": every, "arg_nodes": [*range(len(variables))], "heads": [[len(every) - 1, 0, 0]]}
        return models.write(folder, symbol, weights or {})

    return lambda: made("net", write)


def huge_array() -> Sample:
    """A file of parameters with an array of no elements whose other dimensions numpy refuses."""
    symbol = {"nodes": [{"op": "null", "name": "x", "inputs": []}, {"op": "relu", "name": "y", "inputs": [[0, 0, 0]]}]}
    content = models.parameters({"arg:w": np.zeros((0, 1, 1), np.float32)})
    shape = np.array([0, 1, 1], np.int64).tobytes()
    files = {
        "net-symbol.json": json.dumps(symbol | {"heads": [[1, 0, 0]]}).encode(),
        "net-0000.params": content.replace(shape, np.array([0, HUGE, HUGE], np.int64).tobytes()),
    }
    return Sample("net", files, "net-symbol.json")


def branches(**operands: Any) -> Any:
    """An If whose condition is not one element."""
    graphs = {
        f"{name}_branch": helper.make_graph(
            [helper.make_node(kind, ["x"], [name], name=name)], name, [], [helper.make_empty_tensor_value_info(name)]
        )
        for name, kind in (("then", "Relu"), ("else", "Abs"))
    }
    return one("If", "condition", **graphs, **operands)


LOOP = [
    constant("zero", 0, np.int32),
    constant("n", 3, np.int32),
    node("enter", "Enter", "zero", frame_name="loop"),
    node("enter_n", "Enter", "n", frame_name="loop", is_constant=True),
    node("merge", "Merge", "enter next", N=2),
    node("less", "Less", "merge enter_n"),
    node("condition", "LoopCond", "less"),
    node("switch", "Switch", "merge condition"),
]

FAILURES: Mapping[str, Callable[[], Sample]] = {
    "onnx: a shape of strings": onnx_sample(one("Reshape", "x", "shape"), shape=(1, 4)),
    "onnx: Reshape to a string": onnx_sample(one("Reshape", "x", "s"), s=np.array(["a"], object)),
    "onnx: Reshape to NaN": onnx_sample(one("Reshape", "x", "s"), s=np.array([np.nan, 1], np.float32)),
    "onnx: an input beyond memory": onnx_sample(one("Relu", "x"), shape=(1, HUGE)),
    "onnx: a triangle of a matrix beyond memory": onnx_sample(one("Trilu", "x"), shape=(1, 2**53)),
    "onnx: a subnormal scale": onnx_sample(
        one("MaxRoiPool", "x", "rois", pooled_shape=[1, 1], spatial_scale=4e-45),
        shape=(1, 1, 8, 5),
        rois=np.zeros((1, 5), np.float32),
    ),
    "onnx: blocks beyond 63 bits": onnx_sample(one("DepthToSpace", "x", blocksize=2**32), shape=("n", "c", "h", "w")),
    "onnx: a triangle of an empty matrix beyond memory": onnx_sample(one("Trilu", "x"), shape=(0, 2**31)),
    "stablehlo: a reduction without a function": program_sample(
        "func.func @main(%x: tensor<2xf32>, %i: tensor<f32>) -> tensor<f32> {",
        '  %0 = "stablehlo.reduce"(%x, %i) {dimensions = array<i64: 0>} : (tensor<2xf32>, tensor<f32>) -> tensor<f32>',
        "  return %0 : tensor<f32>",
        "}",
    ),
    "stablehlo: windows beyond 63 bits": program_sample(
        "func.func @main(%x: tensor<4xf32>, %i: tensor<f32>) -> tensor<2xf32> {",
        '  %0 = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 1>',
        "    , padding = dense<[[-9223372036854775808, 2]]> : tensor<1x2xi64>}> ({",
        "  ^bb0(%a: tensor<f32>, %b: tensor<f32>):",
        '    %1 = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>',
        "    stablehlo.return %1 : tensor<f32>",
        "  }) : (tensor<4xf32>, tensor<f32>) -> tensor<2xf32>",
        "  return %0 : tensor<2xf32>",
        "}",
    ),
    "stablehlo: a string of escapes that is not closed": program_sample(
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {",
        '  %0 = stablehlo.custom_call @f(%x) {a = "' + r"\n" * 1_000_000,
    ),
    "stablehlo: a float of too many bits": program_sample(
        "func.func @main(%x: tensor<4xf32> {a = 0x1FFFFFFFFFFFFFFFF : f32}) -> tensor<4xf32> {",
        "  return %x : tensor<4xf32>",
        "}",
    ),
    "stablehlo: numbers of 4 bits in order": program_sample(
        "func.func @main() -> tensor<5xi4> {",
        "  %0 = stablehlo.iota dim = 0 : tensor<5xi4>",
        "  return %0 : tensor<5xi4>",
        "}",
    ),
    "stablehlo: a slice without starts": program_sample(
        "func.func @main(%x: tensor<4xf32>) -> tensor<2xf32> {",
        '  %0 = "stablehlo.slice"(%x) {start_indices = array<i64>, limit_indices = array<i64: 2>, strides = array<i64: 1>}',
        "    : (tensor<4xf32>) -> tensor<2xf32>",
        "  return %0 : tensor<2xf32>",
        "}",
    ),
    "stablehlo: a comparison of a value from outside": program_sample(
        "func.func @main(%x: tensor<4xf32>, %y: tensor<f32>) -> tensor<4xf32> {",
        '  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({',
        "  ^bb0(%a: tensor<f32>, %b: tensor<f32>):",
        '    %1 = "stablehlo.compare"(%y, %y) <{comparison_direction = #stablehlo<comparison_direction LT>}>',
        "      : (tensor<f32>, tensor<f32>) -> tensor<i1>",
        "    stablehlo.return %1 : tensor<i1>",
        "  }) : (tensor<4xf32>) -> tensor<4xf32>",
        "  return %0 : tensor<4xf32>",
        "}",
    ),
    "stablehlo: a comparison of three choices": program_sample(
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {",
        '  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({',
        "  ^bb0(%a: tensor<f32>, %b: tensor<f32>):",
        '    %1 = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction LT>}>',
        "      : (tensor<f32>, tensor<f32>) -> tensor<i1>",
        '    %2 = "stablehlo.select"(%1, %a, %b, %b) : (tensor<i1>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>',
        '    %3 = "stablehlo.compare"(%2, %b) <{comparison_direction = #stablehlo<comparison_direction LT>}>',
        "      : (tensor<f32>, tensor<f32>) -> tensor<i1>",
        "    stablehlo.return %3 : tensor<i1>",
        "  }) : (tensor<4xf32>) -> tensor<4xf32>",
        "  return %0 : tensor<4xf32>",
        "}",
    ),
    "onnx: n-grams with negative distances": onnx_sample(
        one(
            "TfIdfVectorizer",
            "s",
            mode="TF",
            min_gram_length=2,
            max_gram_length=2,
            max_skip_count=-2,
            ngram_counts=[0, 0],
            ngram_indexes=[0],
            pool_int64s=[1, 2],
        ),
        s=np.array([1, 2, 3]),
    ),
    "onnx: an attribute of another type in a definition": onnx_sample(
        one("NegativeLogLikelihoodLoss", "x", "t", ignore_index=[1, 2]), shape=(1, 4), t=np.array([1])
    ),
    "onnx: indices of 8 bits": onnx_sample(one("GatherElements", "x", "i", axis=1), i=np.zeros((1, 1), np.uint8)),
    "onnx: a fill beyond numpy": onnx_sample(one("ConstantOfShape", "s"), s=np.array([HUGE, 0, HUGE])),
    "onnx: a range beyond 64 bits": onnx_sample(one("Range", "a", "b", "c"), a=np.int64(-(2**63)), b=np.int64(2**63 - 1), c=np.int64(1)),
    "onnx: a range to NaN": onnx_sample(one("Range", "a", "b", "a"), a=np.float32(1), b=np.float32(np.nan)),
    "onnx: a hidden size beyond memory": onnx_sample(
        one("GRU", "x", "w", "r", hidden_size=HUGE), shape=(1, 1, 4), w=np.ones((1, 3, 4), np.float32), r=np.ones((1, 3, 1), np.float32)
    ),
    "onnx: epsilon is NaN": onnx_sample(
        one("BatchNormalization", "x", *["c"] * 4, epsilon=float("nan")), shape=(1, 4, 2), c=np.ones(4, np.float32)
    ),
    "onnx: a condition of three": onnx_sample(branches(), condition=np.array([True, False, True])),
    "onnx: a condition of rank 5": onnx_sample(branches(), condition=np.ones((1, 1, 1, 1, 1), bool)),
    "onnx: indices of floats": onnx_sample(one("GatherElements", "x", "i", axis=1), i=np.zeros((1, 1), np.float32)),
    "onnx: axes of rank 5": onnx_sample(one("Squeeze", "x", "a"), a=np.zeros((1, 1, 1, 1, 1), np.int64)),
    "onnx: no bounds of a slice": onnx_sample(one("Slice", "x", "a", "b"), a=np.zeros(0, np.int64), b=np.ones(1, np.int64)),
    "onnx: Round of a string": onnx_sample(one("Round", "s"), s=np.array(["a"], object)),
    "onnx: a shift by no operand": onnx_sample(one("BitShift", "x", direction="LEFT")),
    "onnx: Reshape to a number of floats": onnx_sample(one("Reshape", "x", "s"), s=np.array([np.nan], np.float32)),
    "onnx: the condition of a loop is of rank 2": onnx_sample(
        one(
            "Loop",
            "n",
            "",
            "x",
            body=helper.make_graph(
                [helper.make_node("Identity", ["c"], ["d"]), helper.make_node("Relu", ["a"], ["b"])],
                "body",
                [
                    helper.make_tensor_value_info("i", TensorProto.INT64, []),
                    helper.make_tensor_value_info("again", TensorProto.BOOL, []),
                    helper.make_tensor_value_info("a", TensorProto.FLOAT, [1, 4]),
                ],
                [helper.make_empty_tensor_value_info("d"), helper.make_tensor_value_info("b", TensorProto.FLOAT, [1, 4])],
                [numpy_helper.from_array(np.ones((1, 1), bool), "c")],
            ),
        ),
        n=np.int64(3),
    ),
    "onnx: more paddings than dimensions": onnx_sample(one("Pad", "x", "p"), p=np.zeros(6, np.int64)),
    "onnx: the shape of a fill is a number": onnx_sample(
        helper.make_node("ReduceMax", ["i"], ["m"], keepdims=0), one("ConstantOfShape", "m"), i=np.arange(3)
    ),
    "onnx: an input of rank 65": onnx_sample(one("InstanceNormalization", "x", "s", "s"), shape=(2,) * 65, s=np.ones(2, np.float32)),
    "onnx: a permutation that is a number": onnx_sample(one("Transpose", "x", perm=0), shape=None),
    "onnx: the axes of a slice are a number": onnx_sample(
        one("Slice", "x", "b", "e", "a"), b=np.array([0]), e=np.array([2]), a=np.int64(1)
    ),
    "onnx: 2^53 axes": onnx_sample(one("LayerNormalization", "x", "s", axis=-(2**53)), shape=None, s=np.ones(4, np.float32)),
    "onnx: softmax along axis 2^53": onnx_sample(one("Softmax", "x", axis=2**53), shape=None, version=11),
    "onnx: a convolution without filters": onnx_sample(one("Conv", "x"), shape=None),
    "onnx: more splits than 32 bits": onnx_sample(
        one("StringSplit", "s", delimiter="", maxsplit=2**31), version=20, s=np.array(["a b"], object)
    ),
    "tf: a kind with NUL": graph_sample(node("y", "Re\0lu", "x")),
    "tf: Reshape without shape": graph_sample(node("y", "Reshape", "x")),
    "tf: Pack without operands": graph_sample(node("y", "Pack", "", N=0)),
    "tf: Merge without operands": graph_sample(node("y", "Merge", "", N=0)),
    "tf: Enter without frame": graph_sample(node("y", "Enter", "x")),
    "tf: a value that does not leave its loop": graph_sample(*LOOP, node("next", "NextIteration", "enter"), node("y", "Exit", "switch")),
    "tf: an output that is not there": graph_sample(node("e", "Enter", "x", frame_name="f"), node("y", "Relu", "e:7")),
    "tf: strides without entries": graph_sample(
        constant("b", [0], np.int32), constant("s", [], np.int32), node("y", "StridedSlice", "x b b s")
    ),
    "tf: a begin that is a number": graph_sample(
        constant("b", 0, np.int32), constant("e", [1], np.int32), node("y", "StridedSlice", "x b e e")
    ),
    "tf: widths of padding that are not rows": graph_sample(constant("p", [1], np.int32), node("y", "Pad", "x p")),
    "tf: the axis is nothing": graph_sample(constant("i", [0], np.int32), constant("a", [], np.int32), node("y", "GatherV2", "x i a")),
    "tf: a diagonal of vectors": graph_sample(constant("v", [1.0, 2.0]), node("y", "MatrixDiagPart", "v")),
    "tf: a split into 2^53 parts": graph_sample(constant("a", 0, np.int32), node("y", "Split", "a x", num_split=2**53)),
    "tf: a permutation of rank 2": graph_sample(constant("p", [[0], [1]], np.int32), node("y", "InvertPermutation", "p")),
    "tf: a stride that is NaN": graph_sample(constant("b", [0], np.int32), constant("s", [np.nan]), node("y", "StridedSlice", "x b b s")),
    "caffe: a scale of two axes for one": caffe_sample(
        networks.input_layer(x=(1, 2, 3)) + networks.layer("Scale", "scale_param { axis: 2 }"), [np.ones((2, 3), np.float32)]
    ),
    "caffe: a dimension that is false": caffe_sample(
        networks.input_layer(x=(1, 2)).replace("dim: 2", "dim: false") + networks.layer("ReLU")
    ),
    "caffe: an axis of 2^53": caffe_sample(
        networks.input_layer(x=(1, 4)) + networks.layer("InnerProduct", f"inner_product_param {{ num_output: 2 axis: {2**53} }}"),
        [np.ones((2, 4), np.float32), np.zeros(2, np.float32)],
    ),
    "caffe: a blob beyond numpy": caffe_sample(
        networks.input_layer(x=(1, 4)) + networks.layer("InnerProduct", "inner_product_param { num_output: 2 }"),
        [np.ones((2, 4), np.float32), np.zeros((0, 3), np.float32)],
    ),
    "caffe: a dimension of 64 bits": caffe_sample(networks.input_layer(x=(1, 2**63)) + networks.layer("ReLU")),
    "caffe: a number of 5,000 digits": caffe_sample(
        networks.input_layer(x=(1, 4)) + networks.layer("ReLU", f"relu_param {{ negative_slope: {'9' * 5000} }}")
    ),
    "mxnet: a kind with half of a surrogate pair": mxnet_sample({"op": "\udcf0", "name": "y", "inputs": [[0, 0, 0]]}),
    "mxnet: two axes that move to one place": mxnet_sample(
        {
            "op": "_np_moveaxis",
            "name": "y",
            "inputs": [[0, 0, 0]],
            "attrs": {"source": "(0, 1)", "destination": "(1,)"},
        }
    ),
    "mxnet: windows beyond memory": mxnet_sample(
        {"op": "im2col", "name": "y", "inputs": [[0, 0, 0]], "attrs": {"kernel": "(99999999, 99999999)"}}
    ),
    "mxnet: a padding of 5000 digits": mxnet_sample(
        {"op": "_npi_pad", "name": "y", "inputs": [[0, 0, 0]], "attrs": {"pad_width": f"(({'9' * 5000}, 0),)", "mode": "constant"}}
    ),
    "mxnet: infinite paddings": mxnet_sample(
        {"op": "Pooling", "name": "y", "inputs": [[0, 0, 0]], "attrs": {"kernel": "(3, 2)", "pad": "(1e999, 1)", "pool_type": "max"}}
    ),
    "mxnet: a pooled size of one entry": mxnet_sample(
        {
            "op": "_contrib_ROIAlign",
            "name": "y",
            "inputs": [[0, 0, 0], [0, 0, 0]],
            "attrs": {"pooled_size": "(2,)", "spatial_scale": "1.0"},
        }
    ),
    "mxnet: sizes without axes": mxnet_sample({"op": "broadcast_axis", "name": "y", "inputs": [[0, 0, 0]], "attrs": {"size": "(3, 4)"}}),
    "mxnet: a triangle of no square": mxnet_sample({"op": "_linalg_trmm", "name": "y", "inputs": [[0, 0, 0], [0, 0, 0]]}),
    "mxnet: parameters beyond numpy": huge_array,
    "mxnet: an infinite range": mxnet_sample(
        {"op": "_arange", "name": "a", "inputs": [], "attrs": {"start": "0", "stop": "1e300", "step": "1e-300"}},
        {"op": "broadcast_add", "name": "y", "inputs": [[0, 0, 0], [1, 0, 0]]},
    ),
    "ir: a range of 2^32 numbers": ir_sample(
        documents.net(
            [
                documents.layer(0, "Const", '<data element_type="i64" shape="" offset="0" size="8"/>', outs=documents.port(0)),
                documents.layer(1, "Const", '<data element_type="i64" shape="" offset="8" size="8"/>', outs=documents.port(0)),
                documents.layer(2, "Const", '<data element_type="i64" shape="" offset="16" size="8"/>', outs=documents.port(0)),
                documents.layer(3, "Parameter", '<data shape="4294967296" element_type="f32"/>', outs=documents.port(0)),
                documents.layer(
                    4,
                    "Range",
                    '<data output_type="f32"/>',
                    version="opset4",
                    ins="".join(map(documents.port, range(3))),
                    outs=documents.port(3),
                ),
                documents.layer(5, "Add", ins=documents.port(0) + documents.port(1), outs=documents.port(2)),
                documents.layer(6, "Result", ins=documents.port(0)),
            ],
            [
                *(documents.edge((index, 0), (4, index)) for index in range(3)),
                documents.edge((3, 0), (5, 0)),
                documents.edge((4, 3), (5, 1)),
                documents.edge((5, 2), (6, 0)),
            ],
        ),
        np.array([0, 1 << 32, 1], np.int64).tobytes(),
    ),
    "mxnet: subgraphs that are a number": mxnet_sample({"op": "relu", "name": "y", "inputs": [[0, 0, 0]], "subgraphs": 5}),
    "mxnet: a size of 100 digits": mxnet_sample({"op": "Crop", "name": "y", "inputs": [[0, 0, 0]], "attrs": {"h_w": f"({'9' * 100}, 2)"}}),
    "aten: a size below 0 among computed ones": exported_sample(["n", -2]),
    "ir: stable sorting without an order": ir_sample(
        documents.unary("TopK", '<data axis="1" mode="max" sort="none" stable="true" index_element_type="i32"/>', version="opset11", outs=2)
    ),
    "ir: a size of 5,000 digits": ir_sample(documents.constant("f32", "1" * 5000, 0, 0)),
    "ir: a constant beyond numpy": ir_sample(documents.constant("f32", f"0,{HUGE},{HUGE}", 0, 0)),
    "ir: an operation set that does not exist": ir_sample(documents.unary("Relu", version="opset../..")),
    "ir: an input of an unknown operation set": ir_sample(documents.unary("Relu").replace('version="opset1"', 'version="x"', 1)),
}
"""Models that were mended; a file that fails anew gets its smallest form here."""
