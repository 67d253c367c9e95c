"""Operands and attributes of ONNX's operations; `python -m scripts.onnx_definitions` writes it.

The first word is the greatest number of operands, `*` stands for any number of operands.
"""

from moir.support.tables import by_member

DEFINITIONS = by_member(
    {
        "1 consumed_inputs": "Abs Ceil Exp Floor Log Neg Reciprocal Relu Sigmoid Sqrt Tanh",
        "1": (
            "Acos Acosh Asin Asinh Atan Atanh BitwiseNot Cos Cosh Det DynamicQuantizeLinear Erf GlobalAveragePool GlobalMaxPool "
            "HardSwish Identity IsNaN Mish NonZero Not OptionalGetElement OptionalHasElement Round SequenceLength Sign Sin Sinh "
            "Size Softplus Softsign Tan"
        ),
        "2 axis broadcast consumed_inputs": "Add Div Mul Sub",
        "2 align_corners": "AffineGrid",
        "2 axis broadcast": "And Equal Greater Less Or Pow Xor",
        "1 axis keepdims select_last_index": "ArgMax ArgMin",
        (
            "7 is_causal kv_num_heads left_window_size q_num_heads qk_matmul_output_mode right_window_size scale softcap softmax_precision"
        ): "Attention",
        "1 auto_pad ceil_mode count_include_pad dilations kernel_shape pads strides": "AveragePool",
        "5 consumed_inputs epsilon is_test momentum spatial training_mode": "BatchNormalization",
        "1 dtype seed": "Bernoulli",
        "1 to": "BitCast",
        "2 direction": "BitShift",
        "2": (
            "BitwiseAnd BitwiseOr BitwiseXor Expand GreaterOrEqual LessOrEqual MatMul SequenceAt SequenceErase StringConcat "
            "ai.onnx.ml.ArrayFeatureExtractor"
        ),
        "1 output_datatype periodic": "BlackmanWindow HammingWindow HannWindow",
        "1 round_mode saturate to": "Cast",
        "2 round_mode saturate": "CastLike",
        "4 activation": "CausalConvWithState",
        "1 alpha": "Celu Swish ThresholdedRelu",
        "2 axes": "CenterCropPad Squeeze Unsqueeze",
        "3 consumed_inputs max min": "Clip",
        "3 dilations pads strides": "Col2Im",
        "2 axis": "Compress Gather GatherElements",
        "* axis": "Concat",
        "1 axis new_axis": "ConcatFromSequence",
        "0 sparse_value value value_float value_floats value_int value_ints value_string value_strings": "Constant",
        "1 value": "ConstantOfShape",
        "3 auto_pad dilations group kernel_shape pads strides": "Conv",
        "4 auto_pad dilations group kernel_shape pads strides": "ConvInteger",
        "3 auto_pad dilations group kernel_shape output_padding output_shape pads strides": "ConvTranspose",
        "2 exclusive reverse": "CumProd CumSum",
        "3 axis inverse onesided": "DFT",
        "5 dilations group kernel_shape offset_group pads strides": "DeformConv",
        "1 blocksize mode": "DepthToSpace SpaceToDepth",
        "3 axis block_size output_dtype": "DequantizeLinear",
        "3 consumed_inputs is_test ratio seed": "Dropout",
        "* equation": "Einsum",
        "1 alpha consumed_inputs": "Elu LeakyRelu",
        "1 dtype k": "EyeLike",
        "1 axis": "Flatten Hardmax LogSoftmax Softmax",
        ("6 activation_alpha activation_beta activations clip direction hidden_size layout linear_before_reset output_sequence"): "GRU",
        "2 batch_dims": "GatherND",
        "1 approximate": "Gelu",
        "3 alpha beta broadcast transA transB": "Gemm",
        "1 p": "GlobalLpPool",
        "2 align_corners mode padding_mode": "GridSample",
        "3 epsilon num_groups stash_type": "GroupNormalization",
        "1 alpha beta consumed_inputs": "HardSigmoid",
        "1 else_branch then_branch": "If",
        "1 pixel_format": "ImageDecoder",
        "3 consumed_inputs epsilon": "InstanceNormalization",
        "1 detect_negative detect_positive": "IsInf",
        "1 alpha beta bias size": "LRN",
        ("8 activation_alpha activation_beta activations clip direction hidden_size input_forget layout output_sequence"): "LSTM",
        "3 axis epsilon stash_type": "LayerNormalization",
        "6 chunk_size kv_num_heads q_num_heads scale update_rule": "LinearAttention",
        "* body": "Loop SequenceMap",
        "1 axis p": "LpNormalization",
        "1 auto_pad ceil_mode dilations kernel_shape p pads strides": "LpPool",
        "4": "MatMulInteger",
        "* consumed_inputs": "Max Mean Min Sum",
        "1 auto_pad ceil_mode dilations kernel_shape pads storage_order strides": "MaxPool",
        "2 pooled_shape spatial_scale": "MaxRoiPool",
        "3 kernel_shape pads strides": "MaxUnpool",
        "1 axes": "MeanVarianceNormalization",
        "5 output_datatype": "MelWeightMatrix",
        "2 fmod": "Mod",
        "1 dtype sample_size seed": "Multinomial",
        "3 ignore_index reduction": "NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss",
        "5 center_point_box": "NonMaxSuppression",
        "3 axis": "OneHot Scatter",
        "1 type": "Optional",
        "2 consumed_inputs": "PRelu",
        "4 mode paddings pads value": "Pad",
        "9 auto_pad dilations group kernel_shape pads strides": "QLinearConv",
        "8": "QLinearMatMul",
        "3 axis block_size output_dtype precision saturate": "QuantizeLinear",
        "2 axis epsilon stash_type": "RMSNormalization",
        "6 activation_alpha activation_beta activations clip direction hidden_size layout output_sequence": "RNN",
        "0 dtype mean scale seed shape": "RandomNormal",
        "1 dtype mean scale seed": "RandomNormalLike",
        "0 dtype high low seed shape": "RandomUniform",
        "1 dtype high low seed": "RandomUniformLike",
        "3 stash_type": "Range",
        "2 axes keepdims noop_with_empty_axes": (
            "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare"
        ),
        "1 pattern": "RegexFullMatch",
        "2 allowzero consumed_inputs shape": "Reshape",
        (
            "4 antialias axes coordinate_transformation_mode cubic_coeff_a exclude_outside extrapolation_value "
            "keep_aspect_ratio_policy mode nearest_mode"
        ): "Resize",
        "2 batch_axis time_axis": "ReverseSequence",
        "3 coordinate_transformation_mode mode output_height output_width sampling_ratio spatial_scale": "RoiAlign",
        "4 interleaved num_heads rotary_embedding_dim": "RotaryEmbedding",
        "4 onesided": "STFT",
        ("* body directions num_scan_inputs scan_input_axes scan_input_directions scan_output_axes scan_output_directions"): "Scan",
        "3 axis reduction": "ScatterElements",
        "3 reduction": "ScatterND",
        "1 alpha consumed_inputs gamma": "Selu",
        "*": "SequenceConstruct",
        "0 dtype": "SequenceEmpty",
        "3": "SequenceInsert Tile Where",
        "1 end start": "Shape",
        "1 bias lambd": "Shrink",
        "5 axes ends starts": "Slice",
        "2 axis num_outputs split": "Split",
        "2 axis keepdims": "SplitToSequence",
        "1 case_change_action is_case_sensitive locale stopwords": "StringNormalizer",
        "1 delimiter maxsplit": "StringSplit",
        "2 alpha": "SwiGLU",
        "3 axis mode": "TensorScatter",
        (
            "1 max_gram_length max_skip_count min_gram_length mode ngram_counts ngram_indexes pool_int64s pool_strings weights"
        ): "TfIdfVectorizer",
        "2 axis k largest sorted": "TopK",
        "1 perm": "Transpose",
        "2 upper": "Trilu",
        "1 axis sorted": "Unique",
        "2 height_scale mode scales width_scale": "Upsample",
        "1 threshold": "ai.onnx.ml.Binarizer",
        "1 cast_to map_form max_map": "ai.onnx.ml.CastMap",
        "1 cats_int64s cats_strings default_int64 default_string": "ai.onnx.ml.CategoryMapper",
        "1 int64_vocabulary string_vocabulary": "ai.onnx.ml.DictVectorizer",
        "* inputdimensions": "ai.onnx.ml.FeatureVectorizer",
        "1 imputed_value_floats imputed_value_int64s replaced_value_float replaced_value_int64": "ai.onnx.ml.Imputer",
        (
            "1 classes_strings default_float default_int64 default_string default_tensor keys_floats keys_int64s keys_strings "
            "keys_tensor values_floats values_int64s values_strings values_tensor"
        ): "ai.onnx.ml.LabelEncoder",
        "1 classlabels_ints classlabels_strings coefficients intercepts multi_class post_transform": "ai.onnx.ml.LinearClassifier",
        "1 coefficients intercepts post_transform targets": "ai.onnx.ml.LinearRegressor",
        "1 norm": "ai.onnx.ml.Normalizer",
        "1 cats_int64s cats_strings zeros": "ai.onnx.ml.OneHotEncoder",
        (
            "1 classlabels_ints classlabels_strings coefficients kernel_params kernel_type post_transform prob_a prob_b rho "
            "support_vectors vectors_per_class"
        ): "ai.onnx.ml.SVMClassifier",
        "1 coefficients kernel_params kernel_type n_supports one_class post_transform rho support_vectors": "ai.onnx.ml.SVMRegressor",
        "1 offset scale": "ai.onnx.ml.Scaler",
        (
            "1 aggregate_function leaf_targetids leaf_weights membership_values n_targets nodes_falseleafs nodes_falsenodeids "
            "nodes_featureids nodes_hitrates nodes_missing_value_tracks_true nodes_modes nodes_splits nodes_trueleafs "
            "nodes_truenodeids post_transform tree_roots"
        ): "ai.onnx.ml.TreeEnsemble",
        (
            "1 base_values base_values_as_tensor class_ids class_nodeids class_treeids class_weights class_weights_as_tensor "
            "classlabels_int64s classlabels_strings nodes_falsenodeids nodes_featureids nodes_hitrates nodes_hitrates_as_tensor "
            "nodes_missing_value_tracks_true nodes_modes nodes_nodeids nodes_treeids nodes_truenodeids nodes_values "
            "nodes_values_as_tensor post_transform"
        ): "ai.onnx.ml.TreeEnsembleClassifier",
        (
            "1 aggregate_function base_values base_values_as_tensor n_targets nodes_falsenodeids nodes_featureids nodes_hitrates "
            "nodes_hitrates_as_tensor nodes_missing_value_tracks_true nodes_modes nodes_nodeids nodes_treeids nodes_truenodeids "
            "nodes_values nodes_values_as_tensor post_transform target_ids target_nodeids target_treeids target_weights "
            "target_weights_as_tensor"
        ): "ai.onnx.ml.TreeEnsembleRegressor",
        "1 classlabels_int64s classlabels_strings": "ai.onnx.ml.ZipMap",
        "3 prob_mod scale score_mod softmax_precision": "ai.onnx.preview.FlexAttention",
        "* decay_factor epsilon norm_coefficient": "ai.onnx.preview.training.Adagrad",
        "* alpha beta epsilon norm_coefficient norm_coefficient_post": "ai.onnx.preview.training.Adam",
        "* xs y zs": "ai.onnx.preview.training.Gradient",
        "* alpha beta mode norm_coefficient": "ai.onnx.preview.training.Momentum",
    }
)
