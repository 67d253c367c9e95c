"""The entries of `graph.graph` that last from one transformation to the next, as extensions of Model Optimizer expect.

The user's specification of inputs is among them from the start: `user_shapes`, a list of places for each input that has
a shape or a type, and `inputs`, the names of these; both None if there is none. Entries that a transformation adds are
found by later ones.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

from moir.analysis.model_names import ModelNames
from moir.dialects.moir import ModelOp
from moir.dialects.names import name_of
from moir.errors import ConversionError
from moir.model_optimizer.values.shapes import masked_shape
from moir.parameters.input_notation import InputItem, input_items, merged, shapes

_OF_A_VIEW = frozenset(("cmd_params", "fw", "ir_version", "is_cyclic", "layout", "name", "stage"))
"""The entries that every graph has from the start, so that they need not be kept from one transformation to the next.
"""

_LASTING: WeakKeyDictionary[ModelOp, dict[str, Any]] = WeakKeyDictionary()


def lasting_entries(model: ModelOp, parameters: Namespace) -> dict[str, Any]:
    """The entries of `graph.graph` that earlier transformations of a model added.

    For the first transformation: `user_shapes` and `inputs`, read from `parameters`, the options of the conversion.
    """
    if model not in _LASTING:
        user_shapes = _user_shapes(model, parameters)
        _LASTING[model] = {"user_shapes": user_shapes, "inputs": None if user_shapes is None else list(user_shapes)}
    return _LASTING[model]


def keep_entries(model: ModelOp, entries: Mapping[str, Any]) -> None:
    """Store the entries of a graph of a model, so that later transformations find them."""
    _LASTING[model] = {name: value for name, value in entries.items() if name not in _OF_A_VIEW}


def _user_shapes(model: ModelOp, parameters: Namespace) -> dict[str, list[dict[str, Any]]] | None:
    given = [getattr(parameters, name, None) for name in ("input", "input_shape")]
    items = input_items(given[0]) if isinstance(given[0], str) else ()
    if isinstance(given[1], str):
        items = merged(items, shapes(given[1]))
    names = ModelNames(model.block)
    by_node: dict[str, list[dict[str, Any]]] = {}
    for index, item in enumerate(items):
        shape = None if item.shape is None else masked_shape(tuple(each.size for each in item.shape))
        by_node.setdefault(_input_name(names, item, index), []).append({"shape": shape})
    return by_node or None


def _input_name(names: ModelNames, item: InputItem, index: int) -> str:
    """The name of the model's input that an item names, or of the input at its index if it has no name."""
    try:
        return name_of(names.parameter_at(item.place, index)) or item.place.text
    except ConversionError:
        return item.place.text
