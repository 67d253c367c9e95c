"""A network with a part for each kind of mistake that a converter can make."""

from __future__ import annotations

from functools import cache

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

CHANNELS, SIZE = 4, 6
SHAPE = (1, CHANNELS, SIZE, SIZE)


class Network:
    """Builds an ONNX model node by node; a node has the name of its only result."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.random = np.random.default_rng(5)

    def constant(self, array: object, dtype: type = np.float32) -> str:
        """An initializer."""
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array, dtype), name))
        return name

    def node(self, kind: str, *inputs: str, name: str = "", **attributes: object) -> str:
        """The result of a node."""
        name = name or f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=name, **attributes))
        return name

    def block(self, x: str) -> str:
        """Five operations that keep numbers about as large as they are, and that the plugin does not fuse with others."""
        shifted = self.node("Add", x, self.constant(self.random.normal(size=(1, CHANNELS, 1, 1)) * 0.1))
        factor = self.node("Mul", shifted, self.constant(1 + self.random.normal(size=(1, CHANNELS, 1, 1)) * 0.1))
        left, right = (f"{side}_{len(self.nodes)}" for side in ("left", "right"))
        self.nodes.append(helper.make_node("Split", [factor], [left, right], name=left, axis=1))
        return self.node("Sub", self.node("Concat", right, left, axis=1), self.constant(np.full((1, 1, 1, 1), 0.1)))

    def convolution(self, x: str, size: int, pads: int, name: str) -> str:
        """A convolution that keeps the number of channels."""
        weight = self.random.normal(size=(CHANNELS, CHANNELS, size, size)) / (size * 2)
        return self.node("Conv", x, self.constant(weight), name=name, kernel_shape=[size] * 2, pads=[pads] * 4)


def body() -> onnx.GraphProto:
    """The body of a loop with three states, the last of which it neither changes nor reads.

    Of the tensor `outside` it reads the number of channels alone, which weights determine.
    """
    values = [("i", TensorProto.INT64, []), ("again", TensorProto.BOOL, []), *[(s, TensorProto.FLOAT, SHAPE) for s in ("a", "b", "c")]]
    nodes = [
        helper.make_node("Identity", ["again"], ["again_out"]),
        helper.make_node("Add", ["a", "b"], ["a_out"], name="body_add"),
        helper.make_node("Shape", ["outside"], ["shape_inside"]),
        helper.make_node("Gather", ["shape_inside", "one"], ["channels"]),
        helper.make_node("Cast", ["channels"], ["count"], to=TensorProto.FLOAT),
        helper.make_node("Div", ["b", "count"], ["b_out"], name="body_divide"),
        helper.make_node("Identity", ["c"], ["c_out"]),
    ]
    results = [("again_out", TensorProto.BOOL, []), *[(s, TensorProto.FLOAT, SHAPE) for s in ("a_out", "b_out", "c_out")]]
    one = numpy_helper.from_array(np.array(1), "one")
    ports = ([helper.make_tensor_value_info(*each) for each in each_of] for each_of in (values, results))
    return helper.make_graph(nodes, "body", *ports, initializer=[one])


@cache
def network(distance: int) -> onnx.ModelProto:
    """The model: an input `x`, an output `y`, and between them all parts, with twenty times `distance` blocks between
    them.
    """
    net = Network()
    x = "x"
    for block in range(20 * distance + 1):
        x = net.block(x)
        number, rest = divmod(5 * block, distance)
        if rest:
            continue
        if number == 20:
            turned = net.node("Transpose", net.constant(net.random.normal(size=(SIZE, SIZE)) / 3), name="turned", perm=[1, 0])
            # The plugin refuses the sum of a product by weights in f16 and a number for each channel.
            x = net.node("Transpose", net.node("MatMul", x, turned, name="times_turned"), perm=[0, 1, 3, 2])
        elif number == 15:
            last = net.node("Softmax", net.node("Transpose", x, perm=[0, 2, 3, 1]), name="along_rows", axis=1)
            x = net.node("Add", x, net.node("Transpose", last, perm=[0, 3, 1, 2]))
        elif number == 50:
            padded = net.node("Pad", x, net.constant([0, 0, 1, 1, 0, 0, 1, 1], np.int64), name="padded")
            x = net.convolution(padded, 3, 0, "of_padded")
        elif number == 60:
            rounded = net.node("Round", net.node("Mul", x, net.constant(4)), name="rounded")
            x = net.node("Mul", rounded, net.constant(0.25))
        elif number == 70:
            shape = net.node("Shape", x, name="shape")
            rows = net.node("Gather", shape, net.constant([2], np.int64), name="rows")
            first = net.node("Gather", shape, net.constant([0], np.int64), name="first")
            target = net.node("Concat", first, net.constant([-1], np.int64), rows, name="target", axis=0)
            flat = net.node("Reshape", x, target, name="flat")
            summed = net.node("ReduceSum", flat, net.constant([2], np.int64), name="sums", keepdims=0)
            largest = net.node("ReduceMax", summed, name="largest", axes=[1], keepdims=1)
            x = net.node("Add", x, net.node("Reshape", largest, net.constant([-1, 1, 1, 1], np.int64), name="back"))
        elif number == 80:
            net.node("Neg", x, name="outside")
            net.nodes.append(
                helper.make_node(
                    "Loop",
                    [net.constant(3, np.int64), "", x, net.node("Neg", x), net.node("Abs", x)],
                    ["l0", "l1", "l2"],
                    name="loop",
                    body=body(),
                )
            )
            x = net.node("Add", net.node("Add", "l0", "l1", name="loop_sum"), "l2", name="loop_result")
        elif number == 90:
            mean = net.node("ReduceMean", x, axes=[1, 2, 3])
            x = net.node("LeakyRelu", net.node("Sub", x, mean), name="leaky")
        elif number == 100:
            large = net.convolution(x, 1, 0, "large")
            net.weights[-1] = numpy_helper.from_array(numpy_helper.to_array(net.weights[-1]) * 1e6, net.weights[-1].name)
            x = net.node("Mul", net.node("Transpose", large, perm=[0, 1, 3, 2]), net.constant(1e-6))
    graph = helper.make_graph(
        [*net.nodes, helper.make_node("Identity", [x], ["y"], name="y")],
        "network",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", *SHAPE[1:]])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", *SHAPE[1:]])],
        initializer=net.weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
