"""Attributes of nodes that are axes or per-axis lists, and how a layout change rewrites them.

    PermuteAttrs.create_permute_attrs(node, attrs=[("axis", "input:0")])

A function `infer` declares such attributes of its node. When the data of the operation become [N, C, spatial…], its
axes, and its lists with an element for each axis, are changed to that order, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np

from moir.dialects.shapes import rank_of
from moir.errors import ConversionError
from moir.model_optimizer.block.sentinels import is_value
from moir.model_optimizer.graph.node import GraphNode
from moir.model_optimizer.values.shapes import IntegerArray

IMAGE_RANKS = (4, 5)
"""The ranks of tensors whose layout Model Optimizer changed."""


class Permutation(NamedTuple):
    """An order of axes: axis `perm[i]` of the old order is axis `i` of the new one, and `inv` is the inverse order."""

    perm: IntegerArray
    inv: IntegerArray


def channel_first_order(rank: int | None) -> tuple[int, ...] | None:
    """The order that makes [N, spatial…, C] of an image rank [N, C, spatial…]; None for other ranks."""
    return (0, rank - 1, *range(1, rank - 1)) if rank is not None and rank in IMAGE_RANKS else None


def inverse(order: Iterable[int]) -> tuple[int, ...]:
    """The order for a transposition of an image of `rank` from [N, spatial…, C] to [N, C, spatial…]; None for ranks
    that no image has.
    """
    return tuple(int(axis) for axis in np.argsort(list(order)))


PermuteAttribute: TypeAlias = Callable[[GraphNode, Permutation, str], Any]


def _entries(node: GraphNode, permutation: Permutation, attribute: str) -> Any:
    return np.asarray(node[attribute])[permutation.perm]


def _axes(node: GraphNode, permutation: Permutation, attribute: str) -> Any:
    value = permutation.inv[np.asarray(node[attribute])]
    return int(value) if np.ndim(value) == 0 else value


def _order(node: GraphNode, permutation: Permutation, attribute: str) -> Any:
    return permutation.inv[np.asarray(node[attribute])[permutation.perm]]


_FUNCTIONS: dict[str, PermuteAttribute] = {
    **dict.fromkeys(("dim", "pad", "pads", "shape", "stride", "window", "dilation", "kernel_shape", "output_shape"), _entries),
    **dict.fromkeys(("begin_mask", "end_mask", "shrink_axis_mask", "new_axis_mask", "ellipsis_mask"), _entries),
    **dict.fromkeys(("axis", "axes", "seq_axis", "batch_axis", "batch_dims", "channel_dims", "spatial_dims"), _axes),
    **dict.fromkeys(("input_channel_dim", "output_channel_dim", "kernel_spatial_idx"), _axes),
    **dict.fromkeys(("input_feature_channel", "output_feature_channel"), _axes),
    "order": _order,
}
"""Attribute -> a function that returns its new value, given the node, the permutation and the attribute."""


class PermuteAttrs:
    """Declares the attributes of a node that change with the order of the axes of its data."""

    Permutation = Permutation
    common_attrs_permutation = _FUNCTIONS

    def __init__(self) -> None:
        self.attrs: dict[str, tuple[str, PermuteAttribute]] = {}

    def update_attrs(self, attrs: Iterable[Any]) -> None:
        """Add attributes: a name, a pair such as `("axis", "input:0")` of a name and a port, or a triple with a
        function that computes the new value.
        """
        for entry in attrs:
            items: tuple[Any, ...] = (entry,) if isinstance(entry, str) else tuple(entry)
            name, port = str(items[0]), str(items[1]) if len(items) > 1 else "input:0"
            function = items[2] if len(items) > 2 else _FUNCTIONS.get(name)
            if function is None:
                raise ConversionError(
                    f"how the attribute {name!r} changes with the order of axes is not known",
                    hint="give a third item to its tuple, a function of node, permutation and attribute",
                )
            self.attrs[name] = (port, function)

    @staticmethod
    def create_permute_attrs(node: GraphNode, attrs: Iterable[Any] | None = None) -> None:
        """Give a node the attribute `permute_attrs`, or add attributes to it."""
        if not node.has_valid("permute_attrs"):
            node["permute_attrs"] = PermuteAttrs()
        if attrs is not None:
            node["permute_attrs"].update_attrs(attrs)

    @staticmethod
    def set_permutation(node1: GraphNode, node2: GraphNode, permutation: Permutation | None) -> None:
        """Declare that the layout change does not permute the tensor between two nodes, which is always so in moir.

        Raises ConversionError for any permutation other than None.
        """
        if permutation is not None:
            raise ConversionError(
                f"the tensor between {node1.id!r} and {node2.id!r} cannot get an order of axes of its own",
                hint="insert a Transpose between them",
            )

    @staticmethod
    def get_inverse_permutation(perm: Iterable[int]) -> IntegerArray:
        """The inverse of an order."""
        return np.array(inverse(perm), dtype=np.int64)

    @staticmethod
    def get_nhwc_to_nchw_permutation(dims_number: int) -> Permutation:
        """The order for a transposition from [N, spatial…, C] to [N, C, spatial…]; the identity for up to three
        axes.
        """
        order = (0, dims_number - 1, *range(1, dims_number - 1)) if dims_number > 3 else tuple(range(dims_number))
        return Permutation(np.array(order, dtype=np.int64), np.array(inverse(order), dtype=np.int64))

    @staticmethod
    def get_nchw_to_nhwc_permutation(dims_number: int) -> Permutation:
        """The order for a transposition from [N, C, spatial…] to [N, spatial…, C]; the identity for up to three
        axes.
        """
        perm, inv = PermuteAttrs.get_nhwc_to_nchw_permutation(dims_number)
        return Permutation(inv, perm)


def _declared(node: GraphNode) -> dict[str, tuple[str, PermuteAttribute]]:
    given = node.soft_get("permute_attrs", None)
    if isinstance(given, PermuteAttrs):
        return given.attrs
    # The form that extensions of 2018 use.
    listed = {str(name): ("input:0", _axes) for name in cast("list[Any]", node.soft_get("dim_attrs", None) or ())}
    listed.update({str(name): ("input:0", _entries) for name in cast("list[Any]", node.soft_get("shape_attrs", None) or ())})
    return listed


def permuted_attributes(node: GraphNode) -> Mapping[str, Any]:
    """The attributes of a node that change when its data of rank 4 and 5 becomes [N, C, spatial…]."""
    changed: dict[str, Any] = {}
    for name, (port, function) in _declared(node).items():
        if not node.has_valid(name):
            continue
        direction, _, number = port.partition(":")
        values = node.ir_operation.operands if direction == "input" else node.ir_operation.results
        index = int(number or 0)
        value = values[index] if index < len(values) else None
        rank = rank_of(value) if value is not None and is_value(value) else None
        if rank is not None and channel_first_order(rank) is not None:
            changed[name] = function(node, PermuteAttrs.get_nhwc_to_nchw_permutation(rank), name)
    return changed
