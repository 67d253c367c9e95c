"""Deciding which operations of a region work on permuted tensors, as a minimum cut.

An orbit costs one Transpose if some user wants it in another order than its producer has it in, however many users do;
an operation costs what its permuted form needs beyond itself. The number of operations counts first, then the size of
what is transposed. Of equal choices that is best which leaves most operations on the side of the convolutions, into
which the runtime can fuse them, or else that which changes least.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import log2, prod

from xdsl.ir import Block, Operation, SSAValue

from moir.dialects.opset.convolution import ConvolutionOp
from moir.dialects.shapes import shape_of
from moir.rewriting.layout.minimum_cut import SINK, SOURCE, UNLIMITED, Network
from moir.rewriting.layout.orders import Order, natural
from moir.rewriting.layout.regions import LayoutNode, Layouts, Orbit, Region

OPERATION = 1 << 20
"""Cost of an operation."""

SIZE = 1 << 10
"""Cost of moving twice as many elements."""

UNKNOWN_SIZE, UNKNOWN_SHAPE = 32, (1, 64, 32, 32)
"""What is reckoned with where a shape is not known."""

TERMINALS = (SINK, SOURCE)
"""The network node that stands for each side."""


def assign(layouts: Layouts) -> bool:
    """Decide upon all regions; returns whether an operation is to be permuted."""
    changed = False
    for region in layouts.regions:
        changed |= Assignment(layouts, region).decide()
    return changed


def transposition_cost(value: SSAValue) -> int:
    """What a transposition of a tensor costs."""
    shape = shape_of(value)
    sizes = UNKNOWN_SHAPE if shape is None else [UNKNOWN_SIZE if d < 0 else d for d in shape]
    return OPERATION + int(SIZE * log2(max(1, prod(sizes))))


@dataclass(frozen=True)
class Demand:
    """An orbit in the network.

    Args:
        producers: the network node that has the tensor, as it counts for users on side 0 and on side 1. They differ
            only for a producer on neither side, which costs a Transpose in any case.
        users: network nodes that want it on their side.
        cost: cost of a Transpose.
    """

    producers: tuple[int, int]
    users: tuple[int, ...]
    cost: int

    def cost_of(self, sides: list[bool]) -> int:
        """What the orbit costs if these network nodes are on side 1."""
        wanted = {sides[user] for user in self.users}
        return self.cost * sum(1 for side in wanted if sides[self.producers[side]] != side)


@dataclass(eq=False)
class Group:
    """Positions of nodes, and numbers of the demands around them."""

    nodes: list[int]
    demands: list[int]

    def first(self) -> int:
        """The first node, for a fixed order."""
        return self.nodes[0]

    def size(self) -> int:
        """Number of nodes."""
        return len(self.nodes)


class Assignment:
    """The network of a region: side 1 is that of the source, side 0 that of the sink."""

    def __init__(self, layouts: Layouts, region: Region) -> None:
        self.layouts = layouts
        self.nodes = region.nodes
        # The network starts with the two terminals.
        self.places = {node: place for place, node in enumerate(region.nodes, 2)}
        self.extras = [self._extra(node) for node in region.nodes]
        self.convolution_sides: set[int] = set()
        self.demands = [self._demand(orbit) for orbit in region.orbits]

    def decide(self) -> bool:
        """Mark the nodes that are to be permuted, as far as that makes the region cheaper."""
        before = self._natural()
        sides = min(self._candidates(), key=lambda sides: (self._cost(sides), -self._fused(range(len(self.nodes)), sides)))
        for group in self._groups(self._changes(sides)):
            gain = self._gain(group, before, sides)
            if gain > 0 or (gain == 0 and self._fused(group.nodes, sides) > self._fused(group.nodes, before)):
                for position in group.nodes:
                    self.nodes[position].is_permuted = True
        return any(node.is_permuted for node in self.nodes)

    def _candidates(self) -> Iterator[list[bool]]:
        yield self._natural()
        found = self._network().cuts()
        if found is not None:
            yield from found
            return
        # Too large for the best choice: all operations on one side.
        for side in (False, True):
            yield [False, True] + [side] * len(self.nodes)

    def _natural(self) -> list[bool]:
        sides = [False] * (2 + len(self.nodes))
        sides[SOURCE] = True
        for position, node in enumerate(self.nodes, 2):
            sides[position] = node.natural_side == 1
        return sides

    def _changes(self, sides: list[bool]) -> list[bool]:
        return [sides[position] != (node.natural_side == 1) for position, node in enumerate(self.nodes, 2)]

    def _cost(self, sides: list[bool]) -> int:
        extra = sum(extra for extra, change in zip(self.extras, self._changes(sides), strict=True) if change)
        return extra + sum(demand.cost_of(sides) for demand in self.demands)

    def _fused(self, positions: Iterable[int], sides: list[bool]) -> int:
        """How many of these nodes are where convolutions are; where there are none, or on both sides, how many are
        natural.
        """
        if len(self.convolution_sides) != 1:
            return sum(1 for position in positions if sides[position + 2] == (self.nodes[position].natural_side == 1))
        (side,) = self.convolution_sides
        return sum(1 for position in positions if sides[position + 2] == (side == 1))

    def _groups(self, changes: list[bool]) -> list[Group]:
        """Changed nodes that have to do with each other, since they share an orbit."""
        group_of: dict[int, Group] = {}
        for position, change in enumerate(changes):
            if change:
                group_of[position] = Group([position], [])
        for number, demand in enumerate(self.demands):
            around = {place - 2 for place in (*demand.producers, *demand.users) if place > 1 and changes[place - 2]}
            joined: Group | None = None
            for group in sorted({id(group_of[position]): group_of[position] for position in around}.values(), key=Group.first):
                if joined is None:
                    joined = group
                    continue
                small, joined = sorted((joined, group), key=Group.size)
                joined.nodes.extend(small.nodes)
                joined.demands.extend(small.demands)
                group_of.update(dict.fromkeys(small.nodes, joined))
            if joined is not None:
                joined.demands.append(number)
        return list({id(group): group for group in group_of.values()}.values())

    def _gain(self, group: Group, before: list[bool], sides: list[bool]) -> int:
        """What the change of a group saves."""
        gain = -sum(self.extras[position] for position in group.nodes)
        return gain + sum(self.demands[number].cost_of(before) - self.demands[number].cost_of(sides) for number in group.demands)

    def _network(self) -> Network:
        network = Network()
        for node, extra in zip(self.nodes, self.extras, strict=True):
            place = network.node()
            network.connect(*((SOURCE, place) if node.natural_side == 1 else (place, SINK)), extra)
        for demand in self.demands:
            low, high = demand.producers
            if len(demand.users) == 1:
                network.connect(demand.users[0], high, demand.cost)
                network.connect(low, demand.users[0], demand.cost)
            elif demand.users:
                # If some user is on the one side and the producer on the other, the cost is paid once.
                wanted, left = network.node(), network.node()
                network.connect(wanted, high, demand.cost)
                network.connect(low, left, demand.cost)
                for user in demand.users:
                    network.connect(user, wanted, UNLIMITED)
                    network.connect(left, user, UNLIMITED)
        return network

    def _extra(self, node: LayoutNode) -> int:
        """What the permuted form of an operation costs."""
        cost = OPERATION * node.extra
        for value, order in self.layouts.values(node):
            if not self.layouts.agrees(node, value, order):
                # The orbit is had in other orders: this one costs a Transpose for itself.
                cost += transposition_cost(value)
        return cost

    def _place(self, node: LayoutNode | None, value: SSAValue, order: Order | None) -> int | None:
        """The network node of a user or producer whose own sides are those of the orbit."""
        if node is None or order is None or node not in self.places or not self.layouts.agrees(node, value, order):
            return None
        return self.places[node]

    def _demand(self, orbit: Orbit) -> Demand:
        assert orbit.sides is not None
        producer = self.layouts.producer(orbit.root)
        place = self._place(producer, orbit.root, None if producer is None else producer.results.get(orbit.root))
        if place is not None:
            producers = (place, place)
        elif (side := orbit.side(natural(len(orbit.sides[0])))) is not None:
            producers = (TERMINALS[side], TERMINALS[side])
            self._look(orbit.root.owner, side)
        else:
            producers = (SOURCE, SINK)
        return Demand(producers, tuple(self._users(orbit)), transposition_cost(orbit.root))

    def _users(self, orbit: Orbit) -> list[int]:
        """Network nodes of the users of an orbit; a terminal for one that wants one order in any case."""
        found: dict[int, None] = {}
        for value, op, index in self.layouts.uses(orbit):
            node = self.layouts.user(op, index)
            place = self._place(node, value, None if node is None else node.operands.get((op, index)))
            side = orbit.side(orbit.members[value])
            if place is not None:
                found[place] = None
            elif side is not None:
                found[TERMINALS[side]] = None
                self._look(op, side)
        return list(found)

    def _look(self, op: Operation | Block, side: int) -> None:
        if isinstance(op, ConvolutionOp):
            self.convolution_sides.add(side)
