"""Convolutions, pooling, normalizations, recurrent cells, detection."""

from __future__ import annotations

from dataclasses import replace

from moir.model_optimizer.api.operations.description import Description
from moir.model_optimizer.api.operations.windows import CONVOLUTION, DECONVOLUTION, POOLING, complete_window

_WINDOW = {"auto_pad": None}
_POOLING = {"pool_method": "max", "rounding_type": "floor", "auto_pad": None}
_CELL = {"hidden_size": None, "activations": None, "activations_alpha": None, "activations_beta": None, "clip": None}

_OPERATIONS: dict[str, Description] = {
    "Convolution": Description("Convolution", "opset1", 3, defaults=_WINDOW, records=CONVOLUTION, complete=complete_window),
    "Deconvolution": Description("ConvolutionBackpropData", "opset1", 3, defaults=_WINDOW, records=DECONVOLUTION, complete=complete_window),
    "DeformableConvolution": Description("DeformableConvolution", "opset8", 4, defaults=_WINDOW),
    "Pooling": Description("MaxPool", "opset1", defaults=_POOLING, records=POOLING, complete=complete_window),
    "LRN": Description("LRN", "opset1", 2),
    "AttributedLRN": Description("LRN", "opset1", defaults={"bias": 1, "region": "across"}),
    "MVN": Description(
        "MVN", "opset6", 2, defaults={"normalize_variance": 1, "across_channels": 0, "eps": 1e-9, "eps_mode": "inside_sqrt"}
    ),
    "MVNCaffe": Description("MVN", "opset2", defaults={"normalize_variance": 1, "across_channels": 0, "eps": 1e-9}, records=[]),
    "MVNOnnx": Description(defaults={"normalize_variance": 1, "eps": 1e-9, "eps_mode": "outside_sqrt"}),
    "BatchNormInference": Description("BatchNormInference", "opset5", 5, op="batchNormInference", records=[("epsilon", "eps")]),
    "NormalizeL2Op": Description("NormalizeL2", "opset1", 2, op="NormalizeL2", defaults={"eps": 1e-10, "eps_mode": "add"}),
    "NormalizeOp": Description(None, None, 2, op="Normalize"),
    "LSTMCell": Description("LSTMCell", "opset4", 6, 2, defaults=_CELL),
    "GRUCell": Description("GRUCell", "opset3", 5, defaults={**_CELL, "linear_before_reset": False}),
    "RNNCell": Description("RNNCell", "opset3", 5, defaults=_CELL),
    "LSTMSequence": Description("LSTMSequence", "opset5", 7, 3, defaults={**_CELL, "direction": "forward"}),
    "GRUSequence": Description("GRUSequence", "opset5", 6, 2, defaults={**_CELL, "direction": "forward", "linear_before_reset": False}),
    "RNNSequence": Description("RNNSequence", "opset5", 6, 2, defaults={**_CELL, "direction": "forward"}),
    "DetectionOutput": Description(
        "DetectionOutput",
        "opset8",
        3,
        defaults={
            "background_label_id": 0,
            "top_k": -1,
            "variance_encoded_in_target": False,
            "code_type": "caffe.PriorBoxParameter.CORNER",
            "share_location": True,
            "confidence_threshold": 0.0,
            "clip_after_nms": False,
            "clip_before_nms": False,
            "decrease_label_id": False,
            "normalized": True,
            "input_height": 1,
            "input_width": 1,
            "objectness_score": 0.0,
        },
    ),
    "PriorBoxOp": Description("PriorBox", "opset8", 2, op="PriorBox"),
    "PriorBoxClusteredOp": Description("PriorBoxClustered", "opset1", 2, op="PriorBoxClustered"),
    "ROIPooling": Description("ROIPooling", "opset2", 2, defaults={"method": "max"}),
    "ROIAlign": Description("ROIAlign", "opset9", 3, defaults={"aligned_mode": "asymmetric"}),
    "NonMaxSuppression": Description(
        "NonMaxSuppression",
        "opset9",
        5,
        3,
        defaults={"sort_result_descending": True, "box_encoding": "corner", "output_type": "i64"},
    ),
    "MatrixNms": Description("MatrixNms", "opset8", 2, 3),
    "RegionYoloOp": Description(
        "RegionYolo",
        "opset1",
        op="RegionYolo",
        defaults={
            "axis": 1,
            "end_axis": 3,
            "do_softmax": 1,
            "anchors": None,
            "mask": None,
            "num": None,
            "dim_attrs": ["axis"],
        },
        records=["coords", "classes", "num", "axis", "end_axis", "do_softmax", "anchors", "mask"],
    ),
    "ReorgYoloOp": Description("ReorgYolo", "opset2", op="ReorgYolo"),
    "GRNOp": Description("GRN", "opset1", op="GRN", defaults={"bias": 1}),
    "PSROIPoolingOp": Description(
        "PSROIPooling", "opset1", 2, op="PSROIPooling", defaults={"mode": "average", "spatial_bins_x": 1, "spatial_bins_y": 1}
    ),
    "ProposalOp": Description("Proposal", "opset4", 3, 2, op="Proposal"),
    "CTCGreedyDecoderOp": Description("CTCGreedyDecoder", "opset1", 2, op="CTCGreedyDecoder", defaults={"ctc_merge_repeated": True}),
    "CTCLoss": Description("CTCLoss", "opset4", 5),
    "GatherTree": Description("GatherTree", "opset1", 4),
    "DeformablePSROIPoolingOp": Description(
        "DeformablePSROIPooling",
        "opset1",
        3,
        op="DeformablePSROIPooling",
        defaults={"mode": "bilinear_deformable", "trans_std": 0},
    ),
    "CTCGreedyDecoderSeqLenOp": Description(
        "CTCGreedyDecoderSeqLen", "opset6", 3, 2, op="CTCGreedyDecoderSeqLen", defaults={"merge_repeated": True}
    ),
    "GroupNormalization": Description("GroupNormalization", "opset12", 3),
    "NMSRotated": Description("NMSRotated", "opset13", 5, 3, defaults={"sort_result_descending": True, "clockwise": True}),
    "EmbeddingBagOffsetsSum": Description("EmbeddingBagOffsetsSum", "opset3", 5),
    "EmbeddingBagPackedSum": Description("EmbeddingBagPackedSum", "opset3", 3),
    "EmbeddingSegmentsSum": Description("EmbeddingSegmentsSum", "opset3", 6),
    "ExperimentalDetectronDetectionOutput": Description("ExperimentalDetectronDetectionOutput", "opset6", 4, 3),
    "ExperimentalDetectronGenerateProposalsSingleImage": Description("ExperimentalDetectronGenerateProposalsSingleImage", "opset6", 4, 2),
    "ExperimentalDetectronPriorGridGenerator": Description("ExperimentalDetectronPriorGridGenerator", "opset6", 3),
    "ExperimentalDetectronROIFeatureExtractor": Description("ExperimentalDetectronROIFeatureExtractor", "opset6", None, 2),
    "ExperimentalDetectronTopKROIs": Description("ExperimentalDetectronTopKROIs", "opset6", 2),
}

OPERATIONS = {name: replace(description, keeps_values=False) for name, description in _OPERATIONS.items()}
"""The descriptions by class name. Model Optimizer inferred the shapes of layers, but not their values."""
