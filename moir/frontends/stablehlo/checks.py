"""Checks of the list attributes and regions of an operation: whether they fit its operands.

    slice(%x : tensor<2x3xf32>) {start_indices = [0], …}  ->  "start_indices has 1 entry for an operand of rank 2"

A list has an element for each axis, axes exist, strides begin at 1, and a region has an argument for each value that is
passed to it. Lowerings do not check this again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from moir.frontends.stablehlo.element_types import NARROW, NARROW_INTEGERS, STORED
from moir.frontends.stablehlo.program import Operation, TensorType, Value
from moir.frontends.stablehlo.properties import plain_value
from moir.support.records import Record

EACH_AXIS: Mapping[str, str] = {
    "broadcast_in_dim": "broadcast_dimensions",
    "dynamic_broadcast_in_dim": "broadcast_dimensions",
    "dynamic_slice": "slice_sizes",
    "gather": "slice_sizes",
    "pad": "edge_padding_low edge_padding_high interior_padding",
    "reduce_window": "window_dimensions window_strides base_dilations window_dilations padding",
    "select_and_scatter": "window_dimensions window_strides padding",
    "slice": "start_indices limit_indices strides",
    "transpose": "permutation",
}
"""Operation -> its attributes that are lists with an element for each axis of the first operand (`padding`: two
elements). A list may be left out.
"""

AXES: Mapping[str, str] = {
    "all_gather": "all_gather_dim",
    "batch_norm_grad": "feature_index",
    "batch_norm_inference": "feature_index",
    "batch_norm_training": "feature_index",
    "concatenate": "dimension",
    "dot_general": "lhs_batching_dimensions lhs_contracting_dimensions",
    "gather": "start_index_map collapsed_slice_dims operand_batching_dims",
    "get_dimension_size": "dimension",
    "reduce": "dimensions",
    "reverse": "dimensions",
    "scatter": "scatter_dims_to_operand_dims inserted_window_dims input_batching_dims",
    "sort": "dimension",
    "torch_index_select": "dim",
    "transpose": "permutation",
    "uniform_dequantize": "axis",
    "uniform_quantize": "axis",
}
"""Operation -> its attributes that are lists of axes of the first operand, without repetitions."""

WITHIN: Mapping[str, str] = {
    "dynamic_slice": "slice_sizes",
    "gather": "slice_sizes",
    "slice": "start_indices limit_indices",
}
"""Operation -> its attributes that are lists whose entries are at most the sizes of the first operand."""

FURTHER_AXES: Mapping[str, Mapping[int, str]] = {
    "dot_general": {1: "rhs_batching_dimensions rhs_contracting_dimensions"},
    "gather": {1: "start_indices_batching_dims"},
    "scatter": {1: "scatter_indices_batching_dims"},
}
"""Operation -> the index of an operand after the first -> the attributes that are lists of axes of this operand."""

RESULT_AXES: Mapping[str, str] = {
    "broadcast_in_dim": "broadcast_dimensions",
    "dynamic_broadcast_in_dim": "broadcast_dimensions",
    "dynamic_iota": "iota_dimension",
    "gather": "offset_dims",
    "iota": "iota_dimension",
}
"""Operation -> its attributes that are lists of axes of the result."""

POSITIVE = frozenset(
    (
        *("strides", "window_strides", "window_dilations", "base_dilations", "lhs_dilation", "rhs_dilation"),
        *("feature_group_count", "batch_group_count"),
    )
)
"""Attributes of any operation whose numbers have to be at least 1; the sizes of windows are checked where they are
read.
"""


OPERANDS: Mapping[str, int] = {
    **dict.fromkeys(
        (
            *("abs", "cbrt", "ceil", "convert", "cosine", "exponential", "exponential_minus_one", "floor", "imag", "is_finite", "log"),
            *("log_plus_one", "logistic", "negate", "not", "popcnt", "real", "round_nearest_afz", "round_nearest_even", "rsqrt", "sign"),
            *("sine", "sqrt", "tan", "tanh", "bitcast_convert", "broadcast_in_dim", "reshape", "transpose"),
        ),
        1,
    ),
    **dict.fromkeys(
        (
            *("add", "and", "atan2", "compare", "complex", "divide", "maximum", "minimum", "multiply", "or", "power", "remainder"),
            *("shift_left", "shift_right_arithmetic", "shift_right_logical", "subtract", "xor"),
        ),
        2,
    ),
    **dict.fromkeys(("clamp", "select"), 3),
}
"""The number of operands of each operation that occurs in functions of elements."""


class Arity(Record):
    """The numbers of arguments and results that the regions of an operation must have.

    The operation has as many tensors as operands without `scalars`, divided by `share`. For each tensor, region i has
    `regions[i]` arguments, and one result if `is_elementwise`; else a region has one result altogether.
    """

    regions: tuple[int, ...]
    share: int = 1
    scalars: int = 0
    is_elementwise: bool = True


REGIONS: Mapping[str, Arity] = {
    "map": Arity((1,), is_elementwise=False),
    "reduce": Arity((2,), share=2),
    "reduce_window": Arity((2,), share=2),
    "scatter": Arity((2,), share=2, scalars=1),
    "select_and_scatter": Arity((2, 2), share=3),
    "sort": Arity((2,), is_elementwise=False),
}
"""Operations that apply regions to elements -> the arity of the regions."""


BRANCHES = {"case": 1, "if": 2, "while": 2}
"""Operations of control flow -> the minimum number of their regions."""


def fault_of(operation: Operation) -> str:
    """What is wrong with the list attributes or regions of an operation, as a sentence; empty if nothing is."""
    kind = operation.kind
    if len(operation.operands) != OPERANDS.get(kind, len(operation.operands)):
        return f"it has {len(operation.operands)} operands instead of {OPERANDS[kind]}"
    if len(operation.regions) < BRANCHES.get(kind, 0):
        return f"it has {len(operation.regions)} regions instead of {BRANCHES[kind]}"
    if kind in REGIONS and (fault := _region_fault(operation, REGIONS[kind])):
        return fault
    for name in EACH_AXIS.get(kind, "").split():
        entries, rank = _entries(operation, name), _rank(operation.operands, 0)
        count = None if rank is None else 2 * rank if name == "padding" else rank
        if entries is not None and count is not None and len(entries) != count:
            return f"{name} has {len(entries)} entries for an operand of rank {rank}"
    shape = _shape(operation.operands, 0) or ()
    for name in WITHIN.get(kind, "").split():
        for entry, size in zip(_entries(operation, name) or (), shape, strict=False):
            if entry < 0 or 0 <= size < entry:
                return f"{name} is {entry} for a dimension of {size if size >= 0 else 'dynamic size'}"
    axis_properties = {0: AXES.get(kind, ""), **FURTHER_AXES.get(kind, {})}
    for index, names in axis_properties.items():
        if fault := _axes_fault(operation, names, _rank(operation.operands, index)):
            return fault
    if fault := _axes_fault(operation, RESULT_AXES.get(kind, ""), _rank(operation.results, 0)):
        return fault
    for name in POSITIVE.intersection(operation.attributes):
        if min(_entries(operation, name) or (1,)) < 1:
            return f"{name} has a number below 1"
    return ""


MOVING = frozenset(
    (
        *("broadcast_in_dim", "broadcast", "case", "compare", "concatenate", "convert", "dynamic_broadcast_in_dim", "dynamic_gather"),
        *("dynamic_pad", "dynamic_reshape", "dynamic_slice", "dynamic_update_slice", "gather", "get_dimension_size", "if", "pad"),
        *("real_dynamic_slice", "reshape", "reverse", "scatter", "select", "slice", "sort", "torch_index_select", "transpose", "while"),
    )
)
"""Operations that compute the same with a wider element type, as they only move or compare elements.

The operations in their regions are checked, too.
"""


IN_BYTES = frozenset(
    (
        *("abs", "add", "and", "clamp", "divide", "maximum", "minimum", "multiply", "negate", "not", "or", "remainder", "shift_left"),
        *("shift_right_arithmetic", "sign", "subtract", "xor"),
    )
)
"""Operations that can be computed in 8 bits for integers of fewer bits: the lowest bits of that result are the result.
"""


COUNTING = frozenset(("dynamic_iota", "iota"))
"""Operations whose results are consecutive integers; they have no operand but the shape of the result."""


def is_in_bytes(operation: Operation) -> bool:
    """Whether an operation has integers of less than 8 bits as results, and can be computed in 8 bits instead.

    That is possible for the operations in `IN_BYTES` on integers of one type, for conversions from another type, and
    for iota.
    """
    element = _element(operation.results[0]) if operation.results else None
    if element not in NARROW_INTEGERS:
        return False
    if operation.kind == "convert":
        return _element(operation.operands[0]) != element
    return operation.kind in COUNTING or (operation.kind in IN_BYTES and all(_element(each) == element for each in operation.operands))


def narrow_fault(operation: Operation) -> str:
    """Why an operation cannot have tensors of a narrow element type, as a sentence; empty if it can, or has no such
    tensors.
    """
    operand = next((name for each in operation.operands if (name := _narrow_name(each))), "")
    result = next((name for each in operation.results if (name := _narrow_name(each))), "")
    if (operand or result) and operation.kind not in MOVING:
        return f"it computes in {operand or result}, which the IR does not have"
    if operation.kind == "convert" and result and result != operand and NARROW[result][0] not in STORED:
        return f"it converts to {result}, which the IR does not have"
    return ""


def _element(value: Value) -> object:
    """The element type of a value; None if it is no tensor."""
    return value.type.element if isinstance(value.type, TensorType) else None


def _narrow_name(value: Value) -> str:
    """The name of the element type of a value if the IR does not compute with it; empty otherwise."""
    element = _element(value)
    return next((name for name, (narrow, _, _) in NARROW.items() if narrow == element), "")


def _region_fault(operation: Operation, arity: Arity) -> str:
    tensors = (len(operation.operands) - arity.scalars) // arity.share
    if len(operation.regions) != len(arity.regions):
        return f"it has {len(operation.regions)} regions, not {len(arity.regions)}"
    results = tensors if arity.is_elementwise else 1
    for region, each in zip(operation.regions, arity.regions, strict=True):
        if len(region.arguments) != each * tensors:
            return f"its region has {len(region.arguments)} arguments, not {each * tensors}"
        if not region.operations or len(region.operations[-1].operands) != results:
            return f"its region does not return {results} values"
    return ""


def _axes_fault(operation: Operation, names: str, rank: int | None) -> str:
    for name in names.split():
        entries = _entries(operation, name) or ()
        if rank is not None and (len(set(entries)) != len(entries) or any(not 0 <= each < rank for each in entries)):
            return f"{name} is {list(entries)}, which are not axes of a tensor of rank {rank}"
    return ""


def _entries(operation: Operation, name: str) -> Sequence[int] | None:
    """The integers of the attribute `name`, which may be an entry of a dictionary such as dimension numbers.

    Returns None if it is absent, or no list of integers; a single integer becomes a list.
    """
    value: Any = operation.attributes.get(name)
    if value is None:
        held = [cast("Mapping[str, Any]", each) for each in operation.attributes.values() if isinstance(each, dict) and name in each]
        value = held[0][name] if held else None
    plain = plain_value(value)
    if isinstance(plain, int):
        return (plain,)
    entries = cast("list[Any]", plain) if isinstance(plain, list) else None
    return entries if entries is not None and all(isinstance(each, int) for each in entries) else None


def _shape(values: Sequence[Value], index: int) -> tuple[int, ...] | None:
    type_ = values[index].type if index < len(values) else None
    return type_.shape if isinstance(type_, TensorType) else None


def _rank(values: Sequence[Value], index: int) -> int | None:
    shape = _shape(values, index)
    return None if shape is None else len(shape)
