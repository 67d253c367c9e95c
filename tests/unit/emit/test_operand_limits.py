"""Operands and attributes that the runtime refuses are errors of the emission; the table is what the runtime says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from moir import convert_model, save_model
from moir.emit.operand_limit_table import LIMITS
from moir.emit.operand_limits import limits_of
from moir.errors import EmissionError
from scripts.operand_limits import WRITTEN, Probe, operations_with_samples, table, weakest
from scripts.opset_samples import Sample


def test_the_table_is_that_of_the_runtime() -> None:
    """Every eighth operation; `python -m scripts.operand_limits` asks of all and leaves the file as it is."""
    names = operations_with_samples()
    assert LIMITS.keys() <= {*names, *WRITTEN}
    some = names[::8]
    assert table(some) == {name: limits for name, limits in LIMITS.items() if name in some or name in WRITTEN}


def test_limits_of_operations() -> None:
    data, indices, axis = limits_of("opset8.Gather")
    assert (indices.integers, indices.rank, axis.rank, axis.is_single) == (True, None, 1, True)
    assert not data.integers
    assert data.strings
    assert limits_of("extension.Own") == ()
    assert {"opset8.If", "opset5.Loop"} <= WRITTEN.keys()


def test_bitwise_operations_take_booleans_and_shifts_do_not() -> None:
    assert [each.logical for each in limits_of("opset13.BitwiseAnd")] == [True, True]
    assert [(each.integers, each.logical) for each in limits_of("opset15.BitwiseLeftShift")] == [(True, False)] * 2


def test_limits_do_not_depend_on_the_other_operands() -> None:
    """The bounds of a slice have equal lengths, which does not limit the length of each; an axis is always one
    number.
    """
    slice_ = Probe("opset15.SliceScatter", Sample(("f32[4,4]", "f32[2,4]", "i64=[0]", "i64=[2]", "i64=[1]", "i64=[0]")))
    assert slice_.limits() == ["-", "-", *["i1"] * 4]
    assert Probe("opset1.VariadicSplit", Sample(("f32[4,4]", "i64=1", "i64=[1,3]"))).limits()[1] == "-1="


def test_limits_hold_in_all_modes() -> None:
    """The second operand of Interpolate is of integers or of floats, as an attribute says."""
    assert [limit.integers for limit in limits_of("opset11.Interpolate")[1:2]] in ([], [False])
    assert weakest(["i1=", "f1"]) == "n1"
    assert weakest(["i1=", "i"]) == "i"
    assert weakest(["-", "i1"]) == "-"
    assert weakest(["i1", "w1"]) == "i1"


@pytest.mark.parametrize(
    ("node", "constants", "reason"),
    [
        (("GatherElements", "x", "i"), {"i": np.zeros((1, 1), np.float32)}, "operand 1 is of f32, where integers are needed"),
        (("GatherElements", "x", "i"), {"i": np.zeros((1, 1), np.uint8)}, "operand 1 is of ui8, where i32 or i64 is needed"),
        (("Squeeze", "x", "i"), {"i": np.zeros((1, 1), np.int64)}, "operand 1 has rank 2, where at most 1 is possible"),
    ],
)
def test_refused_operands(node: tuple[str, ...], constants: dict[str, np.ndarray], reason: str, tmp_path: Path) -> None:
    kind, *operands = node
    graph = helper.make_graph(
        [helper.make_node(kind, operands, ["y"], name="n")],
        "m",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1])],
        [helper.make_empty_tensor_value_info("y")],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    path = tmp_path / "m.onnx"
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9).SerializeToString())
    module = convert_model(path)
    with pytest.raises(EmissionError, match=reason) as failure:
        save_model(module, tmp_path / "m.xml")
    assert failure.value.node == "n"
    assert not (tmp_path / "m.xml").exists()
