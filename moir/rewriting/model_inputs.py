"""Changes of the inputs of a model: their types, the types of later operations, and pruning of operations that no
output needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Block

from moir.analysis.known_values import KnownValues
from moir.analysis.liveness import needed_for
from moir.dialects.framework import FrameworkOp
from moir.dialects.inference import infer_block, set_type
from moir.dialects.opset.infrastructure import Constant, Parameter, Result
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.properties import string_attribute, strings_attribute, value_of
from moir.dialects.shapes import Shape, element_of, rank_of, shape_of, tensor, unknown_dimensions
from moir.parameters.input_notation import ANY, Dimension

_INTERFACE = (Parameter, Constant, Result)


def prune(block: Block, kept: Sequence[Parameter] = ()) -> None:
    """Erase the operations that no Result of a model depends on, inputs included.

    Args:
        block: the block of the model.
        kept: inputs that are kept in any case.
    """
    needed = needed_for(op for op in block.ops if isinstance(op, Result))
    current = block.last_op
    while current is not None:
        before = current.prev_op
        if current not in needed and current not in kept:
            current.detach()
            current.drop_all_references()
        current = before


def set_dimensions(parameter: Parameter, dimensions: Sequence[Dimension]) -> bool:
    """Set the dimensions of an input, with bounds and names; returns whether its type refines the one it had."""
    value = parameter.results[0]
    before, shape = shape_of(value), tuple(each.size for each in dimensions)
    set_type(value, tensor(shape, element_of(value)))
    parameter.properties.pop("bounds", None)
    if any(each.is_bounded for each in dimensions):
        # A name is not part of bounds.
        parameter.properties["bounds"] = string_attribute(
            ",".join(str(each) if each.size >= 0 or each.is_bounded else "?" for each in dimensions)
        )
    parameter.attributes.pop("dimension_names", None)
    if any(each.name for each in dimensions):
        parameter.attributes["dimension_names"] = strings_attribute([each.name for each in dimensions])
    return _refines(shape, before)


def dimension_names(parameter: Parameter) -> list[str]:
    """The name of each dimension of an input, an empty string where it has none.

    An empty list if no dimension has a name.
    """
    names = parameter.attributes.get("dimension_names")
    return [] if names is None else list(value_of(names))


class NamedSizes:
    """The static sizes that inputs' named dimensions get, to be set on all dimensions of the same name.

    Dimensions of one name are equal in each inference.
    """

    def __init__(self) -> None:
        self._sizes: dict[str, set[int]] = {}

    def note(self, parameter: Parameter, dimensions: Sequence[Dimension]) -> None:
        """Note the sizes that the named dimensions of an input are about to get."""
        for name, each in zip(dimension_names(parameter), dimensions, strict=False):
            if name and each.size >= 0:
                self._sizes.setdefault(name, set()).add(each.size)

    def spread(self, parameters: Iterable[Parameter]) -> None:
        """Set the dynamic dimensions of inputs whose name has a noted size; a name with several different sizes is
        skipped.
        """
        sizes = {name: min(names) for name, names in self._sizes.items() if len(names) == 1}
        for parameter in parameters:
            shape, names = shape_of(parameter.results[0]), dimension_names(parameter)
            if shape is None or "bounds" in parameter.properties or not any(name in sizes for name in names):
                continue
            dimensions = [sizes.get(name, size) if size < 0 else size for size, name in zip(shape, names, strict=True)]
            set_dimensions(parameter, [_dimension(size, "" if size >= 0 else name) for size, name in zip(dimensions, names, strict=True)])


def _dimension(size: int, name: str) -> Dimension:
    return Dimension(size, size) if size >= 0 else ANY._replace(name=name)


def _refines(shape: Shape, before: Shape) -> bool:
    if before is None or shape is None:
        return before is None
    return len(shape) == len(before) and all(old in (-1, new) for new, old in zip(shape, before, strict=True))


def update_types(block: Block, *, refined: bool, same_ranks: bool) -> None:
    """Update the types of all operations after the types of inputs have changed.

    Types of opset operations are inferred again. Types that the framework's file declares for its own operations, such
    as sizes for another batch, are dropped unless they still hold.

    Args:
        block: the block of the model.
        refined: whether the new types of the inputs only refine the old ones, so that declared types still hold.
        same_ranks: whether the inputs kept their ranks, so that declared ranks still hold.
    """
    for op in () if refined else block.ops:
        if isinstance(op, FrameworkOp):
            for result in op.results:
                set_type(result, tensor(unknown_dimensions(rank_of(result)) if same_ranks else None, element_of(result)))
    if any(isinstance(op, OpsetOp) and not isinstance(op, _INTERFACE) for op in block.ops):
        infer_block(block, KnownValues())


def new_parameter(type_: Attribute, name: str, names: Attribute | None) -> Parameter:
    """A new Parameter of a model, with a type and a name; `names` is its attribute `tensor_names`, None for no names of
    its tensor.
    """
    attributes: dict[str, Attribute] = {"name": StringAttr(name)}
    if names is not None:
        attributes["tensor_names"] = names
    return Parameter.create(result_types=[type_], attributes=attributes)
