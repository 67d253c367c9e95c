"""Families whose layers have experts: Mixtral, Qwen3 MoE, OLMoE, gpt-oss, Granite MoE, Phi-3.5-MoE."""

from __future__ import annotations

from moir.architectures.family import Family
from moir.architectures.llama import DEFAULTS, TENSORS
from moir.architectures.llama_variants import ALL_PROJECTIONS, GRANITE, QUERY_NORMS
from moir.architectures.record import Architecture, AttentionBlock
from moir.support.tables import words

EXPERT_KEYS = {"count": "num_experts", "chosen": "num_experts_per_tok", "size": "moe_intermediate_size"}
"""The keys, in most families, of the number of experts, of the number that computes a token, and of the size of an
expert.
"""

MIXTRAL = Family(
    architecture=Architecture("mixtral", ("mixtral",)),
    tensors={
        **TENSORS,
        **{
            "experts": "block_sparse_moe",
            "experts.router": "block_sparse_moe.gate",
            "experts.gate": "block_sparse_moe.experts.{}.w1",
            "experts.up": "block_sparse_moe.experts.{}.w3",
            "experts.down": "block_sparse_moe.experts.{}.w2",
        },
    },
    defaults={
        **DEFAULTS,
        "intermediate_size": 14336,
        "num_key_value_heads": 8,
        "max_position_embeddings": 131072,
        "rms_norm_eps": 1e-5,
        "rope_theta": 1e6,
        "sliding_window": None,
        "num_experts_per_tok": 2,
        "num_local_experts": 8,
    },
    aliases={"num_experts": "num_local_experts"},
    experts={"count": "num_local_experts", "chosen": "num_experts_per_tok", "size": "intermediate_size", "is_normalized": True},
    window="all",
    # Noise that only the training adds.
    unread=words("router_jitter_noise"),
)

QWEN3_MOE = Family(
    architecture=Architecture("qwen3_moe", ("qwen3_moe",), attention=AttentionBlock(query_norm="head")),
    tensors={
        **TENSORS,
        **QUERY_NORMS,
        **{
            "experts": "mlp",
            "experts.router": "mlp.gate",
            "experts.gate": "mlp.experts.{}.gate_proj",
            "experts.up": "mlp.experts.{}.up_proj",
            "experts.down": "mlp.experts.{}.down_proj",
        },
    },
    defaults={
        **DEFAULTS,
        "vocab_size": 151936,
        "hidden_size": 2048,
        "intermediate_size": 6144,
        "num_hidden_layers": 24,
        "num_key_value_heads": 4,
        "max_position_embeddings": 32768,
        "use_sliding_window": False,
        "sliding_window": 4096,
        "decoder_sparse_step": 1,
        "moe_intermediate_size": 768,
        "num_experts_per_tok": 8,
        "num_experts": 128,
        "norm_topk_prob": False,
    },
    aliases={"num_local_experts": "num_experts"},
    biases={"attention_bias": ALL_PROJECTIONS},
    experts={
        **EXPERT_KEYS,
        "is_normalized": "norm_topk_prob",
    },
    dense="sparse step",
    window="all",
    variants=(("use_sliding_window", False, {"window": ""}),),
    # The size of windows that the model does not use.
    unread=words("sliding_window"),
)

OLMOE = Family(
    architecture=Architecture("olmoe", ("olmoe",), attention=AttentionBlock(query_norm="whole")),
    tensors=QWEN3_MOE.tensors,
    keys={"clip": "clip_qkv"},
    defaults={
        **DEFAULTS,
        "vocab_size": 50304,
        "hidden_size": 2048,
        "intermediate_size": 2048,
        "num_hidden_layers": 16,
        "num_attention_heads": 16,
        "max_position_embeddings": 4096,
        "rms_norm_eps": 1e-5,
        "clip_qkv": None,
        "num_experts_per_tok": 8,
        "num_experts": 64,
        "norm_topk_prob": False,
    },
    aliases=QWEN3_MOE.aliases,
    biases={"attention_bias": ALL_PROJECTIONS},
    experts={
        **EXPERT_KEYS,
        "size": "intermediate_size",
        "is_normalized": "norm_topk_prob",
    },
)

DBRX_EXPERTS: dict[str, object] = {
    "count": "ffn_config.moe_num_experts",
    "chosen": "ffn_config.moe_top_k",
    "size": "ffn_config.ffn_hidden_size",
    "is_normalized": True,
}

DBRX = Family(
    architecture=Architecture("dbrx", ("dbrx",), attention=AttentionBlock(packing="stacked"), norm="layer", experts="flat"),
    layer="transformer.blocks.{}",
    tensors={
        "embedding": "transformer.wte",
        "final_norm": "transformer.norm_f",
        "head": "lm_head",
        "attention": "norm_attn_norm.attn",
        "attention_norm": "norm_attn_norm.norm_1",
        "feed_forward_norm": "norm_attn_norm.norm_2",
        "attention.query_key_value": "norm_attn_norm.attn.Wqkv",
        "attention.output": "norm_attn_norm.attn.out_proj",
        "experts": "ffn",
        "experts.router": "ffn.router.layer",
        "experts.gate": "ffn.experts.mlp.w1",
        "experts.up": "ffn.experts.mlp.v1",
        "experts.down": "ffn.experts.mlp.w2",
    },
    keys={
        "layers": "n_layers",
        "hidden": "d_model",
        "heads": "n_heads",
        "key_heads": "attn_config.kv_n_heads",
        "head_size": "_head_size",
        "positions": "max_position_embeddings",
        "clip": "attn_config.clip_qkv",
        "activation": "ffn_config.ffn_act_fn.name",
        "theta": "rope_theta attn_config.rope_theta",
    },
    aliases={
        **{"num_hidden_layers": "n_layers", "num_attention_heads": "n_heads", "hidden_size": "d_model"},
        **{"max_seq_len": "max_position_embeddings", "num_key_value_heads": "attn_config.kv_n_heads"},
    },
    tables=("attn_config", "ffn_config", "ffn_config.ffn_act_fn"),
    defaults={
        **{"vocab_size": 32000, "d_model": 2048, "n_layers": 24, "n_heads": 16, "max_position_embeddings": 2048},
        **{"attn_config.kv_n_heads": 1, "attn_config.clip_qkv": None, "attn_config.rope_theta": 10000.0, "_head_size": None},
        **{"ffn_config.ffn_hidden_size": 3584, "ffn_config.moe_num_experts": 4, "ffn_config.moe_top_k": 1},
        **{"ffn_config.ffn_act_fn.name": "silu", "ffn_config.moe_normalize_expert_weights": 1.0, "tie_word_embeddings": False},
    },
    # The epsilon is that of the code of transformers; experts have the only feed-forward blocks.
    fixed={"epsilon": 1e-5, "feed_forward": 0},
    experts=DBRX_EXPERTS,
    variants=(("ffn_config.moe_normalize_expert_weights", None, {"experts": {**DBRX_EXPERTS, "is_normalized": False}}),),
    expected={"ffn_config.moe_normalize_expert_weights": 1.0, "ffn_config.uniform_expert_assignment": False},
    # Keys that only training uses; the size of experts' operands is that of the model.
    unread=words("emb_pdrop ffn_config.hidden_size ffn_config.moe_jitter_eps ffn_config.moe_loss_weight"),
)

GPT_OSS = Family(
    architecture=Architecture("gpt_oss", ("gpt_oss",), attention=AttentionBlock(sinks=True), experts="packed transposed"),
    tensors={
        **TENSORS,
        **{
            "experts": "mlp",
            "experts.router": "mlp.router",
            "experts.gate_up": "mlp.experts.gate_up_proj",
            "experts.down": "mlp.experts.down_proj",
        },
    },
    defaults={
        **DEFAULTS,
        "vocab_size": 201088,
        "hidden_size": 2880,
        "intermediate_size": 2880,
        "num_hidden_layers": 36,
        "num_attention_heads": 64,
        "num_key_value_heads": 8,
        "head_dim": 64,
        "sliding_window": 128,
        "max_position_embeddings": 131072,
        "rms_norm_eps": 1e-5,
        "rope_theta": 150000.0,
        "rope_scaling": {
            "rope_type": "yarn",
            "factor": 32.0,
            "beta_fast": 32.0,
            "beta_slow": 1.0,
            "truncate": False,
            "original_max_position_embeddings": 4096,
        },
        "attention_bias": True,
        "num_experts_per_tok": 4,
        "num_local_experts": 128,
        "swiglu_limit": 7.0,
        "swiglu_alpha": 1.702,
    },
    aliases={"num_experts": "num_local_experts", "experts_per_token": "num_experts_per_tok"},
    biases={"attention_bias": ALL_PROJECTIONS},
    experts={
        "count": "num_local_experts",
        "chosen": "num_experts_per_tok",
        "size": "intermediate_size",
        "scores": "=chosen softmax",
        "activation": "=clamped swish",
        "limit": "swiglu_limit",
        "slope": "swiglu_alpha",
        "bias": True,
        "router_bias": True,
    },
    window="alternating",
    # Redundant: rope_scaling states the original context length, too.
    unread=words("initial_context_length"),
)

GRANITEMOE = Family(
    architecture=Architecture("granitemoe", ("granitemoe",), experts="packed", feed_forward="packed gated"),
    tensors={
        **TENSORS,
        **{
            "experts": "block_sparse_moe",
            "experts.router": "block_sparse_moe.router.layer",
            "experts.gate_up": "block_sparse_moe.input_linear",
            "experts.down": "block_sparse_moe.output_linear",
            "shared_expert": "shared_mlp",
            "shared_expert.gate_up": "shared_mlp.input_linear",
            "shared_expert.down": "shared_mlp.output_linear",
        },
    },
    keys=GRANITE.keys,
    defaults={**GRANITE.defaults, "num_local_experts": 8, "num_experts_per_tok": 2},
    biases={"attention_bias": ALL_PROJECTIONS},
    divisors=GRANITE.divisors,
    experts={
        "count": "num_local_experts",
        "chosen": "num_experts_per_tok",
        "size": "intermediate_size",
        "scores": "=chosen softmax",
    },
)

GRANITEMOESHARED = GRANITEMOE.with_fields(
    architecture=GRANITEMOE.architecture.with_fields(name="granitemoeshared", model_types=("granitemoeshared",)),
    defaults={**GRANITEMOE.defaults, "shared_intermediate_size": 0},
    experts={**GRANITEMOE.experts, "shared": "shared_intermediate_size"},
)

PHIMOE = Family(
    architecture=Architecture("phimoe", ("phimoe",), norm="layer", norm_bias=True),
    tensors=MIXTRAL.tensors,
    defaults={
        **DEFAULTS,
        "vocab_size": 32064,
        "intermediate_size": 6400,
        "num_key_value_heads": 8,
        "max_position_embeddings": 131072,
        "rms_norm_eps": 1e-5,
        "rope_theta": 1e6,
        "sliding_window": None,
        "num_experts_per_tok": 2,
        "num_local_experts": 16,
        "router_jitter_noise": 0.01,
        "lm_head_bias": False,
    },
    aliases=MIXTRAL.aliases,
    biases={"attention_bias": ALL_PROJECTIONS},
    experts={
        "count": "num_local_experts",
        "chosen": "num_experts_per_tok",
        "size": "intermediate_size",
        "scores": "=sparse mixer",
        "jitter": "router_jitter_noise",
    },
    window="all",
    rotary_traits=words("magnitudes"),
    variants=(("lm_head_bias", True, {"head_bias": True}),),
    # Noise that only the training adds, and a length that `rope_scaling` states, too.
    unread=words("input_jitter_noise original_max_position_embeddings"),
)

FAMILIES = (MIXTRAL, QWEN3_MOE, OLMOE, GPT_OSS, GRANITEMOE, GRANITEMOESHARED, PHIMOE, DBRX)
