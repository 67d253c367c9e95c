"""Stand-ins for classes of structures that a program takes or returns: PyTorch refuses a program with unknown classes.

A program that `transformers` made returns instances of its classes. Only their names and their children matter to run
its graph, so a stand-in is enough if the package is not imported.
"""

from __future__ import annotations

import json
from collections import namedtuple
from collections.abc import Iterator
from typing import Any, cast

from moir.files.json_fields import Fields

NAMED_TUPLE = "collections.namedtuple"


def register_structures(module: Fields, pytree: Any) -> None:
    """Register a stand-in for each class of structures that PyTorch does not know.

    Args:
        module: the `graph_module` of a program.
        pytree: `torch.utils._pytree`.
    """
    known = pytree.SERIALIZED_TYPE_TO_PYTHON_TYPE
    fields = module.fields("treespec_namedtuple_fields", {})
    for type_, context in set(_structures(module)):
        if type_ == NAMED_TUPLE:
            if context not in known and context in fields.content:
                names = [str(each) for each in fields.fields(context).list("field_names")]
                class_ = namedtuple("Structure", names)  # pyright: ignore[reportUntypedNamedTuple]
                pytree._register_namedtuple(class_, serialized_type_name=context)
        elif type_ not in known:
            stand_in = type("Structure", (), {})
            pytree.register_pytree_node(
                stand_in, _flattened, _same, serialized_type_name=type_, to_dumpable_context=str, from_dumpable_context=_same
            )


def _flattened(_: object) -> tuple[list[object], object]:
    """The children and the context of an instance of a stand-in, as pytree needs them: both are empty, since no
    instance exists.
    """
    return [], None


def _same(value: object, *_: object) -> object:
    return value


def _structures(module: Fields) -> Iterator[tuple[str, str]]:
    """The class and the context of each structure in the signatures of a program's calls."""
    remaining: list[Any] = []
    for call in module.objects("module_call_graph"):
        signature = call.fields("signature", {})
        for key in ("in_spec", "out_spec"):
            if text := signature.text(key, ""):
                remaining += cast("list[Any]", json.loads(text))
    while remaining:
        spec = remaining.pop()
        if not isinstance(spec, dict):
            continue
        entries = cast("dict[str, Any]", spec)
        remaining += cast("list[Any]", entries.get("children_spec") or [])
        if isinstance(entries.get("type"), str):
            yield entries["type"], str(entries.get("context"))
