"""Two models on the same samples: the outputs, and on demand the inner tensors that have the same names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from xdsl.ir import Operation

from moir.dialects.memory_map import Array
from moir.errors import ExecutionError, UsageError
from moir.execution.ports import matched, only_model
from moir.execution.values import named_values
from moir.inspection.tables import Shown, Table
from moir.tools.agreement.samples import Sample
from moir.tools.agreement.statistics import AgreementOfTensor, TensorAgreement

if TYPE_CHECKING:
    from moir.execution.runner import Runner


class Agreement(Shown):
    """How far two models agree on samples.

    Args:
        reference: the runtime of the first model.
        runtime: that of the second one.
        samples: how many samples were run.
        outputs: the agreement of each output.
        tensors: that of the inner tensors, those that agree least first.
        worst: the sample with the largest relative difference of an output, and this difference; None without samples.
    """

    reference: str
    runtime: str
    samples: int
    outputs: tuple[TensorAgreement, ...]
    tensors: tuple[TensorAgreement, ...] = ()
    worst: tuple[str, float] | None = None

    @property
    def relative(self) -> float:
        """The largest relative difference of an output."""
        return max((each.relative if each.relative is not None else each.differing or 0.0 for each in self.outputs), default=0.0)

    def tables(self) -> list[Table]:
        count = f"{self.samples} sample{'' if self.samples == 1 else 's'}"
        worst = "" if self.worst is None or self.samples < 2 else f"; least agreement: {self.worst[0]}, {self.worst[1]:.2g}"
        tables = [_table(f"outputs on {count}: {self.runtime} against {self.reference}{worst}", self.outputs)]
        return tables + ([_table("inner tensors, those that agree least first", self.tensors)] if self.tensors else [])


def _table(title: str, tensors: Iterable[TensorAgreement]) -> Table:
    rows = tuple(
        (
            each.name,
            each.operation,
            each.type,
            _number(each.relative),
            _number(each.largest),
            "" if each.same_largest is None else f"{each.same_largest:.2%}",
            "" if each.differing is None else f"{each.differing:.2%}",
        )
        for each in tensors
    )
    columns = ("tensor", "operation", "type", "relative", "largest difference", "same largest", "differing")
    kept = [index for index in range(len(columns)) if index in (0, 2) or any(row[index] for row in rows)]
    return Table(title, tuple(columns[index] for index in kept), tuple(tuple(row[index] for index in kept) for row in rows))


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def agreement_of(
    reference: Runner,
    converted: Runner,
    samples: Iterable[Sample],
    *,
    with_tensors: bool = False,
    ended: Callable[[int], None] | None = None,
) -> Agreement:
    """Run two models on the same samples, one after the other.

    Args:
        reference: the runner of the model.
        converted: the runner of its IR.
        samples: arrays for the inputs of the model.
        with_tensors: whether to compare inner tensors, too.
        ended: called with the number of samples so far, after each.

    Raises UsageError if there is no sample or an input of the IR has none, ExecutionError for a runtime that fails and
    for outputs of other shapes.
    """
    reference.keeps = converted.keeps = True
    names = _shared_tensors(reference, converted) if with_tensors else {}
    outputs: dict[str, AgreementOfTensor] = {}
    tensors = {name: AgreementOfTensor(name, operation) for name, operation in names.items()}
    worst: tuple[str, float] | None = None
    count = 0
    for sample in samples:
        expected = reference.run(sample.arrays, list(names))
        actual = converted.run(_inputs(converted, reference, sample.arrays), list(names))
        largest = 0.0
        for ours, theirs in _outputs(converted, reference):
            if ours not in actual or theirs not in expected:
                raise ExecutionError(f"there is no output {theirs!r}")
            alone = AgreementOfTensor(theirs)
            try:
                outputs.setdefault(theirs, AgreementOfTensor(theirs)).add(actual[ours], expected[theirs])
                alone.add(actual[ours], expected[theirs])
            except ValueError as error:
                raise ExecutionError(f"{sample.label}: output {theirs!r}: {error}") from error
            of_sample = alone.result()
            largest = max(largest, of_sample.relative if of_sample.relative is not None else of_sample.differing or 0.0)
        for name, tensor in list(tensors.items()):
            try:
                tensor.add(actual[name], expected[name])
            except (KeyError, ValueError):
                # The runtime does not have it, or another tensor has its name.
                del tensors[name]
        worst = (sample.label, largest) if worst is None or largest > worst[1] else worst
        count += 1
        if ended is not None:
            ended(count)
    if not count:
        raise UsageError("there are no samples", hint="give some with --data")
    inner = sorted((each.result() for each in tensors.values()), key=lambda each: -(each.relative or 0.0))
    return Agreement(reference.title, converted.title, count, tuple(each.result() for each in outputs.values()), tuple(inner), worst)


def _inputs(converted: Runner, reference: Runner, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """The arrays for the inputs of the IR: found by name, or by position where the names of model and IR differ."""
    ports = converted.interface.inputs
    by_name = {name: arrays[port.name] for port in reference.interface.inputs for name in port.names}
    if len(ports) == len(arrays) and not all(any(name in by_name for name in port.names) for port in ports):
        return dict(zip([port.name for port in ports], [arrays[port.name] for port in reference.interface.inputs], strict=True))
    return matched(by_name, ports, "input")


def _outputs(converted: Runner, reference: Runner) -> list[tuple[str, str]]:
    """Pairs of output names, in the IR and in the model, for outputs that correspond to each other."""
    ours, theirs = converted.interface.outputs, reference.interface.outputs
    by_name = {name: port.name for port in theirs for name in port.names}
    pairs = [(port.name, next((by_name[name] for name in port.names if name in by_name), "")) for port in ours]
    if all(name for _, name in pairs):
        return pairs
    if len(ours) != len(theirs):
        raise UsageError(f"the IR has {len(ours)} outputs, the model {len(theirs)}, and their names differ")
    return [(port.name, other.name) for port, other in zip(ours, theirs, strict=True)]


def _shared_tensors(reference: Runner, converted: Runner) -> dict[str, str]:
    """The names of inner tensors that both models have, each with the kind of the operation of the IR that
    computes it.
    """
    values = named_values(only_model(converted.module).block, constants=False, nodes=False)
    known = set(reference.tensors)
    return {name: owner.name for name, value in values.items() if name in known and isinstance(owner := value.owner, Operation)}
