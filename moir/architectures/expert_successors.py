"""More families with experts among which a router chooses: Hunyuan, MiniMax-M2, K-EXAONE, Solar Open."""

from __future__ import annotations

from moir.architectures.family import Family
from moir.architectures.llama import DEFAULTS, PROJECTIONS
from moir.architectures.llama_successors import HUNYUAN_V1_DENSE
from moir.architectures.llama_variants import ALL_PROJECTIONS, EXAONE4, OLMO2, QUERY_NORMS
from moir.architectures.mixtures import EXPERT_KEYS, MIXTRAL, OLMOE, QWEN3_MOE
from moir.architectures.record import Architecture, AttentionBlock
from moir.architectures.residuals import SANDWICH_NORM
from moir.architectures.shared_experts import CORRECTED_EXPERTS, EXPERT_TENSORS, GLM4_MOE
from moir.support.tables import words

HUNYUAN_V1_MOE = HUNYUAN_V1_DENSE.with_fields(
    architecture=HUNYUAN_V1_DENSE.architecture.with_fields(name="hunyuan_v1_moe", model_types=("hunyuan_v1_moe",)),
    tensors={
        **HUNYUAN_V1_DENSE.tensors,
        **EXPERT_TENSORS,
        **{
            "experts.router": "mlp.gate.wg",
            "shared_expert": "mlp.shared_mlp",
            "shared_expert.gate": "mlp.shared_mlp.gate_proj",
            "shared_expert.up": "mlp.shared_mlp.up_proj",
            "shared_expert.down": "mlp.shared_mlp.down_proj",
        },
    },
    defaults={**HUNYUAN_V1_DENSE.defaults, "num_experts": 1, "moe_topk": 1},
    aliases={"num_local_experts": "num_experts", "num_experts_per_tok": "moe_topk"},
    experts={
        "count": "num_experts",
        "chosen": "moe_topk",
        "size": "intermediate_size",
        "shared": "intermediate_size",
        "is_normalized": True,
    },
    # Redundant: in transformers, intermediate_size is the size of every expert.
    unread=HUNYUAN_V1_DENSE.unread - words("num_experts moe_topk") | words("moe_intermediate_size moe_layer_num_skipped use_mla"),
)

MINIMAX_M2 = Family(
    architecture=Architecture("minimax_m2", ("minimax_m2",), attention=AttentionBlock(query_norm="whole")),
    tensors={**MIXTRAL.tensors, **QUERY_NORMS, "experts.correction": "block_sparse_moe.e_score_correction_bias"},
    keys={"rotary_size": "rotary_dim"},
    defaults={
        **DEFAULTS,
        "vocab_size": 200064,
        "hidden_size": 3072,
        "intermediate_size": 1536,
        "num_hidden_layers": 62,
        "num_attention_heads": 48,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "max_position_embeddings": 196608,
        "rope_theta": 5e6,
        "rotary_dim": None,
        "num_experts_per_tok": 8,
        "num_local_experts": 256,
    },
    aliases={"num_experts": "num_local_experts"},
    experts={
        "count": "num_local_experts",
        "chosen": "num_experts_per_tok",
        "size": "intermediate_size",
        "scores": "=sigmoid",
        "is_normalized": True,
        "has_correction": True,
    },
    expected={"use_qk_norm": True, "qk_norm_type": "per_layer", "scoring_func": "sigmoid", "use_routing_bias": True},
    # Training noise, the layers of multi-token prediction, and the list of attention layers, which is all layers.
    unread=words("router_jitter_noise use_mtp num_mtp_modules mtp_transformer_layers attn_type_list shared_intermediate_size"),
    ignored_tensors=("model.mtp.*",),
)

EXAONE_MOE = EXAONE4.with_fields(
    architecture=Architecture("exaone_moe", ("exaone_moe",), attention=AttentionBlock(query_norm="head")),
    tensors={**GLM4_MOE.tensors, **QUERY_NORMS, "experts.correction": "mlp.e_score_correction_bias"},
    defaults={
        **EXAONE4.defaults,
        "first_k_dense_replace": 1,
        "moe_intermediate_size": 1024,
        "num_experts": 64,
        "num_experts_per_tok": 8,
        "num_shared_experts": 1,
        "norm_topk_prob": True,
        "routed_scaling_factor": 2.5,
        "n_group": 1,
        "topk_group": 1,
    },
    experts={**CORRECTED_EXPERTS, "count": "num_experts", "shared": "num_shared_experts * moe_intermediate_size"},
    dense="first_k_dense_replace",
    expected={"scoring_func": "sigmoid", "topk_method": "noaux_tc"},
    unread=EXAONE4.unread | words("num_nextn_predict_layers first_k_dense_replace"),
    ignored_tensors=("mtp.*",),
)

SOLAR_OPEN = GLM4_MOE.with_fields(
    architecture=Architecture("solar_open", ("solar_open",)),
    defaults={
        **GLM4_MOE.defaults,
        "vocab_size": 196608,
        "moe_intermediate_size": 1280,
        "num_hidden_layers": 48,
        "num_attention_heads": 64,
        "head_dim": 128,
        "rope_theta": 1e6,
        "partial_rotary_factor": 1.0,
    },
    biases={"attention_bias": PROJECTIONS},
    dense="",
    variants=(),
    expected={"use_qk_norm": False},
    # Sizes of layers without experts, of which there are none.
    unread=words("intermediate_size first_k_dense_replace"),
)

FLEX_OLMO = OLMO2.with_fields(
    architecture=OLMO2.architecture.with_fields(name="flex_olmo", model_types=("flex_olmo",)),
    tensors={**OLMOE.tensors, **OLMO2.tensors},
    defaults={
        **OLMO2.defaults,
        "vocab_size": 100352,
        "max_position_embeddings": 4096,
        "rms_norm_eps": 1e-6,
        "rope_theta": 500000.0,
        "num_experts_per_tok": 5,
        "num_experts": 7,
        "norm_topk_prob": False,
    },
    aliases=OLMOE.aliases,
    experts=OLMOE.experts,
)

HY_V3 = Family(
    architecture=Architecture("hy_v3", ("hy_v3",), attention=AttentionBlock(query_norm="head")),
    tensors={
        **HUNYUAN_V1_MOE.tensors,
        **QUERY_NORMS,
        **{"experts.router": "mlp.router.gate", "experts.correction": "mlp.expert_bias"},
    },
    defaults={
        **DEFAULTS,
        "vocab_size": 120832,
        "intermediate_size": 13312,
        "num_hidden_layers": 80,
        "num_attention_heads": 64,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "max_position_embeddings": 131072,
        "rms_norm_eps": 1e-5,
        "rope_theta": 11158840.0,
        "num_experts": 192,
        "num_experts_per_tok": 8,
        "num_shared_experts": 1,
        "moe_intermediate_size": 1536,
        "router_scaling_factor": 2.826,
        "_dense_layers": 1,
    },
    aliases={"num_local_experts": "num_experts"},
    biases={"attention_bias": ALL_PROJECTIONS},
    experts={
        **EXPERT_KEYS,
        "shared": "num_shared_experts * moe_intermediate_size",
        "scores": "=sigmoid",
        "is_normalized": True,
        "least_sum": 1e-20,
        "scale": "router_scaling_factor",
        "has_correction": True,
    },
    dense="_dense_layers",
    # The element type in which the results of experts are added.
    unread=words("enable_moe_fp32_combine mlp_bias"),
)

MELLUM = QWEN3_MOE.with_fields(
    architecture=QWEN3_MOE.architecture.with_fields(name="mellum", model_types=("mellum",)),
    keys={"local_theta": "_local_theta"},
    defaults={
        **{key: value for key, value in QWEN3_MOE.defaults.items() if key not in ("use_sliding_window", "decoder_sparse_step")},
        "vocab_size": 98304,
        "hidden_size": 2304,
        "intermediate_size": 7168,
        "num_hidden_layers": 28,
        "head_dim": 128,
        "max_position_embeddings": 131072,
        "sliding_window": 1024,
        "num_experts": 64,
        "moe_intermediate_size": 896,
        "norm_topk_prob": True,
        "rope_theta": 500000.0,
        "_local_theta": 10000.0,
    },
    aliases={"num_local_experts": "num_experts", "num_mtp_layers": "num_nextn_predict_layers"},
    dense="",
    window="listed",
    variants=(),
    unread=words("num_nextn_predict_layers mtp_layer_types mtp_mlp_layer_types"),
    ignored_tensors=("mtp.*",),
)

SARVAM_MOE = GLM4_MOE.with_fields(
    architecture=Architecture("sarvam_moe", ("sarvam_moe",), attention=AttentionBlock(packing="stacked", query_norm="head")),
    tensors={
        **GLM4_MOE.tensors,
        **{
            "embedding": "model.word_embeddings",
            "attention": "attention",
            "attention.query_key_value": "attention.query_key_value",
            "attention.output": "attention.dense",
            "attention.query_norm": "attention.query_layernorm",
            "attention.key_norm": "attention.key_layernorm",
            "experts.correction": "mlp.gate.expert_bias",
        },
    },
    defaults={
        **GLM4_MOE.defaults,
        "vocab_size": 262144,
        "intermediate_size": 8192,
        "num_hidden_layers": 19,
        "num_attention_heads": 64,
        "num_key_value_heads": 4,
        "head_dim": 64,
        "rms_norm_eps": 1e-6,
        "rope_theta": 8000000.0,
        "partial_rotary_factor": 1.0,
        "moe_intermediate_size": 1024,
        "num_experts_per_tok": 6,
        "routed_scaling_factor": 2.5,
        "use_qk_norm": True,
    },
    aliases={
        **GLM4_MOE.aliases,
        **{"num_experts": "n_routed_experts", "num_shared_experts": "n_shared_experts", "use_qkv_bias": "attention_bias"},
    },
    biases={"attention_bias": "attention.query_key_value"},
    variants=(("use_qk_norm", False, {"attention": AttentionBlock(packing="stacked")}),),
)

AFMOE = Family(
    architecture=Architecture("afmoe", ("afmoe",), residuals=SANDWICH_NORM, attention=AttentionBlock(query_norm="head", gate="separate")),
    tensors={
        **GLM4_MOE.tensors,
        **{
            "attention.gate": "self_attn.gate_proj",
            "attention_output_norm": "post_attention_layernorm",
            "feed_forward_norm": "pre_mlp_layernorm",
            "feed_forward_output_norm": "post_mlp_layernorm",
            "experts.router": "mlp.router.gate",
            "experts.correction": "mlp.expert_bias",
        },
    },
    defaults={
        **DEFAULTS,
        "vocab_size": 200192,
        "hidden_size": 2048,
        "intermediate_size": 6144,
        "moe_intermediate_size": 1408,
        "num_dense_layers": 1,
        "num_attention_heads": 16,
        "head_dim": 128,
        "max_position_embeddings": 16384,
        "rms_norm_eps": 1e-5,
        "num_experts": 64,
        "num_experts_per_tok": 6,
        "num_shared_experts": 2,
        "route_scale": 1.0,
        "sliding_window": 1024,
        "sliding_window_pattern": 4,
        "mup_enabled": False,
    },
    aliases={"num_local_experts": "num_experts", "global_attn_every_n_layers": "sliding_window_pattern"},
    biases={"attention_bias": ALL_PROJECTIONS},
    experts={**HY_V3.experts, "scale": "route_scale"},
    dense="num_dense_layers",
    window="pattern",
    rotary_layers="sliding",
    variants=(("mup_enabled", True, {"roots": {"embedding_scale": "hidden_size"}}),),
    expected={"n_group": 1, "topk_group": 1, "score_func": "sigmoid", "route_norm": True},
    # The list of the kinds of layers is used instead of the pattern.
    unread=words("sliding_window_pattern load_balance_coeff num_expert_groups num_limited_groups"),
)

FAMILIES = (HUNYUAN_V1_MOE, MINIMAX_M2, EXAONE_MOE, SOLAR_OPEN, FLEX_OLMO, HY_V3, MELLUM, SARVAM_MOE, AFMOE)
