"""Convolutions and transposed convolutions, plain, grouped and deformable. Layout of data: N, C, spatial axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.interfaces.properties import (
    boolean_property,
    deferred_definition,
    float_property,
    integer_property,
    integers_property,
    optional_operands,
    string_property,
)
from moir.dialects.opset.interfaces.spatial import AUTO_PAD, ConvolutionOp, SlidingWindowOp, agrees, expanded, positions, spread
from moir.dialects.shapes import Shapes, SymbolicShape, element_count, is_fixed, merge_dimensions, product
from moir.dialects.symbols import Dimension
from moir.errors import InferenceError


def check_channels(channels: Dimension, expected: Dimension) -> None:
    """Raise InferenceError if the data have another number of channels than the filters expect."""
    if is_fixed(channels) and is_fixed(expected) and channels != expected:
        raise InferenceError(f"data has {channels} channels, the filters are for {expected}")


def group_count(groups: Dimension, channels: Dimension, channels_of_group: Dimension) -> Dimension:
    """Number of groups; if unknown, the quotient of the channels and the channels of a group.

    Raises InferenceError if the channels are not divisible.
    """
    if is_fixed(groups) or not is_fixed(channels) or not is_fixed(channels_of_group) or channels_of_group == 0:
        return groups
    if channels % channels_of_group:
        raise InferenceError(f"{channels} channels are not a multiple of the {channels_of_group} of a group")
    return channels // channels_of_group


@deferred_definition
class Convolution(ConvolutionOp):
    """Cross-correlation of data [N, C_in, spatial…] with filters [C_out, C_in, kernel…].

    Result: [N, C_out, spatial…].
    """

    name = "opset1.Convolution"
    OUTPUT_CHANNELS: ClassVar[tuple[int, ...]] = (0,)
    INPUT_CHANNELS: ClassVar[tuple[int, ...]] = (1,)
    data = operand_def()
    filters = operand_def()
    strides = integers_property()
    dilations = integers_property()
    pads_begin = integers_property()
    pads_end = integers_property()
    auto_pad = string_property("explicit", *AUTO_PAD)
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        rank = len(self.integers("strides")) + 2
        data = expanded(shapes[0], rank, "data")
        filters = expanded(shapes[1], rank, "the filter tensor")
        check_channels(data[1], filters[1])
        return (data[0], filters[0], *self.result_sizes(data[2:], filters[2:]))

    def result_element(self) -> Attribute:
        return self.common_element(0, 1)


@deferred_definition
class GroupConvolution(ConvolutionOp):
    """Convolution of groups of channels, with filters [groups, C_out / groups, C_in / groups, kernel…].

    Result: [N, C_out, spatial…].
    """

    name = "opset1.GroupConvolution"
    OUTPUT_CHANNELS: ClassVar[tuple[int, ...]] = (0, 1)
    INPUT_CHANNELS: ClassVar[tuple[int, ...]] = (0, 2)
    data = operand_def()
    filters = operand_def()
    strides = integers_property()
    pads_begin = integers_property()
    pads_end = integers_property()
    dilations = integers_property()
    auto_pad = string_property("explicit", *AUTO_PAD)
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        rank = len(self.integers("strides")) + 2
        data = expanded(shapes[0], rank, "data")
        filters = expanded(shapes[1], rank + 1, "the filter tensor")
        groups = filters[0]
        check_channels(data[1], product(groups, filters[2]))
        groups = group_count(groups, data[1], filters[2])
        return (data[0], product(groups, filters[1]), *self.result_sizes(data[2:], filters[3:]))

    def result_element(self) -> Attribute:
        return self.common_element(0, 1)


class TransposedConvolutionOp(ConvolutionOp):
    """Base of the transposed convolutions.

    The optional last operand has the spatial sizes of the result [spatial axes]; pads follow from these sizes unless
    they are explicit.
    """

    data = operand_def()
    filters = operand_def()
    output_shape = optional_operands(1)

    LOWEST_PAD: ClassVar[int | None] = None

    def spatial_sizes(self, known: OperandValues, sizes: tuple[Dimension, ...], kernel: tuple[Dimension, ...]) -> tuple[Dimension, ...]:
        """The spatial sizes of the result: those that the last operand holds, else from the `sizes` of the data and the
        kernel.

        -1 for dynamic ones. Raises InferenceError if properties have another number of spatial axes.
        """
        wanted = self.optional_operand(2)
        if wanted is not None:
            shape = known.sizes(wanted)
            return (-1,) * len(sizes) if shape is None else expanded(shape, len(sizes), "output_shape")
        padding = self.axis_property("output_padding", len(sizes), 0)
        if len(padding) != len(sizes):
            raise InferenceError(f"output_padding has {len(padding)} entries for {len(sizes)} spatial axes")
        explicit = self.text("auto_pad") == "explicit"
        windows = (window if explicit else window.with_fields(pad_begin=0, pad_end=0) for window in self.windows(kernel))
        return tuple(map(spread, sizes, windows, padding))

    def check_invariants(self) -> None:
        super().check_invariants()
        output_shape = self.optional_operand(2)
        if output_shape is None:
            return
        count, spatial = element_count(self.shape(2)), len(self.integers("strides"))
        if count is not None and count != spatial:
            raise VerifyException(f"output_shape has {count} entries where there are {spatial} spatial axes")


@deferred_definition
class ConvolutionBackpropData(TransposedConvolutionOp):
    """Transposed convolution of data [N, C_in, spatial…] with filters [C_in, C_out, kernel…].

    Result: [N, C_out, spatial…].
    """

    name = "opset1.ConvolutionBackpropData"
    OUTPUT_CHANNELS: ClassVar[tuple[int, ...]] = (1,)
    INPUT_CHANNELS: ClassVar[tuple[int, ...]] = (0,)
    strides = integers_property()
    dilations = integers_property()
    pads_begin = integers_property()
    pads_end = integers_property()
    auto_pad = string_property("explicit", *AUTO_PAD)
    output_padding = integers_property(())
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        rank = len(self.integers("strides")) + 2
        data = expanded(shapes[0], rank, "data")
        filters = expanded(shapes[1], rank, "the filter tensor")
        check_channels(data[1], filters[0])
        return (data[0], filters[1], *self.spatial_sizes(known, data[2:], filters[2:]))

    def result_element(self) -> Attribute:
        return self.common_element(0, 1)


@deferred_definition
class GroupConvolutionBackpropData(TransposedConvolutionOp):
    """Transposed convolution of groups, with filters [groups, C_in / groups, C_out / groups, kernel…].

    Result: [N, C_out, spatial…].
    """

    name = "opset1.GroupConvolutionBackpropData"
    OUTPUT_CHANNELS: ClassVar[tuple[int, ...]] = (0, 2)
    INPUT_CHANNELS: ClassVar[tuple[int, ...]] = (0, 1)
    strides = integers_property()
    pads_begin = integers_property()
    pads_end = integers_property()
    dilations = integers_property()
    auto_pad = string_property("explicit", *AUTO_PAD)
    output_padding = integers_property(())
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        rank = len(self.integers("strides")) + 2
        data = expanded(shapes[0], rank, "data")
        filters = expanded(shapes[1], rank + 1, "the filter tensor")
        groups = filters[0]
        check_channels(data[1], product(groups, filters[1]))
        groups = group_count(groups, data[1], filters[1])
        return (data[0], product(groups, filters[2]), *self.spatial_sizes(known, data[2:], filters[3:]))

    def result_element(self) -> Attribute:
        return self.common_element(0, 1)


class DeformableConvolutionOp(SlidingWindowOp):
    """Base of the two-dimensional convolutions in which offsets displace the elements of the window.

    Data [N, C_in, H, W], offsets [N, deformable_group * kernel elements * 2, H_out, W_out], filters [C_out, C_in /
    group, kH, kW] and, in the newer version, optionally a mask [N, deformable_group * kernel elements, H_out, W_out];
    result [N, C_out, H_out, W_out].
    """

    data = operand_def()
    offsets = operand_def()
    filters = operand_def()
    strides = integers_property()
    dilations = integers_property()
    pads_begin = integers_property()
    pads_end = integers_property()
    auto_pad = string_property("explicit", *AUTO_PAD)
    group = integer_property(1)
    deformable_group = integer_property(1)

    SPATIAL_RANKS: ClassVar[tuple[int, ...]] = (2,)

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        if shapes[0] is None and shapes[1] is None and shapes[2] is None:
            return None
        data = expanded(shapes[0], 4, "data")
        filters = expanded(shapes[2], 4, "the filter tensor")
        check_channels(data[1], product(filters[1], self.integer("group")))
        if self.integer("group") < 1 or (is_fixed(filters[0]) and filters[0] % self.integer("group")):
            raise InferenceError(f"{filters[0]} filters are not a multiple of {self.integer('group')} groups")
        offsets = expanded(shapes[1], 4, "the offset tensor")
        sizes = self.result_sizes(data[2:], filters[2:])
        taps = product(product(filters[2], filters[3]), self.integer("deformable_group"))
        batch = merge_dimensions(data[0], offsets[0])
        agrees("the offset tensor", offsets, (batch, product(taps, 2), *sizes))
        self.check_smallest_result(data, filters, offsets)
        if self.optional_operand(3) is not None:
            agrees("the mask", expanded(shapes[3], 4, "the mask"), (batch, taps, *sizes))
        return (batch, filters[0], *sizes)

    def check_smallest_result(self, data: Sequence[Dimension], filters: Sequence[Dimension], offsets: Sequence[Dimension]) -> None:
        """Raise InferenceError if data of a dynamic dimension is padded to more positions than there are offsets.

        Data of any size have at least the positions of their padding.
        """
        for size, window, offset_shape in zip(data[2:], self.windows(filters[2:]), offsets[2:], strict=True):
            if is_fixed(size) or not is_fixed(window.kernel) or not is_fixed(offset_shape):
                continue
            padding = sum(window.padding(self.text("auto_pad")) or (0, 0))
            least = positions(max(window.extent - padding, 0), window, self.text("auto_pad"))
            if offset_shape < least:
                raise InferenceError(f"there are offsets for {offset_shape} positions where there are at least {least}")

    def result_element(self) -> Attribute:
        return self.common_element(0, 1, 2)


@deferred_definition
class DeformableConvolution1(DeformableConvolutionOp):
    """Deformable convolution without a mask."""

    name = "opset1.DeformableConvolution"
    result = result_def()


@deferred_definition
class DeformableConvolution(DeformableConvolutionOp):
    """Deformable convolution; `bilinear_interpolation_pad` interpolates with zeros at the border."""

    name = "opset8.DeformableConvolution"
    mask = optional_operands(1)
    bilinear_interpolation_pad = boolean_property(False)
    result = result_def()


@deferred_definition
class BinaryConvolution(SlidingWindowOp):
    """Convolution of the signs of data [N, C_in, H, W] with filters of single bits [C_out, C_in, kH, kW].

    Result: [N, C_out, H_out, W_out], the number of equal signs minus that of different ones. `pad_value` is the value
    of padding.
    """

    name = "opset1.BinaryConvolution"
    UNWRITTEN: ClassVar[Mapping[str, object]] = {"mode": "xnor-popcount"}
    data = operand_def()
    filters = operand_def()
    strides = integers_property()
    pads_begin = integers_property()
    pads_end = integers_property()
    dilations = integers_property()
    mode = string_property(None, "xnor-popcount")
    pad_value = float_property()
    auto_pad = string_property("explicit", *AUTO_PAD)
    result = result_def()

    SPATIAL_RANKS: ClassVar[tuple[int, ...]] = (2,)

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        data = expanded(shapes[0], 4, "data")
        filters = expanded(shapes[1], 4, "the filter tensor")
        check_channels(data[1], filters[1])
        return (data[0], filters[0], *self.result_sizes(data[2:], filters[2:]))
