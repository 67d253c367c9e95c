"""Samples of the operations that do not accept matrices of f32 with the runtime's default attributes.

A sample is the operands and attributes of one instance. `f32[2,3]` is a value of that type, `i64=[1,2]` a constant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Sample:
    """The operands of an instance, and the attributes that differ from the runtime's defaults."""

    operands: tuple[str, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])


def _sample(operands: str, **attributes: Any) -> Sample:
    return Sample(tuple(operands.split()), attributes)


PADDED = {"pads_begin": [1, 0], "pads_end": [0, 1]}
WINDOW = {"strides": [2, 1], **PADDED}
DILATED = {**WINDOW, "dilations": [1, 2]}
POOL = {**WINDOW, "kernel": [3, 2], "auto_pad": "explicit"}
HIDDEN = {"hidden_size": 4}
PRIOR = {"offset": 0.5, "variance": [0.1, 0.1, 0.2, 0.2]}
PROPOSAL = {"base_size": 16, "pre_nms_topn": 20, "post_nms_topn": 10, "nms_thresh": 0.7, "feat_stride": 16, "min_size": 8}
BINS = {"output_dim": 2, "group_size": 2, "spatial_scale": 0.25, "spatial_bins_x": 2, "spatial_bins_y": 2, "mode": "average"}
BOXES = "f32[2,6,4] f32[2,3,6]"
SCALARS = "i64=5 f32[] f32[]"
TABLE = "f32[6,2] i64[4] i64[4]"
RESIZED = {"mode": "linear", "shape_calculation_mode": "sizes"}
UNIFORM = "i64=[2,3] f32=0.5 f32=2.0"
VARIABLE = {"variable_id": "v", "variable_type": "f32", "variable_shape": "2,3"}

SAMPLES: dict[str, Sample] = {
    # Elementwise
    "opset1.Clamp": _sample("f32[2,3]", min=-1.0, max=2.0),
    "opset1.Convert": _sample("f32[2,3]", destination_type="i32"),
    "opset1.Elu": _sample("f32[2,3]", alpha=0.5),
    **{f"opset1.{kind}": _sample("f32[2,3] f32[] f32[]") for kind in ("HardSigmoid", "Selu")},
    "opset1.Select": _sample("boolean[2,3] f32[2,3] f32[3]"),
    **{f"opset1.Logical{kind}": _sample("boolean[2,3] boolean[3]") for kind in ("And", "Or")},
    "opset1.LogicalNot": _sample("boolean[2,3]"),
    "opset2.LogicalXor": _sample("boolean[2,3] boolean[3]"),
    **{f"opset13.Bitwise{kind}": _sample("i32[2,3] i32[3]") for kind in ("And", "Or", "Xor")},
    "opset13.BitwiseNot": _sample("i32[2,3]"),
    **{f"opset15.Bitwise{side}Shift": _sample("i32[2,3] i32[3]") for side in ("Left", "Right")},
    "opset1.FakeQuantize": _sample("f32[2,3] f32[] f32[] f32[] f32[]", levels=256),
    # Convolution and pooling
    "opset1.Convolution": _sample("f32[1,3,9,8] f32[4,3,3,2]", **DILATED),
    "opset1.ConvolutionBackpropData": _sample("f32[1,3,9,8] f32[3,4,3,2]", **DILATED, output_padding=[1, 0]),
    "opset1.GroupConvolution": _sample("f32[1,4,9,8] f32[2,3,2,3,2]", **DILATED),
    "opset1.GroupConvolutionBackpropData": _sample("f32[1,4,9,8] f32[2,2,3,3,2]", **DILATED, output_padding=[1, 0]),
    "opset8.DeformableConvolution": _sample(
        "f32[1,4,9,9] f32[1,18,9,9] f32[2,4,3,3]",
        **{"strides": [1, 1], "dilations": [1, 1], "pads_begin": [1, 1], "pads_end": [1, 1], "group": 1, "deformable_group": 1},
    ),
    "opset1.MaxPool": _sample("f32[1,3,9,8]", **POOL),
    "opset8.MaxPool": _sample("f32[1,3,9,8]", **POOL, dilations=[1, 2]),
    "opset14.MaxPool": _sample("f32[1,3,9,8]", **POOL, dilations=[1, 2]),
    "opset14.AvgPool": _sample("f32[1,3,9,8]", **POOL),
    "opset16.AvgPool": _sample("f32[1,3,9,8]", **POOL, dilations=[1, 2]),
    "opset8.AdaptiveAvgPool": _sample("f32[1,3,9,8] i64=[4,5]"),
    "opset8.AdaptiveMaxPool": _sample("f32[1,3,9,8] i64=[4,5]"),
    # Normalization
    "opset5.BatchNormInference": _sample("f32[2,3,4] f32[3] f32[3] f32[3] f32[3]", epsilon=0.001),
    "opset12.GroupNormalization": _sample("f32[2,6,4] f32[6] f32[6]", num_groups=3, epsilon=0.001),
    "opset1.LRN": _sample("f32[2,6,4] i64=[1]", alpha=0.5, beta=0.75, bias=2.0, size=3),
    "opset6.MVN": _sample("f32[2,3,4] i64=[1,2]", eps=0.001, normalize_variance=True, eps_mode="OUTSIDE_SQRT"),
    "opset1.NormalizeL2": _sample("f32[2,3,4] i64=[1,2]", eps=0.001, eps_mode="max"),
    "opset1.GRN": _sample("f32[1,3,4,5]", bias=0.5),
    # Reductions and products
    **{f"opset1.Reduce{kind}": _sample("f32[2,3,4] i64=[0,-1]", keep_dims=True) for kind in ("Max", "Mean", "Min", "Prod", "Sum")},
    **{f"opset1.ReduceLogical{kind}": _sample("boolean[2,3,4] i64=[0,-1]", keep_dims=True) for kind in ("And", "Or")},
    **{f"opset4.Reduce{kind}": _sample("f32[2,3,4] i64=[0,-1]", keep_dims=True) for kind in ("L1", "L2")},
    "opset1.MatMul": _sample("f32[2,3,4] f32[5,4]", transpose_b=True),
    "opset7.Einsum": _sample("f32[2,3] f32[3,4]", equation="ab,bc->ca"),
    "opset14.Inverse": _sample("f32[2,3,3]"),
    "opset13.ScaledDotProductAttention": _sample("f32[2,4,8] f32[2,5,8] f32[2,5,6] f32[4,5] f32[]"),
    "opset3.CumSum": _sample("f32[2,3] i64=1"),
    # Shapes and movement
    "opset1.Reshape": _sample("f32[2,3,4] i64=[0,-1]", special_zero=True),
    "opset1.Squeeze": _sample("f32[1,3,1] i64=[0]"),
    "opset15.Squeeze": _sample("f32[1,3,1] i64=[0,1]", allow_axis_skip=True),
    "opset1.Unsqueeze": _sample("f32[2,3] i64=[0,-1]"),
    "opset3.ShapeOf": _sample("f32[2,3]", output_type="i64"),
    "opset1.Concat": _sample("f32[2,3] f32[2,4]", axis=1),
    "opset1.Split": _sample("f32[2,6] i64=1", num_splits=3),
    "opset1.VariadicSplit": _sample("f32[2,6] i64=1 i64=[1,2,3]"),
    "opset1.Transpose": _sample("f32[2,3,4] i64=[2,0,1]"),
    "opset3.Broadcast": _sample("f32[3] i64=[2,3,4] i64=[1]", mode="explicit"),
    "opset1.Tile": _sample("f32[2,3] i64=[2,1,2]"),
    "opset8.Slice": _sample("f32[5,6] i64=[1] i64=[-1] i64=[2] i64=[1]"),
    "opset15.SliceScatter": _sample("f32[5,6] f32[5,2] i64=[1] i64=[-1] i64=[2] i64=[1]"),
    "opset1.StridedSlice": _sample(
        "f32[5,6,7] i64=[1,0,2] i64=[0,3,5] i64=[1,1,2]",
        **{"begin_mask": [0, 1, 0], "end_mask": [1, 0, 0], "new_axis_mask": [], "shrink_axis_mask": [0, 0, 1], "ellipsis_mask": []},
    ),
    "opset12.Pad": _sample("f32[3,4] i64=[0,1] i64=[2,-1] f32=0.5", pad_mode="constant"),
    "opset1.DepthToSpace": _sample("f32[1,8,4,6]", block_size=2, mode="depth_first"),
    "opset1.SpaceToDepth": _sample("f32[1,2,4,6]", block_size=2, mode="depth_first"),
    "opset2.BatchToSpace": _sample("f32[8,2,4] i64=[1,2,2] i64=[0,1,0] i64=[0,0,2]"),
    "opset2.SpaceToBatch": _sample("f32[2,3,4] i64=[1,2,2] i64=[0,1,0] i64=[0,0,2]"),
    "opset1.Reverse": _sample("f32[2,3] i64=[1]", mode="index"),
    "opset1.ReverseSequence": _sample("f32[2,3,4] i64[4]", batch_axis=2, seq_axis=1),
    "opset7.Roll": _sample("f32[2,3] i64=[1,-1] i64=[0,1]"),
    "opset1.ShuffleChannels": _sample("f32[2,6,4]", axis=1, group=3),
    # Indices, sorting, sets
    "opset8.Gather": _sample("f32[2,3,4] i64[2,5] i64=-1", batch_dims=1),
    "opset6.GatherElements": _sample("f32[2,3] i64[2,5]", axis=1),
    "opset8.GatherND": _sample("f32[2,3,4] i64[2,5,1]", batch_dims=1),
    "opset1.GatherTree": _sample("f32[5,2,3] f32[5,2,3] f32[2] f32[]"),
    "opset3.ScatterUpdate": _sample("f32[4,5] i64[2] f32[4,2] i64=1"),
    "opset12.ScatterElementsUpdate": _sample("f32[4,5] i64[2,3] f32[2,3] i64=1", reduction="mean", use_init_val=False),
    "opset15.ScatterNDUpdate": _sample("f32[4,5] i64[3,1] f32[3,5]", reduction="sub"),
    "opset1.OneHot": _sample(f"i64[2,3] {SCALARS}", axis=1),
    "opset16.OneHot": _sample(f"i64[2,3] {SCALARS}", axis=1, negative_indices_mode="normalize"),
    "opset11.TopK": _sample("f32[3,7] i64=2", axis=1, mode="min", sort="value", index_element_type="i64", stable=True),
    "opset10.Unique": _sample("f32[3,4] i64=0", index_element_type="i32"),
    "opset15.SearchSorted": _sample("f32[3,5] f32[3,2]", output_type="i32"),
    "opset3.Bucketize": _sample("f32[2,3] f32[4]", output_type="i32"),
    "opset3.EmbeddingSegmentsSum": _sample(f"{TABLE} i64=3 i64=0 f32[4]"),
    "opset16.SegmentMax": _sample("f32[4,2] i64=[0,0,2,3] i64=5", fill_mode="LOWEST"),
    "opset16.SparseFillEmptyRows": _sample("f32[3] i64=[4,5] i64[3,2] f32=0.5"),
    "opset15.StringTensorPack": _sample("i32[3] i32[3] u8[20]"),
    "opset15.StringTensorUnpack": _sample("string[3]"),
    # Tensors of numbers
    "opset9.Eye": _sample("i64=3 i64=4 i64=1 i64=[2]", output_type="f32"),
    "opset4.Range": _sample("i64=1 i64=9 i64=3", output_type="i32"),
    "opset8.RandomUniform": _sample(UNIFORM, output_type="f32", global_seed=3, op_seed=4),
    "opset13.Multinomial": _sample("f32[2,4] i64=[3]", convert_type="i64", with_replacement=True, log_probs=False),
    # Images
    "opset4.Interpolate": _sample("f32[1,3,8,9] i64=[16,5] f32=[2.0,0.5] i64=[2,3]", **RESIZED),
    "opset11.Interpolate": _sample("f32[1,3,8,9] i64=[16,5] i64=[2,3]", **RESIZED),
    "opset9.GridSample": _sample("f32[2,3,8,9] f32[2,4,5,2]"),
    "opset3.ExtractImagePatches": _sample("f32[1,3,9,8]", sizes=[3, 2], strides=[2, 1], rates=[1, 2], auto_pad="valid"),
    "opset15.Col2Im": _sample("f32[2,12,9] i64=[4,4] i64=[2,2]", strides=[1, 1], dilations=[1, 1], pads_begin=[0, 0], pads_end=[0, 0]),
    # Detection
    "opset8.DetectionOutput": _sample(
        "f32[2,40] f32[2,20] f32[1,2,40]", background_label_id=0, keep_top_k=[-1], nms_threshold=0.4, normalized=True
    ),
    "opset8.MatrixNms": _sample(BOXES, nms_top_k=4),
    "opset8.MulticlassNms": _sample(BOXES, nms_top_k=4),
    "opset9.NonMaxSuppression": _sample(f"{BOXES} i64=3 f32[] f32[] f32[]"),
    "opset8.PriorBox": _sample("i64=[2,3] i64=[32,48]", **PRIOR, min_size=[8.0], max_size=[16.0], aspect_ratio=[2.0], flip=True),
    "opset1.PriorBoxClustered": _sample("i64=[2,3] i64=[32,48]", **PRIOR, width=[8.0, 9.0], height=[7.0, 6.0]),
    "opset4.Proposal": _sample("f32[1,12,4,5] f32[1,24,4,5] f32[3]", **PROPOSAL, ratio=[0.5, 1.0], scale=[2.0, 4.0, 8.0]),
    "opset9.ROIAlign": _sample("f32[2,3,8,9] f32[5,4] i64[5]", pooled_h=2, pooled_w=3, sampling_ratio=2, spatial_scale=0.5, mode="max"),
    "opset2.ROIPooling": _sample("f32[2,3,8,9] f32[5,5]", output_roi=[2, 3], spatial_scale=0.5, method="bilinear"),
    "opset1.PSROIPooling": _sample("f32[1,8,6,7] f32[5,5]", **BINS),
    "opset1.RegionYolo": _sample("f32[1,27,4,5]", axis=1, coords=4, classes=4, end_axis=3, num=3, do_softmax=True, mask=[0, 1, 2]),
    "opset2.ReorgYolo": _sample("f32[1,4,4,6]", stride=[2]),
    # Sequences and signals
    "opset1.CTCGreedyDecoder": _sample("f32[5,2,4] f32[5,2]"),
    "opset6.CTCGreedyDecoderSeqLen": _sample("f32[2,5,4] i32[2] i32=3"),
    "opset4.CTCLoss": _sample("f32[2,5,4] i32[2] i32[2,5] i32[2] i32=3"),
    "opset1.RNNCell": _sample("f32[2,3] f32[2,4] f32[4,3] f32[4,4] f32[4]", **HIDDEN),
    "opset3.GRUCell": _sample("f32[2,3] f32[2,4] f32[12,3] f32[12,4] f32[12]", **HIDDEN),
    "opset4.LSTMCell": _sample("f32[2,3] f32[2,4] f32[2,4] f32[16,3] f32[16,4] f32[16]", **HIDDEN),
    "opset5.RNNSequence": _sample("f32[2,5,3] f32[2,1,4] i64[2] f32[1,4,3] f32[1,4,4] f32[1,4]", **HIDDEN, activations=["tanh"]),
    "opset5.GRUSequence": _sample(
        "f32[2,5,3] f32[2,1,4] i64[2] f32[1,12,3] f32[1,12,4] f32[1,12]", **HIDDEN, activations=["sigmoid", "tanh"]
    ),
    "opset5.LSTMSequence": _sample(
        "f32[2,5,3] f32[2,1,4] f32[2,1,4] i64[2] f32[1,16,3] f32[1,16,4] f32[1,16]", **HIDDEN, activations=["sigmoid", "tanh", "tanh"]
    ),
    "opset7.DFT": _sample("f32[3,8,5,2] i64=[1,2] i64=[6,-1]"),
    "opset7.IDFT": _sample("f32[3,8,5,2] i64=[1,2] i64=[6,-1]"),
    "opset9.RDFT": _sample("f32[3,8,5] i64=[1,2] i64=[6,-1]"),
    "opset9.IRDFT": _sample("f32[3,8,5,2] i64=[1,2] i64=[6,7]"),
    "opset15.STFT": _sample("f32[2,48] f32[16] i64=16 i64=8", transpose_frames=True),
    "opset16.ISTFT": _sample("f32[2,9,5,2] f32[16] i64=16 i64=8 i64=40", center=True),
    # Earlier versions, and what few models have
    "opset1.AvgPool": _sample("f32[1,3,9,8]", **POOL),
    "opset1.BatchNormInference": _sample("f32[3] f32[3] f32[2,3,4] f32[3] f32[3]", epsilon=0.001),
    "opset2.MVN": _sample("f32[2,3,4]", eps=0.001, across_channels=True, normalize_variance=True, reduction_axes=[1, 2]),
    "opset1.BinaryConvolution": _sample("f32[1,3,9,8] u1[4,3,3,2]", **DILATED, mode="xnor-popcount", pad_value=0.0),
    "opset1.DeformableConvolution": _sample(
        "f32[1,4,9,9] f32[1,18,9,9] f32[2,4,3,3]",
        **{"strides": [1, 1], "dilations": [1, 1], "pads_begin": [1, 1], "pads_end": [1, 1], "group": 1, "deformable_group": 1},
    ),
    "opset1.Broadcast": _sample("f32[3] i64=[2,3,4] i64=[1]", mode="explicit"),
    "opset1.Pad": _sample("f32[3,4] i64=[0,1] i64=[2,1] f32=0.5", pad_mode="constant"),
    "opset1.Gather": _sample("f32[2,3,4] i64[2,5] i64=1"),
    "opset7.Gather": _sample("f32[2,3,4] i64[2,5] i64=-1", batch_dims=1),
    "opset5.GatherND": _sample("f32[2,3,4] i64[2,3,1]", batch_dims=2),
    "opset3.ScatterElementsUpdate": _sample("f32[4,5] i64[2,3] f32[2,3] i64=1"),
    "opset4.ScatterNDUpdate": _sample("f32[4,5] i64[3,1] f32[3,5]"),
    "opset1.ShapeOf": _sample("f32[2,3]"),
    "opset1.Range": _sample("i64=1 i64=9 i64=3"),
    "opset1.TopK": _sample("f32[3,7] i64=2", axis=1, mode="min", sort="value", index_element_type="i64"),
    "opset3.TopK": _sample("f32[3,7] i64=2", axis=1, mode="min", sort="value", index_element_type="i64"),
    "opset1.Xor": _sample("boolean[2,3] boolean[3]"),
    "opset14.ConvertPromoteTypes": _sample("f16[2,3] i32[3]", promote_unsafe=True),
    "opset1.Interpolate": _sample("f32[1,3,8,9] i64=[16,5]", mode="linear", axes=[2, 3]),
    "opset17.GroupedMatMul": _sample("f32[8,4] f32[3,6,4] i32[3]"),
    "opset1.LSTMCell": _sample(
        "f32[2,3] f32[2,4] f32[2,4] f32[16,3] f32[16,4] f32[16] f32[12]",
        **HIDDEN,
        weights_format="fico",
        activations=["sigmoid", "tanh", "tanh"],
    ),
    "opset3.EmbeddingBagOffsetsSum": _sample("f32[5,2] i64[4] i64[3] i64=0 f32[4]"),
    "opset15.EmbeddingBagOffsets": _sample("f32[5,2] i64[4] i64[3] i64=0 f32[4]", reduction="sum"),
    "opset3.EmbeddingBagPackedSum": _sample("f32[5,2] i64[3,4] f32[3,4]"),
    "opset15.EmbeddingBagPacked": _sample("f32[5,2] i64[3,4] f32[3,4]", reduction="sum"),
    "opset1.DetectionOutput": _sample(
        "f32[2,40] f32[2,20] f32[1,2,40]",
        **{"num_classes": 2, "background_label_id": 0, "keep_top_k": [-1], "nms_threshold": 0.4, "normalized": True},
    ),
    **{f"opset{version}.NonMaxSuppression": _sample(f"{BOXES} i64=3 f32[] f32[]") for version in (1, 3, 4)},
    "opset5.NonMaxSuppression": _sample(f"{BOXES} i64=3 f32[] f32[] f32[]"),
    "opset13.NMSRotated": _sample("f32[2,6,5] f32[2,3,6] i64=3 f32[] f32[]"),
    "opset9.MulticlassNms": _sample("f32[3,6,4] f32[3,6] i64[2]", nms_top_k=4),
    "opset1.PriorBox": _sample("i64=[2,3] i64=[32,48]", **PRIOR, min_size=[8.0], max_size=[16.0], aspect_ratio=[2.0], flip=True),
    "opset1.Proposal": _sample("f32[1,12,4,5] f32[1,24,4,5] f32[3]", **PROPOSAL, ratio=[0.5, 1.0], scale=[2.0, 4.0, 8.0]),
    "opset3.ROIAlign": _sample("f32[2,3,8,9] f32[5,4] i64[5]", pooled_h=2, pooled_w=3, sampling_ratio=2, spatial_scale=0.5, mode="max"),
    "opset15.ROIAlignRotated": _sample(
        "f32[2,3,8,9] f32[5,5] i64[5]", pooled_h=2, pooled_w=3, sampling_ratio=2, spatial_scale=0.5, clockwise_mode=True
    ),
    "opset1.DeformablePSROIPooling": _sample(
        "f32[1,8,6,7] f32[5,5] f32[5,2,2,2]", **{**BINS, "mode": "bilinear_deformable", "part_size": 2}
    ),
    "opset9.GenerateProposals": _sample(
        "f32[2,3] f32[4,5,3,4] f32[2,12,4,5] f32[2,3,4,5]", min_size=1.0, nms_threshold=0.7, pre_nms_count=20, post_nms_count=10
    ),
    "opset6.ExperimentalDetectronDetectionOutput": _sample(
        "f32[10,4] f32[10,8] f32[10,2] f32[1,3]",
        **{"num_classes": 2, "max_detections_per_image": 5, "post_nms_count": 6, "deltas_weights": [10.0, 10.0, 5.0, 5.0]},
    ),
    "opset6.ExperimentalDetectronGenerateProposalsSingleImage": _sample(
        "f32[3] f32[60,4] f32[12,4,5] f32[3,4,5]", min_size=1.0, nms_threshold=0.7, pre_nms_count=20, post_nms_count=10
    ),
    "opset6.ExperimentalDetectronPriorGridGenerator": _sample(
        "f32[3,4] f32[1,8,4,5] f32[1,3,64,80]", flatten=True, h=0, w=0, stride_x=16.0, stride_y=16.0
    ),
    "opset6.ExperimentalDetectronROIFeatureExtractor": _sample(
        "f32[10,4] f32[1,8,16,16] f32[1,8,8,8]", output_size=7, sampling_ratio=2, pyramid_scales=[4, 8]
    ),
    "opset6.ExperimentalDetectronTopKROIs": _sample("f32[10,4] f32[10]", max_rois=5),
    # Colours
    **{f"opset8.I420to{order}": _sample("u8[2,4,6,1] u8[2,2,3,1] u8[2,2,3,1]") for order in ("BGR", "RGB")},
    **{f"opset8.NV12to{order}": _sample("u8[2,4,6,1] u8[2,2,3,2]") for order in ("BGR", "RGB")},
    **{f"opset17.{order}toNV12": _sample("u8[2,4,6,3]", single_plane=False) for order in ("BGR", "RGB")},
    # State
    **{
        f"opset6.{kind}": _sample("f32[2,3]", variable_id="v", variable_type="f32", variable_shape="2,3")
        for kind in ("Assign", "ReadValue")
    },
    **{f"opset3.{kind}": _sample("f32[2,3]", variable_id="v") for kind in ("Assign", "ReadValue")},
}
"""Samples by operation; every other operation gets as many operands `f32[2,3]` as it needs."""
