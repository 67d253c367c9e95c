"""The faults of the CPU plugin and the smallest models that show them, on the installed runtime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import openvino
from openvino import opset13 as ops

import moir
from moir.frameworks import load
from moir.target_records import OPENVINO_CPU
from moir.targets.record import Fault
from tests.numerical.runtime import core
from tests.numerical.targets.proofs import OF_UNKNOWN_SIZES, PROOFS
from tests.numerical.targets.proofs_of_factors import PROOFS_OF_FACTORS, PROOFS_OF_TRANSPOSES
from tests.numerical.targets.proofs_of_forms import PROOFS_OF_FORMS as PROOFS_OF_NUMBERS
from tests.numerical.targets.proofs_of_levels import PROOFS_OF_LEVELS
from tests.numerical.targets.proofs_of_neighbours import PROOFS_OF_NEIGHBOURS
from tests.numerical.targets.proofs_of_refusals import PROOFS_OF_REFUSALS

FAULTS: dict[str, Fault] = {each.name: each for each in load(str(OPENVINO_CPU.faults))}
PROOFS_OF_FORMS = (
    PROOFS_OF_NUMBERS | PROOFS_OF_REFUSALS | PROOFS_OF_NEIGHBOURS | PROOFS_OF_LEVELS | PROOFS_OF_FACTORS | PROOFS_OF_TRANSPOSES
)
EVERY_PROOF = PROOFS | PROOFS_OF_FORMS

UNKNOWN_SIZES = OF_UNKNOWN_SIZES | {
    "added-axes",
    "einsum-empty",
    "empty-constant",
    "f64-sizes",
    "factors-of-shared-sums",
    "grouped-columns",
    "levels-of-unknown-sizes",
    "narrow-extremes",
    "negative-factors-of-levels",
    "products-of-rows",
    "quantize-sum",
    "rows-of-broadcasts",
    "search-empty",
    "sequence-lengths",
    "single-channel-loop",
    "slice-from-end",
    "third-axis-levels",
    "unknown-columns",
    "unknown-filters",
}
"""The faults that are there if sizes other than 1 are not known."""

UNKNOWN_BATCHES = {"shuffled-unknown-groups"}
"""The faults that are there if only the first size is not known."""

BOUNDED = {"remainder-of-sizes": openvino.Dimension(3, 19)}
"""The faults that are there if sizes have bounds."""

PROVEN_ELSEWHERE = {
    "changed-scales": "tests/numerical/reports/test_computed_scales.py: the second inference shows it",
    "extension-choice": "tests/numerical/keras/test_preprocessing.py: the runtime has to load an extension",
    "nested-iterators": "tests/numerical/pytorch/test_composites.py: the runtime cannot make the model",
    "random-subtrahend": "tests/numerical/onnx/regressions: one run does not show it",
    "state-types": "tests/numerical/passes/state: a model with states",
    "state-unread": "tests/numerical/targets/test_states.py: a model with a state",
    "views-of-moved-data": "tests/numerical/targets/test_views.py: models of several results",
    "weights-of-states": "tests/numerical/pytorch/test_writes.py: a model with a state",
    "unique-no-constant": "tests/numerical/onnx/regressions: the runtime cannot write the model",
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
        found = next(iter(core().compile_model(path or model_of(name), "CPU")(inputs).values()))
    except RuntimeError:
        return False
    return found.shape == np.shape(wanted) and np.allclose(found, wanted, rtol=0, equal_nan=True)


def converted(name: str, folder: Path, **options: Any) -> Path:
    """The IR of the smallest model that shows a fault, converted by moir."""
    openvino.save_model(model_of(name), folder / "given.xml", compress_to_fp16=False)
    moir.save_model(moir.convert_model(folder / "given.xml", **options), folder / "converted.xml")
    return folder / "converted.xml"
