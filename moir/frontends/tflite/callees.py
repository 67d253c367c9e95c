"""The subgraphs that operators refer to: branches, bodies, functions of elements, and callees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.ir import Attribute

REGIONS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "IF": (("then_branch", "then_subgraph_index"), ("else_branch", "else_subgraph_index")),
    "WHILE": (("cond", "cond_subgraph_index"), ("body", "body_subgraph_index")),
    "STABLEHLO_REDUCE": (("body", "body_subgraph_index"),),
    "STABLEHLO_REDUCE_WINDOW": (("body", "body_subgraph_index"),),
    "STABLEHLO_SCATTER": (("update_computation", "update_computation_subgraph_index"),),
    "STABLEHLO_SORT": (("comparator", "comparator_subgraph_index"),),
    "STABLEHLO_WHILE": (("cond", "cond_subgraph_index"), ("body", "body_subgraph_index")),
}
"""Operators with subgraphs -> for each subgraph its name and the attribute with its index."""

INLINED: Mapping[str, str] = {"CALL": "subgraph", "STABLEHLO_COMPOSITE": "decomposition_subgraph_index"}
"""Calls -> the attribute with the index of the subgraph."""


def subgraph_number(attributes: Mapping[str, Attribute], name: str) -> int:
    """The index of the subgraph that attribute `name` refers to; 0 if it is absent."""
    number: Any = attributes.get(name)
    return 0 if number is None else number.value.data
