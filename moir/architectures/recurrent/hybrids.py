"""Families in which some layers have another block instead of attention: LFM2, Qwen3-Next, Qwen3.5, Lara,
OLMo Hybrid.
"""

from __future__ import annotations

from moir.architectures.family import Family
from moir.architectures.llama import DEFAULTS
from moir.architectures.llama_variants import ALL_PROJECTIONS, OLMO2, QUERY_NORMS
from moir.architectures.mixtures import EXPERT_KEYS
from moir.architectures.record import Architecture, AttentionBlock
from moir.architectures.residuals import PRE_NORM
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
    # Sizes that other keys state, by the names of the original implementation, and the initialization.
    unread=words(
        "block_dim block_mlp_init_scale block_norm_eps block_out_init_scale block_use_xavier_init conv_dim conv_dim_out "
        "conv_use_xavier_init full_attn_idxs num_heads"
    ),
)

LFM2_MOE = LFM2.with_fields(
    architecture=LFM2.architecture.with_fields(name="lfm2_moe", model_types=("lfm2_moe",)),
    tensors={
        **LFM2.tensors,
        **{
            "experts": "feed_forward",
            "experts.router": "feed_forward.gate",
            "experts.gate": "feed_forward.experts.{}.w1",
            "experts.up": "feed_forward.experts.{}.w3",
            "experts.down": "feed_forward.experts.{}.w2",
            "experts.correction": "feed_forward.expert_bias",
        },
    },
    defaults={
        **{key: value for key, value in LFM2.defaults.items() if not key.startswith("block_")},
        "hidden_size": 2048,
        "intermediate_size": 7168,
        "moe_intermediate_size": 1792,
        "num_dense_layers": 2,
        "num_experts_per_tok": 4,
        "num_experts": 32,
        "use_expert_bias": True,
        "routed_scaling_factor": 1.0,
        "norm_topk_prob": True,
    },
    aliases={"num_local_experts": "num_experts", "tie_embedding": "tie_word_embeddings", "theta": "rope_theta"},
    adjusted_feed_forward=False,
    experts={
        **EXPERT_KEYS,
        "scores": "=sigmoid",
        "is_normalized": "norm_topk_prob",
        "least_sum": 1e-6,
        "scale": "routed_scaling_factor",
        "has_correction": "use_expert_bias",
    },
    dense="num_dense_layers",
)

QWEN3_NEXT = Family(
    architecture=Architecture(
        "qwen3_next", ("qwen3_next",), attention=AttentionBlock(query_norm="head", gate="with queries"), norm_offset=1.0
    ),
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

QWEN3_5_TENSORS = {
    **QUERY_NORMS,
    **{name: tensor for name, tensor in QWEN3_NEXT.tensors.items() if not name.startswith(("delta_rule.input", "delta_rule.numbers"))},
    **{
        "delta_rule.query_key_value": "linear_attn.in_proj_qkv",
        "delta_rule.gates": "linear_attn.in_proj_z",
        "delta_rule.strengths": "linear_attn.in_proj_b",
        "delta_rule.steps": "linear_attn.in_proj_a",
    },
}

QWEN3_5_MOE = QWEN3_NEXT.with_fields(
    architecture=QWEN3_NEXT.architecture.with_fields(name="qwen3_5_moe_text", model_types=("qwen3_5_moe_text",), delta_packing="separate"),
    tensors=QWEN3_5_TENSORS,
    defaults={**QWEN3_NEXT.defaults, "vocab_size": 248320, "num_hidden_layers": 40, "num_experts_per_tok": 8, "num_experts": 256},
    experts={**QWEN3_NEXT.experts, "is_normalized": True},
    dense="",
    expected={"attn_output_gate": True},
    # The element type of states, and the layers of multi-token prediction.
    unread=words("full_attention_interval mamba_ssm_dtype mtp_num_hidden_layers mtp_use_dedicated_embeddings intermediate_size"),
)

QWEN3_5 = QWEN3_5_MOE.with_fields(
    architecture=QWEN3_5_MOE.architecture.with_fields(name="qwen3_5_text", model_types=("qwen3_5_text",)),
    defaults={
        **{key: value for key, value in QWEN3_5_MOE.defaults.items() if "expert" not in key and "moe" not in key},
        "hidden_size": 4096,
        "intermediate_size": 12288,
        "num_hidden_layers": 32,
        "num_key_value_heads": 4,
    },
    aliases={},
    experts={},
    unread=QWEN3_5_MOE.unread - words("intermediate_size"),
)

LARA_LAYERS = ("linear_attention", "sliding_attention", "linear_attention", "full_attention", "sliding_attention")

LARA_WITHOUT = words("partial_rotary_factor decoder_sparse_step intermediate_size full_attention_interval")

LARA_MINI = QWEN3_NEXT.with_fields(
    architecture=Architecture("lara_mini", ("lara_mini",), attention=AttentionBlock(query_norm="head"), delta_packing="one matrix"),
    tensors={
        **{name: tensor for name, tensor in QWEN3_NEXT.tensors.items() if name != "delta_rule.numbers"},
        **{"delta_rule.input": "linear_attn.in_proj", "delta_rule.norm": "linear_attn.out_norm"},
    },
    defaults={
        **{key: value for key, value in QWEN3_NEXT.defaults.items() if key not in LARA_WITHOUT},
        **{"hidden_size": 1024, "num_hidden_layers": 34, "num_key_value_heads": 4, "head_dim": 128, "max_position_embeddings": 131072},
        **{"linear_num_key_heads": 8, "linear_num_value_heads": 16, "num_experts_per_tok": 4, "num_experts": 128},
        **{"tie_word_embeddings": True, "sliding_window": 512, "layer_types": (LARA_LAYERS * 7)[:34]},
    },
    experts={**QWEN2_MOE.experts, "shared_gate": False},
    dense="",
    attention_layers="",
    window="listed",
    rotary_layers="sliding",
    unread=frozenset(),
    ignored_tensors=(),
)

OLMO_HYBRID = Family(
    architecture=OLMO2.architecture.with_fields(
        name="olmo_hybrid", model_types=("olmo_hybrid",), other_residuals=PRE_NORM, delta_packing="all separate"
    ),
    tensors={
        **OLMO2.tensors,
        **{
            "attention_norm": "attention_layer_norm",
            "feed_forward_norm": "feedforward_layer_norm",
            "delta_rule": "linear_attn",
            "delta_rule.query": "linear_attn.q_proj",
            "delta_rule.key": "linear_attn.k_proj",
            "delta_rule.value": "linear_attn.v_proj",
            "delta_rule.gates": "linear_attn.g_proj",
            "delta_rule.strengths": "linear_attn.b_proj",
            "delta_rule.steps": "linear_attn.a_proj",
            "delta_rule.decay": "linear_attn.A_log",
            "delta_rule.step_bias": "linear_attn.dt_bias",
            "delta_rule.norm": "linear_attn.o_norm",
            "delta_rule.output": "linear_attn.o_proj",
            "convolution.kernel": "linear_attn.conv1d",
        },
    },
    # The names that Transformers has in memory, which it also writes for layers of the other kind.
    other_names={
        "attention_norm": "input_layernorm",
        "feed_forward_norm": "post_attention_layernorm",
        "attention_output_norm": "feedforward_layer_norm",
    },
    joined={"convolution.kernel": ("linear_attn.q_conv1d", "linear_attn.k_conv1d", "linear_attn.v_conv1d")},
    sizes={"kernel": "linear_conv_kernel_dim", **DELTA_SIZES},
    defaults={
        **OLMO2.defaults,
        "vocab_size": 100352,
        "hidden_size": 3840,
        "num_attention_heads": 30,
        "max_position_embeddings": 65536,
        "rms_norm_eps": 1e-6,
        "linear_conv_kernel_dim": 4,
        "linear_num_key_heads": 30,
        "linear_num_value_heads": 30,
        "linear_key_head_dim": 96,
        "linear_value_head_dim": 192,
        "linear_allow_neg_eigval": True,
        "_strength_factor": 2.0,
        "full_attention_interval": 4,
    },
    fixed={"part_epsilon": 1e-5},
    biases=OLMO2.biases,
    other_block="delta rule",
    attention_layers="full_attention_interval",
    variants=(("linear_allow_neg_eigval", True, {"factors": {"strengths": "_strength_factor"}}),),
    # Bounds of the initial values.
    unread=words("full_attention_interval linear_a_log_min linear_a_log_max linear_dt_min linear_dt_max linear_dt_init_floor"),
)

FAMILIES = (LFM2, LFM2_MOE, QWEN3_NEXT, QWEN3_5, QWEN3_5_MOE, LARA_MINI, OLMO_HYBRID)
