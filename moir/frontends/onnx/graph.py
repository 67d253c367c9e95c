"""Graphs -> blocks of operations of the `onnx` dialect.

A node becomes an operation of its kind with the node's attributes as properties. Attributes that are graphs become
regions of one block with Parameters and Results. Values that the graphs use from outside are captured: they are
appended to the operands of the operation, and every region has Parameters for them after those of its own inputs. The
property `captured` is their number, `graph_attributes` names the attribute of each region. Constants are not captured:
a region has its own copy of the operation, with shared data, so that constants in it can be folded.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import Any

from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from moir.dialects import opset
from moir.dialects.data import DataAttr
from moir.dialects.framework import operation_class
from moir.dialects.names import add_tensor_names, escaped
from moir.dialects.properties import integer_attribute, string_attribute, strings_attribute
from moir.dialects.shapes import UNKNOWN
from moir.errors import ModelFileError
from moir.frontends.onnx.attributes import AttributeReader
from moir.frontends.onnx.constants import node_constant
from moir.frontends.onnx.definitions import definition_of
from moir.frontends.onnx.functions import Functions
from moir.frontends.onnx.scope import Constant, Scope
from moir.frontends.onnx.structure import Function, SourceGraph, SourceNode, StructureReader
from moir.frontends.onnx.tensors import TensorReader
from moir.frontends.onnx.types import converted, dimension_names
from moir.frontends.operations import Operations, named

MAXIMUM_BODY_PARAMETERS = 1_000_000
"""Largest number of captured values of an operation, times the number of its regions."""

_operation_class = cache(partial(operation_class, "onnx"))


class GraphBuilder:
    """Builds the blocks of one file.

    Args:
        reader: creates the errors, which name the file.
        tensors: reads initializers and constants.
        functions: the functions, whose calls are inlined.
    """

    def __init__(self, reader: StructureReader, tensors: TensorReader, functions: Functions) -> None:
        self.reader = reader
        self.tensors = tensors
        self.functions = functions
        self.attributes = AttributeReader(tensors)
        self.notes: list[str] = []
        """Notes on the import for the user."""
        self._initializers: dict[int, tuple[Any, DataAttr]] = {}

    def error(self, reason: str, node: SourceNode, scope: Scope) -> ModelFileError:
        """An error that names a node and the file."""
        return ModelFileError(reason, operation=f"onnx.{node.kind}", node=scope.prefix + node.name, location=str(self.reader.path))

    # Graphs

    def model_block(self, graph: SourceGraph) -> Block:
        """The block of a model. Inputs with an initializer become constants."""
        scope = Scope(Operations(), initializers=dict(graph.initializers))
        for info in graph.inputs:
            if info.name not in graph.initializers:
                self.parameter(info, scope)
        return self.finish(graph, scope)

    def body_block(self, graph: SourceGraph, outer: Scope, captured: dict[str, SSAValue]) -> Block:
        """The block of a graph that is an attribute.

        Args:
            graph: the graph.
            outer: the scope around it.
            captured: values for which it has Parameters after those of its inputs.
        """
        inputs = {info.name for info in graph.inputs}
        initializers = {name: tensor for name, tensor in graph.initializers.items() if name not in inputs}
        scope = Scope(Operations(), initializers=initializers, prefix=outer.prefix, bindings=outer.bindings)
        scope.has_tensor_names = outer.has_tensor_names
        for info in graph.inputs:
            self.parameter(info, scope)
        own = inputs | initializers.keys()
        for name, value in captured.items():
            parameter = self.new_parameter(scope.full_name(name), value.type, scope)
            if name not in own:
                scope.values[name] = parameter
        for name in graph.free:
            if (constant := self.constant(name, outer)) is not None:
                scope.constants[name] = constant
            else:
                scope.values.setdefault(name, None)
        return self.finish(graph, scope)

    def finish(self, graph: SourceGraph, scope: Scope) -> Block:
        """Build the nodes and outputs of a graph whose Parameters are built; returns the block."""
        scope.types = {name: converted(type_, name) for name, type_ in graph.types.items()}
        self.nodes(graph.nodes, scope)
        result_class = opset.operation("opset1.Result")
        results: list[Operation] = []
        for name in graph.outputs:
            value = self.value(name, scope) if name else None
            if value is None:
                raise self.reader.error(f"the output {name!r} of a graph is absent")
            results.append(result_class.create(operands=[value], attributes={"name": string_attribute(scope.full_name(name))}))
        return Block([*scope.operations.list, *results])

    def parameter(self, info: Any, scope: Scope) -> None:
        """Build the Parameter for an input of a graph."""
        type_ = converted(info.type if info.HasField("type") else None, info.name)
        value = self.new_parameter(scope.full_name(info.name), type_, scope)
        scope.values[info.name] = value
        if info.type.HasField("tensor_type") and (names := dimension_names(info.type)) is not None:
            value.owner.attributes["dimension_names"] = names

    def new_parameter(self, name: str, type_: Attribute, scope: Scope) -> Any:
        """Build a Parameter; returns its result."""
        return scope.operations.parameter(type_, named(name, name))

    # Values

    def constant(self, name: str, scope: Scope) -> Constant | None:
        """The constant that a name stands for; None if it is another value."""
        constant = scope.constants.get(name)
        if constant is None and (initializer := scope.initializers.get(name)) is not None:
            constant = scope.constants[name] = Constant(self.initializer(initializer, name), scope.full_name(name))
        return constant

    def initializer(self, tensor: Any, name: str) -> DataAttr:
        """The value of an initializer. For graphs in a function, all calls of the function share it."""
        if id(tensor) not in self._initializers:
            sparse = hasattr(tensor, "indices")
            data = self.tensors.read_sparse(tensor, name) if sparse else self.tensors.read(tensor, name)
            self._initializers[id(tensor)] = tensor, data
        return self._initializers[id(tensor)][1]

    def value(self, name: str, scope: Scope) -> SSAValue | None:
        """The value that a name stands for; None if it is an input of a function that the call omits.

        The operation of a constant is built at its first use.
        """
        value = scope.values.get(name)
        if value is None and (constant := self.constant(name, scope)) is not None:
            value = scope.materialize(name, constant)
        return value

    def operands(self, node: SourceNode, scope: Scope) -> list[SSAValue | None]:
        """The operands of a node, None for absent ones; absent ones at the end are left out."""
        values = [self.value(name, scope) if name else None for name in node.inputs]
        while values and values[-1] is None:
            values.pop()
        return values

    # Nodes

    def nodes(self, nodes: Sequence[SourceNode], scope: Scope) -> None:
        """Build nodes in their order."""
        for node in nodes:
            function = self.functions.find(node)
            if function is not None:
                self.call(function, node, scope)
            elif node.kind == "Constant":
                self.constant_node(node, scope)
            else:
                self.operation(node, scope)

    def properties(self, node: SourceNode, scope: Scope) -> dict[str, Attribute]:
        """The properties of a node, from its attributes without the graphs."""
        if not node.attributes:
            return {}
        return self.attributes.properties(node.attributes, scope.bindings, f"onnx.{node.kind}", scope.prefix + node.name)

    def constant_node(self, node: SourceNode, scope: Scope) -> None:
        """Register a Constant in any of its forms. The operation is built where the constant is used."""
        if len(node.outputs) != 1 or node.inputs or node.graphs:
            raise self.error("a Constant has one output and no inputs", node, scope)
        properties = self.properties(node, scope)
        data = node_constant(properties)
        if not isinstance(data, DataAttr):
            raise self.error(data, node, scope)
        scope.constants[node.outputs[0]] = Constant(data, scope.prefix + node.name)

    def operation(self, node: SourceNode, scope: Scope) -> None:
        """Build the operation of a node, with its regions."""
        self.check(node, scope)
        properties = self.properties(node, scope)
        operands = [scope.operations.absent() if value is None else value for value in self.operands(node, scope)]
        regions: list[Region] = []
        if node.graphs:
            captured = self.captured(node, scope)
            operands = [*operands, *captured.values()]
            regions = [Region(self.body_block(graph, scope, captured)) for _, graph in node.graphs]
            properties["graph_attributes"] = strings_attribute([name for name, _ in node.graphs])
            if captured:
                properties["captured"] = integer_attribute(len(captured))
        outputs = node.outputs
        types = scope.types
        op = _operation_class(node.kind).create(
            operands=operands,
            result_types=[types.get(name, UNKNOWN) for name in outputs],
            properties=properties,
            attributes=scope.named(scope.prefix + node.name, outputs),
            regions=regions,
        )
        scope.operations.append(op)
        for name, result in zip(outputs, op.results, strict=True):
            if name:
                scope.values[name] = result

    def check(self, node: SourceNode, scope: Scope) -> None:
        """Compare a node with the definition of its kind.

        An attribute that the kind does not have is ignored, with a note, because tools add attributes of their own.
        Raises ModelFileError if the node has more operands than the definition.
        """
        definition = definition_of(node.kind)
        if definition is None:
            return
        if definition.operands is not None and len(node.inputs) > definition.operands:
            raise self.error(f"it has {len(node.inputs)} operands, its kind has at most {definition.operands}", node, scope)
        for attribute in node.attributes:
            if attribute.name not in definition.attributes:
                ignored = f"its kind has no attribute {attribute.name!r}, which is ignored"
                self.notes.append(f"onnx.{node.kind} {scope.prefix + node.name!r}: {ignored}")

    def captured(self, node: SourceNode, scope: Scope) -> dict[str, SSAValue]:
        """The values by name that the graphs of a node use from outside, without constants and absent ones.

        Raises ModelFileError if there are too many.
        """
        if clash := {"captured", "graph_attributes"} & {attribute.name for attribute in node.attributes}:
            raise self.error(f"a node with graphs cannot have an attribute {min(clash)!r}", node, scope)
        captured: dict[str, SSAValue] = {}
        for name in node.free:
            value = None if self.constant(name, scope) is not None else scope.values.get(name)
            if value is not None:
                captured[name] = value
        if len(captured) * len(node.graphs) > MAXIMUM_BODY_PARAMETERS:
            raise self.error(f"{len(node.graphs)} graphs use {len(captured)} values from outside", node, scope)
        return captured

    # Functions

    def call(self, function: Function, node: SourceNode, scope: Scope) -> None:
        """Inline the call of a function.

        The name of the call becomes the prefix of the names of the function's nodes. Outputs have their names in the
        caller.
        """
        if len(node.inputs) > len(function.inputs) or len(node.outputs) > len(function.outputs) or node.graphs:
            raise self.error("the call does not fit the declaration of the function", node, scope)
        bindings = dict(function.defaults)
        for attribute in node.attributes:
            bound = (scope.bindings or {}).get(attribute.ref_attr_name) if attribute.ref_attr_name else attribute
            if bound is not None:
                bindings[attribute.name] = bound
        prefix = f"{scope.prefix}{node.name}/"
        inner = Scope(scope.operations, prefix=prefix, bindings=bindings, has_tensor_names=scope.has_tensor_names)
        for formal, actual in zip(function.inputs, node.inputs, strict=False):
            if (constant := self.constant(actual, scope) if actual else None) is not None:
                inner.constants[formal] = constant
            inner.values[formal] = self.value(actual, scope) if actual else None
        for formal, actual in zip(function.outputs, node.outputs, strict=False):
            if actual and formal not in function.inputs:
                inner.renamed.setdefault(formal, scope.full_name(actual))
                if actual in scope.types:
                    inner.types.setdefault(formal, scope.types[actual])
        self.nodes(function.nodes, inner)
        for formal, actual in zip(function.outputs, node.outputs, strict=False):
            if actual:
                self.bind_output(inner, formal, scope, actual)

    def bind_output(self, inner: Scope, formal: str, scope: Scope, actual: str) -> None:
        """Bind the name `actual` in the caller to the output `formal` of an inlined function.

        Raises ModelFileError if the function does not compute it.
        """
        if formal not in inner.values and formal not in inner.constants:
            raise ModelFileError(
                f"the function called by {inner.prefix!r} does not compute its output {formal!r}", location=str(self.reader.path)
            )
        value = self.value(formal, inner)
        scope.values[actual] = value
        if (constant := inner.constants.get(formal)) is not None:
            scope.constants[actual] = constant
        if value is not None and scope.has_tensor_names and inner.renamed.get(formal) != scope.full_name(actual):
            add_tensor_names(value, escaped(scope.full_name(actual)), required=True)
