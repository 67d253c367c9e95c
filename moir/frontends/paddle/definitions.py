"""The operands and results of PaddlePaddle's operations: one table for programs (ProgramDesc) and for PIR.

A program names its operands, and a number may be an attribute, a tensor or a list of tensors; PIR counts its operands,
and all of these are operands. In the `paddle` dialect an operation has the kind and the attributes of the program and
the operands in PIR's manner:

    slice {starts = [1]}(Input)  |  slice(Input, StartsTensorList: a, b)     in a program
    pd_op.slice(x, starts)       |  pd_op.slice(x, builtin.combine(a, b))    in PIR
->  paddle.slice(x, starts)      |  paddle.slice(x, paddle.combine(a, b))
"""

from __future__ import annotations

from functools import cache

from moir.frontends.paddle.definition_table import TABLE
from moir.support.records import Record


class Part(Record):
    """An operand of a kind.

    Args:
        attribute: the attribute of a program that it may be; empty if it never is one.
        name: its name in a program.
        joined: the name of the list of tensors with one element each that a program may have in its place.
        is_list: whether it stands for any number of operands.
    """

    attribute: str
    name: str
    joined: str
    is_list: bool


class Definition(Record):
    """The operands and results of a kind.

    Args:
        kind: the kind of the program, which is that of the dialect.
        pir: the kind in PIR; empty if it has none.
        operands: the operands in the order of the dialect; lists are last.
        positions: the index of the dialect's operand for each operand of PIR, -1 for an operand that is left out.
        results: the names of the results, for kinds with several.
        renamed: the attributes of programs by those of PIR, where the names differ.
    """

    kind: str
    pir: str
    operands: tuple[Part, ...]
    positions: tuple[int, ...]
    results: tuple[str, ...]
    renamed: dict[str, str]

    @property
    def list_count(self) -> int:
        """The number of operands that are lists."""
        return sum(part.is_list for part in self.operands)


def _part(text: str) -> Part:
    """Parse an operand in the table: `Name`, `*Name` for a list, `attribute|Name|List+` with any of the three left
    out.
    """
    if text.startswith("*"):
        return Part("", text[1:], "", is_list=True)
    attribute = name = joined = ""
    first, *others = text.split("|")
    if others:
        attribute = first
    else:
        others = [first]
    for each in others:
        if each.endswith("+"):
            joined = each[:-1]
        else:
            name = each
    return Part(attribute, name, joined, is_list=False)


def _definitions(row: str) -> list[Definition]:
    """The definitions of a row of the table, one for each of its kinds."""
    head, _, rest = row.partition(":")
    body, *renamings = rest.split(";")
    inputs, _, outputs = body.partition("->")
    parts = tuple(_part(each) for each in inputs.split())
    pairs = [each.partition("=") for text in renamings for each in text.split()]
    renamed = {new: old for new, _, old in pairs}
    indices = {part.attribute or part.name or part.joined: index for index, part in enumerate(parts)}
    definitions: list[Definition] = []
    for name in head.split():
        kind, separator, pir = name.partition("=")
        pir, _, order = pir.partition("(")
        pir = pir or (kind if separator else "")
        positions = tuple(indices.get(each, -1) for each in order.rstrip(")").split(",")) if order else tuple(range(len(parts)))
        definitions.append(Definition(kind, pir, parts, positions, tuple(outputs.split()), renamed))
    return definitions


@cache
def _by_kind() -> tuple[dict[str, Definition], dict[str, Definition]]:
    """All definitions: by the kinds of programs (ProgramDesc), and by the kinds of PIR."""
    rows: list[str] = []
    for line in TABLE.strip().splitlines():
        if line.startswith(" "):
            rows[-1] += line
        elif line and not line.startswith("#"):
            rows.append(line)
    definitions = [definition for row in rows for definition in _definitions(row)]
    return {each.kind: each for each in definitions}, {each.pir: each for each in definitions if each.pir}


def definition_of(kind: str) -> Definition | None:
    """The definition of a kind of a program; None if there is none."""
    return _by_kind()[0].get(kind)


def definition_of_pir(kind: str) -> Definition | None:
    """The definition of a kind of PIR; None if there is none.

    The suffix `_` of a kind, which means that it works in place, is ignored.
    """
    table = _by_kind()[1]
    return table.get(kind) or (table.get(kind[:-1]) if kind.endswith("_") else None)
