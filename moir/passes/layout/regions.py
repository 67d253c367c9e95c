"""Regions of the layout change: operations that can be permuted together, found by growing from each Transpose.

An `Orbit` is a tensor and its transposes: one tensor in several permutations. Within a region an orbit has two
permutations, one on each side of a cut. A `LayoutNode` is an operation (or a boundary of a body) that can be on either
side: unchanged on one, in its permuted form on the other. A region ends at operations that no rule applies to, and at
those that already belong to a region with other permutations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from typing import TypeAlias

from xdsl.ir import Operation, OpResult, SSAValue

from moir.analysis.analyses import Analyses
from moir.analysis.constants import is_constant
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.movement import Transpose
from moir.dialects.shapes import rank_of
from moir.passes.layout.body_ports import BodyBoundary, body_ports
from moir.passes.layout.orders import Order, between, composed, is_natural, natural
from moir.passes.layout.permutations import permuted_form
from moir.passes.layout.permuted import Offer, Permuted

PortIndex: TypeAlias = tuple[int, bool]
"""Index of an operand or result, and whether it is a result."""


MAXIMUM_ORDERS = 8
"""Maximum number of permutations of one tensor that are tried for a permuted form."""


class Orbit:
    """A tensor and its transposes.

    Args:
        root: the value that is not the result of a Transpose.
        members: the permutation of each value: it equals `Transpose(root, order)`.
    """

    def __init__(self, root: SSAValue, members: dict[SSAValue, Order]) -> None:
        self.root = root
        self.members = members
        self.sides: tuple[Order, Order] | None = None
        """The permutations on the two sides of the cut, once the orbit belongs to a region."""

    def side(self, order: Order) -> int | None:
        """The side on which the tensor has a permutation; None if it has this permutation on neither side."""
        return None if self.sides is None or order not in self.sides else self.sides.index(order)


class LayoutNode:
    """An operation, or a boundary of a body, that can work on permuted tensors.

    Args:
        form: its permuted form; None for a boundary, all of whose values share `order`.
        order: the permutation for which the node was created.
        natural_side: the side on which it works unchanged.
        operands: the permutation of each operand (operation, operand index) in the permuted form, if not the identity.
        results: the permutation of each result in the permuted form, if not the identity.
        extra: number of operations that the permuted form adds.
    """

    def __init__(
        self,
        form: Permuted | None,
        order: Order,
        natural_side: int,
        operands: dict[tuple[Operation, int], Order],
        results: dict[SSAValue, Order],
        extra: int = 0,
    ) -> None:
        self.form = form
        self.order = order
        self.natural_side = natural_side
        self.operands = operands
        self.results = results
        self.extra = extra
        self.is_permuted = False
        """Whether the node is to be replaced by its permuted form."""


class Region:
    """Part of a graph that one cut divides: the orbits (a tensor and its transposes) and layout nodes in it, each of
    which is later assigned to one side of the cut, so that as few Transposes as possible are left.
    """

    def __init__(self) -> None:
        self.orbits: list[Orbit] = []
        self.nodes: list[LayoutNode] = []


class Layouts:
    """The orbits and the regions of a module."""

    def __init__(self, analyses: Analyses) -> None:
        self.known = analyses.dimensions()
        self.regions: list[Region] = []
        self.node_of: dict[Operation | BodyBoundary, LayoutNode] = {}
        self.port_of_use: dict[tuple[Operation, int], BodyBoundary] = {}
        self.port_of_value: dict[SSAValue, BodyBoundary] = {}
        self.ports_of: dict[Operation, list[BodyBoundary]] = {}
        self._orbits: dict[SSAValue, Orbit] = {}
        for op in analyses.operations(Operation):
            if op.regions:
                self._find_ports(op)
        for op in analyses.operations(Transpose):
            if (orbit := self.orbit(op.results[0])) and orbit.root is not op.results[0] and not orbit.sides:
                self._grow(orbit, orbit.members[op.results[0]])

    def _find_ports(self, op: Operation) -> None:
        self.ports_of[op] = body_ports(op)
        for port in self.ports_of[op]:
            self.port_of_use.update(dict.fromkeys(port.operands, port))
            self.port_of_value.update(dict.fromkeys(port.results, port))

    def orbit(self, value: SSAValue) -> Orbit | None:
        """The orbit of a value; None if its rank is dynamic."""
        orbit = self._orbits.get(value)
        if orbit is not None:
            return orbit
        root = value
        while isinstance(root, OpResult) and isinstance(root.op, Transpose) and root.op.permutation(self.known) is not None:
            root = root.op.operands[0]
        members = self._members(root)
        if members is None:
            return None
        orbit = Orbit(root, members)
        self._orbits.update(dict.fromkeys(members, orbit))
        return orbit

    def _members(self, root: SSAValue) -> dict[SSAValue, Order] | None:
        """The permutation of a root and of its transposes; None if the rank of the root is unknown.

        If the type of the root has no rank, the permutation of a Transpose determines it.
        """
        members: dict[SSAValue, Order] = {}
        rank = rank_of(root)
        if rank is not None:
            members[root] = natural(rank)
        pending = [root]
        while pending:
            value = pending.pop()
            for use in value.uses:
                op = use.operation
                order = op.permutation(self.known) if isinstance(op, Transpose) and use.index == 0 else None
                if order is None:
                    continue
                start = members.setdefault(value, natural(len(order)))
                members[op.results[0]] = composed(start, order)
                pending.append(op.results[0])
        return members or None

    def uses(self, orbit: Orbit) -> Iterator[tuple[SSAValue, Operation, int]]:
        """The uses of the values of an orbit, except those by its own Transposes."""
        for member in orbit.members:
            for use in member.uses:
                if not (isinstance(use.operation, Transpose) and use.operation.results[0] in orbit.members and use.index == 0):
                    yield member, use.operation, use.index

    def user(self, op: Operation, index: int) -> LayoutNode | None:
        """The node that uses operand `index` of an operation; None if the operation cannot be permuted."""
        return self.node_of.get(self.port_of_use.get((op, index), op))

    def producer(self, value: SSAValue) -> LayoutNode | None:
        """The node that produces a value; None if its producer cannot be permuted."""
        owner = value.owner
        return self.node_of.get(self.port_of_value.get(value, owner)) if isinstance(owner, Operation) else None

    def _grow(self, orbit: Orbit, order: Order) -> None:
        region, count = Region(), 0
        self.regions.append(region)
        orbit.sides = (natural(len(order)), order)
        # Tensors of high rank come first: the permutation of a tensor of low rank does not determine those of its
        # neighbours.
        pending = [(-len(order), 0, orbit)]
        while pending:
            current = heappop(pending)[-1]
            region.orbits.append(current)
            for candidate, index, value in list(self._neighbours(current)):
                side = current.side(current.members[value])
                if candidate in self.node_of or side is None or current.sides is None:
                    continue
                node = self._node(candidate, index, between(current.sides[side], current.sides[1 - side]), side)
                if node is None:
                    continue
                self.node_of[candidate] = node
                region.nodes.append(node)
                for each in self._claimed(node):
                    count += 1
                    heappush(pending, (-len(each.members[each.root]), count, each))

    def _neighbours(self, orbit: Orbit) -> Iterator[tuple[Operation | BodyBoundary, PortIndex, SSAValue]]:
        """The producer and the users of an orbit, each with the index of the operand or result and the value that
        connect it.
        """
        root = orbit.root
        if isinstance(root, OpResult):
            yield self.port_of_value.get(root, root.op), (root.index, True), root
        for value, op, index in self.uses(orbit):
            yield self.port_of_use.get((op, index), op), (index, False), value

    def _node(self, candidate: Operation | BodyBoundary, part: PortIndex, order: Order, side: int) -> LayoutNode | None:
        if isinstance(candidate, BodyBoundary):
            if not candidate.accepts(order):
                return None
            return LayoutNode(None, order, side, dict.fromkeys(candidate.operands, order), dict.fromkeys(candidate.results, order))
        if not isinstance(candidate, OpsetOp) or candidate.regions:
            return None
        form = permuted_form(Offer(candidate, self.known, order, *part))
        if form is None:
            return None
        form = self._fitting(candidate, form, part, order)
        node = LayoutNode(form, order, side, {}, {}, form.extra)
        for index, is_result, own in form.permutations():
            if is_result:
                node.results[candidate.results[index]] = own
            else:
                node.operands[candidate, index] = own
        return node

    def _fitting(self, op: OpsetOp, form: Permuted, part: PortIndex, order: Order) -> Permuted:
        """A permuted form of an operation, preferably one whose other tensors already have the permutations that it
        needs.

        If an operation inserts or removes dimensions, several permutations of its result fit one permutation of its
        operand.

        Args:
            op: the operation.
            form: its permuted form.
            part: the operand or result that is fixed: its index, and whether it is a result.
            order: the permutation of that operand or result.
        """
        for index, is_result, own in form.permutations():
            value = op.results[index] if is_result else op.operands[index]
            orbit = None if (index, is_result) == part or is_constant(value) else self.orbit(value)
            if orbit is None:
                continue
            start = orbit.members[value]
            present = orbit.sides or tuple(dict.fromkeys(orbit.members.values()))[:MAXIMUM_ORDERS]
            if composed(start, own) in present:
                continue
            for end in present:
                offered = between(start, end)
                other = None if is_natural(offered) else permuted_form(Offer(op, self.known, offered, index, is_result))
                if other is not None and (*part, order) in other.permutations():
                    return other
        return form

    def values(self, node: LayoutNode) -> Iterator[tuple[SSAValue, Order]]:
        """The values that are permuted in the permuted form of a node, except constants, with their permutations."""
        for (op, index), order in node.operands.items():
            if not is_constant(op.operands[index]):
                yield op.operands[index], order
        yield from node.results.items()

    def _claimed(self, node: LayoutNode) -> Iterable[Orbit]:
        """Assign sides to the tensors of a new node that have no side yet; yields these tensors' orbits."""
        for value, order in self.values(node):
            orbit = self.orbit(value)
            if orbit is None or orbit.sides is not None:
                continue
            own = orbit.members[value]
            other = composed(own, order)
            orbit.sides = (own, other) if node.natural_side == 0 else (other, own)
            yield orbit

    def agrees(self, node: LayoutNode, value: SSAValue, order: Order) -> bool:
        """Whether the two permutations of a value, in a node and in the node's permuted form, are those of its orbit on
        both sides.
        """
        orbit = self.orbit(value)
        if orbit is None or orbit.sides is None:
            return False
        own = orbit.members[value]
        return orbit.sides[node.natural_side] == own and orbit.sides[1 - node.natural_side] == composed(own, order)
