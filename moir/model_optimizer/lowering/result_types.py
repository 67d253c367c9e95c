"""The result types of an operation of the `mo` dialect, computed by its functions `infer` and `type_infer`.

An `infer` that the extension defines is called. The `infer` of a built-in operation is a `BuiltInInference`: the
results have the types of the operations to which the built-in operation is lowered. An operation of a user can have
it, too.

    class Foo(Pooling): op = "Foo"                       mo.Foo(%x) {infer = BuiltInInference("Pooling"), …}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.ir import Attribute, Operation, SSAValue

from moir import frameworks
from moir.analysis.known_values import KnownValues
from moir.dialects.data import Array, DataAttr
from moir.dialects.extension import ExtensionOp
from moir.dialects.framework import MODEL_OPTIMIZER, FrameworkOp, operation_class
from moir.dialects.inference import set_type
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.interfaces.operation import Types
from moir.dialects.python_object import python_entries, set_python_entries
from moir.dialects.shapes import UNKNOWN, element_of, shape_of, tensor
from moir.errors import InferenceError
from moir.lowering.driver import Lowering
from moir.model_optimizer.attributes.hidden_attributes import DESCRIBED_KIND
from moir.model_optimizer.block.view import COMPUTED_VALUES
from moir.model_optimizer.graph import node_inference
from moir.model_optimizer.graph.attribute_permutation import inverse
from moir.model_optimizer.graph.node import GraphNode
from moir.model_optimizer.lowering.node import MoLoweringNode, run_in
from moir.model_optimizer.lowering.presentation import permuted_type
from moir.model_optimizer.lowering.versions import standard_operation


@dataclass(frozen=True)
class BuiltInInference:
    """The `infer` of a built-in operation, which is called with a node.

    Args:
        infer: the function that infers a node from the operations that it is lowered to.
        identity: function that gives the attributes which make a node the operation: `op`, `type`, `version`, the
            records of the attributes that are written, and the defaults of others. None if only
            nodes of built-in operations can use `infer`.
        keeps_values: whether a node of a user gets the values that the operation computes from constants.
        complete: function of a node, called at the end, that sets the attributes which Model Optimizer's `infer` set.
    """

    infer: Callable[[GraphNode], None]
    identity: Callable[[], Mapping[str, Any]] | None = None
    keeps_values: bool = True
    complete: Callable[[GraphNode], None] | None = None

    def __call__(self, node: GraphNode) -> None:
        """Give the results of a node, which may be of a user's class, the types that the built-in operation would
        compute.
        """
        op = node.ir_operation
        if not isinstance(op, FrameworkOp) or MoLoweringNode(op, 1, run_in(node.graph)).is_built_in:
            self.infer(node)
            return
        if self.identity is None:
            raise InferenceError(
                "it is not one of Model Optimizer's operations, so that moir does not know by which operation to infer its shapes",
                operation=node.kind_name,
                node=node.name,
                hint="call the infer of a class, as Pooling.infer(node)",
            )
        entries = python_entries(op)
        identity = dict(self.identity())
        is_another = {name: identity[name] for name in ("op", "type", "version", "IE")}
        set_python_entries(op, {**identity, **entries, **is_another, DESCRIBED_KIND: identity["op"]})
        try:
            self.infer(node)
        finally:
            dropped = {*identity, DESCRIBED_KIND, *(() if self.keeps_values else (COMPUTED_VALUES,))}
            computed = {name: value for name, value in python_entries(op).items() if name not in dropped}
            set_python_entries(op, {**computed, **{name: entries[name] for name in identity if name in entries}})
        if self.complete is not None:
            self.complete(node)

    def set_element_types(self, node: GraphNode) -> None:
        """Give the results of a node the element types that the built-in operation would compute, and leave their
        shapes and values.
        """
        op = node.ir_operation
        shapes, values = [shape_of(result) for result in op.results], python_entries(op).get(COMPUTED_VALUES)
        self(node)
        for result, shape in zip(op.results, shapes, strict=True):
            set_type(result, tensor(shape, element_of(result)))
        entries = {name: value for name, value in python_entries(op).items() if name != COMPUTED_VALUES}
        set_python_entries(op, entries if values is None else {**entries, COMPUTED_VALUES: values})


def own_infer(node: MoLoweringNode) -> Callable[[GraphNode], object] | None:
    """The `infer` that an extension defines for an operation; None without one, and for built-in operations."""
    function = node.get("infer")
    if isinstance(function, BuiltInInference) and (function.identity is None or node.get(DESCRIBED_KIND) or node.is_built_in):
        return None
    return function if callable(function) else None


def infer_types(node: MoLoweringNode) -> None:
    """Infer the types of the results by the functions among the attributes; without `infer` their shapes stay unknown.

    Raises ConversionError where a function fails, or leaves a shape undefined.
    """
    if own_infer(node) is not None:
        is_typed = node.type is not None and standard_operation(node.type, node.get("version")) is not None
        node_inference.infer_node(node.view, may_be_undefined=is_typed and _is_empty(node.get("infer")))
    else:
        node_inference.infer_types(node.view)


def _with_docstring(node: GraphNode) -> None:
    """Does nothing; its code is what Python makes of a function that has only a docstring."""


def _without_docstring(node: GraphNode) -> None:
    pass


def _is_empty(function: Callable[..., object]) -> bool:
    """Whether a function has no statements.

    Operations whose shapes follow from their definition have such an `infer`.
    """
    code = getattr(function, "__code__", None)
    return code is not None and code.co_code in (_with_docstring.__code__.co_code, _without_docstring.__code__.co_code)


@dataclass(frozen=True)
class ExtensionTypes:
    """Infers the result types of an operation of the dialect `extension`.

    While its operands have the types given here, its results keep theirs. For other types, as in a model that is
    reshaped, the functions among its Python attributes are called.

    Args:
        operands: the types.
        entries: the Python attributes that the functions get; None for those of the operation.
        operand_orders: for each operand, the order that turns it into the tensor which the functions expect; None if
            the operand is that tensor.
        orders: the same for each result.
        values: index of an operand whose elements are axes -> its value for the axes that the functions expect.
    """

    operands: tuple[Attribute, ...]
    entries: Mapping[str, Any] | None
    operand_orders: tuple[Sequence[int] | None, ...]
    orders: tuple[Sequence[int] | None, ...]
    values: Mapping[int, Array] = field(default_factory=dict[int, Array])

    def __call__(self, op: ExtensionOp, known: KnownValues) -> Types | None:
        entries = python_entries(op) if self.entries is None else self.entries
        operands = tuple(operand.type for operand in op.operands)
        if operands == self.operands or not callable(entries.get("infer")) or op.parent is None:
            return None
        # The functions get the operation as before it was lowered: one of the `mo` dialect whose results have unknown
        # types, on data in the layout of the framework.
        orders = self.operand_orders if len(self.operand_orders) == len(operands) else (None,) * len(operands)
        data = [
            _constant(self.values[index]) if index in self.values else _as_given(operand, order)
            for index, (operand, order) in enumerate(zip(op.operands, orders, strict=True))
        ]
        twin = operation_class(MODEL_OPTIMIZER, op.KIND).create(
            operands=[operand if given is None else given.results[0] for given, operand in zip(data, op.operands, strict=True)],
            result_types=[UNKNOWN] * len(op.results),
            attributes=dict(op.attributes),
        )
        set_python_entries(twin, {name: value for name, value in entries.items() if not name.startswith("$")})
        made = [*(each for each in data if each is not None), twin]
        for each in made:
            op.parent.insert_op_before(each, op)
        try:
            infer_types(MoLoweringNode(twin, 1, Lowering(frameworks.MODEL_OPTIMIZER)))
            return [
                permuted_type(result, None if order is None else inverse(order))
                for result, order in zip(twin.results, self.orders, strict=True)
            ]
        finally:
            for each in reversed(made):
                each.detach()
                each.erase()


def _constant(value: Array) -> Operation:
    data = DataAttr.of(value)
    return Constant.create(properties={"value": data}, result_types=[tensor(data.shape, data.element)])


def _as_given(operand: SSAValue, order: Sequence[int] | None) -> Operation | None:
    """An operation whose result has the type of an operand in the layout of the framework; None if that is the type of
    the operand itself.
    """
    if order is None:
        return None
    return operation_class(MODEL_OPTIMIZER, "AsGiven").create(result_types=[permuted_type(operand, order)])
