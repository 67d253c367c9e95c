"""Families with state spaces, between the attentions or alone: Mamba-2, Bamba, Granite 4, Jamba, Nemotron-H."""

from __future__ import annotations

from moir.architectures.family import Family
from moir.architectures.llama import DEFAULTS, TENSORS
from moir.architectures.llama_variants import ALL_PROJECTIONS
from moir.architectures.mixtures import GRANITEMOESHARED
from moir.architectures.record import NOTHING, Architecture, AttentionBlock
from moir.architectures.recurrent.mamba import MAMBA
from moir.architectures.shared_experts import CORRECTED_EXPERTS
from moir.support.tables import words

UNBOUNDED = [0.0, float("inf")]
"""The bounds of time steps, as Transformers writes them, that do not limit them."""

MIXER = {
    "state_space": "mamba",
    "state_space.input": "mamba.in_proj",
    "state_space.decay": "mamba.A_log",
    "state_space.skip": "mamba.D",
    "state_space.step_bias": "mamba.dt_bias",
    "state_space.norm": "mamba.norm",
    "state_space.output": "mamba.out_proj",
    "convolution.kernel": "mamba.conv1d",
}
"""The tensors of a Mamba-2 state space in layers beside layers of attention."""

MIXER_SIZES = {
    "kernel": "mamba_d_conv",
    "state": "mamba_d_state",
    "expansion": "mamba_expand",
    "state_heads": "mamba_n_heads",
    "groups": "mamba_n_groups",
}

MIXER_BIASES = {"mamba_proj_bias": "state_space.input state_space.output", "mamba_conv_bias": "convolution.kernel"}

MIXER_DEFAULTS: dict[str, object] = {
    "mamba_n_heads": 128,
    "mamba_n_groups": 1,
    "mamba_d_state": 256,
    "mamba_d_conv": 4,
    "mamba_expand": 2,
    "mamba_conv_bias": True,
    "mamba_proj_bias": False,
}

MIXER_UNREAD = words("mamba_d_head mamba_chunk_size")
"""Keys without effect: a size that follows from others, and a setting of kernels."""

MAMBA2 = Family(
    architecture=MAMBA.architecture.with_fields(name="mamba2", model_types=("mamba2",)),
    layer=MAMBA.layer,
    tensors={
        **MAMBA.tensors,
        "state_space.step_bias": "mixer.dt_bias",
        "state_space.norm": "mixer.norm",
    },
    keys=MAMBA.keys,
    sizes={"kernel": "conv_kernel", "state": "state_size", "expansion": "expand", "state_heads": "num_heads", "groups": "n_groups"},
    defaults={
        **MAMBA.defaults,
        "vocab_size": 32768,
        "hidden_size": 4096,
        "num_heads": 128,
        "state_size": 128,
        "num_hidden_layers": 64,
        "n_groups": 8,
        "tie_word_embeddings": False,
    },
    fixed=MAMBA.fixed,
    biases={"use_bias": "state_space.input state_space.output", "use_conv_bias": "convolution.kernel"},
    other_block="grouped state space",
    expected={"time_step_limit": UNBOUNDED, "rms_norm": True, "norm_before_gate": False},
    # Sizes that follow from other keys, and options of kernels.
    unread=MAMBA.unread | words("head_dim time_step_rank chunk_size"),
)

BAMBA = Family(
    architecture=Architecture("bamba", ("bamba",)),
    tensors={
        **TENSORS,
        **MIXER,
        **{
            "final_norm": "model.final_layernorm",
            "feed_forward": "feed_forward",
            "feed_forward_norm": "pre_ff_layernorm",
            "feed_forward.gate": "feed_forward.gate_proj",
            "feed_forward.up": "feed_forward.up_proj",
            "feed_forward.down": "feed_forward.down_proj",
        },
    },
    sizes=MIXER_SIZES,
    defaults={
        **DEFAULTS,
        **MIXER_DEFAULTS,
        "vocab_size": 128000,
        "intermediate_size": 14336,
        "num_key_value_heads": 8,
        "rms_norm_eps": 1e-5,
        "max_position_embeddings": 262144,
        "partial_rotary_factor": 0.5,
        "attn_layer_indices": (),
    },
    biases={
        **MIXER_BIASES,
        "attention_bias": ALL_PROJECTIONS,
        "mlp_bias": "feed_forward.gate feed_forward.up feed_forward.down",
    },
    other_block="grouped state space",
    attention_layers="attn_layer_indices",
    expected={"time_step_limit": UNBOUNDED},
    # An older key for the share of rotated dimensions, which is 1/2; the loss function of the training; the number of
    # tokens whose logits are computed.
    unread=MIXER_UNREAD | words("attn_rotary_emb z_loss_coefficient num_logits_to_keep attn_layer_indices"),
)

GRANITEMOEHYBRID = Family(
    architecture=GRANITEMOESHARED.architecture.with_fields(
        name="granitemoehybrid",
        model_types=("granitemoehybrid",),
        attention=AttentionBlock(rotation=None),
        takes_positions=False,
    ),
    tensors={**GRANITEMOESHARED.tensors, **MIXER},
    keys=GRANITEMOESHARED.keys,
    aliases={"layers_block_type": "layer_types"},
    sizes=MIXER_SIZES,
    defaults={**GRANITEMOESHARED.defaults, **MIXER_DEFAULTS, "shared_intermediate_size": 1024, "position_embedding_type": None},
    biases={**MIXER_BIASES, **GRANITEMOESHARED.biases},
    divisors=GRANITEMOESHARED.divisors,
    experts=GRANITEMOESHARED.experts,
    other_block="grouped state space",
    variants=(
        ("position_embedding_type", "rope", {"attention.rotation": "halves", "takes_positions": True}),
        (
            "num_local_experts",
            0,
            {
                "experts": NOTHING,
                "keys": {**GRANITEMOESHARED.keys, "feed_forward": "shared_intermediate_size"},
                "tensors": {
                    **{**GRANITEMOESHARED.tensors, **MIXER},
                    "feed_forward": "shared_mlp",
                    "feed_forward.gate_up": "shared_mlp.input_linear",
                    "feed_forward.down": "shared_mlp.output_linear",
                },
            },
        ),
    ),
    expected={"time_step_limit": UNBOUNDED},
    # Sizes of experts and of rotations in models that have none.
    unread=MIXER_UNREAD
    | words("num_experts_per_tok intermediate_size rope_theta rope_scaling rope_parameters init_method normalization_function"),
)

JAMBA = Family(
    architecture=Architecture("jamba", ("jamba",), attention=AttentionBlock(rotation=None), takes_positions=False, part_weights=True),
    tensors={
        **BAMBA.tensors,
        **{
            "state_space.parts": "mamba.x_proj",
            "state_space.step": "mamba.dt_proj",
            "state_space.steps_norm": "mamba.dt_layernorm",
            "state_space.inputs_norm": "mamba.b_layernorm",
            "state_space.outputs_norm": "mamba.c_layernorm",
            "experts": "feed_forward",
            "experts.router": "feed_forward.router",
            "experts.gate": "feed_forward.experts.{}.gate_proj",
            "experts.up": "feed_forward.experts.{}.up_proj",
            "experts.down": "feed_forward.experts.{}.down_proj",
        },
    },
    keys={"part_epsilon": "rms_norm_eps"},
    aliases={"num_local_experts": "num_experts"},
    sizes={"kernel": "mamba_d_conv", "state": "mamba_d_state", "expansion": "mamba_expand", "rank": "mamba_dt_rank"},
    defaults={
        **{key: value for key, value in DEFAULTS.items() if key not in ("rope_theta", "attention_bias", "mlp_bias")},
        "vocab_size": 65536,
        "intermediate_size": 14336,
        "num_key_value_heads": 8,
        "max_position_embeddings": 262144,
        "num_experts_per_tok": 2,
        "num_experts": 16,
        "expert_layer_period": 2,
        "expert_layer_offset": 1,
        "attn_layer_period": 8,
        "attn_layer_offset": 4,
        "mamba_d_state": 16,
        "mamba_d_conv": 4,
        "mamba_expand": 2,
        "mamba_dt_rank": "auto",
        "mamba_conv_bias": True,
        "mamba_proj_bias": False,
    },
    biases={**MIXER_BIASES, "": "state_space.step"},
    experts={"count": "num_experts", "chosen": "num_experts_per_tok", "size": "intermediate_size"},
    dense="expert_layer_period expert_layer_offset",
    variants=(("num_experts", 1, {"experts": NOTHING}),),
    other_block="state space",
    attention_layers="attn_layer_period attn_layer_offset",
    # Options of kernels, the number of tokens whose logits are computed, and keys of experts and layers that models
    # without experts, or with a list of layers, do not use.
    unread=words(
        "use_mamba_kernels use_mambapy use_associative_scan num_logits_to_keep layers_block_type layer_types num_experts_per_tok "
        "expert_layer_period expert_layer_offset mamba_inner_layernorms sliding_window calc_logits_for_entire_prompt"
    ),
)

NEMOTRON_H = Family(
    architecture=Architecture(
        "nemotron_h",
        ("nemotron_h",),
        residuals=MAMBA.architecture.residuals,
        attention=AttentionBlock(rotation=None),
        feed_forward="plain",
        takes_positions=False,
    ),
    layer=MAMBA.layer,
    tensors={
        **MAMBA2.tensors,
        **{
            "attention": "mixer",
            "attention.query": "mixer.q_proj",
            "attention.key": "mixer.k_proj",
            "attention.value": "mixer.v_proj",
            "attention.output": "mixer.o_proj",
            "feed_forward": "mixer",
            "feed_forward.up": "mixer.up_proj",
            "feed_forward.down": "mixer.down_proj",
            "experts": "mixer.experts",
            "experts.router": "mixer.gate",
            "experts.up": "mixer.experts.{}.up_proj",
            "experts.down": "mixer.experts.{}.down_proj",
            "experts.correction": "mixer.gate.e_score_correction_bias",
            "shared_expert": "mixer.shared_experts",
            "shared_expert.up": "mixer.shared_experts.up_proj",
            "shared_expert.down": "mixer.shared_experts.down_proj",
            "all_experts": "mixer",
        },
    },
    keys={"epsilon": "layer_norm_epsilon", "activation": "mlp_hidden_act", "state_activation": "mamba_hidden_act"},
    aliases={"layers_block_type": "layer_types", "num_local_experts": "n_routed_experts", "attention_head_dim": "head_dim"},
    sizes={
        "kernel": "conv_kernel",
        "state": "ssm_state_size",
        "state_heads": "mamba_num_heads",
        "state_head_size": "mamba_head_dim",
        "groups": "n_groups",
    },
    defaults={
        "vocab_size": 131072,
        "hidden_size": 4096,
        "intermediate_size": 21504,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "max_position_embeddings": 4096,
        "layer_norm_epsilon": 1e-5,
        "mlp_hidden_act": "relu2",
        "tie_word_embeddings": False,
        "ssm_state_size": 128,
        "mamba_num_heads": 128,
        "mamba_head_dim": 64,
        "mamba_hidden_act": "silu",
        "n_groups": 8,
        "conv_kernel": 4,
        "use_conv_bias": True,
        "n_routed_experts": 8,
        "moe_intermediate_size": 7688,
        "moe_shared_expert_intermediate_size": 7688,
        "num_experts_per_tok": 2,
        "routed_scaling_factor": 1.0,
        "n_group": 1,
        "topk_group": 1,
        "norm_topk_prob": True,
    },
    biases={
        "use_bias": "state_space.input state_space.output",
        "use_conv_bias": "convolution.kernel",
        "attention_bias": ALL_PROJECTIONS,
        "mlp_bias": "feed_forward.up feed_forward.down shared_expert.up shared_expert.down",
    },
    experts={**CORRECTED_EXPERTS, "shared": "moe_shared_expert_intermediate_size", "is_gated": False},
    kinds={
        **{"linear_attention": "grouped state space", "mamba": "grouped state space", "M": "grouped state space"},
        **{"full_attention": "attention", "attention": "attention", "*": "attention"},
        **{"mlp": "feed forward", "-": "feed forward", "moe": "feed forward", "E": "feed forward"},
    },
    expected={
        "tie_word_embeddings": False,
        "time_step_limit": UNBOUNDED,
        "moe_latent_size": None,
        "sliding_window": None,
        "norm_eps": 1e-5,
    },
    # Initialization, options of kernels, sizes that follow from other keys, and the layers of multi-token prediction.
    unread=MAMBA.unread
    | words(
        "expand chunk_size use_mamba_kernels mamba_ssm_cache_dtype mamba_proj_bias n_shared_experts moe_shared_expert_overlap "
        "num_logits_to_keep num_nextn_predict_layers mtp_layers_block_type hybrid_override_pattern mtp_hybrid_override_pattern"
    ),
    ignored_tensors=("mtp.*",),
)

FAMILIES = (MAMBA2, BAMBA, GRANITEMOEHYBRID, JAMBA, NEMOTRON_H)
