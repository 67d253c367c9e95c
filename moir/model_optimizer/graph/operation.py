"""`Op`: the class that describes an operation by attributes, and makes nodes of it.

    class Softmax(Op):
        op = "SoftMax"

        def __init__(self, graph, attrs):
            own = {"type": self.op, "op": self.op, "version": "opset1", "infer": Softmax.infer, "axis": 1}
            super().__init__(graph, own, attrs)

        def supported_attrs(self):
            return ["axis"]

    node = Softmax(graph, {"name": "probabilities"}).create_node([x])

An Op only holds attributes: a node gets a copy of them and keeps no reference to the Op.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, TypeAlias, cast

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.extension import EXTENSION
from moir.errors import ConversionError
from moir.model_optimizer.attributes.hidden_attributes import DESCRIBED_KIND
from moir.model_optimizer.attributes.layer_records import layer_record
from moir.model_optimizer.block.operation_names import is_mo_operation, is_of_first_sets
from moir.model_optimizer.block.view import BlockView
from moir.model_optimizer.graph.creation import become
from moir.model_optimizer.graph.made_constants import align
from moir.model_optimizer.graph.node import GraphNode, create_constant, create_node, take_over
from moir.model_optimizer.graph.node_inference import infer_node
from moir.model_optimizer.graph.port import Port
from moir.model_optimizer.graph.xml_records import Record
from moir.model_optimizer.values.shapes import compatible_shapes

_OF_MODEL_OPTIMIZER = frozenset(("infer", "type_infer", "IE", "in_ports_count", "out_ports_count"))
"""Attributes that an operation of an operation set does not take from an `Op`, because its own definition determines
them.
"""

DATA_LAYOUT, FRAMEWORK_LAYOUT = "$data_layout", "framework"
"""The Python attribute of a node with the `data_layout` of its class, and its value for the layout of the
framework.
"""

Input: TypeAlias = GraphNode | tuple[GraphNode, int] | tuple[GraphNode, int, Mapping[str, Any]] | Port[GraphNode] | None
"""The source of an input of a new node.

A node stands for its only output port in use, a data node for its tensor; a tuple has the index of the output port;
None leaves the input disconnected.
"""


class ExcludedClasses(list["type[Op]"]):
    """Classes that are not found by their `op`; the class that was registered for it before is found instead."""

    def append(self, excluded: type[Op], /) -> None:
        """Exclude a class."""
        super().append(excluded)
        name = str(excluded.op)
        if Op.registered_ops.get(name) is not excluded:
            return
        if excluded.replaced is None:
            del Op.registered_ops[name]
        else:
            Op.registered_ops[name] = excluded.replaced


class Op:
    """Base of all descriptions of operations. Subclasses with a class attribute `op` can be found by it.

    Args:
        graph: the graph nodes are made in.
        attrs1: attributes, by convention the defaults of the class.
        attrs2: attributes that override those, by convention the user's. Model Optimizer's documentation has both
            orders.
    """

    op: ClassVar[str | None] = None
    """The name by which `get_op_class_by_name` finds the class."""

    enabled: ClassVar[bool] = True
    """Has no effect; old extensions set it. Every class is found."""

    data_layout: ClassVar[str | None] = None
    """`framework` for an operation that gets its data as in the model.

    By default the data of rank 4 and 5 of channel-last models are transposed to [N, C, spatial…] for it, as in Model
    Optimizer.
    """

    registered_ops: ClassVar[dict[str, type[Op]]] = {}
    """The classes by `op`. A later class replaces an earlier one."""

    replaced: ClassVar[type[Op] | None] = None
    """The class that had the same `op` before, and that this one has replaced in `registered_ops`."""

    excluded_classes: ClassVar[list[type[Op]]] = ExcludedClasses()
    """Classes that cannot be found by their `op`; old extensions append to the list."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        name = cls.__dict__.get("op")
        if isinstance(name, str):
            cls.replaced = Op.registered_ops.get(name)
            Op.registered_ops[name] = cls

    def __init__(self, graph: BlockView, attrs1: Mapping[str, Any] | None = None, attrs2: Mapping[str, Any] | None = None) -> None:
        self.graph = graph
        self.attrs: dict[str, Any] = {"kind": "op", **(attrs1 or {}), **(attrs2 or {})}
        if self.op is not None:
            self.attrs.setdefault("op", self.op)

    @staticmethod
    def get_op_class_by_name(name: str) -> type[Op]:
        """The class of an `op`. Raises ConversionError if there is none."""
        try:
            return Op.registered_ops[name]
        except KeyError:
            raise ConversionError(f"there is no Op class for {name!r}", hint="check that the file which defines it is in ops/") from None

    def supported_attrs(self) -> list[Any]:
        """The attributes that are written to the IR, unless `backend_attrs` is overridden."""
        return []

    def backend_attrs(self) -> list[Any]:
        """The items that say which attributes are written to the IR: see `moir.model_optimizer.graph.xml_records`."""
        return self.supported_attrs()

    def records(self) -> list[Record]:
        """The items that `backend_attrs` returns, as a list."""
        return list(cast("Iterable[Record]", self.backend_attrs()))

    def get_opset(self) -> str:
        """The operation set; `experimental` if none is given."""
        return self.attrs.get("version") or "experimental"

    def substitute_ie_attrs(self, new_attrs: dict[str, Any]) -> None:
        """Add the attribute `IE`, with the items that say which attributes are written to the IR, to the attributes of
        a node.
        """
        new_attrs.setdefault("IE", layer_record(self.records()))

    def is_extension_of(self, kind: str) -> bool:
        """Whether nodes are operations of the user with this `type`, even if an operation set has an operation of that
        type.
        """
        merged = self._attributes(None)
        return merged.get("type") == kind and merged.get("version") == EXTENSION

    def _attributes(self, attrs: Mapping[str, Any] | None) -> dict[str, Any]:
        merged = {**self.attrs, **(attrs or {})}
        if merged.get("type") and not merged.get("version") and not is_of_first_sets(str(merged["type"])):
            merged["version"] = EXTENSION
        if self.data_layout is not None:
            merged[DATA_LAYOUT] = self.data_layout
        self.substitute_ie_attrs(merged)
        return merged

    # New nodes.

    def add_node(self, attrs: Mapping[str, Any] | None = None) -> GraphNode:
        """A node without connections."""
        return create_node(self.graph, self._attributes(attrs))

    def create_node(
        self,
        inputs: Sequence[Input] | None = None,
        attrs: Mapping[str, Any] | None = None,
        edge_attrs: Mapping[str, Any] | None = None,
    ) -> GraphNode:
        """A node whose input ports are connected to `inputs`, in order.

        Args:
            inputs: the source for each input port; None leaves it disconnected.
            attrs: attributes that override those of this Op.
            edge_attrs: of these `in` is the number of the first input port.

        Raises ConversionError for a node with several output ports in use, if no number selects one.
        """
        values = [self._value(entry) for entry in inputs or ()]
        node = self.add_node(attrs)
        first = int((edge_attrs or {}).get("in", 0))
        for number, value in enumerate(values, first):
            node.add_input_port(number, skip_if_exist=True)
            if value is not None:
                self.graph.set_operand(node.ir_operation, number, value)
        return node

    def _value(self, entry: Input) -> SSAValue | None:
        if entry is None:
            return None
        if isinstance(entry, Port):
            return entry.value
        number: int | None = None
        if isinstance(entry, tuple):
            entry, number = entry[0], int(entry[1])
        if not isinstance(entry, GraphNode):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ConversionError(f"{entry!r} cannot be an input of {self.attrs.get('op')}: it is not a node")
        if entry.is_data:
            return cast(SSAValue, entry.subject)
        return entry.out_port(_only_output(entry) if number is None else number).value

    def create_node_on_port(
        self, node: GraphNode, out_port: int, attrs: Mapping[str, Any] | None = None, edge_attrs: Mapping[str, Any] | None = None
    ) -> GraphNode:
        """A node connected to an output port of a node."""
        return self.create_node([(node, out_port)], attrs, edge_attrs)

    def create_node_with_data(
        self,
        inputs: Sequence[Input] | None = None,
        attrs: Mapping[str, Any] | None = None,
        data_nodes: GraphNode | Sequence[GraphNode] | None = None,
        edge_attrs: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    ) -> GraphNode | list[GraphNode]:
        """A node that is inferred at once, in the middle and back phases; returns its data node, or a list if it has
        several.

        Args:
            inputs: data nodes, or as in `create_node`.
            attrs: attributes that override those of this Op.
            data_nodes: data nodes whose consumers take the new tensors instead; shapes must agree.
            edge_attrs: as in `create_node`, or a list of such for each input.
        """
        given = [] if data_nodes is None else [data_nodes] if isinstance(data_nodes, GraphNode) else list(data_nodes)
        outputs = {**self.attrs, **(attrs or {})}.get("out_ports_count")
        further = {} if outputs is not None else {"out_ports_count": max(1, len(given))}
        first = edge_attrs if isinstance(edge_attrs, Mapping) else None
        node = self.create_node(inputs, {**(attrs or {}), **further}, first)
        align(self.graph, node.ir_operation)
        infer_node(node)
        for result, old in zip(node.ir_operation.results, given, strict=False):
            self._take_over(old, GraphNode.of(self.graph, result))
        made = [GraphNode.of(self.graph, result) for result in node.ir_operation.results]
        return made[0] if len(made) == 1 else made

    def _take_over(self, old: GraphNode, new: GraphNode) -> None:
        if old.shape is not None and new.shape is not None and not compatible_shapes(old.shape, new.shape):
            raise ConversionError(f"a tensor of shape {old.shape} cannot take the place of one of shape {new.shape}", node=new.name)
        take_over(self.graph, cast(SSAValue, old.subject), cast(SSAValue, new.subject))

    # Existing nodes.

    @classmethod
    def update_node_stat(cls, node: GraphNode, attrs: Mapping[str, Any] | None = None) -> None:
        """Give a node the attributes of this class, and further ones; extractors call it.

        An `output_type` that is only the default of one of Model Optimizer's own classes is replaced by that of the
        framework, since not every release had this attribute.
        """
        described = cls(node.graph, dict(attrs or {}))
        is_node = isinstance(cast("Any", node), GraphNode)
        if is_node and DESCRIBED_KIND in described.attrs and "output_type" not in (attrs or {}) and node.has_valid("output_type"):
            described.attrs["output_type"] = node["output_type"]
        described.update_node(node, {})

    def update_node(self, node: GraphNode, attrs: Mapping[str, Any] | None = None) -> None:
        """Give a node the attributes of this Op, and its ports.

        A node of a framework becomes the operation that this Op describes; see `creation.become`.
        """
        merged = self._attributes(attrs)
        become(node.graph, node.ir_operation, merged)
        for key in ("id", "name", "kind"):
            merged.pop(key, None)
        is_other = is_mo_operation(node.ir_operation)
        # Tests of extractors pass a dictionary in place of a node; it takes any attribute.
        takes_all = is_other or not isinstance(cast("Any", node), GraphNode)
        for key, value in merged.items():
            if takes_all or key not in _OF_MODEL_OPTIMIZER:
                node[key] = value
        if is_other:
            node.add_sequence_of_ports("in", range(int(merged.get("in_ports_count") or 0)))
            node.add_sequence_of_ports("out", range(int(merged.get("out_ports_count") or 0)))

    @staticmethod
    def normalize_outputs(node: GraphNode) -> None:
        """Give a node as many output ports as its `out_ports_count`."""
        node.add_sequence_of_ports("out", range(int(node.soft_get("out_ports_count", 0) or 0)))

    # Data nodes.

    @staticmethod
    def create_data_node(
        graph: BlockView,
        op_node: GraphNode,
        attrs: Mapping[str, Any] | None = None,
        edge_attrs: Mapping[str, Any] | None = None,
        out_port: int = 0,
    ) -> GraphNode:
        """The data node of an output port of a node, with these attributes; the port is added if it is missing."""
        number = int((edge_attrs or {}).get("out", out_port))
        op_node.add_output_port(number, skip_if_exist=True)
        data = GraphNode.of(graph, op_node.ir_operation.results[number])
        _set_data_attributes(data, attrs or {})
        return data

    _create_data_node = create_data_node

    @staticmethod
    def create_input_data_node(graph: BlockView, name: str, value: Any, attrs: Mapping[str, Any] | None = None) -> GraphNode:
        """The data node of a new constant."""
        data = GraphNode.of(graph, create_constant(graph, value, name).ir_operation.results[0])
        _set_data_attributes(data, {key: entry for key, entry in (attrs or {}).items() if key not in ("value", "shape")})
        return data

    @staticmethod
    def create_and_connect_input_data_node(
        graph: BlockView, op_node: GraphNode, attrs: Mapping[str, Any] | None = None, edge_attrs: Mapping[str, Any] | None = None
    ) -> GraphNode:
        """The data node of a new constant that is connected to a node.

        The attribute `value` in `attrs` is the value; `in` in `edge_attrs` is the index of the input port, by default
        the next.
        """
        given = dict(attrs or {})
        data = Op.create_input_data_node(graph, str(given.pop("name", f"{op_node.name}/input")), given.pop("value", None), given)
        number = int((edge_attrs or {}).get("in", len(op_node.ir_operation.operands)))
        op_node.add_input_port(number, skip_if_exist=True)
        graph.set_operand(op_node.ir_operation, number, cast(SSAValue, data.subject))
        return data


def _set_data_attributes(data: GraphNode, attrs: Mapping[str, Any]) -> None:
    for key, value in attrs.items():
        if key not in ("id", "name", "kind") and not (key in ("shape", "value") and value is None):
            data[key] = value


def _only_output(node: GraphNode) -> int:
    """The output port of a node that is given without a number: the one in use, or the first."""
    ports = node.out_ports()
    if not ports:
        raise ConversionError("it has no output that could be an input of another node", operation=node.kind_name, node=node.name)
    used = [number for number, port in ports.items() if not port.disconnected()]
    if len(used) > 1:
        raise ConversionError(
            f"its output ports {used} are in use, so which is meant must be said",
            operation=node.kind_name,
            node=node.name,
            hint="use (node, port)",
        )
    return used[0] if used else next(iter(ports))


@contextmanager
def registration() -> Generator[None]:
    """A context at whose end the `Op` classes defined in it are unregistered, because they belong to the extensions of
    one conversion.
    """
    before, excluded = dict(Op.registered_ops), list(Op.excluded_classes)
    try:
        yield
    finally:
        Op.registered_ops.clear()
        Op.registered_ops.update(before)
        Op.excluded_classes[:] = excluded


def create_op_node_with_second_input(
    graph: BlockView, op: type[Op], second_input_value: Any, op_attrs: Mapping[str, Any] | None = None, input_node: GraphNode | None = None
) -> GraphNode:
    """A node whose input 1 is a new constant, and input 0 the node given."""
    return create_op_with_const_inputs(graph, op, {1: second_input_value}, op_attrs, input_node)


def create_op_with_const_inputs(
    graph: BlockView,
    op: type[Op],
    port_value_dict: Mapping[int, Any],
    op_attrs: Mapping[str, Any] | None = None,
    input_node: GraphNode | None = None,
) -> GraphNode:
    """A node with new constants at the input ports of `port_value_dict`, and at input 0 the node given."""
    node = op(graph, dict(op_attrs or {})).create_node()
    for number, value in port_value_dict.items():
        constant = create_constant(graph, np.asarray(value), f"{node.name}/value")
        node.add_input_port(number, skip_if_exist=True)
        node.in_port(number).connect(constant.out_port(0))
    if input_node is not None:
        node.add_input_port(0, skip_if_exist=True)
        node.in_port(0).connect(input_node.out_port(_only_output(input_node)))
    return node
