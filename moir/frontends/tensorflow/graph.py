"""A GraphDef -> module in the `tf` dialect.

A node becomes an operation of its kind with the node's attributes as properties. Calls of functions are inlined.
Functions that are attributes of a node (the branches of If, condition and body of While) become regions of one block
with Parameters for the arguments and Results for the outputs; `graph_attributes` names the attribute of each region.
Variables and hash tables are not captured: each region that uses one has a copy of the operation that creates it.

Source: graph.proto, node_def.proto and function.proto of TensorFlow 2.21.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, SSAValue

from moir.dialects import opset
from moir.dialects.data import DataAttr
from moir.dialects.framework import operation_class
from moir.dialects.module import Module
from moir.dialects.moir import ModelOp, ModuleLevel
from moir.dialects.names import add_tensor_names, escaped, several_tensor_names
from moir.dialects.properties import integer_attribute, string_attribute, strings_attribute
from moir.dialects.shapes import UNKNOWN
from moir.errors import ModelFileError
from moir.frontends.operations import Operations
from moir.frontends.tensorflow.attributes import AttributeReader
from moir.frontends.tensorflow.bodies import BodyBuilder, graph_functions
from moir.frontends.tensorflow.frames import Frame, Plan, pins, plan
from moir.frontends.tensorflow.functions import CALL_KINDS, MERGE_KINDS, Functions, Nodes, call_bindings, first_argument, is_back_edge
from moir.frontends.tensorflow.model_inputs import INPUT_KINDS, is_complex, parameter
from moir.frontends.tensorflow.model_outputs import ModelOutputs
from moir.frontends.tensorflow.references import Tensor, tensor_text
from moir.frontends.tensorflow.state.nodes import has_resources
from moir.frontends.tensorflow.state.values import State
from moir.frontends.tensorflow.tensors import TensorReader

FREE_PARTS = 30_000
"""Number of nodes, arguments and outputs that inlining may add to any model.

A few hundred bytes of nested functions can stand for more than fits into memory.
"""
GROWTH = 32
"""How many nodes inlining may add, as a multiple of the number of nodes in the file."""
MAXIMUM_RESULTS = 200_000
"""Largest number of results without uses: a reference to output 60000 of a node creates 60000 outputs before it."""
MAXIMUM_UNUSED_TEXT = 1 << 26
"""Largest total length of the names of results without uses, in characters."""
MAXIMUM_NESTING = 64
"""Largest nesting of functions."""
PROGRAM_CALL = "XlaCallModule"
"""The kind of nodes that contain a program of StableHLO."""
MAXIMUM_PREFIX = 2000
"""Largest length of the prefix that nested calls add to the names of nodes, in characters."""

_operation_class = cache(partial(operation_class, "tf"))


class GraphImporter:
    """Builds the module of one GraphDef.

    Args:
        path: the file, for messages.
        graph: the GraphDef.
        tensors: reads its tensors.
        variables: values of variables, by the name of the node (VarHandleOp, VariableV2, …); a variable that is not
            there has no value.
        node_properties: further properties of nodes (`keys` and `values` of hash tables), by the name of the node.
        notes: notes on the import for the user.
    """

    def __init__(
        self,
        path: Path,
        graph: Any,
        tensors: TensorReader,
        variables: Mapping[str, DataAttr] | None = None,
        node_properties: Mapping[str, Mapping[str, Attribute]] | None = None,
        notes: Iterable[str] = (),
    ) -> None:
        self.path = path
        self.graph = graph
        self.tensors = tensors
        self.variables = variables or {}
        self.node_properties = node_properties or {}
        self.notes = list(notes)
        self.attributes = AttributeReader(tensors)
        self.functions = Functions(graph.library, path)
        self.state = State()
        self.bodies = BodyBuilder(self, self.state)
        self.producer: int = graph.versions.producer
        self.inlined = 0
        self.unused_results = 0
        self.unused_text = 0
        self._constants: dict[tuple[str, str], DataAttr] = {}
        self._shared: dict[tuple[str, str], dict[str, Attribute]] = {}
        self._reserved: frozenset[str] = frozenset()
        self._active: list[str] = []

    def module(
        self,
        name: str,
        inputs: Sequence[tuple[str, str]] | None = None,
        outputs: Sequence[tuple[str, str]] | None = None,
        wanted: Iterable[Tensor] = (),
    ) -> ModuleOp:
        """The module with one `moir.model`.

        Args:
            name: name of the model.
            inputs: names of the inputs and the tensors (`node:0`) they stand for, in order; all become Parameters,
                with or without uses. None for the placeholders that the outputs depend on, in the order of the graph.
            outputs: names and tensors of the outputs; None for the nodes without uses.
            wanted: tensors that the user may mean as outputs: those that the graph has become further outputs if
                `outputs` is None.

        Raises ModelFileError for an inconsistent graph, or one without outputs.
        """
        frame = Frame(self.path, Nodes(self.graph.node, self.path, "the graph"), Operations())
        self._reserved = frozenset(key for key, _ in (*(inputs or ()), *(outputs or ())))
        for key, text in inputs or ():
            tensor = frame.resolve(text)
            known = frame.values.get(tensor)
            if known is not None:
                add_tensor_names(known, escaped(key), required=True)
                continue
            frame.values[tensor] = self.input(frame, frame.nodes[tensor[0]], tensor[1], key)
        unused = ModelOutputs(frame) if outputs is None else None
        roots = [frame.resolve(text) for _, text in outputs or ()] if unused is None else unused.tensors()
        if unused is not None:
            roots = list(dict.fromkeys((*roots, *unused.wanted(wanted))))
        if not roots:
            hint = "the model consists of constants, variables and operations for training only"
            raise ModelFileError("the graph has no outputs", location=str(self.path), hint=hint if self.graph.node else None)
        if has_resources(self.graph):
            from moir.frontends.tensorflow.state.changes import find_state

            self.state.order, notes = find_state(self.graph, [tensor_text(root) for root in roots])
            self.notes += notes
        frame.state = self.state.frame_order("", "")
        needed = plan(frame, roots, INPUT_KINDS)
        for node in frame.nodes.values():
            if node.op in INPUT_KINDS:
                for number in sorted(needed.outputs.get(node.name, ())):
                    frame.values[node.name, number] = self.input(frame, node, number)
        self.build(frame, needed)
        self.notes += self.state.finish(frame)
        names = [tensor_text(root) for root in roots] if outputs is None else [key for key, _ in outputs]
        block = self.finished_block(frame, roots, names, are_tensor_names=outputs is not None)
        if unused is not None:
            self.notes += unused.notes(needed.outputs)
        attributes: dict[str, Attribute] = {ModuleLevel.NOTES: strings_attribute(self.notes)} if self.notes else {}
        return Module([ModelOp.of(name or "model", block, attributes)])

    def input(self, frame: Frame, node: Any, index: int, name: str | None = None) -> SSAValue:
        """The Parameter for output `index` of a node; `name` is that of the input if a signature declares it."""
        if is_complex(frame, node):
            self.notes.append(f"the input {name or node.name} is complex: its last dimension holds real and imaginary parts")
        return parameter(frame, node, index, self.producer, name)

    def finished_block(self, frame: Frame, roots: Sequence[Tensor], names: Sequence[str], *, are_tensor_names: bool = False) -> Block:
        """The block of a frame, completed with Results for some tensors.

        Args:
            frame: the frame, with all of its nodes built.
            roots: the tensors.
            names: names of the Results.
            are_tensor_names: whether these become tensor names as well.
        """
        results = [
            opset.operation("opset1.Result").create(operands=[frame.values[root]], attributes={"name": string_attribute(name)})
            for root, name in zip(roots, names, strict=True)
        ]
        if are_tensor_names:
            for root, name in zip(roots, names, strict=True):
                add_tensor_names(frame.values[root], escaped(name), required=True)
        return Block([*frame.operations.list, *results])

    # Nodes

    def build(self, frame: Frame, needed: Plan) -> None:
        """Build the nodes of a plan."""
        for name in needed.order:
            numbers = {number for number in needed.outputs[name] if (name, number) not in frame.values}
            if numbers or not needed.outputs[name]:
                self.node(frame, frame.nodes[name], needed.operands[name], numbers)

    def node(self, frame: Frame, node: Any, operands: Sequence[Tensor], numbers: set[int]) -> None:
        """Build one node.

        Args:
            frame: the graph of the node.
            node: the NodeDef.
            operands: the tensors it uses.
            numbers: the indices of the outputs that are needed; empty if a node is built only because it writes a
                variable.
        """
        if frame.function is not None:
            self._inline(1, frame, node)
        if node.op == "Const":
            self.constant(frame, node)
        elif node.op == PROGRAM_CALL:
            self.program(frame, node, operands, numbers)
        elif node.op in CALL_KINDS or node.op in self.functions:
            self.call(frame, node, operands, numbers)
        elif functions := graph_functions(frame, node):
            self.bodies.build(frame, node, operands, numbers, functions)
        else:
            if node.op in MERGE_KINDS:
                operands = self.pinned(frame, node, operands)
            values = self.state.operands(frame, node, self.values(frame, node, operands))
            results = self.operation(frame, node, values, numbers or {0})
            self.state.built(frame, node, values, results)

    def _inline(self, count: int, frame: Frame, node: Any) -> None:
        """Add `count` to the number of nodes that inlining creates. Raises ModelFileError if that is far too large."""
        self.inlined += count
        limit = FREE_PARTS + GROWTH * (self.functions.node_count + len(self.graph.node))
        if self.inlined > limit:
            reason = f"functions call each other until there are more than {limit} nodes, arguments and outputs"
            raise frame.error(reason, node, "convert a part of the model, or give functions fewer calls")

    def values(self, frame: Frame, node: Any, operands: Sequence[Tensor]) -> list[SSAValue]:
        """The values of a node's operands; a back edge of a loop has the absent value."""
        values: list[SSAValue] = []
        for operand in operands:
            source = frame.nodes.get(operand[0])
            is_cut = operand not in frame.values and source is not None and is_back_edge(node, source)
            values.append(frame.operations.absent() if is_cut else frame.values[operand])
        return values

    def pinned(self, frame: Frame, node: Any, operands: Sequence[Tensor]) -> list[Tensor]:
        """The operands of a Merge. One that only a control edge ties to its branch becomes the output of a Switch."""
        own = frame.operands(node)
        for index, pin in enumerate(pins(frame, own)):
            if pin is None:
                continue
            name, branch = pin
            predicate = frame.values[frame.operands(frame.nodes[name])[1]]
            switch = _operation_class("Switch").create(operands=[frame.values[own[index]], predicate], result_types=[UNKNOWN] * 2)
            frame.operations.append(switch)
            own[index] = (f"{node.name}/pinned/{index}", 0)
            frame.values[own[index]] = switch.results[branch]
        return own

    def constant(self, frame: Frame, node: Any) -> None:
        """Build a Const. All calls of a function share its data. Raises ModelFileError if it has no valid tensor."""
        key = (frame.function.name if frame.function else "", node.name)
        data = self._constants.get(key)
        if data is None:
            value = frame.attribute(node, "value")
            if value is None or value.WhichOneof("value") != "tensor":
                raise frame.error("a Const has an attribute 'value' that is a tensor", node)
            try:
                data = self._constants[key] = self.tensors.read(value.tensor, node.name)
            except ModelFileError as error:
                raise ModelFileError(
                    error.reason, operation="tf.Const", node=node.name, location=error.location, hint=error.hint
                ) from error
        frame.values[node.name, 0] = frame.operations.constant(data, self.named(frame, node, 1))

    def properties(self, frame: Frame, node: Any) -> dict[str, Attribute]:
        """The properties of a node."""
        full_name = frame.prefix + node.name
        properties = self._declared(frame, node)
        if node.op in ("VarHandleOp", "VariableV2", "Variable") and (value := self.variables.get(full_name)) is not None:
            properties["value"] = value
        properties |= self.node_properties.get(full_name, {})
        if node.op in ("NextIteration", "RefNextIteration") and node.name in frame.nodes.back_edges:
            merge, index = frame.nodes.back_edges[node.name]
            properties |= {"merge": string_attribute(frame.prefix + merge), "index": integer_attribute(index)}
        return properties

    def _declared(self, frame: Frame, node: Any) -> dict[str, Attribute]:
        """The properties for the attributes of a node; calls of a function share them, except for placeholders."""
        if frame.function is None or any(node.attr[name].WhichOneof("value") == "placeholder" for name in node.attr):
            return self.attributes.properties(frame.attributes(node), node.op, frame.prefix + node.name)
        key = frame.function.name, node.name
        if key not in self._shared:
            self._shared[key] = self.attributes.properties(frame.attributes(node), node.op, node.name)
        return dict(self._shared[key])

    def operation(
        self, frame: Frame, node: Any, operands: Sequence[SSAValue], numbers: Iterable[int], regions: Sequence[Any] = (), **extra: Attribute
    ) -> Sequence[SSAValue]:
        """Build the operation of a node; returns its results, which become the values of the node's outputs.

        Args:
            frame: the graph of the node.
            node: the NodeDef.
            operands: the operands of the operation.
            numbers: the indices of the outputs that are needed; ModelFileError is raised for far too many.
            regions: the regions of the operation.
            extra: further properties.
        """
        count = max(numbers) + 1
        unused = count - len(set(numbers))
        self.unused_results += unused
        self.unused_text += unused * len(frame.prefix + node.name)
        if self.unused_results > MAXIMUM_RESULTS or self.unused_text > MAXIMUM_UNUSED_TEXT:
            raise frame.error(f"it is used as if it had {count} outputs", node)
        op = _operation_class(node.op).create(
            operands=operands,
            result_types=[UNKNOWN] * count,
            properties=self.properties(frame, node) | extra,
            attributes=self.named(frame, node, count),
            regions=regions,
        )
        frame.operations.append(op)
        for number, result in enumerate(op.results):
            frame.values[node.name, number] = result
        return op.results

    def named(self, frame: Frame, node: Any, count: int) -> dict[str, Attribute]:
        """The attributes with the names of an operation and of its `count` results."""
        name = frame.prefix + node.name
        return {
            "name": string_attribute(name),
            "tensor_names": several_tensor_names(self.names_of(frame, node, number) for number in range(count)),
        }

    def names_of(self, frame: Frame, node: Any, index: int) -> list[str]:
        """The tensor names of output `index`; none of them is that of another input or output of the model."""
        name = frame.prefix + node.name
        names = [name, f"{name}:0"] if index == 0 else [f"{name}:{index}"]
        return [each for each in names if each not in self._reserved]

    def program(self, frame: Frame, node: Any, operands: Sequence[Tensor], numbers: set[int]) -> None:
        """Inline the StableHLO program of a node, which must have the outputs `numbers`."""
        from moir.frontends.tensorflow.program_calls import inline_program

        names = [self.names_of(frame, node, number) for number in range(max(numbers, default=0) + 1)]
        self.notes += inline_program(frame, node, self.values(frame, node, operands), names)
        if missing := [number for number in numbers if (node.name, number) not in frame.values]:
            raise frame.error(f"its result {missing[0]} is used, which its program does not have", node)

    # Functions

    def call(self, frame: Frame, node: Any, operands: Sequence[Tensor], numbers: Iterable[int]) -> None:
        """Inline a call; its name becomes a prefix of the function's nodes. `numbers` are the needed outputs."""
        attributes, name = node.attr, node.op
        if node.op in CALL_KINDS:
            value = frame.attribute(node, "f")
            if value is None or value.WhichOneof("value") != "func":
                raise frame.error("a call has an attribute 'f' that is a function", node)
            attributes, name = value.func.attr, value.func.name
            operands = operands[first_argument(node.op) :]
        inner = self.enter(frame, node, name, attributes, frame.operations)
        assert inner.function is not None
        arguments, results = inner.function.arguments, inner.function.results
        if len(arguments) != len(operands) or max(numbers, default=0) >= max(1, len(results)):
            reason = f"the function {name!r} has {len(arguments)} arguments and {len(results)} results, the call does not fit that"
            raise frame.error(reason, node)
        for argument, operand in zip(arguments, operands, strict=True):
            inner.values[argument, 0] = self.state.argument(frame, frame.values[operand])
        roots = {number: inner.resolve(results[number][1]) for number in sorted(numbers)}
        self.build(inner, plan(inner, roots.values()))
        self.leave()
        for number, root in roots.items():
            value = frame.values[node.name, number] = inner.values[root]
            for each in self.names_of(frame, node, number):
                add_tensor_names(value, escaped(each), required=True)

    def enter(self, frame: Frame, node: Any, name: str, attributes: Any, operations: Operations) -> Frame:
        """Begin the frame of a function call, without values of the arguments; `leave` ends it.

        Args:
            frame: the graph of the calling node.
            node: the calling node.
            name: name of the function.
            attributes: attributes of the call, AttrValues by name.
            operations: the block that the function's operations are added to.

        Raises ModelFileError if functions call themselves, or are nested too deeply.
        """
        function = self.functions.find(name, node)
        if name in self._active:
            cycle = " -> ".join([*self._active[self._active.index(name) :], name])
            raise frame.error(f"functions call themselves: {cycle}", node, "the operation sets have no recursion")
        if frame.depth >= MAXIMUM_NESTING:
            raise frame.error(f"functions are nested more than {MAXIMUM_NESTING} deep", node)
        prefix = f"{frame.prefix}{node.name}/"
        if len(prefix) > MAXIMUM_PREFIX and frame.depth:
            raise frame.error("the names of nodes that call each other are too long", node)
        self._inline(len(function.arguments) + len(function.results), frame, node)
        self._active.append(name)
        bindings = call_bindings(function, attributes, frame.bindings)
        state = self.state.frame_order(prefix, name)
        return Frame(self.path, function.nodes, operations, prefix, function, bindings, depth=frame.depth + 1, state=state)

    def leave(self) -> None:
        """End the innermost frame of a function call."""
        self._active.pop()
