"""An operation of the `mo` dialect while it is lowered: its operands, its attributes and its node in a graph.

The attributes are Python values that an extension set. Functions among them, such as `infer`, get the node in a graph
of the block. The graphs belong to the run of the lowering.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, cast

import numpy as np
from xdsl.ir import Attribute, Block, SSAValue

from moir.dialects.data import Array
from moir.dialects.moir import ModuleLevel, is_none, model_around
from moir.dialects.python_object import python_entries
from moir.dialects.shapes import rank_of
from moir.errors import ConversionError
from moir.frameworks import FRAMEWORKS, MODEL_OPTIMIZER
from moir.lowering.binder import LoweringNode, LoweringRun, T
from moir.lowering.driver import Lowering
from moir.model_optimizer.attributes.hidden_attributes import DESCRIBED_KIND
from moir.model_optimizer.block.sentinels import is_sentinel
from moir.model_optimizer.block.view import BlockView
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.node import GraphNode
from moir.model_optimizer.lowering.table import mo
from moir.model_optimizer.lowering.versions import UNVERSIONED, is_standard, opset_number, standard_operation
from moir.model_optimizer.values.python_values import element_type, plain, python_value

DECOMPOSED = frozenset(("BatchNorm",))
"""Values of `op` that Model Optimizer decomposed during fusion, even for a user's class with a `type`."""


def graph_of(block: Block, run: LoweringRun) -> BlockView:
    """The graph of a block, in a phase in which shapes are known; within one lowering, each call with the block returns
    the same graph.
    """
    graphs = run.state(graph_of, dict[Block, BlockView])
    if block not in graphs:
        framework = None if run.framework is MODEL_OPTIMIZER else run.framework.dialect
        graphs[block] = Graph(block, "middle", framework, {"cmd_params": mo.command_line})
    return graphs[block]


def run_in(graph: BlockView) -> Lowering:
    """A run that lowers single operations of a graph, and shares the graph and its known values."""
    owner = graph.block.parent_op()
    model = None if owner is None else model_around(owner)
    keeps = model is not None and ModuleLevel.KEEPS_LAYOUTS in model.attributes
    run = Lowering(FRAMEWORKS[str(graph.graph["fw"])], dialects=(MODEL_OPTIMIZER,), keeps_layouts=keeps)
    run.known = graph.known
    run.state(graph_of, dict[Block, BlockView])[graph.block] = graph
    return run


class MoLoweringNode(LoweringNode):
    """Access to the operands and attributes of an operation of the `mo` dialect, and to its node in the graph."""

    @classmethod
    def of(cls, node: LoweringNode) -> MoLoweringNode:
        """The node, seen as an operation of the `mo` dialect."""
        return node if isinstance(node, MoLoweringNode) else cls(node.op, node.version, node.run)

    @cached_property
    def read_operands(self) -> set[int]:
        """The indices of the operands that the handler has read so far."""
        return set()

    @cached_property
    def read_attributes(self) -> set[str]:
        """The names of the attributes that the handler has read so far."""
        return set()

    @cached_property
    def view(self) -> GraphNode:
        """The node of the operation, which is passed to the functions among its attributes."""
        if self.op.parent is None:
            raise ConversionError("it is in no graph", operation=self.op.name)
        return GraphNode.of(graph_of(self.op.parent, self.run), self.op)

    def get(self, name: str, default: Any = None) -> Any:
        """The value of an attribute; the default if the node does not have it or it is None."""
        entries = python_entries(self.op)
        self.read_attributes.add(name)
        if name in entries:
            value = entries[name]
        elif name in self.op.properties:
            value = python_value(self.op.properties[name])
        else:
            value = None
        return default if value is None else value

    def first(self, *names: str, default: Any = None) -> Any:
        """The value of the first of several attributes that the node has, else the default."""
        self.read_attributes.update(names)
        return next((value for name in names if (value := self.get(name)) is not None), default)

    @property
    def kind(self) -> str:
        """The `op` of the node; if a class of Model Optimizer created it, the `op` of that class."""
        return str(self.first(DESCRIBED_KIND, "op", default=self.op.KIND))

    @property
    def type(self) -> str | None:
        """`type` of the node, as Model Optimizer spelled it; None if it has none."""
        type_ = self.get("type")
        return None if type_ is None or type_ == "None" else str(type_)

    @property
    def version_text(self) -> str | None:
        """`version` of the node; None if it has none."""
        version = self.get("version")
        return None if version is None else str(version)

    @property
    def built_in_handler(self) -> Callable[..., Any] | None:
        """The built-in handler for the node; None if it is not one of Model Optimizer's operations with a handler."""
        type_, version = self.type, self.version_text
        # A `type` like Pooling was turned into one of an operation set (AvgPool, MaxPool) at the end of the conversion.
        is_former = type_ is not None and self.get(DESCRIBED_KIND) is not None and mo.built_in(type_) is not None
        is_unversioned = version in UNVERSIONED and type_ is not None and (is_standard(type_) or is_former)
        is_own = type_ is not None and opset_number(version) is None and not is_unversioned and self.kind not in DECOMPOSED
        return None if is_own else mo.built_in(self.kind)

    @property
    def is_built_in(self) -> bool:
        """Whether the node is lowered to operations of the operation sets: it is not an operation of a user."""
        if self.built_in_handler is not None:
            return True
        return self.type is not None and standard_operation(self.type, self.version_text) is not None

    @property
    def is_channel_last(self) -> bool:
        """Whether the data of the node is channel-last, by its own layout, or else by that of the framework."""
        layout = self.first("layout", "data_format")
        if isinstance(layout, bytes):
            layout = layout.decode(errors="replace")
        if isinstance(layout, str) and layout:
            return layout.upper() in ("NWC", "NHWC", "NDHWC")
        channels = self.axes("channel_dims")
        if channels:
            return channels[0] != 1
        return self.run.framework.channel_last and self.view.graph.stage != "back"

    def optional(self, index: int) -> SSAValue | None:
        operands = self.op.operands
        self.read_operands.add(index)
        if index >= len(operands) or is_none(operands[index].owner) or is_sentinel(operands[index]):
            return None
        return operands[index]

    def operand(self, index: int) -> SSAValue:
        value = self.optional(index)
        if value is None:
            self.fail(f"its input port {index} is not connected")
        return value

    def all_operands(self) -> list[SSAValue | None]:
        """Operands by port, None for a disconnected port; trailing disconnected ports are left out."""
        operands = [self.optional(index) for index in range(len(self.op.operands))]
        while operands and operands[-1] is None:
            operands.pop()
        return operands

    @property
    def operands(self) -> list[SSAValue]:
        return [self.operand(index) for index in range(len(self.all_operands()))]

    def has(self, attribute: str) -> bool:
        return self.get(attribute) is not None

    def attribute(self, name: str, default: T) -> T | Any:
        value = self.get(name)
        if value is None:
            return default
        if isinstance(default, int | float) and not isinstance(default, bool) and isinstance(value, str):
            value = self._number(name, value)
        value: Any = plain(value)
        if isinstance(default, tuple):
            return tuple(cast("list[Any]", value)) if isinstance(value, list) else (value,)
        while isinstance(value, list) and len(cast("list[Any]", value)) == 1:
            value = cast("list[Any]", value)[0]
        if isinstance(default, float) and isinstance(value, int):
            value = float(value)
        if isinstance(default, int) and isinstance(value, float) and value.is_integer():
            value = int(value)
        if default is not None and not isinstance(value, type(cast(Any, default))):
            self.fail(f"its attribute {name} is {value!r}, not of type {type(cast(Any, default)).__name__}")
        return cast(Any, value)

    def _number(self, name: str, text: str) -> float:
        try:
            return float(text)
        except ValueError:
            self.fail(f"its attribute {name} is {text!r}, not a number")

    def _required(self, name: str, default: Any, kind: Any) -> Any:
        if default is None and not self.has(name):
            self.fail(f"it has no attribute {name}")
        return self.attribute(name, kind if default is None else default)

    def element_attribute(self, name: str, default: Attribute | None = None) -> Attribute:
        value = self.get(name)
        if value is None:
            if default is None:
                self.fail(f"it has no attribute {name}")
            return default
        return element_type(value)

    def tensor(self, name: str) -> Array | None:
        value = self.get(name)
        return None if value is None else np.ma.getdata(np.asarray(value))

    def rank_of_value(self, value: SSAValue) -> int:
        """The rank of a value. Raises ConversionError if it is dynamic."""
        rank = rank_of(value)
        if rank is None:
            self.fail(f"the rank of a value of type {value.type} must be known", hint="give the model's inputs a known rank")
        return rank

    def axes(self, *names: str) -> tuple[int, ...] | None:
        """The axes in the first of the given attributes that the node has, as integers."""
        value = self.first(*names)
        return None if value is None else tuple(int(item) for item in np.ma.getdata(np.asarray(value)).reshape(-1))
