"""Operations in the forms for older releases compute the same as the operations themselves, on the installed runtime."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import openvino
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation

from moir.analysis.analyses import Analyses
from moir.analysis.known_values import KnownValues
from moir.dialects.moir import ModelOp
from moir.dialects.opset.infrastructure import Result
from moir.dialects.properties import string_attribute
from moir.emit.in_memory import to_openvino
from moir.errors import UnsupportedOperationError
from moir.execution.inputs import random_inputs
from moir.execution.ports import interface_of
from moir.rewriting.verification import verify_module
from moir.targets.releases.check_release import CheckReleasePass
from moir.targets.releases.earlier_versions import EARLIER_VERSIONS
from moir.targets.releases.expansions import FAMILIES
from moir.targets.releases.lower_to_release import LowerToReleasePass
from moir.targets.releases.registry import RELEASES, accepts
from tests.unit.dialects.opset.test_specification import REFERENCE, moir_operation, operand, sample

REPLACED = dict.fromkeys([*(each.newer for each in EARLIER_VERSIONS), *(name for names in FAMILIES.values() for name in names.split())])

REFUSED = {
    "opset16.AvgPool": "windows are dilated",
    "opset12.ScatterElementsUpdate": "the mean of updates",
    "opset8.MaxPool": "windows are dilated",
    "opset7.Gather": "batch dimensions",
    **{f"opset13.Bitwise{kind}": "bits of integers" for kind in ("And", "Or", "Xor")},
    **{f"opset15.Bitwise{side}Shift": "the number of bits is computed" for side in ("Left", "Right")},
}
"""Samples for which there are no older operations, and why."""

NOT_RUN = {
    "opset6.ReadValue": "needs an Assign",
    "opset6.Assign": "needs a ReadValue",
    "opset15.SearchSorted": "its random rows are not sorted",
    "opset9.RDFT": "the plugin does not compile the sample",
}
"""Samples that say nothing, and why; `OTHERS` has some of these operations."""

PADDED = {"pads_begin": [1, 0], "pads_end": [1, 1], "rounding_type": "ceil_torch"}

OTHERS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "boolean mask": ("opset13.ScaledDotProductAttention", "f32[1,2,4,8] f32[1,2,5,8] f32[1,2,5,6] boolean=[[1,0,1,1,0]]", {}),
    "causal attention": ("opset13.ScaledDotProductAttention", "f32[1,2,5,8] f32[1,2,5,8] f32[1,2,5,6]", {"causal": True}),
    "round to even": ("opset5.Round", "f32=[-2.5,-1.5,-0.5,0.5,1.5,2.5,3.4,-3.6]", {"mode": "half_to_even"}),
    "gelu by tanh": ("opset7.Gelu", "f32[2,3]", {"approximation_mode": "TANH"}),
    "sum of updates": (
        "opset12.ScatterElementsUpdate",
        "f32[4,5] i64=[[0,1,3,-1,0],[0,0,0,0,0]] f32[2,5] i64=0",
        {"reduction": "sum", "use_init_val": True},
    ),
    "one sorted row": ("opset15.SearchSorted", "i32=[1,3,5] i32=[[3,6],[2,1]]", {"right_mode": False}),
    "sorted rows": ("opset15.SearchSorted", "i32=[[1,3,5],[2,2,9]] i32=[[3,6],[2,1]]", {"right_mode": True}),
    "slices of two axes": ("opset15.SliceScatter", "f32[5,6] f32[2,3] i64=[1,0] i64=[-1,6] i64=[2,2] i64=[0,1]", {}),
    "backward slice": ("opset8.Slice", "f32[5,6] i64=[-1,4] i64=[-9223372036854775807,1] i64=[-2,-1] i64=[1,0]", {}),
    "windows with counted padding": (
        "opset14.AvgPool",
        "f32[1,2,9,8]",
        {
            "kernel": [3, 2],
            "strides": [3, 3],
            "pads_begin": [1, 0],
            "pads_end": [1, 1],
            "exclude-pad": False,
            "rounding_type": "ceil_torch",
        },
    ),
    "windows in the padding": (
        "opset14.MaxPool",
        "f32[1,2,9,8]",
        {"kernel": [2, 2], "strides": [3, 3], "dilations": [1, 1], **PADDED},
    ),
    "complement": ("opset13.BitwiseNot", "u8=[0,1,255]", {}),
    "complement of signed integers": ("opset13.BitwiseNot", "i32=[0,-1,255]", {}),
    "shift": ("opset15.BitwiseRightShift", "i32=[-5,-1,0,7,1024] i32=[1,2,3,1,4]", {}),
    "infinities of one sign": ("opset10.IsInf", "f32[2,3]", {"detect_negative": False}),
    "transform of real numbers": ("opset9.RDFT", "f32[3,8] i64=[1]", {}),
    "largest of equal elements": (
        "opset11.TopK",
        "i32=[[1,3],[3,2],[3,3],[1,2]] i64=3",
        {"axis": 0, "mode": "max", "sort": "value", "index_element_type": "i64", "stable": True},
    ),
    "least of equal elements": (
        "opset11.TopK",
        "i32=[[1,3,3,1],[3,2,3,2]] i64=3",
        {"axis": -1, "mode": "min", "sort": "index", "index_element_type": "i32", "stable": True},
    ),
    "skipped axis": ("opset15.Squeeze", "f32[1,3,1] i64=[0,1]", {"allow_axis_skip": True}),
    "indices from the end": ("opset16.OneHot", "i64=[-1,0,2] i64=4 f32=1.0 f32=0.0", {"axis": 1, "negative_indices_mode": "normalize"}),
}
"""What the samples do not have: an operation, its operands as in a sample, and its properties."""


def computed(module: ModuleOp, inputs: list[Any]) -> list[Any]:
    """The outputs of a module on the installed runtime, in f32."""
    compiled = openvino.compile_model(to_openvino(module), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    results = compiled(dict(enumerate(inputs)))
    return [results[index] for index in range(len(compiled.outputs))]


def module_of(case: Any) -> ModuleOp:
    """A model of one operation, whose operands are inputs and constants."""
    op = moir_operation(*case)
    op = type(op).create(operands=op.operands, properties=op.properties, result_types=op.infer(KnownValues()))
    for index, value in enumerate(op.operands):
        cast("Operation", value.owner).attributes["name"] = string_attribute(f"operand {index}")
    results = [Result.create(operands=[result]) for result in op.results]
    return ModuleOp([ModelOp.of("m", Block([*(cast("Operation", value.owner) for value in op.operands), op, *results]))])


def last_without(name: str) -> str:
    """The newest release that does not accept an operation."""
    return [each.name for each in RELEASES.values() if not accepts(each, name)][-1]


def check(case: Any) -> None:
    """Compare an operation with its form for the newest release that does not accept it."""
    module, release = module_of(case), last_without(case[0])
    inputs = list(random_inputs(interface_of(module).inputs, 0).values())
    expected = computed(module, inputs)
    LowerToReleasePass(release).run(module, Analyses(module))
    verify_module(module)
    CheckReleasePass(release).run(module, Analyses(module))
    for actual, wanted in zip(computed(module, inputs), expected, strict=True):
        assert actual.shape == wanted.shape
        np.testing.assert_allclose(actual.astype(np.float64), wanted.astype(np.float64), rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("name", [name for name in REPLACED if name not in REFUSED and name not in NOT_RUN])
def test_samples_compute_the_same(name: str) -> None:
    check(sample(name, "static"))


@pytest.mark.parametrize("name", OTHERS)
def test_other_operations_compute_the_same(name: str) -> None:
    operation, texts, properties = OTHERS[name]
    check((operation, [operand(text, "static") for text in texts.split()], properties, len(REFERENCE[operation]["sample"]["results"])))


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_older_form_is_refused(name: str) -> None:
    module, release = module_of(sample(name, "static")), last_without(name)
    LowerToReleasePass(release).run(module, Analyses(module))
    with pytest.raises(UnsupportedOperationError, match=f"Runtime {release} does not read {name}.* is the first release that does"):
        CheckReleasePass(release).run(module, Analyses(module))
