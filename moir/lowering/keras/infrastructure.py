"""Layers that return their input at inference: regularizers such as Dropout, masks, wrappers of functions."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.shapes import element_of
from moir.lowering.binder import LoweringNode
from moir.lowering.keras.activation_functions import activated
from moir.lowering.keras.table import keras
from moir.rewriting.builder import OpBuilder

TRAINED_ONLY = (
    *("Dropout", "AlphaDropout", "GaussianDropout", "GaussianNoise", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D"),
    *("ActivityRegularization", "Identity", "RandomBrightness", "RandomContrast", "RandomFlip", "RandomHeight", "RandomHue"),
    *("RandomRotation", "RandomSaturation", "RandomSharpness", "RandomShear", "RandomTranslation", "RandomWidth", "RandomZoom"),
    *("RandomColorDegeneration", "RandomColorJitter", "RandomErasing", "RandomElasticTransform", "RandomGaussianBlur"),
    *("RandomGrayscale", "RandomInvert", "RandomPerspective", "RandomPosterization", "RandAugment", "AugMix", "CutMix"),
    *("MixUp", "Solarization", "Equalization"),
)
"""Layers that do nothing at inference."""


@keras.lowers(*TRAINED_ONLY)
def identity(inputs: SSAValue) -> SSAValue:
    """keras.Dropout(x) -> x; likewise the other layers of `TRAINED_ONLY`"""
    return inputs


@keras.lowers("Masking")
def masking(op: OpBuilder, inputs: SSAValue, *, mask_value: float = 0.0) -> SSAValue:
    """keras.Masking(x) -> x where a feature of the step differs from the value, else 0"""
    differs = op.ReduceLogicalOr(op.NotEqual(inputs, mask_value), [-1], keep_dims=True)
    return op.Multiply(inputs, op.convert(differs, element_of(inputs)))


@keras.lowers("Lambda")
def function_layer(node: LoweringNode, op: OpBuilder, inputs: SSAValue, *, function: object | None = None) -> SSAValue:
    """keras.Lambda(x): refused, unless its function is one of Keras by name"""
    if not isinstance(function, str) or function == "a function as bytecode":
        node.fail(
            f"the layer {node.name!r} is a Lambda, whose function is bytecode of one version of Python and is never executed",
            hint="write a lowering for this layer, or replace it by operations of keras.ops and save the model again",
        )
    return activated(node, op, inputs, function)
