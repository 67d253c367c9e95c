"""Families with experts whose attentions differ between layers: Laguna, MiMo-V2, Command A, Kolibri, Flint."""

from __future__ import annotations

from moir.architectures.family import ANY, Family
from moir.architectures.layer_norm_families import COHERE2
from moir.architectures.llama import DEFAULTS, PROJECTIONS, TENSORS
from moir.architectures.llama_variants import ALL_PROJECTIONS, QUERY_NORMS, QWEN_WINDOW
from moir.architectures.mixtures import EXPERT_KEYS
from moir.architectures.record import Architecture, AttentionBlock
from moir.architectures.residuals import SANDWICH_NORM
from moir.architectures.shared_experts import CORRECTED_EXPERTS, EXPERT_TENSORS, QWEN2_MOE
from moir.support.tables import words


def rotations(full: tuple[float, float], sliding: tuple[float, float]) -> dict[str, object]:
    """The rotary fields of layers without and with a sliding window; each argument is (base, rotated fraction of a
    head).
    """
    kinds = {"full_attention": full, "sliding_attention": sliding}
    return {kind: {"rope_type": "default", "rope_theta": theta, "partial_rotary_factor": part} for kind, (theta, part) in kinds.items()}


LAGUNA = Family(
    architecture=Architecture(
        "laguna", ("laguna",), attention=AttentionBlock(query_norm="head", gate="separate", gate_activation="softplus")
    ),
    tensors={
        **TENSORS,
        **QUERY_NORMS,
        **EXPERT_TENSORS,
        **{
            "attention.gate": "self_attn.g_proj",
            "experts.correction": "mlp.experts.e_score_correction_bias",
            "shared_expert": "mlp.shared_expert",
            "shared_expert.gate": "mlp.shared_expert.gate_proj",
            "shared_expert.up": "mlp.shared_expert.up_proj",
            "shared_expert.down": "mlp.shared_expert.down_proj",
        },
    },
    defaults={
        **{key: value for key, value in DEFAULTS.items() if key != "rope_theta"},
        "vocab_size": 100352,
        "hidden_size": 2048,
        "intermediate_size": 8192,
        "num_hidden_layers": 40,
        "num_attention_heads": 48,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "max_position_embeddings": 131072,
        "sliding_window": 512,
        "gating": True,
        "num_attention_heads_per_layer": None,
        "num_experts": 256,
        "num_experts_per_tok": 8,
        "moe_intermediate_size": 512,
        "shared_expert_intermediate_size": 512,
        "moe_routed_scaling_factor": 1.0,
        "moe_router_logit_softcapping": 0.0,
        "rope_parameters": rotations((500000.0, 0.5), (10000.0, 1.0)),
        "_dense_layers": 1,
    },
    aliases={"num_local_experts": "num_experts"},
    biases={"attention_bias": ALL_PROJECTIONS},
    experts={
        **EXPERT_KEYS,
        "shared": "shared_expert_intermediate_size",
        "scores": "=sigmoid",
        "is_normalized": True,
        "scale": "moe_routed_scaling_factor",
        "has_correction": True,
        "cap": "moe_router_logit_softcapping",
    },
    dense="_dense_layers",
    window="listed",
    layer_lists={"heads": "num_attention_heads_per_layer"},
    variants=tuple(("gating", value, {"attention.gate": "per head"}) for value in (True, "per-head")),
    expected={"moe_apply_router_weight_on_input": False},
)

MIMO_V2_FLASH = Family(
    architecture=Architecture("mimo_v2_flash", ("mimo_v2_flash",), attention=AttentionBlock(sinks=True, sinks_need_window=True)),
    tensors={**TENSORS, **EXPERT_TENSORS, "attention.sinks": "self_attn.attention_sink_bias"},
    keys={"value_size": "v_head_dim"},
    defaults={
        **{key: value for key, value in DEFAULTS.items() if key != "rope_theta"},
        "vocab_size": 152576,
        "intermediate_size": 16384,
        "num_hidden_layers": 48,
        "num_attention_heads": 64,
        "num_key_value_heads": 4,
        "head_dim": 192,
        "v_head_dim": 128,
        "max_position_embeddings": 131072,
        "rms_norm_eps": 1e-5,
        "sliding_window": 129,
        "sliding_window_pattern": 6,
        "attention_value_scale": 0.707,
        "n_routed_experts": 256,
        "num_experts_per_tok": 8,
        "moe_intermediate_size": 2048,
        "n_group": 1,
        "topk_group": 1,
        "norm_topk_prob": True,
        "routed_scaling_factor": 1.0,
        "rope_parameters": rotations((5e6, 0.334), (10000.0, 0.334)),
        "partial_rotary_factor": 0.334,
        "_dense_layers": 1,
    },
    aliases={"num_local_experts": "n_routed_experts"},
    biases={"attention_bias": PROJECTIONS},
    factors={"values": "attention_value_scale"},
    experts={field: key for field, key in CORRECTED_EXPERTS.items() if field != "shared"},
    dense="_dense_layers",
    window="pattern, first sees all",
    window_layers={"key_heads": "2 * num_key_value_heads"},
    # The list of the kinds of layers is used instead of the pattern.
    unread=words("sliding_window_pattern"),
    ignored_tensors=("model.mtp.*",),
)

COHERE2_MOE_KEYS = {**COHERE2.keys, "feed_forward": "prefix_dense_intermediate_size intermediate_size"}

COHERE2_EXPERTS = {**EXPERT_KEYS, "size": "intermediate_size", "shared": "num_shared_experts * intermediate_size"}

COHERE2_MOE = COHERE2.with_fields(
    architecture=COHERE2.architecture.with_fields(name="cohere2_moe", model_types=("cohere2_moe",)),
    tensors={**COHERE2.tensors, **EXPERT_TENSORS},
    keys=COHERE2_MOE_KEYS,
    defaults={
        **COHERE2.defaults,
        "head_dim": 128,
        "num_experts": 8,
        "num_experts_per_tok": 2,
        "num_shared_experts": 0,
        "shared_expert_combination_strategy": "average",
        "expert_selection_fn": "softmax",
        "norm_topk_prob": True,
        "rms_norm_eps": None,
        "first_k_dense_replace": 0,
        "prefix_dense_sliding_window_pattern": 1,
        "sliding_window_pattern": 4,
    },
    experts={**COHERE2_EXPERTS, "scores": "=chosen softmax"},
    dense="first_k_dense_replace",
    window="pattern after dense",
    rotary_layers="sliding or dense",
    variants=(
        (
            "rms_norm_eps",
            ANY,
            {"norm": "rms", "keys": {**COHERE2_MOE_KEYS, "epsilon": "rms_norm_eps"}},
        ),
        ("shared_expert_combination_strategy", "average", {"halves_experts": True}),
        (
            "expert_selection_fn",
            "sigmoid",
            {"experts": {**COHERE2_EXPERTS, "scores": "=chosen sigmoid", "is_normalized": "norm_topk_prob"}},
        ),
    ),
    unread=COHERE2.unread
    | words("sliding_window_pattern first_k_dense_replace prefix_dense_sliding_window_pattern norm_topk_prob layer_norm_eps"),
)

KOLIBRI1 = Family(
    architecture=Architecture("kolibri1", ("kolibri1",), residuals=SANDWICH_NORM, attention=AttentionBlock(query_norm="head")),
    tensors={
        **QWEN2_MOE.tensors,
        **QUERY_NORMS,
        **EXPERT_TENSORS,
        **{
            "attention_output_norm": "post_attn_norm",
            "feed_forward_output_norm": "post_ffn_norm",
            "experts.correction": "moe.router.expert_bias",
        },
    },
    defaults={
        **DEFAULTS,
        "vocab_size": 128000,
        "hidden_size": 2560,
        "_feed_forward": 1,
        "num_hidden_layers": 50,
        "num_attention_heads": 48,
        "num_key_value_heads": 4,
        "head_dim": 128,
        "max_position_embeddings": 262144,
        "sliding_window": 513,
        "sliding_window_pattern": 5,
        "num_experts": 384,
        "num_experts_per_tok": 6,
        "moe_intermediate_size": 512,
        "shared_expert_intermediate_size": 512,
        "norm_topk_prob": False,
    },
    keys={"feed_forward": "_feed_forward"},
    aliases={"num_local_experts": "num_experts"},
    experts={
        **EXPERT_KEYS,
        "shared": "shared_expert_intermediate_size",
        "scores": "=chosen sigmoid",
        "is_normalized": "norm_topk_prob",
        "has_correction": True,
    },
    window="pattern",
    rotary_layers="sliding or all",
    # The list of the kinds of layers is used instead of the pattern.
    unread=words("sliding_window_pattern"),
)

FLINT = Family(
    architecture=Architecture("flint", ("flint",), attention=AttentionBlock(query_norm="head", sinks=True)),
    tensors={**QWEN2_MOE.tensors, **QUERY_NORMS, "attention.sinks": "self_attn.softmax_offset"},
    defaults={
        **{key: value for key, value in QWEN2_MOE.defaults.items() if key not in (*QWEN_WINDOW, "qkv_bias")},
        "vocab_size": 150144,
        "intermediate_size": 6144,
        "num_hidden_layers": 49,
        "num_attention_heads": 32,
        "num_key_value_heads": 4,
        "head_dim": 128,
        "max_position_embeddings": 262144,
        "sliding_window": 513,
        "mlp_only_layers": [0, 1],
        "moe_intermediate_size": 512,
        "shared_expert_intermediate_size": 1024,
        "num_experts": 256,
        "num_experts_per_tok": 6,
        "norm_topk_prob": True,
    },
    aliases=QWEN2_MOE.aliases,
    biases={"attention_bias": ALL_PROJECTIONS},
    experts={**QWEN2_MOE.experts, "scores": "=chosen sigmoid", "shared_gate": False},
    dense="sparse step",
    window="second of four, first and last see all",
    rotary_layers="sliding",
)

FAMILIES = (LAGUNA, MIMO_V2_FLASH, COHERE2_MOE, KOLIBRI1, FLINT)
