"""The passes, and the pipeline a model goes through by default.

The anchors `front-start` … `back-finish` do nothing; they mark the phases for passes that are slotted in.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from moir.errors import ConversionError

PASSES: dict[str, str] = {
    "back-finish": "anchors:BackFinishPass",
    "back-start": "anchors:BackStartPass",
    "cancel-reshapes": "cancel_reshapes:CancelReshapesPass",
    "cancel-transposes": "cancel_transposes:CancelTransposesPass",
    "check-lowered": "check_lowered:CheckLoweredPass",
    "check-types": "check_types:CheckTypesPass",
    "compress-to-fp16": "compress_to_fp16:CompressToFP16Pass",
    "deduplicate": "deduplicate:DeduplicatePass",
    "eliminate-dead": "eliminate_dead:EliminateDeadPass",
    "eliminate-identities": "eliminate_identities:EliminateIdentitiesPass",
    "fold-batch-norm": "fold_batch_norm:FoldBatchNormPass",
    "fold-constants": "fold_constants:FoldConstantsPass",
    "fold-scales": "fold_scales:FoldScalesPass",
    "front-finish": "anchors:FrontFinishPass",
    "front-start": "anchors:FrontStartPass",
    "fuse-attention": "fuse_attention:FuseAttentionPass",
    "fuse-clamp": "fuse_clamp:FuseClampPass",
    "fuse-depth-to-space": "fuse_depth_to_space:FuseDepthToSpacePass",
    "fuse-gelu": "fuse_gelu:FuseGeluPass",
    "fuse-hsigmoid": "fuse_hsigmoid:FuseHsigmoidPass",
    "fuse-hswish": "fuse_hswish:FuseHswishPass",
    "fuse-matmul-transpose": "fuse_matmul_transpose:FuseMatmulTransposePass",
    "fuse-mish": "fuse_mish:FuseMishPass",
    "fuse-mvn": "fuse_mvn:FuseMvnPass",
    "fuse-pads": "fuse_pads:FusePadsPass",
    "fuse-repeats": "fuse_repeats:FuseRepeatsPass",
    "fuse-concats": "fuse_concats:FuseConcatsPass",
    "fuse-normalize-l2": "fuse_normalize_l2:FuseNormalizeL2Pass",
    "fuse-prelu": "fuse_prelu:FusePreluPass",
    "fuse-reduce": "fuse_reduce:FuseReducePass",
    "fuse-shuffle-channels": "fuse_shuffle_channels:FuseShuffleChannelsPass",
    "fuse-slices": "fuse_slices:FuseSlicesPass",
    "fuse-soft-plus": "fuse_soft_plus:FuseSoftPlusPass",
    "fuse-space-to-depth": "fuse_space_to_depth:FuseSpaceToDepthPass",
    "fuse-swish": "fuse_swish:FuseSwishPass",
    "infer-types": "infer_types:InferTypesPass",
    "lower-mo": "lower_mo:LowerMoPass",
    "lower-onnx": "lower_onnx:LowerOnnxPass",
    "lower-tf": "lower_tf:LowerTfPass",
    "raise-switch-merge": "raise_switch_merge:RaiseSwitchMergePass",
    "raise-tensor-arrays": "raise_tensor_arrays:RaiseTensorArraysPass",
    "raise-tensor-lists": "raise_tensor_lists:RaiseTensorListsPass",
    "raise-while-frames": "raise_while_frames:RaiseWhileFramesPass",
    "choose-layouts": "layout.choose_layouts:ChooseLayoutsPass",
    "reshape-unit-transposes": "layout.reshape_unit_transposes:ReshapeUnitTransposesPass",
    "fuse-recurrent-cells": "fuse_recurrent_cells:FuseRecurrentCellsPass",
    "fuse-dilated-convolution": "fuse_dilated_convolution:FuseDilatedConvolutionPass",
    "middle-finish": "anchors:MiddleFinishPass",
    "middle-start": "anchors:MiddleStartPass",
    "simplify-broadcast": "simplify_broadcast:SimplifyBroadcastPass",
    "simplify-reshape": "simplify_reshape:SimplifyReshapePass",
    "simplify-shape-of": "simplify_shape_of:SimplifyShapeOfPass",
    "unbatch-gather": "unbatch_gather:UnbatchGatherPass",
    "unflatten-matmul": "unflatten_matmul:UnflattenMatmulPass",
}
"""File and class of each pass in `moir.passes`."""

LOWERINGS: dict[str, str] = {"onnx": "lower-onnx", "tf": "lower-tf"}
"""The lowering pass of each framework."""

OF_ONE_FRAMEWORK: dict[str, str] = {
    "lower-onnx": "onnx",
    "raise-while-frames": "tf",
    "raise-switch-merge": "tf",
    "raise-tensor-arrays": "tf",
    "raise-tensor-lists": "tf",
    "lower-tf": "tf",
    "fuse-recurrent-cells": "tf",
    "choose-layouts": "tf",
    "reshape-unit-transposes": "tf",
}
"""Passes of the pipeline that only the models of one framework go through."""

LAYOUT_CHANGE = frozenset(("choose-layouts", "reshape-unit-transposes"))
"""The passes `--layout-change=none` leaves out."""

FRONT: tuple[str, ...] = (
    "front-start",
    "raise-while-frames",
    "raise-switch-merge",
    "raise-tensor-arrays",
    "raise-tensor-lists",
    "lower-onnx",
    "lower-tf",
    "check-lowered",
    "front-finish",
)

MIDDLE: tuple[str, ...] = (
    "middle-start",
    "eliminate-dead",
    "fold-constants",
    # Shape computations: they tell the other passes more once they are short.
    "eliminate-identities",
    "simplify-shape-of",
    "simplify-broadcast",
    "simplify-reshape",
    "deduplicate",
    "eliminate-dead",
    "eliminate-identities",
    # Loops over sequences.
    "fuse-recurrent-cells",
    # The layout change.
    "fuse-repeats",
    "fuse-dilated-convolution",
    "choose-layouts",
    "fold-constants",
    "reshape-unit-transposes",
    "simplify-shape-of",
    "fuse-pads",
    # Movement of data.
    "fuse-concats",
    "cancel-transposes",
    "cancel-reshapes",
    "unflatten-matmul",
    "fuse-shuffle-channels",
    "fuse-depth-to-space",
    "fuse-space-to-depth",
    "fuse-slices",
    # Activations and normalizations.
    "fuse-clamp",
    "fuse-hsigmoid",
    "fuse-hswish",
    "fuse-soft-plus",
    "fuse-mish",
    "fuse-swish",
    "fuse-gelu",
    "fuse-prelu",
    "fuse-mvn",
    "fuse-reduce",
    "fuse-normalize-l2",
    # Weights. Behind the activations, whose constant factors would be taken for scales.
    "fold-batch-norm",
    "fold-scales",
    "fold-constants",
    "deduplicate",
    "eliminate-dead",
    # Matrix products. Attention looks at what is used, so nothing dead may be left.
    "fuse-matmul-transpose",
    "eliminate-dead",
    "fuse-attention",
    "eliminate-dead",
    "cancel-transposes",
    "middle-finish",
)

BACK: tuple[str, ...] = ("back-start", "unbatch-gather", "deduplicate", "eliminate-dead", "check-types", "back-finish")

DEFAULT_PIPELINE: tuple[str, ...] = (*FRONT, *MIDDLE, *BACK)
"""The passes of a conversion, in order."""

Observer: TypeAlias = Callable[[ModulePass, ModuleOp, float], None]
"""Told after each pass: the pass, the module as it is now, seconds the pass took."""


def load_pass(name: str) -> type[ModulePass]:
    """The class of a pass; its file is imported now. Raises ConversionError if there is none."""
    if name not in PASSES:
        raise ConversionError(f"there is no pass {name!r}", hint=f"passes are {', '.join(sorted(PASSES))}")
    module, _, class_name = PASSES[name].partition(":")
    return getattr(import_module(f"moir.passes.{module}"), class_name)


def every_pass() -> list[str]:
    """The passes of all conversions, in order: `pipeline_names` leaves some of them out."""
    return [name for each in DEFAULT_PIPELINE for name in (("compress-to-fp16", each) if each == "check-types" else (each,))]


def pipeline_names(framework: str = "onnx", *, compress_to_fp16: bool = False, layout_change: bool = True) -> list[str]:
    """Names of the passes a model of a framework goes through.

    Args:
        framework: framework the module is from.
        compress_to_fp16: store weights in half precision.
        layout_change: move transpositions until they cancel.
    """
    names = [name for name in every_pass() if OF_ONE_FRAMEWORK.get(name, framework) == framework]
    left_out = {*(() if layout_change else LAYOUT_CHANGE), *(() if compress_to_fp16 else ("compress-to-fp16",))}
    return [name for name in names if name not in left_out]


def default_pipeline(framework: str = "onnx", *, compress_to_fp16: bool = False, layout_change: bool = True) -> list[ModulePass]:
    """The passes a model of a framework goes through, see `pipeline_names`."""
    return [load_pass(name)() for name in pipeline_names(framework, compress_to_fp16=compress_to_fp16, layout_change=layout_change)]


def run_passes(
    context: Context,
    module: ModuleOp,
    passes: Iterable[ModulePass],
    observer: Observer | None = None,
    *,
    verify_each: bool = False,
) -> None:
    """Apply passes in order.

    Args:
        context: the dialects, for passes that build operations by name.
        module: changed in place.
        passes: the passes.
        observer: told after each pass.
        verify_each: verify the module after each pass.
    """
    for each in passes:
        start = time.perf_counter()
        each.apply(context, module)
        seconds = time.perf_counter() - start
        if verify_each:
            module.verify()
        if observer is not None:
            observer(each, module, seconds)
