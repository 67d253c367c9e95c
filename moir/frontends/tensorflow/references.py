"""The references of nodes in a GraphDef to tensors, and their attributes."""

from __future__ import annotations

from typing import Any, TypeAlias

from moir.frontends.tensorflow.messages import reader

Tensor: TypeAlias = tuple[str, int]
"""Name of a node or an argument, and number of its output."""


def reference(name: str) -> tuple[str, int]:
    """The node of a reference and the index of its output: `node`, `node:1`, `^node` (control), or `node:output:1`.

    The last form occurs in functions. Its index counts within the named output, which is the index of the output for
    all kinds with one named output.
    """
    node, *ports = name.removeprefix("^").split(":")
    return node, int(ports[-1]) if ports and ports[-1].isdecimal() and len(ports[-1]) < 8 else 0


def tensor_text(tensor: Tensor) -> str:
    """A tensor in the notation that users write: `node`, or `node:1`."""
    return tensor[0] if tensor[1] == 0 else f"{tensor[0]}:{tensor[1]}"


def attribute(node: Any, name: str) -> Any:
    """An attribute of a node; an empty AttrValue if the node lacks it (indexing a protobuf map would add it)."""
    return node.attr[name] if name in node.attr else reader("AttrValue")()
