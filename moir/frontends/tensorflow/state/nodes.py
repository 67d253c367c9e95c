"""The nodes that create, read and write variables and hash tables."""

from __future__ import annotations

from itertools import chain
from typing import Any, TypeAlias

from moir.frontends.tensorflow.references import attribute

VARIABLE_KINDS = frozenset(("VarHandleOp", "VariableV2", "Variable"))
MUTABLE_TABLE_KINDS = frozenset(("MutableHashTableV2", "MutableHashTable"))
"""Kinds of tables that need no initialization: they are empty until something is inserted."""
TABLE_KINDS = MUTABLE_TABLE_KINDS | {"HashTableV2", "HashTable"}
RESOURCE_KINDS = VARIABLE_KINDS | TABLE_KINDS

TEXT_TABLE_KINDS = frozenset(("InitializeTableFromTextFile", "InitializeTableFromTextFileV2"))
TABLE_FILLING_KINDS = TEXT_TABLE_KINDS | frozenset(
    ("InitializeTable", "InitializeTableV2", "LookupTableImport", "LookupTableImportV2", "LookupTableInsert", "LookupTableInsertV2")
)
"""Kinds that fill a table, or add entries to it."""

READING_KINDS = frozenset(("ReadVariableOp", "ResourceGather", "ResourceGatherNd", "VariableShape")) | frozenset(
    f"LookupTable{kind}" for kind in ("Find", "FindV2", "Size", "SizeV2", "Export", "ExportV2")
)
"""Kinds that read the variable or the table whose handle is operand 0."""
REFERENCE_KINDS = frozenset(("VariableV2", "Variable"))
"""Kinds of variables whose output is not a handle: each user reads the variable."""
ASSIGNING_KINDS = frozenset(("Assign", "AssignVariableOp"))
"""Kinds that write all of a variable, without reading it."""
EXPRESSED_WRITING_KINDS = ASSIGNING_KINDS | frozenset(
    f"{prefix}{kind}"
    for prefix, kinds in (
        ("", "AssignAdd AssignSub AssignAddVariableOp AssignSubVariableOp StridedSliceAssign ResourceStridedSliceAssign"),
        ("ScatterNd", "Update Add Sub Max Min"),
        ("Scatter", "Add Sub Mul Min Max Update"),
        ("ResourceScatter", "Add Sub Mul Min Max Update NdUpdate NdAdd NdSub NdMax NdMin"),
    )
    for kind in kinds.split()
)
"""Kinds that write the variable that is operand 0, and whose new value is a function of the old one and the operands
that moir can express.
"""
_OTHER_WRITING_KINDS = frozenset(("CountUpTo", "ResourceCountUpTo", "ScatterDiv", "ResourceScatterDiv"))
_WRITING_BEGINNINGS = (
    *("Apply", "SparseApply", "ResourceApply", "ResourceSparseApply"),
    *("LookupTableInsert", "LookupTableImport", "LookupTableRemove"),
)
"""Beginnings of the names of kinds that are steps of optimizers or that change tables."""

Resource: TypeAlias = tuple[str, str]
"""A variable or table: the names of its container and itself. Nodes with the same pair share one variable or table."""


def resource_of(node: Any, prefix: str = "") -> Resource:
    """The resource that a node creates; `prefix` is the path of calls before names of nodes in functions."""
    shared = attribute(node, "shared_name").s.decode(errors="replace")
    container = attribute(node, "container").s.decode(errors="replace")
    return container, shared or prefix + node.name


def has_resources(graph: Any) -> bool:
    """Whether a node of a GraphDef, or of a function in its library, creates a variable or a table."""
    nodes = chain(graph.node, *(function.node_def for function in graph.library.function))
    return any(node.op in RESOURCE_KINDS for node in nodes)


def is_writing(kind: str) -> bool:
    """Whether operations of a kind write the variable or the table that is operand 0."""
    return kind in EXPRESSED_WRITING_KINDS or kind in _OTHER_WRITING_KINDS or kind.startswith(_WRITING_BEGINNINGS)
