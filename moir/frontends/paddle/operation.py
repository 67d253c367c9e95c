"""Building an operation of the `paddle` dialect from operands by name, in a program, or by position, in PIR."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
from xdsl.ir import Attribute, Operation, Region, SSAValue

from moir.dialects.data import DataAttr
from moir.dialects.element_types import boolean, f32, f64, si64
from moir.dialects.framework import operation_class
from moir.dialects.names import several_tensor_names
from moir.dialects.properties import attribute_of, integers_attribute, string_attribute
from moir.dialects.shapes import UNKNOWN
from moir.errors import ModelFileError
from moir.frontends.paddle.definitions import Definition
from moir.frontends.paddle.scope import Scope
from moir.parameters.arguments import shown

COMBINE = "combine"
"""The kind of the operation that joins tensors of one element each to a 1-D tensor."""
LIST_SIZES = "list_sizes"
"""The property with the length of each list of operands, for an operation with several such lists."""

IGNORED = frozenset(
    (
        *("op_role", "op_role_var", "op_namescope", "op_callstack", "op_device", "with_quant_attr", "use_mkldnn", "use_cudnn"),
        *("mkldnn_data_type", "struct_name", "stop_gradient", "persistable", "place", "workspace_size_MB", "exhaustive_search"),
        *("use_onednn", "fix_seed", "op_result_name"),
    )
)
"""The attributes that do not affect the results."""

_class = cache(partial(operation_class, "paddle"))


def build(
    scope: Scope,
    kind: str,
    operands: Sequence[SSAValue],
    properties: Mapping[str, Attribute],
    name: str,
    result_names: Sequence[Sequence[str]],
    regions: Sequence[Region] = (),
) -> Operation:
    """Append an operation of a kind to the block of a scope; `result_names` are the tensor names of each result."""
    attributes: dict[str, Attribute] = {"name": string_attribute(name)}
    if any(result_names):
        attributes["tensor_names"] = several_tensor_names(result_names)
    op = _class(kind).create(
        operands=operands,
        properties=dict(properties),
        attributes=attributes,
        result_types=[UNKNOWN] * len(result_names),
        regions=regions,
    )
    scope.operations.append(op)
    return op


def arranged(
    scope: Scope, definition: Definition, arguments: Mapping[int, Sequence[SSAValue]], attributes: dict[str, Any], name: str
) -> tuple[list[SSAValue], dict[str, Attribute]]:
    """The operands of an operation in the order of its definition, and its properties.

    Args:
        scope: where constants are built.
        definition: the definition of its kind.
        arguments: the values of each operand that is present, by its index in the definition.
        attributes: the attributes with the names of programs; those that are operands are taken out.
        name: the name of the operation.
    """
    operands: list[SSAValue] = []
    sizes: list[int] = []
    for index, part in enumerate(definition.operands):
        values = arguments.get(index, ())
        number = attributes.pop(part.attribute, None) if part.attribute else None
        if part.is_list:
            sizes.append(len(values))
            operands.extend(values)
        elif len(values) > 1 or (values and part.joined and not part.name and not part.attribute):
            operands.append(build(scope, COMBINE, values, {}, name, [()]).results[0])
        elif values:
            operands.append(values[0])
        else:
            operands.append(scope.absent() if number is None else scope.constant(number_data(number, name)))
    properties = {each: attribute_of(value) for each, value in attributes.items()}
    if definition.list_count > 1:
        properties[LIST_SIZES] = integers_attribute(tuple(sizes))
    elif not definition.list_count:
        while operands and _is_absent(operands[-1], scope):
            operands.pop()
    return operands, properties


def _is_absent(value: SSAValue, scope: Scope) -> bool:
    return value is scope.absent()


def number_data(number: Any, name: str) -> DataAttr:
    """The data of an attribute that is used as an operand: a scalar or a 1-D tensor.

    Raises ModelFileError, with the name of the operation, for anything else.
    """
    array = np.asarray(number)
    if array.dtype.kind not in "biuf":
        reason = f"an attribute that takes the place of an operand is {shown(number)}, not a number or a list of numbers"
        raise ModelFileError(reason, node=name)
    if array.size == 0:
        return DataAttr.of(array.astype(np.int64), si64)
    if array.dtype.kind == "b":
        return DataAttr.of(array, boolean)
    if array.dtype.kind in "iu":
        return DataAttr.of(array.astype(np.int64), si64)
    exact = np.array_equal(array.astype(np.float32).astype(np.float64), array, equal_nan=True)
    return DataAttr.of(array.astype(np.float32 if exact else np.float64), f32 if exact else f64)
