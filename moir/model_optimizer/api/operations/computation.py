"""Elementwise operations, reductions and matrix products."""

from __future__ import annotations

from moir.model_optimizer.api.operations.description import Description

_UNARY = (
    "Abs Acos Asin Atan Ceiling Cos Cosh Erf Exp Floor Log LogicalNot Negative Sigmoid Sign Sin Sinh Sqrt Tan Tanh "
    "opset4.Acosh opset4.Asinh opset4.Atanh opset4.HSwish opset4.Mish opset4.SoftPlus opset5.HSigmoid opset9.SoftSign "
    "opset10.IsFinite opset10.IsInf opset10.IsNaN"
)

_BINARY = "Add Equal FloorMod Greater GreaterEqual Less LessEqual LogicalAnd LogicalOr Maximum Minimum Mod NotEqual SquaredDifference"

_RENAMED_BINARY = {"Mul": "Multiply", "Sub": "Subtract", "Div": "Divide", "Pow": "Power"}

_REDUCTIONS = "ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceLogicalAnd ReduceLogicalOr opset4.ReduceL1 opset4.ReduceL2"

_RENAMED_REDUCTIONS = {"ReduceAnd": "ReduceLogicalAnd", "ReduceOr": "ReduceLogicalOr"}


def _typed(name: str) -> tuple[str, str]:
    """The type and the version of an operation from a name like `opset4.Mish`, or `Abs` for one of the first operation
    set.
    """
    version, dot, type_ = name.rpartition(".")
    return type_, version if dot else "opset1"


_NUMPY = {"auto_broadcast": "numpy"}
_KEEP = {"keep_dims": False}

OPERATIONS: dict[str, Description] = {
    **{_typed(name)[0]: Description(*_typed(name), typed_by_op=True) for name in _UNARY.split()},
    **{name: Description(name, "opset1", 2, defaults=_NUMPY) for name in _BINARY.split()},
    "LogicalXor": Description("LogicalXor", "opset2", 2, defaults=_NUMPY),
    **{name: Description(type_, "opset1", 2, defaults=_NUMPY) for name, type_ in _RENAMED_BINARY.items()},
    **{_typed(name)[0]: Description(*_typed(name), 2, defaults=_KEEP) for name in _REDUCTIONS.split()},
    **{name: Description(type_, "opset1", 2, defaults=_KEEP) for name, type_ in _RENAMED_REDUCTIONS.items()},
    "ReLU": Description("ReLU", "opset1", typed_by_op=True),
    "PReLU": Description("PReLU", "opset1", 2),
    "PreluOp": Description("PReLU", "opset1", 2, op="PReLU"),
    "Not": Description("LogicalNot", "opset1", op="LogicalNot"),
    "LogOp": Description("Log", "opset1", op="Log"),
    "Elu": Description("Elu", "opset1", defaults={"alpha": 1.0}, typed_by_op=True),
    "Selu": Description("Selu", "opset1", 3),
    "Swish": Description("Swish", "opset4", None, defaults={"in_ports_count": 2}),
    "GeLUOP": Description("Gelu", "opset7", op="Gelu", defaults={"approximation_mode": "erf"}),
    "HardSigmoid": Description("HardSigmoid", "opset1", 3),
    "AttributedClamp": Description("Clamp", "opset1", records=["min", "max"]),
    "Clamp": Description("Clamp", "opset1", 3, records=["min", "max"]),
    "Round": Description("Round", "opset5", defaults={"mode": "half_to_even"}),
    "Softmax": Description("SoftMax", "opset1", op="SoftMax", defaults={"axis": 1}),
    "LogSoftmax": Description("LogSoftmax", "opset5", defaults={"axis": 1}),
    "Select": Description("Select", "opset1", 3, defaults=_NUMPY),
    "MatMul": Description("MatMul", "opset1", 2, defaults={"transpose_a": False, "transpose_b": False}),
    "Einsum": Description("Einsum", "opset7", None),
    "CumSum": Description("CumSum", "opset3", 2, defaults={"exclusive": False, "reverse": False}),
    "Bucketize": Description("Bucketize", "opset3", 2, defaults={"with_right_bound": True, "output_type": "i32"}),
    "FakeQuantize": Description("FakeQuantize", "opset1", 5, defaults=_NUMPY),
    "DFT": Description("DFT", "opset7", 3),
    "IDFT": Description("IDFT", "opset7", 3),
    "RDFT": Description("RDFT", "opset9", 3),
    "IRDFT": Description("IRDFT", "opset9", 3),
    **{f"Bitwise{name}": Description(f"Bitwise{name}", "opset13", 2, defaults=_NUMPY) for name in ("And", "Or", "Xor")},
    "BitwiseNot": Description("BitwiseNot", "opset13"),
}
