"""Functions of Model Optimizer on lists and texts (`utils.utils`)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from moir.model_optimizer.graph.matching import equal
from moir.model_optimizer.graph.node import GraphNode

T = TypeVar("T")

dict_includes_compare_attrs = equal


class NamedAttrsClass:
    """An object with attributes.

    Args:
        class_attrs: their values by name.
    """

    def __init__(self, class_attrs: Mapping[str, Any]) -> None:
        for name, value in class_attrs.items():
            setattr(self, name, value)


def group_by_with_binary_predicate(xs: Sequence[T], predicate: Callable[[T, T], bool]) -> list[list[T]]:
    """The entries of a list in groups: a group ends where the predicate does not hold for an entry and the next
    one.
    """
    groups: list[list[T]] = []
    for entry in xs:
        if groups and predicate(groups[-1][-1], entry):
            groups[-1].append(entry)
        else:
            groups.append([entry])
    return groups


def unique_by(xs: Sequence[T], predicate: Callable[[T, T], bool]) -> list[T]:
    """The first entry of each group that `group_by_with_binary_predicate` makes."""
    return [group[0] for group in group_by_with_binary_predicate(xs, predicate)]


def array_to_str(node: GraphNode, attr: str) -> str | None:
    """A list attribute joined by commas, None if the node does not have it."""
    return ",".join(map(str, node[attr])) if node.has_valid(attr) else None


def check_values_equal(val1: Any, val2: Any) -> bool:
    """Whether two values are equal; both may be None."""
    return val1 is val2 if val1 is None or val2 is None else bool(val1 == val2)


def shrink_str_value(value: object, max_symbols: int = 100) -> str:
    """The text of a value, shortened."""
    text = str(value)
    return text if len(text) <= max_symbols else f"{text.strip()[: max_symbols - 3]}..."


def files_by_pattern(dir: str, pattern: str, files_only: bool = True, add_prefix: bool = False) -> list[str]:
    """The sorted names in a directory that a regular expression matches from the beginning.

    Args:
        dir: the directory.
        pattern: the regular expression.
        files_only: whether to leave out directories.
        add_prefix: whether to return paths, with `dir`, in place of names.
    """
    names = [name for name in sorted(os.listdir(dir)) if re.match(pattern, name)]
    paths = [(name, os.path.join(dir, name)) for name in names]
    return [path if add_prefix else name for name, path in paths if not files_only or os.path.isfile(path)]


def dict_includes(big: Mapping[str, Any], sub_dict: Mapping[str, Any], skip_attr_names: Iterable[str] = ()) -> bool:
    """Whether `big` has the entries of `sub_dict`, except those in `skip_attr_names`.

    If a value in `sub_dict` is a function, it is called with the value in `big` (None if absent), and its result
    decides.
    """
    skipped = set(skip_attr_names)
    return all(equal(big.get(name), wanted) for name, wanted in sub_dict.items() if name not in skipped)
