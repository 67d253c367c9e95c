"""Values that are known in part: symbols for unknown dimensions, through the operations that compute shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.ir import Block, Operation, SSAValue

from moir.analysis.known_values import KnownValues
from moir.analysis.known_values import evaluate as evaluate_operation
from moir.dialects import element_types
from moir.dialects.data import DataAttr
from moir.dialects.inference import infer_operation
from moir.dialects.opset import operation
from moir.dialects.opset.infrastructure import Constant, Parameter
from moir.dialects.opset.interfaces.properties import property_table
from moir.dialects.shapes import UNKNOWN, shape_of, tensor
from moir.dialects.symbols import Symbol
from tests.unit.dialects.opset.cases import integers
from tests.unit.dialects.opset.runtime_reference import moir_operation
from tests.unit.dialects.opset.tables import Properties

FIRST = {"begin_mask": [0], "end_mask": [0], "new_axis_mask": [0], "shrink_axis_mask": [1], "ellipsis_mask": [0]}
"""The masks of a StridedSlice that takes one entry."""


def evaluated(op: str, arrays: list[Any], properties: dict[str, Any] | None = None, element: str = "i64") -> list[Any]:
    """Entries of the result for arrays that may have symbols in them."""
    operands = [(element, np.shape(array)) if np.asarray(array).dtype == object else np.asarray(array) for array in arrays]
    instance = moir_operation(op, operands, properties or {})
    results = evaluate_operation(instance, [np.asarray(array) for array in arrays])
    assert results is not None
    return results[0].ravel().tolist()


def test_symbols_pass_through_arithmetic() -> None:
    size, other = Symbol(True), Symbol(True)
    shape = np.array([size, 4, other], object)
    assert evaluated("opset1.Multiply", [shape, integers(1, 2, 0)]) == [size, 8, 0]
    assert evaluated("opset1.Subtract", [shape, shape]) == [0, 0, 0]
    assert evaluated("opset1.Divide", [shape, integers(1, 3, 1)]) == [size, 1, other]
    assert evaluated("opset1.Maximum", [shape, integers(0, 9, -1)]) == [size, 9, other]
    assert evaluated("opset1.Minimum", [shape, integers(0, 9, -1)]) == [0, 4, -1]
    assert evaluated("opset1.Mod", [np.array([size, -7], object), integers(1, 3)]) == [0, -1]
    assert evaluated("opset1.FloorMod", [np.array([size, -7], object), integers(1, 3)]) == [0, 2]
    assert evaluated("opset1.Divide", [np.array([size, -7], object), integers(1, 2)]) == [size, -4]
    assert evaluated("opset1.Divide", [np.array([size, -7], object), integers(1, 2)], {"m_pythondiv": False}) == [size, -3]


def test_symbols_are_compared_as_sizes() -> None:
    size = Symbol(True)
    shape = np.array([size, size, 4], object)
    equal = evaluated("opset1.Equal", [shape, np.array([size, -1, 4], object)])
    assert equal == [True, False, True]
    assert evaluated("opset1.GreaterEqual", [shape, integers(0, -1, 5)]) == [True, True, False]
    less = evaluated("opset1.Less", [shape, integers(0, 7, 5)])
    assert less[0] is False
    assert isinstance(less[1], Symbol)
    assert less[2] is True


def test_unknown_truths_are_decided_where_the_other_operand_does() -> None:
    unknown = Symbol()
    truths = np.array([unknown, unknown, True], object)
    conjunction = evaluated("opset1.LogicalAnd", [truths, np.array([True, False, True])], element="boolean")
    disjunction = evaluated("opset1.LogicalOr", [truths, np.array([True, False, True])], element="boolean")
    assert conjunction == [unknown, False, True]
    assert disjunction == [True, unknown, True]
    assert evaluated("opset2.LogicalXor", [truths, truths], element="boolean") == [False, False, False]


def test_reductions_of_symbols() -> None:
    size = Symbol(True)
    shape = np.array([size, 0, 4], object)
    assert evaluated("opset1.ReduceProd", [shape, integers(0)]) == [0]
    assert evaluated("opset1.ReduceProd", [np.array([size, 1], object), integers(0)]) == [size]
    assert evaluated("opset1.ReduceMin", [shape, integers(0)]) == [0]
    assert evaluated("opset1.ReduceMax", [np.array([size, 0], object), integers(0)]) == [size]


def test_a_symbol_that_was_a_float_is_another_number_as_an_integer() -> None:
    size = Symbol(True)
    as_float, known = evaluated("opset1.Convert", [np.array([size, 3], object)], {"destination_type": "f32"})
    assert as_float is size
    assert known == 3.0
    assert isinstance(known, float)
    back, cut = evaluated("opset1.Convert", [np.array([size, 3.5], object)], {"destination_type": "i64"}, element="f32")
    assert isinstance(back, Symbol)
    assert back is not size
    assert back.dimension
    assert cut == 3


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
        (
            "opset1.StridedSlice",
            [[0], [1], [1]],
            FIRST,
            "?",
        ),
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
