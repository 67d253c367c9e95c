"""Walks over the nodes that run when a model computes its outputs, into functions, separately for each call.

The operations that run are those on which the outputs depend by data or by control, and all that functions called by
these have to run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, TypeAlias

from moir.dialects.frameworks.tensorflow import is_branching
from moir.errors import ModelFileError
from moir.frontends.tensorflow.functions import CALL_KINDS, LOOP_KINDS, first_argument
from moir.frontends.tensorflow.references import attribute, reference
from moir.frontends.tensorflow.state.nodes import (
    READING_KINDS,
    REFERENCE_KINDS,
    TABLE_KINDS,
    VARIABLE_KINDS,
    Resource,
    is_writing,
    resource_of,
)

MAXIMUM_STEPS = 1 << 21
"""Largest number of steps of a walk."""

_PASSING_KINDS = frozenset(("Identity", "RefIdentity", "Enter", "RefEnter", "Switch", "RefSwitch", "Merge", "RefMerge", "Exit", "RefExit"))
_MAXIMUM_DEPTH = 64


class CallFrame:
    """The main graph, or one call of a function.

    Args:
        nodes: the nodes.
        arguments: for each argument, the operand of the calling node.
        caller: frame and node of the call.
        function: the FunctionDef.
        depth: number of calls around it.
    """

    def __init__(
        self,
        nodes: Mapping[str, Any],
        arguments: Mapping[str, int],
        caller: tuple[CallFrame, Any] | None = None,
        function: Any = None,
        depth: int = 0,
    ) -> None:
        self.nodes = nodes
        self.arguments = arguments
        self.caller = caller
        self.function = function
        self.depth = depth

    @cached_property
    def prefix(self) -> str:
        """The prefix of the names of its nodes: the names of the calling nodes, each followed by a slash."""
        return "" if self.caller is None else f"{self.caller[0].prefix}{self.caller[1].name}/"

    @property
    def key(self) -> tuple[str, str]:
        """What identifies a call of a function: the prefix of the names of its nodes, and the name of the function.

        The condition and the body of a loop have the same prefix. Both texts are empty for the main graph.
        """
        return self.prefix, "" if self.function is None else self.function.signature.name


CalledNode: TypeAlias = tuple[CallFrame, str]
"""A node: its frame and its name."""
Item: TypeAlias = tuple[CallFrame, str, int]
"""A tensor: the frame and the name of its node, and the index of the output."""


def callees(node: Any, functions: Mapping[str, Any]) -> list[str]:
    """The names of the functions that a node calls."""
    if node.op in functions:
        return [node.op]
    names: list[str] = []
    for value in node.attr.values():
        if value.HasField("func"):
            names.append(value.func.name)
        elif value.HasField("list"):
            names += [function.name for function in value.list.func]
    return [name for name in names if name in functions]


def data_operands(node: Any) -> list[str]:
    """The references of a node to tensors, without control edges."""
    return [operand for operand in node.input if not operand.startswith("^")]


class Walk:
    """Walks from outputs to the operations they depend on.

    Args:
        graph: the GraphDef.
    """

    def __init__(self, graph: Any) -> None:
        self.functions = {function.signature.name: function for function in graph.library.function}
        self.main = CallFrame({node.name: node for node in graph.node}, {})
        self._frames: dict[tuple[CallFrame, str, str], CallFrame] = {}
        self._steps = 0

    def _step(self) -> None:
        """Count a step. Raises ModelFileError after too many."""
        self._steps += 1
        if self._steps > MAXIMUM_STEPS:
            raise ModelFileError("the functions of the model call each other too often to find what changes its variables")

    def _enter(self, frame: CallFrame, node: Any, name: str) -> CallFrame | None:
        """The frame of a function that a node calls; None if calls are nested too deeply."""
        if frame.depth >= _MAXIMUM_DEPTH:
            return None
        key = frame, node.name, name
        if key not in self._frames:
            function = self.functions[name]
            first = first_argument(node.op)
            arguments = {argument.name: first + index for index, argument in enumerate(function.signature.input_arg)}
            nodes = {inner.name: inner for inner in function.node_def}
            self._frames[key] = CallFrame(nodes, arguments, (frame, node), function, frame.depth + 1)
        return self._frames[key]

    def inner(self, frame: CallFrame, node: Any) -> Iterator[CallFrame]:
        """The frames of all functions a node calls."""
        for name in callees(node, self.functions):
            if (entered := self._enter(frame, node, name)) is not None:
                yield entered

    def roots(self, frame: CallFrame, outputs: Iterable[str]) -> list[str]:
        """The names of the nodes that a frame must run; `outputs` are the references to the outputs of the model."""
        function = frame.function
        roots = outputs if function is None else (*function.ret.values(), *function.control_ret.values())
        return [reference(each)[0] for each in roots]

    def running(self, outputs: Iterable[str]) -> Iterator[CalledNode]:
        """All nodes that run for the outputs, each once for each call."""
        seen: set[CalledNode] = set()
        stack = [(self.main, name) for name in self.roots(self.main, outputs)]
        while stack:
            frame, name = reached = stack.pop()
            node = frame.nodes.get(name)
            if node is None or reached in seen:
                continue
            seen.add(reached)
            self._step()
            yield reached
            stack += [(frame, reference(operand)[0]) for operand in node.input]
            for entered in self.inner(frame, node):
                stack += [(entered, root) for root in self.roots(entered, ())]

    def writes(self, outputs: Iterable[str]) -> dict[Resource | None, list[CalledNode]]:
        """The variables that are written, each with the nodes that write it; the key None stands for variables that
        cannot be determined.
        """
        writes: dict[Resource | None, list[CalledNode]] = {}
        for frame, name in self.running(outputs):
            node = frame.nodes[name]
            if is_writing(node.op) and node.input:
                writes.setdefault(self.resource(frame, node.input[0]), []).append((frame, name))
        return writes

    def reads(self, items: Iterable[Item]) -> set[Resource]:
        """The variables from whose values the tensors `items` are computed, also within functions."""
        reads: set[Resource] = set()
        seen: set[Item] = set()
        stack = list(items)
        while stack:
            item = stack.pop()
            if item in seen:
                continue
            seen.add(item)
            self._step()
            frame, name, index = item
            if name in frame.arguments and frame.caller is not None:
                stack += self.operand(*frame.caller, frame.arguments[name])
                continue
            node = frame.nodes.get(name)
            if node is None:
                continue
            if node.op in REFERENCE_KINDS:
                reads.add(resource_of(node))
            elif node.op in READING_KINDS and node.input and (resource := self.resource(frame, node.input[0])) is not None:
                reads.add(resource)
            is_call = node.op in CALL_KINDS or node.op in self.functions
            for entered in self.inner(frame, node):
                function = entered.function
                results = [function.ret.get(result.name, "") for result in function.signature.output_arg]
                if is_call or is_branching(node.op):
                    results = results[index : index + 1]
                stack += [(entered, *reference(result)) for result in results]
            if is_call:
                continue
            stack += [(frame, *reference(operand)) for operand in data_operands(node)]
        return reads

    def operand(self, frame: CallFrame, node: Any, index: int) -> list[Item]:
        """Data operand `index` of a node, as a list of one tensor; an empty list if the node lacks it."""
        operands = data_operands(node)
        return [(frame, *reference(operands[index]))] if index < len(operands) else []

    def resource(self, frame: CallFrame, operand: str) -> Resource | None:
        """The variable whose handle an operand is; None if it cannot be determined."""
        item = frame, *reference(operand)
        for _ in range(MAXIMUM_STEPS):
            self._step()
            frame, name, index = item
            following: list[Item] = []
            if name in frame.arguments and frame.caller is not None:
                following = self.operand(*frame.caller, frame.arguments[name])
            elif (node := frame.nodes.get(name)) is not None:
                if node.op in VARIABLE_KINDS or node.op in TABLE_KINDS:
                    return resource_of(node)
                if node.op in _PASSING_KINDS or is_writing(node.op) or node.op in LOOP_KINDS:
                    following = self.operand(frame, node, index if node.op in LOOP_KINDS else 0)
                elif node.op in CALL_KINDS:
                    function = self.functions.get(attribute(node, "f").func.name)
                    results = [] if function is None else [function.ret.get(result.name, "") for result in function.signature.output_arg]
                    entered = None if function is None else self._enter(frame, node, function.signature.name)
                    following = [(entered, *reference(results[index]))] if entered is not None and index < len(results) else []
            if not following:
                return None
            item = following[0]
        return None
