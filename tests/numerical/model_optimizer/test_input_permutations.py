"""Inputs and attributes of an extension's operation that count axes of data: for [N, C, …] as in Model Optimizer."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
import tensorflow as tf

from moir.errors import ConversionError
from tests.numerical.model_optimizer.conversion import Converted, write
from tests.numerical.tensorflow import conversion as tensorflow_conversion

RNG = np.random.default_rng(3)
X = RNG.normal(size=(1, 6, 5, 3)).astype(np.float32)
WEIGHTS = RNG.normal(size=(3, 3, 3, 4)).astype(np.float32)

COUNTING = """
    import numpy as np
    from mo.front.common.partial_infer.utils import int64_array
    from mo.front.common.replacement import FrontReplacementOp
    from mo.graph.perm_inputs import PermuteInputs
    from mo.ops.const import Const
    from mo.ops.op import Op, PermuteAttrs
    from mo.ops.shape import Shape

    class Counting(Op):
        op = 'Counting'

        def __init__(self, graph, attrs):
            super().__init__(graph, {{'type': self.op, 'op': self.op, 'version': 'extension', 'infer': self.infer, 'axis': -1,
                                     'in_ports_count': 2, 'out_ports_count': 1}}, attrs)

        def backend_attrs(self):
            return ['axis', 'pads']

        @staticmethod
        def infer(node):
            value = node.in_port(1).data.get_value()
            if {checks}:
                assert value is not None and value.tolist() == {value}, value
            node.out_port(0).data.set_shape(node.in_port(0).data.get_shape())
            PermuteInputs().set_input_permutation(node.in_node(1), node, 'input:0', '{rule}')
            PermuteAttrs.create_permute_attrs(node, attrs=[('axis', 'input:0'), ('pads', 'input:0')])

    class Replacing(FrontReplacementOp):
        op = '{replaced}'
        enabled = True

        def replace_op(self, graph, node):
            value = {source}
            made = Counting(graph, {{'name': 'mine', 'pads': np.arange({rank})}}).create_node([node.in_node(0), value])
            return [made.id]
    """


def counting(rule: str, value: object, source: str = "", replaced: str = "ReLU", rank: int = 4, checks: bool = True) -> dict[str, str]:
    source = source or f"Const(graph, {{'value': int64_array({value})}}).create_node()"
    text = COUNTING.format(rule=rule, value=value, source=source, replaced=replaced, rank=rank, checks=checks)
    return {"front/counting.py": text}


def convolved(x):
    return tf.nn.elu(tf.nn.relu(tf.nn.conv2d(x, WEIGHTS, 1, "SAME")))


def written(converted: Converted) -> object:
    """The constant at input 1 of the operation, which the runtime does not know."""
    root = ElementTree.parse(converted.path).getroot()
    mine = converted.layer("Counting").get("id")
    (producer,) = [edge.get("from-layer") for edge in root.iter("edge") if (edge.get("to-layer"), edge.get("to-port")) == (mine, "1")]
    (data,) = [layer.find("data") for layer in converted.layers if (layer.get("id"), layer.get("type")) == (producer, "Const")]
    assert data is not None
    start, size = int(data.get("offset", "")), int(data.get("size", ""))
    shape = [int(item) for item in data.get("shape", "").split(",") if item]
    return np.frombuffer(converted.path.with_suffix(".bin").read_bytes()[start : start + size], np.int64).reshape(shape).tolist()


RULES = {
    "axis": ("axis", 3, 1),
    "negative axes": ("axis", [-1, 1], [1, 2]),
    "order": ("order", [0, 1, 3, 2], [0, 3, 2, 1]),
    "shape": ("shape", [1, 20, 30, 4], [1, 4, 20, 30]),
    "pads": ("shape", [[0, 0], [1, 2], [3, 4], [5, 6]], [[0, 0], [5, 6], [1, 2], [3, 4]]),
    "slice": ("slice", [7, 8, 9, 5], [7, 5, 8, 9]),
    "short slice": ("slice", [7, 8], [7, 8]),
}


@pytest.mark.parametrize(("rule", "value", "expected"), RULES.values(), ids=RULES)
def test_an_input_follows_the_layout(tmp_path, rule, value, expected):
    graph, _ = tensorflow_conversion.build(convolved, {"x": X})
    converted = Converted.of(graph, tmp_path, extensions=[write(tmp_path / "my_extension", counting(rule, value))])
    assert converted.shape("Counting") == [1, 4, 6, 5]
    assert converted.attributes("Counting") == {"axis": "1", "pads": "0,3,1,2"}
    assert written(converted) == expected


def test_an_input_keeps_the_layout_of_the_framework_on_request(tmp_path):
    graph, _ = tensorflow_conversion.build(convolved, {"x": X})
    extension = write(tmp_path / "my_extension", counting("axis", 3))
    converted = Converted.of(graph, tmp_path, extensions=[extension], extension_layout="framework")
    assert (converted.attributes("Counting")["axis"], written(converted)) == ("-1", 3)


def test_five_axes(tmp_path):
    x = RNG.normal(size=(1, 3, 6, 5, 2)).astype(np.float32)
    weights = RNG.normal(size=(1, 3, 3, 2, 4)).astype(np.float32)
    graph, _ = tensorflow_conversion.build(lambda x: tf.nn.elu(tf.nn.relu(tf.nn.conv3d(x, weights, [1] * 5, "SAME"))), {"x": x})
    extension = write(tmp_path / "my_extension", counting("shape", [1, 3, 6, 5, 4], rank=5))
    converted = Converted.of(graph, tmp_path, extensions=[extension])
    assert converted.shape("Counting") == [1, 4, 3, 6, 5]
    assert converted.attributes("Counting") == {"axis": "1", "pads": "0,4,1,2,3"}
    assert written(converted) == [1, 4, 3, 6, 5]
    assert converted.types.count("Transpose") == 2


def test_an_input_that_is_computed(tmp_path):
    files = counting("shape", None, "Shape(graph, {}).create_node([node.in_node(0)])", checks=False)
    graph, _ = tensorflow_conversion.build(convolved, {"x": X})
    converted = Converted.of(graph, tmp_path, extensions=[write(tmp_path / "my_extension", files)], input="x[?,6,5,3]")
    assert {"ShapeOf", "Gather"} & set(converted.types)
    assert converted.shape("Counting") == [-1, 4, 6, 5]


def test_the_model_is_reshaped(tmp_path):
    """`infer` gets the value for the axes of the framework again."""
    files = counting("axis", [3])
    graph, _ = tensorflow_conversion.build(convolved, {"x": X})
    converted = Converted.of(graph, tmp_path, extensions=[write(tmp_path / "my_extension", files)], input="x[4,6,5,3]")
    assert converted.shape("Counting") == [4, 4, 6, 5]
    assert written(converted) == [1]


MISTAKES = {
    "rule": (counting("axes", 3), r"counting\.py.*'mine': .*no rule 'axes'.*did you mean axis\?"),
    "entries": (counting("shape", [1, 2, 3]), r"'mine': its input 1 has 3 entries, and its data at input:0 has 4 axes"),
}


@pytest.mark.parametrize(("files", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistake(tmp_path, files, message):
    graph, _ = tensorflow_conversion.build(convolved, {"x": X})
    with pytest.raises(ConversionError, match=message):
        Converted.of(graph, tmp_path, extensions=[write(tmp_path / "my_extension", files)])
