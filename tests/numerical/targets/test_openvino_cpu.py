"""The faults of the CPU plugin: each is there on the installed runtime, and the form that avoids it computes what it should.

A fault that is gone fails its test: then its record and its form go, and the smallest model with them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import openvino
import pytest
from openvino import opset13 as ops

import moir
from moir.frameworks import load
from moir.target_records import OPENVINO_CPU
from moir.targets.record import Fault
from tests.numerical.processors import processor_features
from tests.numerical.runtime import core
from tests.numerical.targets.proofs import OF_UNKNOWN_SIZES, PROOFS
from tests.numerical.targets.proofs_of_forms import PROOFS_OF_FORMS as PROOFS_OF_NUMBERS
from tests.numerical.targets.proofs_of_levels import PROOFS_OF_LEVELS
from tests.numerical.targets.proofs_of_neighbours import PROOFS_OF_NEIGHBOURS
from tests.numerical.targets.proofs_of_refusals import PROOFS_OF_REFUSALS

FAULTS: dict[str, Fault] = {each.name: each for each in load(str(OPENVINO_CPU.faults))}
PROOFS_OF_FORMS = PROOFS_OF_NUMBERS | PROOFS_OF_REFUSALS | PROOFS_OF_NEIGHBOURS | PROOFS_OF_LEVELS
EVERY_PROOF = PROOFS | PROOFS_OF_FORMS

UNKNOWN_SIZES = OF_UNKNOWN_SIZES | {
    "added-axes",
    "einsum-empty",
    "empty-constant",
    "levels-of-unknown-sizes",
    "narrow-extremes",
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

CRASHING = {
    "broadcast-scalar",
    "gather-empty",
    "gather-of-one-batch",
    "gather-short-list",
    "levels-of-rows",
    "loop-condition",
    "normalized-residual",
    "one-column",
    "packed-padding",
    "rows-of-broadcasts",
    "rows-of-constants",
    "scalar-product",
    "search-empty",
    "slice-computed-axes",
    "unique-axis",
    "unique-bytes",
    "unique-unsorted",
}
"""The faults that read beyond the data, or end the process: they are looked at in another one."""

FOLDED = {"broadcast-scalar", "top-k-empty", "top-k-none"}
"""The faults whose smallest models moir folds, as they have no elements or a known target, without a form, too."""

ATTEMPTS = 10
"""What is read from memory that nothing was written to is right sometimes."""


def model_of(name: str) -> openvino.Model:
    """The smallest model that shows a fault."""
    build, inputs, _ = EVERY_PROOF[name]
    knows_sizes = name not in UNKNOWN_SIZES
    unknown = BOUNDED.get(name, -1)
    shapes = [[size if (knows_sizes and name not in BOUNDED) or size == 1 else unknown for size in np.shape(each)] for each in inputs]
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


def is_there(name: str) -> bool:
    """Whether the plugin has a fault."""
    if name in CRASHING:
        code = f"from {__name__} import is_right; print(all(is_right({name!r}) for _ in range({ATTEMPTS})))"
        # glibc fills new memory with this byte, so that reading it is wrong each time.
        environment = os.environ | {"MALLOC_PERTURB_": "85"}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
        return done.stdout.strip() != "True"
    return not all(is_right(name) for _ in range(ATTEMPTS))


def converted(name: str, folder: Path, **options: Any) -> Path:
    """The IR of the smallest model that shows a fault, converted by moir."""
    openvino.save_model(model_of(name), folder / "given.xml", compress_to_fp16=False)
    moir.save_model(moir.convert_model(folder / "given.xml", **options), folder / "converted.xml")
    return folder / "converted.xml"


def test_every_fault_has_a_proof() -> None:
    assert set(FAULTS) == set(EVERY_PROOF) | set(PROVEN_ELSEWHERE)
    assert {name for name, each in FAULTS.items() if each.form} - set(PROVEN_ELSEWHERE) == set(PROOFS_OF_FORMS)


def test_every_form_avoids_a_fault() -> None:
    assert {each.form for each in FAULTS.values() if each.form} == set(OPENVINO_CPU.every_form) - set(OPENVINO_CPU.preferred_forms)


def need_processor(name: str) -> None:
    """Skip a test if the processor is one on which a fault is not there."""
    if (feature := FAULTS[name].feature) and feature not in processor_features():
        pytest.skip(f"the processor is without {feature}")


@pytest.mark.parametrize("name", EVERY_PROOF)
def test_the_fault_is_there(name: str) -> None:
    need_processor(name)
    assert is_there(name), f"the plugin is mended: the record {name} can go, and its form"


@pytest.mark.parametrize("name", PROOFS_OF_FORMS)
def test_the_form_is_right(name: str, tmp_path: Path) -> None:
    path = converted(name, tmp_path)
    assert all(is_right(name, path) for _ in range(ATTEMPTS))


@pytest.mark.parametrize("name", sorted(set(PROOFS_OF_FORMS) - CRASHING - UNKNOWN_SIZES - FOLDED - set(BOUNDED)))
def test_without_target_the_operations_are_those_of_the_model(name: str, tmp_path: Path) -> None:
    """The plain IR still has the fault: nothing else in the pipeline works around it."""
    need_processor(name)
    path = converted(name, tmp_path, target="none")
    assert not all(is_right(name, path) for _ in range(ATTEMPTS))
