"""A PIR file, `.json` -> its operations, with each field checked.

    {"base_code": {"magic": "pir", "version": 4}, "program": {"regions": [{"blocks": [{"args": [], "ops": […]}]}]}}

Source: serialize_deserialize of PaddlePaddle 3.3 (paddle/fluid/pir).
"""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import Any, NamedTuple, cast

from moir.errors import ModelFileError
from moir.files.json_texts import parsed_graph

NEWEST_VERSION = 4
"""The newest version of the format that is known."""
MAXIMUM_DEPTH = 100
"""Largest nesting of regions."""

PARAMETER = "parameter"
"""The kind given here to operations that declare a parameter, which the file abbreviates."""


class Value(NamedTuple):
    """A result: its id, the element types and dimensions of its tensors, and whether it is a list of them."""

    number: int
    types: list[tuple[str, list[int]]]
    is_list: bool


class PirOperation(NamedTuple):
    """An operation.

    Args:
        dialect: its dialect: `0` builtin, `1` pd_op, `2` control flow.
        kind: its kind in the dialect.
        operands: the ids of its operands, 0 for an absent one.
        results: its results.
        attributes: its attributes as Python values.
        regions: its regions, of one block each.
    """

    dialect: str
    kind: str
    operands: list[int]
    results: list[Value]
    attributes: dict[str, Any]
    regions: list[PirBlock]


class PirBlock(NamedTuple):
    """A block: the ids of its arguments, and its operations."""

    arguments: list[int]
    operations: list[PirOperation]


class PirProgram(NamedTuple):
    """A program: its block, and the names of the parameters that have values in the stream."""

    block: PirBlock
    parameters: list[str]


def read_program(path: Path, mapped: mmap.mmap) -> PirProgram:
    """Read a PIR file. Raises ModelFileError if the file is damaged, or is not a PIR file."""
    content = parsed_graph(mapped, path, "a PIR program", hint="the file is damaged or incomplete")
    return _Reader(path).program(content)


class _Reader:
    """Reads the content of one file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._parameters: list[str] = []
        self._names: set[str] = set()

    def program(self, content: Any) -> PirProgram:
        """The program that the outermost JSON object of a file contains. Raises ModelFileError for another format or
        version.
        """
        header = self._fields(self._fields(content, "the file").get("base_code"), "base_code")
        version = header.get("version")
        if header.get("magic") != "pir" or not isinstance(version, int):
            raise self._error("it has no header of PIR")
        if version > NEWEST_VERSION:
            reason = f"it has version {version} of the format, {NEWEST_VERSION} is the newest that is known"
            raise ModelFileError(reason, location=str(self._path), hint="save the model with an older PaddlePaddle")
        program = self._fields(content.get("program"), "program")
        regions = self._list(program.get("regions"), "the regions of the program")
        if len(regions) != 1:
            raise self._error(f"the program has {len(regions)} regions, not one")
        return PirProgram(self._block(regions[0], 0), self._parameters)

    def _block(self, region: Any, depth: int) -> PirBlock:
        if depth > MAXIMUM_DEPTH:
            raise self._error(f"regions are nested more than {MAXIMUM_DEPTH} deep")
        blocks = self._list(self._fields(region, "a region").get("blocks"), "the blocks of a region")
        if len(blocks) > 1:
            raise self._error(f"a region has {len(blocks)} blocks, not one")
        if not blocks:
            return PirBlock([], [])
        block = self._fields(blocks[0], "a block")
        arguments = [self._argument(each) for each in self._list(block.get("args", []), "the arguments of a block")]
        return PirBlock(arguments, [self._operation(each, depth) for each in self._list(block.get("ops"), "the operations of a block")])

    def _operation(self, entry: Any, depth: int) -> PirOperation:
        fields = self._fields(entry, "an operation")
        name = fields.get("#")
        if not isinstance(name, str):
            raise self._error("an operation has no kind")
        if name == "p":
            return self._parameter(fields)
        dialect, _, kind = name.partition(".")
        if not kind:
            raise self._error(f"the kind {name!r} of an operation has no dialect")
        what = f"operation {name!r}"
        operands = [self._number(each, f"an operand of {what}") for each in self._list(fields.get("I", []), f"the operands of {what}")]
        results = [self._value(each, what) for each in self._list(fields.get("O", []), f"the results of {what}")]
        attributes: dict[str, Any] = {}
        for each in self._list(fields.get("A", []), f"the attributes of {what}"):
            attribute = self._fields(each, f"an attribute of {what}")
            if not isinstance(attribute.get("N"), str):
                raise self._error(f"an attribute of {what} has no name")
            attributes[attribute["N"]] = self._attribute(attribute.get("AT"), what, 0)
        regions = [self._block(each, depth + 1) for each in self._list(fields.get("regions", []), f"the regions of {what}")]
        return PirOperation(dialect, kind, operands, results, attributes, regions)

    def _parameter(self, fields: dict[str, Any]) -> PirOperation:
        """The operation that declares a parameter, from its fields: A = [is_distributed, is_parameter, need_clip,
        name], OA = [persistable, …].

        Raises ModelFileError if it has no name.
        """
        listed, flags = self._list(fields.get("A"), "a parameter"), self._list(fields.get("OA", []), "a parameter")
        name = listed[-1] if listed else None
        if not isinstance(name, str):
            raise self._error("a parameter has no name")
        value = self._value(fields.get("O"), f"parameter {name!r}")
        is_stored = bool(flags[0]) if flags else True
        if is_stored and name not in self._names:
            self._names.add(name)
            self._parameters.append(name)
        return PirOperation("0", PARAMETER, [], [value], {"name": name, "is_stored": is_stored}, [])

    def _value(self, entry: Any, what: str) -> Value:
        fields = self._fields(entry, f"a result of {what}")
        number, type_ = self._number(fields, f"a result of {what}"), self._fields(fields.get("TT", {}), f"a type of {what}")
        is_list = type_.get("#") == "0.t_vec"
        members = self._list(type_.get("D"), f"a type of {what}") if is_list else [type_]
        return Value(number, [self._type(each, what) for each in members], is_list)

    def _type(self, entry: Any, what: str) -> tuple[str, list[int]]:
        """The name of the element type and the dimensions of a tensor, or of the tensors of an array; an empty name for
        any other type.

        `entry` is the JSON of the type; `what` names its owner in the ModelFileError for a malformed one.
        """
        fields = self._fields(entry, f"a type of {what}")
        if fields.get("#") not in ("0.t_dtensor", "1.t_dense_tensor_array"):
            return "", []
        parts = self._list(fields.get("D"), f"a type of {what}")
        if len(parts) < 2:
            raise self._error(f"a type of {what} has no dimensions")
        element = self._fields(parts[0], f"an element type of {what}").get("#")
        sizes = self._list(parts[1], f"a type of {what}")
        if not isinstance(element, str) or not all(type(size) is int and -(1 << 63) <= size < 1 << 63 for size in sizes):
            raise self._error(f"a type of {what} is not a tensor")
        return element, [max(size, -1) for size in sizes]

    def _attribute(self, entry: Any, what: str, depth: int) -> Any:
        """The value of an attribute: a number, a text, or a list of them; None for a place, layout, type or name.

        Args:
            entry: the JSON of the attribute.
            what: its owner, for the ModelFileError for a malformed one.
            depth: the number of lists around it.
        """
        fields = self._fields(entry, f"an attribute of {what}")
        # Numbers that JSON cannot write, such as INF, are texts under another name.
        kind, value = fields.get("#"), fields.get("D", fields.get("VD"))
        if kind in ("0.a_array", "1.a_intarray") and depth < MAXIMUM_DEPTH:
            items = self._list(value, f"an attribute of {what}")
            return [self._attribute(each, what, depth + 1) if isinstance(each, dict) else self._plain(each, what) for each in items]
        if kind in ("1.a_place", "1.a_layout", "0.a_type", "0.a_pointer", "0.a_tensorname"):
            return None
        if kind in ("0.a_f32", "0.a_f64") and isinstance(value, str | int):
            return self._float(value, what)
        if kind == "1.a_scalar" and isinstance(value, dict):
            return self._attribute(value, what, depth + 1)
        return self._plain(value, what)

    def _float(self, value: str | int, what: str) -> float:
        """A float, which the file may write as an integer, or as text if JSON has no notation for it.

        Raises ModelFileError, which names `what`, for any other text.
        """
        try:
            return float(value)
        except (ValueError, OverflowError):
            raise self._error(f"an attribute of {what} is not a number") from None

    def _plain(self, value: Any, what: str) -> Any:
        if value is None or isinstance(value, bool | float | str):
            return value
        if isinstance(value, int) and -(1 << 63) <= value < 1 << 63:
            return value
        raise self._error(f"an attribute of {what} is of an unknown form")

    def _argument(self, entry: Any) -> int:
        number = self._fields(entry, "an argument of a block").get("#")
        if type(number) is not int:
            raise self._error("an argument of a block has no number")
        return number

    def _number(self, entry: Any, what: str) -> int:
        number = self._fields(entry, what).get("%")
        if type(number) is not int:
            raise self._error(f"{what} has no number")
        return number

    def _fields(self, entry: Any, what: str) -> dict[str, Any]:
        if not isinstance(entry, dict):
            raise self._error(f"{what} is not an object")
        return cast("dict[str, Any]", entry)

    def _list(self, entry: Any, what: str) -> list[Any]:
        if not isinstance(entry, list):
            raise self._error(f"{what} are not a list")
        return cast("list[Any]", entry)

    def _error(self, reason: str) -> ModelFileError:
        return ModelFileError(reason, location=str(self._path), hint="the file is damaged, or not a PIR program of PaddlePaddle")
