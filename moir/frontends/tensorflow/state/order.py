"""The order in which the operations of a model read and write its variables.

TensorFlow runs an operation after those it depends on by data or by control, and all others in any order. What a
variable contains when an operation reads it is certain only if, for each write of the variable, the operation depends
on the write or the write depends on the operation. The operations of a graph are ordered accordingly, those of a
function within each of its calls.

A table that is filled before each use has the same content in every inference: it is not state.

A variable of TensorFlow 1 (VariableV2) is read by each operation that uses it, and a value that an Identity passes on
may be the variable's own memory: it must not be written between the Identity and the use of its result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

from moir.errors import ModelFileError
from moir.frontends.tensorflow.functions import CALL_KINDS, is_back_edge
from moir.frontends.tensorflow.references import reference
from moir.frontends.tensorflow.state.nodes import (
    EXPRESSED_WRITING_KINDS,
    READING_KINDS,
    REFERENCE_KINDS,
    TABLE_FILLING_KINDS,
    Resource,
    is_writing,
    resource_of,
)
from moir.frontends.tensorflow.state.walk import CallFrame, Walk, data_operands
from moir.support.records import Record
from moir.support.topological_order import topological_order

_SHARING = frozenset(
    (
        *("Bitcast", "EnsureShape", "Enter", "ExpandDims", "Identity", "IdentityN", "RefEnter", "RefIdentity", "RefSwitch", "Reshape"),
        *("Slice", "Snapshot", "Split", "SplitV", "Squeeze", "StopGradient", "StridedSlice", "Switch", "Unpack"),
    )
)
"""Kinds whose results may share the memory of operand 0."""
_UNREAD_KINDS = frozenset(("IsVariableInitialized", "VarIsInitializedOp", "DisableCopyOnRead", "NoOp"))
_LEAVING = {"Exit": 2, "RefExit": 2}
_ENTERING = {"Switch": 1, "RefSwitch": 1, "Enter": 1, "RefEnter": 1}
_ORDER_HINT = "order them by control dependencies, as tf.function does, or export a function that does not change variables"


class FrameOrder:
    """The execution order of the nodes of a graph, or of one call of a function, with their accesses to variables.

    Args:
        positions: the position of each node that runs, by name.

    `accesses` says, for each node that accesses threaded variables, which of them it writes.
    """

    def __init__(self, positions: dict[str, int]) -> None:
        self.positions = positions
        self.accesses: dict[str, dict[Resource, bool]] = {}

    def writing(self) -> list[str]:
        """The names of the nodes that write variables."""
        return [name for name, accesses in self.accesses.items() if any(accesses.values())]

    def leave_out(self, resources: Set[Resource]) -> None:
        """Remove the accesses of `resources`, variables that are not a state of the model."""
        kept = {
            name: {each: writes for each, writes in resource.items() if each not in resources} for name, resource in self.accesses.items()
        }
        self.accesses = {name: resource for name, resource in kept.items() if resource}


class StateOrder(Record):
    """The threaded variables of a model, and the order of the nodes that access them.

    Args:
        variables: the variables.
        frames: the order within each frame that accesses one, by `CallFrame.key`.
    """

    variables: frozenset[Resource]
    frames: Mapping[tuple[str, str], FrameOrder]


def state_order(walk: Walk, variables: frozenset[Resource], outputs: list[str]) -> StateOrder | None:
    """The order of the accesses to state variables, for threading their values; None if no variable is a state.

    Args:
        walk: walks over the graph.
        variables: the variables to thread.
        outputs: references to the outputs of the model.

    Raises ModelFileError if the graph does not determine the order, or a write cannot be expressed.
    """
    frames: dict[tuple[str, str], FrameOrder] = {}
    ordering = _Ordering(walk, variables, frames)
    ordering.order(walk.main, outputs)
    for order in frames.values():
        order.leave_out(ordering.filled)
    states = variables - ordering.filled
    return StateOrder(states, {key: order for key, order in frames.items() if order.accesses}) if states else None


class _Ordering:
    """Orders the frames of a graph, callees first.

    Args:
        walk: walks over the graph.
        variables: the variables to thread.
        frames: the dictionary to which the orders are added.
    """

    def __init__(self, walk: Walk, variables: frozenset[Resource], frames: dict[tuple[str, str], FrameOrder]) -> None:
        self.walk = walk
        self.variables = variables
        self.frames = frames
        self.filled: set[Resource] = set()
        """The tables that are filled before each use."""

    def order(self, frame: CallFrame, outputs: list[str]) -> dict[Resource, bool]:
        """Order the accesses of a frame; returns the threaded variables that it accesses, each with whether it writes
        the variable.
        """
        order = _topological(frame, self.walk.roots(frame, outputs))
        frame_order = FrameOrder({name: position for position, name in enumerate(order)})
        for name in order:
            if accesses := self._accesses(frame, frame.nodes[name]):
                frame_order.accesses[name] = accesses
        if not frame_order.accesses:
            return {}
        self.frames[frame.key] = frame_order
        self._check(frame, frame_order, order, outputs if frame.function is None else [])
        together: dict[Resource, bool] = {}
        for accesses in frame_order.accesses.values():
            for resource, writes in accesses.items():
                together[resource] = together.get(resource, False) or writes
        return together

    def _accesses(self, frame: CallFrame, node: Any) -> dict[Resource, bool]:
        """A dictionary: each threaded variable that a node accesses -> whether the node writes it."""
        accesses: dict[Resource, bool] = {}
        if node.op in _UNREAD_KINDS or node.op in REFERENCE_KINDS:
            return accesses
        for operand in data_operands(node):
            if (shared := self._shared(frame, operand)) is not None:
                accesses[shared] = False
        if node.input and (node.op in READING_KINDS or is_writing(node.op)):
            resource = self.walk.resource(frame, node.input[0])
            if resource in self.variables:
                accesses[resource] = is_writing(node.op)
        for inner in self.walk.inner(frame, node):
            for resource, writes in self.order(inner, []).items():
                accesses[resource] = accesses.get(resource, False) or writes
        return accesses

    def _shared(self, frame: CallFrame, operand: str) -> Resource | None:
        """The threaded variable of TensorFlow 1 whose memory a tensor may be; None if there is none."""
        for _ in range(len(frame.nodes)):
            node = frame.nodes.get(reference(operand)[0])
            if node is None:
                return None
            if node.op in REFERENCE_KINDS:
                return resource if (resource := resource_of(node)) in self.variables else None
            if not (node.op in _SHARING or is_writing(node.op)) or not (operands := data_operands(node)):
                return None
            operand = operands[1 if node.op in ("Split",) and len(operands) > 1 else 0]
        return None

    def _check(self, frame: CallFrame, frame_order: FrameOrder, order: list[str], outputs: list[str]) -> None:
        """Raises ModelFileError if the order of the accesses of a frame is not certain, or a write cannot be expressed.

        `order` are the names of its nodes, each after those it depends on.
        """
        before = _ancestors(frame, order, frame_order.accesses)
        bits = {name: 1 << index for index, name in enumerate(frame_order.accesses)}
        nesting = _nesting(frame, order)
        by_resource: dict[Resource, list[str]] = {}
        for name, accesses in frame_order.accesses.items():
            for resource in accesses:
                by_resource.setdefault(resource, []).append(name)
        for resource, names in by_resource.items():
            writes = [name for name in names if frame_order.accesses[name][resource]]
            if (
                writes
                and _are_fillings(frame, writes, nesting)
                and all(before[name] & bits[write] for name in names if name not in writes for write in writes)
            ):
                self.filled.add(resource)
                continue
            for write in writes:
                self._check_kind(frame, frame.nodes[write], resource, nesting[write])
                for other in names:
                    if other != write and not before[other] & bits[write] and not before[write] & bits[other]:
                        raise _unordered(frame, frame.nodes[write], other, resource)
            self._check_sharing(frame, names, writes, {name: before[name] | bits[name] for name in names}, bits, resource)
            last = writes[-1] if writes else None
            for output in outputs:
                name = reference(output)[0]
                is_last = last is None or name == last or bool(before.get(name, 0) & bits[last])
                if not is_last and self._shared(frame, output) == resource:
                    raise _unordered(frame, frame.nodes[str(last)], name, resource)

    def _check_kind(self, frame: CallFrame, node: Any, resource: Resource, nesting: int) -> None:
        """Raises ModelFileError if a node writes a variable in a way that cannot be expressed.

        `nesting` is the number of conditions and loops of TensorFlow 1 around the node.
        """
        is_call = node.op in CALL_KINDS or any(True for _ in self.walk.inner(frame, node))
        if node.op not in EXPRESSED_WRITING_KINDS and not is_call:
            what = "table" if node.op.startswith("LookupTable") else "variable"
            raise _error(frame, node, f"it changes {what} {resource[1]!r}, which the outputs read, in a way that cannot be expressed")
        if nesting:
            reason = f"it changes variable {resource[1]!r}, which the outputs read, within a condition or a loop of TensorFlow 1"
            raise _error(frame, node, reason)

    def _check_sharing(
        self, frame: CallFrame, names: list[str], writes: list[str], after: Mapping[str, int], bits: Mapping[str, int], resource: Resource
    ) -> None:
        """Raises ModelFileError if a variable of TensorFlow 1 may be written before a node that shares its memory is
        used.

        Args:
            frame: the frame.
            names: the nodes that access the variable.
            writes: those of them that write it.
            after: for each node, the accessing nodes that it depends on, as a bit set.
            bits: the bit of each accessing node.
            resource: the variable.
        """
        if not writes:
            return
        mask = sum(bits[write] for write in writes)
        for name in names:
            node = frame.nodes[name]
            for operand in data_operands(node):
                source = reference(operand)[0]
                if source not in after or self._shared(frame, operand) != resource:
                    continue
                # A write is not compared with itself.
                if after[source] & mask != after[name] & mask & ~(bits[name] if name in writes else 0):
                    raise _unordered(frame, frame.nodes[writes[-1]], name, resource)


def _are_fillings(frame: CallFrame, writes: Sequence[str], nesting: Mapping[str, int]) -> bool:
    """Whether the nodes `writes` only add entries to a table, and run exactly once in each inference.

    They do if they are in the main graph, outside of the conditions and loops that `nesting` counts.
    """
    return frame.function is None and all(frame.nodes[name].op in TABLE_FILLING_KINDS and not nesting[name] for name in writes)


def _error(frame: CallFrame, node: Any, reason: str, hint: str | None = None) -> ModelFileError:
    hint = hint or "export a function for inference that does not change variables"
    return ModelFileError(reason, operation=f"tf.{node.op}", node=frame.prefix + node.name, hint=hint)


def _unordered(frame: CallFrame, write: Any, other: str, resource: Resource) -> ModelFileError:
    reason = (
        f"it changes variable {resource[1]!r}, and the graph does not determine whether before or after {frame.prefix + other!r} uses it"
    )
    return _error(frame, write, reason, _ORDER_HINT)


def _sources(frame: CallFrame, node: Any) -> list[str]:
    """The names of the nodes that a node depends on by data or by control, without the back edges of loops."""
    names = [reference(operand)[0] for operand in node.input]
    return [name for name in names if name in frame.nodes and not is_back_edge(node, frame.nodes[name])]


def _topological(frame: CallFrame, roots: list[str]) -> list[str]:
    """The nodes that roots depend on by data or by control, each after those it depends on.

    Raises ModelFileError if a node depends on itself.
    """

    def cycle(_: list[str], source: str) -> ModelFileError:
        return _error(frame, frame.nodes[source], "it needs itself", "only loops through NextIteration are possible")

    known = [root for root in roots if root in frame.nodes]
    return topological_order(known, lambda name: _sources(frame, frame.nodes[name]), cycle)


def _ancestors(frame: CallFrame, order: list[str], marked: Mapping[str, Any]) -> dict[str, int]:
    """For each node of `order`, the nodes of `marked` that it depends on, as a bit set: bit i is the i-th marked
    node.
    """
    bits = {name: 1 << index for index, name in enumerate(marked)}
    ancestors: dict[str, int] = {}
    for name in order:
        before = 0
        for source in _sources(frame, frame.nodes[name]):
            before |= ancestors[source] | bits.get(source, 0)
        ancestors[name] = before
    return ancestors


def _nesting(frame: CallFrame, order: list[str]) -> dict[str, int]:
    """For each node, by name, the number of conditions and loops of TensorFlow 1 around it; a loop counts as two."""
    nesting: dict[str, int] = {}
    for name in order:
        node = frame.nodes[name]
        depth = max((nesting[source] for source in _sources(frame, node)), default=0)
        depth += _ENTERING.get(node.op, 0) - _LEAVING.get(node.op, 0)
        is_join = node.op in ("Merge", "RefMerge")
        closes_loop = is_join and any(
            (source := frame.nodes.get(reference(operand)[0])) is not None and is_back_edge(node, source) for operand in node.input
        )
        nesting[name] = max(0, depth - (is_join and not closes_loop))
    return nesting
