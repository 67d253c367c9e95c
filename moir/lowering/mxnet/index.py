"""The kinds that each file of this package lowers; `python -m scripts.lowering_index` writes it."""

INDEX: dict[str, str] = {
    "activation": (
        "Activation LeakyReLU LinearRegressionOutput LogisticRegressionOutput MAERegressionOutput SVMOutput Softmax "
        "SoftmaxActivation SoftmaxOutput _npx_activation _npx_leaky_relu _npx_log_softmax _npx_smooth_l1 _npx_softmax "
        "hard_sigmoid log_softmax smooth_l1 softmax softmin"
    ),
    "addressing": (
        "_contrib_index_array _contrib_index_copy _crop_assign _crop_assign_scalar _npi_slice_assign _npi_slice_assign_scalar "
        "_ravel_multi_index _slice_assign _slice_assign_scalar _unravel_index ravel_multi_index unravel_index"
    ),
    "arithmetic": (
        "ElementWiseSum _Div _DivScalar _Equal _EqualScalar _Greater _GreaterEqualScalar _GreaterScalar _Greater_Equal _Hypot "
        "_HypotScalar _Lesser _LesserEqualScalar _LesserScalar _Lesser_Equal _LogicalAndScalar _LogicalOrScalar _LogicalXorScalar "
        "_Logical_And _Logical_Or _Logical_Xor _Maximum _MaximumScalar _Minimum _MinimumScalar _Minus _MinusScalar _Mod "
        "_ModScalar _Mul _MulScalar _NotEqualScalar _Not_Equal _Plus _PlusScalar _Power _PowerScalar _RDivScalar _RMinusScalar "
        "_RModScalar _RPowerScalar _add _contrib_div_sqrt_dim _copy _div _div_scalar _equal _equal_scalar _grad_add _greater "
        "_greater_equal _greater_equal_scalar _greater_scalar _hypot _hypot_scalar _identity_with_attr_like_rhs _lesser "
        "_lesser_equal _lesser_equal_scalar _lesser_scalar _logical_and _logical_and_scalar _logical_or _logical_or_scalar "
        "_logical_xor _logical_xor_scalar _maximum _maximum_scalar _minimum _minimum_scalar _minus _minus_scalar _mod _mod_scalar "
        "_mul _mul_scalar _not_equal _not_equal_scalar _np_copy _npi_add _npi_add_scalar _npi_arctan2 _npi_arctan2_scalar "
        "_npi_bitwise_and _npi_bitwise_and_scalar _npi_bitwise_or _npi_bitwise_or_scalar _npi_bitwise_xor _npi_bitwise_xor_scalar "
        "_npi_clip _npi_copysign _npi_copysign_scalar _npi_equal _npi_equal_scalar _npi_greater _npi_greater_equal "
        "_npi_greater_equal_scalar _npi_greater_scalar _npi_hypot _npi_hypot_scalar _npi_ldexp _npi_ldexp_scalar _npi_less "
        "_npi_less_equal _npi_less_equal_scalar _npi_less_scalar _npi_logical_and _npi_logical_or _npi_logical_xor _npi_maximum "
        "_npi_maximum_scalar _npi_minimum _npi_minimum_scalar _npi_mod _npi_mod_scalar _npi_multiply _npi_multiply_scalar "
        "_npi_not_equal _npi_not_equal_scalar _npi_power _npi_power_scalar _npi_rarctan2_scalar _npi_rcopysign_scalar "
        "_npi_rldexp_scalar _npi_rmod_scalar _npi_rpower_scalar _npi_rsubtract_scalar _npi_rtrue_divide_scalar _npi_subtract "
        "_npi_subtract_scalar _npi_true_divide _npi_true_divide_scalar _plus _plus_scalar _power _power_scalar _rdiv_scalar "
        "_rminus_scalar _rmod_scalar _rpower_scalar _scatter_elemwise_div _scatter_minus_scalar _scatter_plus_scalar _sub add_n "
        "broadcast_add broadcast_div broadcast_equal broadcast_greater broadcast_greater_equal broadcast_hypot broadcast_lesser "
        "broadcast_lesser_equal broadcast_logical_and broadcast_logical_or broadcast_logical_xor broadcast_maximum "
        "broadcast_minimum broadcast_minus broadcast_mod broadcast_mul broadcast_not_equal broadcast_plus broadcast_power "
        "broadcast_sub clip elemwise_add elemwise_div elemwise_mul elemwise_sub"
    ),
    "array": (
        "_linalg_extractdiag _linalg_makediag _np_atleast_1d _np_atleast_2d _np_atleast_3d _np_diag _np_diagonal _np_moveaxis "
        "_np_trace _npi_column_stack _npi_diff _npi_dsplit _npi_dstack _npi_hsplit _npi_hstack _npi_indices _npi_rot90 _npi_tril "
        "_npi_vstack _npx_nonzero diag linalg_extractdiag linalg_makediag"
    ),
    "comparison": "_npi_where _npi_where_lscalar _npi_where_rscalar _npi_where_scalar2 where",
    "control_flow": "_cond _foreach _while_loop",
    "convolution": (
        "Convolution Convolution_v1 Deconvolution _contrib_DeformableConvolution _contrib_ModulatedDeformableConvolution "
        "_npx_convolution _npx_deconvolution"
    ),
    "data_types": "Cast _npi_cast _npx_cast amp_cast amp_multicast cast",
    "detection.boxes": "_contrib_box_decode _contrib_box_iou",
    "detection.operations": (
        "ROIPooling _contrib_DeformablePSROIPooling _contrib_MultiBoxDetection _contrib_MultiBoxPrior _contrib_PSROIPooling "
        "_contrib_ROIAlign _contrib_box_nms _contrib_box_non_maximum_suppression _npx_roi_pooling"
    ),
    "detection.proposals": "Custom _contrib_MultiProposal _contrib_Proposal",
    "elementwise": (
        "BlockGrad Dropout IdentityAttachKLSparseReg MakeLoss _contrib_gradientmultiplier _contrib_isfinite _contrib_isinf "
        "_contrib_isnan _contrib_quadratic _contrib_round_ste _contrib_sign_ste _npi_abs _npi_absolute _npi_arccos _npi_arccosh "
        "_npi_arcsin _npi_arcsinh _npi_arctan _npi_arctanh _npi_around _npi_cbrt _npi_ceil _npi_cos _npi_cosh _npi_degrees "
        "_npi_exp _npi_expm1 _npi_fix _npi_floor _npi_isfinite _npi_isinf _npi_isnan _npi_log _npi_log10 _npi_log1p _npi_log2 "
        "_npi_logical_not _npi_nan_to_num _npi_negative _npi_radians _npi_reciprocal _npi_rint _npi_sign _npi_sin _npi_sinh "
        "_npi_sqrt _npi_square _npi_tan _npi_tanh _npi_trunc _npx_dropout _npx_erf _npx_erfinv _npx_gamma _npx_gammaln _npx_relu "
        "_npx_sigmoid abs arccos arccosh arcsin arcsinh arctan arctanh cast_storage cbrt ceil cos cosh degrees erf erfinv exp "
        "expm1 fix floor gamma gammaln identity isfinite isinf isnan log log10 log1p log2 logical_not make_loss mish negative "
        "radians rcbrt reciprocal relu rint round rsqrt sigmoid sign sin sinh softsign sqrt square stop_gradient tan tanh trunc"
    ),
    "generation": (
        "_arange _contrib_arange_like _eye _full _linspace _npi_arange _npi_eye _npi_full _npi_full_like _npi_identity "
        "_npi_linspace _npi_logspace _npi_ones _npi_zeros _npx_arange_like _ones _zeros _zeros_without_dtype ones_like zeros_like"
    ),
    "image.blocks": "depth_to_space space_to_depth",
    "image.columns": "Correlation col2im im2col",
    "image.resampling": (
        "BilinearSampler GridGenerator SpatialTransformer UpSampling _contrib_AdaptiveAvgPooling2D _contrib_BilinearResize2D"
    ),
    "image.transforms": ("_image_crop _image_flip_left_right _image_flip_top_bottom _image_normalize _image_resize _image_to_tensor"),
    "indexing": (
        "Embedding SequenceLast SequenceMask SequenceReverse _npi_take _npx_embedding _npx_gather_nd _npx_one_hot _npx_pick "
        "_npx_sequence_mask batch_take choose_element_0index gather_nd one_hot pick take"
    ),
    "linear_algebra": (
        "_linalg_det _linalg_extracttrian _linalg_maketrian _linalg_potrf _linalg_potri _linalg_slogdet _linalg_sumlogdiag "
        "_linalg_trmm _linalg_trsm _npi_cholesky _npi_det _npi_slogdet linalg_det linalg_extracttrian linalg_maketrian "
        "linalg_potrf linalg_potri linalg_slogdet linalg_sumlogdiag linalg_trmm linalg_trsm"
    ),
    "matrix": (
        "FullyConnected _contrib_interleaved_matmul_encdec_qk _contrib_interleaved_matmul_encdec_valatt "
        "_contrib_interleaved_matmul_selfatt_qk _contrib_interleaved_matmul_selfatt_valatt _linalg_gemm _linalg_gemm2 "
        "_linalg_inverse _linalg_syrk _np_dot _npi_dot _npi_einsum _npi_inv _npi_matmul _npi_tensordot _npi_tensordot_int_axes "
        "_npx_batch_dot _npx_fully_connected batch_dot dot khatri_rao linalg_gemm linalg_gemm2 linalg_inverse linalg_syrk"
    ),
    "movement": (
        "Concat SliceChannel SwapAxis _Concat _contrib_boolean_mask _np_reshape _np_roll _np_transpose _npi_concatenate _npi_flip "
        "_npi_reshape _npi_roll _npi_split _npi_stack _npi_swapaxes _npi_transpose _npx_reshape _rnn_param_concat _split_v2 "
        "concat flip reverse split stack swapaxes transpose"
    ),
    "normalization": (
        "BatchNorm BatchNorm_v1 GroupNorm InstanceNorm L2Normalization LRN LayerNorm _contrib_BatchNormWithReLU "
        "_contrib_SyncBatchNorm _npx_batch_norm _npx_group_norm _npx_instance_norm _npx_l2_normalization _npx_layer_norm"
    ),
    "pooling": "Pooling Pooling_v1 _npx_pooling",
    "quantization": (
        "_contrib_dequantize _contrib_quantize _contrib_quantize_v2 _contrib_quantized_act _contrib_quantized_batch_norm "
        "_contrib_quantized_concat _contrib_quantized_conv _contrib_quantized_elemwise_add _contrib_quantized_elemwise_mul "
        "_contrib_quantized_embedding _contrib_quantized_flatten _contrib_quantized_fully_connected _contrib_quantized_pooling "
        "_contrib_requantize _sg_mkldnn_conv _sg_mkldnn_fully_connected"
    ),
    "random": "_random_normal _random_uniform normal random_normal random_uniform uniform",
    "recurrent": "RNN _npx_rnn",
    "reduction": (
        "_np_all _np_amax _np_amin _np_any _np_cumsum _np_max _np_min _np_prod _np_product _np_sometrue _np_sum _npi_argmax "
        "_npi_argmin _npi_average _npi_cumsum _npi_max _npi_mean _npi_min _npi_norm _npi_prod _npi_std _npi_sum _npi_var argmax "
        "argmax_channel argmin cumsum max max_axis mean min min_axis moments nanprod nansum norm prod sum sum_axis"
    ),
    "repetition": "_npi_broadcast_to _npi_repeat _npi_tile broadcast_axes broadcast_axis broadcast_like broadcast_to repeat tile",
    "scattering": "_scatter_set_nd scatter_nd",
    "shape": (
        "Flatten Reshape _np_squeeze _npi_expand_dims _npi_squeeze _npx_batch_flatten _npx_reshape_like _npx_shape_array "
        "expand_dims flatten reshape reshape_like shape_array size_array squeeze"
    ),
    "slicing": "Crop Pad _npi_pad _npi_slice _npx_slice crop pad slice slice_axis slice_like",
    "sort": "_npi_argsort _npi_sort _npx_topk argsort sort topk",
}
