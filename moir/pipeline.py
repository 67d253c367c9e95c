"""The passes, and the pipeline a model goes through by default.

The anchors `front-start` … `back-finish` do nothing; they mark the phases for passes that are slotted in.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from moir.anchors import ANCHORS
from moir.errors import ConversionError

PASS_FILES = ("passes/*/*.py", "raising/*/raise_*.py", "lowering/*/lower_*.py", "model_optimizer/lowering/lower_*.py")
"""Where the files of passes are in this package: a file has the name of its pass."""


@cache
def pass_modules() -> dict[str, str]:
    """The module of each pass by the name of the pass, from the names of the files."""
    root = Path(__file__).parent
    files = (path.relative_to(root) for pattern in PASS_FILES for path in root.glob(pattern) if path.stem != "__init__")
    return {path.stem.replace("_", "-"): ".".join(("moir", *path.with_suffix("").parts)) for path in sorted(files)}


def is_pass(name: str) -> bool:
    """Whether a pass of this name is part of moir."""
    return name in ANCHORS or name in pass_modules()


def pass_names() -> list[str]:
    """Names of all passes."""
    return sorted((*ANCHORS, *pass_modules()))


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
    if name in ANCHORS:
        return ANCHORS[name]
    if name not in pass_modules():
        raise ConversionError(f"there is no pass {name!r}", hint=f"passes are {', '.join(pass_names())}")
    defined = vars(import_module(pass_modules()[name])).values()
    return next(each for each in defined if isinstance(each, type) and issubclass(each, ModulePass) and getattr(each, "name", "") == name)


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
