"""Short texts about a model: its inputs and outputs with types and shapes, and its operations by kind.

image: f32[batch,1,8,8]      logits: f32[?,10]      12 operations: 3 Conv, 3 Relu, 2 Add and 4 other kinds
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from moir.dialects import element_types
from moir.dialects.discardable import DIMENSION_NAMES
from moir.dialects.framework import decode_kind
from moir.dialects.moir import PARAMETER, RESULT, ModelOp, models_of
from moir.dialects.names import name_of, names_of
from moir.dialects.properties import value_of
from moir.dialects.shapes import element_of, shape_of
from moir.frameworks import FRAMEWORKS
from moir.support.records import Record

_LONGEST_TEXT = 80
_NO_COMPUTATION = ("builtin.module", "moir.model", "moir.none", PARAMETER, RESULT, "opset1.Constant")


class Port(Record):
    """An input or an output of a model.

    Args:
        name: its name, empty if it has none.
        element: its element type, as `f32`.
        dimensions: its dimensions as texts: a number, a name, or `?` for an unknown one; None if the rank is dynamic.
    """

    name: str
    element: str
    dimensions: tuple[str, ...] | None

    def __str__(self) -> str:
        dimensions = "..." if self.dimensions is None else ",".join(self.dimensions)
        return f"{self.name}: {self.element}[{dimensions}]"


def inputs_of(model: ModelOp) -> list[Port]:
    """The inputs of a model, in order."""
    return [_port(op, op.results[0]) for op in model.block.ops if op.name == PARAMETER]


def outputs_of(model: ModelOp) -> list[Port]:
    """The outputs of a model, in order."""
    return [_port(op, op.operands[0]) for op in model.block.ops if op.name == RESULT]


def _port(op: Operation, value: SSAValue) -> Port:
    shape = shape_of(value)
    given = op.attributes.get(DIMENSION_NAMES)
    names: list[str] = [] if given is None or shape is None else list(value_of(given))
    names += [""] * (len(shape or ()) - len(names))
    dimensions = None if shape is None else tuple(str(d) if d >= 0 else name or "?" for d, name in zip(shape, names, strict=True))
    name = name_of(op) or next(iter(names_of(value)), "")
    element = element_of(value)
    # A parsed text may have types that the IR does not have.
    return Port(name, element_types.describe(element).xml if element_types.is_element_type(element) else str(element), dimensions)


def operations_of(module: ModuleOp) -> Iterator[Operation]:
    """The operations that compute, in all models and bodies: no constants, inputs and outputs."""
    is_computation = computations()
    return (op for op in module.walk() if is_computation(op.name))


def computations() -> Callable[[str], bool]:
    """A function that returns, for the name of an operation, whether such operations compute, as constants, inputs and
    outputs do not.
    """
    constants = {f"{each.dialect}.{each.constant_kind}" for each in FRAMEWORKS.values()}
    return lambda name: name not in _NO_COMPUTATION and name.lower() not in constants


def count_kinds(module: ModuleOp) -> Counter[str]:
    """The number of operations of each kind, where the kind is the name without the dialect."""
    return Counter(decode_kind(op.name.partition(".")[2]) for op in operations_of(module))


def describe_kinds(kinds: Counter[str], limit: int = 6) -> str:
    """The `limit` most common kinds, each with its count, and the number of the others: "3 Conv, 2 Relu and 4 other
    kinds".
    """
    shown = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common(limit))
    others = len(kinds) - limit
    return f"{shown} and {others} other kind{'s' if others > 1 else ''}" if others > 0 else shown


def describe_module(module: ModuleOp, limit: int = 4) -> str:
    """A module on one line: the inputs and outputs of each model, at most `limit` each, and all operations."""
    parts: list[str] = []
    for model in models_of(module):
        ports = [_first_and_count([str(port) for port in each], limit) for each in (inputs_of(model), outputs_of(model))]
        parts.append(f"{_shortened(model.sym_name.data)}({ports[0]}) -> ({ports[1]})")
    kinds = count_kinds(module)
    count = kinds.total()
    parts.append(f"{count} operation{'' if count == 1 else 's'}{f': {describe_kinds(kinds)}' if kinds else ''}")
    return "; ".join(parts)


def _first_and_count(texts: list[str], limit: int) -> str:
    """The first `limit` of the texts, separated by commas, and the number of the others."""
    others = len(texts) - limit
    return ", ".join(map(_shortened, texts[:limit])) + (f" and {others} more" if others > 0 else "")


def _shortened(text: str) -> str:
    """A text on one line without control characters, cut where it is long: names in a model come from untrusted
    files.
    """
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…"
