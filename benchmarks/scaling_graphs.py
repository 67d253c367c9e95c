"""Generated models of any number of operations, for `scaling.py`: every format, and every form in which a model grows.

Each function writes a model of about `size` operations into a folder and returns its path.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WIDTH = 8
DEPTH = 40
"""Ifs of `nesting` that stand in each other."""

LOOP_DEPTH = 20
"""Loops of `loops` that stand in each other."""


def saved(folder: Path, nodes: Sequence[onnx.NodeProto], initializers: Sequence[TensorProto] = (), outputs: Sequence[str] = ()) -> Path:
    """An ONNX model from `x` [batch, WIDTH] to `outputs`, by default to what the last node computes."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", WIDTH])
    results = [helper.make_empty_tensor_value_info(name) for name in outputs or nodes[-1].output[:1]]
    graph = helper.make_graph(nodes, "generated", [x], results, initializers)
    path = folder / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def initializer(name: str, values: object, kind: type = np.int64) -> TensorProto:
    """An initializer."""
    return numpy_helper.from_array(np.array(values, kind), name)


def chain(size: int, folder: Path) -> Path:
    """MatMul, Add, Relu, Tanh, and so on; every MatMul and Add has weights of its own."""
    random = np.random.default_rng(0)
    nodes: list[onnx.NodeProto] = []
    initializers: list[TensorProto] = []
    value = "x"
    for index in range(size):
        kind = ("MatMul", "Add", "Relu", "Tanh")[index % 4]
        inputs = [value]
        if index % 4 < 2:
            shape = (WIDTH, WIDTH) if kind == "MatMul" else (WIDTH,)
            initializers.append(numpy_helper.from_array(random.standard_normal(shape, dtype=np.float32), f"w{index}"))
            inputs.append(f"w{index}")
        value = f"v{index}"
        nodes.append(helper.make_node(kind, inputs, [value], f"node{index}"))
    return saved(folder, nodes, initializers)


def branches(size: int, folder: Path) -> Path:
    """Blocks of ten nodes: two branches of which one is reshaped to a shape computed at run time, then added to the other."""
    numbers = {"first": 0, "axis": [0], "parts": [2, WIDTH // 2], "width": [WIDTH]}
    initializers = [initializer(name, values) for name, values in numbers.items()]
    nodes: list[onnx.NodeProto] = []
    value = "x"
    for block in range(max(1, size // 10)):

        def add(kind: str, *inputs: str, block: int = block, **attributes: int) -> str:
            name = f"b{block}_{len(nodes)}"
            nodes.append(helper.make_node(kind, inputs, [name], f"{kind}_{name}", **attributes))
            return name

        first = add("Unsqueeze", add("Gather", add("Shape", value), "first", axis=0), "axis")
        left = add("Reshape", add("Sigmoid", value), add("Concat", first, "parts", axis=0))
        left = add("Reshape", left, add("Concat", first, "width", axis=0))
        value = add("Add", left, add("Tanh", value))
    return saved(folder, nodes, initializers)


def shapes(size: int, folder: Path) -> Path:
    """A chain of Relu, Shape and Reshape: all data have one shape, which is asked for again and again."""
    nodes: list[onnx.NodeProto] = []
    value = "x"
    for index in range(size // 4):
        nodes.append(helper.make_node(("Relu", "Tanh")[index % 2], [value], [f"d{index}"], f"data{index}"))
        nodes.append(helper.make_node("Shape", [f"d{index}"], [f"s{index}"], f"shape{index}"))
        nodes.append(helper.make_node("Reshape", ["x", f"s{index}"], [f"r{index}"], f"reshape{index}"))
        nodes.append(helper.make_node("Add", [f"d{index}", f"r{index}"], [f"v{index}"], f"sum{index}"))
        value = f"v{index}"
    return saved(folder, nodes)


def wide(size: int, folder: Path) -> Path:
    """One Concat of as many operands as the model has nodes, all of one value."""
    nodes = [helper.make_node(("Relu", "Identity")[index % 2], ["x"], [f"v{index}"], f"node{index}") for index in range(size)]
    return saved(folder, [*nodes, helper.make_node("Concat", [f"v{index}" for index in range(size)], ["y"], "y", axis=1)])


def growing(size: int, folder: Path) -> Path:
    """A chain of Concats, each of which joins one value more, and of operations of one value that differ in a property."""
    nodes: list[onnx.NodeProto] = []
    value = "x"
    for index in range(size // 2):
        nodes.append(helper.make_node("Elu", ["x"], [f"e{index}"], f"elu{index}", alpha=float(index)))
        nodes.append(helper.make_node("Concat", [value, f"e{index}"], [f"v{index}"], f"node{index}", axis=0))
        value = f"v{index}"
    return saved(folder, nodes)


def parts(size: int, folder: Path) -> Path:
    """One Split of many results, each with a node after it, and an output of each of the first ten."""
    nodes = [helper.make_node("Tile", ["x", "repeats"], ["long"], "long")]
    nodes.append(helper.make_node("Split", ["long"], [f"p{index}" for index in range(size)], "split", axis=1))
    nodes += [helper.make_node("Relu", [f"p{index}"], [f"v{index}"], f"node{index}") for index in range(size)]
    repeats = initializer("repeats", [1, size])
    return saved(folder, nodes, [repeats], [f"v{index}" for index in range(min(size, 10))])


def outputs(size: int, folder: Path) -> Path:
    """A model with as many outputs as nodes."""
    nodes = [helper.make_node("Relu", ["x"], [f"v{index}"], f"node{index}") for index in range(size)]
    return saved(folder, nodes, outputs=[f"v{index}" for index in range(size)])


def nesting(size: int, folder: Path) -> Path:
    """Ifs nested DEPTH deep, one nest after the other; each branch reads values around it."""

    def branch(node: onnx.NodeProto, name: str, result: str) -> onnx.GraphProto:
        # In place: to copy messages that stand in each other takes quadratic time.
        graph = node.attribute.add(name=name, type=onnx.AttributeProto.GRAPH).g
        graph.name = name
        graph.output.add(name=result)
        return graph

    def tower(nodes: Any, source: str, number: int, depth: int) -> str:
        result = f"r{number}_{depth}"
        if depth == DEPTH:
            # Another operation than that of the branches around it, as equal branches are one.
            nodes.add(op_type="Abs", input=[source], output=[result], name=result)
            return result
        node = nodes.add(op_type="If", input=["condition"], output=[result], name=result)
        other = branch(node, "else_branch", f"e{number}_{depth}")
        other.node.add(op_type="Relu", input=[source], output=[f"e{number}_{depth}"], name=f"e{number}_{depth}")
        then = branch(node, "then_branch", f"r{number}_{depth + 1}")
        tower(then.node, source, number, depth + 1)
        return result

    condition = [
        helper.make_node("ReduceSum", ["x"], ["sum"], "sum", keepdims=0),
        helper.make_node("Less", ["sum", "zero"], ["condition"], "condition"),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", WIDTH])
    graph = helper.make_graph(condition, "generated", [x], [], [initializer("zero", 0.0, np.float32)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    source = "x"
    for number in range(max(1, size // (2 * DEPTH))):
        source = tower(model.graph.node, source, number, 0)
    model.graph.output.add(name=source)
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def loops(size: int, folder: Path) -> Path:
    """Loops that stand in each other LOOP_DEPTH deep, one nest after the other; each body has ten other nodes."""

    def chained(nodes: Any, source: str, prefix: str) -> str:
        for index in range(10):
            nodes.add(op_type=("Relu", "Tanh")[index % 2], input=[source], output=[f"{prefix}_{index}"], name=f"{prefix}_{index}")
            source = f"{prefix}_{index}"
        return source

    def tower(nodes: Any, source: str, prefix: str, depth: int) -> str:
        node = nodes.add(op_type="Loop", input=["trips", "", source], output=[f"{prefix}_r"], name=f"{prefix}_r")
        body = node.attribute.add(name="body", type=onnx.AttributeProto.GRAPH).g
        body.name = f"{prefix}_body"
        body.input.extend(
            helper.make_tensor_value_info(f"{prefix}_{name}", type_, shape)
            for name, type_, shape in (
                ("i", TensorProto.INT64, []),
                ("c", TensorProto.BOOL, []),
                ("v", TensorProto.FLOAT, ["batch", WIDTH]),
            )
        )
        value = chained(body.node, f"{prefix}_v", prefix)
        if depth:
            value = tower(body.node, value, f"{prefix}_l", depth - 1)
        body.node.add(op_type="Identity", input=[f"{prefix}_c"], output=[f"{prefix}_co"], name=f"{prefix}_co")
        body.output.extend([helper.make_empty_tensor_value_info(f"{prefix}_co"), helper.make_empty_tensor_value_info(value)])
        return f"{prefix}_r"

    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", WIDTH])
    trips = helper.make_tensor_value_info("trips", TensorProto.INT64, [])
    model = helper.make_model(helper.make_graph([], "generated", [x, trips], []), opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    source = "x"
    depth = min(LOOP_DEPTH, max(1, size // 12))
    for number in range(max(1, size // (12 * depth))):
        source = tower(model.graph.node, source, f"t{number}", depth - 1)
    model.graph.output.add(name=source)
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def constants(size: int, folder: Path) -> Path:
    """Constant nodes whose sums are folded, one constant after the other."""
    nodes = [helper.make_node("Constant", [], ["c0"], "c0", value=initializer("", np.ones(WIDTH), np.float32))]
    for index in range(size // 2):
        one = initializer("", np.full(WIDTH, index), np.float32)
        nodes.append(helper.make_node("Constant", [], [f"d{index}"], f"d{index}", value=one))
        nodes.append(helper.make_node("Add", [f"c{index}", f"d{index}"], [f"c{index + 1}"], f"c{index + 1}"))
    return saved(folder, [*nodes, helper.make_node("Add", ["x", f"c{size // 2}"], ["y"], "y")])


def names(size: int, folder: Path) -> Path:
    """Nodes of three names: all have to be made unique, and one looks like those that have been."""
    nodes: list[onnx.NodeProto] = []
    value = "x"
    for index in range(size):
        nodes.append(helper.make_node(("Relu", "Tanh")[index % 2], [value], [f"v{index}"], ("node", "node_1", "")[index % 3]))
        value = f"v{index}"
    return saved(folder, nodes)


def functions(size: int, folder: Path) -> Path:
    """Calls of one function of ten nodes."""
    body = [helper.make_node(("Relu", "Tanh")[index % 2], [f"f{index}"], [f"f{index + 1}"], f"f{index}") for index in range(10)]
    opsets = [helper.make_opsetid("", 17)]
    function = helper.make_function("own", "Ten", ["f0"], ["f10"], body, opsets)
    value = "x"
    nodes: list[onnx.NodeProto] = []
    for index in range(max(1, size // 10)):
        nodes.append(helper.make_node("Ten", [value], [f"v{index}"], f"call{index}", domain="own"))
        value = f"v{index}"
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", WIDTH])
    graph = helper.make_graph(nodes, "generated", [x], [helper.make_empty_tensor_value_info(value)])
    model = helper.make_model(graph, opset_imports=[*opsets, helper.make_opsetid("own", 1)], functions=[function], ir_version=8)
    onnx.save(model, folder / "model.onnx")
    return folder / "model.onnx"


def tensorflow_graph(folder: Path, nodes: list[tuple[str, str, list[str]]], numbers: dict[str, object]) -> Path:
    """A frozen graph of TensorFlow from `x`; nodes are kind, name, inputs."""
    from tensorflow.core.framework import attr_value_pb2, graph_pb2, types_pb2
    from tensorflow.python.framework import tensor_util

    graph = graph_pb2.GraphDef()
    x = graph.node.add(op="Placeholder", name="x")
    x.attr["dtype"].type = types_pb2.DT_FLOAT
    x.attr["shape"].CopyFrom(attr_value_pb2.AttrValue())
    for size in (-1, WIDTH):
        x.attr["shape"].shape.dim.add(size=size)
    for name, value in numbers.items():
        constant = graph.node.add(op="Const", name=name)
        constant.attr["value"].tensor.CopyFrom(tensor_util.make_tensor_proto(value))
        constant.attr["dtype"].type = constant.attr["value"].tensor.dtype
    for kind, name, inputs in nodes:
        node = graph.node.add(op=kind, name=name, input=inputs)
        node.attr["T"].type = types_pb2.DT_INT32 if kind == "Reshape" and name.startswith("int") else types_pb2.DT_FLOAT
        if kind in ("AddN", "ConcatV2"):
            node.attr["N"].i = len(inputs) - (kind == "ConcatV2")
    path = folder / "model.pb"
    path.write_bytes(graph.SerializeToString())
    return path


def tf_chain(size: int, folder: Path) -> Path:
    """TensorFlow: MatMul, BiasAdd, Relu, Tanh, and so on, with weights of their own."""
    random = np.random.default_rng(0)
    numbers: dict[str, object] = {}
    nodes: list[tuple[str, str, list[str]]] = []
    value = "x"
    for index in range(size):
        kind = ("MatMul", "BiasAdd", "Relu", "Tanh")[index % 4]
        inputs = [value]
        if index % 4 < 2:
            numbers[f"w{index}"] = random.standard_normal((WIDTH, WIDTH) if kind == "MatMul" else (WIDTH,), dtype=np.float32)
            inputs.append(f"w{index}")
        value = f"v{index}"
        nodes.append((kind, value, inputs))
    return tensorflow_graph(folder, nodes, numbers)


def tf_shapes(size: int, folder: Path) -> Path:
    """TensorFlow: a chain of Shape and Reshape."""
    nodes: list[tuple[str, str, list[str]]] = []
    value = "x"
    for index in range(size // 2):
        nodes += [("Shape", f"s{index}", [value]), ("Reshape", f"v{index}", [value, f"s{index}"])]
        value = f"v{index}"
    return tensorflow_graph(folder, nodes, {})


def tf_wide(size: int, folder: Path) -> Path:
    """TensorFlow: one ConcatV2 of all other nodes."""
    nodes = [(("Relu", "Identity")[index % 2], f"v{index}", ["x"]) for index in range(size)]
    nodes.append(("ConcatV2", "y", [f"v{index}" for index in range(size)] + ["axis"]))
    return tensorflow_graph(folder, nodes, {"axis": np.int32(1)})


def mxnet_symbol(folder: Path, nodes: list[tuple[str, str, list[int], dict[str, str]]]) -> Path:
    """A symbol of MXNet; nodes are kind, name, numbers of their operands, attributes. The last one is the output."""
    variable = ("null", "data", [], {"__shape__": f"(2, {WIDTH})"})
    entries = [
        {"op": kind, "name": name, "inputs": [[index, 0, 0] for index in inputs], "attrs": attributes}
        for kind, name, inputs, attributes in (variable, *nodes)
    ]
    path = folder / "model-symbol.json"
    # The file of no parameters: its magic number, a reserved one, the numbers of arrays and of names.
    (folder / "model-0000.params").write_bytes(struct.pack("<4Q", 0x112, 0, 0, 0))
    path.write_text(json.dumps({"nodes": entries, "arg_nodes": [0], "heads": [[len(entries) - 1, 0, 0]]}))
    return path


def mxnet_chain(size: int, folder: Path) -> Path:
    """MXNet: relu, tanh, and so on."""
    return mxnet_symbol(folder, [(("relu", "tanh")[index % 2], f"v{index}", [index], {}) for index in range(size)])


def mxnet_wide(size: int, folder: Path) -> Path:
    """MXNet: one Concat of all other nodes."""
    nodes: list[tuple[str, str, list[int], dict[str, str]]] = [("relu", f"v{index}", [0], {}) for index in range(size)]
    nodes.append(("Concat", "y", list(range(1, size + 1)), {"num_args": str(size), "dim": "1"}))
    return mxnet_symbol(folder, nodes)


def field(number: int, content: bytes | str) -> bytes:
    """A field of a protobuf message that is bytes, text or a message."""
    content = content.encode() if isinstance(content, str) else content
    encoded = bytearray()
    for each in (number << 3 | 2, len(content)):
        while each > 0x7F:
            encoded.append(each & 0x7F | 0x80)
            each >>= 7
        encoded.append(each)
    return bytes(encoded) + content


def caffe_network(folder: Path, layers: Sequence[tuple[str, str, Sequence[str], str]]) -> Path:
    """A network of Caffe without weights from `x`, and its text; layers are name, type, bottoms, top."""
    (folder / "model.prototxt").write_text(
        f'input: "x" input_shape {{ dim: 2 dim: {WIDTH} }}\n'
        + "".join(
            f'layer {{ name: "{name}" type: "{kind}" {" ".join(f"""bottom: "{each}" """ for each in bottoms)}top: "{top}" }}\n'
            for name, kind, bottoms, top in layers
        )
    )
    encoded = [field(1, "generated")]
    for name, kind, bottoms, top in layers:
        encoded.append(field(100, b"".join([field(1, name), field(2, kind), *(field(3, each) for each in bottoms), field(4, top)])))
    path = folder / "model.caffemodel"
    path.write_bytes(b"".join(encoded))
    return path


def caffe_chain(size: int, folder: Path) -> Path:
    """Caffe: ReLU, TanH, and so on, half of them in place."""
    layers = [
        (f"l{index}", ("TanH", "ReLU")[index % 2], [f"v{(index - 1) // 2}" if index else "x"], f"v{index // 2}") for index in range(size)
    ]
    return caffe_network(folder, layers)


def caffe_wide(size: int, folder: Path) -> Path:
    """Caffe: one Concat of all other layers."""
    layers = [(f"l{index}", "ReLU", ["x"], f"v{index}") for index in range(size)]
    return caffe_network(folder, [*layers, ("y", "Concat", [f"v{index}" for index in range(size)], "y")])


def ir_document(folder: Path, layers: Sequence[str], edges: Sequence[tuple[int, int, int]]) -> Path:
    """An IR of layers after a Parameter; edges are layer, layer, input of the second."""
    data = f'<data shape="2,{WIDTH}" element_type="f32"/>'
    parameter = f'<layer id="0" name="x" type="Parameter" version="opset1">{data}<output>{ir_port(0)}</output></layer>'
    wired = "".join(f'<edge from-layer="{a}" from-port="{1 if a else 0}" to-layer="{b}" to-port="{index}"/>' for a, b, index in edges)
    text = f'<net name="m" version="11"><layers>{parameter}{"".join(layers)}</layers><edges>{wired}</edges></net>'
    path = folder / "model.xml"
    path.write_text(text)
    (folder / "model.bin").write_bytes(b"")
    return path


def ir_port(index: int, width: int = WIDTH) -> str:
    """A port of a layer."""
    return f'<port id="{index}" precision="FP32"><dim>2</dim><dim>{width}</dim></port>'


def ir_layer(number: int, kind: str, inputs: int, data: str = "", width: int = WIDTH) -> str:
    """A layer of an IR with `inputs` operands of WIDTH columns and a result of `width` columns."""
    ports = f"<input>{''.join(map(ir_port, range(inputs)))}</input><output>{ir_port(max(1, inputs), width)}</output>"
    return f'<layer id="{number}" name="l{number}" type="{kind}" version="opset1">{data}{ports}</layer>'


def ir_chain(size: int, folder: Path) -> Path:
    """IR: ReLU, Tanh, and so on."""
    layers = [ir_layer(index + 1, ("ReLU", "Tanh")[index % 2], 1) for index in range(size)]
    layers.append(f'<layer id="{size + 1}" name="y" type="Result" version="opset1"><input><port id="0"/></input></layer>')
    return ir_document(folder, layers, [(index, index + 1, 0) for index in range(size + 1)])


def ir_wide(size: int, folder: Path) -> Path:
    """IR: one Concat of all other layers."""
    layers = [ir_layer(index + 1, "ReLU", 1) for index in range(size)]
    concat = size + 1
    layers.append(ir_layer(concat, "Concat", size, '<data axis="1"/>', WIDTH * size))
    relu = size + 2
    layers.append(f'<layer id="{relu}" name="y" type="Result" version="opset1"><input><port id="0"/></input></layer>')
    edges = [(0, index + 1, 0) for index in range(size)] + [(index + 1, concat, index) for index in range(size)]
    path = ir_document(folder, layers, edges)
    text = path.read_text().replace("</edges>", f'<edge from-layer="{concat}" from-port="{size}" to-layer="{relu}" to-port="0"/></edges>')
    path.write_text(text)
    return path


FAMILIES: dict[str, Callable[[int, Path], Path]] = {
    "chain": chain,
    "branches": branches,
    "shapes": shapes,
    "wide": wide,
    "growing": growing,
    "parts": parts,
    "outputs": outputs,
    "nesting": nesting,
    "loops": loops,
    "constants": constants,
    "names": names,
    "functions": functions,
    "tf-chain": tf_chain,
    "tf-shapes": tf_shapes,
    "tf-wide": tf_wide,
    "mxnet-chain": mxnet_chain,
    "mxnet-wide": mxnet_wide,
    "caffe-chain": caffe_chain,
    "caffe-wide": caffe_wide,
    "ir-chain": ir_chain,
    "ir-wide": ir_wide,
}
