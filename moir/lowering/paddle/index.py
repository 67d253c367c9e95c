"""The kinds that each file of this package lowers; `python -m scripts.lowering_index` writes it."""

INDEX: dict[str, str] = {
    "activation": (
        "brelu celu elu gelu hard_shrink hard_sigmoid hard_swish leaky_relu log_softmax logit maxout mish prelu selu soft_relu "
        "softmax softmax_with_cross_entropy softplus softshrink stanh swiglu swish thresholded_relu"
    ),
    "arithmetic": (
        "allclose atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor clip copysign elementwise_add "
        "elementwise_div elementwise_floordiv elementwise_fmax elementwise_fmin elementwise_heaviside elementwise_max "
        "elementwise_min elementwise_mod elementwise_mul elementwise_pow elementwise_sub grad_add heaviside increment isclose "
        "lerp minus multiplex pow scale sum"
    ),
    "attention": "flash_attn fused_fc_elementwise_layernorm memory_efficient_attention multihead_matmul skip_layernorm",
    "comparison": (
        "equal equal_all greater_equal greater_than less_equal less_than logical_and logical_or logical_xor masked_fill not_equal where"
    ),
    "complex.operations": "angle as_complex as_real complex conj imag real",
    "control_flow.arrays": "create_array lod_array_length read_from_array tensor_array_to_tensor write_to_array",
    "control_flow.bodies": "conditional_block if select_input while",
    "convolution": (
        "conv2d conv2d_transpose conv3d conv3d_transpose deformable_conv deformable_conv_v1 depthwise_conv2d "
        "depthwise_conv2d_transpose fused_conv2d"
    ),
    "decoding": "gather_tree",
    "detection.boxes": ("anchor_generator box_clip box_coder density_prior_box iou_similarity polygon_box_transform prior_box yolo_box"),
    "detection.regions": "collect_fpn_proposals distribute_fpn_proposals generate_proposals_v2 psroi_pool roi_align roi_pool",
    "detection.suppression": "matrix_nms multiclass_nms multiclass_nms2 multiclass_nms3 nms",
    "elementwise": (
        "abs acos acosh asin asinh assign atan atanh bitwise_not cast ceil cos cosh digamma dropout erf erfinv exp expm1 floor "
        "fused_dropout_add isfinite_v2 isinf_v2 isnan_v2 label_smooth lgamma lod_reset log log10 log1p log2 logical_not "
        "logsigmoid memcpy memcpy_d2h memcpy_h2d print reciprocal relu relu6 round rrelu rsqrt share_data sigmoid sign silu sin "
        "sinh softsign sqrt square tan tanh tanh_shrink trunc"
    ),
    "generation": (
        "assign_value empty eye fill_any_like fill_constant fill_constant_batch_size_like fill_zeros_like linspace logspace "
        "ones_like range tril_indices triu_indices zeros_like"
    ),
    "image": (
        "affine_grid bicubic_interp bicubic_interp_v2 bilinear_interp bilinear_interp_v2 channel_shuffle fold grid_sampler "
        "linear_interp linear_interp_v2 nearest_interp nearest_interp_v2 pixel_shuffle pixel_unshuffle shuffle_channel "
        "space_to_depth temporal_shift trilinear_interp trilinear_interp_v2 unfold"
    ),
    "indexing": (
        "gather gather_nd index_add index_put index_sample index_select lookup_table lookup_table_v2 masked_select one_hot "
        "one_hot_v2 put_along_axis scatter scatter_nd_add sequence_mask take_along_axis where_index"
    ),
    "matrix": (
        "addmm baddbmm bmm cross determinant dot einsum fc fused_gemm_epilogue inverse kron matmul matmul_v2 matrix_power mul multi_dot mv"
    ),
    "movement": (
        "concat diag_embed diag_v2 diagonal fill_diagonal flip fused_softmax_mask fused_softmax_mask_upper_triangle meshgrid "
        "reverse roll split stack trace transpose transpose2 tril tril_triu triu unbind unstack"
    ),
    "normalization": (
        "affine_channel batch_norm data_norm group_norm instance_norm layer_norm lrn norm rms_norm spectral_norm sync_batch_norm"
    ),
    "pooling": "max_pool2d_with_index max_pool3d_with_index pool2d pool3d unpool unpool3d",
    "quantization": (
        "dequantize_linear fake_channel_wise_dequantize_max_abs fake_channel_wise_quantize_abs_max "
        "fake_channel_wise_quantize_dequantize_abs_max fake_dequantize_max_abs fake_quantize_abs_max "
        "fake_quantize_dequantize_abs_max fake_quantize_dequantize_moving_average_abs_max fake_quantize_moving_average_abs_max "
        "fake_quantize_range_abs_max moving_average_abs_max_scale quantize_linear"
    ),
    "random": "gaussian_random multinomial randint randperm uniform_random",
    "recurrent": "rnn",
    "reduction": (
        "arg_max arg_min cumprod cumsum dist frobenius_norm is_empty l1_norm logsumexp mean p_norm reduce_all reduce_amax "
        "reduce_amin reduce_any reduce_max reduce_mean reduce_min reduce_prod reduce_sum size squared_l2_norm std var"
    ),
    "refusals": (
        "accuracy array_to_lod_tensor attention_lstm auc bce_loss beam_search beam_search_decode bipartite_match "
        "block_multihead_attention chunk_eval crf_decoding cross_entropy cross_entropy2 ctc_align decode_jpeg edit_distance "
        "faster_tokenizer flash_attn_unpadded fused_bias_act fused_embedding_seq_pool fused_multi_transformer "
        "fused_rotary_position_embedding fusion_gru fusion_lstm generate_proposals gru huber_loss im2sequence kldiv_loss "
        "linear_chain_crf llm_int8_linear locality_aware_nms lod_rank_table lod_tensor_to_array log_loss lstm "
        "margin_cross_entropy masked_multihead_attention max_sequence_len merge_lod_tensor mine_hard_examples nll_loss py_func "
        "quant_linear read_file reorder_lod_tensor_by_rank retinanet_detection_output row_conv sequence_concat sequence_conv "
        "sequence_enumerate sequence_erase sequence_expand sequence_expand_as sequence_pad sequence_pool sequence_reshape "
        "sequence_reverse sequence_scatter sequence_slice sequence_softmax sequence_unpad shrink_rnn_memory "
        "sigmoid_cross_entropy_with_logits split_lod_tensor top_p_sampling variable_length_memory_efficient_attention "
        "viterbi_decode warpctc warprnnt weight_dequantize weight_only_linear weight_quantize yolov3_loss"
    ),
    "repetition": "expand expand_as repeat_interleave tile",
    "shape": (
        "broadcast_tensors combine expand_as_v2 expand_v2 flatten flatten2 flatten_contiguous_range reshape reshape2 shape "
        "shape64 squeeze squeeze2 unsqueeze unsqueeze2"
    ),
    "signal": "fft_c2c fft_c2r fft_r2c frame overlap_add stft",
    "slicing": "crop_tensor pad pad2d pad3d partial_concat partial_sum set_value slice strided_slice",
    "sort": "argsort kthvalue searchsorted top_k top_k_v2 unique unique_consecutive",
    "statistics": "cummax cummin logcumsumexp median nanmedian",
}
