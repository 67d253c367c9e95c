"""The parameters for the preprocessing of inputs, before the model."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from moir.parameters.kinds import SWITCH, or_none, structured
from moir.parameters.layout import layout_fields
from moir.parameters.parameter import FieldValue, Kind, Options, Parameter, PassRequest, Plain

if TYPE_CHECKING:
    from moir.parameters.channel_values import ChannelValues


def _means(value: Any) -> tuple[ChannelValues, ...]:
    if value is None:
        return ()
    from moir.parameters.channel_values import channel_values

    return channel_values(value)


def _divisors(value: Any) -> tuple[ChannelValues, ...]:
    if value is None:
        return ()
    from moir.parameters.channel_values import divisors

    return divisors(value)


def _plain(value: tuple[ChannelValues, ...]) -> Plain:
    if not value:
        return ""
    from moir.parameters.channel_values import notation_of

    return notation_of(value)


_DESCRIPTION = "numbers: a text as of --mean-values, a list of numbers, a list of those for each input, or a mapping of names to those"


def _per_channel(read: Callable[[Any], tuple[ChannelValues, ...]]) -> Kind[tuple[ChannelValues, ...]]:
    return structured(_DESCRIPTION, read, _plain)


def _divisor(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number) or number == 0 or isinstance(value, bool):
        raise ValueError(f"nothing can be divided by {value}")
    return number


def _number(value: float) -> Plain:
    return value


def _fields(options: Options) -> Mapping[str, FieldValue] | None:
    """The fields of `preprocess-inputs`, layouts included; None if no preprocessing is given, so that the pass does not
    run.
    """
    scale = options[SCALE]
    given: dict[str, FieldValue] = {
        MEAN_VALUES.name: str(_plain(options[MEAN_VALUES])),
        SCALE_VALUES.name: str(_plain(options[SCALE_VALUES])),
        SCALE.name: "" if scale is None else scale,
        REVERSE_INPUT_CHANNELS.name: options[REVERSE_INPUT_CHANNELS],
    }
    given = {name: value for name, value in given.items() if value not in ("", False)}
    return {**given, **layout_fields(options)} if given else None


def _folding(options: Options) -> Mapping[str, FieldValue] | None:
    return {} if _fields(options) is not None else None


_PASSES = (
    PassRequest("preprocess-inputs", options=_fields),
    PassRequest("fold-channel-order", options=_folding),
)
_METAVAR = "NUMBERS|NAME(NUMBERS),…"

MEAN_VALUES = Parameter(
    "mean_values",
    _per_channel(_means),
    (),
    "numbers to subtract from the channels of inputs: (1,2,3), or image(1,2,3),depth(0.5)",
    in_python="what is subtracted from an input: a number, or one for each of its channels, in the order of the channels of"
    " the model; a list of those for all inputs in order, or a mapping from names; in units of the input",
    metavar=_METAVAR,
    passes=_PASSES,
)
SCALE_VALUES = Parameter(
    "scale_values",
    _per_channel(_divisors),
    (),
    "numbers to divide the channels of inputs by, after the subtraction",
    metavar=_METAVAR,
    excludes=("scale",),
    passes=_PASSES,
)
SCALE = Parameter(
    "scale",
    or_none(structured("a number other than 0", _divisor, _number)),
    None,
    "a number to divide all inputs by",
    metavar="NUMBER",
    former=("-s",),
    synonym_of=("scale_values",),
    passes=_PASSES,
)
REVERSE_INPUT_CHANNELS = Parameter(
    "reverse_input_channels",
    SWITCH,
    False,
    "exchange red and blue of the inputs with three channels, before the subtraction",
    passes=_PASSES,
)

PREPROCESSING_PARAMETERS = (MEAN_VALUES, SCALE_VALUES, SCALE, REVERSE_INPUT_CHANNELS)
