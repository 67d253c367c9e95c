"""Operations composed of older ones, by family: each file has a table `EXPANSIONS` of functions of a builder."""

from __future__ import annotations

FAMILIES: dict[str, str] = {
    "activation": "opset7.Gelu opset5.HSigmoid opset5.LogSoftmax opset5.Round opset9.SoftSign opset8.Softmax opset17.ErfInv",
    "attention": "opset13.ScaledDotProductAttention",
    "comparison": "opset10.IsFinite opset10.IsInf opset10.IsNaN",
    "detection": "opset8.DetectionOutput opset8.DeformableConvolution",
    "image": "opset11.Interpolate",
    "indexing": "opset16.OneHot opset8.Gather opset8.GatherND opset15.SearchSorted opset15.SliceScatter",
    "infrastructure": "opset16.Identity opset14.ConvertPromoteTypes",
    "integers": (
        "opset13.BitwiseAnd opset13.BitwiseNot opset13.BitwiseOr opset13.BitwiseXor opset15.BitwiseLeftShift opset15.BitwiseRightShift"
    ),
    "normalization": "opset12.GroupNormalization opset6.MVN opset5.BatchNormInference",
    "pooling": "opset14.AvgPool opset14.MaxPool opset8.AdaptiveAvgPool",
    "scattering": "opset15.ScatterNDUpdate opset12.ScatterElementsUpdate",
    "signal": "opset9.RDFT",
    "slicing": "opset8.Slice opset12.Pad opset15.Squeeze",
    "sort": "opset11.TopK",
}
"""For each file of this folder, the operations that it expands."""
