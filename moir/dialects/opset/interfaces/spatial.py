"""Spatial arithmetic: the number of positions of a sliding window, and the result size of a transposed convolution.

Sizes, kernels and results may be unknown: -1 or symbols. Source: Convolution, ConvolutionBackpropData and the pooling
operations of the OpenVINO operation-set specification; `auto_pad` and `rounding_type` are spelled as in the IR.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, overload

from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.properties import property_table
from moir.dialects.properties import integers_attribute, value_of
from moir.dialects.shapes import SymbolicShape, format_shape, is_fixed
from moir.dialects.symbols import Dimension, Symbol
from moir.errors import InferenceError
from moir.support.records import Record

AUTO_PAD = ("explicit", "same_lower", "same_upper", "valid")
"""Values of `auto_pad`: explicit pads; pads for results of size ceil(size / stride); no pads."""

ROUNDING = ("ceil", "ceil_torch", "floor")
"""Values of `rounding_type`; `ceil_torch` omits a last window that would start in the end padding."""


class Window(Record):
    """A window sliding along one axis."""

    kernel: Dimension
    """Number of elements of the window."""
    stride: int
    dilation: int = 1
    pad_begin: int = 0
    pad_end: int = 0

    @property
    def extent(self) -> int:
        """Number of elements from the first to the last element of the dilated window; -1 if dynamic."""
        return (max(self.kernel, 1) - 1) * self.dilation + 1 if is_fixed(self.kernel) else -1

    def padding(self, auto_pad: str) -> tuple[int, int] | None:
        """Number of elements of padding before and after an axis.

        None if they depend on the size of the axis or on an unknown kernel.
        """
        if auto_pad not in ("same_lower", "same_upper"):
            return (0, 0) if auto_pad == "valid" else (self.pad_begin, self.pad_end)
        if self.stride != 1 or not is_fixed(self.kernel):
            return None
        small, large = (self.extent - 1) // 2, self.extent // 2
        return (small, large) if auto_pad == "same_upper" else (large, small)


@overload
def positions(size: int, window: Window, auto_pad: str, rounding: str = "floor") -> int: ...
@overload
def positions(size: Dimension, window: Window, auto_pad: str, rounding: str = "floor") -> Dimension: ...
def positions(size: Dimension, window: Window, auto_pad: str, rounding: str = "floor") -> Dimension:
    """Number of positions of a window along an axis; -1 if dynamic.

    The symbol of the axis is returned if the window moves by one and padding keeps the size. Raises InferenceError if
    the window is larger than the padded axis.
    """
    stride = window.stride
    if size == -1:
        return -1
    if stride < 1:
        raise InferenceError(f"stride {stride} is not positive")
    if auto_pad in ("same_upper", "same_lower"):
        return size if stride == 1 else -(-size // stride) if is_fixed(size) else -1
    if not is_fixed(window.kernel):
        return -1
    pad_begin, pad_end = window.padding(auto_pad) or (0, 0)
    extent = window.extent if window.dilation != 1 or window.kernel == 0 else window.kernel
    if isinstance(size, Symbol):
        return size if stride == 1 and pad_begin + pad_end + 1 == extent else -1
    reach = size + pad_begin + pad_end - extent
    if reach < 0:
        raise InferenceError(f"a window of {extent} elements does not fit into {size} elements with {pad_begin} + {pad_end} of padding")
    if rounding == "floor":
        return reach // stride + 1
    count = -(-reach // stride) + 1
    if rounding == "ceil_torch" and (count - 1) * stride >= size + pad_begin:
        return count - 1
    return count


def spread(size: Dimension, window: Window, output_padding: int = 0) -> Dimension:
    """Result size of a transposed convolution of `size` elements, the inverse of `positions`.

    Raises InferenceError if the size is not positive.
    """
    if size == -1 or not is_fixed(window.kernel):
        return -1
    growth = window.extent - window.stride - window.pad_begin - window.pad_end + output_padding
    if isinstance(size, Symbol):
        return size if window.stride == 1 and growth == 0 else -1
    result = window.stride * size + growth
    if result < 0:
        raise InferenceError(f"padding {window.pad_begin} + {window.pad_end} leaves nothing of {size} elements")
    return result


def expanded(shape: SymbolicShape, rank: int, what: str) -> tuple[Dimension, ...]:
    """A shape of a required rank; dynamic dimensions if its rank is dynamic. Raises InferenceError for another rank."""
    if shape is None:
        return (-1,) * rank
    if len(shape) != rank:
        raise InferenceError(f"{what} has shape {format_shape(shape)} where rank {rank} is required")
    return shape


def agrees(what: str, shape: tuple[Dimension, ...], expected: tuple[Dimension, ...]) -> None:
    """Raise InferenceError, which names `what`, if a shape contradicts an expected one."""
    if any(a != b for a, b in zip(shape, expected, strict=True) if is_fixed(a) and is_fixed(b)):
        raise InferenceError(f"{what} has shape {format_shape(shape)} where {format_shape(expected)} is needed")


_AXIS_DEFAULTS = {"strides": 1, "dilations": 1, "pads_begin": 0, "pads_end": 0}
"""Property -> the number that an empty or missing list stands for, on each axis."""


class SlidingWindowOp(OpsetOp):
    """Base of the operations with `strides`, `pads_begin`, `pads_end` and, mostly, `dilations` and `auto_pad`."""

    SPATIAL_RANKS: ClassVar[tuple[int, ...]] = (1, 2, 3)
    """Permitted numbers of spatial axes."""

    LOWEST_PAD: ClassVar[int | None] = 0
    """Lower bound of the entries of the pads; None if there is none."""

    def axis_property(self, name: str, count: int, default: int) -> Sequence[int]:
        """A property with one entry per axis; if it is empty or missing, `default` for each of `count` axes."""
        return (self.integers(name) if name in self.properties else ()) or (default,) * count

    @classmethod
    def completed(cls, properties: Mapping[str, Attribute]) -> dict[str, Attribute]:
        """The properties, with defaults for missing strides, dilations and pads, one per axis.

        They are unchanged if no property says how many axes there are.
        """
        lists = {name: value_of(properties[name]) for name in ("kernel", *_AXIS_DEFAULTS) if name in properties}
        count = max(map(len, lists.values()), default=0)
        missing = {name: default for name, default in _AXIS_DEFAULTS.items() if not lists.get(name) and name in property_table(cls).specs}
        return {**properties, **{name: integers_attribute((default,) * count) for name, default in missing.items() if count}}

    def windows(self, kernel: Sequence[Dimension]) -> tuple[Window, ...]:
        """The window of each spatial axis. Raises InferenceError unless each property has one entry per axis."""
        count = len(kernel)
        windows = tuple(
            map(
                Window,
                kernel,
                self.axis_property("strides", count, 1),
                self.axis_property("dilations", count, 1),
                self.axis_property("pads_begin", count, 0),
                self.axis_property("pads_end", count, 0),
            )
        )
        if len(windows) != count:
            raise InferenceError(f"strides, dilations and pads have {len(windows)} entries for {count} spatial axes")
        return windows

    def result_sizes(self, sizes: Sequence[Dimension], kernel: Sequence[Dimension], rounding: str = "floor") -> tuple[Dimension, ...]:
        """Number of window positions along each spatial axis."""
        auto_pad = self.text("auto_pad")
        return tuple([positions(size, window, auto_pad, rounding) for size, window in zip(sizes, self.windows(kernel), strict=True)])

    def check_invariants(self) -> None:
        super().check_invariants()
        count = len(self.integers("strides"))
        if count not in self.SPATIAL_RANKS:
            raise VerifyException(f"strides has {count} entries; there can be {', '.join(map(str, self.SPATIAL_RANKS))} spatial axes")
        for name in ("strides", "dilations", "pads_begin", "pads_end", "kernel", "output_padding"):
            if name not in self.properties:
                continue
            values = self.integers(name)
            if values and len(values) != count:
                raise VerifyException(f"{name} has {len(values)} entries where strides has {count}")
            lowest = self.LOWEST_PAD if name.startswith("pads") else 0 if name == "output_padding" else 1
            if lowest is not None and any(value < lowest for value in values):
                raise VerifyException(f"{name} {list(values)} has an entry below {lowest}")


class ConvolutionOp(SlidingWindowOp):
    """Base of the convolutions with one data operand and one filter operand."""

    OUTPUT_CHANNELS: ClassVar[tuple[int, ...]]
    """Dimensions of the filters whose product is the number of channels of the result, the group first."""

    INPUT_CHANNELS: ClassVar[tuple[int, ...]]
    """Dimensions of the filters whose product is the number of channels of the data, the group first."""
