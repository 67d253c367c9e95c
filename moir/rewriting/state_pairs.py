"""Pairs of an input and an output that together become a variable, by the names that users write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from xdsl.ir import Block, SSAValue

from moir.dialects.names import name_of, names_of
from moir.dialects.opset.infrastructure import Parameter, Result
from moir.errors import ConversionError, UsageError
from moir.support.suggestions import did_you_mean

Port = TypeVar("Port", Parameter, Result)


def inputs_by_name(block: Block) -> dict[str, Parameter]:
    """The inputs of a model by their names and those of their tensors."""
    parameters = [op for op in block.ops if isinstance(op, Parameter)]
    return _ports_by_name(parameters, [op.results[0] for op in parameters])


def outputs_by_name(block: Block) -> dict[str, Result]:
    """The outputs of a model by their names and those of their tensors."""
    outputs = [op for op in block.ops if isinstance(op, Result)]
    return _ports_by_name(outputs, [op.operands[0] for op in outputs])


def _ports_by_name(operations: Sequence[Port], values: Sequence[SSAValue]) -> dict[str, Port]:
    """Inputs or outputs by their names and those of their tensors; the names of operations take precedence."""
    ports: dict[str, Port] = {}
    for op, value in zip(operations, values, strict=True):
        for name in names_of(value):
            ports.setdefault(name, op)
    return {**ports, **{name: op for op in operations if (name := name_of(op)) is not None}}


def split_pair(pair: str, inputs: Mapping[str, Parameter], outputs: Mapping[str, Result]) -> tuple[str, str]:
    """Split a pair INPUT=OUTPUT at the `=` where both sides are names; the names themselves may contain `=`.

    Raises UsageError for a text without `=`, ConversionError for names that are not among `inputs` and `outputs`.
    """
    offsets = [index for index, letter in enumerate(pair) if letter == "="]
    splits = [(pair[:index].strip(), pair[index + 1 :].strip()) for index in offsets]
    if not splits:
        raise UsageError(f"{pair!r} is not a pair of an input and an output", hint="write NAME=NAME")
    for source, target in splits:
        if source in inputs and target in outputs:
            return source, target
    source, target = splits[0]
    name, known, what = (target, outputs, "output") if source in inputs else (source, inputs, "input")
    raise ConversionError(f"the model has no {what} {name!r}", hint=did_you_mean(name, known, f"its {what}s are {', '.join(known)}"))
