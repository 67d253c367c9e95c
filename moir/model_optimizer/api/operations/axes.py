"""Attributes and inputs that count axes, as the `infer` of Model Optimizer's operations declared them.

    class Foo(Softmax): …        Foo {axis = 3} on [N, H, W, C]  ->  <data axis="1"/> on [N, C, H, W]

If a node of a user is inferred as one of these operations, its attributes and inputs follow the order of axes that its
data have after the layout change, as in Model Optimizer.
"""

from __future__ import annotations

from moir.model_optimizer.graph.attribute_permutation import PermuteAttrs
from moir.model_optimizer.graph.input_permutation import PermuteInputs
from moir.model_optimizer.graph.node import GraphNode

_ATTRIBUTES = ("axis", "pad", "stride", "window", "dilation", "spatial_dims", "channel_dims", "batch_dims", "seq_axis", "batch_axis")
"""Attributes that count axes of the data at input 0, or have an element for each."""

_REDUCTIONS = ("Max", "Mean", "Min", "Prod", "Sum", "And", "Or", "L1", "L2", "LogicalAnd", "LogicalOr")

_INPUTS: dict[str, dict[int, tuple[str, str]]] = {
    **{f"Reduce{name}": {1: ("input:0", "axis")} for name in _REDUCTIONS},
    **{name: {1: ("input:0", "axis")} for name in ("NormalizeL2", "MVN", "CumSum", "Split", "VariadicSplit", "Squeeze")},
    "Gather": {2: ("input:0", "axis")},
    "Roll": {2: ("input:0", "axis")},
    "Transpose": {1: ("input:0", "order")},
    "Tile": {1: ("input:0", "shape")},
    "Pad": {1: ("input:0", "shape"), 2: ("input:0", "shape")},
    "Reshape": {1: ("output:0", "shape")},
    "Broadcast": {1: ("output:0", "shape")},
    **dict.fromkeys(("BatchToSpace", "SpaceToBatch"), dict.fromkeys((1, 2, 3), ("input:0", "shape"))),
}
"""`op` -> index of an input whose values are axes -> the port with the tensor whose axes they are, and the form of the
input.
"""


def say_axes(node: GraphNode, kind: str) -> None:
    """Declare which attributes and inputs of a node of a user's class are axes, as those of Model Optimizer's operation
    `kind`.

    Declarations of the node's own `infer` take precedence.
    """
    declared = node.soft_get("permute_attrs", None)
    known = declared.attrs if isinstance(declared, PermuteAttrs) else {}
    names = [name for name in _ATTRIBUTES if node.has_valid(name) and name not in known]
    if names:
        PermuteAttrs.create_permute_attrs(node, [(name, "input:0") for name in names])
    for number, (port, rule) in _INPUTS.get(kind, {}).items():
        if node.is_in_port_connected(number):
            PermuteInputs().set_input_permutation(node.in_node(number), node, port, rule)
