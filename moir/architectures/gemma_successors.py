"""Gemma 3n and 4: embeddings for each layer, layers that share keys and values, values that correct each other."""

from __future__ import annotations

from moir.architectures.family import Family
from moir.architectures.gemma import BIASES, GEMMA_DEFAULTS, SANDWICH_TENSORS
from moir.architectures.llama_variants import QUERY_NORMS
from moir.architectures.record import Architecture, AttentionBlock
from moir.architectures.residuals import SANDWICH_NORM
from moir.support.tables import words

TENSORS = {
    **SANDWICH_TENSORS,
    **QUERY_NORMS,
    "layer_embedding": "model.embed_tokens_per_layer",
    "layer_projection": "model.per_layer_model_projection",
    "layer_projection_norm": "model.per_layer_projection_norm",
    "layer_input.gate": "per_layer_input_gate",
    "layer_input.output": "per_layer_projection",
    "layer_input.norm": "post_per_layer_input_norm",
}

SHARED_LAYERS = tuple(f"model.layers.{{}}.self_attn.{each}" for each in ("k_proj.*", "v_proj.*", "k_norm.*", "v_norm.*"))
"""Unused tensors that files have for layers which share the keys and values of other layers."""

MOST_VALUES = 16
"""The largest number of residual streams for whose projections there are names; published models have four."""

INPUT_SIZES = {"layer_input": "hidden_size_per_layer_input", "layer_vocabulary": "vocab_size_per_layer_input"}

COMMON: dict[str, object] = {
    **{key: value for key, value in GEMMA_DEFAULTS.items() if key not in ("rope_theta", "use_bidirectional_attention")},
    "rope_theta": 1e6,
    "rope_local_base_freq": 10000.0,
    "sliding_window": 512,
    "hidden_size_per_layer_input": 256,
    "vocab_size_per_layer_input": 262144,
}

GEMMA3N = Family(
    architecture=Architecture(
        "gemma3n_text",
        ("gemma3n_text",),
        attention=AttentionBlock(query_norm="head", value_norm=True),
        layer_inputs=True,
        alternating_updates=True,
    ),
    tensors={
        **TENSORS,
        **{f"first_values.{index}": f"model.altup_projections.{index}" for index in range(MOST_VALUES)},
        **{f"last_values.{index}": f"model.altup_unembed_projections.{index}" for index in range(MOST_VALUES)},
        "updates.router_norm": "altup.router_norm",
        "updates.router": "altup.modality_router",
        "updates.prediction": "altup.prediction_coefs",
        "updates.correction": "altup.correction_coefs",
        "updates.scale": "altup.correct_output_scale",
        "laurel.down": "laurel.linear_left",
        "laurel.up": "laurel.linear_right",
        "laurel.norm": "laurel.post_laurel_norm",
    },
    keys={
        **{"activation": "hidden_activation", "logits_cap": "final_logit_softcapping"},
        **{"local_theta": "rope_local_base_freq", "feed_forward": "_feed_forward"},
    },
    defaults={
        **COMMON,
        "vocab_size": 262400,
        "hidden_size": 2048,
        "intermediate_size": 16384,
        "_feed_forward": None,
        "num_hidden_layers": 35,
        "num_attention_heads": 8,
        "num_key_value_heads": 2,
        "max_position_embeddings": 32768,
        "final_logit_softcapping": 30.0,
        "sliding_window_pattern": 5,
        "altup_num_inputs": 4,
        "altup_active_idx": 0,
        "altup_correct_scale": True,
        "num_kv_shared_layers": 15,
        "laurel_rank": 64,
        "activation_sparsity_pattern": None,
    },
    fixed={"attention_scale": 1.0},
    biases=BIASES,
    sizes={**INPUT_SIZES, "values": "altup_num_inputs", "active": "altup_active_idx", "laurel_rank": "laurel_rank"},
    optional_sizes=("active",),
    layer_lists={"feed_forward": "intermediate_size", "sparsity": "activation_sparsity_pattern"},
    shared_layers="num_kv_shared_layers",
    window="pattern",
    roots={"embedding_scale": "hidden_size"},
    variants=(
        (
            "altup_correct_scale",
            False,
            {"scales_correction": False, "ignored_tensors": (*SHARED_LAYERS, "model.layers.{}.altup.correct_output_scale")},
        ),
    ),
    # The bound of coefficients while the model is trained.
    unread=words("hidden_act sliding_window_pattern altup_coef_clip altup_lr_multiplier"),
    ignored_tensors=SHARED_LAYERS,
)

EXPERTS = {
    "count": "num_experts",
    "chosen": "top_k_experts",
    "size": "moe_intermediate_size",
    "is_normalized": True,
    "has_factors": True,
}

GEMMA4 = Family(
    architecture=Architecture(
        "gemma4_text",
        ("gemma4_text",),
        residuals=SANDWICH_NORM,
        attention=AttentionBlock(query_norm="head", value_norm=True),
        layer_inputs=True,
        layer_factor=True,
        experts="packed",
        experts_beside=True,
    ),
    tensors={
        **TENSORS,
        "factor": "layer_scalar",
        "experts": "experts",
        "experts.router": "router.proj",
        "experts.router.scale": "router.scale",
        "experts.factors": "router.per_expert_scale",
        "experts.gate_up": "experts.gate_up_proj",
        "experts.down": "experts.down_proj",
        "experts_norm": "pre_feedforward_layernorm_2",
        "network_output_norm": "post_feedforward_layernorm_1",
        "experts_output_norm": "post_feedforward_layernorm_2",
    },
    keys={"activation": "hidden_activation", "logits_cap": "final_logit_softcapping", "local_theta": "rope_local_base_freq"},
    defaults={
        **COMMON,
        "vocab_size": 262144,
        "hidden_size": 2304,
        "intermediate_size": 9216,
        "num_hidden_layers": 30,
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
        "max_position_embeddings": 131072,
        "final_logit_softcapping": None,
        "sliding_window_pattern": 6,
        "global_head_dim": 512,
        "num_global_key_value_heads": None,
        "attention_k_eq_v": False,
        "num_kv_shared_layers": 0,
        "enable_moe_block": False,
        "rope_scaling": {"rope_type": "proportional", "partial_rotary_factor": 0.25},
    },
    fixed={"attention_scale": 1.0},
    biases=BIASES,
    sizes=INPUT_SIZES,
    optional_sizes=("layer_input", "layer_vocabulary"),
    full_layers={"head_size": "global_head_dim"},
    shared_layers="num_kv_shared_layers",
    window="pattern, last sees all",
    roots={"embedding_scale": "hidden_size"},
    variants=(
        ("enable_moe_block", True, {"experts": EXPERTS}),
        (
            "attention_k_eq_v",
            True,
            {
                "full_layers": {
                    "head_size": "global_head_dim",
                    "key_heads": "num_global_key_value_heads",
                    "values_are_keys": "attention_k_eq_v",
                }
            },
        ),
    ),
    # Only images are seen from both sides.
    expected={"use_bidirectional_attention": "vision"},
    unread=words("hidden_act sliding_window_pattern num_experts top_k_experts moe_intermediate_size num_global_key_value_heads"),
    ignored_tensors=SHARED_LAYERS,
)

FAMILIES = (GEMMA3N, GEMMA4)
