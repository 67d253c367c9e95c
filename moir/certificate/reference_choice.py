"""What computes the tensors of a model for its certificate: the framework's runtime, or else the lowered model."""

from __future__ import annotations

from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from moir.certificate.pieces import Cut, cuts_of
from moir.certificate.recorded_conversion import RecordedConversion
from moir.certificate.reference_values import ReferenceValues, inputs_of
from moir.errors import MoirError
from moir.execution.choice import framework_runner
from moir.execution.openvino_runtime import OpenVinoRunner
from moir.execution.runner import Runner
from moir.options import ConversionOptions
from moir.support.records import Record


class ChosenReference(Record):
    """The reference of a conversion.

    Args:
        source: the model that it computes.
        cuts: the values of the IR that are tensors of this model.
        title: the runtime that computes it, with its version.
        values: the values of its tensors; None if no runtime computes them.
        missing: why none does; empty if one does.
        notes: sentences on what is not judged with this reference.
    """

    source: ModuleOp
    cuts: tuple[Cut, ...]
    title: str
    values: ReferenceValues | None
    missing: str
    notes: tuple[str, ...]


def chosen_reference(model: Path, conversion: RecordedConversion, options: ConversionOptions, seed: int) -> ChosenReference:
    """The reference of a conversion.

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
            reference = _reference(runner, conversion, seed, ())
            if reference.values is not None:
                return reference
            notes.append(f"the lowering of the model was not judged: {reference.missing}")
    return _reference(OpenVinoRunner(conversion.base), conversion, seed, tuple(notes))


def _reference(runner: Runner, conversion: RecordedConversion, seed: int, notes: tuple[str, ...]) -> ChosenReference:
    cuts = tuple(cuts_of(runner.module, conversion.module))
    try:
        values = ReferenceValues(runner, inputs_of(runner, conversion.base, conversion.module, seed))
        values.begin(cuts)
    except MoirError as error:
        return ChosenReference(runner.module, cuts, runner.title, None, error.reason, notes)
    title = runner.title if runner.module is conversion.source else f"the model after {conversion.stage}, on {runner.title}"
    return ChosenReference(runner.module, cuts, title, values, "", notes)
