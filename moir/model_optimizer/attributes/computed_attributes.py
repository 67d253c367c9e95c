"""The attributes of an operation node that follow from the operation, and that no extension has set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from xdsl.ir import Operation

from moir.dialects.data import DataAttr
from moir.dialects.opset.infrastructure import Constant, Parameter
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import element_of, shape_of
from moir.model_optimizer.block.operation_names import class_type, op_names
from moir.model_optimizer.values.python_values import numpy_type
from moir.model_optimizer.values.shapes import masked_shape


def _version(op: Operation) -> str | None:
    return op.name.partition(".")[0] if isinstance(op, OpsetOp) else None


def _constant_value(op: Operation) -> Any:
    data = op.properties.get("value")
    return data.array if isinstance(data, DataAttr) else None


def _type_shape(op: Operation) -> Any:
    return masked_shape(shape_of(op.results[0]))


Reader = Callable[[Operation], Any]

COMPUTED: Mapping[str, Reader] = {
    "kind": lambda _: "op",
    "op": lambda op: op_names(op, {})[0],
    "type": lambda op: class_type(type(op)),
    "version": _version,
}
"""The attributes of every operation node that follow from the operation."""

TYPED: Mapping[type[Operation], Mapping[str, Reader]] = {
    Constant: {
        "value": _constant_value,
        "shape": lambda op: np.array(shape_of(op.results[0]), dtype=np.int64),
        "data_type": lambda op: numpy_type(element_of(op.results[0])),
    },
    Parameter: {"shape": _type_shape, "data_type": lambda op: numpy_type(element_of(op.results[0]))},
}
"""Class of operations -> further attributes that follow from an operation of it."""
