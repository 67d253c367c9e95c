"""xDSL's own tools know our dialects and passes."""

from __future__ import annotations

from xdsl.universe import Universe

from moir.dialects import opset
from moir.pipeline import pass_names


def test_everything_is_found_and_nothing_clashes() -> None:
    universe = Universe.get_multiverse()
    assert {"moir", "onnx", *opset.OPSETS} <= universe.all_dialects.keys()
    assert set(pass_names()) <= universe.all_passes.keys()
    assert universe.all_passes["fold-constants"]().name == "fold-constants"


def test_dialects_have_their_operations() -> None:
    dialects = Universe.get_multiverse().all_dialects
    operations = {op.name for name in opset.OPSETS for op in dialects[name]().operations}
    assert operations == set(opset.names())
    assert "onnx.Conv" in {op.name for op in dialects["onnx"]().operations}
    assert "moir.data" in {attribute.name for attribute in dialects["moir"]().attributes}
