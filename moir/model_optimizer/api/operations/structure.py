"""Constants, inputs and outputs, shapes, movement and selection of data."""

from __future__ import annotations

from moir.model_optimizer.api.operations.description import Description
from moir.model_optimizer.api.operations.members import PATCHES, interpolated_axes
from moir.model_optimizer.api.operations.slicing import align_masks, infer_slice, mask_names, sliced_by, slices_of

_UPDATE = {"reduction": "none"}

OPERATIONS: dict[str, Description] = {
    "Const": Description("Const", "opset1", 0),
    "Parameter": Description("Parameter", "opset1", 0),
    "Input": Description("Parameter", "opset1", 0, op="Parameter"),
    "Result": Description("Result", "opset1", 1, 0),
    "Output": Description("Result", "opset1", 1, 0, op="Result"),
    "Cast": Description("Convert", "opset1", records=[("destination_type", "dst_type")]),
    "ConvertLike": Description("ConvertLike", "opset1", 2),
    "Identity": Description(),
    "Assign": Description("Assign", "opset6"),
    "ReadValue": Description("ReadValue", "opset6"),
    "Reshape": Description("Reshape", "opset1", 2, defaults={"special_zero": True}),
    "Squeeze": Description("Squeeze", "opset1", 2, records=[]),
    "Unsqueeze": Description("Unsqueeze", "opset1", 2),
    "Transpose": Description("Transpose", "opset1", 2, defaults={"order": None}),
    "Shape": Description("ShapeOf", "opset3", op="ShapeOf", defaults={"output_type": "i64"}),
    "Concat": Description("Concat", "opset1", None, defaults={"axis": 1}),
    "Split": Description("Split", "opset1", 2, counted="num_splits"),
    "VariadicSplit": Description("VariadicSplit", "opset1", 3, counted="size_splits"),
    "Tile": Description("Tile", "opset1", 2),
    "Broadcast": Description("Broadcast", "opset3", 3, defaults={"mode": "numpy"}),
    "StridedSlice": Description(
        "StridedSlice",
        "opset1",
        4,
        defaults={"new_axis_mask": [], "shrink_axis_mask": [], "ellipsis_mask": []},
        members={
            "get_mask_names": staticmethod(mask_names),
            "validate_inputs_and_get_args": staticmethod(sliced_by),
            "align_mask_with_slice_rank": staticmethod(align_masks),
            "get_slices": staticmethod(slices_of),
            "infer": staticmethod(infer_slice),
        },
    ),
    "Pad": Description("Pad", "opset12", 4, records=[("pad_mode", "mode")]),
    "Reverse": Description("Reverse", "opset1", 2, defaults={"mode": "index"}),
    "ReverseSequence": Description("ReverseSequence", "opset1", 2, defaults={"seq_axis": 1, "batch_axis": 0}),
    "Roll": Description("Roll", "opset7", 3),
    "Gather": Description("Gather", "opset8", 3, defaults={"batch_dims": 0}),
    "GatherElements": Description("GatherElements", "opset6", 2, defaults={"axis": 0}),
    "GatherND": Description("GatherND", "opset8", 2, defaults={"batch_dims": 0}),
    "ScatterUpdate": Description("ScatterUpdate", "opset3", 4),
    "ScatterElementsUpdate": Description("ScatterElementsUpdate", "opset12", 4, defaults=_UPDATE),
    "ScatterNDUpdate": Description("ScatterNDUpdate", "opset15", 3, defaults=_UPDATE),
    "OneHot": Description("OneHot", "opset1", 4, defaults={"axis": -1}),
    "TopK": Description("TopK", "opset11", 2, 2, defaults={"axis": -1, "mode": "max", "sort": "value", "index_element_type": "i32"}),
    "NonZero": Description("NonZero", "opset3", defaults={"output_type": "i64"}),
    "Range": Description("Range", "opset4", 3, defaults={"output_type": None}),
    "Eye": Description("Eye", "opset9", 4),
    "RandomUniform": Description("RandomUniform", "opset8", 3, defaults={"global_seed": 0, "op_seed": 0}),
    "DepthToSpaceOp": Description("DepthToSpace", "opset1", op="DepthToSpace", defaults={"mode": "blocks_first"}),
    "SpaceToDepth": Description("SpaceToDepth", "opset1", defaults={"mode": "blocks_first"}),
    "BatchToSpace": Description("BatchToSpace", "opset2", 4),
    "SpaceToBatch": Description("SpaceToBatch", "opset2", 4),
    "ShuffleChannels": Description("ShuffleChannels", "opset1", defaults={"axis": 1, "group": None}),
    "ExtractImagePatches": Description("ExtractImagePatches", "opset3", records=PATCHES),
    "Interpolate": Description(
        "Interpolate",
        "opset4",
        4,
        defaults={
            "mode": "nearest",
            "shape_calculation_mode": "sizes",
            "coordinate_transformation_mode": "half_pixel",
            "nearest_mode": "round_prefer_floor",
            "antialias": 0,
            "cube_coeff": -0.75,
        },
        members={"get_axes": staticmethod(interpolated_axes)},
        # Version 1 has further attributes, which the lowering reads from the node.
        versions={"axes": "opset1"},
    ),
    "Multinomial": Description(
        "Multinomial", "opset13", 2, defaults={"with_replacement": False, "log_probs": False, "global_seed": 0, "op_seed": 0}
    ),
    "If": Description("If", "opset8", None),
    "Loop": Description("Loop", "opset5", None),
    "TensorIterator": Description("TensorIterator", "opset1", None),
}
