"""Ranges for random integer inputs, from how the model uses them: indices have to be valid in their tables.

    %y = opset8.Gather(%table, opset1.Convert(%ids), 0)      // %table: [30522, 768]
->  ids: 0 … 30521
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of, scalar_of
from moir.analysis.model_ports import names_of_port
from moir.dialects.framework import FrameworkOp, framework_of
from moir.dialects.moir import ModelOp
from moir.dialects.opset.infrastructure import Parameter
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import shape_of
from moir.errors import MoirError
from moir.execution.ports import only_model
from moir.options import ConversionOptions
from moir.support.records import Record

Ranges = Mapping[str, tuple[float, float]]
"""The name of each integer input -> the least and the greatest value that it is given."""


class Use(Record):
    """A value whose elements are those of a model input plus the integer `offset`."""

    value: SSAValue
    offset: int


_FIRST = frozenset(
    (
        *("Convert", "ConvertLike", "Reshape", "Unsqueeze", "Squeeze", "Transpose", "Broadcast", "Tile", "Slice", "StridedSlice"),
        *("Split", "VariadicSplit", "Gather", "GatherND", "GatherElements", "Pad", "ReverseSequence", "Clamp"),
    )
)
"""Operations whose results consist of elements of their first operand."""

_ALL = frozenset(("Concat", "Maximum", "Minimum"))
"""Operations whose result consists of elements of all operands."""


def _along(axis: Callable[[OpsetOp], float | None]) -> Callable[[OpsetOp], int | None]:
    """A function that returns the size of an operation's operand 0 along an axis, which `axis` returns for the
    operation.

    The function returns None if the shape or the axis is unknown.
    """

    def size(op: OpsetOp) -> int | None:
        shape, along = shape_of(op.operands[0]), axis(op)
        return None if shape is None or along is None or not -len(shape) <= along < len(shape) else shape[int(along)]

    return size


def _coordinates(op: OpsetOp) -> int | None:
    """The smallest of the dimensions of operand 0 that coordinates in operand 1 index, as GatherND's; None if
    unknown.
    """
    shape, indices = shape_of(op.operands[0]), shape_of(op.operands[1])
    count = len(shape or ()) if not indices or indices[-1] < 0 else indices[-1]
    return min(shape[:count], default=None) if shape else None


def _depth(op: OpsetOp) -> int | None:
    depth = scalar_of(op.operands[1])
    return None if depth is None else int(depth)


_OPERAND_2, _OPERAND_3, _PROPERTY = (
    _along(lambda op: scalar_of(op.operands[2])),
    _along(lambda op: scalar_of(op.operands[3])),
    _along(lambda op: op.integer("axis")),
)

_INDEXED: Mapping[tuple[str, int], Callable[[OpsetOp], int | None]] = {
    ("Gather", 1): _OPERAND_2,
    ("GatherElements", 1): _PROPERTY,
    ("GatherND", 1): _coordinates,
    ("ScatterUpdate", 1): _OPERAND_3,
    ("ScatterElementsUpdate", 1): _OPERAND_3,
    ("ScatterNDUpdate", 1): _coordinates,
    ("OneHot", 0): _depth,
    ("EmbeddingBagOffsets", 1): _along(lambda _: 0),
    ("EmbeddingBagOffsetsSum", 1): _along(lambda _: 0),
    ("EmbeddingBagPacked", 1): _along(lambda _: 0),
    ("EmbeddingBagPackedSum", 1): _along(lambda _: 0),
    ("EmbeddingSegmentsSum", 1): _along(lambda _: 0),
}
"""Operands that are indices: (operation, operand index) -> a function that returns the exclusive upper bound for the
operation, or None.
"""


def ranges_by_use(module: ModuleOp, options: ConversionOptions | None = None) -> Ranges:
    """Ranges for integer inputs that are used as indices, by all names of these inputs.

    Args:
        module: a module, which is not changed. A module of a framework is lowered first (a copy); there are no ranges
            if that fails.
        options: the options of the conversion.
    """
    if any(isinstance(op, FrameworkOp) for op in module.walk()):
        module = module.clone()
        with suppress(MoirError):
            _lower(module, options or ConversionOptions())
    return dict(_ranges(only_model(module)))


def _lower(module: ModuleOp, options: ConversionOptions) -> None:
    """Run the passes of the pipeline that end with a module in opset dialects."""
    from moir.conversion import run
    from moir.pipeline import default_pipeline

    passes = default_pipeline(framework_of(module), options)
    names = [each.name for each in passes]
    run(module, passes[: names.index("check-lowered")])


def _ranges(model: ModelOp) -> Iterator[tuple[str, tuple[float, float]]]:
    for op in model.block.ops:
        if isinstance(op, Parameter) and (limits := list(_limits(op.results[0]))):
            highest = max(min(limits) - 1, 0)
            for name in names_of_port(op):
                yield name, (0, highest)


def _limits(value: SSAValue) -> Iterator[int]:
    """Exclusive upper bounds for the elements of a value, from uses of the value, or of results with the same elements,
    as an index.
    """
    uses, seen = [Use(value, 0)], set[SSAValue]((value,))
    while uses:
        use = uses.pop()
        for each in use.value.uses:
            op = each.operation
            if not isinstance(op, OpsetOp):
                continue
            kind = op.name.partition(".")[2]
            if (size := _INDEXED.get((kind, each.index))) is not None and (limit := size(op)) is not None and limit > 0:
                yield limit - use.offset
            offset = _added(op, kind, each.index)
            if offset is None:
                continue
            results = [result for result in op.results if result not in seen]
            seen.update(results)
            uses += [Use(result, use.offset + offset) for result in results]


def _added(op: Operation, kind: str, index: int) -> int | None:
    """The integer that an operation adds to the elements of operand `index`; None if its results are not such sums.

    Args:
        op: the operation.
        kind: its name without dialect and version.
        index: the operand through which it uses the value.
    """
    if kind in ("Add", "Subtract"):
        other = constant_of(op.operands[1 - index])
        if other is None or other.dtype.kind not in "iu" or (kind == "Subtract" and index == 1):
            return None
        return int(other.max(initial=0)) if kind == "Add" else -int(other.min(initial=0))
    has_elements = kind in _ALL or (kind in _FIRST and index == 0) or (kind == "Select" and index > 0)
    return 0 if has_elements else None
