"""What becomes of a model file on its way through moir and OpenVINO Runtime, by outcome.

    judge(path, inputs, expected) -> Judgement(Outcome.EQUAL, "")

A refusal is a ConversionError. It is legal, and so is a fault of the plugin that docs/plugin-faults.md lists; every
outcome that is in DEFECTS is a mistake of moir or of the runtime.
"""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import numpy as np
import openvino

import moir
from moir.dialects import element_types
from moir.errors import ConversionError
from tests.numerical.runtime import PACKED, Array, core, infer, load_tokenizers, prepared
from tests.numerical.workers import Died, Say


class Outcome(StrEnum):
    """What became of a case."""

    EQUAL = "equal"
    REFUSED = "refused"
    WRONG = "wrong"
    REJECTED = "rejected by the reader"
    UNCOMPILED = "does not compile"
    FAILED = "does not run"
    CRASH = "crash"
    HANG = "hang"
    INTERNAL = "internal error"
    FAULT = "fault of the plugin"
    INAPPLICABLE = "not applicable"


DEFECTS = frozenset(Outcome) - {Outcome.EQUAL, Outcome.REFUSED, Outcome.FAULT, Outcome.INAPPLICABLE}

Compare = Callable[[openvino.Model, Sequence[Array]], str]
"""What differs between a model with its results and what is expected, as a sentence; empty if nothing does."""


@dataclass(frozen=True)
class Judgement:
    """An outcome, and what was said about it."""

    outcome: Outcome
    message: str = ""


def last_line(error: BaseException) -> str:
    """The part of a message that says most: of the runtime the last line, without its place in the source."""
    lines = [line.strip() for line in str(error).strip().splitlines() if line.strip()]
    return (lines[-1] if lines else type(error).__name__)[:300]


def innermost(error: BaseException) -> str:
    """An exception of moir itself: its type, text, and the place it was raised at."""
    while error.__cause__ is not None:
        error = error.__cause__
    frames = traceback.extract_tb(error.__traceback__)
    place = next((frame for frame in reversed(frames) if "/moir/" in frame.filename), frames[-1] if frames else None)
    where = f" ({Path(place.filename).name}:{place.lineno})" if place else ""
    return f"{type(error).__name__}: {last_line(error)}{where}"


def judge(path: Path, inputs: Mapping[str, Array], difference: Compare, say: Say) -> Judgement:
    """Convert a model file, run the result in OpenVINO Runtime and compare.

    Args:
        path: the model; the IR is written beside it.
        inputs: by the name of the input.
        difference: compares the results.
        say: is told each stage before it begins, for a stage that does not come back.
    """
    xml = path.with_suffix(".xml")
    say("convert")
    try:
        moir.save_model(moir.convert_model(path), xml)
    except ConversionError as error:
        return Judgement(Outcome.REFUSED, str(error)[:400])
    except Exception as error:
        return Judgement(Outcome.INTERNAL, innermost(error))
    say("read")
    if "runtime_extensions" in xml.read_text(encoding="utf-8"):
        load_tokenizers()
    try:
        model = core().read_model(xml)
    except Exception as error:
        return Judgement(Outcome.REJECTED, last_line(error))
    lost = {parameter.get_node().get_friendly_name() for parameter in model.inputs} ^ set(inputs)
    if lost:
        return Judgement(Outcome.WRONG, f"inputs lost or added: {', '.join(sorted(lost))}")
    unranked = [name_of(port) for port in model.inputs if port.get_partial_shape().rank.is_dynamic]
    say("compile")
    try:
        compiled = prepared(model, inputs)
    except Exception as error:
        message = last_line(error)
        if UNKNOWN_RANK in message and (refusal := refused_with_ranks(path, {name: inputs[name].ndim for name in unranked})):
            return Judgement(Outcome.REFUSED, f"with known ranks: {refusal}")
        if UNKNOWN_RANK in message and runs_with_sizes(xml, inputs, difference):
            return Judgement(Outcome.FAULT, f"compiles with known sizes only: {message}")
        if UNKNOWN_RANK in message and runs_with_ranks(path, {name: inputs[name].ndim for name in unranked}, inputs, difference):
            return Judgement(Outcome.FAULT, f"compiles if the conversion knows the ranks only: {message}")
        return Judgement(Outcome.UNCOMPILED, message)
    say("run")
    try:
        results = infer(model, compiled, inputs)
    except Exception as error:
        return Judgement(Outcome.FAILED, last_line(error))
    say("compare")
    text = difference(model, results)
    return Judgement(Outcome.WRONG, text) if text else Judgement(Outcome.EQUAL)


UNKNOWN_RANK = "operation with dynamic rank"
"""What the plugin says of intermediate results whose rank depends on sizes: docs/plugin-faults.md."""


def refused_with_ranks(path: Path, ranks: Mapping[str, int]) -> str:
    """Why a model is refused that is told the ranks that it does not say; empty if it is not, or says all ranks.

    The IR of such a model is right, and runs if the inputs have other ranks.
    """
    if not ranks:
        return ""
    try:
        moir.convert_model(path, input={name: [-1] * rank for name, rank in ranks.items()})
    except ConversionError as error:
        return str(error)[:400]
    return ""


def runs_with_sizes(xml: Path, inputs: Mapping[str, Array], difference: Compare) -> bool:
    """Whether a model that does not compile does so, and is right, once it knows the sizes of its inputs."""
    model = core().read_model(xml)
    try:
        model.reshape(
            {port.get_any_name(): openvino.PartialShape(list(inputs[port.get_node().get_friendly_name()].shape)) for port in model.inputs}
        )
        return not difference(model, infer(model, core().compile_model(model, "CPU"), inputs))
    except RuntimeError:
        return False


def runs_with_ranks(path: Path, ranks: Mapping[str, int], inputs: Mapping[str, Array], difference: Compare) -> bool:
    """Whether a model that does not compile does so, and is right, if it is converted with the ranks that it does not say."""
    if not ranks:
        return False
    xml = path.with_name("with_ranks.xml")
    moir.save_model(moir.convert_model(path, input={name: [-1] * rank for name, rank in ranks.items()}), xml)
    model = core().read_model(xml)
    try:
        return not difference(model, infer(model, core().compile_model(model, "CPU"), inputs))
    except RuntimeError:
        return False


def name_of(port: openvino.Output) -> str:
    """The name of an input of a model."""
    return port.get_node().get_friendly_name()


def interface_difference(model: openvino.Model, inputs: Sequence[str], outputs: Sequence[str], expected: Sequence[Array]) -> str:
    """How the inputs and outputs of a model differ from those of its source: names, order, element types, ranks, dimensions."""
    actual = [port.get_node().get_friendly_name() for port in model.inputs]
    if actual != list(inputs):
        return f"inputs are {', '.join(actual)} instead of {', '.join(inputs)}"
    if len(model.outputs) != len(outputs):
        return f"{len(model.outputs)} outputs instead of {len(outputs)}"
    for port, name, wanted in zip(model.outputs, outputs, expected, strict=True):
        if name not in port.get_names():
            return f"an output is named {', '.join(sorted(port.get_names())) or 'nothing'} instead of {name}"
        shape = port.get_partial_shape()
        if not shape.compatible(openvino.PartialShape(list(wanted.shape))):
            return f"{name}: the IR says shape {shape} where it is {list(wanted.shape)}"
        type_ = port.get_element_type()
        if type_.is_static() and not same_type(type_, wanted):
            return f"{name}: the IR says element type {type_.to_string()} instead of {wanted.dtype}"
    return ""


def same_type(type_: openvino.Type, array: Array) -> bool:
    """Whether an element type of the runtime is that of an array."""
    if array.dtype.kind in "OUS":
        return type_ == openvino.Type.string
    if type_.to_string() in PACKED:
        return PACKED[type_.to_string()] == array.dtype
    return element_types.to_numpy(element_types.from_xml(type_.to_string())) == array.dtype


def mismatch(result: Array, wanted: Array, rtol: float, atol: float) -> str:
    """How a result differs from what is expected, as a sentence; empty if it does not.

    Element types, shapes, strings, integers and booleans must be equal, NaNs stand in the same places, floats within
    `atol + rtol * abs(wanted)`.
    """
    if result.shape != wanted.shape:
        return f"shape {list(result.shape)} instead of {list(wanted.shape)}"
    if wanted.dtype.kind in "OUS":
        unequal = np.array([str(a) != str(b) for a, b in zip(result.ravel(), wanted.ravel(), strict=True)], bool)
        left, right = result.ravel(), wanted.ravel()
    elif result.dtype != wanted.dtype:
        return f"element type {result.dtype} instead of {wanted.dtype}"
    elif wanted.dtype.kind in "fV":
        left, right = result.astype(np.float64).ravel(), wanted.astype(np.float64).ravel()
        unequal = ~np.isclose(left, right, rtol=rtol, atol=atol, equal_nan=True)
    elif wanted.dtype.kind == "c":
        left, right = result.ravel(), wanted.ravel()
        unequal = ~np.isclose(left, right, rtol=rtol, atol=atol, equal_nan=True)
    else:
        left, right = result.ravel(), wanted.ravel()
        unequal = left != right
    if not unequal.any():
        return ""
    first = int(np.argmax(unequal))
    return f"{int(unequal.sum())} of {unequal.size} elements, element {first} is {left[first]} instead of {right[first]}"


def counts(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """How often each outcome occurs, in the order of the definition; those that do not occur are left out."""
    counter = Counter(outcomes)
    return {outcome.value: counter[outcome] for outcome in Outcome if counter[outcome]}


def died(death: Died) -> Judgement:
    """The judgement of a case whose worker did not come back."""
    return Judgement(Outcome.HANG if death.hung else Outcome.CRASH, f"{death.reason} during {death.stage or 'the start'}")
