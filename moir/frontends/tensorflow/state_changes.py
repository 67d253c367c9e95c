"""Verifying that a model does not change its variables while it computes its outputs.

OpenVINO IR gets variables as constants. So no operation that runs for the outputs may write a variable that an output
reads. The operations that run are those the outputs depend on by data or by control, and all that the functions called
by these must run. Writes of other variables (counters, running means) do not affect outputs and are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from moir.errors import ModelFileError
from moir.frontends.tensorflow.execution import EXECUTED_CALL_KINDS, VARIABLE_KINDS, Resource, resource_of
from moir.frontends.tensorflow.references import attribute, reference

_READING_KINDS = frozenset(("ReadVariableOp", "ResourceGather", "ResourceGatherNd"))
_REFERENCE_KINDS = frozenset(("VariableV2", "Variable"))
_WRITING_KINDS = frozenset(
    f"{prefix}{kind}"
    for prefix, kinds in (
        ("", "Assign AssignAdd AssignSub AssignVariableOp AssignAddVariableOp AssignSubVariableOp CountUpTo ResourceCountUpTo"),
        ("", "StridedSliceAssign ResourceStridedSliceAssign ScatterNdUpdate ScatterNdAdd ScatterNdSub ScatterNdMax ScatterNdMin"),
        ("Scatter", "Add Sub Mul Div Min Max Update"),
        ("ResourceScatter", "Add Sub Mul Div Min Max Update NdUpdate NdAdd NdSub NdMax NdMin"),
    )
    for kind in kinds.split()
)
_PASSING_KINDS = frozenset(("Identity", "RefIdentity", "Enter", "RefEnter", "Switch", "RefSwitch", "Merge", "RefMerge", "Exit", "RefExit"))
_BRANCHING_KINDS = frozenset(("If", "StatelessIf", "Case", "StatelessCase"))
_LOOP_KINDS = frozenset(("While", "StatelessWhile"))
_MAXIMUM_STEPS = 1 << 21
_MAXIMUM_DEPTH = 64


class _Frame:
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
        caller: tuple[_Frame, Any] | None = None,
        function: Any = None,
        depth: int = 0,
    ) -> None:
        self.nodes = nodes
        self.arguments = arguments
        self.caller = caller
        self.function = function
        self.depth = depth


def check_state(graph: Any, outputs: Iterable[str]) -> list[str]:
    """Check that no output reads a variable that is written; returns notes on the writes that are left out.

    Args:
        graph: the GraphDef.
        outputs: names of the tensors that are the outputs of the model.

    Raises ModelFileError if an output reads a variable that is written.
    """
    outputs = list(outputs)
    functions = {function.signature.name: function for function in graph.library.function}
    if not _may_write(graph, functions, outputs):
        return []
    walk = _Walk(graph, functions)
    written = walk.writes(outputs)
    if not written:
        return []
    read = walk.reads(outputs)
    for resource, node in written.items():
        if resource in read:
            reason = f"it changes variable {resource[1]!r}, which the outputs read: the model has a state"
            hint = "export a function for inference that does not change variables"
            raise ModelFileError(reason, operation=f"tf.{node.op}", node=node.name, hint=hint)
    names = sorted(name for _, name in written)
    shown = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
    return [f"cut writes of {len(names)} variable{'s' if len(names) > 1 else ''} that no output reads: {shown}"]


def _callees(node: Any, functions: Mapping[str, Any]) -> list[str]:
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


def _may_write(graph: Any, functions: Mapping[str, Any], outputs: list[str]) -> bool:
    """Whether any operation that the outputs may depend on writes a variable; calls count with the whole function."""
    nodes = {node.name: node for node in graph.node}
    stack = [reference(output)[0] for output in outputs]
    seen: set[str] = set(stack)
    called: list[str] = []
    while stack:
        if (node := nodes.get(stack.pop())) is None:
            continue
        if node.op in _WRITING_KINDS:
            return True
        called += _callees(node, functions)
        for operand in node.input:
            if (name := reference(operand)[0]) not in seen:
                seen.add(name)
                stack.append(name)
    known: set[str] = set()
    while called:
        if (name := called.pop()) in known:
            continue
        known.add(name)
        for node in functions[name].node_def:
            if node.op in _WRITING_KINDS:
                return True
            called += _callees(node, functions)
    return False


class _Walk:
    """A walk from outputs to the operations they depend on, into functions, separately for each call."""

    def __init__(self, graph: Any, functions: Mapping[str, Any]) -> None:
        self.functions = functions
        self.nodes = {name: {node.name: node for node in function.node_def} for name, function in functions.items()}
        self.main = _Frame({node.name: node for node in graph.node}, {})
        self.frames: dict[tuple[_Frame, str, str], _Frame] = {}
        self.steps = 0

    def step(self) -> None:
        """Count a step. Raises ModelFileError after too many."""
        self.steps += 1
        if self.steps > _MAXIMUM_STEPS:
            raise ModelFileError("the functions of the model call each other too often to find what changes its variables")

    def enter(self, frame: _Frame, node: Any, name: str) -> _Frame | None:
        """The frame of a function that a node calls; None if calls are nested too deeply."""
        if frame.depth >= _MAXIMUM_DEPTH:
            return None
        key = frame, node.name, name
        if key not in self.frames:
            function = self.functions[name]
            first = 1 if node.op in _BRANCHING_KINDS else 0
            arguments = {argument.name: first + index for index, argument in enumerate(function.signature.input_arg)}
            self.frames[key] = _Frame(
                {inner.name: inner for inner in function.node_def}, arguments, (frame, node), function, frame.depth + 1
            )
        return self.frames[key]

    def inner(self, frame: _Frame, node: Any) -> Iterator[_Frame]:
        """The frames of all functions a node calls."""
        for name in _callees(node, self.functions):
            if (entered := self.enter(frame, node, name)) is not None:
                yield entered

    def writes(self, outputs: Iterable[str]) -> dict[Resource, Any]:
        """The variables that are written, each with the first node that writes it."""
        found: dict[Resource, Any] = {}
        seen: set[tuple[_Frame, str]] = set()
        stack = [(self.main, reference(output)[0]) for output in outputs]
        while stack:
            frame, name = stack.pop()
            node = frame.nodes.get(name)
            if node is None or (frame, name) in seen:
                continue
            seen.add((frame, name))
            self.step()
            if node.op in _WRITING_KINDS and node.input and (resource := self.resource(frame, node.input[0])) is not None:
                found.setdefault(resource, node)
            stack += [(frame, reference(operand)[0]) for operand in node.input]
            for entered in self.inner(frame, node):
                function = entered.function
                stack += [(entered, reference(result)[0]) for result in (*function.ret.values(), *function.control_ret.values())]
        return found

    def reads(self, outputs: Iterable[str]) -> set[Resource]:
        """The variables whose values reach the outputs."""
        found: set[Resource] = set()
        seen: set[tuple[_Frame, str, int]] = set()
        stack = [(self.main, *reference(output)) for output in outputs]
        while stack:
            item = stack.pop()
            if item in seen:
                continue
            seen.add(item)
            self.step()
            frame, name, index = item
            if name in frame.arguments and frame.caller is not None:
                stack += self.operand(*frame.caller, frame.arguments[name])
                continue
            node = frame.nodes.get(name)
            if node is None:
                continue
            if node.op in _REFERENCE_KINDS:
                found.add(resource_of(node))
            elif node.op in _READING_KINDS and node.input and (resource := self.resource(frame, node.input[0])) is not None:
                found.add(resource)
            is_call = node.op in EXECUTED_CALL_KINDS or node.op in self.functions
            for entered in self.inner(frame, node):
                function = entered.function
                results = [function.ret.get(result.name, "") for result in function.signature.output_arg]
                if is_call or node.op in _BRANCHING_KINDS:
                    results = results[index : index + 1]
                stack += [(entered, *reference(result)) for result in results]
            if is_call:
                continue
            stack += [(frame, *reference(operand)) for operand in node.input if not operand.startswith("^")]
        return found

    def operand(self, frame: _Frame, node: Any, index: int) -> list[tuple[_Frame, str, int]]:
        """A data operand of a node as the next item of a walk; an empty list if the node lacks it."""
        operands = [operand for operand in node.input if not operand.startswith("^")]
        return [(frame, *reference(operands[index]))] if index < len(operands) else []

    def resource(self, frame: _Frame, operand: str) -> Resource | None:
        """The variable an operand is the handle of; None if that cannot be determined."""
        item = frame, *reference(operand)
        for _ in range(_MAXIMUM_STEPS):
            self.step()
            frame, name, index = item
            following: list[tuple[_Frame, str, int]] = []
            if name in frame.arguments and frame.caller is not None:
                following = self.operand(*frame.caller, frame.arguments[name])
            elif (node := frame.nodes.get(name)) is not None:
                if node.op in VARIABLE_KINDS:
                    return resource_of(node)
                if node.op in _PASSING_KINDS or node.op in _WRITING_KINDS or node.op in _LOOP_KINDS:
                    following = self.operand(frame, node, index if node.op in _LOOP_KINDS else 0)
                elif node.op in EXECUTED_CALL_KINDS:
                    function = self.functions.get(attribute(node, "f").func.name)
                    results = [] if function is None else [function.ret.get(result.name, "") for result in function.signature.output_arg]
                    entered = None if function is None else self.enter(frame, node, function.signature.name)
                    following = [(entered, *reference(results[index]))] if entered is not None and index < len(results) else []
            if not following:
                return None
            item = following[0]
        return None
