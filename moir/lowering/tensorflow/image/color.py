"""Conversions of colours; the channels of a colour are the last dimension, of size 3."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.shapes import element_of
from moir.expansions.images.colors import hue_saturation_value, red_green_blue, split_colour
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder


@tf.lowers("RGBToHSV")
def to_hue(op: OpBuilder, images: SSAValue) -> SSAValue:
    """tf.RGBToHSV(x) -> opset1.Concat of hue, saturation and value"""
    return op.Concat(*hue_saturation_value(op, images), axis=-1)


@tf.lowers("HSVToRGB")
def from_hue(op: OpBuilder, images: SSAValue) -> SSAValue:
    """tf.HSVToRGB(x)
    -> ((clamp(a * |6 hue - b| + c) - 1) * saturation + 1) * value with constants a, b, c for each primary colour
    """
    return red_green_blue(op, *split_colour(op, images))


@tf.lowers("AdjustHue")
def adjust_hue(op: OpBuilder, images: SSAValue, delta: SSAValue) -> SSAValue:
    """tf.AdjustHue(x, delta) -> the colours of x with delta added to their hue, modulo 1"""
    hue, saturation, value = hue_saturation_value(op, images)
    turned = op.Add(hue, op.convert(delta, element_of(images)))
    return red_green_blue(op, op.Subtract(turned, op.Floor(turned)), saturation, value)


@tf.lowers("AdjustSaturation")
def adjust_saturation(op: OpBuilder, images: SSAValue, scale: SSAValue) -> SSAValue:
    """tf.AdjustSaturation(x, scale) -> the colours of x with their saturation multiplied by scale, limited to 1"""
    hue, saturation, value = hue_saturation_value(op, images)
    scaled = op.Clamp(op.Multiply(saturation, op.convert(scale, element_of(images))), min=0.0, max=1.0)
    return red_green_blue(op, hue, scaled, value)
