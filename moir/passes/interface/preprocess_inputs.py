"""`preprocess-inputs`: channels are reversed, means subtracted, and the data divided, before the model.

    preprocess-inputs{mean-values="image(124,116,104)" scale=255.0 reverse-input-channels=true}

    %0 = opset1.Parameter() {name = "image"} : tensor<?x3x224x224xf32>
->  %0 = opset1.Parameter() {name = "image"} : tensor<?x3x224x224xf32>
    %1 = opset8.Gather(%0, [2, 1, 0], 1)
    %2 = opset1.Subtract(%1, [[[124]], [[116]], [[104]]])
    %3 = opset1.Divide(%2, 255)

The order is that of Model Optimizer: first the channels are reversed, so that means and divisors are those of the
channels of the model. The preprocessing is computed in the model's own layout and in floating point: if the model
converts an input of integers, after that Convert.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp
from xdsl.ir import Operation, SSAValue, Use

from moir.analysis.analyses import Analyses
from moir.analysis.constants import FLOATS
from moir.analysis.known_values import KnownValues
from moir.analysis.model_ports import ModelPorts, name_of_port
from moir.analysis.port_layouts import recorded_layout, requested_layouts
from moir.analysis.uses import live_uses
from moir.dialects.element_types import describe, to_numpy
from moir.dialects.inference import infer_block, set_type
from moir.dialects.moir import ModelOp, ModuleLevel, add_notes, model_around, models_of
from moir.dialects.properties import value_of
from moir.dialects.shapes import element_of, format_shape, shape_of, tensor
from moir.errors import UsageError
from moir.frameworks import FRAMEWORKS
from moir.parameters.channel_values import channel_values, divisors
from moir.parameters.layouts import Layout
from moir.passes.interface.channels import channel_axis
from moir.passes.interface.output_names import keep_output_name
from moir.rewriting.builder import OpBuilder
from moir.rewriting.reporting_pass import ReportingPass

COLORS = 3
"""The number of channels of an image whose red and blue can be exchanged."""

IMAGE_RANKS = (3, 4, 5)
"""The ranks of inputs that are taken for images if they have three channels."""

_FIRST = {2: "nc", 3: "chw", 4: "nchw", 5: "ncdhw"}
_LAST = {2: "nc", 3: "hwc", 4: "nhwc", 5: "ndhwc"}
"""By rank, the usual layouts of inputs in frameworks with the channels last."""


@dataclass
class Preprocessing:
    """The preprocessing of one input.

    Args:
        layout: the layout of the input in the model, if it is known.
        mean: the numbers that are subtracted: one for each channel, one for all, or none.
        scale: the divisors, likewise.
        reverses: whether the order of channels is reversed before.
        axis: the dimension of the channels, if it is needed.
    """

    layout: Layout | None = None
    mean: tuple[float, ...] = ()
    scale: tuple[float, ...] = ()
    reverses: bool = False
    axis: int | None = field(default=None, init=False)

    @property
    def count(self) -> int:
        """Number of channels with separate means or scales; 1 if all channels share one."""
        return max(len(self.mean), len(self.scale))


@dataclass(frozen=True)
class PreprocessInputsPass(ReportingPass):
    """Inserts preprocessing after inputs.

    Args:
        mean_values: the numbers that are subtracted from channels, as `image(124,116,104)`.
        scale_values: the divisors of channels, as `image(58,57,57)`.
        scale: the divisor of all inputs.
        reverse_input_channels: whether the channels of color images are reversed.
        layout, source_layout, target_layout: the layouts of inputs, see `set-layouts`.
    """

    name = "preprocess-inputs"

    mean_values: str = ""
    scale_values: str = ""
    scale: float | None = None
    reverse_input_channels: bool = False
    layout: str = ""
    source_layout: str = ""
    target_layout: str = ""

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        for model in models_of(module):
            asked = self._asked(model, ModelPorts(model))
            refined = [_refine(parameter, each) for parameter, each in asked.items()]
            if any(refined):
                infer_block(model.block, KnownValues())
            for parameter, each in asked.items():
                _insert(parameter, each)
        return True

    def _asked(self, model: ModelOp, ports: ModelPorts) -> dict[Operation, Preprocessing]:
        """The requested preprocessing by Parameter, with the dimensions of channels."""
        layouts = requested_layouts(ports, self.layout, self.source_layout, self.target_layout)
        asked = {each: Preprocessing(recorded_layout(each)) for each in ports.inputs}
        for port, layout in layouts.items():
            if port in asked:
                asked[port].layout = layout.source or layout.target
        if self.mean_values:
            for port, values in ports.assigned([(each.name, each.values) for each in channel_values(self.mean_values)], "mean"):
                asked[port].mean = values if any(values) else ()
        if self.scale_values:
            for port, values in ports.assigned([(each.name, each.values) for each in divisors(self.scale_values)], "scale"):
                asked[port].scale = values if any(value != 1 for value in values) else ()
        if self.scale is not None:
            if self.scale_values:
                raise UsageError("scale and scale_values exclude each other", hint="leave one of them out")
            for port in _scalable(model, ports.inputs):
                asked[port].scale = (self.scale,)
        for parameter, each in asked.items():
            each.axis = _axis(parameter, each)
        if self.reverse_input_channels:
            _choose_reversed(model, asked)
        return asked


def _scalable(model: ModelOp, inputs: Sequence[Operation]) -> list[Operation]:
    """The inputs that can be divided. Raises UsageError if there are none."""
    scalable = [each for each in inputs if _entries(each) is not None]
    if not scalable:
        raise UsageError("no input can be divided by the scale: the model computes with integers")
    left = [name_of_port(each) for each in inputs if each not in scalable]
    if left:
        add_notes(model, [f"not divided by the scale, as the model takes them as integers: {', '.join(left)}"])
    return scalable


def _axis(parameter: Operation, asked: Preprocessing) -> int | None:
    """The dimension of the channels, for separate means or scales; None if all channels share them."""
    if asked.count <= 1:
        return None
    if min(len(asked.mean), len(asked.scale)) > 1 and len(asked.mean) != len(asked.scale):
        raise _error(parameter, UsageError(f"it has means for {len(asked.mean)} channels and scales for {len(asked.scale)}"))
    try:
        return channel_axis(shape_of(parameter.results[0]), asked.count, asked.layout)
    except UsageError as error:
        raise _error(parameter, error) from error


def _error(parameter: Operation, error: UsageError) -> UsageError:
    """The error with the name of the input, and with a hint about the channels of the input if the error has no hint
    yet.
    """
    name, shape = name_of_port(parameter), shape_of(parameter.results[0])
    hint = f"say which dimension the channels are, as in --layout '{name}({_usual_layout(parameter)})'{_usual_count(parameter)}"
    return UsageError(f"input {name!r} of shape {format_shape(shape)}: {error.reason}", hint=error.hint or hint)


def _usual_layout(parameter: Operation) -> str:
    """The layout that inputs of this rank have in the framework of the model."""
    parameters = model.attributes.get(ModuleLevel.CONVERSION_PARAMETERS) if (model := model_around(parameter)) is not None else None
    name = value_of(parameters.data["framework"]) if isinstance(parameters, DictionaryAttr) and "framework" in parameters.data else ""
    is_last = name in FRAMEWORKS and FRAMEWORKS[name].channel_last
    return (_LAST if is_last else _FIRST).get(len(shape_of(parameter.results[0]) or ()), "...c" if is_last else "nc...")


def _usual_count(parameter: Operation) -> str:
    """The clause of a hint that states the number of channels in the usual layout; empty if that is dynamic, or the
    layout does not fit.
    """
    layout, shape = _usual_layout(parameter), shape_of(parameter.results[0])
    count = -1 if shape is None or len(layout) != len(shape) else shape[layout.index("c")]
    return f", in which there are {count}" if count > 0 else ""


def _choose_reversed(model: ModelOp, asked: dict[Operation, Preprocessing]) -> None:
    """Set `reverses` for all inputs with three channels in `asked`. Raises UsageError if there are none."""
    for parameter, each in asked.items():
        shape = shape_of(parameter.results[0])
        if each.axis is None and (each.layout is not None or len(shape or ()) in IMAGE_RANKS):
            with suppress(UsageError):
                each.axis = channel_axis(shape, COLORS, each.layout)
        each.reverses = each.axis is not None and each.count in (0, 1, COLORS)
    chosen = [name_of_port(port) for port, each in asked.items() if each.reverses]
    others = [f"{name_of_port(port)} {format_shape(shape_of(port.results[0]))}" for port, each in asked.items() if not each.reverses]
    if not chosen:
        first = next(iter(asked), None)
        example = "image(nchw)" if first is None else f"{name_of_port(first)}({_usual_layout(first)})"
        hint = f"one dimension of an image is 3, or its layout says which one the channels are, as in --layout '{example}'"
        raise UsageError(f"no input has three channels to reverse: {', '.join(others) or 'there are no inputs'}", hint=hint)
    if others:
        add_notes(model, [f"channels are reversed of {', '.join(chosen)}; others have not three: {', '.join(others)}"])


def _refine(parameter: Operation, asked: Preprocessing) -> bool:
    """Set the rank and the channels of an input, where they are dynamic, to those that the preprocessing needs.

    Returns whether any was dynamic.
    """
    value = parameter.results[0]
    before = shape_of(value)
    if asked.axis is None:
        return False
    sizes = list(before or (-1,) * len(asked.layout.dimensions if asked.layout is not None else ()))
    if asked.count > 1:
        sizes[asked.axis] = asked.count
    set_type(value, tensor(sizes, element_of(value)))
    return shape_of(value) != before


def _data_uses(value: SSAValue) -> list[Use]:
    """The uses of the elements of a value, without operations that only read its shape."""
    return [use for use in live_uses(value) if not use.operation.name.endswith(".ShapeOf")]


def _entries(parameter: Operation) -> Sequence[SSAValue] | None:
    """The floating-point values of an input: the input itself, or the Converts that read it; None if the model uses its
    integers.
    """
    value = parameter.results[0]
    if element_of(value) in FLOATS:
        return [value]
    users = [use.operation for use in _data_uses(value)]
    converted = [user.results[0] for user in users if user.name == "opset1.Convert" and element_of(user.results[0]) in FLOATS]
    return converted if len(converted) == len(users) and users else None


def _insert(parameter: Operation, asked: Preprocessing) -> None:
    if not asked.mean and not asked.scale and not asked.reverses:
        return
    entries = _entries(parameter)
    if entries is None and (asked.mean or asked.scale):
        type_ = describe(element_of(parameter.results[0])).xml
        raise _error(
            parameter,
            UsageError(
                f"its values of type {type_} are used as integers, of which no mean can be subtracted and which cannot be divided",
                hint="leave it out, or give the input a floating-point type",
            ),
        )
    try:
        for value in entries if entries is not None else parameter.results:
            _preprocess(value, asked)
    except UsageError as error:
        raise _error(parameter, error) from error


def _preprocess(value: SSAValue, asked: Preprocessing) -> None:
    """Insert the preprocessing between a value and its uses."""
    producer = value.owner
    assert isinstance(producer, Operation)
    assert producer.parent is not None
    uses = _data_uses(value)
    op = OpBuilder(KnownValues(), producer.parent, producer.next_op)
    result = value
    if asked.reverses:
        assert asked.axis is not None
        result = _reversed(op, result, asked.axis)
    if asked.mean:
        result = op.Subtract(result, _along_channels(op, asked.mean, result, asked.axis))
    if asked.scale:
        result = op.Divide(result, _along_channels(op, asked.scale, result, asked.axis))
    for use in uses:
        use.operation.operands[use.index] = result
    keep_output_name(result)


def _reversed(op: OpBuilder, value: SSAValue, axis: int) -> SSAValue:
    shape = shape_of(value)
    if shape is not None and shape[axis] == COLORS:
        return op.Gather(value, [*range(COLORS)][::-1], axis)
    # The number of channels is known at run time only.
    return op.Slice(value, [-1], [np.iinfo(np.int64).min], [-1], [axis])


def _along_channels(op: OpBuilder, numbers: Iterable[float], value: SSAValue, axis: int | None) -> SSAValue:
    """A constant of numbers that broadcasts along dimension `axis` of a value; None for one number for all channels.

    Raises UsageError if the element type of the value cannot hold one of them.
    """
    element = element_of(value)
    exact = np.array(tuple(numbers), np.float64)
    with np.errstate(all="ignore"):
        rounded = exact.astype(to_numpy(element))
    back = rounded.astype(np.float64)
    if not np.all(np.isfinite(back)) or np.any((back == 0) != (exact == 0)):
        hint = "give the input another type"
        raise UsageError(f"{', '.join(map(str, exact))} are outside of the range of its type {describe(element).xml}", hint=hint)
    shape = shape_of(value)
    if exact.size == 1 or axis is None or shape is None:
        return op.constant(rounded.reshape(()) if exact.size == 1 else rounded, element)
    return op.constant(rounded.reshape([-1 if index == axis else 1 for index in range(len(shape))]), element)
