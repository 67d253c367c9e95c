"""Operations in the form of a framework, before Model Optimizer's transformations made standard ones of them.

Most have no type: they are for transformations that replace them. An operation that remains is reported when the model
is lowered, unless the table in `moir.model_optimizer.lowering` has it.
"""

from __future__ import annotations

from moir.model_optimizer.api.operations.bases import infer_elementwise
from moir.model_optimizer.api.operations.description import Description

_RANDOM = {"global_seed": 0, "op_seed": 0}
_SCATTER = ("Add", "Div", "Max", "Min", "Mul", "Sub")
_RECURRENT = {"direction": "forward", "activations": None, "activation_alpha": None, "activation_beta": None, "clip": None}

OPERATIONS: dict[str, Description] = {
    **{
        name: Description(inputs=inputs, outputs=outputs)
        for inputs, outputs, names in (
            (None, 1, "ATen Assert BlockLSTM IdentityN Merge Switch"),
            (1, 1, "AdaptiveAvgPooling Enter Exit FakeOutput MemoryOffset NextIteration Splice SwapAxis"),
            (2, 1, "Complex ONNXResize10 TFResize"),
            (3, 1, "GroupNorm OvSlice PoolingV2 SparseSegmentMean SparseSegmentSqrtN SparseSegmentSum TFEye TFScatterND"),
            (3, 2, "SparseReshape"),
            (4, 3, "SparseFillEmptyRows"),
            (5, 1, "BN"),
            (6, 1, "EmbeddingSegmentsMean"),
            (6, 4, "GRUBlockCell"),
            (1, 3, "Unique"),
        )
        for name in names.split()
    },
    **{f"Scatter{name}": Description(inputs=None) for name in _SCATTER},
    **{f"ScatterElements{name}": Description(inputs=None) for name in _SCATTER},
    **{
        f"{name}Op": Description(inputs=None, op=name)
        for name in ("Accum", "Correlation", "DataAugmentation", "PowerFile", "Resample", "SimplerNMS")
    },
    "SpatialTransformOp": Description(inputs=2, op="SpatialTransformer"),
    "ShuffleChannelOp": Description(op="ShuffleChannel"),
    "Activation": Description(
        version="opset1", defaults={"operation": None}, members={"infer": staticmethod(infer_elementwise)}, typed_by_op=True
    ),
    "AttributedRandomUniform": Description(defaults=_RANDOM),
    "AxpyOp": Description(inputs=None, op="Axpy"),
    "BatchMatMul": Description(inputs=2),
    "BoxNms": Description(inputs=None, op="_contrib_box_nms"),
    "ClibByValueTF": Description(inputs=3, op="ClibByValueTF"),
    "ConstantFill": Description(defaults={"input_as_shape": 1}),
    "ConstantOfShape": Description(defaults={"fill_value": 0}),
    "CopyOp": Description(inputs=None, op="copy"),
    "DequantizeLinear": Description(inputs=3, defaults={"axis": None}),
    "EltwiseN": Description(inputs=None),
    "GemmONNX": Description(
        inputs=3, op="Gemm", defaults={"transpose_a": False, "transpose_b": False, "alpha": 1, "beta": 1, "broadcast_c": True}
    ),
    "GRU": Description(inputs=6, outputs=2, defaults=_RECURRENT),
    "IdentityOp": Description(op="Identity"),
    "InstanceNormalization": Description(inputs=None, defaults={"epsilon": None}),
    "InterpOp": Description(inputs=2, op="Interp", defaults={"align_corners": 1, "parse_2nd_input": "value"}),
    "LogSoftmaxONNX": Description(defaults={"axis": 1}),
    "LookupTableInsert": Description(inputs=3),
    "LSTM": Description(inputs=7, outputs=3, defaults=_RECURRENT),
    "Memory": Description(defaults={"id": None, "size": None, "index": None}),
    "MXFFT": Description(),
    "MXNetCumSum": Description(inputs=2, op="MXNetCumSum"),
    "MXRepeat": Description(),
    "MXReshape": Description(),
    "MXSlice": Description(),
    "ONNXPad": Description(inputs=3, defaults={"mode": "constant"}),
    "ONNXResize11Op": Description(inputs=None, op="ONNXResize11"),
    "PNormOp": Description(op="pnorm"),
    "QuantizeLinear": Description(inputs=3, defaults={"axis": None}),
    "Reduce": Description(inputs=2, defaults={"keep_dims": False, "reduce_type": None}),
    "ResizeOp": Description(inputs=2, op="Resize"),
    "RNN": Description(inputs=6, outputs=2, defaults=_RECURRENT),
    "SliceLike": Description(inputs=2, op="slice_like"),
    "SoftmaxONNX": Description(op="SoftMaxONNX", defaults={"axis": 1}),
    "SparseToDense": Description(inputs=4),
    "SplitV": Description(inputs=None),
    "StopGradientOp": Description(op="StopGradient"),
    "SwapAxes": Description(inputs=None),
    "TensorArray": Description(inputs=None, op="TensorArrayV3"),
    "TensorArrayGather": Description(inputs=None, op="TensorArrayGatherV3"),
    "TensorArrayReader": Description(inputs=None, op="TensorArrayReadV3"),
    "TensorArrayScatter": Description(inputs=None, op="TensorArrayScatterV3"),
    "TensorArraySize": Description(inputs=None, op="TensorArraySizeV3"),
    "TensorArrayWriter": Description(inputs=None, op="TensorArrayWriteV3"),
    "TensorIteratorBackEdge": Description(inputs=3),
    "TensorIteratorCondition": Description(inputs=2, outputs=2),
    "TensorIteratorInput": Description(inputs=3),
    "TensorIteratorOutput": Description(inputs=3),
    "TFFFT": Description(),
    "TFPad": Description(inputs=3, defaults={"mode": "constant"}),
    "ThresholdedRelu": Description(defaults={"alpha": 1.0}),
}
