"""The notation of `--compress-weights`: `int8`, `int4_sym:128`, `int4:64:1`."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from moir.errors import UsageError
from moir.support.suggestions import did_you_mean


class Mode(NamedTuple):
    """A mode of compression.

    Args:
        bits: the width of a code.
        symmetric: whether the code of zero is 0, so that there are no zero points.
        group: number of weights that share a scale by default; 0 for all weights of a channel.
        share: largest share of the weights of matrix products that get codes of fewer than 8 bits by default.
    """

    bits: int
    symmetric: bool
    group: int
    share: float


MODES = {
    "int8": Mode(8, False, 0, 1),
    "int8_asym": Mode(8, False, 0, 1),
    "int8_sym": Mode(8, True, 0, 1),
    "int4": Mode(4, False, 16, 0.4),
    "int4_asym": Mode(4, False, 16, 0.4),
    "int4_sym": Mode(4, True, 16, 0.4),
}
"""The modes by their names, which are those of NNCF. docs/compression.md has the results of the defaults."""

GROUP_OF_LANGUAGE_MODELS, SHARE_OF_LANGUAGE_MODELS = 128, 1.0
"""The defaults for codes of 4 bits in language models, which are those of NNCF: the number of weights in a group, and
the share of weights with such codes.

Trained language models tolerate more rounding than other networks, and their speed depends on their size.
"""

SMALLEST_GROUP = 16
"""The smallest size of a group.

All sizes are multiples of it; the CPU plugin requires at least 4 weights in a group.
"""


class WeightCodes(NamedTuple):
    """How weights are compressed.

    Args:
        mode: a key of `MODES`.
        group: number of weights that share a scale; 0 for all weights of a channel, None for the default of the mode.
        share: largest share of the weights of matrix products that get codes of fewer than 8 bits; None for the default
            of the mode.
    """

    mode: str = "int8"
    group: int | None = None
    share: float | None = None

    def __str__(self) -> str:
        parts = [self.mode, "" if self.group is None else str(self.group), "" if self.share is None else f"{self.share:g}"]
        return ":".join(parts).rstrip(":")

    def with_defaults(self, is_language_model: bool) -> WeightCodes:
        """The same codes with the default group and share, of the mode or of language models, where they have none."""
        mode = MODES[self.mode]
        is_own = is_language_model and mode.bits < 8
        group, most = (GROUP_OF_LANGUAGE_MODELS, SHARE_OF_LANGUAGE_MODELS) if is_own else (mode.group, mode.share)
        return WeightCodes(self.mode, group if self.group is None else self.group, most if self.share is None else self.share)


def weight_codes(value: Any) -> WeightCodes:
    """The codes that a text describes; any other value is returned unchanged. Raises ValueError for an unknown text."""
    if isinstance(value, WeightCodes):
        return value
    mode, *rest = (part.strip() for part in str(value).split(":"))
    mode = mode.lower().replace("-", "_")
    if mode not in MODES:
        listed = f"the modes are {', '.join(MODES)}"
        raise ValueError(f"there is no compression of weights {mode!r}; {did_you_mean(mode, MODES, listed)}")
    if len(rest) > 2:
        raise ValueError(f"{value!r} is not a compression of weights: write MODE[:GROUP[:SHARE]], as in int4_sym:128:0.8")
    group = group_size(rest[0]) if rest and rest[0] else None
    largest = share(rest[1]) if len(rest) > 1 and rest[1] else None
    if largest is not None and MODES[mode].bits == 8:
        raise ValueError(f"{mode} gives all weights 8 bits: leave the share {rest[1]!r} out")
    return WeightCodes(mode, group, largest)


def with_parameters(codes: WeightCodes | None, group: int | None, ratio: float | None) -> WeightCodes:
    """`codes`, the value of `compress_weights`, with the group of `group_size` and the share of `ratio`, each None if
    it is not given.

    Raises UsageError if a group or ratio is given and `compress_weights` is absent, has them already, or gives all
    weights 8 bits.
    """
    if codes is None:
        name = "ratio" if group is None else "group_size"
        raise UsageError(f"{name} has no effect without compress_weights", hint="add --compress-weights int4")
    for name, value, other in (("group_size", group, codes.group), ("ratio", ratio, codes.share)):
        if value is not None and other is not None and value != other:
            raise UsageError(f"{name} is {value}, but compress_weights is {codes}", hint="leave one of them out")
    if ratio is not None and MODES[codes.mode].bits == 8:
        raise UsageError(f"{codes.mode} gives all weights 8 bits", hint="leave ratio out, or choose int4")
    return WeightCodes(codes.mode, codes.group if group is None else group, codes.share if ratio is None else ratio)


def group_size(text: str) -> int:
    """The size of groups that a text gives; 0 for all weights of a channel. Raises ValueError for another text."""
    if text in ("channel", "-1", "0"):
        return 0
    if not re.fullmatch("[0-9]{1,9}", text) or int(text) % SMALLEST_GROUP:
        raise ValueError(
            f"{text!r} is not a size of groups of weights: a multiple of {SMALLEST_GROUP}, or 'channel' for one scale per channel"
        )
    return int(text)


def share(text: str) -> float:
    """The share of weights that a text gives, from 0 to 1. Raises ValueError for another text."""
    if not re.fullmatch(r"0|1|0?\.[0-9]{1,9}|1\.0*", text):
        raise ValueError(f"{text!r} is not a share of the weights: a number from 0 to 1")
    return float(text)
