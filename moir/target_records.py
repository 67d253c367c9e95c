"""The targets: a record for each runtime and device that an IR is written for.

    Target(
        name="openvino-cpu",
        title="OpenVINO Runtime on a CPU",
        forms={"spread-nan": "moir.targets.openvino_cpu.constant_nan"},
        faults="moir.targets.openvino_cpu.faults:FAULTS",
    )

A lowering expresses the meaning of an operation. If a target does not execute it with this meaning, that is a fault of
the target, and a pass of the target writes a form that it executes correctly, for models of all frameworks alike. A
new target is a folder of `moir/targets` and a record here.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from moir.records import Record

_NONE: Mapping[str, str] = MappingProxyType({})


class Target(Record):
    """A runtime and device that an IR is written for.

    Args:
        name: the name, which `--target` takes.
        title: the name in prose.
        preferred_forms: the passes that replace operations by one that the target executes or loads faster; they run
            before all others.
        forms: the passes that write forms which the target executes correctly, in the order in which they run, each
            with the module that has its `Form`.
        fused_forms: the passes that write operations, as the other forms leave them, so that the target executes them
            as one; they run after `forms`.
        state_forms: those that run after values were made states of the model.
        faults: `module:table` of all its faults, including those that no form avoids; None if none is known.
    """

    name: str
    title: str
    preferred_forms: Mapping[str, str] = _NONE
    forms: Mapping[str, str] = _NONE
    fused_forms: Mapping[str, str] = _NONE
    state_forms: Mapping[str, str] = _NONE
    faults: str | None = None

    @property
    def every_form(self) -> dict[str, str]:
        """All passes of the target, each with the module that has its `Form`."""
        return {**self.preferred_forms, **self.forms, **self.fused_forms, **self.state_forms}


OPENVINO_CPU = Target(
    name="openvino-cpu",
    title="OpenVINO Runtime on a CPU",
    preferred_forms={
        "transpose-weights": "moir.targets.openvino_cpu.preferences.weight_layout",
        "transpose-quantized-weights": "moir.targets.openvino_cpu.preferences.weight_layout",
        "read-final-shapes": "moir.targets.openvino_cpu.preferences.fused_operations",
        "slice-known-sizes": "moir.targets.openvino_cpu.shapes",
        "omit-usual-scales": "moir.targets.openvino_cpu.preferences.attention",
        "scale-queries": "moir.targets.openvino_cpu.preferences.attention",
        "split-rotary-halves": "moir.targets.openvino_cpu.preferences.attention",
        "complete-scales": "moir.targets.openvino_cpu.preferences.interpolation",
        "divide-by-norms": "moir.targets.openvino_cpu.preferences.normalization",
        "normalize-rows": "moir.targets.openvino_cpu.preferences.normalization",
        "slice-single-entries": "moir.targets.openvino_cpu.preferences.indexing",
        "round-windows-up": "moir.targets.openvino_cpu.preferences.pooling",
        "give-ranges-to-integers": "moir.targets.openvino_cpu.preferences.quantization",
    },
    forms={
        "look-up-sizes": "moir.targets.openvino_cpu.integers",
        "simplify-matmul": "moir.targets.openvino_cpu.weights",
        "sum-empty-products": "moir.targets.openvino_cpu.matrix_products",
        "repeat-matrices": "moir.targets.openvino_cpu.matrix_products",
        "join-empty-parts": "moir.targets.openvino_cpu.concatenation",
        "number-strings": "moir.targets.openvino_cpu.strings",
        "unfold-convolutions": "moir.targets.openvino_cpu.convolution",
        "widen-integers": "moir.targets.openvino_cpu.narrow_integers",
        "bound-integers": "moir.targets.openvino_cpu.integers",
        "mask-words": "moir.targets.openvino_cpu.selected_words",
        "order-words": "moir.targets.openvino_cpu.words",
        "divide-words": "moir.targets.openvino_cpu.words",
        "shift-words": "moir.targets.openvino_cpu.words",
        "compute-remainders": "moir.targets.openvino_cpu.integers",
        "round-to-levels": "moir.targets.openvino_cpu.quantization",
        "round-summands": "moir.targets.openvino_cpu.neighbours.quantized_sums",
        "separate-absolute-values": "moir.targets.openvino_cpu.concatenation",
        "unbatch-gather": "moir.targets.openvino_cpu.indexing",
        "complete-indices": "moir.targets.openvino_cpu.indexing",
        "separate-weights": "moir.targets.openvino_cpu.matrix_products",
        "separate-products": "moir.targets.openvino_cpu.matrix_products",
        "widen-kernels": "moir.targets.openvino_cpu.convolution",
        "align-strides": "moir.targets.openvino_cpu.convolution",
        "pair-channels": "moir.targets.openvino_cpu.convolution",
        "normalize-columns": "moir.targets.openvino_cpu.preferences.normalization",
        "separate-parts": "moir.targets.openvino_cpu.merged.parts",
        "pad-before-convolutions": "moir.targets.openvino_cpu.neighbours.convolution_operands",
        "keep-strides": "moir.targets.openvino_cpu.neighbours.convolution_operands",
        "separate-maps": "moir.targets.openvino_cpu.neighbours.convolution_operands",
        "clamp-before-pooling": "moir.targets.openvino_cpu.neighbours.pooling",
        "separate-levels": "moir.targets.openvino_cpu.neighbours.levels",
        "separate-normalizations": "moir.targets.openvino_cpu.neighbours.normalization",
        "give-rows-to-biases": "moir.targets.openvino_cpu.neighbours.cells",
        "count-axes-from-first": "moir.targets.openvino_cpu.neighbours.axes",
        "write-zero-parameters": "moir.targets.openvino_cpu.neighbours.activation",
        "spread-nan": "moir.targets.openvino_cpu.constant_nan",
        "equalize-ranks": "moir.targets.openvino_cpu.ranks",
        "separate-reductions": "moir.targets.openvino_cpu.reductions",
        "reverse-comparisons": "moir.targets.openvino_cpu.comparison",
        "reverse-random-differences": "moir.targets.openvino_cpu.random",
        "compare-with-infinity": "moir.targets.openvino_cpu.comparison",
        "compare-with-zero": "moir.targets.openvino_cpu.comparison",
        "search-filled-rows": "moir.targets.openvino_cpu.sort",
        "search-along-axes": "moir.targets.openvino_cpu.sort",
        "widen-elements": "moir.targets.openvino_cpu.elements",
        "round-apart": "moir.targets.openvino_cpu.merged.levels",
        "fit-levels": "moir.targets.openvino_cpu.merged.operands",
        "keep-factors": "moir.targets.openvino_cpu.merged.dequantization",
        "separate-slopes": "moir.targets.openvino_cpu.merged.slopes",
        "keep-reduced-dimensions": "moir.targets.openvino_cpu.merged.reshaped_reductions",
        "separate-transposes": "moir.targets.openvino_cpu.merged.transposes",
        "separate-queries": "moir.targets.openvino_cpu.merged.generated_code",
        "compute-mish": "moir.targets.openvino_cpu.merged.generated_code",
        "select-pad-values": "moir.targets.openvino_cpu.padding",
        "repeat-in-pairs": "moir.targets.openvino_cpu.repetition",
        "step-through-sequences": "moir.targets.openvino_cpu.recurrent",
        "count-unsliced-iterations": "moir.targets.openvino_cpu.loops",
        "unnest-iterators": "moir.targets.openvino_cpu.loops",
        "copy-loop-slices": "moir.targets.openvino_cpu.loops",
        "read-changing-states": "moir.targets.openvino_cpu.loops",
        "convert-chosen-extensions": "moir.targets.openvino_cpu.comparison",
        "select-by-logic": "moir.targets.openvino_cpu.comparison",
        "split-transforms": "moir.targets.openvino_cpu.signal",
        "draw-lists": "moir.targets.openvino_cpu.random",
        "convert-empty-rows": "moir.targets.openvino_cpu.indexing",
        "order-prior-boxes": "moir.targets.openvino_cpu.detection",
        "complete-slices": "moir.targets.openvino_cpu.slicing",
        "complete-shapes": "moir.targets.openvino_cpu.shapes",
        "squeeze-products": "moir.targets.openvino_cpu.matrix_products",
        "pad-blocks": "moir.targets.openvino_cpu.blocks",
        "convert-in-steps": "moir.targets.openvino_cpu.elements",
        "compute-words": "moir.targets.openvino_cpu.words",
    },
    fused_forms={
        "step-by-delta-rule": "moir.targets.openvino_cpu.preferences.delta_rule",
    },
    state_forms={
        "erase-unread-states": "moir.targets.openvino_cpu.states",
        "store-states": "moir.targets.openvino_cpu.states",
        "swap-weights-of-states": "moir.targets.openvino_cpu.states",
    },
    faults="moir.targets.openvino_cpu.faults:FAULTS",
)

NO_TARGET = Target(name="none", title="no runtime in particular: operations as their definitions have them")

TARGETS: Mapping[str, Target] = MappingProxyType({each.name: each for each in (OPENVINO_CPU, NO_TARGET)})
"""The targets by name. The first one is the default."""


@cache
def form_modules() -> Mapping[str, str]:
    """The passes of all targets, each with the module that has its `Form`."""
    return {name: module for each in TARGETS.values() for name, module in each.every_form.items()}
