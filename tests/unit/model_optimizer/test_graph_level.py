"""Files written for Model Optimizer: extractors, operations and transformations in a conversion."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp

import moir
from moir.dialects.moir import models_of
from moir.errors import ConversionError
from moir.extensions.loading import Extensions
from moir.model_optimizer.graph.operation import Op
from moir.model_optimizer.lowering.table import mo
from tests.unit.extensions.directories import chain, write

OPERATION = """
    from openvino.tools.mo.ops.op import Op

    class MyBlur(Op):
        op = "MyBlur"

        def __init__(self, graph, attrs):
            defaults = dict(type="Blur", op=self.op, version="extension", infer=self.infer, in_ports_count=1, out_ports_count=1)
            super().__init__(graph, defaults, attrs)

        def backend_attrs(self):
            return ["sigma"]

        @staticmethod
        def infer(node):
            node.out_port(0).data.set_shape(node.in_port(0).data.get_shape())
"""

EXTRACTOR = """
    from openvino.tools.mo.front.extractor import FrontExtractorOp
    from ext.ops.blur import MyBlur

    class {name}(FrontExtractorOp):
        op = "{kind}"
        enabled = {enabled}

        @classmethod
        def extract(cls, node):
            MyBlur.update_node_stat(node, {{"sigma": {sigma}}})
            return {result}
"""

REPLACEMENT = """
    from openvino.tools.mo.front.common.replacement import FrontReplacementOp
    from openvino.tools.mo.ops.op import Op

    class {name}(FrontReplacementOp):
        op = "MyOdd"
        enabled = True

        def replace_op(self, graph, node):
            new = Op(graph, dict(type="{type}", op="{type}", version="opset1", name=node.name + "/new")).create_node([node.in_node(0)])
            return [new.id]
"""


def an_extractor(
    name: str = "Extractor", kind: str = "MyBlur", sigma: float = 1.5, enabled: bool = True, result: str = "cls.enabled"
) -> str:
    return EXTRACTOR.format(name=name, kind=kind, sigma=sigma, enabled=enabled, result=result)


def operations(module: ModuleOp) -> list[str]:
    return [op.name for op in models_of(module)[0].block.ops][1:-1]


def convert(tmp_path: Path, *kinds: str, extensions: tuple[str, ...] = ("ext",)) -> ModuleOp:
    return moir.convert_model(chain(tmp_path / "m.onnx", *kinds), extensions=[tmp_path / each for each in extensions])


def sigma(module: ModuleOp) -> str:
    return next(op for op in module.walk() if op.name == "extension.Blur").properties["sigma"].data


@pytest.mark.parametrize("kind", ["MyBlur", "myblur", "com.example.MyBlur"])
def test_an_extractor(tmp_path: Path, kind: str) -> None:
    write(tmp_path / "ext", ops__blur=OPERATION, front_onnx__blur=an_extractor(kind=kind))
    module = convert(tmp_path, "MyBlur")
    assert operations(module) == ["extension.Blur"]
    assert sigma(module) == "1.5"
    assert "MyBlur" not in Op.registered_ops


def test_of_two_directories_the_later_one_counts(tmp_path: Path) -> None:
    write(
        tmp_path / "ext",
        ops__blur=OPERATION,
        front_onnx__blur=an_extractor(),
        front__odd=REPLACEMENT.format(name="First", type="Exp"),
    )
    write(tmp_path / "two", front_onnx__blur=an_extractor(sigma=7), front__odd=REPLACEMENT.format(name="Second", type="Tanh"))
    module = convert(tmp_path, "MyBlur", "MyOdd", extensions=("ext", "two"))
    assert sigma(module) == "7"
    assert operations(module) == ["extension.Blur", "opset1.Tanh"]


def test_two_extractors_in_one_directory(tmp_path: Path) -> None:
    write(tmp_path / "ext", ops__blur=OPERATION, front_onnx__a=an_extractor(), front_onnx__b=an_extractor(kind="MYBLUR"))
    with pytest.raises(ConversionError, match=r"b\.py: there is an extractor for MYBLUR in .*a\.py already"):
        convert(tmp_path, "MyBlur")


def test_a_node_the_extractor_does_not_support(tmp_path: Path) -> None:
    write(tmp_path / "ext", ops__blur=OPERATION, front_onnx__blur=an_extractor(result="False"))
    with pytest.raises(ConversionError, match=r"'node0': .*its extractor Extractor says it is not supported"):
        convert(tmp_path, "MyBlur")


def test_an_extractor_that_is_not_enabled_is_not_asked(tmp_path: Path) -> None:
    write(tmp_path / "ext", ops__blur=OPERATION, front_onnx__blur=an_extractor(kind="Relu", enabled=False))
    assert operations(convert(tmp_path, "Relu")) == ["opset1.Relu"]


def test_an_extractor_of_a_kind_that_moir_knows(tmp_path: Path) -> None:
    write(tmp_path / "ext", ops__blur=OPERATION, front_onnx__blur=an_extractor(kind="Relu"))
    assert operations(convert(tmp_path, "Relu", "Exp")) == ["extension.Blur", "opset1.Exp"]


def test_an_operation_without_extractor(tmp_path: Path) -> None:
    write(tmp_path / "ext", ops__blur=OPERATION)
    assert operations(convert(tmp_path, "MyBlur")) == ["extension.Blur"]
    write(tmp_path / "ext", ops__blur=OPERATION.replace('"MyBlur"', '"Relu"'))
    assert operations(convert(tmp_path, "Relu")) == ["opset1.Relu"]


def test_classes_derived_from_a_users_class_run(tmp_path: Path) -> None:
    text = """
        from mo.back.replacement import BackReplacementPattern

        class Base(BackReplacementPattern):
            enabled = True

        class One(Base):
            '''Renames.'''

            def find_and_replace_pattern(self, graph):
                for node in graph.get_op_nodes(type="ReLU"):
                    node["name"] = "one"

        class Two(One):
            def run_after(self):
                return [One]

            def find_and_replace_pattern(self, graph):
                assert graph.stage == "back"
                for node in graph.get_op_nodes(name="one"):
                    node["name"] = graph.graph["cmd_params"].framework + " " + graph.graph["fw"]
    """
    write(tmp_path / "ext", back__rename=text)
    module = convert(tmp_path, "Relu")
    assert "onnx onnx" in [op.attributes["name"].data for op in module.walk() if "name" in op.attributes]
    with Extensions.load([tmp_path / "ext"], "onnx") as extensions:
        assert [(each.name, each.phase, each.description) for each in extensions.transformations] == [
            ("one", "back", "Renames."),
            ("two", "back", ""),
        ]


def test_places_of_model_optimizer(tmp_path: Path) -> None:
    text = """
        from extensions.middle.SomethingBuiltIn import SomethingBuiltIn
        from extensions.middle.pass_separator import MiddleStart, PostMiddleStart
        from mo.middle.replacement import MiddleReplacementPattern

        class Early(MiddleReplacementPattern):
            def run_before(self):
                return [SomethingBuiltIn, int]

            def find_and_replace_pattern(self, graph):
                pass

        class Late(Early):
            def run_after(self):
                return [SomethingBuiltIn]

            def run_before(self):
                return [PostMiddleStart]
    """
    from moir.pipeline import pipeline_names

    write(tmp_path / "ext", middle__places=text)
    with Extensions.load([tmp_path / "ext"], "tf") as extensions:
        names = [each.name for each in extensions.passes(pipeline_names("tf"), "tf")]
    assert names.index("middle-start") < names.index("early") < names.index("late") < names.index("choose-layouts")


FRONT_PATTERN = """
    from openvino.tools.mo.front.common.replacement import FrontReplacementPattern
    {imports}

    class Change(FrontReplacementPattern):
        enabled = True
        graph_condition = [lambda graph: not graph.graph["cmd_params"].generate_deprecated_IR_V7]

        def find_and_replace_pattern(self, graph):
            {body}
"""


def test_conditions_on_options_of_any_generation(tmp_path: Path) -> None:
    write(tmp_path / "ext", front__change=FRONT_PATTERN.format(imports="", body="raise AssertionError('it runs')"))
    with pytest.raises(ConversionError, match="it runs"):
        convert(tmp_path, "Relu")


def test_a_model_without_outputs(tmp_path: Path) -> None:
    body = "graph.remove_nodes_from([node.id for node in graph.get_op_nodes()])"
    write(tmp_path / "ext", front__change=FRONT_PATTERN.format(imports="", body=body))
    with pytest.raises(ConversionError, match="it leaves a model without outputs"):
        convert(tmp_path, "Relu")


def test_an_operation_without_type(tmp_path: Path) -> None:
    body = """
            for node in graph.get_op_nodes(op="ReLU"):
                new = Op(graph, dict(type=None, op="Bare", name="bare")).create_node([node.in_node(0)])
                node.out_port(0).get_connection().set_source(new.out_port(0))
    """
    imports = "from openvino.tools.mo.ops.op import Op"
    write(tmp_path / "ext", front__change=FRONT_PATTERN.format(imports=imports, body=body.strip()))
    with pytest.raises(ConversionError, match=r"mo\.Bare.*give each operation a type"):
        convert(tmp_path, "Relu")


OPTIONS = """
    from openvino.tools.mo.ops.op import Op

    class Options(Op):
        op = "MyOdd"

        def __init__(self, graph, attrs):
            super().__init__(graph, dict(type="Odd", op=self.op, version="extension", infer=self.infer, in_ports_count=1), attrs)

        @staticmethod
        def infer(node):
            options = node.graph.graph["cmd_params"]
            raise ValueError(f"{options.framework}, {options.input_shape}, {node.graph.graph['layout']}")
"""


def test_functions_see_the_options_of_the_conversion_while_the_front_phase_is_lowered(tmp_path: Path) -> None:
    write(tmp_path / "ext", ops__odd=OPTIONS)
    with pytest.raises(ConversionError, match="ValueError: onnx, None, NCHW"):
        convert(tmp_path, "MyOdd")
    assert mo.command_line is None


def test_a_kind_without_built_in_handler_is_lowered_by_that_of_the_table() -> None:
    assert mo.built_in("MyOdd") is None
    assert mo.handler("MyOdd", 1) is mo.handler("Power", 1)
    assert mo.built_in("Power") is not mo.handler("Power", 1)
