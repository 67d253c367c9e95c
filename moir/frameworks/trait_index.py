"""The kinds that have each trait; `python -m scripts.lowering_index` writes it."""

INDEX: dict[str, dict[str, str]] = {
    "aten": {
        "elementwise": (
            "__and__.Scalar __and__.Tensor __lshift__.Scalar __lshift__.Tensor __or__.Scalar __or__.Tensor __rshift__.Scalar "
            "__rshift__.Tensor __xor__.Scalar __xor__.Tensor _to_copy.default abs.default absolute.default acos.default acosh.default "
            "add.Scalar add.Tensor addcdiv.default addcmul.default alias.default alias_copy.default arccos.default arcsin.default "
            "arctan.default arctan2.default asin.default asinh.default atan.default atan2.default atanh.default bfloat16.default "
            "bitwise_and.Scalar bitwise_and.Scalar_Tensor bitwise_and.Tensor bitwise_left_shift.Scalar_Tensor "
            "bitwise_left_shift.Tensor bitwise_left_shift.Tensor_Scalar bitwise_not.default bitwise_or.Scalar "
            "bitwise_or.Scalar_Tensor bitwise_or.Tensor bitwise_right_shift.Scalar_Tensor bitwise_right_shift.Tensor "
            "bitwise_right_shift.Tensor_Scalar bitwise_xor.Scalar bitwise_xor.Scalar_Tensor bitwise_xor.Tensor bool.default "
            "ceil.default celu.default clamp.Tensor clamp.default clamp_max.Tensor clamp_max.default clamp_min.Tensor "
            "clamp_min.default clip.Tensor clip.default clone.default contiguous.default copysign.Scalar copysign.Tensor cos.default "
            "cosh.default deg2rad.default detach.default detach_copy.default div.Scalar div.Scalar_mode div.Tensor div.Tensor_mode "
            "divide.Scalar divide.Scalar_mode divide.Tensor divide.Tensor_mode double.default elu.default empty_like.default "
            "eq.Scalar eq.Tensor erf.default erfc.default exp.default exp2.default expm1.default fill.Scalar fill.Tensor fix.default "
            "float.default floor.default floor_divide.Scalar floor_divide.default fmax.default fmin.default fmod.Scalar fmod.Tensor "
            "frac.default full_like.default ge.Scalar ge.Tensor gelu.default greater.Scalar greater.Tensor greater_equal.Scalar "
            "greater_equal.Tensor gt.Scalar gt.Tensor half.default hardshrink.default hardsigmoid.default hardswish.default "
            "hardtanh.default heaviside.default hypot.default int.default isfinite.default isinf.default isnan.default le.Scalar "
            "le.Tensor leaky_relu.default lerp.Scalar lerp.Tensor less.Scalar less.Tensor less_equal.Scalar less_equal.Tensor "
            "lift.default lift_fresh.default lift_fresh_copy.default log.default log10.default log1p.default log2.default "
            "logaddexp.default logaddexp2.default logical_and.default logical_not.default logical_or.default logical_xor.default "
            "logit.default long.default lt.Scalar lt.Tensor masked_fill.Scalar masked_fill.Tensor max.other maximum.default min.other "
            "minimum.default mish.default mul.Scalar mul.Tensor multiply.Scalar multiply.Tensor ne.Scalar ne.Tensor neg.default "
            "negative.default not_equal.Scalar not_equal.Tensor ones_like.default positive.default pow.Scalar pow.Tensor_Scalar "
            "pow.Tensor_Tensor rad2deg.default reciprocal.default relu.default relu6.default remainder.Scalar remainder.Scalar_Tensor "
            "remainder.Tensor resolve_neg.default round.decimals round.default rsqrt.default rsub.Scalar rsub.Tensor selu.default "
            "sgn.default sigmoid.default sign.default silu.default sin.default sinh.default softplus.default softshrink.default "
            "sqrt.default square.default sub.Scalar sub.Tensor subtract.Tensor tan.default tanh.default threshold.default to.device "
            "to.dtype to.dtype_layout to.other true_divide.Tensor trunc.default type_as.default where.Scalar where.ScalarOther "
            "where.ScalarSelf where.self xlogy.Scalar_Other xlogy.Scalar_Self xlogy.Tensor zeros_like.default"
        ),
        "may copy": (
            "contiguous.default flatten.using_ints ravel.default reshape.default reshape_as.default to.device to.dtype "
            "to.dtype_layout to.other type_as.default unflatten.int view_as.default"
        ),
        "repeated view": "as_strided.default broadcast_to.default expand.default expand_as.default unfold.default",
        "reshaped view": (
            "_reshape_alias.default _unsafe_view.default flatten.using_ints ravel.default reshape.default reshape_as.default "
            "squeeze.default squeeze.dim squeeze.dims unflatten.int unsqueeze.default view.default view_as.default"
        ),
        "view": (
            "adjoint.default chunk.default diagonal.default dsplit.array dsplit.int hsplit.array hsplit.int imag.default "
            "linalg_diagonal.default mH.default mT.default matrix_H.default movedim.int movedim.intlist narrow.Tensor narrow.default "
            "numpy_T.default permute.default real.default select.int slice.Tensor split.Tensor split.sizes split_with_sizes.default "
            "swapaxes.default swapdims.default t.default tensor_split.indices tensor_split.sections "
            "tensor_split.tensor_indices_or_sections transpose.int unbind.int vsplit.array vsplit.int"
        ),
        "whole view": (
            "alias.default contiguous.default detach.default lift_fresh.default positive.default to.device to.dtype to.dtype_layout "
            "to.other type_as.default view_as_complex.default view_as_real.default"
        ),
    },
    "tf": {
        "branches": "Case If StatelessCase StatelessIf XlaIf",
        "forwards": (
            "Copy CopyHost DebugGradientIdentity DeepCopy EnsureShape GuaranteeConst Identity PreventGradient RefIdentity Snapshot "
            "StopGradient"
        ),
        "says layout": (
            "AvgPool AvgPool3D Conv2D Conv2DBackpropInput Conv3D Conv3DBackpropInputV2 CropAndResize DepthToSpace "
            "DepthwiseConv2dNative DepthwiseConv2dNativeBackpropInput ExtractImagePatches FusedBatchNorm FusedBatchNormV2 "
            "FusedBatchNormV3 FusedDepthwiseConv2dNative LRN MaxPool MaxPool3D MaxPoolV2 MaxPoolWithArgmax SpaceToDepth "
            "_FusedBatchNormEx _FusedConv2D _FusedDepthwiseConv2dNative"
        ),
    },
}
