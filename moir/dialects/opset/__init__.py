"""The opset dialects `opset1` … `opset17`, in one file per family of the OpenVINO operation-set specification.

A family is imported when one of its operations is first requested: `operation("opset8.Gather")`, `newest("Gather")`. An
operation of an extension, `extension.Mine`, is registered while the extension is loaded, and found in the same ways.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module

from xdsl.ir import Dialect

from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.support.suggestions import alternatives, nearest

FAMILIES: dict[str, str] = {
    "activation": (
        "opset1.Clamp opset1.Elu opset2.Gelu opset7.Gelu opset5.HSigmoid opset4.HSwish opset1.HardSigmoid opset5.LogSoftmax "
        "opset4.Mish opset1.PRelu opset1.Relu opset1.Selu opset1.Sigmoid opset4.SoftPlus opset9.SoftSign opset1.Softmax "
        "opset8.Softmax opset4.Swish"
    ),
    "arithmetic": (
        "opset1.Add opset13.BitwiseAnd opset15.BitwiseLeftShift opset13.BitwiseNot opset13.BitwiseOr opset15.BitwiseRightShift "
        "opset13.BitwiseXor opset1.Divide opset1.FloorMod opset1.Maximum opset1.Minimum opset1.Mod opset1.Multiply opset1.Power "
        "opset1.SquaredDifference opset1.Subtract"
    ),
    "attention": ("opset13.ScaledDotProductAttention"),
    "comparison": (
        "opset1.Equal opset1.Greater opset1.GreaterEqual opset10.IsFinite opset10.IsInf opset10.IsNaN opset1.Less "
        "opset1.LessEqual opset1.LogicalAnd opset1.LogicalNot opset1.LogicalOr opset2.LogicalXor opset1.NotEqual opset1.Select "
        "opset1.Xor"
    ),
    "control_flow": ("opset8.If opset5.Loop opset1.TensorIterator"),
    "convolution": (
        "opset1.BinaryConvolution opset1.Convolution opset1.ConvolutionBackpropData opset1.DeformableConvolution "
        "opset8.DeformableConvolution opset1.GroupConvolution opset1.GroupConvolutionBackpropData"
    ),
    "data_types": ("opset1.Convert opset1.ConvertLike opset14.ConvertPromoteTypes"),
    "decoding": ("opset1.CTCGreedyDecoder opset6.CTCGreedyDecoderSeqLen opset4.CTCLoss opset1.GatherTree"),
    "detection.outputs": ("opset1.DetectionOutput opset8.DetectionOutput opset1.PriorBox opset8.PriorBox opset1.PriorBoxClustered"),
    "detection.proposals": (
        "opset6.ExperimentalDetectronDetectionOutput opset6.ExperimentalDetectronGenerateProposalsSingleImage "
        "opset6.ExperimentalDetectronPriorGridGenerator opset6.ExperimentalDetectronROIFeatureExtractor "
        "opset6.ExperimentalDetectronTopKROIs opset9.GenerateProposals opset1.Proposal opset4.Proposal"
    ),
    "detection.regions": (
        "opset1.DeformablePSROIPooling opset1.PSROIPooling opset3.ROIAlign opset9.ROIAlign opset15.ROIAlignRotated "
        "opset2.ROIPooling opset1.RegionYolo opset2.ReorgYolo"
    ),
    "detection.suppression": (
        "opset8.MatrixNms opset8.MulticlassNms opset9.MulticlassNms opset13.NMSRotated opset1.NonMaxSuppression "
        "opset3.NonMaxSuppression opset4.NonMaxSuppression opset5.NonMaxSuppression opset9.NonMaxSuppression"
    ),
    "elementwise": (
        "opset1.Abs opset1.Acos opset4.Acosh opset1.Asin opset4.Asinh opset1.Atan opset4.Atanh opset1.Ceiling opset1.Cos "
        "opset1.Cosh opset1.Erf opset17.ErfInv opset1.Exp opset1.Floor opset1.Log opset1.Negative opset5.Round opset1.Sign "
        "opset1.Sin opset1.Sinh opset1.Sqrt opset1.Tan opset1.Tanh"
    ),
    "generation": ("opset9.Eye opset1.Range opset4.Range"),
    "image.blocks": ("opset2.BatchToSpace opset1.DepthToSpace opset1.ShuffleChannels opset2.SpaceToBatch opset1.SpaceToDepth"),
    "image.color": ("opset17.BGRtoNV12 opset8.I420toBGR opset8.I420toRGB opset8.NV12toBGR opset8.NV12toRGB opset17.RGBtoNV12"),
    "image.resampling": (
        "opset15.Col2Im opset3.ExtractImagePatches opset9.GridSample opset1.Interpolate opset4.Interpolate opset11.Interpolate"
    ),
    "indexing": (
        "opset1.Gather opset7.Gather opset8.Gather opset6.GatherElements opset5.GatherND opset8.GatherND opset3.NonZero "
        "opset1.OneHot opset16.OneHot"
    ),
    "infrastructure": (
        "opset3.Assign opset6.Assign opset1.Constant opset16.Identity opset1.Parameter opset3.ReadValue opset6.ReadValue opset1.Result"
    ),
    "matrix": ("opset7.Einsum opset17.GroupedMatMul opset14.Inverse opset1.MatMul"),
    "movement": ("opset1.Concat opset1.Reverse opset1.ReverseSequence opset7.Roll opset1.Split opset1.Transpose opset1.VariadicSplit"),
    "normalization": (
        "opset1.BatchNormInference opset5.BatchNormInference opset1.GRN opset12.GroupNormalization opset1.LRN opset2.MVN "
        "opset6.MVN opset1.NormalizeL2"
    ),
    "pooling": (
        "opset8.AdaptiveAvgPool opset8.AdaptiveMaxPool opset1.AvgPool opset14.AvgPool opset16.AvgPool opset1.MaxPool "
        "opset8.MaxPool opset14.MaxPool"
    ),
    "quantization": ("opset13.FakeConvert opset1.FakeQuantize"),
    "random": ("opset13.Multinomial opset8.RandomUniform"),
    "recurrent": (
        "opset3.GRUCell opset5.GRUSequence opset1.LSTMCell opset4.LSTMCell opset5.LSTMSequence opset1.RNNCell opset5.RNNSequence"
    ),
    "reduction": (
        "opset3.CumSum opset4.ReduceL1 opset4.ReduceL2 opset1.ReduceLogicalAnd opset1.ReduceLogicalOr opset1.ReduceMax "
        "opset1.ReduceMean opset1.ReduceMin opset1.ReduceProd opset1.ReduceSum"
    ),
    "repetition": ("opset1.Broadcast opset3.Broadcast opset1.Tile"),
    "scattering": (
        "opset3.ScatterElementsUpdate opset12.ScatterElementsUpdate opset4.ScatterNDUpdate opset15.ScatterNDUpdate opset3.ScatterUpdate"
    ),
    "shape": ("opset1.Reshape opset1.ShapeOf opset3.ShapeOf opset1.Squeeze opset15.Squeeze opset1.Unsqueeze"),
    "signal": ("opset7.DFT opset7.IDFT opset9.IRDFT opset16.ISTFT opset9.RDFT opset15.STFT"),
    "slicing": ("opset1.Pad opset12.Pad opset8.Slice opset15.SliceScatter opset1.StridedSlice"),
    "sort": ("opset3.Bucketize opset15.SearchSorted opset1.TopK opset3.TopK opset11.TopK opset10.Unique"),
    "sparse": (
        "opset15.EmbeddingBagOffsets opset3.EmbeddingBagOffsetsSum opset15.EmbeddingBagPacked opset3.EmbeddingBagPackedSum "
        "opset3.EmbeddingSegmentsSum opset16.SegmentMax opset16.SparseFillEmptyRows"
    ),
    "strings": ("opset15.StringTensorPack opset15.StringTensorUnpack"),
}
"""The operations each family file defines."""

_SIMILARITY = 0.7

_FAMILY_OF = {name: family for family, names in FAMILIES.items() for name in names.split()}

OPSETS = tuple(f"opset{version}" for version in range(1, 18))


def names() -> Iterator[str]:
    """Names of all operations of the opset dialects and of loaded extensions."""
    return iter(_FAMILY_OF)


_REGISTERED: dict[str, type[OpsetOp]] = {}


def register(candidate: type[OpsetOp]) -> None:
    """Register an operation that is in no family. Raises KeyError if an operation of its name exists."""
    if candidate.name in _FAMILY_OF or candidate.name in _REGISTERED:
        raise KeyError(candidate.name)
    _REGISTERED[candidate.name] = candidate
    _forget()


def unregister(candidate: type[OpsetOp]) -> None:
    """Remove a registered operation."""
    del _REGISTERED[candidate.name]
    _forget()


def _forget() -> None:
    for lookup in (operation, newest, versions):
        lookup.cache_clear()


def is_registered(name: str) -> bool:
    """Whether an operation of that name is registered."""
    return name in _REGISTERED


@cache
def operation(name: str) -> type[OpsetOp]:
    """The class of an operation, such as `opset8.Gather`. Raises KeyError if there is none."""
    if name in _REGISTERED:
        return _REGISTERED[name]
    module = import_module(f"moir.dialects.opset.{_FAMILY_OF[name]}")
    candidate = getattr(module, _CLASS_NAMES.get(name, name.partition(".")[2]))
    if candidate.name != name:
        raise KeyError(name)
    return candidate


def unknown_operation(name: str) -> str:
    """The message for a name that no operation has, a kind such as `Convolutoin` or a full name."""
    hint = similar_operations(name)
    reason = f"there is no operation {name}" if "." in name else f"no operation set has an operation {name}"
    return f"{reason}; {hint}" if hint else reason


def similar_operations(name: str) -> str | None:
    """The hint for a name that no operation has; None if no operation is similar."""
    opset, dot, kind = name.rpartition(".")
    known = dict.fromkeys((*_VERSIONS, *(each.partition(".")[2] for each in _REGISTERED)))
    near = [kind] if kind in known and dot else nearest(kind, known, similarity=_SIMILARITY)
    if dot:
        # In the same operation set if possible, otherwise in the newest that has the kind.
        near = [own if (own := f"{opset}.{each}") in versions(each) else versions(each)[-1] for each in near]
    return f"did you mean {alternatives(near)}?" if near else None


@cache
def newest(kind: str) -> type[OpsetOp]:
    """The class of the newest version of an operation kind, such as `Gather`.

    A registered operation is returned only for a kind that no operation set has. Raises KeyError for an unknown kind.
    """
    return operation(versions(kind)[-1])


@cache
def versions(kind: str) -> tuple[str, ...]:
    """Names of all versions of an operation kind: `opset2.Gelu` and `opset7.Gelu` for `Gelu`.

    Raises KeyError for an unknown kind.
    """
    if kind in _VERSIONS:
        return tuple(f"opset{version}.{kind}" for version in sorted(_VERSIONS[kind]))
    names = sorted(name for name in _REGISTERED if name.partition(".")[2] == kind)
    if not names:
        raise KeyError(kind)
    return tuple(names)


def _versions() -> dict[str, list[int]]:
    table: dict[str, list[int]] = {}
    for name in _FAMILY_OF:
        opset, _, kind = name.partition(".")
        table.setdefault(kind, []).append(int(opset.removeprefix("opset")))
    return table


_VERSIONS = _versions()
# Of several versions in one file, the newest has the plain class name; an older one carries its number: `Interpolate4`.
_CLASS_NAMES = {
    f"opset{version}.{kind}": f"{kind}{version}" for kind, versions in _VERSIONS.items() for version in versions if version != max(versions)
}


def dialect(opset: str) -> Dialect:
    """The dialect of one operation set, with all its families loaded."""
    return Dialect(opset, [operation(name) for name in _FAMILY_OF if name.startswith(f"{opset}.")], [])
