"""Functions that read the attributes of an MXNet node (`node.symbol_dict`), for extractors.

attrs = get_mxnet_layer_attrs(node.symbol_dict)
attrs.tuple("kernel", int, (1, 1)), attrs.bool("no_bias", False), attrs.str("layout", "NCHW")
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from typing import Any

_PLACES = ("attr", "attrs", "param")
_TRUTHS = {"true": True, "yes": True, "t": True, "1": True, "false": False, "no": False, "f": False, "0": False}


class AttrDictionary:
    """Attributes, which are texts, as values.

    Args:
        dict: the texts by name.
    """

    def __init__(self, dict: builtins.dict[str, Any]) -> None:
        self._dict = dict

    def is_valid(self) -> bool:
        """Whether there are attributes, of which there may be none."""
        return True

    def dict(self) -> builtins.dict[str, Any]:
        """The texts by name."""
        return self._dict

    def add_dict(self, dict: Mapping[str, Any]) -> None:
        """Add attributes."""
        self._dict.update(dict)

    def set(self, key: str, value: Any) -> None:
        """Set an attribute."""
        self._dict[key] = value

    def remove(self, key: str) -> None:
        """Remove an attribute, if it is there."""
        self._dict.pop(key, None)

    def has(self, key: str) -> bool:
        """Whether there is an attribute."""
        return key in self._dict

    def str(self, key: str, default: Any = None) -> Any:
        """The text of an attribute."""
        return self._dict.get(key, default)

    def bool(self, key: str, default: Any = None) -> Any:
        """A boolean. Raises ValueError for a text that is none."""
        found = self.str(key, default)
        if not isinstance(found, builtins.str):
            return found
        if found.lower() not in _TRUTHS and not found.isdigit():
            raise ValueError(f"{found!r} is no boolean")
        return _TRUTHS[found.lower()] if found.lower() in _TRUTHS else builtins.bool(int(found))

    def float(self, key: str, default: Any = None) -> Any:
        """A float."""
        return self.val(key, builtins.float, default)

    def int(self, key: str, default: Any = None) -> Any:
        """An integer."""
        return self.val(key, builtins.int, default)

    def val(self, key: str, valtype: Callable[[Any], Any] | None, default: Any = None) -> Any:
        """A value of a type; None for the text None."""
        found = self.str(key, default)
        if found is None or found == "None":
            return None
        return found if valtype is None else valtype(found)

    def tuple(self, key: str, valtype: Callable[[Any], Any] = builtins.str, default: Any = None) -> Any:
        """A tuple; a text without brackets is that of its only item, an empty tuple is the default."""
        found = self.str(key, default)
        if found is None:
            return default
        if not isinstance(found, builtins.str):
            return builtins.tuple(valtype(item) for item in found)
        items = [item.strip() for item in found.strip("()[] ").split(",") if item.strip()]
        return builtins.tuple(valtype(item) for item in items) if items else builtins.tuple(valtype(item) for item in default or ())

    def list(self, key: str, valtype: Callable[[Any], Any], default: Any = None, sep: builtins.str = ",") -> Any:
        """A list of items that a text separates."""
        found = self.str(key, default)
        if found is None:
            return None
        items = found.strip("()[] ").split(sep) if isinstance(found, builtins.str) else found
        return [valtype(item) for item in items if item != ""]


def get_mxnet_layer_attrs(json_dic: Mapping[str, Any]) -> AttrDictionary:
    """The attributes of an entry of a symbol, which are under `attr`, `attrs` or `param`."""
    place = next((each for each in _PLACES if each in json_dic), None)
    return AttrDictionary({} if place is None else json_dic[place])


def get_json_layer_attrs(json_dic: Mapping[str, Any]) -> dict[str, Any]:
    """The texts of the attributes of an entry of a symbol."""
    return get_mxnet_layer_attrs(json_dic).dict()
