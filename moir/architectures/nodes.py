"""The operations of the `transformers` dialect while a network is built: blocks of a language model, and their weights.

%q = transformers.Linear(%x, %weight) {name = "model.layers.0.self_attn.q_proj"} : tensor<?x?x64xf32>
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from moir.architectures.checkpoint import Checkpoint
from moir.architectures.stored_weight import StoredWeight
from moir.dialects import opset
from moir.dialects.data import DataAttr
from moir.dialects.element_types import f32
from moir.dialects.framework import operation_class
from moir.dialects.moir import NoneOp
from moir.dialects.names import several_tensor_names
from moir.dialects.properties import attribute_of, string_attribute
from moir.dialects.shapes import tensor

DIALECT = "transformers"

Operand = SSAValue | None
"""An operand of a node; None if it is absent."""


class NodeList:
    """The operations of a network in order, and the constants of its weights.

    Args:
        checkpoint: provides the weights.
    """

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.operations: list[Operation] = []
        self.checkpoint = checkpoint
        self._weights: dict[tuple[str, tuple[int, ...]], SSAValue] = {}
        self._absent: SSAValue | None = None

    def node(self, kind: str, operands: Sequence[Operand], name: str, width: int = -1, /, **properties: object) -> SSAValue:
        """Append an operation of the dialect whose result is f32 [batch, tokens, width]; returns the result."""
        return self.nodes(kind, operands, name, [tensor((-1, -1, width), f32)], properties)[0]

    def nodes(
        self, kind: str, operands: Sequence[Operand], name: str, types: Sequence[Attribute], properties: Mapping[str, object]
    ) -> list[SSAValue]:
        """Append an operation of the dialect with results of the given types; returns the results.

        Properties whose value is None are absent.
        """
        while operands and operands[-1] is None:
            operands = operands[:-1]
        op = operation_class(DIALECT, kind).create(
            operands=[self.absent() if each is None else each for each in operands],
            properties={key: attribute_of(value) for key, value in properties.items() if value is not None},
            attributes={"name": string_attribute(name)},
            result_types=list(types),
        )
        self.operations.append(op)
        return list(op.results)

    def absent(self) -> SSAValue:
        """The value of a `NoneOp`, which stands for absent operands; built once."""
        if self._absent is None:
            op = NoneOp.of()
            self.operations.append(op)
            self._absent = op.result
        return self._absent

    def parameter(self, name: str, shape: tuple[int, ...], element: Attribute) -> SSAValue:
        """Append an input of the model with an element type; returns its value."""
        attributes = {"name": string_attribute(name), "tensor_names": several_tensor_names([[name]])}
        op = opset.operation("opset1.Parameter").create(result_types=[tensor(shape, element)], attributes=attributes)
        self.operations.append(op)
        return op.results[0]

    def result(self, value: SSAValue, name: str) -> None:
        """Append an output of the model."""
        assert isinstance(value, OpResult)
        value.op.attributes["tensor_names"] = several_tensor_names([[name]])
        self.operations.append(opset.operation("opset1.Result").create(operands=[value], attributes={"name": string_attribute(name)}))

    def constant(self, data: DataAttr, name: str | None = None) -> SSAValue:
        """Append a constant; returns its value."""
        op = opset.operation("opset1.Constant").create(
            properties={"value": data},
            attributes={} if name is None else {"name": string_attribute(name)},
            result_types=[tensor(data.shape, data.element)],
        )
        self.operations.append(op)
        return op.results[0]

    def weight(self, operand: str, shape: tuple[int, ...]) -> SSAValue:
        """The weight of an operand: a constant, or a Dequantize of quantized values. It is built once and shared by all
        uses.
        """
        key = operand, shape
        if key not in self._weights:
            self._weights[key] = self.stored(self.checkpoint.weight(operand, shape), self.checkpoint.name(operand))
        return self._weights[key]

    def stored(self, weight: StoredWeight, name: str) -> SSAValue:
        """Append a stored weight: a constant of plain values, or an operation `Dequantize` of quantized ones.

        Dequantize(codes, scale, zero point, columns) {is_grouped}
        """
        if weight.scale is None:
            return self.constant(weight.codes, name)
        parts = (weight.codes, weight.scale, weight.zero_point, weight.columns)
        suffixes = ("codes", "scale", "zero_point", "columns")
        operands = [None if each is None else self.constant(each, f"{name}.{suffix}") for each, suffix in zip(parts, suffixes, strict=True)]
        return self.nodes("Dequantize", operands, name, [tensor(weight.shape, f32)], {"is_grouped": weight.is_grouped or None})[0]
