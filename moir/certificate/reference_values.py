"""The values of the tensors of a model on random inputs, computed with a limited amount of memory at a time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from xdsl.dialects.builtin import ModuleOp

from moir.certificate.pieces import Cut
from moir.dialects.memory_map import Array
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.shapes import shape_of
from moir.execution.inputs import random_inputs
from moir.execution.integer_ranges import ranges_by_use
from moir.execution.ports import interface_of
from moir.execution.runner import Runner

MOST_BYTES = 512 << 20
"""The maximum number of bytes of tensors that are kept. A model with larger tensors is executed several times."""

DYNAMIC = 16
"""The assumed size of a dynamic dimension in the estimate of a tensor's size."""


class ReferenceValues:
    """Computes the tensors of a model in one execution, a limited number of bytes at a time.

    Args:
        runner: runs the model.
        inputs: its inputs, by the first names of its ports.
    """

    def __init__(self, runner: Runner, inputs: Mapping[str, Array]) -> None:
        self._runner = runner
        self._inputs = dict(inputs)
        self._known: dict[str, Array] = {}
        self._absent: set[str] = set()
        self._names = {name: port.name for port in runner.interface.inputs for name in port.names}
        self.runs = 0
        """Number of executions."""

    def begin(self, cuts: Iterable[Cut]) -> None:
        """Compute the first tensors, and the outputs. Raises ExecutionError if the model cannot be run."""
        self._fetch((), cuts)

    def of(self, cuts: Sequence[Cut], upcoming: Iterable[Cut]) -> dict[str, Array]:
        """The values of some tensors by name; without those that the runtime does not have.

        Args:
            cuts: the tensors.
            upcoming: the tensors that will be asked for after them, in order.

        Raises ExecutionError if the model cannot be run.
        """
        if any(self._value(cut) is None and cut.name not in self._absent for cut in cuts):
            self._fetch(cuts, upcoming)
        return {cut.name: value for cut in cuts if (value := self._value(cut)) is not None}

    def _value(self, cut: Cut) -> Array | None:
        """The value of a tensor, by its name or, if the runtime does not know this name, by the name of the output.

        Returns None if it was not computed, or the runtime lacks both names.
        """
        if cut.name in self._names:
            return self._inputs[self._names[cut.name]]
        return next((self._known[name] for name in (cut.name, *cut.outputs) if name in self._known), None)

    def _fetch(self, cuts: Sequence[Cut], upcoming: Iterable[Cut]) -> None:
        """Run the model once for the tensors `cuts`, and for as many of the `upcoming` ones as fit in the limit of
        bytes.

        The arrays of earlier calls are dropped.
        """
        wanted: dict[str, None] = {}
        size = 0
        for number, cut in enumerate((*cuts, *upcoming)):
            if cut.name in wanted or cut.name in self._names or cut.name in self._absent or is_constant(cut):
                continue
            size += _bytes(cut)
            if size > MOST_BYTES and number >= len(cuts):
                break
            wanted[cut.name] = None
        self._known = {}
        self._known = self._runner.run(self._inputs, list(wanted))
        self.runs += 1
        self._absent.update(name for name in wanted if name not in self._known)


def is_constant(cut: Cut) -> bool:
    """Whether a tensor is a constant in the model and in the IR."""
    return isinstance(cut.source.owner, Constant) and isinstance(cut.value.owner, Constant)


def _bytes(cut: Cut) -> int:
    """An estimate of the size of a tensor, in bytes."""
    return 4 * math.prod(DYNAMIC if size < 0 else size for size in shape_of(cut.value) or (DYNAMIC,))


def inputs_of(runner: Runner, lowered: ModuleOp, module: ModuleOp, seed: int) -> dict[str, Array]:
    """Random inputs of a model, by the first names of its ports.

    Args:
        runner: runs the model.
        lowered: the lowered model, from which the ranges of integers follow.
        module: the converted model, whose shapes are those that the options ask for.
        seed: the seed.

    Raises UsageError for an input of dynamic rank or of an element type that cannot be drawn.
    """
    ports = runner.interface.inputs
    declared = {name: port.shape for port in interface_of(module).inputs if port.shape is not None for name in port.names}
    shapes = {
        port.name: shape
        for port in ports
        if (shape := next((declared[name] for name in port.names if name in declared), None)) is not None
        and (port.shape is None or len(port.shape) == len(shape))
    }
    return random_inputs(ports, seed, shapes, ranges_by_use(lowered))
