"""Functions that read the attributes of MXNet's nodes, which are texts: `get_mxnet_layer_attrs(node.symbol_dict)`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from moir.model_optimizer.api.errors import Error
from moir.model_optimizer.block.view import BlockView
from moir.model_optimizer.graph.node import GraphNode, create_constant

Text: TypeAlias = str
"""The type of texts, for a class with methods that are named like Python's types."""
Flag: TypeAlias = bool
Texts: TypeAlias = dict[str, Any]


class AttrDictionary:
    """The attributes of a node.

    Args:
        dict: the texts by name.
    """

    def __init__(self, dict: Mapping[Text, Any]) -> None:
        self._texts = {**dict}

    def is_valid(self) -> Flag:
        """True: a node always has attributes, even if there are none in the file."""
        return True

    def dict(self) -> Texts:
        """The texts by name."""
        return self._texts

    def add_dict(self, dict: Mapping[Text, Any]) -> None:
        """Add attributes."""
        self._texts.update(dict)

    def set(self, key: Text, value: Any) -> None:
        """Set an attribute."""
        self._texts[key] = value

    def remove(self, key: Text) -> None:
        """Remove an attribute, if there is one."""
        self._texts.pop(key, None)

    def has(self, key: Text) -> Flag:
        """Whether there is an attribute."""
        return key in self._texts

    def str(self, key: Text, default: Any = None) -> Any:
        """An attribute as text, as in the file."""
        return self._texts.get(key, default)

    def bool(self, key: Text, default: Any = None) -> Any:
        """A boolean: a number that is not 0, or `true`. Raises Error for another text."""
        value = self.str(key, default)
        if not isinstance(value, Text):
            return value
        known = {"true": True, "false": False}
        if value.lower() not in known and not value.isdecimal():
            raise Error("the attribute {} is {!r}, which is not a boolean", key, value)
        return bool(int(value)) if value.isdecimal() else known[value.lower()]

    def int(self, key: Text, default: Any = None) -> Any:
        """An attribute as an integer. Raises Error if it is none."""
        return self.val(key, int, default)

    def float(self, key: Text, default: Any = None) -> Any:
        """An attribute as a float. Raises Error if it is none."""
        return self.val(key, float, default)

    def val(self, key: Text, valtype: Callable[[Any], Any] | None, default: Any = None) -> Any:
        """An attribute converted by a function; None for the text `None`. Raises Error if it cannot be converted."""
        value = self.str(key, default)
        if value is None or value == "None" or valtype is None:
            return None if value == "None" else value
        return self._converted(key, value, valtype)

    def tuple(self, key: Text, valtype: Callable[[Any], Any] = Text, default: Any = None) -> Any:
        """The attribute `key` as a tuple, a single value as a tuple of one; each element is converted by `valtype`.

        For a missing or empty attribute the elements of `default` are converted. If that is None, returns None for a
        missing and () for an empty attribute. Raises Error for an element that cannot be converted.
        """
        value = self.str(key, default)
        if value is None:
            return default
        entries = self._entries(value)
        return tuple(self._converted(key, entry, valtype) for entry in (entries or default or ()))

    def list(self, key: Text, valtype: Callable[[Any], Any], default: Any = None, sep: str = ",") -> Any:
        """The attribute `key` as a list of the values that `sep` separates, each converted by `valtype`.

        For a missing attribute the elements of `default`; [] if that is None. Raises Error for an element that cannot
        be converted.
        """
        value = self.str(key, default)
        if isinstance(value, Text):
            value = self._entries(value) if sep == "," else value.split(sep)
        return [self._converted(key, entry, valtype) for entry in (value or ())]

    def dtype(self, key: Text, default: Any = None) -> Any:
        """An attribute as a numpy type."""
        return mxnet_str_dtype_to_np(self._texts[key]) if key in self._texts else default

    @staticmethod
    def _entries(value: Any) -> Sequence[Any]:
        if not isinstance(value, Text):
            return list(value)
        return [entry.strip() for entry in value.strip().strip("()[]").split(",") if entry.strip()]

    @staticmethod
    def _converted(key: Text, value: Any, valtype: Callable[[Any], Any]) -> Any:
        try:
            return valtype(value)
        except (TypeError, ValueError) as error:
            raise Error("the attribute {} is {!r}: {}", key, value, error) from error


def get_json_layer_attrs(json_dic: Mapping[str, Any]) -> dict[str, Any]:
    """The texts of a node's attributes, which are under `attrs`, in older files under `attr` or `param`."""
    return next((dict(json_dic[name]) for name in ("attr", "attrs", "param") if name in json_dic), Texts())


def get_mxnet_layer_attrs(json_dic: Mapping[str, Any]) -> AttrDictionary:
    """The attributes of a node of a symbol file, given as the JSON object of the node."""
    return AttrDictionary(get_json_layer_attrs(json_dic))


def scalar_ops_replacer(graph: BlockView, node: GraphNode, elementwise_op_type: Callable[..., Any]) -> GraphNode:
    """A node of two operands in place of one whose attribute `scalar` is the second operand.

    Args:
        graph: the graph.
        node: the node, whose operand becomes that of the new one.
        elementwise_op_type: the class of the new node.

    The consumers of the node are not changed: `replace_op` returns the new node, which then replaces it.
    """
    made = elementwise_op_type(graph, {"name": f"{node.name}/{node.op}"}).create_node()
    node.in_port(0).get_connection().set_destination(made.in_port(0))
    constant = create_constant(graph, np.asarray(node["scalar"], dtype=np.float32), f"{node.name}/scalar")
    made.in_port(1).connect(constant.out_port(0))
    return made


def mxnet_str_dtype_to_np(dtype: str) -> type[np.generic]:
    """The numpy type of a name of MXNet. Raises Error for a name that numpy does not have."""
    try:
        return np.dtype({"bool": "bool_"}.get(dtype, dtype)).type
    except TypeError as error:
        raise Error("{!r} is not an element type", dtype) from error
