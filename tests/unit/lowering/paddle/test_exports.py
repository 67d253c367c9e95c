"""The operations that exports of PaddlePaddle's libraries contain are lowered, or refused with a reason.

Source: the operations that Paddle Lite (support_operation_list.md) and Paddle2ONNX (op_list.md) list for the models of
these libraries, and those that the layers of the libraries' networks build.
"""

from __future__ import annotations

import pytest

from moir.lowering.paddle.refusals import REASONS
from moir.lowering.paddle.table import paddle

COMMON = """
abs arg_max argsort assign assign_value batch_norm bilinear_interp_v2 bmm cast clip concat conv2d conv2d_transpose cumsum depthwise_conv2d
depthwise_conv2d_transpose dropout elementwise_add elementwise_div elementwise_floordiv elementwise_max elementwise_min elementwise_mod
elementwise_mul elementwise_pow elementwise_sub equal erf exp expand_as_v2 expand_v2 fill_any_like fill_constant
fill_constant_batch_size_like flatten_contiguous_range floor gather gather_nd gelu greater_equal greater_than hard_sigmoid hard_swish
index_select layer_norm leaky_relu less_equal less_than log logical_and logical_not logical_or lookup_table_v2 matmul_v2 nearest_interp_v2
not_equal one_hot_v2 p_norm pad3d pool2d pow range reduce_max reduce_mean reduce_min reduce_prod reduce_sum relu relu6 reshape2 roll rsqrt
scale scatter shape sigmoid silu slice softmax split sqrt square squeeze2 stack strided_slice sum swish tanh tile top_k_v2 transpose2
unsqueeze2 where where_index
"""
LIBRARIES = {
    "PaddleClas": "einsum grid_sampler index_sample instance_norm linspace meshgrid pixel_shuffle pool3d prelu unbind unfold unstack norm",
    "PaddleDetection": """
        affine_channel anchor_generator bicubic_interp_v2 box_clip box_coder collect_fpn_proposals
        deformable_conv density_prior_box distribute_fpn_proposals generate_proposals_v2 group_norm
        conditional_block iou_similarity isfinite_v2 logical_xor lod_reset masked_select matrix_nms mish
        multiclass_nms multiclass_nms2 multiclass_nms3 polygon_box_transform prior_box psroi_pool
        put_along_axis retinanet_detection_output roi_align roi_pool round scatter_nd_add set_value softplus
        take_along_axis tril_triu unique yolo_box generate_proposals locality_aware_nms nms while
    """,
    "PaddleSeg": "affine_grid arg_min bicubic_interp elu fold flip grid_sampler selu sync_batch_norm temporal_shift unpool tan",
    "PaddleOCR": """
        atan2 cos crop_tensor eye gather_tree im2sequence increment inverse is_empty kron lod_array_length
        log_softmax logsumexp multinomial pixel_shuffle read_from_array reduce_all reduce_any rnn select_input
        sequence_mask sequence_pool sin tensor_array_to_tensor top_k while write_to_array gru ctc_align
        sequence_expand
    """,
    "PaddleNLP": """
        beam_search beam_search_decode crf_decoding diag_v2 faster_tokenizer fill_zeros_like flatten2
        fused_rotary_position_embedding index_put isnan_v2 linear_chain_crf lookup_table
        masked_multihead_attention matmul mul multihead_matmul multinomial reshape rms_norm sequence_concat
        sequence_reverse skip_layernorm squeeze swiglu top_p_sampling transpose tril_triu triu unsqueeze
        viterbi_decode weight_only_linear fused_softmax_mask fused_softmax_mask_upper_triangle
        memory_efficient_attention flash_attn unique_consecutive
    """,
    "PaddleSpeech": """
        as_complex as_real celu conv3d cumprod fft_c2c fft_c2r fft_r2c frame gaussian_random index_add
        kthvalue label_smooth logcumsumexp logsigmoid masked_fill overlap_add pad pad2d randint randperm
        repeat_interleave rnn row_conv searchsorted stft std tanh_shrink uniform_random var while warpctc
    """,
    "PaddleSlim": """
        dequantize_linear fake_channel_wise_dequantize_max_abs fake_channel_wise_quantize_abs_max
        fake_channel_wise_quantize_dequantize_abs_max fake_dequantize_max_abs fake_quantize_abs_max
        fake_quantize_dequantize_abs_max fake_quantize_dequantize_moving_average_abs_max
        fake_quantize_moving_average_abs_max fake_quantize_range_abs_max moving_average_abs_max_scale
        quantize_linear
    """,
}


@pytest.mark.parametrize("library", LIBRARIES)
def test_exports_are_lowered_or_refused(library: str) -> None:
    assert {*COMMON.split(), *LIBRARIES[library].split()} - set(paddle.kinds()) == set()


def test_refusals_say_what_to_do() -> None:
    assert [kind for kind, (reason, hint) in REASONS.items() if not reason or not hint] == []
