"""Operations that PaddlePaddle's libraries export and that cannot be converted; lowering them raises an error with the
reason.

Source: operators registered in PaddlePaddle 2.6, and the lists of operations of Paddle Lite and Paddle2ONNX.
"""

from __future__ import annotations

from typing import NoReturn

from moir.lowering.binder import LoweringNode
from moir.lowering.paddle.table import paddle
from moir.rewriting.builder import OpBuilder

_LEVELS = "its sequences have levels of detail, which tensors do not have"
_PADDED = "export the model with padded sequences and their lengths instead"
_STRINGS = "it splits texts by a vocabulary"
_BEAMS = "hypotheses of a beam are selected by levels of detail"
_KERNEL = "it is a kernel for GPUs, whose weights are packed for them"
_DECODED = "cut the model before this node, and decode outside"
_FUSED = "it is a kernel for GPUs with a cache in blocks of memory"
_UNFUSED = "export the model without fused operations for GPUs (PaddleNLP: --inference_model false, use_fused_rope=False)"
_LABELS = "it is a loss, which needs labels"
_WITHOUT_LOSS = "export the network without its loss, by paddle.jit.save of the layer in eval mode"

REASONS: dict[str, tuple[str, str]] = {
    **dict.fromkeys(
        (
            *("sequence_concat", "sequence_conv", "sequence_enumerate", "sequence_erase", "sequence_expand", "sequence_expand_as"),
            *("sequence_pad", "sequence_pool", "sequence_reshape", "sequence_reverse", "sequence_scatter", "sequence_slice"),
            *("sequence_softmax", "sequence_unpad", "lstm", "gru", "im2sequence", "row_conv", "lod_rank_table", "max_sequence_len"),
            *("array_to_lod_tensor", "lod_tensor_to_array", "reorder_lod_tensor_by_rank", "shrink_rnn_memory", "fusion_gru"),
            *("fusion_lstm", "attention_lstm", "fused_embedding_seq_pool", "split_lod_tensor", "merge_lod_tensor"),
        ),
        (_LEVELS, _PADDED),
    ),
    **dict.fromkeys(("linear_chain_crf", "crf_decoding", "ctc_align", "edit_distance", "chunk_eval"), (_LEVELS, _DECODED)),
    **dict.fromkeys(("beam_search", "beam_search_decode"), (_BEAMS, _DECODED)),
    "viterbi_decode": ("the best path is traced back through its steps", _DECODED),
    "faster_tokenizer": (_STRINGS, "cut the model after this node, and give it the identifiers of tokens"),
    "top_p_sampling": ("the number of tokens it draws from depends on sums of sorted probabilities", _DECODED),
    **dict.fromkeys(("weight_only_linear", "llm_int8_linear", "weight_quantize", "weight_dequantize", "quant_linear"), (_KERNEL, _UNFUSED)),
    **dict.fromkeys(
        (
            *("masked_multihead_attention", "block_multihead_attention", "variable_length_memory_efficient_attention"),
            *("flash_attn_unpadded", "fused_multi_transformer", "fused_rotary_position_embedding", "fused_bias_act"),
        ),
        (_FUSED, _UNFUSED),
    ),
    **dict.fromkeys(
        (
            *("cross_entropy", "cross_entropy2", "sigmoid_cross_entropy_with_logits", "bce_loss", "nll_loss"),
            *("huber_loss", "kldiv_loss", "log_loss", "warpctc", "warprnnt", "margin_cross_entropy", "yolov3_loss", "accuracy", "auc"),
        ),
        (_LABELS, _WITHOUT_LOSS),
    ),
    **dict.fromkeys(
        ("generate_proposals", "retinanet_detection_output", "locality_aware_nms", "bipartite_match", "mine_hard_examples"),
        ("its boxes have levels of detail, which tensors do not have", "export the model with PaddleDetection 2.0 or newer"),
    ),
    "py_func": ("it is a function of Python", "export the model without it, or lower it by an extension"),
    "decode_jpeg": ("decompression reads its input bit by bit, each step depending on the one before", "give the model the decoded image"),
    "read_file": ("the operation sets have no operation that reads files", "give the model the bytes of the file"),
}
"""For each kind, why it cannot be converted, and what to do instead."""


@paddle.lowers(*REASONS)
def refused(node: LoweringNode, _: OpBuilder) -> NoReturn:
    """paddle.beam_search(x): raises ConversionError, because the operation sets cannot express it; likewise the others
    in REASONS
    """
    reason, hint = REASONS[node.op.KIND]
    node.fail(reason, hint=hint)
