"""The faults of the CPU plugin and the smallest models that show them, on the installed runtime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import openvino
from openvino import opset13 as ops

import moir
from moir.targets.known_faults import faults_of
from moir.targets.record import Fault, Form, Refusal
from moir.targets.registry import OPENVINO_CPU
from tests.numerical.runtime import core
from tests.numerical.targets.proofs import OF_UNKNOWN_SIZES, PROOFS
from tests.numerical.targets.proofs_of_factors import PROOFS_OF_FACTORS, PROOFS_OF_TRANSPOSES
from tests.numerical.targets.proofs_of_forms import PROOFS_OF_FORMS as PROOFS_OF_NUMBERS
from tests.numerical.targets.proofs_of_kernels import PROOFS_OF_KERNELS, PROOFS_OF_REFUSED
from tests.numerical.targets.proofs_of_levels import PROOFS_OF_LEVELS
from tests.numerical.targets.proofs_of_neighbours import PROOFS_OF_NEIGHBOURS
from tests.numerical.targets.proofs_of_operations import PROOFS_OF_OPERATIONS
from tests.numerical.targets.proofs_of_refusals import PROOFS_OF_REFUSALS

_KNOWN = tuple(faults_of(OPENVINO_CPU))
FAULTS: dict[str, Fault] = {fault.name: fault for fault, _ in _KNOWN}
FORM_OF: dict[str, str] = {fault.name: record.name for fault, record in _KNOWN if isinstance(record, Form)}
"""The form that avoids a fault, by the name of the fault."""

REFUSAL_OF: dict[str, str] = {fault.name: record.name for fault, record in _KNOWN if isinstance(record, Refusal)}
"""The refusal for which a fault is the reason, by the name of the fault."""

PROOFS_OF_FORMS = (
    PROOFS_OF_NUMBERS
    | PROOFS_OF_OPERATIONS
    | PROOFS_OF_REFUSALS
    | PROOFS_OF_NEIGHBOURS
    | PROOFS_OF_LEVELS
    | PROOFS_OF_FACTORS
    | PROOFS_OF_TRANSPOSES
    | PROOFS_OF_KERNELS
)
EVERY_PROOF = PROOFS | PROOFS_OF_FORMS | PROOFS_OF_REFUSED

UNKNOWN_SIZES = OF_UNKNOWN_SIZES | {
    "absolute-sizes",
    "added-axes",
    "convolution-sum",
    "einsum-empty",
    "empty-constant",
    "f64-sizes",
    "factors-of-shared-sums",
    "grouped-columns",
    "indices-behind-padding",
    "joined-without-elements",
    "levels-of-unknown-sizes",
    "lost-convolutions",
    "narrow-extremes",
    "negative-factors-of-levels",
    "products-of-rows",
    "quantize-sum",
    "ranks-of-inputs",
    "reshaped-products",
    "responses-of-unknown-channels",
    "rows-of-broadcasts",
    "search-empty",
    "sequence-lengths",
    "sequence-sizes",
    "single-channel-loop",
    "slice-from-end",
    "third-axis-levels",
    "unknown-columns",
    "unknown-filters",
    "filters-of-one-channel",
}
"""The faults that are there if sizes other than 1 are not known."""

UNKNOWN_BATCHES = {
    "levels-of-single-pixels",
    "repeated-channels",
    "repeated-pooled-channel",
    "shuffled-unknown-groups",
    "slopes-of-single-pixels",
}
"""The faults that are there if only the first size is not known."""

BOUNDED = {"remainder-of-sizes": openvino.Dimension(3, 19)}
"""The faults that are there if sizes have bounds."""

PROVEN_ELSEWHERE = {
    "changed-scales": "tests/numerical/onnx/test_computed_scales.py: the second inference shows it",
    "compressed-convolution-of-a-result": "tests/numerical/targets/test_views.py: models of several results",
    "extension-choice": "tests/numerical/keras/test_preprocessing.py: the runtime has to load an extension",
    "kept-convolution-with-sum": "tests/numerical/checking/test_keep_precision.py: a hint of bf16 shows it",
    "kept-product-with-bias": "tests/numerical/checking/test_keep_precision.py: a hint of bf16 shows it",
    "largest-of-pooled-channels": "tests/numerical/targets/test_instructions.py: a limit of the instruction set shows it",
    "length-of-vector": "tests/numerical/onnx/test_movement.py: a model that is reshaped shows it",
    "no-attention": "tests/filecheck/targets: OpenVINO GenAI shows it, which no test needs",
    "nested-iterators": "tests/numerical/pytorch/test_composites.py: the runtime cannot make the model",
    "normalized-partial-vectors": "tests/numerical/targets/test_instructions.py: a limit of the instruction set shows it",
    "random-subtrahend": "tests/numerical/onnx/test_generation.py: one run does not show it",
    "state-types": "tests/numerical/passes/state: a model with states",
    "state-unread": "tests/numerical/targets/test_states.py: a model with a state",
    "views-of-moved-data": "tests/numerical/targets/test_views.py: models of several results",
    "dynamic-ranks": "tests/numerical/onnx/test_notes_on_loading.py: no form avoids it, a note says it",
    "initial-sizes": "tests/numerical/passes/state/test_make_stateful.py: a model with a state",
    "long-ranges": "tests/filecheck/targets: the model has too many elements",
    "windows-of-no-image": "tests/filecheck/targets: the runtime cannot make the model",
    "weights-of-states": "tests/numerical/pytorch/test_writes.py: a model with a state",
    "unfused-attention": "tests/filecheck/targets: OpenVINO GenAI shows it, which no test needs",
    "unique-no-constant": "tests/numerical/onnx/test_unique_and_one_hot.py: the runtime cannot write the model",
}
"""Faults without a model of one inference, and where they are tested."""

FOLDED = {"broadcast-scalar", "top-k-empty", "top-k-none"}
"""The faults whose smallest models moir folds, as they have no elements or a known target, without a form, too."""


def model_of(name: str) -> openvino.Model:
    """The smallest model that shows a fault."""
    build, inputs, _ = EVERY_PROOF[name]
    knows_sizes = name not in UNKNOWN_SIZES
    unknown = BOUNDED.get(name, -1)
    shapes = [[size if (knows_sizes and name not in BOUNDED) or size == 1 else unknown for size in np.shape(each)] for each in inputs]
    if name in UNKNOWN_BATCHES:
        shapes = [[unknown, *shape[1:]] for shape in shapes]
    parameters = [ops.parameter(shape, each.dtype) for shape, each in zip(shapes, inputs, strict=True)]
    return openvino.Model([build(*parameters)], parameters)


def is_right(name: str, path: Path | None = None) -> bool:
    """Whether the plugin computes the right results for the model, or an IR of it; False if it does not compile or run
    it.
    """
    _, inputs, wanted = EVERY_PROOF[name]
    try:
        actual = next(iter(core().compile_model(path or model_of(name), "CPU")(inputs).values()))
    except RuntimeError:
        return False
    return actual.shape == np.shape(wanted) and np.allclose(actual, wanted, rtol=0, equal_nan=True)


def converted(name: str, folder: Path, **options: Any) -> Path:
    """The IR of the smallest model that shows a fault, converted by moir."""
    openvino.save_model(model_of(name), folder / "given.xml", compress_to_fp16=False)
    moir.save_model(moir.convert_model(folder / "given.xml", **options), folder / "converted.xml")
    return folder / "converted.xml"
