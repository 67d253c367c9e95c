"""An operation is lowered in the file, or the folder, that has the name of its family in the operation sets."""

from __future__ import annotations

import pytest

from moir.dialects import opset
from moir.frameworks import lowered
from moir.lowering.driver import table_of

OTHER_NAMES = {
    "ArgMax": "reduction",
    "ArgMin": "reduction",
    "AveragePool": "AvgPool",
    "BatchMatMul": "MatMul",
    "Cast": "Convert",
    "CastLike": "ConvertLike",
    "ConcatV2": "Concat",
    "Conv": "Convolution",
    "Conv2D": "Convolution",
    "Conv3D": "Convolution",
    "ConvTranspose": "ConvolutionBackpropData",
    "Deconvolution": "ConvolutionBackpropData",
    "Embed": "Gather",
    "Embedding": "Gather",
    "Expand": "Broadcast",
    "ExpandDims": "Unsqueeze",
    "FullyConnected": "MatMul",
    "GatherV2": "Gather",
    "Gemm": "MatMul",
    "Greater_Equal": "GreaterEqual",
    "InnerProduct": "MatMul",
    "Mul": "Multiply",
    "Pack": "Concat",
    "Resize": "Interpolate",
    "SliceChannel": "Split",
    "SplitV": "VariadicSplit",
    "Sub": "Subtract",
    "TopKV2": "TopK",
    "UpSampling": "Interpolate",
    "argsort": "TopK",
    "sort": "TopK",
    "take": "Gather",
}
"""Kinds that an operation of another name computes, or the family itself."""

ELSEWHERE = {
    # A file of functions or operators that share one handler.
    "keras": {"merging", "reshaping", "infrastructure"},
    "mxnet": {"arithmetic", "elementwise"},
    "stablehlo": {"elementwise"},
    "paddle": {"elementwise"},
    # Operators that are operations of TensorFlow share one handler, which finds that of the operation.
    "tflite": {"same_as_tensorflow"},
    # Layers of these frameworks mean more than the operation.
    "onnx": {"ai.onnx.ml", "com.microsoft"},
}

EXCEPTIONS = {
    # Identities are told from those that change a shape by nothing but their attributes.
    ("onnx", "Identity"),
    ("tf", "Identity"),
    # A variable is a resource, whatever reads or writes it.
    ("tf", "Assign"),
    ("tf", "ScatterUpdate"),
    # Parts of complex numbers, and the exponential that may be of one.
    ("tf", "Exp"),
    # Sums of several operands and along axes have one name in two frameworks.
    ("onnx", "Sum"),
    # The slices of Caffe and MXNet divide data; TensorFlow's Where is a NonZero.
    ("caffe", "Slice"),
    ("tf", "Where"),
    # Tables of refused operations stand together.
    ("paddle", "generate_proposals"),
    # Layers of detection networks stand together.
    ("caffe", "RegionYolo"),
    ("caffe", "ReorgYolo"),
    # XLA's forms have a folder of their own, as have convolutions of any number of axes.
    ("tf", "Conv"),
}


def family_of(kind: str) -> str | None:
    """The family of a kind in the operation sets: the first part of the name of its file; None if none has its name."""
    name = OTHER_NAMES.get(kind.lstrip("_"), kind)
    if name.islower() and name in {each.partition(".")[0] for each in opset.FAMILIES}:
        return name
    plain = name.replace("_", "").lower()
    for family, names in opset.FAMILIES.items():
        if any(each.partition(".")[2].lower() == plain for each in names.split()):
            return family.partition(".")[0]
    return None


@pytest.mark.parametrize("framework", [each.dialect for each in lowered()])
def test_a_family_has_one_name(framework: str) -> None:
    table = next(table_of(each) for each in lowered() if each.dialect == framework)
    wrong: dict[str, tuple[str, str]] = {}
    for kind in table.kinds():
        family, file = family_of(kind), table.file(kind).partition(".")[0]
        if family is None or (framework, kind) in EXCEPTIONS or file in ELSEWHERE.get(framework, ()):
            continue
        if file != family:
            wrong[kind] = file, family
    assert not wrong, "kinds with the file that lowers them and the family of the operation"
