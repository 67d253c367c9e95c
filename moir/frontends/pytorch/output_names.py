"""The names of a program's outputs, from the structure that its module returns.

{"logits": x, "past": [k, v]}  ->  logits, past_0, past_1
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any, cast

from moir.files.json_fields import Fields

_DEEPEST = 64
"""Structures that are nested more deeply have no names."""


def output_names(module: Fields, tensors: list[str]) -> list[str]:
    """A name for each output of a program.

    An output in a dictionary, or in a class with named fields, is named by its keys, and by its indices in lists
    within these. Any other output, and one whose name would not be unique, has the name of its tensor.

    Args:
        module: the `graph_module` of the program, whose first call has the structure as text.
        tensors: the names of the tensors, empty for an output that is not a tensor.
    """
    calls = list(module.objects("module_call_graph"))
    signature = calls[0].fields("signature", {}) if calls else None
    text = signature.text("out_spec", "") if signature is not None else ""
    paths = list(_paths(text, module.fields("treespec_namedtuple_fields", {})))
    if len(paths) != len(tensors):
        return tensors
    named = ["_".join(path) for path in paths]
    count = Counter(named)
    return [name if name and count[name] == 1 and (name == tensor or name not in tensors) else tensor
            for name, tensor in zip(named, tensors, strict=True)]  # fmt: skip


def _paths(text: str, fields: Fields) -> Iterator[list[str]]:
    """The keys from the first name in the structure to each leaf, in order; none if `text` is not JSON of a structure.

    `fields` has the names of the fields of each class.
    """
    try:
        content: Any = json.loads(text)
    except (ValueError, RecursionError):
        return
    versioned = cast("list[Any]", content) if isinstance(content, list) else []
    root = cast("Any", versioned[-1] if versioned else content)
    remaining: list[tuple[Any, list[str]]] = [(root, [])]
    while remaining:
        spec, path = remaining.pop()
        if not isinstance(spec, dict) or len(path) > _DEEPEST:
            continue
        entries = cast("dict[str, Any]", spec)
        children: Any = entries.get("children_spec")
        if entries.get("type") is None or not isinstance(children, list):
            yield path
            continue
        inner = cast("list[Any]", children)
        keys = _keys(entries, fields, len(inner))
        following = [[*path, keys[index]] if keys else [*path, str(index)] if path else path for index in range(len(inner))]
        remaining += reversed(list(zip(inner, following, strict=True)))


def _keys(spec: dict[str, Any], fields: Fields, count: int) -> list[str]:
    """The names of the `count` children of a structure; empty for a list, a tuple, and any structure without names.

    `fields` has the names of the fields of each class.
    """
    context = spec.get("context")
    if not isinstance(context, str):
        return []
    keys: Any = None
    if context in fields.content:
        keys = fields.fields(context).list("field_names")
    elif context.startswith("["):
        try:
            keys = json.loads(context)
        except (ValueError, RecursionError):
            return []
    listed = cast("list[Any]", keys) if isinstance(keys, list) else []
    return [*map(str, listed)] if len(listed) == count and all(isinstance(key, str | int) for key in listed) else []
