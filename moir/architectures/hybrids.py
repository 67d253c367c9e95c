"""Families some of whose layers have another block in the place of the attention: LFM2, Qwen3-Next."""

from __future__ import annotations

from moir.architectures.family import Family
from moir.architectures.llama import DEFAULTS
from moir.architectures.llama_variants import ALL_PROJECTIONS, QUERY_NORMS
from moir.architectures.record import Architecture, AttentionBlock
from moir.architectures.shared_experts import QWEN2_MOE
from moir.support.tables import words

DELTA_SIZES = {
    "delta.key_heads": "linear_num_key_heads",
    "delta.heads": "linear_num_value_heads",
    "delta.key_size": "linear_key_head_dim",
    "delta.value_size": "linear_value_head_dim",
}

LFM2 = Family(
    architecture=Architecture("lfm2", ("lfm2",), attention=AttentionBlock(query_norm="head")),
    tensors={
        "embedding": "model.embed_tokens",
        "final_norm": "model.embedding_norm",
        "head": "lm_head",
        "attention": "self_attn",
        "feed_forward": "feed_forward",
        "attention_norm": "operator_norm",
        "feed_forward_norm": "ffn_norm",
        "attention.query": "self_attn.q_proj",
        "attention.key": "self_attn.k_proj",
        "attention.value": "self_attn.v_proj",
        "attention.output": "self_attn.out_proj",
        "attention.query_norm": "self_attn.q_layernorm",
        "attention.key_norm": "self_attn.k_layernorm",
        "convolution": "conv",
        "convolution.input": "conv.in_proj",
        "convolution.kernel": "conv.conv",
        "convolution.output": "conv.out_proj",
        "feed_forward.gate": "feed_forward.w1",
        "feed_forward.up": "feed_forward.w3",
        "feed_forward.down": "feed_forward.w2",
    },
    keys={"epsilon": "norm_eps", "activation": "_activation"},
    aliases={"block_ff_dim": "intermediate_size", "tie_embedding": "tie_word_embeddings", "theta": "rope_theta"},
    sizes={"kernel": "conv_L_cache"},
    defaults={
        **{key: value for key, value in DEFAULTS.items() if key != "rms_norm_eps"},
        "vocab_size": 65536,
        "hidden_size": 2560,
        "intermediate_size": 12288,
        "num_key_value_heads": 8,
        "max_position_embeddings": 128000,
        "norm_eps": 1e-5,
        "rope_theta": 1e6,
        "tie_word_embeddings": True,
        "conv_bias": False,
        "conv_L_cache": 3,
        "block_multiple_of": 256,
        "block_ffn_dim_multiplier": 1.0,
        "block_auto_adjust_ff_dim": True,
        "full_attn_idxs": None,
        "_activation": "silu",
    },
    biases={"conv_bias": "convolution.input convolution.kernel convolution.output"},
    adjusted_feed_forward=True,
    other_block="convolution",
    attention_layers="full_attn_idxs",
    expected={"use_pos_enc": True, "block_use_swiglu": True},
    # The original's names of sizes that other keys have, and how the training begins.
    unread=words(
        "block_dim block_mlp_init_scale block_norm_eps block_out_init_scale block_use_xavier_init conv_dim conv_dim_out "
        "conv_use_xavier_init full_attn_idxs num_heads"
    ),
)

QWEN3_NEXT = Family(
    architecture=Architecture("qwen3_next", ("qwen3_next",), attention=AttentionBlock(query_norm="head", gated=True), norm_offset=1.0),
    tensors={
        **QWEN2_MOE.tensors,
        **QUERY_NORMS,
        **{
            "delta_rule": "linear_attn",
            "delta_rule.input": "linear_attn.in_proj_qkvz",
            "delta_rule.numbers": "linear_attn.in_proj_ba",
            "convolution.kernel": "linear_attn.conv1d",
            "delta_rule.decay": "linear_attn.A_log",
            "delta_rule.step_bias": "linear_attn.dt_bias",
            "delta_rule.norm": "linear_attn.norm",
            "delta_rule.output": "linear_attn.out_proj",
        },
    },
    sizes={"kernel": "linear_conv_kernel_dim", **DELTA_SIZES},
    defaults={
        **DEFAULTS,
        "vocab_size": 151936,
        "hidden_size": 2048,
        "intermediate_size": 5632,
        "num_hidden_layers": 48,
        "num_attention_heads": 16,
        "num_key_value_heads": 2,
        "head_dim": 256,
        "max_position_embeddings": 32768,
        "partial_rotary_factor": 0.25,
        "linear_conv_kernel_dim": 4,
        "linear_key_head_dim": 128,
        "linear_value_head_dim": 128,
        "linear_num_key_heads": 16,
        "linear_num_value_heads": 32,
        "decoder_sparse_step": 1,
        "moe_intermediate_size": 512,
        "shared_expert_intermediate_size": 512,
        "num_experts_per_tok": 10,
        "num_experts": 512,
        "norm_topk_prob": True,
        "full_attention_interval": 4,
    },
    aliases=QWEN2_MOE.aliases,
    biases={"attention_bias": ALL_PROJECTIONS},
    experts=QWEN2_MOE.experts,
    dense="sparse step",
    other_block="delta rule",
    attention_layers="full_attention_interval",
    unread=words("full_attention_interval"),
    # Layers for multi-token prediction.
    ignored_tensors=("mtp.*",),
)

FAMILIES = (LFM2, QWEN3_NEXT)
