"""The list of the nodes of a model, or of those that a pattern selects: names, kinds, and the tensors they compute."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from xdsl.ir import Operation

from moir.dialects.framework import decode_kind
from moir.dialects.interface import operations_of
from moir.dialects.names import name_of, names_of
from moir.errors import UsageError
from moir.inspection.node import type_text
from moir.inspection.tables import Shown, Table
from moir.support.records import Record
from moir.support.suggestions import did_you_mean

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

ALL = "*"
"""The pattern that selects every node."""


class ListedTensor(Record):
    """A result of a node: its names, and its type as `f32[?,3]`."""

    names: tuple[str, ...]
    type: str


class ListedNode(Record):
    """A node of a list.

    Args:
        node: its name; empty if it has none.
        operation: its kind, such as `onnx.Conv`.
        convertible: whether moir can convert this kind.
        tensors: its results.
    """

    node: str
    operation: str
    convertible: bool
    tensors: tuple[ListedTensor, ...]


class NodeList(Shown):
    """The nodes that a pattern selects, in the order of the model.

    Args:
        pattern: the pattern.
        nodes: the nodes.
    """

    pattern: str
    nodes: tuple[ListedNode, ...]

    def tables(self) -> list[Table]:
        rows = tuple(_row(each) for each in self.nodes)
        bad = frozenset(index for index, each in enumerate(self.nodes) if not each.convertible)
        title = f"nodes: {len(rows)}" if self.pattern == ALL else f"nodes like {self.pattern}: {len(rows)}"
        columns = ("node", "kind", "tensor", "type", "")
        is_marked = bool(bad)
        return [Table(title, columns if is_marked else columns[:-1], rows if is_marked else tuple(row[:-1] for row in rows), bad)]


def _row(node: ListedNode) -> tuple[str, ...]:
    tensors = ", ".join("/".join(each.names) for each in node.tensors)
    return (
        node.node,
        node.operation,
        tensors,
        ", ".join(each.type for each in node.tensors),
        "" if node.convertible else "cannot be converted",
    )


def list_nodes(module: ModuleOp, pattern: str, unknown: Collection[str] = ()) -> NodeList:
    """The nodes whose name, kind, or name of a tensor matches a pattern; those in bodies of loops and branches, too.

    Args:
        module: the module.
        pattern: `*` stands for any text, `?` for one character; a pattern without them is a part of the name. Upper and
            lower case are the same.
        unknown: the kinds of operations that cannot be converted.

    Raises UsageError if nothing matches.
    """
    operations = list(operations_of(module))
    nodes = tuple(_listed(op, unknown) for op in operations if _matches(op, pattern))
    if not nodes and pattern != ALL:
        known = {text for op in operations for text in _texts(op)}
        raise UsageError(f"no node, tensor or kind of operation is like {pattern!r}", hint=did_you_mean(pattern.strip("*?"), known))
    return NodeList(pattern, nodes)


def _matches(op: Operation, pattern: str) -> bool:
    """Whether a name of an operation, or its kind, matches a pattern."""
    parts = [".*" if each == "*" else "." if each == "?" else re.escape(each) for each in pattern]
    expression = re.compile("".join(parts), re.IGNORECASE | re.DOTALL)
    has_wildcards = "*" in pattern or "?" in pattern
    match = expression.fullmatch if has_wildcards else expression.search
    return pattern == ALL or any(match(text) is not None for text in _texts(op))


def _texts(op: Operation) -> Iterator[str]:
    """The texts of an operation that patterns are compared with: the name of its node, of its tensors, the kind with
    and without the dialect.
    """
    yield name_of(op) or ""
    for result in op.results:
        yield from names_of(result)
    kind = decode_kind(op.name)
    yield kind
    yield kind.partition(".")[2]


def _listed(op: Operation, unknown: Collection[str]) -> ListedNode:
    kind = decode_kind(op.name)
    tensors = tuple(ListedTensor(tuple(names_of(result)), type_text(result)) for result in op.results)
    return ListedNode(name_of(op) or "", kind, kind not in unknown, tensors)
