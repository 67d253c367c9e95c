"""The inputs and outputs of a model, by name and by position."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from xdsl.ir import Operation, OpResult, SSAValue

from moir.dialects.moir import PARAMETER, RESULT, ModelOp
from moir.dialects.names import name_of, names_of
from moir.errors import UsageError
from moir.support.suggestions import did_you_mean

T = TypeVar("T")


class ModelPorts:
    """The Parameters and Results of a model, in order.

    Args:
        model: the model.
    """

    def __init__(self, model: ModelOp) -> None:
        self.inputs: list[Operation] = [op for op in model.block.ops if op.name == PARAMETER]
        self.outputs: list[Operation] = [op for op in model.block.ops if op.name == RESULT]

    def assigned(self, values: Sequence[tuple[str, T]], what: str, *, outputs: bool = False) -> Iterator[tuple[Operation, T]]:
        """Match values to inputs; yields each Parameter (or Result) with its value.

        Args:
            values: pairs of an input's name and a value; without names, the values of all inputs in order.
            what: what the values are, for messages.
            outputs: whether names may be those of outputs.

        Raises UsageError for a name that no input has, if two names denote one input, or if the number of values
        without names is not that of the inputs.
        """
        if any(name for name, _ in values):
            return self._assigned_by_name(values, what, outputs)
        if len(values) != len(self.inputs):
            raise UsageError(
                f"{_counted(len(values), what)} and {_counted(len(self.inputs), 'input')} do not go together",
                hint=f"name the inputs of the model: {', '.join(map(name_of_port, self.inputs))}" if self.inputs else None,
            )
        return zip(self.inputs, (value for _, value in values), strict=True)

    def _assigned_by_name(self, values: Iterable[tuple[str, T]], what: str, outputs: bool) -> Iterator[tuple[Operation, T]]:
        names: dict[Operation, str] = {}
        ports = [*self.inputs, *(self.outputs if outputs else ())]
        for name, value in values:
            # The own name of a port precedes the names of its tensor: several outputs may share one tensor.
            known_as = next((each for each in ports if name == name_of(each)), None)
            port = known_as or next((each for each in ports if name in names_of_port(each)), None)
            if port is None:
                kind = "input or output" if outputs else "input"
                known = [each for port in ports for each in names_of_port(port)]
                otherwise = f"there are {', '.join(map(name_of_port, ports))}" if ports else None
                raise UsageError(f"no {kind} is named {name!r}, which has a {what}", hint=did_you_mean(name, known, otherwise))
            if port in names:
                raise UsageError(f"{names[port]!r} and {name!r} are names of one {port.name.partition('.')[2]}, which has two {what}s")
            names[port] = name
            yield port, value


def value_of_port(port: Operation) -> SSAValue:
    """The tensor of a Parameter or a Result."""
    return port.results[0] if port.results else port.operands[0]


def names_of_port(port: Operation) -> list[str]:
    """The names by which a Parameter or a Result is known: its own, those of its tensor, and the name of the node that
    produces it.
    """
    value = value_of_port(port)
    nodes = [name_of(port), *names_of(value), name_of(value.op) if isinstance(value, OpResult) else None]
    return list(dict.fromkeys(name for name in nodes if name is not None))


def name_of_port(port: Operation) -> str:
    """The first of the names of a Parameter or a Result; `?` if it has none."""
    return next(iter(names_of_port(port)), "?")


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
