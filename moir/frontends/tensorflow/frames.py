"""The nodes and values of one graph during import, and the order in which its nodes are built.

A frame is the main graph, or one call of a function. Only nodes that the outputs depend on through data edges are
imported; control edges are dropped. Every node is built after its operands, with one exception in the loops of
TensorFlow 1: the back edge from a NextIteration to its Merge is cut.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xdsl.ir import SSAValue

from moir.errors import ModelFileError
from moir.frontends.operations import Operations
from moir.frontends.tensorflow.attributes import Bindings, list_length
from moir.frontends.tensorflow.definitions import fault, most_results
from moir.frontends.tensorflow.functions import MERGE_KINDS, Function, Nodes, bound, is_back_edge
from moir.frontends.tensorflow.outputs import output_number
from moir.frontends.tensorflow.references import Tensor
from moir.support.records import Record
from moir.support.topological_order import topological_order

if TYPE_CHECKING:
    from moir.frontends.tensorflow.state.order import FrameOrder

MAXIMUM_OUTPUTS = 1 << 16
"""Largest index of an output in a reference."""
_MAXIMUM_NAMES_IN_CYCLE = 6
_MAXIMUM_PINNED = 1000
"""Largest number of nodes on a branch of a condition that depend on constants only."""
_BRANCH_KINDS = frozenset(
    ("Switch", "RefSwitch", "_SwitchN", "Merge", "RefMerge", "Enter", "RefEnter", "Exit", "NextIteration", "RefNextIteration")
)


class Frame:
    """One graph during import.

    Args:
        path: the file, for messages.
        nodes: NodeDefs by name.
        operations: the block; an inlined call shares the block of its caller.
        prefix: prefix of the names of its nodes.
        function: the function; None for the main graph.
        bindings: attributes of the call.
        values: values of the tensors that are built already.
        depth: number of calls around it.
        state: the order of the nodes that access variables with a state; None if there are none.
    """

    def __init__(
        self,
        path: Path,
        nodes: Nodes,
        operations: Operations,
        prefix: str = "",
        function: Function | None = None,
        bindings: Bindings | None = None,
        values: dict[Tensor, SSAValue] | None = None,
        depth: int = 0,
        state: FrameOrder | None = None,
    ) -> None:
        self.path = path
        self.nodes = nodes
        self.operations = operations
        self.prefix = prefix
        self.function = function
        self.bindings = bindings or {}
        self.values = values or {}
        self.depth = depth
        self.state = state

    def error(self, reason: str, node: Any, hint: str | None = None) -> ModelFileError:
        """An error that names a node and the file."""
        return ModelFileError(reason, operation=f"tf.{node.op}", node=self.prefix + node.name, location=str(self.path), hint=hint)

    @property
    def place(self) -> str:
        """A text for messages that says which graph or function the frame is."""
        return "the graph" if self.function is None else f"function {self.function.name!r}"

    def attribute(self, node: Any, name: str) -> Any:
        """An AttrValue of a node with placeholders replaced, None if the node does not have it."""
        return bound(node.attr[name], self.bindings) if name in node.attr else None

    def attributes(self, node: Any) -> Iterable[tuple[str, Any]]:
        """All attributes of a node by name, with placeholders replaced.

        Raises ModelFileError for a placeholder that the call does not bind.
        """
        for name in sorted(node.attr):
            value = bound(node.attr[name], self.bindings)
            if value is None:
                if name.startswith("_"):
                    continue
                raise self.error(f"attribute {name!r} refers to ${node.attr[name].placeholder}, which the call does not give", node)
            yield name, value

    def count(self, node: Any, attribute: str) -> int:
        """The length of an output list, from the attribute that gives it; 0 if the node lacks it."""
        value = self.attribute(node, attribute)
        return 0 if value is None else max(0, list_length(value))

    def resolve(self, text: str, user: Any = None) -> Tensor:
        """The tensor to which a reference resolves.

        Args:
            text: the reference: `node`, `node:1`, or `node:output:1` in a function.
            user: the node with the reference, for messages.

        Raises ModelFileError for a reference to a missing node or output.
        """
        name, *ports = text.split(":")
        if self.function is not None and name in self.function.arguments:
            return name, 0
        node = self.nodes.get(name)
        if node is None:
            reason = f"{self.place} has no node {name!r}"
            if user is None:
                raise ModelFileError(reason, location=str(self.path))
            raise self.error(f"it uses {text!r}, but {reason}", user, "the graph was cut or damaged")
        if not ports:
            return name, 0
        index = int(ports[-1]) if ports[-1].isdecimal() and len(ports[-1]) < 8 else MAXIMUM_OUTPUTS
        if len(ports) == 2 and self.function is not None:
            index = self._named_output(node, ports[0], index)
        elif len(ports) != 1:
            index = MAXIMUM_OUTPUTS
        if index >= MAXIMUM_OUTPUTS:
            raise self.error(f"{text!r} is not an output of it", node)
        return name, index

    def _named_output(self, node: Any, output: str, index: int) -> int:
        number = output_number(node.op, output, index, lambda attribute: self.count(node, attribute))
        if number is None:
            raise self.error(f"it has no output {output!r}", node)
        return number

    def operands(self, node: Any) -> list[Tensor]:
        """The tensors a node uses."""
        return [self.resolve(text, node) for text in node.input if not text.startswith("^")]


class Plan(Record):
    """The nodes to build, in order, and the outputs of each that are needed."""

    order: list[str]
    outputs: dict[str, set[int]]
    operands: dict[str, list[Tensor]]
    """The tensors that each node uses; for a Merge, followed by those that `pins` returns."""


def plan(frame: Frame, roots: Iterable[Tensor], inputs: Collection[str] = ()) -> Plan:
    """The nodes on which tensors depend, and all nodes that write state variables.

    Args:
        frame: the graph. Tensors that have a value there already depend on nothing.
        roots: the tensors.
        inputs: kinds that are inputs of the model, so that they depend on nothing.

    Raises ModelFileError for a reference to a missing node, and for a cycle that is not a loop.
    """
    outputs: dict[str, set[int]] = {}
    operands: dict[str, list[Tensor]] = {}
    stack = list(roots)
    for name in () if frame.state is None else frame.state.writing():
        outputs[name] = set()
        operands[name] = checked_operands(frame, frame.nodes[name])
        stack += operands[name]
    while stack:
        tensor = stack.pop()
        if tensor in frame.values:
            continue
        name, number = tensor
        if name in outputs:
            if number and number not in outputs[name] and frame.nodes[name].op not in inputs:
                check_result(frame, frame.nodes[name], number)
            outputs[name].add(number)
            continue
        outputs[name] = {number}
        node = frame.nodes[name]
        if number and node.op not in inputs:
            check_result(frame, node, number)
        operands[name] = [] if node.op in inputs else checked_operands(frame, node)
        if node.op in MERGE_KINDS:
            operands[name] += [pin for pin in pins(frame, operands[name]) if pin is not None]
        stack += operands[name]
    if frame.state is None:
        return Plan(_order(frame, operands), outputs, operands)
    return Plan(sorted(operands, key=frame.state.positions.__getitem__), outputs, operands)


def checked_operands(frame: Frame, node: Any) -> list[Tensor]:
    """The tensors a node uses. Raises ModelFileError if the node contradicts the definition of its kind."""
    operands = frame.operands(node)
    if reason := fault(node.op, len(operands), partial(frame.attribute, node)):
        raise frame.error(reason, node, "the graph was cut or damaged")
    return operands


def check_result(frame: Frame, node: Any, index: int) -> None:
    """Raise ModelFileError if output `index` of a node does not exist according to the definition of its kind."""
    most = most_results(node.op, partial(frame.attribute, node))
    if most is not None and index >= most:
        raise frame.error(f"{node.name}:{index} is used, but it has {most} outputs", node, "the graph was cut or damaged")


def pins(frame: Frame, operands: Iterable[Tensor]) -> list[Tensor | None]:
    """For each operand of a Merge: if only a control edge says to which branch it belongs, the output of the branch's
    Switch.

    None for an operand that depends on a Switch or another Merge by data, or that has no control edge from a Switch.
    """
    return [_pin(frame, name) for name, _ in operands]


def _pin(frame: Frame, name: str) -> Tensor | None:
    seen = {name}
    stack = [name]
    tensor: Tensor | None = None
    while stack:
        node = frame.nodes.get(stack.pop())
        if node is None:
            continue
        if node.op in _BRANCH_KINDS or len(seen) > _MAXIMUM_PINNED:
            return None
        for text in node.input:
            if text.startswith("^"):
                tensor = tensor or _switched(frame, text[1:])
            elif (source := text.partition(":")[0]) not in seen:
                seen.add(source)
                stack.append(source)
    return tensor


def _switched(frame: Frame, name: str) -> Tensor | None:
    """The output of a Switch that a node is, directly or through Identity operations; None if it is none."""
    for _ in range(len(frame.nodes)):
        node = frame.nodes.get(name)
        if node is None or node.op not in ("Identity", "RefIdentity") or not (operands := frame.operands(node)):
            return None
        name, number = operands[0]
        if (source := frame.nodes.get(name)) is not None and source.op in ("Switch", "RefSwitch"):
            return name, number
    return None


def _order(frame: Frame, operands: Mapping[str, list[Tensor]]) -> list[str]:
    """A topological order of nodes; nodes that do not depend on each other keep their order in the file."""

    def sources(name: str) -> Iterator[str]:
        for source, output in operands[name]:
            is_needed = (source, output) not in frame.values and source in operands
            if is_needed and not is_back_edge(frame.nodes[name], frame.nodes[source]):
                yield source

    roots = sorted(operands, key=frame.nodes.positions.__getitem__)
    return topological_order(roots, sources, lambda path, source: _cycle(frame, path, source))


def _cycle(frame: Frame, path: list[str], source: str) -> ModelFileError:
    """The error for a node, `source`, that depends on itself; `path` has the nodes of the search that lead to it."""
    names = path[path.index(source) :]
    shown = " -> ".join(reversed(names[-_MAXIMUM_NAMES_IN_CYCLE:]))
    more = "" if len(names) <= _MAXIMUM_NAMES_IN_CYCLE else f" ({len(names)} nodes in all)"
    return frame.error(f"it needs itself: {source} -> {shown}{more}", frame.nodes[source], "only loops through NextIteration are possible")
