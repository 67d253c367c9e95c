"""Variables and hash tables: tracks the value of each one from operator to operator.

A variable that only the initialization writes is a constant. One that the model writes keeps its value from one
inference to the next: it begins with a ReadValue and ends with an Assign, as do the variables of recurrent operators.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from xdsl.ir import Attribute, Operation, SSAValue

from moir.dialects import opset
from moir.dialects.data import DataAttr
from moir.dialects.element_types import dynamic, f32, to_numpy
from moir.dialects.properties import string_attribute
from moir.dialects.shapes import element_of, shape_of
from moir.frontends.operations import Operations, named
from moir.frontends.tflite.flatbuffer import ModelFile, integers
from moir.frontends.tflite.options import attributes_of
from moir.frontends.tflite.quantization import is_rounded
from moir.frontends.tflite.tensors import Tensor

STATE_OPERANDS: Mapping[str, tuple[int, ...]] = {
    "BIDIRECTIONAL_SEQUENCE_LSTM": (35, 36, 37, 38),
    "BIDIRECTIONAL_SEQUENCE_RNN": (4, 8),
    "LSTM": (18, 19),
    "RNN": (4,),
    "SVDF": (4,),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": (18, 19),
    "UNIDIRECTIONAL_SEQUENCE_RNN": (4,),
}
"""Recurrent operators -> the operand indices of their variables."""


class Resources:
    """The variables and tables of a model.

    Args:
        file: the file.
    """

    HANDLES = frozenset(("HASHTABLE", "VAR_HANDLE"))
    TAKEN = HANDLES | {"ASSIGN_VARIABLE", "CALL_ONCE", "HASHTABLE_FIND", "HASHTABLE_IMPORT", "HASHTABLE_SIZE", "READ_VARIABLE"}

    def __init__(self, file: ModelFile) -> None:
        self.file = file
        self._values: dict[str, SSAValue] = {}
        self._tables: dict[str, tuple[SSAValue, SSAValue]] = {}
        self._read: dict[str, SSAValue] = {}
        """The ReadValue of each variable that keeps its value."""
        self._is_initializing = False
        self._written = _written_names(file)

    def takes(self, kind: str) -> bool:
        """Whether operators of a kind create, read or write variables or tables."""
        return kind in self.TAKEN

    def writes(self, kind: str) -> bool:
        """Whether an operator changes a variable or a table."""
        return kind in ("ASSIGN_VARIABLE", "HASHTABLE_IMPORT")

    def name(self, kind: str, attributes: Mapping[str, Attribute]) -> str:
        """The name that all handles of one variable or table share."""
        return _handle_name(kind, attributes)

    @contextmanager
    def initialization(self) -> Generator[None]:
        """A context in which variables get the values with which a model begins."""
        outer, self._is_initializing = self._is_initializing, True
        try:
            yield
        finally:
            self._is_initializing = outer

    def assign(self, name: str, value: SSAValue) -> None:
        """Make a value the current value of a variable."""
        self._values[name] = value

    def read(self, name: str, wanted: Tensor, operations: Operations) -> SSAValue:
        """The current value of variable `name`, which is read into the tensor `wanted`.

        Raises ModelFileError if it has none. A variable that the model writes becomes a state at its first read.
        """
        value = self._values.get(name)
        if value is None:
            raise self.file.error(f"the variable {name!r} is read and has no value", "initialize it in the model, or freeze it")
        if self._is_initializing or name not in self._written or name in self._read:
            return value
        self._keep(name, value, operations)
        return self._values[name]

    def variable(self, name: str, kept: Tensor, operations: Operations) -> SSAValue:
        """The current value of variable `name` of a recurrent operator: a state that begins with zeros, in the shape of
        tensor `kept`.
        """
        if name not in self._values:
            element = f32 if is_rounded(kept) or kept.element is dynamic else kept.element
            shape = tuple(max(size, 1) for size in kept.shape)
            zeros = DataAttr.of(np.zeros(shape, to_numpy(element)), element)
            self._keep(name, operations.constant(zeros, named(f"{name}/initial")), operations)
        return self._values[name]

    def _keep(self, name: str, initial: SSAValue, operations: Operations) -> None:
        """Make variable `name` a state with an initial value: it persists from one inference to the next."""
        shape = shape_of(initial)
        op = opset.operation("opset6.ReadValue").create(
            operands=[initial],
            result_types=[initial.type],
            properties={
                "variable_id": string_attribute(name),
                "variable_type": element_of(initial),
                "variable_shape": string_attribute("..." if shape is None else ",".join("?" if n < 0 else str(n) for n in shape)),
            },
            attributes={"name": string_attribute(f"{name}/ReadValue")},
        )
        operations.append(op)
        self._values[name] = self._read[name] = op.results[0]

    def fill(self, name: str, operands: Sequence[SSAValue]) -> None:
        """Give a table its keys and values. Raises ModelFileError unless there are two operands."""
        if len(operands) != 2:
            raise self.file.error(f"the table {name!r} gets no keys and values", "the file is damaged")
        self._tables[name] = (operands[0], operands[1])

    def table(self, name: str) -> tuple[SSAValue, SSAValue]:
        """The keys and the values of a table, two operands. Raises ModelFileError if nothing has filled it."""
        if name not in self._tables:
            raise self.file.error(f"the table {name!r} is used and is not filled", "fill it when the model is initialized")
        return self._tables[name]

    @property
    def kept(self) -> list[str]:
        """The names of the variables that keep their values from one inference to the next."""
        return list(self._read)

    def finish(self) -> list[Operation]:
        """The operations that write the final values of variables that persist."""
        return [
            opset.operation("opset6.Assign").create(
                operands=[self._values[name]],
                result_types=[read.type],
                properties={"variable_id": string_attribute(name)},
                attributes={"name": string_attribute(f"{name}/Assign")},
            )
            for name, read in self._read.items()
            if self._values[name] is not read
        ]


def _handle_name(kind: str, attributes: Mapping[str, Attribute]) -> str:
    names = ("container", "shared_name") if kind == "VAR_HANDLE" else ("table_id",)
    names_of_handle: list[Any] = [attributes.get(each) for each in names]
    texts = [str(each.data if hasattr(each, "data") else each.value.data) for each in names_of_handle if each is not None]
    return "/".join(each for each in texts if each) or kind.lower()


def _written_names(file: ModelFile) -> set[str]:
    """The variables that operators outside of the initialization write."""
    written: dict[int, set[str]] = {}
    initial: set[int] = set()
    kinds = [kind for kind, is_custom in file.operators if not is_custom]
    if "ASSIGN_VARIABLE" not in kinds:
        return set()
    with file.damage("the operators of variables"):
        for index, subgraph in enumerate(file.subgraphs):
            handles: dict[int, str] = {}
            for operator in file.vector(subgraph.OperatorsLength(), subgraph.Operators):
                code: int = operator.OpcodeIndex()
                kind = file.operators[code][0] if code < len(file.operators) else ""
                if kind == "CALL_ONCE":
                    attribute: Any = attributes_of(file, operator, kind).get("init_subgraph_index")
                    initial.add(0 if attribute is None else attribute.value.data)
                elif kind == "VAR_HANDLE":
                    handles |= dict.fromkeys(integers(operator.OutputsAsNumpy()), _handle_name(kind, attributes_of(file, operator, kind)))
                elif kind == "ASSIGN_VARIABLE" and (inputs := integers(operator.InputsAsNumpy())):
                    written.setdefault(index, set()).add(handles.get(inputs[0], ""))
    return {name for index, names in written.items() if index not in initial for name in names}
