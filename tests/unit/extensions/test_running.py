"""Extensions that fail while they run: the error names them, the line and the node."""

from __future__ import annotations

from pathlib import Path

import pytest

import moir
from moir.errors import ConversionError
from tests.unit.extensions.directories import chain, write
from tests.unit.small_models import loop_model, save

PATTERN = """
    from moir.rewriting.driver import Pattern

    class Mine(Pattern):
        roots = ("opset1.Relu",)

        def match_and_rewrite(self, op, rewriter):
            {statement}
"""

LOWERING = """
    from moir.lowering.onnx.table import onnx

    @onnx.lowers("Relu")
    def lower(node, op):
        {statement}
"""

FRONT = """
    from openvino.tools.mo.front.common.replacement import FrontReplacementOp

    class Mine(FrontReplacementOp):
        op = "ReLU"
        enabled = True

        def replace_op(self, graph, node):
            {statement}
"""


def message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **files: str) -> str:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "ext", **files)
    chain(tmp_path / "m.onnx", "Relu")
    with pytest.raises(ConversionError) as raised:
        moir.convert_model("m.onnx", extensions=["ext"])
    return str(raised.value)


def test_a_pattern_that_raises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = message(tmp_path, monkeypatch, middle__mine=PATTERN.format(statement="1 / 0"))
    assert text == (
        "transformation mine (ext.middle.mine.Mine) (ext/middle/mine.py:8): opset1.Relu 'node0': ZeroDivisionError: division by zero"
    )


def test_a_pattern_that_reports_something(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    statement = "from moir.errors import ConversionError; raise ConversionError('no', node='n', hint='try that')"
    text = message(tmp_path, monkeypatch, middle__mine=PATTERN.format(statement=statement))
    assert text == "transformation mine (ext.middle.mine.Mine) (ext/middle/mine.py:8): 'n': no; try that"


def test_a_pattern_that_leaves_an_invalid_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = message(
        tmp_path, monkeypatch, back__mine=PATTERN.format(statement="op.operands = [op.results[0]]; rewriter.has_done_action = 0")
    )
    assert text.startswith("transformation mine (ext.back.mine.Mine): it leaves an invalid module: opset1.Relu 'node0' (from onnx.Relu")


def test_a_condition_that_raises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pattern = PATTERN.format(statement="pass").replace("roots", "graph_condition = [lambda model: model.nothing]\n        roots")
    text = message(tmp_path, monkeypatch, middle__mine=pattern)
    assert "transformation mine (ext.middle.mine.Mine) (ext/middle/mine.py:5)" in text
    assert "AttributeError" in text


def test_a_pass_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = message(tmp_path, monkeypatch, middle__mine=PATTERN.format(statement="pass") + "\n        def __init__(self, x): pass\n")
    assert text.startswith("transformation mine (ext.middle.mine.Mine): TypeError")


def test_run_not_recursively_needs_patterns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """
        from xdsl.passes import ModulePass

        class Mine(ModulePass):
            run_not_recursively = True

            def apply(self, ctx, op):
                pass
    """
    assert "Mine has run_not_recursively, but walks the module itself" in message(tmp_path, monkeypatch, middle__mine=text)


def test_a_lowering_that_raises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = message(tmp_path, monkeypatch, front_onnx__mine=LOWERING.format(statement="return {}[1]"))
    assert text == "pass lower-onnx (ext/front/onnx/mine.py:6): onnx.Relu 'node0': KeyError: 1"
    text = message(tmp_path, monkeypatch, front_onnx__mine=LOWERING.format(statement="node.fail('not this one', 'take another')"))
    assert text == "onnx.Relu 'node0': not this one; take another"


def test_a_transformation_of_graphs_that_raises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = message(tmp_path, monkeypatch, front__mine=FRONT.format(statement="return undefined"))
    assert text.startswith("transformation mine (ext.front.mine.Mine) (ext/front/mine.py:9): onnx.Relu 'node0': NameError")
    text = message(tmp_path, monkeypatch, front__mine=FRONT.format(statement="return ['no such node']"))
    assert text.startswith("transformation mine (ext.front.mine.Mine)")
    assert "no such node" in text


def test_a_class_that_lacks_something(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = message(tmp_path, monkeypatch, front__mine=FRONT.format(statement="pass").replace("def replace_op", "def replace_xp"))
    assert text == "ext/front/mine.py: the class Mine does not define replace_op"


@pytest.mark.parametrize(("attribute", "count"), [("", 0), ("run_not_recursively = False", 1), ("run_not_recursively = True", 0)])
def test_bodies(tmp_path: Path, attribute: str, count: int) -> None:
    text = f"""
        from openvino.tools.mo.middle.replacement import MiddleReplacementPattern
        from openvino.tools.mo.ops.op import Op

        class Mine(MiddleReplacementPattern):
            enabled = True
            {attribute}

            def find_and_replace_pattern(self, graph):
                for node in graph.get_op_nodes(op="Add"):
                    new = Op(graph, dict(op="Maximum", type="Maximum", version="opset1", name="new")).create_node()
                    new.add_sequence_of_ports("in", range(2))
                    new.add_sequence_of_ports("out", range(1))
                    for index in (0, 1):
                        node.in_port(index).get_connection().set_destination(new.in_port(index))
                    node.out_port(0).get_connection().set_source(new.out_port(0))
    """
    write(tmp_path / "ext", middle__mine=text)
    module = moir.convert_model(save(loop_model(), tmp_path / "loop.onnx"), extensions=[tmp_path / "ext"])
    assert [op.name for op in module.walk()].count("opset1.Maximum") == count


def test_an_infer_that_raises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    operation = """
        from openvino.tools.mo.ops.op import Op

        class Relu6(Op):
            op = "Mine"

            def __init__(self, graph, attrs):
                super().__init__(graph, dict(type="Mine", op=self.op, version="extension", infer=self.infer), attrs)

            @staticmethod
            def infer(node):
                return 1 / 0
    """
    front = FRONT.format(
        statement="from ext.ops.mine import Relu6; return [Relu6(graph, dict(name='new')).create_node([node.in_node(0)]).id]"
    )
    text = message(tmp_path, monkeypatch, ops__mine=operation, front__mine=front)
    assert text.startswith("ext/ops/mine.py:12: Mine 'new': its function infer failed: ZeroDivisionError")


def test_the_phase_a_transformation_is_in_is_the_one_of_its_place(tmp_path: Path) -> None:
    text = """
        from mo.front.common.replacement import FrontReplacementPattern
        from mo.middle.pass_separator import BackStart, BackFinish, MiddleStart, MiddleFinish

        class Front(FrontReplacementPattern):
            def find_and_replace_pattern(self, graph):
                assert graph.stage == "front"

        class Middle(Front):
            def run_after(self):
                return [MiddleStart]

            def run_before(self):
                return [MiddleFinish]

            def find_and_replace_pattern(self, graph):
                assert graph.stage == "middle"
                assert list(graph.get_data_nodes())

        class Back(Middle):
            def run_after(self):
                return ["back-start"]

            def run_before(self):
                return ["back-finish"]

            def find_and_replace_pattern(self, graph):
                assert graph.stage == "back"
                graph.get_op_nodes(type="ReLU")[0]["name"] = "was here"
    """
    write(tmp_path / "ext", front__places=text)
    module = moir.convert_model(chain(tmp_path / "m.onnx", "Relu"), extensions=[tmp_path / "ext"])
    assert "was here" in [op.attributes["name"].data for op in module.walk() if "name" in op.attributes]
