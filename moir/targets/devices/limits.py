"""What of a model is beyond a documented limit: dynamic shapes and ranks, element types."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from xdsl.ir import Attribute, Operation

from moir.analysis.model_ports import name_of_port
from moir.dialects.element_types import REAL_TYPES, describe
from moir.dialects.moir import ModelOp
from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Constant, Parameter
from moir.dialects.shapes import element_of, format_shape, is_static, shape_of


def dynamic_inputs(model: ModelOp) -> Iterator[str]:
    """The inputs with a dynamic dimension or of dynamic rank."""
    for op in _inputs(model):
        shape = shape_of(op.results[0])
        if not is_static(shape):
            yield f"input {name_of_port(op)!r} is of the shape {format_shape(shape)}"


def inputs_of_dynamic_rank(model: ModelOp) -> Iterator[str]:
    """The inputs of dynamic rank."""
    return (f"input {name_of_port(op)!r} is of dynamic rank" for op in _inputs(model) if shape_of(op.results[0]) is None)


def data_dependent_shapes(model: ModelOp) -> Iterator[str]:
    """The first operation whose result has a dynamic shape although the shapes of all inputs and of its operands are
    static.
    """
    if any(True for _ in dynamic_inputs(model)):
        return
    for op in model.block.ops:
        if isinstance(op, Parameter) or all(is_static(shape_of(result)) for result in op.results):
            continue
        if all(is_static(shape_of(operand)) for operand in op.operands):
            yield f"{op.name} {name_of(op) or '?'!r} has a result whose shape depends on data"
            return


def floats_other_than(*supported: Attribute) -> Callable[[ModelOp], Iterator[str]]:
    """A function that takes a model and yields a text for the first operation of each floating-point type not in
    `supported`. Constants, which are converted, are left out.
    """

    def violations(model: ModelOp) -> Iterator[str]:
        seen = {*supported}
        for op in model.block.walk():
            for element in map(element_of, op.results):
                if element in REAL_TYPES and element not in seen and not isinstance(op, Constant):
                    seen.add(element)
                    yield f"{op.name} {name_of(op) or '?'!r} is of {describe(element).xml}"

    return violations


def _inputs(model: ModelOp) -> Iterator[Operation]:
    return (op for op in model.block.ops if isinstance(op, Parameter))
