"""DeepSeek V2 and V3: keys and values are compressed; experts are chosen from the best groups."""

from __future__ import annotations

from moir.architectures.family import Family
from moir.architectures.llama import DEFAULTS, TENSORS
from moir.architectures.record import Architecture, AttentionBlock
from moir.architectures.shared_experts import CORRECTED_EXPERTS, EXPERT_TENSORS
from moir.support.tables import words

LATENT_TENSORS = {
    **TENSORS,
    **EXPERT_TENSORS,
    **{
        "attention.query_down": "self_attn.q_a_proj",
        "attention.query_norm": "self_attn.q_a_layernorm",
        "attention.query_up": "self_attn.q_b_proj",
        "attention.key_value_down": "self_attn.kv_a_proj_with_mqa",
        "attention.key_value_norm": "self_attn.kv_a_layernorm",
        "attention.key_value_up": "self_attn.kv_b_proj",
    },
}

LATENT_KEYS = {"head_size": "_head_size", "value_size": "v_head_dim", "rotary_size": "qk_rope_head_dim"}

GREEDY_EXPERTS: dict[str, object] = {
    "count": "n_routed_experts",
    "chosen": "num_experts_per_tok",
    "size": "moe_intermediate_size",
    "shared": "n_shared_experts * moe_intermediate_size",
    "scale": "routed_scaling_factor",
}

DEEPSEEK_V2 = Family(
    architecture=Architecture("deepseek_v2", ("deepseek_v2",), attention=AttentionBlock(rotation="interleaved", latent=True)),
    tensors=LATENT_TENSORS,
    keys=LATENT_KEYS,
    defaults={
        **DEFAULTS,
        "vocab_size": 102400,
        "_head_size": None,
        "first_k_dense_replace": 0,
        "kv_lora_rank": 512,
        "q_lora_rank": 1536,
        "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64,
        "v_head_dim": 128,
        "n_group": None,
        "topk_group": None,
        "topk_method": "greedy",
        "n_routed_experts": 64,
        "n_shared_experts": 2,
        "routed_scaling_factor": 1.0,
        "moe_intermediate_size": 1407,
    },
    aliases={"num_experts": "n_routed_experts"},
    biases={
        "attention_bias": "attention.query_down attention.key_value_down attention.output",
        "mlp_bias": "feed_forward.gate feed_forward.up feed_forward.down shared_expert.gate shared_expert.up shared_expert.down",
    },
    latent={"query_rank": "q_lora_rank", "rank": "kv_lora_rank", "plain_size": "qk_nope_head_dim", "rotated_size": "qk_rope_head_dim"},
    experts=GREEDY_EXPERTS,
    dense="first_k_dense_replace",
    variants=(
        (
            "topk_method",
            "group_limited_greedy",
            {"experts": {**GREEDY_EXPERTS, "groups": "n_group", "chosen_groups": "topk_group"}},
        ),
    ),
    expected={
        **{"scoring_func": "softmax", "moe_layer_freq": 1, "norm_topk_prob": False},
        "topk_method": ("greedy", "group_limited_greedy"),
    },
    # The sizes of heads follow from those of their parts; groups have no effect on a greedy choice.
    unread=words("head_dim qk_head_dim ep_size n_group topk_group"),
)

DEEPSEEK_V3 = Family(
    architecture=DEEPSEEK_V2.architecture.with_fields(name="deepseek_v3", model_types=("deepseek_v3",)),
    tensors=LATENT_TENSORS,
    keys=LATENT_KEYS,
    defaults={
        **{key: value for key, value in DEEPSEEK_V2.defaults.items() if key != "topk_method"},
        "vocab_size": 129280,
        "hidden_size": 7168,
        "intermediate_size": 18432,
        "moe_intermediate_size": 2048,
        "num_hidden_layers": 61,
        "num_attention_heads": 128,
        "num_key_value_heads": 128,
        "n_shared_experts": 1,
        "n_routed_experts": 256,
        "routed_scaling_factor": 2.5,
        "n_group": 8,
        "topk_group": 4,
        "num_experts_per_tok": 8,
        "first_k_dense_replace": 3,
        "norm_topk_prob": True,
        "max_position_embeddings": 4096,
        "rope_interleave": True,
        "num_nextn_predict_layers": 1,
    },
    aliases={"num_local_experts": "n_routed_experts", "num_mtp_layers": "num_nextn_predict_layers"},
    biases={"attention_bias": DEEPSEEK_V2.biases["attention_bias"]},
    latent=DEEPSEEK_V2.latent,
    experts=CORRECTED_EXPERTS,
    dense="first_k_dense_replace",
    variants=(("rope_interleave", False, {"attention": AttentionBlock(latent=True)}),),
    expected={"scoring_func": "sigmoid", "moe_layer_freq": 1, "topk_method": "noaux_tc"},
    unread=words("head_dim qk_head_dim ep_size"),
    further_layers="num_nextn_predict_layers",
)

GLM4_MOE_LITE = DEEPSEEK_V3.with_fields(
    architecture=DEEPSEEK_V3.architecture.with_fields(name="glm4_moe_lite", model_types=("glm4_moe_lite",)),
    defaults={
        **DEEPSEEK_V3.defaults,
        "vocab_size": 154880,
        "hidden_size": 2048,
        "intermediate_size": 10240,
        "moe_intermediate_size": 1536,
        "num_hidden_layers": 47,
        "num_attention_heads": 20,
        "num_key_value_heads": 20,
        "n_routed_experts": 64,
        "routed_scaling_factor": 1.8,
        "q_lora_rank": 768,
        "qk_nope_head_dim": 192,
        "v_head_dim": 256,
        "n_group": 1,
        "topk_group": 1,
        "num_experts_per_tok": 4,
        "first_k_dense_replace": 1,
        "max_position_embeddings": 202752,
        "rms_norm_eps": 1e-5,
    },
)

SARVAM_MLA = DEEPSEEK_V3.with_fields(
    architecture=DEEPSEEK_V3.architecture.with_fields(name="sarvam_mla", model_types=("sarvam_mla",)),
    defaults={
        **DEEPSEEK_V3.defaults,
        "vocab_size": 262144,
        "hidden_size": 4096,
        "intermediate_size": 16384,
        "num_hidden_layers": 32,
        "num_attention_heads": 64,
        "num_key_value_heads": None,
        "n_routed_experts": 128,
        "q_lora_rank": None,
        "n_group": 1,
        "topk_group": 1,
        "first_k_dense_replace": 1,
        "num_nextn_predict_layers": 0,
    },
    aliases={**DEEPSEEK_V3.aliases, "num_experts": "n_routed_experts", "num_shared_experts": "n_shared_experts"},
    unread=DEEPSEEK_V3.unread | words("q_head_dim"),
)

YOUTU = DEEPSEEK_V3.with_fields(
    architecture=DEEPSEEK_V3.architecture.with_fields(name="youtu", model_types=("youtu",)),
    defaults={
        **{key: value for key, value in DEEPSEEK_V3.defaults.items() if "expert" not in key and "moe" not in key},
        "vocab_size": 128256,
        "hidden_size": 2048,
        "intermediate_size": 6144,
        "num_hidden_layers": 32,
        "num_attention_heads": 16,
        "num_key_value_heads": 16,
        "max_position_embeddings": 131072,
        "tie_word_embeddings": True,
    },
    aliases={},
    biases=DEEPSEEK_V2.biases,
    experts={},
    dense="",
    expected={},
    unread=DEEPSEEK_V3.unread | words("embedding_initializer_range"),
    further_layers="",
)

AXK1 = DEEPSEEK_V3.with_fields(
    architecture=DEEPSEEK_V3.architecture.with_fields(name="axk1", model_types=("axk1",), normalizes_experts=True),
    tensors={**LATENT_TENSORS, "all_experts_norm": "post_mlp_layernorm"},
    # The name that Transformers has in memory.
    other_names={"all_experts_norm": "mlp.post_mlp_layernorm"},
    defaults={
        **DEEPSEEK_V3.defaults,
        "vocab_size": 163840,
        "num_attention_heads": 64,
        "num_key_value_heads": 64,
        "n_routed_experts": 192,
        "first_k_dense_replace": 1,
        "max_position_embeddings": 32768,
    },
)

DEEPSEEK_V32 = DEEPSEEK_V3.with_fields(
    architecture=DEEPSEEK_V3.architecture.with_fields(name="deepseek_v32", model_types=("deepseek_v32",)),
    tensors={
        **LATENT_TENSORS,
        **{"attention.index": "self_attn.indexer", "attention.index.query": "self_attn.indexer.wq_b"},
        **{"attention.index.key": "self_attn.indexer.wk", "attention.index.key_norm": "self_attn.indexer.k_norm"},
        "attention.index.weights": "self_attn.indexer.weights_proj",
    },
    defaults={
        **{key: value for key, value in DEEPSEEK_V3.defaults.items() if key != "rope_interleave"},
        **{"max_position_embeddings": 163840, "num_nextn_predict_layers": 0},
        **{"index_topk": 2048, "index_head_dim": 128, "index_n_heads": 64},
    },
    biases=DEEPSEEK_V2.biases,
    key_index="own",
    variants=(),
    expected={**DEEPSEEK_V3.expected, "rope_interleave": True},
    aliases={**DEEPSEEK_V3.aliases, "num_experts": "n_routed_experts"},
)

GLM_MOE_DSA = DEEPSEEK_V32.with_fields(
    architecture=DEEPSEEK_V32.architecture.with_fields(
        name="glm_moe_dsa",
        model_types=("glm_moe_dsa",),
        attention=AttentionBlock(rotation="interleaved", latent=True, index_rotation="interleaved"),
    ),
    defaults={
        **{**DEEPSEEK_V32.defaults, "vocab_size": 154880, "hidden_size": 6144, "intermediate_size": 12288},
        **{"num_hidden_layers": 78, "num_attention_heads": 64, "num_key_value_heads": 64, "q_lora_rank": 2048},
        **{"qk_nope_head_dim": 192, "v_head_dim": 256, "n_group": 1, "topk_group": 1, "max_position_embeddings": 202752},
        **{"rms_norm_eps": 1e-5, "index_n_heads": 32, "index_topk_freq": 1, "index_skip_topk_offset": 2},
    },
    key_index="shared",
    expected={**DEEPSEEK_V32.expected, "indexer_rope_interleave": True},
)

FAMILIES = (DEEPSEEK_V2, DEEPSEEK_V3, GLM4_MOE_LITE, SARVAM_MLA, YOUTU, AXK1, DEEPSEEK_V32, GLM_MOE_DSA)
