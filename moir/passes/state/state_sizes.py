"""The sizes of a variable before the first inference, where the input that it replaces has dynamic dimensions.

a dynamic dimension                                                initial size
----------------------------------------------------------------   ------------------------
whose name is also that of a dimension of a remaining input        that of the dimension
that each inference makes as large as one of a remaining input     that of the dimension
to which each inference gives the same size                        that size
that no inference changes                                          1, as a batch
any other one, such as the length of a cache                       0
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from xdsl.ir import SSAValue

from moir.analysis.dimensions import Dimensions, Token
from moir.dialects.opset.infrastructure import Parameter
from moir.dialects.shapes import shape_of
from moir.rewriting.model_inputs import dimension_names

Size: TypeAlias = "int | tuple[SSAValue, int]"
"""A number, or the size of a dimension of an input, by the input and the index."""


class RemainingSizes:
    """The dimensions of the inputs that do not become variables.

    Args:
        inputs: these inputs.
        dimensions: the dimensions of all values in the model.
    """

    def __init__(self, inputs: Sequence[SSAValue], dimensions: Dimensions) -> None:
        self.dimensions = dimensions
        self.named: dict[str, Size] = {}
        self.equal: dict[Token, Size] = {}
        for value in inputs:
            if not isinstance(value.owner, Parameter):
                continue
            for index, name in enumerate(dimension_names(value.owner)):
                if name:
                    self.named.setdefault(name, (value, index))
            for index, token in enumerate(dimensions.tokens(value) or ()):
                self.equal.setdefault(token, (value, index))


def initial_sizes(parameter: Parameter, assigned: SSAValue, remaining: RemainingSizes) -> list[Size]:
    """The sizes of the variable that an input becomes; an empty list if its rank is dynamic.

    Args:
        parameter: the input.
        assigned: the value that an inference gives the variable.
        remaining: the dimensions of the inputs that are left.
    """
    value = parameter.results[0]
    shape, later = shape_of(value), shape_of(assigned)
    if shape is None:
        return []
    names = [*dimension_names(parameter), *[""] * len(shape)]
    tokens, others = remaining.dimensions.tokens(value), remaining.dimensions.tokens(assigned)
    is_comparable = later is not None and len(later) == len(shape)
    sizes: list[Size] = []
    for axis, size in enumerate(shape):
        if size >= 0:
            sizes.append(size)
        elif names[axis] in remaining.named:
            sizes.append(remaining.named[names[axis]])
        elif not is_comparable or later is None or tokens is None or others is None:
            sizes.append(0)
        elif others[axis] in remaining.equal:
            sizes.append(remaining.equal[others[axis]])
        else:
            sizes.append(max(later[axis], 0) or int(tokens[axis] == others[axis]))
    return sizes
