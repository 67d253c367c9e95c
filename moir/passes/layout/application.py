"""Applying a layout assignment to a module.

Operations are replaced by their permuted forms, and tensors are transposed for users that want another permutation.
Each block is walked once. A tensor has the permutation that its producer gives; for each other permutation that a user
wants, one Transpose is inserted before the first such user. A Transpose of the original module is kept if it
computes exactly that value; otherwise its uses are replaced, and it is erased.
"""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue

from moir.analysis.constants import is_constant
from moir.analysis.known_values import KnownValues
from moir.dialects.discardable import PREFERS_CHANNELS_FIRST
from moir.dialects.inference import set_type
from moir.dialects.names import add_tensor_names, inherit_origin, tensor_names_of
from moir.dialects.opset.infrastructure import Result
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.movement import Transpose
from moir.dialects.properties import strings_attribute
from moir.dialects.shapes import element_of, permuted, shape_of, tensor
from moir.passes.layout.assignment import HAS_CHANNELS_FIRST
from moir.passes.layout.orders import Order, between, composed, natural
from moir.passes.layout.permuted import transposed_constant
from moir.passes.layout.regions import LayoutNode, Layouts, Orbit
from moir.rewriting.builder import OpBuilder
from moir.rewriting.events import RECORDING, is_exhausted
from moir.support.records import Record


class Names:
    """The names of a tensor in one permutation: node name, tensor names, and whether a Result uses the tensor."""

    def __init__(self) -> None:
        self.name: Attribute | None = None
        self.tensors: list[str] = []
        self.required = False


class Tensor(Record):
    """A tensor during the rewrite: the values that hold it, by permutation; the value that the producer computes comes
    first.
    """

    values: dict[Order, SSAValue]
    names: dict[Order, Names]


def permuted_type(value: SSAValue, order: Order) -> Attribute:
    """The type of a value after a transposition by a permutation."""
    shape = shape_of(value)
    return tensor((-1,) * len(order) if shape is None else permuted(shape, order), element_of(value))


class Application:
    """Rewrites one module by its layout assignment, and keeps the names of tensors."""

    def __init__(self, layouts: Layouts) -> None:
        self.layouts = layouts
        self.known = KnownValues()
        self.tensors: dict[Orbit, Tensor] = {}
        self.dead: list[Operation] = []

    def run(self, blocks: list[Block]) -> None:
        """Rewrite the blocks of a module, with the bodies in them, and erase the operations that were replaced."""
        for block in blocks:
            self.block(block)
        for op in reversed(self.dead):
            if not any(result.uses for result in op.results):
                if isinstance(op, Transpose):
                    self.name_producer(op)
                op.detach()
                op.erase()

    @staticmethod
    def name_producer(op: Transpose) -> None:
        """Give the producer of the operand of a Transpose the node name of that Transpose.

        A lowering that ends in a Transpose names the Transpose after the source node, not the operation before it.
        """
        producer = op.operands[0].owner
        if isinstance(producer, Operation) and (name := op.attributes.get("name")) is not None:
            producer.attributes.setdefault("name", name)

    def block(self, block: Block) -> None:
        """Rewrite the operations of a block from first to last."""
        for op in list(iter(block.ops)):
            node = self.layouts.node_of.get(op)
            if op.regions:
                self.with_bodies(op)
            elif isinstance(op, Transpose) and self.is_member(op):
                self.transpose(op)
            elif isinstance(op, OpsetOp) and node is not None and node.is_permuted and node.form is not None:
                if is_exhausted():
                    self.keep(op)
                else:
                    self.permute(op, node)
            else:
                self.operands(op)

    def is_member(self, op: Transpose) -> bool:
        """Whether the result of a Transpose belongs to the orbit of its operand; False if the permutation is
        unknown.
        """
        orbit = self.layouts.orbit(op.results[0])
        return orbit is not None and orbit.root is not op.results[0]

    def tensor(self, orbit: Orbit) -> Tensor:
        """The record of an orbit's values, created with the names of all its members at the first request."""
        tensor = self.tensors.get(orbit)
        if tensor is None:
            names: dict[Order, Names] = {}
            for value, order in orbit.members.items():
                own = names.setdefault(order, Names())
                own.required |= any(isinstance(use.operation, Result) for use in value.uses)
                if isinstance(value, OpResult):
                    own.name = own.name or value.op.attributes.get("name")
                    own.tensors.append(tensor_names_of(value.op)[value.index])
            tensor = self.tensors[orbit] = Tensor({orbit.members[orbit.root]: orbit.root}, names)
        return tensor

    def demand(self, value: SSAValue, order: Order | None, user: Operation) -> SSAValue:
        """A value transposed by a permutation (None: the value itself), available before its user.

        A Transpose is inserted if the orbit has no value in that permutation yet.
        """
        if is_constant(value):
            return value if order is None else transposed_constant(self.builder(user), value, order)
        orbit = self.layouts.orbit(value)
        if orbit is None:
            return value
        present = self.tensor(orbit)
        own = orbit.members[value]
        wanted = own if order is None else composed(own, order)
        transposed = present.values.get(wanted)
        if transposed is None:
            start, source = next(iter(present.values.items()))
            transposed = self.builder(user).Transpose(source, np.array(between(start, wanted), np.int64))
            self.supply(orbit, wanted, transposed)
        return transposed

    def supply(self, orbit: Orbit, order: Order, value: SSAValue) -> None:
        """Record that a value holds the tensor of an orbit in a permutation, and give it the tensor's names for that
        permutation.
        """
        present = self.tensor(orbit)
        present.values[order] = value
        names = present.names.get(order)
        producer = value.owner
        if names is None or not isinstance(producer, Operation):
            return
        if names.name is not None and isinstance(producer, Transpose):
            producer.attributes.setdefault("name", names.name)
        for each in names.tensors:
            add_tensor_names(value, each, required=names.required)

    def builder(self, anchor: Operation) -> OpBuilder:
        """A builder that inserts before an operation."""
        assert anchor.parent is not None
        return OpBuilder(self.known, anchor.parent, anchor)

    def operands(self, op: Operation) -> None:
        """Replace the operands of an operation by values in the permutations that the operation uses."""
        for index, operand in enumerate(op.operands):
            node = self.layouts.user(op, index)
            order = node.operands.get((op, index)) if node is not None and node.is_permuted else None
            value = self.demand(operand, order, op)
            if value is not operand:
                op.operands[index] = value

    def keep(self, op: OpsetOp) -> None:
        """Leave an operation in its natural layout, once the limit of rewrites is reached."""
        for index, operand in enumerate(op.operands):
            op.operands[index] = self.demand(operand, None, op)

    def transpose(self, op: Transpose) -> None:
        """Keep a Transpose if its operand is still the producer's original value, and no other value has its
        permutation yet.
        """
        orbit = self.layouts.orbit(op.results[0])
        assert orbit is not None
        present = self.tensor(orbit)
        order, result = orbit.members[op.results[0]], op.results[0]
        if order not in present.values:
            start, source = next(iter(present.values.items()))
            # A result of a loop is the same value in another permutation.
            if source is op.operands[0] and start == orbit.members[source]:
                present.values[order] = result
        else:
            required = any(isinstance(use.operation, Result) for use in result.uses)
            add_tensor_names(present.values[order], tensor_names_of(op)[0], required=required)
        self.dead.append(op)

    def permute(self, op: OpsetOp, node: LayoutNode) -> None:
        """Replace an operation by its permuted form."""
        form = node.form
        assert form is not None
        operands = [self.demand(operand, node.operands.get((op, index)), op) for index, operand in enumerate(op.operands)]
        results = form.build(op, self.builder(op), operands)
        self.dead.append(op)
        if (recording := RECORDING.get()) is not None:
            recording.replaced(f"permute {op.KIND}", [op], [each.owner for each in results if isinstance(each.owner, Operation)])
        if isinstance(owner := results[0].owner, Operation):
            if (name := op.attributes.get("name")) is not None:
                owner.attributes.setdefault("name", name)
            inherit_origin(op, results[0])
            if PREFERS_CHANNELS_FIRST in op.attributes:
                owner.attributes[HAS_CHANNELS_FIRST] = UnitAttr()
        for old, new in zip(op.results, results, strict=True):
            order = node.results.get(old)
            self.replaced(old, new, order)

    def replaced(self, old: SSAValue, new: SSAValue, order: Order | None) -> None:
        """Replace the result `old` of an operation by `new`, the same tensor in a permutation (None: the natural
        one).
        """
        orbit = self.layouts.orbit(old)
        if orbit is None:
            old.replace_all_uses_with(new)
            return
        own = natural(len(orbit.members[old])) if order is None else order
        set_type(new, permuted_type(old, own))
        self.tensor(orbit).values.clear()
        self.supply(orbit, own, new)

    def with_bodies(self, op: Operation) -> None:
        """Apply the selected permutations to an operation with bodies: to its operands and results, and to the
        operations inside.

        States and other values at the boundary of a body change their type in place; slices change their axes.
        """
        self.operands(op)
        ports = self.layouts.ports_of.get(op, [])
        permuted_ports = [(port, node) for port in ports if (node := self.layouts.node_of.get(port)) is not None and node.is_permuted]
        for port, node in permuted_ports:
            for value in port.results:
                if value.owner is not op:
                    self.reorder(value, node.order)
            port.move_slices(node.order)
        for region in op.regions:
            for block in region.blocks:
                self.block(block)
        for port, node in permuted_ports:
            for value in port.results:
                if value.owner is op:
                    self.reorder(value, node.order)

    def reorder(self, value: SSAValue, order: Order) -> None:
        """Record that a value holds its tensor in permutation `order`: its type changes, and the value stays.

        Its tensor names are moved to the value of the natural permutation as soon as that exists.
        """
        orbit = self.layouts.orbit(value)
        assert orbit is not None
        present = self.tensor(orbit)
        producer = value.owner
        if isinstance(producer, Operation) and isinstance(value, OpResult):
            names = tensor_names_of(producer)
            if any(names):
                names[value.index] = ""
                producer.attributes["tensor_names"] = strings_attribute(names)
        set_type(value, permuted_type(value, order))
        present.values.clear()
        self.supply(orbit, order, value)
