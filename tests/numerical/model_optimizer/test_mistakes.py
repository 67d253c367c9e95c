"""Extensions with mistakes: each is one error that says where it is, and nothing of it is left for the next conversion."""

from __future__ import annotations

import re

import pytest

from moir.errors import ConversionError
from tests.numerical.model_optimizer.conversion import RELU, Converted, X, appending, convert
from tests.numerical.onnx.conversion import build, expected_results, node
from tests.numerical.runtime import compare

FRONT_HEAD = """\
from mo.front.common.replacement import FrontReplacementPattern, FrontReplacementOp
from mo.graph.graph import Node
from mo.ops.op import Op
"""


def replacing(body: str, base: str = "FrontReplacementOp") -> dict[str, str]:
    """A transformation of Relu with this body of `replace_op`."""
    lines = "\n".join(f"        {line}" for line in body.splitlines())
    return {"front/wrong.py": f"{FRONT_HEAD}class Wrong({base}):\n    op = 'ReLU'\n    def replace_op(self, graph, node):\n{lines}\n"}


OWN_OP = "return [Op(graph, dict(op='Own', name='own', {})).create_node([node.in_node(0)]).id]"

ORDERED = f"""{FRONT_HEAD}
class {{name}}(FrontReplacementPattern):
    def run_after(self):
        from my_extension.front.{{other}} import {{class_}}
        return [{{class_}}]

    def find_and_replace_pattern(self, graph):
        pass
"""

MISTAKES: dict[str, tuple[dict[str, str], str]] = {
    "syntax": ({"front/wrong.py": "class Wrong(:\n"}, r"front/wrong\.py:1\b.*syntax"),
    "missing module": ({"front/wrong.py": "\nimport no_such_module\n"}, r"front/wrong\.py:2\b.*no_such_module"),
    "unknown name of Model Optimizer": (
        {"front/wrong.py": "from mo.graph.graph import Grahp\n"},
        r"front/wrong\.py:1\b.*Grahp",
    ),
    "unknown module of Model Optimizer": (
        {"front/wrong.py": "from mo.grahp.graph import Graph\n"},
        r"front/wrong\.py:1\b.*grahp.*graph",
    ),
    "nothing defined": (
        {"front/wrong.py": f"{FRONT_HEAD}class Wrong(FrontReplacementOp):\n    op = 'ReLU'\n"},
        r"wrong\.py:\d+\b.*Wrong.*replace_sub_graph|wrong\.py.*replace_op",
    ),
    "equal ids": (
        {
            "front/a.py": appending("A", "id = 'same'"),
            "front/b.py": appending("B", "id = 'same'"),
        },
        r"id 'same' is in .*a\.py already",
    ),
    "exception": (replacing("raise KeyError('surprise')"), r"transformation wrong .*wrong\.py:7\b.*KeyError.*surprise"),
    "error": (replacing("from mo.utils.error import Error\nraise Error('no {} here', node.name)"), r"wrong\.py:8\b.*no relu here"),
    "unknown attribute": (replacing("return [node.beta]"), r"wrong\.py:7\b.*node 'relu' \(ReLU\) has no attribute 'beta'"),
    "unknown node": (replacing("return [Node(graph, 'rleu').id]"), r"wrong\.py:7\b.*no node 'rleu'"),
    "unknown port": (replacing("return [node.in_port(3).get_source().node.id]"), r"wrong\.py:7\b.*'relu': it has no input port 3"),
    "unknown id returned": (replacing("return ['nobody']"), r"no node 'nobody'"),
    "itself returned": (replacing("return [node.id]"), r"'relu': replace_op returns the node it replaces"),
    "nothing returned": (replacing("return []"), r"'relu': replace_op returns nothing for its output 0, which \S+ takes"),
    "port left disconnected": (
        replacing("from mo.ops.elementwise import Add\nreturn [Add(graph, dict(name='sum')).create_node([node.in_node(0)]).id]"),
        r"wrong\.py:8 \(Wrong\.replace_op\).*'sum'.*port 1",
    ),
    "cycle": (
        {
            "front/wrong.py": f"{FRONT_HEAD}class Wrong(FrontReplacementPattern):\n    def find_and_replace_pattern(self, graph):\n"
            "        node, = graph.get_op_nodes(op='ReLU')\n        node.out_port(0).connect(node.in_port(0))\n"
        },
        r"cycle: relu -> relu",
    ),
    "no type": (
        replacing(OWN_OP.format("infer=lambda n: n.out_port(0).data.set_shape(n.in_port(0).data.get_shape())")),
        r"(?s)Own.*own.*type",
    ),
    "no type and no infer": (replacing(OWN_OP.format("foo=1")), r"(?s)Own.*'own'"),
    "undefined shape": (
        replacing(OWN_OP.format("type='Own', infer=lambda n: None")),
        r"wrong\.py:7: Own 'own'.*left the shape of output 0 undefined",
    ),
    "failing infer": (replacing(OWN_OP.format("type='Own', infer=lambda n: 1 / 0")), r"'own'.*infer failed: ZeroDivisionError"),
    "unknown Op class": (
        replacing("return [Op.get_op_class_by_name('Missing')(graph, {}).create_node().id]"),
        r"wrong\.py:7\b.*no Op class for 'Missing'",
    ),
    "record": (
        replacing(
            "class Bad(Op):\n    def backend_attrs(self):\n        return [1]\n"
            "infer = lambda n: n.out_port(0).data.set_shape([1])\n"
            "return [Bad(graph, dict(op='Bad', type='Bad', name='bad', infer=infer)).create_node([node.in_node(0)]).id]"
        ),
        r"'bad'.*record",
    ),
    "extractor that refuses": (
        {
            "front/onnx/wrong_ext.py": "from mo.front.extractor import FrontExtractorOp\nclass WrongExtractor(FrontExtractorOp):\n"
            "    op = 'Relu'\n    @classmethod\n    def extract(cls, node):\n        return False\n"
        },
        r"'relu': \S+wrong_ext\.py:4: its extractor WrongExtractor says it is not supported",
    ),
    "port outside of infer": (
        replacing(OWN_OP.format("type='Own', infer=lambda n: n.in_port(3)")),
        r"wrong\.py:7: Own 'own': it has no input port 3",
    ),
    "misspelled method in infer": (
        replacing(OWN_OP.format("type='Own', infer=lambda n: n.out_prot(0)")),
        r"wrong\.py:7: Own 'own'.*did you mean out_port",
    ),
    "type of another operation set": (
        replacing(OWN_OP.format("type='Mish', version='opset1', infer=lambda n: n.out_port(0).data.set_shape([1])")),
        r"wrong\.py:7 \(Wrong\.replace_op\): mo\.Own 'own': opset1 has no operation Mish; it is in opset4 and later",
    ),
    "misspelled type": (
        replacing(OWN_OP.format("type='Softmaxx', version='opset8', infer=lambda n: n.out_port(0).data.set_shape([1])")),
        r"wrong\.py:7 \(Wrong\.replace_op\): mo\.Own 'own': opset8 has no operation Softmaxx; did you mean SoftMax",
    ),
    "order": (
        {f"front/{name}.py": ORDERED.format(name=name.upper(), other=other, class_=other.upper()) for name, other in ("ab", "ba")},
        r"cycle: a -> b -> a \(A in \S+a\.py, B in \S+b\.py\)",
    ),
    "constant": (
        replacing("from mo.ops.const import Const\nreturn [Const(graph, {'value': [print]}).create_node().id]"),
        r"wrong\.py:8\b.*constant cannot have values of type builtin_function_or_method",
    ),
    "pattern": (
        {
            "front/wrong.py": "from mo.front.common.replacement import FrontReplacementSubgraph\nclass Wrong(FrontReplacementSubgraph):\n"
            "    def pattern(self):\n        return dict(nodes=[('a', dict(op='ReLU'))], edges=[('a', 'b')])\n"
            "    def replace_sub_graph(self, graph, match):\n        pass\n"
        },
        r"transformation wrong .*'b'",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistake(tmp_path, mistake):
    files, message = MISTAKES[mistake]
    with pytest.raises(ConversionError, match=message) as error:
        convert(tmp_path, files, RELU)
    assert "\n" not in str(error.value).strip()
    # And nothing of it is left.
    reference = build(RELU, {"x": X})
    compare(Converted.of(reference, tmp_path).run({"x": X}), expected_results(reference, {"x": X}, "onnxruntime"))


def test_a_misspelled_attribute_of_a_known_operation(tmp_path, caplog):
    files = replacing(
        "from mo.ops.softmax import Softmax\nreturn [Softmax(graph, dict(name='s', axes=1)).create_node([node.in_node(0)]).id]"
    )
    convert(tmp_path, files, RELU)
    assert "wrong.py:8 (Wrong.replace_op): SoftMax 's' has no attribute 'axes'; nearest axis" in caplog.text


def test_names_that_no_node_has(tmp_path, caplog):
    def looking(name: str) -> dict[str, str]:
        return {"middle/looking.py": appending("Looking", base="Middle").replace("op='ReLU'", f"op='{name}'")}

    with caplog.at_level("INFO", "moir"):
        convert(tmp_path / "a", looking("Sotfmax"), RELU)
        assert re.search(r"Looking looks for nodes with op .Sotfmax., a name that no operation has; nearest .*\bSoftMax\b", caplog.text)
        caplog.clear()
        convert(tmp_path / "b", looking("PReLU"), RELU)
        assert "Looking: no node has op 'PReLU'; nearest ReLU" in caplog.text
    caplog.clear()
    with caplog.at_level("WARNING", "moir"):
        convert(tmp_path / "c", looking("PReLU"), RELU)
    assert "PReLU" not in caplog.text


def test_a_pattern_that_does_not_list_all_edges(tmp_path, caplog):
    files = {
        "front/pattern.py": """
            from mo.front.common.replacement import FrontReplacementSubgraph

            class Squaring(FrontReplacementSubgraph):
                def pattern(self):
                    return dict(nodes=[('relu', dict(op='ReLU')), ('mul', dict(op='Mul'))], edges=[('relu', 'mul', {'in': 0})])

                def replace_sub_graph(self, graph, match):
                    raise AssertionError
            """
    }
    with caplog.at_level("INFO", "moir"):
        convert(tmp_path, files, [*RELU[:1], node("Mul", ["y", "y"], ["z"], "square")])
    assert "there are 2 edges from 'relu' to 'square', and 1 in the pattern, which must list them all" in caplog.text
