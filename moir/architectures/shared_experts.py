"""Families with experts among which a router chooses, and one that computes every token: Qwen2 MoE and successors."""

from __future__ import annotations

from moir.architectures.family import Family
from moir.architectures.llama import DEFAULTS, PROJECTIONS, TENSORS
from moir.architectures.llama_variants import ALL_PROJECTIONS, ERNIE4_5, QUERY_NORMS, QWEN_WINDOW
from moir.architectures.mixtures import QWEN3_MOE
from moir.architectures.record import Architecture, AttentionBlock
from moir.support.tables import words

EXPERT_TENSORS = {
    "experts": "mlp.experts",
    "experts.router": "mlp.gate",
    "experts.gate": "mlp.experts.{}.gate_proj",
    "experts.up": "mlp.experts.{}.up_proj",
    "experts.down": "mlp.experts.{}.down_proj",
    "experts.correction": "mlp.gate.e_score_correction_bias",
    "shared_expert": "mlp.shared_experts",
    "shared_expert.gate": "mlp.shared_experts.gate_proj",
    "shared_expert.up": "mlp.shared_experts.up_proj",
    "shared_expert.down": "mlp.shared_experts.down_proj",
    "all_experts": "mlp",
}
"""The tensors of experts as DeepSeek names them."""

CORRECTED_EXPERTS: dict[str, object] = {
    "count": "n_routed_experts",
    "chosen": "num_experts_per_tok",
    "size": "moe_intermediate_size",
    "shared": "n_shared_experts * moe_intermediate_size",
    "scores": "=sigmoid",
    "is_normalized": "norm_topk_prob",
    "least_sum": 1e-20,
    "scale": "routed_scaling_factor",
    "groups": "n_group",
    "chosen_groups": "topk_group",
    "group_score": "=best two",
    "has_correction": True,
}
"""The fields of the experts of DeepSeek V3: sigmoid scores, a bias for the choice, and a choice within the best groups.
"""

QWEN2_MOE = Family(
    architecture=Architecture("qwen2_moe", ("qwen2_moe",)),
    tensors={
        **TENSORS,
        **EXPERT_TENSORS,
        **{
            "shared_expert": "mlp.shared_expert",
            "shared_expert.gate": "mlp.shared_expert.gate_proj",
            "shared_expert.up": "mlp.shared_expert.up_proj",
            "shared_expert.down": "mlp.shared_expert.down_proj",
            "shared_expert_gate": "mlp.shared_expert_gate",
        },
    },
    defaults={
        **DEFAULTS,
        **QWEN_WINDOW,
        "vocab_size": 151936,
        "hidden_size": 2048,
        "intermediate_size": 5632,
        "num_hidden_layers": 24,
        "num_attention_heads": 16,
        "num_key_value_heads": 16,
        "max_position_embeddings": 32768,
        "decoder_sparse_step": 1,
        "moe_intermediate_size": 1408,
        "shared_expert_intermediate_size": 5632,
        "num_experts_per_tok": 4,
        "num_experts": 60,
        "norm_topk_prob": False,
        "qkv_bias": True,
    },
    biases={"qkv_bias": PROJECTIONS},
    aliases=QWEN3_MOE.aliases,
    experts={**QWEN3_MOE.experts, "shared": "shared_expert_intermediate_size", "shared_gate": True},
    dense="sparse step",
    window="alternating first",
)

ERNIE4_5_MOE = Family(
    architecture=ERNIE4_5.architecture.with_fields(name="ernie4_5_moe", model_types=("ernie4_5_moe",)),
    tensors={**TENSORS, **EXPERT_TENSORS, "experts.correction": "mlp.moe_statics.e_score_correction_bias"},
    defaults={
        **ERNIE4_5.defaults,
        "hidden_size": 2560,
        "intermediate_size": 12288,
        "num_hidden_layers": 28,
        "num_attention_heads": 20,
        "num_key_value_heads": 4,
        "head_dim": None,
        "moe_intermediate_size": 1536,
        "moe_k": 6,
        "moe_num_experts": 64,
        "moe_num_shared_experts": 2,
        "moe_layer_start_index": 1,
        "moe_layer_end_index": -1,
        "moe_layer_interval": 1,
        "moe_norm_min": 1e-12,
    },
    aliases={"num_experts": "moe_num_experts", "num_experts_per_tok": "moe_k"},
    biases={
        "use_bias": f"{ERNIE4_5.biases['use_bias']} shared_expert.gate shared_expert.up shared_expert.down",
    },
    experts={
        "count": "moe_num_experts",
        "chosen": "moe_k",
        "size": "moe_intermediate_size",
        "shared": "moe_num_shared_experts * moe_intermediate_size",
        "is_normalized": True,
        "least_sum": "moe_norm_min",
        "has_correction": True,
    },
    dense="interval",
    variants=(("use_bias", True, {"head_bias": True}),),
    # Options that only the training uses.
    unread=words("moe_use_aux_free moe_capacity moe_gate moe_aux_loss_lambda"),
)

GLM4_MOE = Family(
    architecture=Architecture("glm4_moe", ("glm4_moe",)),
    tensors={**TENSORS, **QUERY_NORMS, **EXPERT_TENSORS},
    defaults={
        **DEFAULTS,
        "vocab_size": 151552,
        "intermediate_size": 10944,
        "num_hidden_layers": 46,
        "num_attention_heads": 96,
        "num_key_value_heads": 8,
        "max_position_embeddings": 131072,
        "rms_norm_eps": 1e-5,
        "partial_rotary_factor": 0.5,
        "moe_intermediate_size": 1408,
        "num_experts_per_tok": 8,
        "n_shared_experts": 1,
        "n_routed_experts": 128,
        "routed_scaling_factor": 1.0,
        "n_group": 1,
        "topk_group": 1,
        "first_k_dense_replace": 1,
        "norm_topk_prob": True,
        "use_qk_norm": False,
        "num_nextn_predict_layers": 1,
    },
    aliases={"num_local_experts": "n_routed_experts", "num_mtp_layers": "num_nextn_predict_layers"},
    biases={"attention_bias": PROJECTIONS},
    experts=CORRECTED_EXPERTS,
    dense="first_k_dense_replace",
    variants=(("use_qk_norm", True, {"attention": AttentionBlock(query_norm="head")}),),
    further_layers="num_nextn_predict_layers",
)

DOTS1 = Family(
    architecture=Architecture("dots1", ("dots1",), attention=AttentionBlock(query_norm="head")),
    tensors=GLM4_MOE.tensors,
    defaults={
        **DEFAULTS,
        "vocab_size": 152064,
        "hidden_size": 4608,
        "intermediate_size": 10944,
        "moe_intermediate_size": 1408,
        "num_hidden_layers": 62,
        "num_key_value_heads": 32,
        "n_group": 1,
        "topk_group": 1,
        "first_k_dense_replace": 0,
        "norm_topk_prob": False,
        "routed_scaling_factor": 1.0,
        "sliding_window": 4096,
        "max_window_layers": 62,
    },
    aliases={"num_local_experts": "n_routed_experts"},
    biases={"attention_bias": ALL_PROJECTIONS},
    experts=CORRECTED_EXPERTS,
    dense="first_k_dense_replace",
    window="flagged",
    # transformers computes the same for all values of these keys.
    unread=words("scoring_func topk_method moe_layer_freq"),
)

FAMILIES = (QWEN2_MOE, ERNIE4_5_MOE, GLM4_MOE, DOTS1)
