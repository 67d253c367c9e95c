"""Calls of StableHLO programs: `XlaCallModule`, as JAX writes a function into a SavedModel.

    %y = tf.XlaCallModule(%x) {module = the bytecode of stablehlo.tanh}  ->  %y = stablehlo.tanh(%x)

The operations of the program take the place of the node, in their own dialect. They are lowered together with those of
TensorFlow.

Source: xla_call_module_op.cc of TensorFlow 2.21, and jax/experimental/jax2tf/jax2tf.py of JAX 0.10.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue

from moir.dialects.names import add_tensor_names, escaped
from moir.dialects.properties import string_attribute
from moir.errors import ModelFileError
from moir.frontends.tensorflow.frames import Frame


def inline_program(frame: Frame, node: Any, operands: Sequence[SSAValue], names: Sequence[Sequence[str]]) -> list[str]:
    """Put the operations of the program of a node into the block of its graph.

    Args:
        frame: the graph of the node.
        node: the node.
        operands: its operands.
        names: the tensor names of each result.

    Returns notes on the program. Raises ModelFileError if it is damaged, or does not fit the node.
    """
    module, functions, platforms = (frame.attribute(node, each) for each in ("module", "function_list", "platforms"))
    if module is None or not module.s:
        raise frame.error("it has no module of StableHLO", node)
    if functions is not None and len(functions.list.func):
        raise frame.error("its program calls functions of TensorFlow", node, "export the function without jax2tf.call_tf")
    from moir.frontends.stablehlo.model import read_block

    known = [] if platforms is None else [bytes(each).decode(errors="replace").lower() for each in platforms.list.s]
    try:
        block, notes = read_block(bytes(module.s), str(frame.path), known)
    except ModelFileError as error:
        raise frame.error(f"its program: {error.reason}", node, error.hint) from error
    parameters = [op for op in block.ops if op.name == "opset1.Parameter"]
    results = [op for op in block.ops if op.name == "opset1.Result"]
    if len(parameters) != len(operands):
        raise frame.error(f"its program has {len(parameters)} arguments, and it has {len(operands)} operands", node)
    for parameter, operand in zip(parameters, operands, strict=True):
        parameter.results[0].replace_all_uses_with(operand)
    values = [op.operands[0] for op in results]
    for op in [*block.ops]:
        op.detach()
        if op in results:
            op.drop_all_references()
        elif op not in parameters:
            _rename(op, f"{frame.prefix}{node.name}/")
            frame.operations.append(op)
    for number, value in enumerate(values):
        frame.values[node.name, number] = value
        for each in names[number] if number < len(names) else ():
            add_tensor_names(value, escaped(each), required=True)
    return notes


def _rename(op: Operation, prefix: str) -> None:
    """Put a prefix before the name of an operation.

    Its tensor names are removed, since they are names within the program.
    """
    op.attributes.pop("tensor_names", None)
    name = op.attributes.get("name")
    if isinstance(name, StringAttr):
        op.attributes["name"] = string_attribute(prefix + name.data)
