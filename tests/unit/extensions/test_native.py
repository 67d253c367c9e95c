"""Operations, lowerings, passes, patterns and rules of an extension in a conversion."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

import moir
from moir.conversion import open_extensions
from moir.dialects import opset
from moir.dialects.context import MoirContext
from moir.dialects.moir import models_of
from moir.errors import ConversionError, UsageError
from moir.frameworks import FRAMEWORKS
from moir.lowering.onnx.table import onnx
from moir.options import ConversionOptions
from moir.pipeline import pipeline_names
from tests.unit.extensions.directories import chain, write

OPERATION = """
    from moir.dialects.opset.interfaces.operation import OpsetOp
    from moir.dialects.opset.interfaces.properties import integer_property
    from xdsl.irdl import irdl_op_definition, operand_def, result_def

    @irdl_op_definition
    class Mine(OpsetOp):
        name = "extension.Mine"
        data = operand_def()
        times = integer_property(1)
        result = result_def()

        def infer(self, known):
            return (self.operands[0].type,)
"""

LOWERING = """
    from moir.lowering.onnx.table import onnx

    @onnx.lowers("com.example.MyOp")
    def lower(node, op):
        return op.Mine(node.operand(0), times=3)
"""

RULE_PASS = """
    from moir.rewriting.rules import FusionRule, RulePass

    class FuseExpLog(RulePass):
        '''Log(Exp(x)) -> x.

        Further lines.
        '''

        RULES = (FusionRule(pattern=lambda op, x: op.Log(op.Exp(x)), rewrite=lambda op, match: op.Relu(match["x"])),)
"""

COUNTING_PASS = """
    from xdsl.passes import ModulePass

    class Mark(ModulePass):
        name = "mark"
        {attributes}

        def apply(self, ctx, op):
            for each in op.walk():
                if each.name == "opset1.Relu":
                    from moir.dialects.properties import string_attribute
                    each.attributes["name"] = string_attribute("marked")
"""


def kinds(module: ModuleOp) -> list[str]:
    return [op.name for model in models_of(module) for op in model.block.ops][1:-1]


def names(module: ModuleOp) -> list[str]:
    return [str(op.attributes["name"].data) for model in models_of(module) for op in model.block.ops if "name" in op.attributes]


def convert(tmp_path: Path, *nodes: str, **options: object) -> ModuleOp:
    return moir.convert_model(chain(tmp_path / "m.onnx", *nodes), **{"extensions": [tmp_path / "ext"], **options})


def test_an_operation_and_its_lowering(tmp_path: Path) -> None:
    write(tmp_path / "ext", ops__mine=OPERATION, front_onnx__lower=LOWERING)
    module = convert(tmp_path, "MyOp")
    assert kinds(module) == ["extension.Mine"]
    xml, _ = moir.save_model(module, tmp_path / "m.xml"), None
    text = (tmp_path / "m.xml").read_text()
    assert xml.layers == 3
    assert 'type="Mine" version="extension"' in text
    assert '<data times="3"/>' in text


def test_everything_is_taken_back(tmp_path: Path) -> None:
    write(tmp_path / "ext", ops__mine=OPERATION, front_onnx__lower=LOWERING)
    convert(tmp_path, "MyOp")
    assert not opset.is_registered("extension.Mine")
    assert onnx.handler("com.example.MyOp", 1) is None
    with pytest.raises(KeyError):
        opset.newest("Mine")
    with pytest.raises(ConversionError, match="no lowering"):
        moir.convert_model(tmp_path / "m.onnx")
    assert kinds(convert(tmp_path, "MyOp")) == ["extension.Mine"]


def test_a_lowering_goes_in_front_of_that_of_moir_whatever_its_version(tmp_path: Path) -> None:
    lowering = LOWERING.replace("com.example.MyOp", "Softmax").replace("op.Mine(node.operand(0), times=3)", "op.Relu(node.operand(0))")
    write(tmp_path / "ext", front_onnx__lower=lowering)
    assert kinds(convert(tmp_path, "Softmax")) == ["opset1.Relu"]
    assert kinds(convert(tmp_path, "Softmax", extensions=[])) == ["opset8.Softmax"]


def test_an_operation_in_text(tmp_path: Path) -> None:
    write(tmp_path / "ext", ops__mine=OPERATION)
    text = "moir.model @m { %x = opset1.Parameter() : tensor<4xf32>\n %y = extension.Mine(%x) {times = 2} : tensor<4xf32> }"
    extensions = open_extensions(None, ConversionOptions(extensions=(str(tmp_path / "ext"),)))
    assert extensions is not None
    with extensions:
        module = Parser(MoirContext(), f"builtin.module {{ {text} }}").parse_module()
    op = list(models_of(module)[0].block.ops)[1]
    assert type(op).__name__ == "Mine"
    assert op.integer("times") == 2


@pytest.mark.parametrize("folder", ["middle", "back"])
def test_a_rule_pass(tmp_path: Path, folder: str) -> None:
    write(tmp_path / "ext", **{f"{folder}__fuse": RULE_PASS})
    assert kinds(convert(tmp_path, "Exp", "Log")) == ["opset1.Relu"]


def test_a_pattern_and_a_rule_are_transformations_of_their_own(tmp_path: Path) -> None:
    pattern = """
        from moir.rewriting.driver import Pattern

        class ExpToRelu(Pattern):
            roots = ("opset1.Exp",)

            def match_and_rewrite(self, op, rewriter):
                rewriter.replace_with(op, rewriter.op.Relu(op.operands[0]))
    """
    rule = """
        from moir.rewriting.rules import FusionRule

        run_after = ["exp-to-relu"]
        RULE = FusionRule(pattern=lambda op, x: op.Tanh(op.Relu(x)), rewrite=lambda op, match: op.Sigmoid(match["x"]))
    """
    write(tmp_path / "ext", middle__a_rule=rule, middle__pattern=pattern)
    assert kinds(convert(tmp_path, "Exp", "Tanh")) == ["opset1.Sigmoid"]


def test_patterns_beside_a_pass_belong_to_it(tmp_path: Path) -> None:
    both = """
        from moir.rewriting.driver import Pattern, PatternPass

        class ExpToRelu(Pattern):
            roots = ("opset1.Exp",)

            def match_and_rewrite(self, op, rewriter):
                rewriter.replace_with(op, rewriter.op.Relu(op.operands[0]))

        class Nothing(PatternPass):
            def patterns(self):
                return ()
    """
    write(tmp_path / "ext", middle__both=both)
    assert kinds(convert(tmp_path, "Exp")) == ["opset1.Exp"]


def test_front_passes_see_operations_of_the_framework_and_what_is_dead_after_them_goes(tmp_path: Path) -> None:
    text = """
        from moir.rewriting.driver import Pattern

        class Merge(Pattern):
            roots = ("onnx.com.example.MyOuter",)

            def match_and_rewrite(self, op, rewriter):
                from moir.dialects.framework import operation_class
                inner = op.operands[0].owner
                relu = operation_class("onnx", "Relu").create(operands=[inner.operands[0]], result_types=[op.results[0].type])
                rewriter.op.insert(relu)
                rewriter.replace_with(op, relu.results[0])
    """
    write(tmp_path / "ext", front__merge=text)
    assert kinds(convert(tmp_path, "MyInner", "MyOuter")) == ["opset1.Relu"]


def test_helpers_are_no_transformations(tmp_path: Path) -> None:
    text = """
        from xdsl.passes import ModulePass
        from moir.passes.fuse.fuse_swish import FuseSwishPass
        from moir.rewriting.driver import PatternPass
        from moir.rewriting.rules import RulePass

        class Base(PatternPass):
            pass

        class Rules(RulePass):
            pass

        class Abstract(ModulePass):
            pass

        class _Private(ModulePass):
            def apply(self, ctx, op):
                raise AssertionError
    """
    write(tmp_path / "ext", middle__helpers=text)
    extensions = open_extensions(FRAMEWORKS["onnx"], ConversionOptions(extensions=(str(tmp_path / "ext"),)))
    assert extensions is not None
    with extensions:
        assert extensions.transformations == []


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ("", True),
        ("enabled = False", False),
        ("graph_condition = [lambda model: model.sym_name.data == 'g']", True),
        ("graph_condition = [lambda model: True, lambda model: False]", False),
    ],
)
def test_whether_a_pass_runs(tmp_path: Path, attributes: str, expected: bool) -> None:
    write(tmp_path / "ext", back__mark=COUNTING_PASS.format(attributes=attributes))
    assert ("marked" in names(convert(tmp_path, "Relu"))) == expected


def test_switches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "ext", back__mark=COUNTING_PASS.format(attributes="id = 'my.id'"))
    for handle in ("my.id", "mark", "ext.back.mark.Mark"):
        assert "marked" not in names(convert(tmp_path, "Relu", disable=[handle]))
        monkeypatch.setenv("MO_DISABLED_TRANSFORMS", f"other, {handle}")
        assert "marked" not in names(convert(tmp_path, "Relu"))
        assert "marked" in names(convert(tmp_path, "Relu", enable=[handle]))
        monkeypatch.setenv("MO_ENABLED_TRANSFORMS", handle)
        assert "marked" not in names(convert(tmp_path, "Relu"))
        monkeypatch.delenv("MO_DISABLED_TRANSFORMS")
        assert "marked" in names(convert(tmp_path, "Relu"))
        assert "marked" not in names(convert(tmp_path, "Relu", enable=[handle], disable=[handle]))
        monkeypatch.delenv("MO_ENABLED_TRANSFORMS")
    write(tmp_path / "ext", back__mark=COUNTING_PASS.format(attributes="enabled = False"))
    assert "marked" in names(convert(tmp_path, "Relu", enable=["mark"]))


def test_passes_of_moir_can_be_switched_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def passes(enable: tuple[str, ...] = (), disable: tuple[str, ...] = ()) -> list[str]:
        extensions = open_extensions(FRAMEWORKS["onnx"], ConversionOptions(enable=enable, disable=disable))
        assert extensions is not None
        return [each.name for each in extensions.passes(pipeline_names(), "onnx")]

    assert passes(disable=("fuse-swish",)) == [name for name in pipeline_names() if name != "fuse-swish"]
    assert passes(disable=("middle-start",)) == pipeline_names()
    with pytest.raises(UsageError, match=r"there is no transformation 'fuse-swisch'.*; did you mean fuse-swish or "):
        passes(disable=("fuse-swisch",))
    monkeypatch.setenv("MO_DISABLED_TRANSFORMS", "unknown.Thing,fuse-swish,fuse-gelu")
    assert passes(enable=("fuse-gelu",)) == [name for name in pipeline_names() if name != "fuse-swish"]
    assert kinds(moir.convert_model(chain(tmp_path / "m.onnx", "Exp"))) == ["opset1.Exp"]


def test_enabled_is_looked_at_when_the_pass_is_about_to_run(tmp_path: Path) -> None:
    switch = """
        from xdsl.passes import ModulePass

        class Switch(ModulePass):
            run_before = ("mark",)

            def apply(self, ctx, op):
                from ext.back.mark import Mark
                Mark.enabled = False
    """
    write(tmp_path / "ext", back__mark=COUNTING_PASS.format(attributes="enabled = True"), back__z_switch=switch)
    assert "marked" not in names(convert(tmp_path, "Relu"))


LOOP_PATTERN = """
    from moir.rewriting.driver import Pattern

    class AddToSubtract(Pattern):
        roots = ("opset1.Add",)
        {attributes}

        def match_and_rewrite(self, op, rewriter):
            rewriter.replace_with(op, rewriter.op.Maximum(*op.operands))
"""


@pytest.mark.parametrize(("attributes", "count"), [("", 1), ("run_not_recursively = False", 1), ("run_not_recursively = True", 0)])
def test_bodies(tmp_path: Path, attributes: str, count: int) -> None:
    from tests.unit.small_models import loop_model, save

    write(tmp_path / "ext", back__pattern=LOOP_PATTERN.format(attributes=attributes))
    module = moir.convert_model(save(loop_model(), tmp_path / "loop.onnx"), extensions=[tmp_path / "ext"])
    assert [op.name for op in module.walk()].count("opset1.Maximum") == count


def test_clean_up_and_inference(tmp_path: Path) -> None:
    text = """
        from dataclasses import dataclass
        from moir.dialects.shapes import UNKNOWN
        from moir.dialects.inference import set_type
        from moir.rewriting.driver import Pattern

        class Leave(Pattern):
            roots = ("opset1.Relu",)
            run_after = ("check-types",)
            force_clean_up = True
            force_shape_inference = True

            def match_and_rewrite(self, op, rewriter):
                dead = rewriter.op.Exp(op.operands[0])
                new = rewriter.op.Sigmoid(op.operands[0])
                set_type(new, UNKNOWN)
                rewriter.replace_with(op, new)
    """
    write(tmp_path / "ext", back__leave=text)
    module = convert(tmp_path, "Relu")
    assert kinds(module) == ["opset1.Sigmoid"]
    sigmoid = list(models_of(module)[0].block.ops)[1]
    assert str(sigmoid.results[0].type) == "tensor<2x4xf32>"
    write(tmp_path / "ext", back__leave=text.replace("force_clean_up = True", "").replace("force_shape_inference = True", ""))
    module = convert(tmp_path, "Relu")
    assert sorted(kinds(module)) == ["opset1.Exp", "opset1.Sigmoid"]


def test_extensions_are_recorded(tmp_path: Path) -> None:
    write(tmp_path / "ext", middle__fuse=RULE_PASS)
    module = convert(tmp_path, "Exp", "Log", disable=["fuse-exp-log"])
    parameters = models_of(module)[0].attributes["conversion_parameters"].data
    assert parameters["extensions"].data == "ext"
    assert parameters["disable"].data == "fuse-exp-log"
