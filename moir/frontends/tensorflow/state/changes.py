"""Which variables a model changes while it computes its outputs.

A variable that no running operation writes is a constant. One that is written, and whose value reaches the outputs, is
threaded through the model (`state_order.py`). Writes of other variables (counters, running means) do not affect outputs
and are left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from moir.dialects.frameworks.tensorflow import is_branching
from moir.errors import ModelFileError
from moir.frontends.tensorflow.functions import LOOP_KINDS
from moir.frontends.tensorflow.references import reference
from moir.frontends.tensorflow.state.nodes import RESOURCE_KINDS, Resource, is_writing
from moir.frontends.tensorflow.state.order import StateOrder, state_order
from moir.frontends.tensorflow.state.walk import CalledNode, CallFrame, Item, Walk, callees, data_operands


def find_state(graph: Any, outputs: Iterable[str]) -> tuple[StateOrder | None, list[str]]:
    """The variables to thread through the model, None if there are none, and notes on the writes that are left out.

    Args:
        graph: the GraphDef.
        outputs: references to the tensors that are the outputs of the model.

    Raises ModelFileError if a variable that reaches the outputs is written in a way that cannot be expressed, or in an
    order that the graph does not determine.
    """
    outputs = list(outputs)
    if not _may_write(graph, outputs):
        return None, []
    walk = Walk(graph)
    written = walk.writes(outputs)
    if not written:
        return None, []
    threaded = _threaded(walk, written, outputs)
    if None in written and threaded is not None:
        frame, name = written[None][0]
        node = frame.nodes[name]
        reason = "it changes a variable that cannot be told, and the outputs read variables"
        hint = "export a function for inference that does not change variables"
        raise ModelFileError(reason, operation=f"tf.{node.op}", node=frame.prefix + name, hint=hint)
    names = sorted(resource[1] for resource in written if resource is not None and resource not in (threaded or ()))
    shown = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
    notes = [f"cut writes of {len(names)} variable{'s' if len(names) > 1 else ''} that no output reads: {shown}"] if names else []
    return (state_order(walk, threaded, outputs) if threaded else None), notes


def _threaded(walk: Walk, written: dict[Resource | None, list[CalledNode]], outputs: list[str]) -> frozenset[Resource] | None:
    """The variables among `written` whose values reach the outputs, directly or through other such variables.

    None if the outputs read no variable at all.
    """
    read = walk.reads([(walk.main, *reference(output)) for output in outputs])
    if not read:
        return None
    threaded: set[Resource] = set()
    while further := {resource for resource in written if resource in read} - threaded:
        threaded |= further
        read |= walk.reads(item for resource in further for node in written[resource] for item in _deciding(walk, *node))
    return frozenset(threaded)


def _deciding(walk: Walk, frame: CallFrame, name: str) -> list[Item]:
    """The tensors that decide whether node `name` runs (conditions of conditionals and loops) and which value it
    writes.
    """
    items: list[Item] = [(frame, *reference(operand)) for operand in data_operands(frame.nodes[name])]
    while frame.caller is not None:
        frame, node = frame.caller
        if is_branching(node.op):
            items += walk.operand(frame, node, 0)
        elif node.op in LOOP_KINDS:
            items += [(frame, *reference(operand)) for operand in data_operands(node)]
            items += [(inner, *reference(result)) for inner in walk.inner(frame, node) for result in inner.function.ret.values()]
    return items


def _may_write(graph: Any, outputs: list[str]) -> bool:
    """Whether any operation that the outputs may depend on writes a variable; calls count with the whole function."""
    if not any(node.op in RESOURCE_KINDS for node in graph.node):
        return False
    functions = {function.signature.name: function for function in graph.library.function}
    nodes = {node.name: node for node in graph.node}
    stack = [reference(output)[0] for output in outputs]
    seen: set[str] = set(stack)
    called: list[str] = []
    while stack:
        if (node := nodes.get(stack.pop())) is None:
            continue
        if is_writing(node.op):
            return True
        called += callees(node, functions)
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
            if is_writing(node.op):
                return True
            called += callees(node, functions)
    return False
