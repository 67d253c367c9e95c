"""The JSON file of `--transformations-config`: which sub-graphs an extension replaces, and with which attributes.

    [{"id": "TFYOLO", "match_kind": "general", "custom_attributes": {"classes": 20, "coords": 4}}]

A list of objects. `id` links an entry with the class of that `replacement_id`, unless the entry has an `op`: then an
operation of this kind replaces the sub-graph. `match_kind` says how the sub-graph is found: `scope` by a common prefix
of the names of its nodes, `points` by the nodes at its ends; with `general` the class gets the whole graph. `inputs`
and `outputs` list the nodes of a scope that take its inputs and produce its outputs.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from moir.errors import ConversionError
from moir.files.reading import read_whole
from moir.model_optimizer.api.configuration.json_text import JsonValue, parse_json
from moir.model_optimizer.graph.graph import Graph
from moir.support.suggestions import did_you_mean, nearest

logger = logging.getLogger("moir")

MatchKind: TypeAlias = Literal["scope", "points", "general"]

CUSTOM_REPLACEMENTS = "custom_replacements"
"""The key of the descriptions, which are ordered by id, in `graph.graph`."""


@dataclass(frozen=True)
class NodePort:
    """A port of a node of the sub-graph; `node` is a regular expression for its name after that of the scope."""

    node: str
    port: int = 0


@dataclass(frozen=True)
class CustomReplacementDescriptor:
    """One entry of a configuration file.

    Args:
        id: the `id`, by which a class refers to the entry.
        match_kind: how the sub-graph is found.
        entry: the entry in the file.
        scopes: for `scope`: regular expressions for the beginning of names of nodes.
        start_points: for `points`: names of the nodes at which the sub-graph begins.
        end_points: for `points`: names of the nodes at which it ends.
        inputs: for each input tensor the ports that take it; None if the file does not say.
        outputs: the port that produces each output tensor; None if the file does not say.
        custom_attributes: attributes for the transformation.
        op: the `op` of the node that replaces the sub-graph, if no class is needed.
        include_inputs_to_sub_graph: whether the start points belong to the sub-graph.
        include_outputs_to_sub_graph: whether the end points belong to it.
    """

    id: str
    match_kind: MatchKind
    entry: JsonValue
    scopes: tuple[str, ...] = ()
    start_points: tuple[str, ...] = ()
    end_points: tuple[str, ...] = ()
    inputs: tuple[tuple[NodePort, ...], ...] | None = None
    outputs: tuple[NodePort, ...] | None = None
    custom_attributes: dict[str, Any] = field(default_factory=dict[str, Any])
    op: str | None = None
    include_inputs_to_sub_graph: bool = True
    include_outputs_to_sub_graph: bool = True

    def has(self, key: str) -> bool:
        """Whether the entry has a key."""
        return key in self.entry.items

    def sub_graph_instances(self) -> Any:
        """The value of the entry's key `instances`, as it is in the file."""
        return self.entry.value.get("instances")

    def get_inputs_description(self) -> list[list[dict[str, Any]]]:
        """The inputs of the sub-graph, as the file lists them."""
        return [[{"node": each.node, "port": each.port} for each in ports] for ports in self.inputs or ()]

    def get_outputs_description(self) -> list[dict[str, Any]]:
        """The outputs of the sub-graph, as the file lists them."""
        return [{"node": each.node, "port": each.port} for each in self.outputs or ()]

    def fail(self, reason: str, *path: str | int, hint: str | None = None) -> ConversionError:
        """An error that points to the entry, or to a value in it."""
        return self.entry.at(*path).fail(f"{self.id}: {reason}", hint)


Descriptions: TypeAlias = "dict[str, list[CustomReplacementDescriptor]]"


def load_configuration(path: str | Path) -> list[CustomReplacementDescriptor]:
    """The entries of a configuration file. Raises ConversionError, with line and column, for a file that is not a
    configuration."""
    return parse_configuration(read_configuration(path), str(path))


parse_custom_replacement_config_file = load_configuration


def read_configuration(path: str | Path) -> str:
    """The text of a configuration file."""
    try:
        return read_whole(Path(path), "a configuration of transformations").decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConversionError(f"the configuration file is not UTF-8: byte {error.start}", location=str(path)) from error


def parse_configuration(text: str, file: str = "configuration") -> list[CustomReplacementDescriptor]:
    """The entries of the text of a configuration file."""
    root = parse_json(text, file)
    _check(root, list, "the configuration", "a list of objects")
    return [_descriptor(entry) for entry in root.items.values()]


def descriptions_of(graph: Graph) -> Descriptions:
    """The descriptions that the configuration of a conversion contains, by id."""
    descriptions = graph.graph.get(CUSTOM_REPLACEMENTS)
    return {} if descriptions is None else cast("Descriptions", descriptions)


def by_id(descriptors: Sequence[CustomReplacementDescriptor]) -> Descriptions:
    """Descriptions by id, in the order of the file; each id has a list, because several descriptions may have the same
    id.
    """
    descriptions: Descriptions = {}
    for each in descriptors:
        descriptions.setdefault(each.id, []).append(each)
    return descriptions


_NAMES = {str: "a string", list: "a list", dict: "an object", int: "an integer", bool: "true or false"}


def _check(value: JsonValue, kind: type, what: str, expected: str = "") -> Any:
    given = value.value
    if not isinstance(given, kind) or (kind is int and isinstance(given, bool)):
        raise value.fail(f"{what} must be {expected or _NAMES[kind]}")
    return given


def _text(value: JsonValue, what: str) -> str:
    text = _check(value, str, what)
    if not text:
        raise value.fail(f"{what} is empty")
    return text


def _regular_expression(value: JsonValue, what: str) -> str:
    text = _text(value, what)
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise value.fail(f"{what} is not a regular expression: {error}") from None
    return text


def _texts(value: JsonValue, what: str, read: Callable[[JsonValue, str], str]) -> tuple[str, ...]:
    _check(value, list, what, "a list of strings")
    if not value.items:
        raise value.fail(f"{what} is empty")
    return tuple(read(item, f"an entry of {what}") for item in value.items.values())


def _node_port(value: JsonValue, what: str) -> NodePort:
    _check(value, dict, what, "an object with the keys node and port")
    if "node" not in value.items:
        raise value.fail(f"{what} has no key 'node'")
    node = _regular_expression(value.items["node"], f"the node of {what}")
    port = value.items.get("port")
    number = 0 if port is None else _check(port, int, f"the port of {what}")
    if port is not None and not 0 <= number < 1 << 16:
        raise port.fail(f"the port of {what} is {number}")
    return NodePort(node, number)


def _inputs(value: JsonValue, what: str) -> tuple[tuple[NodePort, ...], ...]:
    _check(value, list, what, "a list with a list of nodes and ports for each tensor")
    inputs: list[tuple[NodePort, ...]] = []
    for group in value.items.values():
        _check(group, list, "an input", "a list of nodes and ports")
        if not group.items:
            raise group.fail("an input is an empty list")
        inputs.append(tuple(_node_port(each, "an input") for each in group.items.values()))
    return tuple(inputs)


def _outputs(value: JsonValue, what: str) -> tuple[NodePort, ...]:
    _check(value, list, what, "a list of nodes and ports")
    return tuple(_node_port(each, "an output") for each in value.items.values())


def _attributes(value: JsonValue, what: str) -> dict[str, Any]:
    return dict(_check(value, dict, what))


def _flag(value: JsonValue, what: str) -> bool:
    return _check(value, bool, what)


_READERS: Mapping[str, Callable[[JsonValue, str], Any]] = {
    "custom_attributes": _attributes,
    "inputs": _inputs,
    "outputs": _outputs,
    "op": _text,
    "include_inputs_to_sub_graph": _flag,
    "include_outputs_to_sub_graph": _flag,
}
"""Optional key of an entry, which is a field of its descriptor -> a function that reads the value of the key."""

_KEYS = ("id", "match_kind", "instances", *_READERS)


def _required(entry: JsonValue, key: str, hint: str | None = None) -> JsonValue:
    if key not in entry.items:
        near = nearest(key, [str(name) for name in entry.items])
        raise entry.fail(f"the entry has no key {key!r}", f"it has {near[0]!r}" if near else hint)
    return entry.items[key]


def _descriptor(entry: JsonValue) -> CustomReplacementDescriptor:
    _check(entry, dict, "an entry of the configuration")
    id_ = _text(_required(entry, "id"), "the id")
    kind = _required(entry, "match_kind", "it is 'scope', 'points' or 'general'")
    if kind.value not in ("scope", "points", "general"):
        raise kind.fail(f"{id_}: the match_kind is {kind.value!r}", "it is 'scope', 'points' or 'general'")
    for key, value in entry.items.items():
        if key not in _KEYS:
            hint = did_you_mean(str(key), [name for name in _KEYS if name not in entry.items], similarity=0.75)
            if hint is not None:
                raise value.fail(f"{id_}: the key {key!r} has no meaning", hint)
            logger.warning("%s: %s: the key %r has no meaning", value.place, id_, key)
    fields = {key: read(entry.items[key], key) for key, read in _READERS.items() if key in entry.items}
    return CustomReplacementDescriptor(id_, kind.value, entry, **_instances(entry, kind.value), **fields)


def _instances(entry: JsonValue, kind: MatchKind) -> dict[str, tuple[str, ...]]:
    if kind == "general":
        return {}
    hint = "for 'scope' it is a list of regular expressions, for 'points' an object with start_points and end_points"
    instances = _required(entry, "instances", hint)
    if kind == "scope":
        return {"scopes": _texts(instances, "instances", _regular_expression)}
    _check(instances, dict, "instances of match_kind 'points'", "an object with start_points and end_points")
    return {key: _texts(_required(instances, key), key, _text) for key in ("start_points", "end_points")}
