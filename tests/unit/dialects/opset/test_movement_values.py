"""Values of the families shape, movement, indexing, sort, signal and of Select: moir against the CPU plugin; and symbolic values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.ir import Block, Operation, SSAValue

from moir.analysis.known_values import KnownValues, evaluate
from moir.dialects import element_types
from moir.dialects.data import DataAttr
from moir.dialects.inference import infer_operation
from moir.dialects.opset import operation
from moir.dialects.opset.base import property_table
from moir.dialects.opset.infrastructure import Constant, Parameter
from moir.dialects.shapes import UNKNOWN, shape_of, tensor
from moir.dialects.symbols import Symbol
from tests.unit.dialects.opset.runtime_reference import evaluate_with_moir, evaluate_with_runtime, moir_operation

Properties = dict[str, Any]


def reals(*shape: int) -> np.ndarray[Any, Any]:
    """Random numbers of type f32, the same ones in every run."""
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def whole(*shape: int, below: int = 50) -> np.ndarray[Any, Any]:
    """Random integers of type i64 around 0."""
    return np.random.default_rng(sum(shape)).integers(-below, below, shape)


def numbers(values: Any) -> np.ndarray[Any, Any]:
    """Integers of type i64."""
    return np.array(values, dtype=np.int64)


def index_masks(begin: list[int], end: list[int], new: list[int], shrink: list[int], ellipsis: list[int]) -> Properties:
    """The masks of a StridedSlice."""
    return {"begin_mask": begin, "end_mask": end, "new_axis_mask": new, "shrink_axis_mask": shrink, "ellipsis_mask": ellipsis}


WINDOW = np.hanning(18)[1:-1].astype(np.float32)
REPEATED = numbers([[0, 1, 1], [0, 0, 3]])
BLOCKS = [
    (name, {"mode": mode, "block_size": 2})
    for name in ("opset1.DepthToSpace", "opset1.SpaceToDepth")
    for mode in ("blocks_first", "depth_first")
]
SLICES = [(1, 9, 2), (-1, -9, -2), (-9, -9, -1), (7, 0, -1), (3, 2**31 - 1, 1), (-9, 3, 1)]
TOP = [{"mode": mode, "sort": sort, "index_element_type": "i64"} for mode in ("max", "min") for sort in ("value", "index")]

CASES: list[tuple[str, Properties, list[Any]]] = [
    ("opset1.Reshape", {"special_zero": True}, [reals(2, 3, 4), numbers([0, -1])]),
    ("opset1.Squeeze", {}, [reals(1, 3, 1), numbers([-1])]),
    ("opset15.Squeeze", {}, [reals(1, 3, 1)]),
    ("opset1.Unsqueeze", {}, [reals(2, 3), numbers([0, -1])]),
    ("opset3.ShapeOf", {"output_type": "i32"}, [reals(2, 3)]),
    ("opset1.Concat", {"axis": 1}, [reals(2, 3), reals(2, 4)]),
    ("opset1.Transpose", {}, [reals(2, 3, 4), numbers([2, 0, 1])]),
    ("opset1.Transpose", {}, [reals(2, 3, 4), numbers([])]),
    ("opset3.Broadcast", {"mode": "numpy"}, [reals(3, 1), numbers([2, 3, 4])]),
    ("opset3.Broadcast", {"mode": "bidirectional"}, [reals(3, 1), numbers([2, 1, 4])]),
    ("opset3.Broadcast", {"mode": "explicit"}, [reals(3), numbers([2, 3, 4]), numbers([1])]),
    ("opset1.Tile", {}, [reals(2, 3), numbers([2, 1, 2])]),
    ("opset1.Tile", {}, [reals(2, 3), numbers([2])]),
    *(("opset8.Slice", {}, [reals(2, 6), *(numbers([n]) for n in bounds), numbers([1])]) for bounds in SLICES),
    *(
        ("opset1.StridedSlice", index_masks([0, 0], [1, 0], [], [], []), [reals(6, 6), *map(numbers, ([1, start], [5, stop], [2, step]))])
        for start, stop, step in SLICES
    ),
    (
        "opset1.StridedSlice",
        index_masks([0] * 3, [0] * 3, [0] * 3, [1, 0, 0], [0, 1, 0]),
        [reals(4, 5, 6), *map(numbers, ([1, 0, 2], [2, 0, 5], [1, 1, 1]))],
    ),
    (
        "opset1.StridedSlice",
        index_masks([0] * 3, [0] * 3, [1, 0, 0], [0] * 3, [0, 1, 0]),
        [reals(4, 5, 6), *map(numbers, ([0, 0, 2], [0, 0, 5], [1, 1, 1]))],
    ),
    ("opset1.StridedSlice", index_masks([1, 0], [1, 0], [], [0, 1], []), [reals(4, 5, 6), numbers([0, -1]), numbers([0, 3])]),
    *(
        ("opset12.Pad", {"pad_mode": mode}, [reals(6, 7), numbers([1, 2]), numbers([2, 1])])
        for mode in ("constant", "edge", "reflect", "symmetric")
    ),
    ("opset12.Pad", {"pad_mode": "constant"}, [reals(4, 5), numbers([-1, 2]), numbers([2, -3]), np.array(3, np.float32)]),
    ("opset12.Pad", {"pad_mode": "reflect"}, [reals(6, 7), numbers([-1, 2]), numbers([2, -1])]),
    *((*block, [data]) for block in BLOCKS for data in (reals(2, 8, 4, 6), reals(2, 16, 2, 4, 2), reals(2, 4, 6))),
    ("opset2.BatchToSpace", {}, [reals(8, 3, 4, 6), *map(numbers, ([1, 1, 2, 2], [0, 0, 1, 0], [0, 0, 0, 3]))]),
    ("opset2.BatchToSpace", {}, [reals(12, 3, 4), *map(numbers, ([1, 2, 3], [0, 1, 1], [0, 1, 2]))]),
    ("opset2.SpaceToBatch", {}, [reals(2, 3, 4, 6), *map(numbers, ([1, 1, 2, 3], [0, 0, 1, 0], [0, 0, 1, 3]))]),
    ("opset2.SpaceToBatch", {}, [reals(2, 3, 5), *map(numbers, ([1, 2, 2], [0, 1, 1], [0, 0, 0]))]),
    ("opset1.Reverse", {"mode": "index"}, [reals(3, 4), numbers([-1])]),
    ("opset1.Reverse", {"mode": "mask"}, [reals(3, 4), np.array([True, False])]),
    ("opset7.Roll", {}, [reals(3, 4), numbers([1, -2]), numbers([0, 1])]),
    ("opset7.Roll", {}, [reals(3, 4), numbers([2, 1]), numbers([0, 0])]),
    ("opset1.ShuffleChannels", {"axis": -1, "group": 3}, [reals(2, 4, 6)]),
    ("opset8.Gather", {}, [reals(4, 5), numbers([3, -1, 0]), numbers(0)]),
    ("opset8.Gather", {"batch_dims": 1}, [reals(2, 3, 4, 5), numbers([[0, 1], [2, -1]]), numbers(2)]),
    ("opset6.GatherElements", {"axis": 0}, [reals(3, 4), numbers([[0, 1, 2, 1], [2, 0, 0, 1]])]),
    ("opset6.GatherElements", {"axis": 1}, [reals(3, 4), numbers([[0, -1], [3, 2], [1, 1]])]),
    ("opset8.GatherND", {}, [reals(3, 4, 5), numbers([[0, 1], [2, -3]])]),
    ("opset8.GatherND", {"batch_dims": 1}, [reals(2, 3, 4), numbers([[[1], [0]], [[2], [2]]])]),
    ("opset3.ScatterUpdate", {}, [reals(4, 5), numbers([3, 0]), reals(2, 5), numbers(0)]),
    ("opset3.ScatterUpdate", {}, [reals(4, 5), numbers([[3], [0]]), reals(4, 2, 1), numbers(1)]),
    ("opset12.ScatterElementsUpdate", {}, [reals(4, 3), numbers([[0, 1, 2], [3, -1, 1]]), reals(2, 3), numbers(0)]),
    *(
        ("opset12.ScatterElementsUpdate", {"reduction": reduction, "use_init_val": initial}, [make(4, 3), REPEATED, make(2, 3), numbers(0)])
        for reduction in ("sum", "prod", "min", "max", "mean")
        for initial in (True, False)
        for make in (reals, whole)
    ),
    ("opset15.ScatterNDUpdate", {}, [reals(4, 3), numbers([[0, 1], [-1, -1]]), reals(2)]),
    *(
        ("opset15.ScatterNDUpdate", {"reduction": reduction}, [reals(4, 3), numbers([[0], [2], [0]]), reals(3, 3)])
        for reduction in ("sum", "sub", "prod", "min", "max")
    ),
    ("opset3.NonZero", {"output_type": "i32"}, [whole(3, 4, below=2)]),
    *(
        ("opset15.SearchSorted", {"right_mode": right}, [np.sort(whole(*rows, below=3)), whole(2, 3, below=3)])
        for right in (True, False)
        for rows in ((6,), (2, 6))
    ),
    ("opset1.Select", {}, [whole(2, 3) > 0, reals(3), reals(1, 1)]),
    ("opset7.DFT", {}, [reals(2, 8, 5, 2), numbers([-1, 0]), numbers([7, -1])]),
    ("opset7.IDFT", {}, [reals(2, 8, 5, 2), numbers([1, 2]), numbers([4, 9])]),
    ("opset9.RDFT", {}, [reals(2, 8, 5), numbers([1, -1])]),
    ("opset9.RDFT", {}, [reals(2, 8, 5), numbers([2, 1]), numbers([3, 6])]),
    ("opset9.IRDFT", {}, [reals(2, 8, 5, 2), numbers([1, 2])]),
    ("opset9.IRDFT", {}, [reals(2, 8, 5, 2), numbers([1, 2]), numbers([8, 7])]),
    *(
        ("opset15.STFT", {"transpose_frames": transposed}, [reals(2, 48), reals(11), numbers(16), numbers(7)])
        for transposed in (True, False)
    ),
    *(
        ("opset16.ISTFT", {"center": center, "normalized": normalized}, [reals(2, 9, 5, 2), WINDOW, numbers(16), numbers(4), *length])
        for center in (True, False)
        for normalized in (True, False)
        for length in ([], [numbers(40)], [numbers(20)])
    ),
]
SEVERAL_RESULTS: list[tuple[str, Properties, list[Any], int]] = [
    ("opset1.Split", {"num_splits": 3}, [reals(2, 6), numbers(1)], 3),
    ("opset1.VariadicSplit", {}, [reals(2, 6), numbers(-1), numbers([2, -1, 1])], 3),
    *(("opset11.TopK", top | {"axis": axis}, [reals(3, 7), numbers(3)], 2) for top in TOP for axis in (0, -1)),
    *(("opset11.TopK", top | {"axis": 1, "stable": True}, [whole(3, 7, below=2), numbers(4)], 2) for top in TOP),
    *(
        ("opset10.Unique", {"sorted": ordered}, [whole(3, 4, below=3), *axis], 4)
        for ordered in (True, False)
        for axis in ([], [numbers(0)])
    ),
]
CONSTANT_OPERANDS: dict[str, tuple[int, ...]] = {
    "opset1.Concat": (),
    "opset1.Select": (),
    "opset15.STFT": (2, 3),
    "opset15.SearchSorted": (),
    "opset16.ISTFT": (2, 3, 4),
}
"""Operands that are constants, where these are not all but the first."""


@pytest.mark.parametrize(("name", "properties", "arrays"), CASES, ids=[f"{index}-{case[0]}" for index, case in enumerate(CASES)])
def test_values_equal_those_of_the_runtime(name: str, properties: Properties, arrays: list[Any]) -> None:
    compare(name, properties, arrays, 1)


@pytest.mark.parametrize(("name", "properties", "arrays", "results"), SEVERAL_RESULTS)
def test_several_results_equal_those_of_the_runtime(name: str, properties: Properties, arrays: list[Any], results: int) -> None:
    compare(name, properties, arrays, results)


def compare(name: str, properties: Properties, arrays: list[Any], results: int) -> None:
    """Assert that moir and the runtime compute the same."""
    expected = evaluate_with_runtime(name, arrays, properties, results, CONSTANT_OPERANDS.get(name))
    found = evaluate_with_moir(name, arrays, properties, results)
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


def test_reverse_sequence_reverses_the_first_elements_of_each_entry() -> None:
    data, lengths = reals(3, 4, 2), np.array([1, 3], np.int32)
    (found,) = evaluate_with_moir("opset1.ReverseSequence", [data, lengths], {"batch_axis": 2, "seq_axis": 0})
    expected = data.copy()
    expected[:, :, 1] = data[::-1, :, 1]
    np.testing.assert_array_equal(found, expected)


def test_index_out_of_range_is_not_evaluated() -> None:
    operands = [reals(4, 5), numbers([9]), numbers(0)]
    assert evaluate(moir_operation("opset8.Gather", list(operands), {}), operands) is None


class Builder:
    """A block that operations are added to, inferred at once."""

    def __init__(self) -> None:
        self.block = Block()
        self.known = KnownValues()

    def parameter(self, *shape: int) -> SSAValue:
        """A Parameter of type f32."""
        return self._add(Parameter.create(result_types=[tensor(shape, element_types.f32)]))

    def constant(self, values: Any) -> SSAValue:
        """A Constant of type i64 or boolean."""
        array = np.array(values)
        data = DataAttr.of(array if array.dtype == bool else array.astype(np.int64))
        return self._add(Constant.create(properties={"value": data}, result_types=[tensor(data.shape, data.element)]))

    def __call__(self, name: str, *operands: SSAValue, **properties: Any) -> SSAValue:
        table = property_table(operation(name))
        attributes = dict(table.defaults) | {key: table.specs[key].kind.attribute(value) for key, value in properties.items()}
        return self._add(operation(name).create(operands=operands, properties=attributes, result_types=[UNKNOWN]))

    def _add(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        infer_operation(op, self.known)
        return op.results[0]


def test_reshape_to_computed_shape_keeps_static_parts() -> None:
    add = Builder()
    x = add.parameter(-1, 6, 4)
    shape = add("opset3.ShapeOf", x)
    batch = add("opset8.Gather", shape, add.constant(0), add.constant(0))
    target = add("opset1.Concat", add("opset1.Unsqueeze", batch, add.constant([0])), add.constant([-1]), axis=0)
    assert shape_of(add("opset1.Reshape", x, target, special_zero=False)) == (-1, 24)
    sliced = add("opset8.Slice", shape, add.constant([0]), add.constant([2]), add.constant([1]))
    whole_target = add("opset1.Concat", sliced, add.constant([2, -1]), axis=0)
    assert shape_of(add("opset1.Reshape", x, whole_target, special_zero=False)) == (-1, 6, 2, 2)


def test_broadcast_shape_chosen_by_select_keeps_static_parts() -> None:
    add = Builder()
    shape = add("opset3.ShapeOf", add.parameter(-1, 5))
    entries = add.known.elements(add("opset1.Transpose", shape, add.constant([0])))
    assert entries is not None
    assert isinstance(entries[0], Symbol)
    assert entries[1] == 5
    target = add("opset1.Select", add.constant([False, True]), shape, add.constant([7, 8]))
    assert shape_of(add("opset3.Broadcast", add.parameter(1, 1), target)) == (7, 5)


@pytest.mark.parametrize(
    ("name", "operands", "properties", "expected"),
    [
        ("opset1.Tile", [[2]], {}, ["?", 5, "?", 5]),
        ("opset1.Reverse", [[0]], {"mode": "index"}, [5, "?"]),
        ("opset8.Gather", [[1, 0, 0], 0], {}, [5, "?", "?"]),
        ("opset6.GatherElements", [[1]], {"axis": 0}, [5]),
        ("opset8.Slice", [[1], [2], [1]], {}, [5]),
        ("opset1.StridedSlice", [[0], [1], [1]], index_masks([0], [0], [0], [1], [0]), "?"),
        ("opset3.ScatterUpdate", [[0], [9], 0], {}, [9, 5]),
        ("opset1.Reshape", [[1, 2]], {"special_zero": False}, [["?", 5]]),
    ],
)
def test_symbolic_values(name: str, operands: list[Any], properties: Properties, expected: Any) -> None:
    add = Builder()
    shape = add("opset3.ShapeOf", add.parameter(-1, 5))
    entries = add.known.elements(add(name, shape, *map(add.constant, operands), **properties))
    assert entries is not None
    assert np.vectorize(lambda entry: "?" if isinstance(entry, Symbol) else int(entry), otypes=[object])(entries).tolist() == expected


def test_a_value_without_symbols_has_an_ordinary_element_type() -> None:
    add = Builder()
    shape = add("opset3.ShapeOf", add.parameter(-1, 5))
    entries = add.known.elements(add("opset8.Gather", shape, add.constant([1]), add.constant(0)))
    assert entries is not None
    assert entries.dtype == np.int64
