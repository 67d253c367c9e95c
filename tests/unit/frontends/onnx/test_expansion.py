"""Operations replaced by the functions ONNX defines them as, checked with ONNX's own evaluator."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto, NodeProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from xdsl.dialects.builtin import ModuleOp

from moir.dialects.data import DataAttr
from moir.dialects.moir import is_none
from moir.dialects.properties import value_of
from moir.errors import ConversionError
from moir.frontends.onnx.expansion import expand
from tests.unit.frontends.onnx.samples import FLOAT, branch, graph, initializer, model, names, node, operations, read, value


def exported(module: ModuleOp, shape: list[int], inputs: int, opset: int) -> ModelProto:
    """The operations of a flat module as an ONNX model again; values are named by number."""
    numbers: dict[object, str] = {}
    nodes: list[NodeProto] = []
    tensors, outputs = [], []
    for op in operations(module):
        operands = ["" if is_none(operand.owner) else numbers[operand] for operand in op.operands]
        results = [numbers.setdefault(result, f"v{len(numbers)}") for result in op.results]
        if op.name == "opset1.Constant":
            tensors.append(numpy_helper.from_array(np.array(op.properties["value"].array), results[0]))
        elif op.name == "opset1.Result":
            outputs += operands
        elif op.name.startswith("onnx."):
            attributes = {
                name: numpy_helper.from_array(item.array) if isinstance(item, DataAttr) else value_of(item)
                for name, item in op.properties.items()
            }
            nodes.append(helper.make_node(op.KIND, operands, results, **attributes))
    given = [value(f"v{index}", shape) for index in range(inputs)]
    return model(graph(nodes, given, [value(name) for name in outputs], tensors), opset=opset)


CASES = [
    ("Gelu", 20, 1, {}),
    ("Gelu", 26, 1, {"approximate": "tanh"}),
    ("HardSwish", 22, 1, {}),
    ("Celu", 17, 1, {"alpha": 0.5}),
    ("Selu", 22, 1, {}),
    ("Mish", 23, 1, {}),
    ("Shrink", 17, 1, {"lambd": 0.3, "bias": 0.1}),
    ("ThresholdedRelu", 17, 1, {}),
    ("Softmax", 13, 1, {"axis": 1}),
    ("LogSoftmax", 26, 1, {}),
    ("PRelu", 17, 2, {}),
    ("ReduceLogSum", 18, 1, {"keepdims": 0}),
    ("MeanVarianceNormalization", 18, 1, {}),
]


@pytest.mark.parametrize(("kind", "opset", "inputs", "attributes"), CASES)
def test_the_definition_computes_the_same(tmp_path, kind, opset, inputs, attributes):
    shape = [2, 3, 4, 5]
    given = [f"x{index}" for index in range(inputs)]
    proto = model(
        graph([helper.make_node(kind, given, ["y"], name="op", **attributes)], [value(name, shape) for name in given], [value("y")]),
        opset=opset,
    )
    module = read(proto, tmp_path)
    (op,) = operations(module, f"onnx.{kind}")
    before = len(operations(module))
    (replacement,) = expand(op, opset)
    assert len(operations(module)) > before
    op.results[0].replace_all_uses_with(replacement)
    op.detach()
    op.erase()
    module.verify()
    arrays = [np.random.default_rng(7 + index).uniform(0.1, 2, shape).astype(np.float32) for index in range(inputs)]
    expected = ReferenceEvaluator(proto).run(None, dict(zip(given, arrays, strict=True)))[0]
    rebuilt = ReferenceEvaluator(exported(module, shape, inputs, opset))
    actual = rebuilt.run(None, {f"v{index}": array for index, array in enumerate(arrays)})[0]
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5)


def test_optional_operands_and_results(tmp_path):
    shape = [2, 3, 4]
    content = graph([node("LayerNormalization", "x s _", "y", name="ln")], [value("x", shape), value("s", [4])], [value("y")])
    module = read(model(content), tmp_path)
    (op,) = operations(module, "onnx.LayerNormalization")
    assert len(expand(op, 17)) == 1
    made = [item for item in operations(module) if item.name.startswith("onnx.") and item is not op]
    assert made
    assert all(name.startswith("ln/") for name in names(made))
    assert all("tensor_names" not in item.attributes for item in made)
    assert operations(module).index(made[-1]) < operations(module).index(op)


def test_constant_operands_stay_constants(tmp_path):
    content = graph([node("Clip", "x low high", "y")], [value("x", [4])], [value("y")], [initializer("low", 0), initializer("high", 1)])
    module = read(model(content), tmp_path)
    assert len(expand(operations(module, "onnx.Clip")[0], 17)) == 1


@pytest.mark.parametrize(
    ("made", "opset"),
    [
        (node("Relu6000", "x", "y"), 17),
        (node("Conv", "x", "y"), 17),
        (node("Gelu", "x", "y"), 17),
        (node("Gelu", "x", "y", domain="com.microsoft"), 20),
        (node("If", "x", "y", then_branch=branch("t", [], "x"), else_branch=branch("e", [], "x")), 20),
    ],
)
def test_operations_without_definition(tmp_path, made, opset):
    module = read(model(graph([made], [value("x", [1], FLOAT)], [value("y")]), opset=opset), tmp_path)
    (op,) = (item for item in operations(module) if item.name.startswith("onnx."))
    before = len(operations(module))
    assert expand(op, opset) is None
    assert len(operations(module)) == before


def test_attributes_that_contradict_the_schema(tmp_path):
    module = read(model(graph([node("LeakyRelu", "x", "y", name="n", alpha="text")], [value("x")], [value("y")])), tmp_path)
    with pytest.raises(ConversionError, match=r"onnx\.LeakyRelu 'n': its ONNX definition cannot be used"):
        expand(operations(module, "onnx.LeakyRelu")[0], 17)


def test_unknown_types_do_not_matter(tmp_path):
    module = read(model(graph([node("Foo", "x", "h"), node("Relu", "h", "y")], [value("x")], [value("y")]), opset=18), tmp_path)
    assert len(expand(operations(module, "onnx.Relu")[0], 18)) == 1
