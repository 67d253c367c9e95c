"""How nodes of a GraphDef refer to tensors and attributes."""

from __future__ import annotations

from typing import Any

from moir.frontends.tensorflow.messages import message_class


def reference(name: str) -> tuple[str, int]:
    """Node and output of a reference: `node`, `node:1`, `^node` (control), or `node:output:1` in functions.

    In a function the number counts within a named output; that is the output's own number for all kinds with one named
    output.
    """
    node, *ports = name.removeprefix("^").split(":")
    return node, int(ports[-1]) if ports and ports[-1].isdecimal() and len(ports[-1]) < 8 else 0


def attribute(node: Any, name: str) -> Any:
    """An attribute of a node, an AttrValue; an empty one if the node lacks it (an index into the map would add it)."""
    return node.attr[name] if name in node.attr else message_class("AttrValue")()
