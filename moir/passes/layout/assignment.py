"""Deciding which operations of a region work on permuted tensors, as a minimum cut.

An orbit costs one Transpose if some user wants another permutation than the producer gives, however many such users
there are; an operation costs the operations that its permuted form adds. The number of operations counts first, then
the size of the transposed tensors. On the other side, an operation with the attribute `prefers_channels_first` costs
more than any Transpose: the extension that made it expects channels first after the layout change. Among assignments of
equal cost, the best has most operations on the side of the convolutions, into which a target can fuse them; if there
is no such side, the best changes fewest operations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import log2, prod

from xdsl.ir import Block, Operation, OpResult, SSAValue

from moir.dialects.discardable import PREFERS_CHANNELS_FIRST
from moir.dialects.opset.interfaces.spatial import ConvolutionOp
from moir.dialects.shapes import shape_of
from moir.passes.layout.minimum_cut import SINK, SOURCE, UNLIMITED, Network
from moir.passes.layout.orders import Order, natural
from moir.passes.layout.regions import LayoutNode, Layouts, Orbit, Region
from moir.support.records import Record

OPERATION = 1 << 20
"""Cost of an operation."""

SIZE = 1 << 10
"""Cost of a Transpose for each doubling of the number of elements."""

PREFERENCE = OPERATION << 6
"""Cost of channels last for an operation that prefers channels first."""

HAS_CHANNELS_FIRST = "has_channels_first"
"""The attribute that replaces `PREFERS_CHANNELS_FIRST` once the operation is permuted."""

IMAGE_ORDERS = {PREFERS_CHANNELS_FIRST: ((0, 3, 1, 2), (0, 4, 1, 2, 3)), HAS_CHANNELS_FIRST: ((0, 2, 3, 1), (0, 2, 3, 4, 1))}
"""For each layout preference of an operation, the permutations of 4-D and 5-D images that lead to the other layout."""

UNKNOWN_SIZE, UNKNOWN_SHAPE = 32, (1, 64, 32, 32)
"""The size of a dynamic dimension, and the shape of a tensor of dynamic rank, for the cost of a Transpose."""

IMAGE_RANK = 4

TERMINALS = (SINK, SOURCE)
"""The terminal of the network for side 0 and for side 1."""


def assign(layouts: Layouts) -> bool:
    """Assign sides to the operations of all regions; returns whether any operation is to be permuted."""
    changed = False
    for region in layouts.regions:
        changed |= Assignment(layouts, region).decide()
    return changed


def transposition_cost(value: SSAValue) -> int:
    """The cost of transposing a tensor; images cost less per element than tensors of lower rank.

    Runtimes store the images of convolutions with channels last, so that the Transpose of an image moves no data.
    """
    shape = shape_of(value)
    sizes = UNKNOWN_SHAPE if shape is None else [UNKNOWN_SIZE if d < 0 else d for d in shape]
    return OPERATION + int(SIZE * log2(max(1, prod(sizes)))) + (0 if len(sizes) >= IMAGE_RANK else SIZE // 2)


def _preference(node: LayoutNode, attribute: str) -> bool:
    """Whether an operation has a preference, given by `attribute`, and its permuted form moves the channels of
    images.
    """
    orders = IMAGE_ORDERS[attribute]
    return any(
        isinstance(value, OpResult) and attribute in value.op.attributes and order in orders for value, order in node.results.items()
    )


class Demand(Record):
    """The cost of an orbit in the flow network.

    Args:
        producers: the network node of the producer, as seen by users on side 0 and by users on side 1. The two differ
            only if the producer is on neither side: then the orbit costs a Transpose in any case.
        users: the network nodes of the users.
        cost: cost of a Transpose.
    """

    producers: tuple[int, int]
    users: tuple[int, ...]
    cost: int

    def cost_of(self, sides: list[bool]) -> int:
        """The cost of the orbit under a cut: `sides` says for each network node whether it is on side 1."""
        wanted = {sides[user] for user in self.users}
        return self.cost * sum(1 for side in wanted if sides[self.producers[side]] != side)


class Group:
    """A connected set of changed nodes (by index), and the indices of the demands of their tensors."""

    def __init__(self, nodes: list[int], demands: list[int]) -> None:
        self.nodes = nodes
        self.demands = demands

    def first(self) -> int:
        """The position of the first node, by which groups are sorted deterministically."""
        return self.nodes[0]

    def size(self) -> int:
        """Number of nodes."""
        return len(self.nodes)


class Assignment:
    """The minimum-cut problem of a region: side 1 contains the source of the network, side 0 the sink."""

    def __init__(self, layouts: Layouts, region: Region) -> None:
        self.layouts = layouts
        self.nodes = region.nodes
        # The network starts with the two terminals.
        self.flow_nodes = {node: index for index, node in enumerate(region.nodes, 2)}
        self.extras = [self._extra(node) for node in region.nodes]
        self.stays = [PREFERENCE if _preference(node, PREFERS_CHANNELS_FIRST) else 0 for node in region.nodes]
        self.convolution_sides: set[int] = set()
        self.demands = [self._demand(orbit) for orbit in region.orbits]

    def decide(self) -> bool:
        """Mark the nodes to permute if that lowers the cost of the region; returns whether any node is marked."""
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
        cuts = self._network().cuts()
        if cuts is not None:
            yield from cuts
            return
        # The network is too large for a minimum cut: try all operations on one side.
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
        changes = self._changes(sides)
        extra = sum(extra if change else stay for extra, stay, change in zip(self.extras, self.stays, changes, strict=True))
        return extra + sum(demand.cost_of(sides) for demand in self.demands)

    def _fused(self, positions: Iterable[int], sides: list[bool]) -> int:
        """The number of nodes at `positions` that get the same permutation as the convolutions.

        If neither side, or both sides, have convolutions: the number of nodes that are not permuted.
        """
        if len(self.convolution_sides) != 1:
            return sum(1 for position in positions if sides[position + 2] == (self.nodes[position].natural_side == 1))
        (side,) = self.convolution_sides
        return sum(1 for position in positions if sides[position + 2] == (side == 1))

    def _groups(self, changes: list[bool]) -> list[Group]:
        """The connected sets of changed nodes; nodes are connected if they share a tensor."""
        group_of: dict[int, Group] = {}
        for position, change in enumerate(changes):
            if change:
                group_of[position] = Group([position], [])
        for number, demand in enumerate(self.demands):
            around = {index - 2 for index in (*demand.producers, *demand.users) if index > 1 and changes[index - 2]}
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
        """The cost that is saved by permuting the nodes of a group; `before` are the sides of all nodes without that,
        `sides` with it.
        """
        gain = sum(self.stays[position] - self.extras[position] for position in group.nodes)
        return gain + sum(self.demands[number].cost_of(before) - self.demands[number].cost_of(sides) for number in group.demands)

    def _network(self) -> Network:
        network = Network()
        for node, extra, stay in zip(self.nodes, self.extras, self.stays, strict=True):
            index = network.node()
            network.connect(*((SOURCE, index) if node.natural_side == 1 else (index, SINK)), extra)
            if stay:
                network.connect(*((index, SINK) if node.natural_side == 1 else (SOURCE, index)), stay)
        for demand in self.demands:
            low, high = demand.producers
            if len(demand.users) == 1:
                network.connect(demand.users[0], high, demand.cost)
                network.connect(low, demand.users[0], demand.cost)
            elif demand.users:
                # However many users are on the side opposite to the producer, the cost is paid once.
                wanted, left = network.node(), network.node()
                network.connect(wanted, high, demand.cost)
                network.connect(low, left, demand.cost)
                for user in demand.users:
                    network.connect(user, wanted, UNLIMITED)
                    network.connect(left, user, UNLIMITED)
        return network

    def _extra(self, node: LayoutNode) -> int:
        """Cost of the permuted form of an operation beyond that of the operation itself."""
        cost = OPERATION * node.extra + (PREFERENCE if _preference(node, HAS_CHANNELS_FIRST) else 0)
        for value, order in self.layouts.values(node):
            if not self.layouts.agrees(node, value, order):
                # The orbit has neither of the permutations that this value needs, so the value gets a Transpose of its
                # own.
                cost += transposition_cost(value)
        return cost

    def _flow_node(self, node: LayoutNode | None, value: SSAValue, order: Order | None) -> int | None:
        """The index of the flow node of a user or producer whose permutations agree with the orbit's; None for others.

        `order` is the permutation of `value` in its orbit, None if it has none.
        """
        if node is None or order is None or node not in self.flow_nodes or not self.layouts.agrees(node, value, order):
            return None
        return self.flow_nodes[node]

    def _demand(self, orbit: Orbit) -> Demand:
        assert orbit.sides is not None
        producer = self.layouts.producer(orbit.root)
        index = self._flow_node(producer, orbit.root, None if producer is None else producer.results.get(orbit.root))
        if index is not None:
            producers = (index, index)
        elif (side := orbit.side(natural(len(orbit.sides[0])))) is not None:
            producers = (TERMINALS[side], TERMINALS[side])
            self._look(orbit.root.owner, side)
        else:
            producers = (SOURCE, SINK)
        return Demand(producers, tuple(self._users(orbit)), transposition_cost(orbit.root))

    def _users(self, orbit: Orbit) -> list[int]:
        """The network nodes of the users of an orbit; a terminal for a user that cannot be permuted."""
        nodes: dict[int, None] = {}
        for value, op, index in self.layouts.uses(orbit):
            node = self.layouts.user(op, index)
            node_index = self._flow_node(node, value, None if node is None else node.operands.get((op, index)))
            side = orbit.side(orbit.members[value])
            if node_index is not None:
                nodes[node_index] = None
            elif side is not None:
                nodes[TERMINALS[side]] = None
                self._look(op, side)
        return list(nodes)

    def _look(self, op: Operation | Block, side: int) -> None:
        if isinstance(op, ConvolutionOp):
            self.convolution_sides.add(side)
