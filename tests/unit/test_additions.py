"""Adding an operation, a lowering, a pass, a framework takes what docs/contributing.md says, and nothing else.

Each test does it to a copy of the package, or from a file of its own, and uses what it added.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import moir

PACKAGE = Path(moir.__file__).parent


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the package."""
    return Path(shutil.copytree(PACKAGE, tmp_path / "moir", ignore=shutil.ignore_patterns("__pycache__")))


def edit(path: Path, old: str, new: str) -> None:
    """Replace a text that is in a file once."""
    text = path.read_text()
    assert text.count(old) == 1, old
    path.write_text(text.replace(old, new))


def run(folder: Path, program: str) -> str:
    """What a program prints that imports the package, or other modules, from a folder."""
    environment = os.environ | {"PYTHONPATH": str(folder)}
    finished = subprocess.run([sys.executable, "-c", program], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


OPERATION = '''

@deferred_definition
class Doubled(ElementwiseOp):
    """2 x"""

    name = "opset17.Doubled"
    ELEMENTS: ClassVar[frozenset[Attribute] | None] = None

    def compute(self, x: Array) -> Array:
        return 2 * x
'''

MODULE = """
import io
from xdsl.parser import Parser
import moir
from moir.conversion import run
from moir.dialects.context import MoirContext
from moir.emit.in_memory import serialize
from moir.pipeline import default_pipeline, load_pass

def parse(text):
    return Parser(MoirContext(), "builtin.module { moir.model @m { " + text + " } }").parse_module()
"""


def test_an_operation(copy: Path) -> None:
    """Text, inference, folding, the layout change and the emitter know it at once."""
    family = copy / "dialects/opset/activation.py"
    family.write_text(family.read_text() + OPERATION)
    edit(copy / "dialects/opset/__init__.py", '"opset1.Clamp opset1.Elu ', '"opset17.Doubled opset1.Clamp opset1.Elu ')
    program = f"""{MODULE}
module = parse('''
%x = opset1.Parameter() {{name = "x"}} : tensor<1x2x3x4xf32>
%o = opset1.Constant() {{value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>}} : tensor<4xsi64>
%b = opset1.Constant() {{value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>}} : tensor<4xsi64>
%c = opset1.Constant() {{value = #moir.data<tensor<f32>, [3.0]>}} : tensor<f32>
%t = opset1.Transpose(%x, %o) : tensor<1x4x2x3xf32>
%d = opset17.Doubled(%t) : tensor<1x4x2x3xf32>
%u = opset1.Transpose(%d, %b) : tensor<1x2x3x4xf32>
%e = opset17.Doubled(%c) : tensor<f32>
%y = opset1.Add(%u, %e) {{name = "y"}} : tensor<1x2x3x4xf32>
opset1.Result(%y) {{name = "r"}}
''')
run(module, [load_pass(name)() for name in ("infer-types", "fold-constants", "choose-layouts", "eliminate-dead")])
print(module)
print(serialize(module)[0].decode())
"""
    printed = run(copy.parent, program)
    assert "opset17.Doubled(%x) : tensor<1x2x3x4xf32>" in printed
    assert "[6.0]" in printed
    assert "opset1.Transpose" not in printed
    assert 'type="Doubled" version="opset17"' in printed


LOWERING = '''

@onnx.lowers("Cube")
def cube(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.Cube(x) -> opset1.Power(x, 3)"""
    return op.Power(node.operand(0), 3.0)
'''


def test_a_lowering(copy: Path) -> None:
    family = copy / "lowering/onnx/activation.py"
    family.write_text(family.read_text() + LOWERING)
    edit(copy / "lowering/onnx/index.py", "Affine Celu Clip ", "Affine Cube Celu Clip ")
    program = f"""{MODULE}
module = parse('''
%x = opset1.Parameter() {{name = "x"}} : tensor<2xf32>
%y = onnx.Cube(%x) {{name = "y"}} : tensor<*x!moir.dynamic>
opset1.Result(%y) {{name = "r"}}
''')
run(module, default_pipeline("onnx"))
print(module)
"""
    assert "opset1.Power(%x, %0)" in run(copy.parent, program)


PASS = '''"""`fuse-negative`: x * -1 becomes Negative."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from moir.rewriting.rules import FusionRule, RulePass


@dataclass(frozen=True)
class FuseNegativePass(RulePass):
    """Fuses Negative."""

    name = "fuse-negative"

    RULES: ClassVar[tuple[FusionRule, ...]] = (
        FusionRule(pattern=lambda op, x: op.Multiply(x, -1), rewrite=lambda op, match: op.Negative(match["x"])),
    )
'''


def test_a_pass(copy: Path) -> None:
    (copy / "passes/fuse/fuse_negative.py").write_text(PASS)
    shutil.copytree(PACKAGE.parent / "scripts", copy.parent / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    edit(copy / "pipeline" / "__init__.py", '    "fuse-hswish",\n', '    "fuse-hswish",\n    "fuse-negative",\n')
    run(copy.parent, "from scripts.pass_index import FILE, text; FILE.write_text(text())")
    program = f"""{MODULE}
module = parse('''
%x = opset1.Parameter() {{name = "x"}} : tensor<2xf32>
%c = opset1.Constant() {{value = #moir.data<tensor<f32>, [-1.0]>}} : tensor<f32>
%y = opset1.Multiply(%x, %c) {{name = "y"}} : tensor<2xf32>
opset1.Result(%y) {{name = "r"}}
''')
run(module, default_pipeline("onnx"))
print(module)
from moir.tools.convert import main
main(["passes"])
"""
    printed = run(copy.parent, program)
    assert "opset1.Negative(%x)" in printed
    assert "fuse-negative" in printed
    assert "Fuses Negative." in printed


FRAMEWORK = '''"""A framework whose models are lines: `relu`, `scale 2.5`."""

from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Region

from moir.dialects import opset
from moir.dialects.element_types import f32
from moir.dialects.framework import operation_class
from moir.dialects.moir import ModelOp
from moir.dialects.properties import float_attribute, string_attribute
from moir.dialects.shapes import UNKNOWN, tensor
from moir.frameworks.record import Framework, ReaderOption
from moir.lowering.table import LoweringTable


def read_model(path, size="3"):
    block = Block()
    value = opset.operation("opset1.Parameter").create(result_types=[tensor((int(size),), f32)], attributes={"name": string_attribute("x")})
    block.add_op(value)
    for number, line in enumerate(Path(path).read_text().splitlines()):
        kind, *rest = line.split()
        properties = {"factor": float_attribute(float(rest[0]))} if rest else {}
        operation = operation_class("lines", kind)
        value = operation.create(operands=[value.results[0]], properties=properties, result_types=[UNKNOWN])
        value.attributes["name"] = string_attribute(f"line{number}")
        block.add_op(value)
    block.add_op(opset.operation("opset1.Result").create(operands=[value.results[0]], attributes={"name": string_attribute("y")}))
    return ModuleOp([ModelOp.create(properties={"sym_name": string_attribute("lines")}, regions=[Region(block)])])


table = LoweringTable("lines")


@table.lowers("relu")
def relu(node, op):
    return op.Relu(node.operand(0))


@table.lowers("scale")
def scale(node, op):
    return op.Multiply(node.operand(0), node.number("factor"))


FRAMEWORK = Framework(
    dialect="lines",
    title="Lines",
    reader="lines_framework:read_model",
    suffixes=(".lines",),
    options=(ReaderOption("size", "--lines-size", "N", "size of the input"),),
    lowering="lines_framework:table",
)
'''


def test_a_framework(tmp_path: Path) -> None:
    """One file: detection, reader with an option, dialect, lowering pass, pipeline, command line, error messages."""
    (tmp_path / "lines_framework.py").write_text(FRAMEWORK)
    (tmp_path / "net.lines").write_text("relu\nscale 2.5\nrelu\n")
    (tmp_path / "bad.lines").write_text("swirl\n")
    program = """
import openvino, numpy
from lines_framework import FRAMEWORK
from moir.frameworks import registered
from moir.tools.convert import main
from moir.tools.opt import main as opt

with registered(FRAMEWORK):
    assert main(["net.lines", "-o", "net.xml", "--lines-size", "4", "--silent"]) == 0
    assert main(["passes", "--framework", "lines"]) == 0
    assert opt(["net.lines", "-p", "lower-lines"]) == 0
    assert main(["bad.lines"]) == 1
model = openvino.Core().compile_model("net.xml", "CPU")
print(model([numpy.array([-1, 0, 1, 2], numpy.float32)])[0])
"""
    printed = run(PACKAGE.parent, f"import os, sys; os.chdir({str(tmp_path)!r}); sys.path.insert(0, {str(tmp_path)!r})\n{program}")
    assert "lower-lines" in printed
    assert "choose-layouts" not in printed
    assert "opset1.Relu" in printed
    assert "[0.  0.  2.5 5. ]" in printed
