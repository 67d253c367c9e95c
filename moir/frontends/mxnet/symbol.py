"""A symbol, `-symbol.json` -> its nodes, in the form that all versions of MXNet have in common.

    {"nodes": [{"op": "null", "name": "data", "inputs": []},
               {"op": "Activation", "name": "act", "attrs": {"act_type": "relu"}, "inputs": [[0, 0, 0]]}],
     "arg_nodes": [0], "heads": [[1, 0, 0]]}

Attributes are under `param`, `attr` or `attrs`, by version. Their texts become Python values.

Source: symbol JSON of MXNet 0.7 to 1.9, legacy_json_util.cc.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, cast

from moir.errors import ModelFileError
from moir.files.json_texts import parsed_graph
from moir.files.reading import map_content

MAXIMUM_RESULTS = 10_000
"""Largest number of results of a node."""

ORDERING = frozenset(("argsort", "sort", "topk", "_npi_argsort", "_npi_sort", "_npx_topk"))
"""Operations whose axis is the last one by default; the text `None` means the flattened data, so it is not dropped."""

Value: TypeAlias = "bool | int | float | str | list[Any]"

_LONGEST_INTEGER = 20
"""Characters of the longest integer of 64 bits, with its sign."""
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$")
_LIST = re.compile(r"[(\[][-+\d.eE,\s]*[)\]]$")
_CONSTANTS = {"True": True, "False": False, "true": True, "false": False}


class Node(NamedTuple):
    """A node.

    Args:
        kind: its operation; `null` for a variable.
        name: its name.
        attributes: its attributes as Python values; those that are None are absent.
        hidden: the attributes of the form `__name__`, which describe a variable, by their names without underscores.
        inputs: for each operand, the index of the node that computes it and the index of its result.
        subgraphs: the graphs of control flow.
    """

    kind: str
    name: str
    attributes: dict[str, Value]
    hidden: dict[str, str]
    inputs: list[tuple[int, int]]
    subgraphs: list[Symbol]


class Symbol(NamedTuple):
    """A graph: its nodes, each after its operands, and the results that are its outputs."""

    nodes: list[Node]
    heads: list[tuple[int, int]]


def read_symbol(path: Path, model: Path | None = None) -> Symbol:
    """Read a symbol. Raises ModelFileError if the file is damaged or is not a symbol."""
    content = parsed_graph(map_content(path, model), path, "a symbol")
    return _symbol(content, path)


def _symbol(content: Any, path: Path) -> Symbol:
    fields = cast("dict[str, Any]", content if isinstance(content, dict) else {})
    entries: Any = fields.get("nodes")
    if not isinstance(entries, list):
        raise ModelFileError("not a symbol: it has no list of nodes", location=str(path))
    nodes = [_node(entry, index, path) for index, entry in enumerate(cast("list[Any]", entries))]
    heads = _references(fields.get("heads"), len(nodes), "the heads", path)
    return Symbol(nodes, heads or ([(len(nodes) - 1, 0)] if nodes else []))


def _node(entry: Any, index: int, path: Path) -> Node:
    fields = cast("dict[str, Any]", entry if isinstance(entry, dict) else {})
    if not isinstance(fields.get("op"), str) or not isinstance(fields.get("name"), str):
        raise ModelFileError(f"node {index} has no op and no name", location=str(path))
    texts: dict[str, str] = {}
    for field in ("attr", "param", "attrs"):
        if isinstance(texts_of_field := fields.get(field), dict):
            texts |= {str(key): str(value) for key, value in cast("Mapping[Any, Any]", texts_of_field).items()}
    hidden = {key[2:-2]: text for key, text in texts.items() if key.startswith("__") and key.endswith("__") and len(key) > 4}
    # The rate of learning of a weight is on the node that has the weight.
    own = {key: text for key, text in texts.items() if f"__{key[2:-2]}__" != key and not key.endswith(("_lr_mult", "_wd_mult"))}
    attributes = {key: value for key, text in own.items() if (value := value_of_text(text)) is not None}
    if own.get("axis") == "None" and fields["op"] in ORDERING:
        attributes["axis"] = "None"
    references = _references(fields.get("inputs"), index, f"the inputs of {fields['name']!r}", path)
    listed: Any = fields.get("subgraphs") or []
    if not isinstance(listed, list):
        raise ModelFileError(f"the subgraphs of {fields['name']!r} are not a list", location=str(path))
    subgraphs = [_symbol(each, path) for each in cast("list[Any]", listed)]
    # Operations on sparse tensors compute the same, under another name.
    return Node(fields["op"].removeprefix("_sparse_"), fields["name"], attributes, hidden, references, subgraphs)


def _references(entries: Any, before: int, what: str, path: Path) -> list[tuple[int, int]]:
    """Check references to results of nodes, which have to be nodes with an index below `before`; returns pairs (node,
    result).

    `what` and `path` are for messages.
    """
    references: list[tuple[int, int]] = []
    for each in cast("Sequence[Any]", entries if isinstance(entries, list) else []):
        pair = cast("Sequence[Any]", each[:2] if isinstance(each, list) else [])
        if len(pair) != 2 or not all(isinstance(part, int) and part >= 0 for part in pair) or pair[1] >= MAXIMUM_RESULTS:
            raise ModelFileError(f"{what}: {each!r} is not a reference to a result", location=str(path))
        if pair[0] >= before:
            raise ModelFileError(f"{what}: node {pair[0]} is not before them", location=str(path), hint="nodes are in order of execution")
        references.append((pair[0], pair[1]))
    return references


def value_of_text(text: str) -> Value | None:
    """The value that the text of an attribute stands for; None for the text None.

    Lists of numbers become lists; texts that are not values of Python, and lists with None in them, stay texts.
    Integers beyond 64 bits, which no attribute has, stay texts, too.
    """
    text = text.strip()
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if text == "None":
        return None
    if _NUMBER.match(text):
        if set(text) & set(".eE"):
            return float(text)
        return int(text) if len(text) <= _LONGEST_INTEGER and _fits(int(text)) else text
    if _LIST.match(text):
        try:
            values = [value if isinstance(value, int) else float(value) for value in ast.literal_eval(text)]
        except (ValueError, SyntaxError, TypeError, OverflowError, RecursionError, MemoryError):
            return text
        return values if all(isinstance(value, float) or _fits(value) for value in values) else text
    return text


def _fits(value: int) -> bool:
    """Whether an integer has at most 64 bits, with its sign."""
    return -(1 << 63) <= value < 1 << 63
