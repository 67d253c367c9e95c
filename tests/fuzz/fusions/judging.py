"""What becomes of a model: converted by moir, run in a process of its own, compared with ONNX Runtime."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol, runtime_checkable

import numpy as np
import onnx
import onnxruntime

import moir
from moir.errors import ConversionError
from moir.targets.registry import INSTRUCTION_LIMIT
from tests.fuzz.case import Case, Source
from tests.fuzz.comparison import values_differ
from tests.fuzz.draw import Array, NoCase
from tests.fuzz.fusions.execution import WITHOUT_WIDE_SUMS, Run, Switches, executed
from tests.fuzz.fusions.rounding import REPETITIONS, changed, is_rounding, moved
from tests.fuzz.onnx_model import OnnxModel
from tests.fuzz.plugin_faults import fault_of
from tests.numerical.outcomes import Judgement, Outcome, innermost

TEMPORARY = Path("/dev/shm")
"""Where models are written, if it exists."""


@dataclass(frozen=True)
class Model:
    """A model with inputs.

    Args:
        source: the model.
        inputs: values of its inputs, by name.
        outputs: the names of its outputs.
        expected: its results, in the order of its outputs.
    """

    source: Source
    inputs: Mapping[str, Array]
    outputs: Sequence[str]
    expected: Sequence[Array]

    @property
    def proto(self) -> onnx.ModelProto:
        """The model, which is one of ONNX."""
        assert isinstance(self.source, OnnxModel)
        return self.source.proto


@runtime_checkable
class Changeable(Protocol):
    """A source that says what small changes of its values do."""

    def changed(self, seed: int) -> Source:
        """The model with other values, by a few times the error of rounding."""
        ...


@runtime_checkable
class Rounding(Protocol):
    """A source that says itself which differences are rounding, as one whose values are integers does."""

    def is_rounded(self, inputs: Mapping[str, Array], results: Sequence[Array], expected: Sequence[Array]) -> bool:
        """Whether results differ from the expected ones by no more than rounding."""
        ...


@dataclass(frozen=True)
class Conversion:
    """How models are converted.

    Args:
        without: names of passes that are left out.
        target: the target.
    """

    without: tuple[str, ...] = ()
    target: str = "openvino-cpu"


@dataclass(frozen=True)
class Verdict:
    """A judgement, and how far results are off.

    Args:
        judgement: outcome and message.
        error: the largest difference, as a part of the largest number of the result; 1 if shapes differ.
        of_floats: whether a result of floats differs.
    """

    judgement: Judgement
    error: float = 0.0
    of_floats: bool = False


def model_of_onnx(proto: onnx.ModelProto, inputs: Mapping[str, Array]) -> Model:
    """A model of ONNX with what ONNX Runtime computes. Raises NoCase if it does not."""
    return Model(OnnxModel(proto, {}), inputs, [each.name for each in proto.graph.output], reference(proto, inputs))


def model_of(case: Case) -> Model:
    """The model of a case with what the runtime of its framework computes. Raises NoCase if it does not."""
    return Model(case.source, case.inputs, case.outputs, _expected(case.source, case.inputs))


def _expected(source: Source, inputs: Mapping[str, Array]) -> list[Array]:
    if isinstance(source, OnnxModel):
        return reference(source.proto, inputs)
    name, compute = source.references()[0]
    try:
        return compute(inputs)
    except Exception as error:
        raise NoCase(f"{name}: {error}") from error


def reference(proto: onnx.ModelProto, inputs: Mapping[str, Array]) -> list[Array]:
    """What ONNX Runtime computes, one operation after the other. Raises NoCase if it does not."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return [np.asarray(each) for each in session.run(None, dict(inputs))]
    except Exception as error:
        raise NoCase(f"the reference: {error}") from error


def recorded(proto: onnx.ModelProto, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """The values of a model by their names, those of its inputs included."""
    every = onnx.ModelProto()
    every.CopyFrom(proto)
    del every.graph.output[:]
    names = [name for node in proto.graph.node for name in node.output if name]
    every.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    return {**inputs, **dict(zip(names, reference(every, inputs), strict=True))}


def judged(model: Model, conversion: Conversion, switches: Switches) -> Verdict:
    """Convert a model, run it in a process of its own and compare."""
    with _folder() as folder:
        xml = _converted(model, conversion, switches, folder)
        if isinstance(xml, Judgement):
            return Verdict(xml)
        run = _run(xml, model, switches)
        if excuse := _excuse(run, xml, model, switches):
            return Verdict(Judgement(Outcome.FAULT, f"{excuse}: {run.message}"))
        if run.outcome != Outcome.EQUAL:
            return Verdict(Judgement(run.outcome, run.message))
        text = values_differ(model.outputs, run.results, model.expected)
        if not text or is_rounded(model, run.results) or _agrees_elsewhere(model, run.results):
            return Verdict(Judgement(Outcome.EQUAL))
        if fault := fault_of(model.source, model.inputs, run.results, model.expected):
            return Verdict(Judgement(Outcome.FAULT, f"{fault}: {text}"))
        if switches.instructions in WITHOUT_WIDE_SUMS and quantizes(model) and _is_right_in_floats(xml, model, switches):
            return Verdict(Judgement(Outcome.FAULT, f"sums of products in 16 bits: {text}"))
        return Verdict(Judgement(Outcome.WRONG, text), *_errors(run.results, model.expected))


def results_of(model: Model, conversion: Conversion, switches: Switches) -> Sequence[Array] | None:
    """The results of a model that is converted and runs in a process of its own; None if it is not or does not."""
    with _folder() as folder:
        xml = _converted(model, conversion, switches, folder)
        run = Run(xml.outcome) if isinstance(xml, Judgement) else _run(xml, model, switches)
        return run.results if run.outcome == Outcome.EQUAL else None


@contextmanager
def _folder() -> Iterator[Path]:
    with TemporaryDirectory(dir=TEMPORARY if TEMPORARY.is_dir() else None) as folder:
        yield Path(folder)


def _converted(model: Model, conversion: Conversion, switches: Switches, folder: Path) -> Path | Judgement:
    """The IR of a model, written to a folder; why there is none."""
    path = model.source.save(folder)
    xml = path.with_suffix(".xml")
    try:
        with _limited(switches.instructions):
            moir.save_model(moir.convert_model(path, disable=list(conversion.without), target=conversion.target), xml)
    except ConversionError as error:
        return Judgement(Outcome.REFUSED, str(error)[:400])
    except Exception as error:
        return Judgement(Outcome.INTERNAL, innermost(error))
    return xml


@contextmanager
def _limited(instructions: str) -> Iterator[None]:
    """Sets the limit of the instruction set for a conversion, as some forms of the target depend on it."""
    before = os.environ.get(INSTRUCTION_LIMIT)
    os.environ[INSTRUCTION_LIMIT] = instructions
    try:
        yield
    finally:
        del os.environ[INSTRUCTION_LIMIT]
        if before is not None:
            os.environ[INSTRUCTION_LIMIT] = before


def _run(xml: Path, model: Model, switches: Switches) -> Run:
    return executed(xml, model.inputs, model.outputs, model.expected, switches)


def _excuse(run: Run, xml: Path, model: Model, switches: Switches) -> str:
    """Why a refusal is none of the plugin as it comes; empty if it may be one."""
    if run.outcome == Outcome.UNCOMPILED and switches.snippets != "ENABLE":
        runs_otherwise = _run(xml, model, Switches(switches.instructions)).outcome == Outcome.EQUAL
        return "without snippets" if runs_otherwise else ""
    return ""


def _is_right_in_floats(xml: Path, model: Model, switches: Switches) -> bool:
    run = _run(xml, model, Switches(switches.instructions, switches.snippets, floats=True))
    return run.outcome == Outcome.EQUAL and (
        not values_differ(model.outputs, run.results, model.expected) or is_rounded(model, run.results)
    )


QUANTIZING = frozenset(("QuantizeLinear", "DequantizeLinear", "FakeQuantWithMinMaxArgs"))
"""Operations of quantized values."""


def quantizes(model: Model) -> bool:
    """Whether a model has quantized values."""
    return not QUANTIZING.isdisjoint(model.source.contents(model.inputs).kinds)


def is_rounded(model: Model, results: Sequence[Array]) -> bool:
    """Whether results differ from the expected ones no more than the reference under small changes of its values."""
    if isinstance(model.source, Rounding):
        return model.source.is_rounded(model.inputs, results, model.expected)
    try:
        return is_rounding(results, model.expected, list(_results_of_changes(model)))
    except NoCase:
        return False


def _results_of_changes(model: Model) -> Iterator[list[Array]]:
    """What the reference computes of models with small changes: of the inputs, in ONNX of all values, and of what is
    quantized where the source can say it.

    Raises NoCase if it does not compute one.
    """
    arrays = recorded(model.proto, model.inputs) if isinstance(model.source, OnnxModel) else {}
    for seed in range(REPETITIONS):
        inputs = {name: moved(array, seed) for name, array in model.inputs.items()}
        if arrays:
            # Also without the change of the inputs, which may undo that of the values: a scale that grows with its data.
            program = changed(model.proto, arrays, seed)
            yield from (reference(program, each) for each in (model.inputs, inputs))
        else:
            source = model.source.changed(seed) if isinstance(model.source, Changeable) else model.source
            yield _expected(source, inputs)


def _agrees_elsewhere(model: Model, results: Sequence[Array]) -> bool:
    """Whether another runtime, or other kernels, of the framework compute the results: then the framework has no one result."""
    if isinstance(model.source, OnnxModel):
        return False
    for _, compute in model.source.references()[1:]:
        with suppress(Exception):
            if not values_differ(model.outputs, results, compute(model.inputs)):
                return True
    return False


def _errors(results: Sequence[Array], expected: Sequence[Array]) -> tuple[float, bool]:
    """The largest difference of results as a part of the largest number, and whether a result of floats differs by it."""
    error, of_floats = 0.0, False
    for actual, wanted in zip(results, expected, strict=True):
        if actual.shape != wanted.shape:
            return 1.0, True
        if not wanted.size:
            continue
        exact = wanted.astype(np.float64)
        part = float(np.max(np.abs(actual.astype(np.float64) - exact)) / max(float(np.max(np.abs(exact))), 1e-6))
        if not part <= error:
            error, of_floats = part, wanted.dtype.kind == "f"
    return error, of_floats
