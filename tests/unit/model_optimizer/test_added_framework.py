"""A framework that is added from files of its own: record, reader with an option, lowerings, view, and its extractors.

Nothing of the package changes. It is converted from the command line and from Python, with extensions in `front/lines`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

RECORD = """
    from moir.frameworks.record import Framework, ReaderOption

    LINES = Framework(
        dialect="lines",
        title="Lines",
        reader="lines.reader:read_model",
        suffixes=(".lines",),
        options=(ReaderOption("line_size", "--line-size", "N", "size of the input"),),
        lowering="lines.lowering:table",
        view="lines.view:VIEW",
    )
"""

READER = """
    from pathlib import Path

    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Block, Region

    from moir.dialects import opset
    from moir.dialects.element_types import f32
    from moir.dialects.framework import operation_class
    from moir.dialects.moir import ModelOp
    from moir.dialects.properties import float_attribute, string_attribute
    from moir.dialects.shapes import UNKNOWN, tensor


    def read_model(path, line_size="3"):
        block, types = Block(), [tensor((int(line_size),), f32)]
        value = opset.operation("opset1.Parameter").create(result_types=types, attributes={"name": string_attribute("x")})
        block.add_op(value)
        for number, line in enumerate(Path(path).read_text().splitlines()):
            kind, *numbers = line.split()
            properties = {"number": float_attribute(float(numbers[0]))} if numbers else {}
            value = operation_class("lines", kind).create(operands=[value.results[0]], properties=properties, result_types=[UNKNOWN])
            value.attributes["name"] = string_attribute(f"line{number}")
            block.add_op(value)
        result = opset.operation("opset1.Result").create(operands=[value.results[0]], attributes={"name": string_attribute("y")})
        block.add_op(result)
        return ModuleOp([ModelOp.create(properties={"sym_name": string_attribute("lines")}, regions=[Region(block)])])
"""

LOWERING = """
    from moir.lowering.table import LoweringTable

    table = LoweringTable("lines")


    @table.lowers("relu")
    def relu(node, op):
        return op.Relu(node.operand(0))


    @table.lowers("scale")
    def scale(node, op):
        return op.Multiply(node.operand(0), node.number("number"))
"""

VIEW = """
    from moir.dialects.properties import value_of
    from moir.model_optimizer.frameworks.extracted import Extracted, by_kind
    from moir.model_optimizer.frameworks.view import FrameworkView


    class Line:
        def __init__(self, kind, op):
            self.words = [kind, *(str(value_of(each)) for each in op.properties.values())]


    VIEW = FrameworkView(
        names={"relu": "ReLU", "scale": "LineScale"},
        attributes=by_kind({"scale": {"factor": Extracted("number")}}),
        messages={"pb": Line},
    )
"""

EXTRACTOR = """
    from openvino.tools.mo.front.extractor import FrontExtractorOp
    from mo.ops.swirl import Swirl


    class SwirlExtractor(FrontExtractorOp):
        op = "swirl"
        enabled = True

        @classmethod
        def extract(cls, node):
            word, turns = node.pb.words
            assert word == "swirl"
            Swirl.update_node_stat(node, {"turns": int(float(turns))})
            return cls.enabled
"""

OPERATION = """
    from openvino.tools.mo.front.common.partial_infer.elemental import copy_shape_infer
    from openvino.tools.mo.ops.op import Op


    class Swirl(Op):
        op = "Swirl"

        def __init__(self, graph, attrs):
            super().__init__(graph, {"type": self.op, "version": "extension", "op": self.op, "in_ports_count": 1,
                                     "out_ports_count": 1, "infer": copy_shape_infer, **attrs}, attrs)

        def backend_attrs(self):
            return ["turns"]
"""

TRANSFORMATION = """
    from openvino.tools.mo.front.common.replacement import FrontReplacementPattern


    class RenameAndScale(FrontReplacementPattern):
        enabled = True

        def find_and_replace_pattern(self, graph):
            for node in graph.get_op_nodes(op="ReLU"):
                node.name = "found/" + node.name
            for node in graph.get_op_nodes(op="LineScale"):
                assert graph.graph["fw"] == "lines"
                node["factor"] = 2 * node.factor
"""

FILES = {
    "lines/__init__.py": "",
    "lines/record.py": RECORD,
    "lines/reader.py": READER,
    "lines/lowering.py": LOWERING,
    "lines/view.py": VIEW,
    "extension/front/lines/swirl_ext.py": EXTRACTOR,
    "extension/front/lines/rename.py": TRANSFORMATION,
    "extension/ops/swirl.py": OPERATION,
    "net.lines": "relu\nscale 2.5\nswirl 3\n",
    "plain.lines": "relu\nscale 2.5\n",
}

ADDED = """
import moir
from lines.record import LINES
from moir.frameworks import registered
from moir.tools.convert import main
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The files of the framework, of an extension for it, and of two models."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
    return tmp_path


def run(folder: Path, program: str) -> str:
    """What a program prints that runs in a process of its own in the folder."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(folder), *sys.path))}
    finished = subprocess.run(
        [sys.executable, "-c", ADDED + dedent(program)], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def check_swirl(text: str) -> None:
    """Whether the text of an IR says what the extension did: the extractor, the transformation, and the option."""
    assert '<data turns="3"/>' in text
    assert 'name="found/line0" type="ReLU"' in text
    assert 'shape="4"' in text


def test_from_the_command_line(folder: Path) -> None:
    run(
        folder,
        """
        with registered(LINES):
            arguments = ["net.lines", "-o", "net.xml", "--line-size", "4", "--extensions", "extension", "--silent"]
            assert main(arguments) == 0
        """,
    )
    check_swirl((folder / "net.xml").read_text())


def test_from_python(folder: Path) -> None:
    run(
        folder,
        """
        with registered(LINES):
            moir.save_model(moir.convert_model("net.lines", line_size="4", extensions="extension"), "net.xml")
            assert "tensor<5xf32>" in str(moir.read_model("net.lines", line_size="5"))
        """,
    )
    check_swirl((folder / "net.xml").read_text())


def test_the_help_lists_its_option(folder: Path) -> None:
    program = """
        with registered(LINES):
            try:
                main(["--help"])
            except SystemExit:
                pass
        """
    assert "--line-size N" in run(folder, program)


def test_it_is_seen_after_other_conversions(folder: Path) -> None:
    """What is computed from all frameworks is not kept from the time before."""
    printed = run(
        folder,
        """
        import openvino, numpy
        from moir.model_optimizer.attributes.describing_attributes import describing_names
        from moir.model_optimizer.block.operation_names import class_names
        from moir.dialects.framework import operation_class

        scale = operation_class("lines", "scale")
        with registered(LINES.with_fields(view=None)):
            print(class_names(scale), "factor" in describing_names(scale))
            moir.save_model(moir.convert_model("plain.lines", extensions="extension"), "before.xml")
        with registered(LINES):
            print(class_names(scale), "factor" in describing_names(scale))
            moir.save_model(moir.convert_model("plain.lines", extensions="extension"), "after.xml")
        for name in ("before", "after"):
            print(openvino.Core().compile_model(f"{name}.xml", "CPU")([numpy.array([-1, 0, 2], numpy.float32)])[0])
        """,
    )
    assert printed.splitlines() == ["('scale',) False", "('LineScale', 'scale') True", "[0. 0. 5.]", "[ 0.  0. 10.]"]


def test_its_option_is_unknown_without_it(folder: Path) -> None:
    printed = run(
        folder,
        """
        from moir.errors import ArgumentError

        with registered(LINES):
            moir.convert_model("plain.lines", line_size="4")
            try:
                moir.convert_model("plain.lines", line_size=4)
            except ArgumentError as error:
                print(error)
        for call in (moir.convert_model, moir.read_model):
            try:
                call("plain.lines", line_size="4")
            except ArgumentError as error:
                print(error)
        """,
    )
    assert "argument line_size of convert_model must be" in printed
    assert "convert_model has no argument 'line_size'" in printed
    assert "read_model has no argument 'line_size'" in printed
