"""Which dimension of an input holds its channels: the one that the layout names, or the only one of the right size."""

from __future__ import annotations

from collections.abc import Mapping

from moir.dialects.shapes import Shape
from moir.errors import UsageError
from moir.parameters.layouts import ANY_NUMBER, CHANNELS, Layout

PLACES: Mapping[int, tuple[int, ...]] = {1: (0,), 2: (1,), 3: (0, 2), 4: (1, 3), 5: (1, 4)}
"""The axes that the channels can have in a tensor without a layout, by its rank: CHW or HWC, NCHW or NHWC, NCDHW or
NDHWC.
"""


def channel_axis(shape: Shape, count: int, layout: Layout | None) -> int:
    """The dimension of the channels.

    Args:
        shape: the shape of the tensor.
        count: the number of channels.
        layout: the layout of the tensor, if it is known.

    Without a layout it is the only dimension of this size, if it is at one of `PLACES`. Raises UsageError if the
    dimension is ambiguous, or if no dimension has this size.
    """
    if layout is None:
        return _guessed(shape, count)
    if shape is None:
        if ANY_NUMBER in layout.dimensions:
            raise UsageError(f"how many dimensions it has, neither the model says nor the layout {layout}", hint="name each dimension")
        shape = (-1,) * len(layout.dimensions)
    axis = layout.of_rank(len(shape)).index(CHANNELS)
    if axis is None:
        raise UsageError(f"the layout {layout} has no channels", hint="name the channels c in the layout")
    if shape[axis] not in (-1, count):
        raise UsageError(f"there are {shape[axis]} channels in the layout {layout}, not {count}")
    return axis


def _guessed(shape: Shape, count: int) -> int:
    axes = [axis for axis, size in enumerate(shape or ()) if size == count]
    if len(axes) > 1:
        raise UsageError(f"the {count} channels can be dimension {' or '.join(map(str, axes))}")
    if shape is None or not axes or axes[0] not in PLACES.get(len(shape), ()):
        raise UsageError(f"no dimension is certain to be {count} channels")
    return axes[0]
