"""The layout in which an operation of an extension gets its data, and the Transposes around the operation.

    %y = mo.Blur(%x) {axis = 3} : tensor<1x8x8x3xf32>                                  in a model of TensorFlow
->  %1 = opset1.Transpose(%x, [0, 3, 1, 2]) : tensor<1x3x8x8xf32>
    %2 = extension.Blur(%1) {axis = "1"} : tensor<1x3x8x8xf32>
    %y = opset1.Transpose(%2, [0, 2, 3, 1]) : tensor<1x8x8x3xf32>

In Model Optimizer data of rank 4 and 5 of a channel-last model with convolutions became [N, C, spatial…] after the
middle phase, and the operations of an extension ran on such data. Their `infer` runs before, on data in the layout of
the framework. `choose-layouts` cancels the transpositions.

An operation that was built in the back phase has such data already. An operation with the attribute `reinterp_shape`,
or of a class with `data_layout = "framework"`, and with the option `--extension-layout=framework` every operation
keeps the layout of the framework. For an operation with `nchw_layout`, `infer` already computes results in [N, C, …];
the same holds for the tensors at the ports in `correct_in_data_layout` and `correct_out_data_layout`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects.builtin import IntegerAttr, i1
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from moir.dialects.data import Array
from moir.dialects.inference import set_type
from moir.dialects.moir import ModelOp, model_around
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.properties import string_attribute, value_of
from moir.dialects.python_object import python_entries, set_python_entries
from moir.dialects.shapes import element_of, rank_of, shape_of, tensor
from moir.model_optimizer.frameworks.lookup import view_of_operation
from moir.model_optimizer.graph.attribute_permutation import channel_first_order, inverse, permuted_attributes
from moir.model_optimizer.graph.input_permutation import InputPermutation
from moir.model_optimizer.graph.operation import DATA_LAYOUT, FRAMEWORK_LAYOUT
from moir.model_optimizer.graph.port import INPUT_PERMUTATIONS
from moir.model_optimizer.graph.xml_records import xml_attributes
from moir.model_optimizer.lowering.node import MoLoweringNode
from moir.model_optimizer.lowering.presented_inputs import known_values, order_of_port, permuted_input
from moir.rewriting.builder import OpBuilder

CHANGES_LAYOUT = "changes_layout"
"""The discardable attribute of a model that records whether it had channel-last convolutions before extensions ran."""

_LOWERED = frozenset(("Convolution", "GroupConvolution", "ConvolutionBackpropData", "GroupConvolutionBackpropData"))


def _is_channel_last_convolution(op: Operation) -> bool:
    if isinstance(op, OpsetOp):
        return op.KIND in _LOWERED
    of_framework = view_of_operation(op).is_convolution_with_channels_last
    return of_framework is not None and of_framework(op)


def note_convolutions(model: ModelOp) -> bool:
    """Whether Model Optimizer would change the layout of a channel-last model, which it does if the model has
    convolutions.

    The first answer is stored in the model, because extensions replace convolutions.
    """
    noted = model.attributes.get(CHANGES_LAYOUT)
    if noted is None:
        noted = IntegerAttr(int(any(_is_channel_last_convolution(op) for op in model.walk())), i1)
        model.attributes[CHANGES_LAYOUT] = noted
    return bool(value_of(noted))


def is_presented(node: MoLoweringNode) -> bool:
    """Whether the data of an operation of an extension becomes [N, C, spatial…]."""
    options = node.view.graph.graph["cmd_params"]
    if node.get("reinterp_shape") or FRAMEWORK_LAYOUT in (node.get(DATA_LAYOUT), getattr(options, "extension_layout", None)):
        return False
    return changes_layout(node)


def changes_layout(node: MoLoweringNode) -> bool:
    """Whether an operation was made before the layout change of a channel-last model that has convolutions."""
    graph = node.view.graph
    if graph.stage == "back" or not node.run.framework.channel_last:
        return False
    options = graph.graph["cmd_params"]
    if getattr(options, "layout_change", None) in (False, "none", "False") or getattr(options, "disable_nhwc_to_nchw", False):
        return False
    model = model_around(node.op)
    return model is not None and note_convolutions(model)


def permuted_type(value: SSAValue, order: Sequence[int] | None) -> Attribute:
    """The type of a value after a transposition by `order`; its own type if the order is None or its rank is
    dynamic.
    """
    shape = shape_of(value)
    return value.type if order is None or shape is None else tensor(tuple(shape[axis] for axis in order), element_of(value))


@dataclass(frozen=True)
class Presented:
    """The form in which an operation is written to the IR: its operands, XML attributes, Python attributes and result
    types.

    Args:
        orders: for each result, the order of the Transpose before its consumers; None if they take the result itself.
        operand_orders: for each operand, the order that restores the framework's tensor; None if the operand is that
            tensor.
        values: index of an operand whose elements are axes -> its value in the framework's order of axes, if known.
    """

    operands: Sequence[SSAValue]
    texts: Mapping[str, str]
    entries: Mapping[str, Any]
    types: Sequence[Attribute]
    orders: Sequence[Sequence[int] | None]
    operand_orders: Sequence[Sequence[int] | None] = ()
    values: Mapping[int, Array] = field(default_factory=dict[int, Array])

    def as_given(self, op: OpBuilder, built: Operation, name: str) -> tuple[SSAValue, ...]:
        """The results of the operation that was built, in the layout of the framework.

        The operation gets the name of the node; otherwise a Transpose after it would get the name.
        """
        if not any(self.orders):
            return tuple(built.results)
        built.attributes["name"] = string_attribute(name)
        given = [value if order is None else op.transposed(value, order) for value, order in zip(built.results, self.orders, strict=True)]
        for value in given:
            if isinstance(value, OpResult):
                value.op.attributes.setdefault("name", string_attribute(f"{name}/as_given"))
        return tuple(given)


def in_framework_layout(node: MoLoweringNode) -> Presented:
    """The form in which an operation is written to the IR if its data is not transposed."""
    results = node.op.results
    texts = xml_attributes(node.view)
    return Presented(node.operands, texts, python_entries(node.op), [each.type for each in results], [None] * len(results))


def channel_first(node: MoLoweringNode, op: OpBuilder) -> Presented:
    """The form in which an operation is written to the IR if its data of rank 4 and 5 becomes [N, C, spatial…], and its
    attributes change accordingly.

    Functions of `backend_attrs` see the new shapes and attributes.
    """
    mo_op, graph, results = node.op, node.view.graph, node.op.results
    operands = node.operands
    presented: list[SSAValue] = []
    operand_orders: list[Sequence[int] | None] = []
    marked = frozenset(node.get("correct_in_data_layout", ()))
    permutations: dict[int, InputPermutation] = python_entries(mo_op).get(INPUT_PERMUTATIONS, {})
    for index, each in enumerate(operands):
        permutation = permutations.get(index)
        if permutation is not None:
            data_order = order_of_port(node, permutation.port, marked)
            presented.append(each if data_order is None else permuted_input(node, op, index, each, permutation, data_order))
            operand_orders.append(None)
            continue
        order = None if index in marked else channel_first_order(rank_of(each))
        presented.append(each if order is None else op.transposed(each, order))
        operand_orders.append(None if order is None else inverse(order))
    kept = range(len(results)) if node.get("nchw_layout") else frozenset(node.get("correct_out_data_layout", ()))
    orders = [None if each.index in kept else channel_first_order(rank_of(each)) for each in results]
    types = [permuted_type(each, order) for each, order in zip(results, orders, strict=True)]
    entries, before = dict(python_entries(mo_op)), [each.type for each in results]
    changed = {**entries, **permuted_attributes(node.view)}
    layout, stage = graph.graph["layout"], graph.stage
    mo_op.operands = presented
    for result, type_ in zip(results, types, strict=True):
        set_type(result, type_)
    set_python_entries(mo_op, changed)
    graph.graph["layout"], graph.stage = "NCHW", "back"
    try:
        texts = xml_attributes(node.view)
    finally:
        graph.graph["layout"], graph.stage = layout, stage
        mo_op.operands = operands
        for result, type_ in zip(results, before, strict=True):
            set_type(result, type_)
        set_python_entries(mo_op, entries)
    back = [None if order is None else inverse(order) for order in orders]
    return Presented(presented, texts, changed, types, back, operand_orders, known_values(node, [*permutations]))
