"""Mamba and Falcon Mamba: layers of a selective state space alone."""

from __future__ import annotations

from moir.architectures.family import Family
from moir.architectures.record import Architecture, AttentionBlock
from moir.architectures.residuals import ATTENTION, Branch, Residual
from moir.support.tables import words

MAMBA = Family(
    architecture=Architecture(
        "mamba",
        ("mamba",),
        residuals=(Residual((Branch(ATTENTION, "attention_norm"),)),),
        attention=AttentionBlock(rotation=None),
        takes_positions=False,
    ),
    layer="backbone.layers.{}",
    tensors={
        "embedding": "backbone.embeddings",
        "final_norm": "backbone.norm_f",
        "head": "lm_head",
        "attention_norm": "norm",
        "state_space": "mixer",
        "state_space.input": "mixer.in_proj",
        "convolution.kernel": "mixer.conv1d",
        "state_space.parts": "mixer.x_proj",
        "state_space.step": "mixer.dt_proj",
        "state_space.decay": "mixer.A_log",
        "state_space.skip": "mixer.D",
        "state_space.output": "mixer.out_proj",
    },
    keys={
        **{"epsilon": "layer_norm_epsilon"},
        "heads": "",
        "key_heads": "",
        "head_size": "",
        "feed_forward": "",
        "positions": "",
    },
    sizes={"kernel": "conv_kernel", "state": "state_size", "expansion": "expand", "rank": "time_step_rank"},
    defaults={
        "vocab_size": 50280,
        "hidden_size": 768,
        "state_size": 16,
        "num_hidden_layers": 32,
        "layer_norm_epsilon": 1e-5,
        "expand": 2,
        "conv_kernel": 4,
        "use_bias": False,
        "use_conv_bias": True,
        "hidden_act": "silu",
        "time_step_rank": "auto",
        "tie_word_embeddings": True,
    },
    fixed={"heads": 0, "feed_forward": 0, "positions": 0},
    biases={
        "use_bias": "state_space.input state_space.output",
        "use_conv_bias": "convolution.kernel",
        "": "state_space.step",
    },
    other_block="state space",
    expected={"rms_norm": True},
    # Keys about initialization and kernels, and sizes that follow from other keys.
    unread=words(
        "residual_in_fp32 time_step_scale time_step_min time_step_max time_step_init_scheme time_step_floor rescale_prenorm_residual "
        "use_mambapy use_associative_scan use_falcon_mambapy intermediate_size d_inner d_model fused_add_norm n_layer "
        "pad_vocab_size_multiple ssm_cfg"
    ),
)

FALCON_MAMBA = MAMBA.with_fields(
    architecture=MAMBA.architecture.with_fields(name="falcon_mamba", model_types=("falcon_mamba",)),
    keys={**MAMBA.keys, "part_epsilon": "mixer_rms_eps"},
    defaults={**MAMBA.defaults, "mixer_rms_eps": 1e-6},
)

FAMILIES = (MAMBA, FALCON_MAMBA)
