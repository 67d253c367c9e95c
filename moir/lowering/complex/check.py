"""Which operations of a module compute with complex numbers, and whether their kinds can.

Lowerings of extensions take complex tensors as pairs.

In files of some frameworks, types tell which tensors are complex. In those of others, they follow from operations whose
results are complex whatever their operands are, such as Fourier transforms.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ComplexType
from xdsl.ir import Operation, SSAValue

from moir.dialects.framework import COMPLEX_OPERANDS, REAL_RESULTS, FrameworkOp
from moir.dialects.moir import add_notes
from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Result
from moir.dialects.properties import integers_attribute
from moir.errors import UnsupportedOperationError
from moir.lowering.complex.kinds import Complex, computes_complex
from moir.lowering.table import LoweringTable


def check_complex(table: LoweringTable, module: Operation) -> None:
    """Raises UnsupportedOperationError for the first operation with a complex type whose kind does not compute with
    complex numbers.
    """
    for each in module.walk():
        if isinstance(each, FrameworkOp):
            if computes_complex(each) and table.complex(each.KIND) is None and each.KIND not in table.added_kinds():
                raise refusal(each)
        elif isinstance(each, Result) and _gives_complex(table, each.operands[0].owner):
            _note_complex_output(each)


def mark_complex(table: LoweringTable, module: Operation) -> None:
    """Mark the complex operands of operations, from operations whose results are complex whatever their operands are.

    Raises UnsupportedOperationError for the first operation with such operands whose kind does not compute with complex
    numbers.
    """
    complex_values: set[SSAValue] = set()
    for each in module.walk():
        operands = tuple(index for index, value in enumerate(each.operands) if value in complex_values) if complex_values else ()
        if isinstance(each, FrameworkOp):
            known = table.complex(each.KIND)
            if operands:
                if not _accepts(table, known, each, operands):
                    raise refusal(each)
                each.properties[COMPLEX_OPERANDS] = integers_attribute(operands)
            if known is not None and (known.is_source or (operands and not known.is_real)):
                complex_values.update(each.results)
        elif operands and isinstance(each, Result):
            _note_complex_output(each)


def _accepts(table: LoweringTable, known: Complex | None, op: FrameworkOp, operands: Sequence[int]) -> bool:
    """Whether the lowering of an operation accepts complex numbers as the operands with these indices.

    `known` is what the operation's kind says of complex numbers; a kind that says nothing (None) accepts them only if
    an extension lowers it.
    """
    if known is None:
        return op.KIND in table.added_kinds()
    return not op.regions and (known.accepts is None or known.accepts(op, operands))


def refusal(op: Operation) -> UnsupportedOperationError:
    """The error for an operation with complex operands that can only be lowered for real operands."""
    return UnsupportedOperationError(
        "it computes complex numbers, which the operation sets do not have",
        operation=op.name,
        node=name_of(op),
        hint="write a lowering on real and imaginary parts for this node",
    )


def _note_complex_output(result: Result) -> None:
    add_notes(result, [f"the output {name_of(result)} is complex: its last dimension holds real and imaginary parts"])


def _gives_complex(table: LoweringTable, op: object) -> bool:
    """Whether the results of an operation are complex; False for kinds whose types are not in their properties."""
    if not isinstance(op, FrameworkOp) or not computes_complex(op) or REAL_RESULTS in op.properties:
        return False
    # A conversion has two types.
    if "DstT" in op.properties:
        return isinstance(op.properties["DstT"], ComplexType)
    known = table.complex(op.KIND)
    return known is not None and not known.is_real
