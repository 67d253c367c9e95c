"""The operations of a model under construction, in the `keras` dialect.

    keras.Dense(%x, %kernel, %bias) {units = 4, activation = "relu", weight_names = ["0", "1"], name = "head"}

Operands are the tensors of a call, then the variables of the layer, whose names are `weight_names`. A call whose
arguments are not only tensors has its arguments as `arguments` and `keyword_arguments`, where "%0" is the first
operand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.data import Array, DataAttr
from moir.dialects.framework import operation_class
from moir.dialects.frameworks.structures import structure_attribute
from moir.dialects.names import tensor_names
from moir.dialects.properties import string_attribute, strings_attribute
from moir.dialects.shapes import UNKNOWN
from moir.errors import ModelFileError
from moir.frontends.keras.configuration import Entry, Slice
from moir.frontends.keras.model_file import ModelFile
from moir.frontends.operations import Operations, declared_type, named


class ModelBuilder:
    """Builds the block of a model.

    Args:
        file: the file.
        location: its path, for messages.
    """

    def __init__(self, file: ModelFile, location: str) -> None:
        self.file = file
        self.location = location
        self.operations = Operations()
        self.masks: dict[SSAValue, SSAValue] = {}
        """Value -> its mask, for masks that are not passed as arguments."""
        self._names: set[str] = set()
        self._repeated: Counter[str] = Counter()

    def error(self, reason: str, entry: Entry | None = None, hint: str | None = None) -> ModelFileError:
        """The error about the file, or about the layer `entry` in it."""
        operation = None if entry is None else entry.class_name
        return ModelFileError(reason, location=self.location, operation=operation, node=None if entry is None else entry.name, hint=hint)

    def parameter(self, name: str, shape: Sequence[int] | None, element: Attribute) -> SSAValue:
        """Add an input of the model, a Parameter, and return its value; `shape` is None for a dynamic rank."""
        return self.operations.parameter(declared_type(shape, element, name), named(name, name))

    def constant(self, value: DataAttr, name: str) -> SSAValue:
        """Add a constant, and return its value."""
        return self.operations.constant(value, named(name))

    def node(
        self,
        kind: str,
        name: str,
        arguments: Sequence[Any],
        keywords: Mapping[str, Any],
        properties: Mapping[str, Any],
        weights: Sequence[tuple[str, SSAValue]] = (),
        count: int = 1,
    ) -> list[SSAValue]:
        """Build the operation of a call, whose operands are the tensors of its arguments, then the weights.

        Args:
            kind: the kind of the layer or function.
            name: its name; a number is appended if another operation has it.
            arguments: the positional arguments of the call.
            keywords: its keyword arguments.
            properties: the configuration of the layer.
            weights: its variables with their names.
            count: the number of results.

        Returns the results.
        """
        operands: list[SSAValue] = []
        operand_indices = [self._placed(each, operands, name) for each in arguments]
        is_plain = operand_indices == [f"%{index}" for index in range(len(operands))]
        named = {key: self._placed(each, operands, name) for key, each in keywords.items()}
        attributes: dict[str, Attribute] = {key: structure_attribute(each) for key, each in properties.items()}
        if not is_plain:
            attributes["arguments"] = structure_attribute(operand_indices)
        if named:
            attributes["keyword_arguments"] = structure_attribute(named)
        if weights:
            attributes["weight_names"] = strings_attribute([each for each, _ in weights])
        unique = self._unique(name)
        op = operation_class("keras", kind).create(
            operands=[*operands, *(value for _, value in weights)],
            properties=attributes,
            attributes={"name": string_attribute(unique), "tensor_names": tensor_names(unique)}
            if count == 1
            else {"name": string_attribute(unique)},
            result_types=[UNKNOWN] * count,
        )
        self.operations.append(op)
        return list(op.results)

    def _unique(self, name: str) -> str:
        """The name, with a number appended if another operation has it: a layer may be called twice, or named as
        another one.
        """
        unique = name
        while unique in self._names:
            self._repeated[name] += 1
            unique = f"{name}_{self._repeated[name]}"
        self._names.add(unique)
        return unique

    def _placed(self, value: Any, operands: list[SSAValue], name: str) -> Any:
        """An argument in which each tensor is replaced by `%INDEX`, its index in `operands`; the tensors are appended
        to `operands`.
        """
        if isinstance(value, np.ndarray):
            value = self.constant(DataAttr.of(cast(Array, value)), f"{name}/constant")
        if isinstance(value, SSAValue):
            operands.append(cast("SSAValue[Attribute]", value))
            return f"%{len(operands) - 1}"
        if isinstance(value, Slice):
            return {key: self._placed(each, operands, name) for key, each in value.parts() if each is not None} | {"slice": True}
        if isinstance(value, list | tuple):
            return [self._placed(each, operands, name) for each in cast("list[Any]", value)]
        if isinstance(value, dict):
            return {key: self._placed(each, operands, name) for key, each in cast("dict[str, Any]", value).items()}
        return value
