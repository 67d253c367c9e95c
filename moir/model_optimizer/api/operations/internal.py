"""Operations that no operation set has in this form; each is lowered to several."""

from __future__ import annotations

from moir.model_optimizer.api.operations.description import Description, inferred_as

OPERATIONS: dict[str, Description] = {
    "Power": Description(defaults={"power": 1, "scale": 1, "shift": 0}, inputs=None),
    "AttributedPower": Description(defaults={"power": 1, "scale": 1, "shift": 0}),
    "Eltwise": Description(inputs=2, defaults={"operation": None}),
    "EltwiseNAdd": Description(inputs=None, op="EltwiseN", defaults={"operation": "sum"}),
    "EltwiseNMul": Description(inputs=None, op="EltwiseN", defaults={"operation": "mul"}),
    "EltwiseNMax": Description(inputs=None, op="EltwiseN", defaults={"operation": "max"}),
    "EltwiseNMin": Description(inputs=None, op="EltwiseN", defaults={"operation": "min"}),
    "LeakyReLU": Description(defaults={"negative_slope": 0.01}),
    "ReLU6": Description(),
    "Log1p": Description(),
    "BiasAdd": Description(inputs=2),
    "ScaleShiftOp": Description(inputs=3, op="ScaleShift"),
    "FullyConnected": Description(inputs=3),
    # Extractors of 2018 and 2019 return its `enabled`.
    "InnerProduct": Description(op="FullyConnected", inputs=3, members={"enabled": True}),
    "Gemm": Description(inputs=3, defaults={"alpha": 1, "beta": 1, "transpose_a": False, "transpose_b": False}),
    "ExpandDims": Description(inputs=2),
    "PackOp": Description(inputs=None, op="Pack", defaults={"axis": 0}),
    "Unpack": Description(defaults={"axis": 0}),
    "Flatten": Description(defaults={"axis": 1, "end_axis": -1}),
    "FlattenONNX": Description(defaults={"axis": 1}),
    "Size": Description(defaults={"output_type": "i64"}),
    "Rank": Description(defaults={"output_type": "i64"}),
    "Fill": Description(inputs=2),
    "Crop": Description(inputs=2),
    "Slice": Description(inputs=5),
    "AttributedSlice": Description(),
    "CaffeSlice": Description(),
    "TFSlice": Description(inputs=3),
    "AttributedSplit": Description(counted="num_splits"),
    "AttributedVariadicSplit": Description(counted="size_splits"),
    "AttributedGather": Description(inputs=2, defaults={"axis": 0}),
    "AttributedPad": Description(defaults={"mode": "constant", "fill_value": 0.0}),
    "AttributedTile": Description(),
    "AttributedRoll": Description(),
    "Permute": Description(defaults={"order": None}),
    "UpsampleOp": Description(op="Upsample", defaults={"mode": "nearest"}),
    "ArgMaxOp": Description(inputs=2, op="ArgMax", members={"argmax_infer": inferred_as("ArgMax")}),
    "ArgMinOp": Description(inputs=2, op="ArgMin"),
}
