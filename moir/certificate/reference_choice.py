"""The choice of the reference for a certificate: the framework's runtime, or else the lowered model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from moir.certificate.lowered_cuts import pairs_of_lowered
from moir.certificate.pieces import Cut, cuts_of
from moir.certificate.recorded_conversion import RecordedConversion
from moir.certificate.reference_values import ReferenceValues, inputs_of
from moir.conversion import run
from moir.errors import MoirError
from moir.execution.choice import framework_runner
from moir.execution.openvino_runtime import OpenVinoRunner
from moir.execution.runner import Runner
from moir.options import ConversionOptions
from moir.pipeline import deferred
from moir.support.records import Record
from moir.targets.known_faults import faults_of
from moir.targets.record import Form
from moir.targets.registry import OPENVINO_CPU

FATAL = ("ends the process", "out of bounds")
"""Words in the records of faults that may end the process."""


class ChosenReference(Record):
    """The reference of a conversion.

    Args:
        source: the model that it computes.
        cuts: the values of the IR that are tensors of this model.
        title: the runtime that computes it, with its version.
        values: the values of its tensors; None if no runtime computes them.
        missing: why none does; empty if one does.
        notes: sentences on what is not judged with this reference.
        is_lowered: whether this model is the lowered one.
    """

    source: ModuleOp
    cuts: tuple[Cut, ...]
    title: str
    values: ReferenceValues | None
    missing: str
    notes: tuple[str, ...]
    is_lowered: bool


def chosen_reference(model: Path, conversion: RecordedConversion, options: ConversionOptions, seed: int) -> ChosenReference:
    """Choose the reference for a certificate: the model in the framework's runtime, or else the lowered model.

    Args:
        model: the model.
        conversion: the conversion.
        options: the options of the conversion.
        seed: the seed of random inputs.
    """
    notes: list[str] = []
    if conversion.changing:
        notes.append(f"what is before {conversion.changing[-1]} was not judged: it changes on request what the model computes")
    else:
        runner = framework_runner(model, conversion.source, conversion.framework, options)
        if runner is None:
            notes.append(f"the lowering of the model was not judged: no runtime executes models of {conversion.framework.title} here")
        else:
            cuts = cuts_of(runner.module, conversion.module)
            reference = _reference(runner, conversion, runner.module, cuts, seed, ())
            if reference.values is not None:
                return reference
            notes.append(f"the lowering of the model was not judged: {reference.missing}")
    cuts = cuts_of(conversion.base, conversion.module, pairs_of_lowered(conversion.base, conversion.module))
    return _reference(OpenVinoRunner(safe(conversion.base)), conversion, conversion.base, cuts, seed, tuple(notes))


def safe(module: ModuleOp) -> ModuleOp:
    """A copy of a lowered model in which only faults that may end the process are avoided by forms.

    Otherwise the model is computed as it was lowered.
    """
    copy = module.clone()
    records = (record for fault, record in faults_of(OPENVINO_CPU) if any(each in fault.instead for each in FATAL))
    names = {record.name for record in records if isinstance(record, Form)}
    run(copy, [deferred(name) for name in OPENVINO_CPU.every_form if name in names])
    return copy


def _reference(
    runner: Runner, conversion: RecordedConversion, source: ModuleOp, cuts: Sequence[Cut], seed: int, notes: tuple[str, ...]
) -> ChosenReference:
    """The reference that a runner gives, with the reason in `missing` if it cannot run the model.

    Args:
        runner: runs the model.
        conversion: the conversion.
        source: the model, as it was read or lowered.
        cuts: the values of the IR that are tensors of the model.
        seed: the seed of random inputs.
        notes: sentences on what is not judged with it.
    """
    is_lowered = source is conversion.base
    try:
        values = ReferenceValues(runner, inputs_of(runner, conversion.base, conversion.module, seed))
        values.begin(cuts)
    except MoirError as error:
        return ChosenReference(source, tuple(cuts), runner.title, None, error.reason, notes, is_lowered)
    title = f"the model after {conversion.stage}, on {runner.title}" if is_lowered else runner.title
    return ChosenReference(source, tuple(cuts), title, values, "", notes, is_lowered)
