"""Differences of version 10 of the IR: names, and the element types of inputs and outputs.

The runtime reads a file of version 10 for programs of its time: tensors have the names of their layers, an input of
f16 becomes one of f32, and an output of any type but f32 and i32 is converted to one of these.
"""

from __future__ import annotations

from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue

from moir.dialects import opset
from moir.dialects.element_types import dynamic, f16, f32, si32, si64, ui32, ui64
from moir.dialects.inference import set_type
from moir.dialects.names import add_tensor_names, escaped, name_of
from moir.dialects.shapes import element_of, shape_of, tensor

_INTEGERS = frozenset((si32, si64, ui32, ui64))
"""Element types of outputs that become i32; all others become f32."""


def upgrade(block: Block) -> None:
    """Change a model of version 10, whose types are inferred, to the equivalent model of version 11."""
    for op in list(block.ops):
        if op.name == "opset1.Parameter":
            _widen(op)
    for op in list(block.ops):
        if op.name == "opset1.Result":
            _convert(op)


def _converted(value: SSAValue, element: Attribute) -> Operation:
    return opset.operation("opset1.Convert").create(
        operands=[value], properties={"destination_type": element}, result_types=[tensor(shape_of(value), element)]
    )


def _widen(op: Operation) -> None:
    value = op.results[0]
    op.attributes.pop("tensor_names", None)
    add_tensor_names(value, escaped(name_of(op) or ""), required=True)
    if element_of(value) != f16:
        return
    set_type(value, tensor(shape_of(value), f32))
    conversion = _converted(value, f16)
    value.replace_all_uses_with(conversion.results[0])
    conversion.operands[0] = value
    assert op.parent is not None
    op.parent.insert_op_after(conversion, op)


def _convert(result: Operation) -> None:
    value = result.operands[0]
    if not isinstance(value, OpResult):
        return
    element = element_of(value)
    producer = value.op
    name = escaped(name_of(producer) or "") + (f":{value.index}" if len(producer.results) > 1 else "")
    wanted = si32 if element in _INTEGERS else f32
    if element in (wanted, dynamic):
        add_tensor_names(value, name, required=True)
        return
    conversion = _converted(value, wanted)
    if (node := producer.attributes.get("name")) is not None and len(producer.results) == 1 and producer.name != "opset1.Parameter":
        # The runtime finds the output by the name of the layer that now computes it.
        conversion.attributes["name"] = node
        del producer.attributes["name"]
    add_tensor_names(conversion.results[0], name, required=True)
    assert result.parent is not None
    result.parent.insert_op_before(conversion, result)
    result.operands[0] = conversion.results[0]
