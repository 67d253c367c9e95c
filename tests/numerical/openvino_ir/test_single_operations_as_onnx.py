"""Models of one operation, of every operation and version: written as ONNX they compute the same, or are refused."""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import openvino
import pytest

import moir
from moir.errors import UnsupportedOperationError
from tests.numerical.onnx.round_trip import session_of
from tests.numerical.openvino_ir.test_single_operations import COMPARED, value, written_by_runtime
from tests.numerical.runtime import core
from tests.unit.dialects.opset.runtime_reference import runtime_model
from tests.unit.dialects.opset.test_specification import sample

REFUSED = frozenset(
    [
        "opset4.CTCLoss",
        "opset6.ExperimentalDetectronDetectionOutput",
        "opset6.ExperimentalDetectronGenerateProposalsSingleImage",
        "opset6.ExperimentalDetectronPriorGridGenerator",
        "opset6.ExperimentalDetectronROIFeatureExtractor",
        "opset6.ExperimentalDetectronTopKROIs",
        "opset9.GenerateProposals",
        "opset1.Proposal",
        "opset1.DeformablePSROIPooling",
        "opset1.PSROIPooling",
        "opset15.ROIAlignRotated",
        "opset8.MatrixNms",
        "opset8.MulticlassNms",
        "opset9.MulticlassNms",
        "opset13.NMSRotated",
        "opset1.NonMaxSuppression",
        "opset3.NonMaxSuppression",
        "opset4.NonMaxSuppression",
        "opset5.NonMaxSuppression",
        "opset9.NonMaxSuppression",
        "opset17.ErfInv",
        "opset8.I420toBGR",
        "opset8.I420toRGB",
        "opset8.NV12toBGR",
        "opset8.NV12toRGB",
        "opset14.Inverse",
        "opset13.FakeConvert",
        "opset12.ScatterElementsUpdate",
        "opset15.Squeeze",
        "opset16.ISTFT",
        "opset3.EmbeddingSegmentsSum",
        "opset16.SegmentMax",
        "opset16.SparseFillEmptyRows",
        "opset15.StringTensorPack",
        "opset15.StringTensorUnpack",
        "opset1.DeformableConvolution",
        "opset8.DeformableConvolution",
        "opset3.ROIAlign",
        "opset9.ROIAlign",
    ]
)
"""Operations whose sample ONNX does not have, and that are not composed of others yet."""

OF_SORTED_VALUES = frozenset(("opset3.Bucketize", "opset15.SearchSorted"))

WRITTEN = [name for name in COMPARED if name not in REFUSED | OF_SORTED_VALUES]


@cache
def computed(name: str) -> tuple[list[Any], list[Any]]:
    """The inputs of the sample of an operation, and what the runtime computes for them."""
    with TemporaryDirectory() as folder:
        network = core().compile_model(written_by_runtime(name, Path(folder)), "CPU")
    inputs = [value(port) for port in network.inputs]
    return inputs, [np.array(result) for result in network(inputs).values()]


@pytest.mark.parametrize("variant", ["static", "dynamic"])
@pytest.mark.parametrize("name", WRITTEN)
def test_it_computes_the_same_as_onnx(name: str, variant: str, tmp_path: Path) -> None:
    path, back = tmp_path / "dynamic.xml", tmp_path / "back.onnx"
    openvino.save_model(runtime_model(*sample(name, variant)), path, compress_to_fp16=False)
    inputs, expected = computed(name)
    moir.save_onnx(moir.convert_model(path, target="none"), back)
    session = session_of(back)
    results: list[Any] = session.run(None, {port.name: array for port, array in zip(session.get_inputs(), inputs, strict=True)})
    assert len(results) == len(expected)
    for result, wanted in zip(results, expected, strict=True):
        assert result.shape == wanted.shape
        assert result.dtype == wanted.dtype
        if wanted.dtype.kind == "f":
            np.testing.assert_allclose(result, wanted, rtol=1e-4, atol=1e-5)
        else:
            np.testing.assert_array_equal(result, wanted)


@pytest.mark.parametrize("name", [name for name in COMPARED if name in REFUSED])
def test_it_is_refused(name: str, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = moir.convert_model(written_by_runtime(name, tmp_path), target="none", passes="none")
    with pytest.raises(UnsupportedOperationError) as caught:
        moir.save_onnx(module, tmp_path / "back.onnx")
    assert caught.value.operation == name
    assert not (tmp_path / "back.onnx").exists()


def test_most_operations_are_written() -> None:
    assert len(WRITTEN) >= 172
