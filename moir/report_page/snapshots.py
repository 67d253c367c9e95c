"""The states of a module during a conversion, as data that the page of a report draws."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, OpResult
from xdsl.printer import Printer

from moir.analysis.provenance import Source, all_sources
from moir.dialects.assembly import print_value
from moir.dialects.data import DataAttr
from moir.dialects.moir import models_of
from moir.dialects.names import name_of, split_names, tensor_names_of
from moir.report_page.weights import described

_LONGEST_TEXT = 400
"""The largest number of characters of a text in a record."""

_HAVE_FIELDS = frozenset(("name", "tensor_names"))
"""Attributes that are left out of a record's list of attributes, because they have fields of their own."""

State = list[dict[str, Any]]
"""The state of a module: for each of its models a dictionary with its `name` and the indices of the records of its
`operations`.
"""


class Snapshots:
    """The states of the module of one conversion.

    A state lists records. An operation that is the same in several states has one record; one that is changed in place
    gets a new record with the same number.
    """

    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []
        """The data of an operation for the page: its number `id`, `kind`, `name`, `operands` (number of the producer,
        index of the result), result `types`, `tensors` (their names), `attributes`, whether it is a `constant`, its
        `weights` (see `moir.report_page.weights`), `sources` (name and kind of the nodes it comes from), `bodies`."""
        self.states: list[State] = []
        self._numbers: dict[Operation, int] = {}
        self._latest: dict[Operation, tuple[tuple[object, ...], int]] = {}
        self._texts: dict[int, tuple[Attribute, str]] = {}
        self._weights: dict[int, tuple[DataAttr, dict[str, Any]]] = {}
        self._sources: dict[Operation, tuple[Source, ...]] = {}

    def number(self, op: Operation) -> int:
        """The number of an operation, the same in all states."""
        return self._numbers.setdefault(op, len(self._numbers))

    def identify(self, operations: Mapping[Operation, Operation]) -> None:
        """Give each operation (key) the number of its counterpart (value) in another module."""
        for op, other in operations.items():
            self._numbers[op] = self.number(other)

    def add(self, module: ModuleOp, *, even_if_equal: bool = False) -> bool:
        """Add the state of a module, unless it equals the last one; returns whether it was added."""
        self._sources = all_sources(module)
        state = [{"name": model.sym_name.data, "operations": self._block(model.block)} for model in models_of(module)]
        if self.states and self.states[-1] == state and not even_if_equal:
            return False
        self.states.append(state)
        return True

    def _block(self, block: Block) -> list[int]:
        return [self._record(op) for op in block.ops]

    def _record(self, op: Operation) -> int:
        """The index of the record of an operation in its present state; a record is added if there is none."""
        bodies = [self._block(block) for region in op.regions for block in region.blocks]
        sources = self._sources.get(op, ())
        fields = (op.operands, op.properties.items(), op.attributes.items(), op.result_types)
        signature = (*map(tuple, fields), sources, bodies)
        known = self._latest.get(op)
        # Most operations are unchanged; equal tuples of the same objects are found out without looking into them.
        if known is not None and known[0] == signature:
            return known[1]
        number = len(self.records)
        self.records.append(self._described(op, sources, bodies))
        self._latest[op] = (signature, number)
        return number

    def _described(self, op: Operation, sources: Sequence[Source], bodies: list[list[int]]) -> dict[str, Any]:
        unregistered = op.attributes.get("op_name__")
        record: dict[str, Any] = {
            "id": self.number(op),
            "kind": op.name if unregistered is None else str(unregistered).strip('"'),
            "name": name_of(op) or "",
            "operands": [[self.number(each.op), each.index] for each in op.operands if isinstance(each, OpResult)],
            "types": [self._text(each) for each in op.result_types],
        }
        tensors = [", ".join(split_names(each)) for each in tensor_names_of(op)]
        if any(tensors):
            record["tensors"] = tensors
        if attributes := self._attributes((*op.properties.items(), *op.attributes.items())):
            record["attributes"] = attributes
        data = [each for each in op.properties.values() if isinstance(each, DataAttr)]
        if data and not op.operands:
            record["constant"] = True
            record["weights"] = self._described_weights(data[0])
        if sources and sources != (Source(record["name"], record["kind"]),):
            record["sources"] = [[each.node, each.operation] for each in sources]
        if bodies:
            record["bodies"] = bodies
        return record

    def _attributes(self, attributes: Iterable[tuple[str, Attribute]]) -> dict[str, str]:
        return {name: self._text(attribute) for name, attribute in attributes if name not in _HAVE_FIELDS}

    def _described_weights(self, data: DataAttr) -> dict[str, Any]:
        known = self._weights.get(id(data))
        if known is None:
            known = self._weights[id(data)] = (data, described(data))
        return known[1]

    def _text(self, attribute: Attribute) -> str:
        known = self._texts.get(id(attribute))
        if known is None:
            stream = StringIO()
            print_value(Printer(stream), attribute)
            # Keeps the attribute alive, since its `id` is the key.
            known = self._texts[id(attribute)] = (attribute, shortened(stream.getvalue()))
        return known[1]


def shortened(text: str) -> str:
    """A text, cut if it is longer than the limit."""
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}…"
