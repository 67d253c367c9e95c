"""Falcon-H1: a state space and an attention beside each other in every layer, and factors everywhere."""

from __future__ import annotations

from moir.architectures.family import Family
from moir.architectures.llama import DEFAULTS
from moir.architectures.record import Architecture
from moir.architectures.recurrent.state_space_hybrids import BAMBA, MIXER_DEFAULTS, MIXER_SIZES, UNBOUNDED
from moir.architectures.residuals import ATTENTION, FEED_FORWARD, Branch, Residual
from moir.support.tables import words

STATE_SPACE = "grouped state space"

FALCON_H1 = Family(
    architecture=Architecture(
        "falcon_h1",
        ("falcon_h1",),
        residuals=(
            Residual((Branch(STATE_SPACE, "attention_norm"), Branch(ATTENTION, "attention_norm"))),
            Residual((Branch(FEED_FORWARD, "feed_forward_norm"),)),
        ),
        state_norm=None,
    ),
    tensors=BAMBA.tensors,
    keys={"embedding_scale": "embedding_multiplier", "logits_scale": "lm_head_multiplier"},
    sizes={**MIXER_SIZES, "state_head_size": "mamba_d_head", "features": "mamba_d_ssm"},
    optional_sizes=("features",),
    factors={
        "attention input": "attention_in_multiplier",
        "attention output": "attention_out_multiplier",
        f"{STATE_SPACE} input": "ssm_in_multiplier",
        f"{STATE_SPACE} output": "ssm_out_multiplier",
        "keys": "key_multiplier",
        "gate": "mlp_multipliers 0",
        "down": "mlp_multipliers 1",
        **{
            f"state space {part}": f"ssm_multipliers {index}"
            for index, part in enumerate(("gates", "values", "inputs", "outputs", "steps"))
        },
    },
    defaults={
        **DEFAULTS,
        **MIXER_DEFAULTS,
        "vocab_size": 128000,
        "intermediate_size": 14336,
        "num_key_value_heads": 8,
        "max_position_embeddings": 8192,
        "rms_norm_eps": 1e-5,
        "mamba_d_ssm": 1024,
        "mamba_d_head": "auto",
        "mamba_norm_before_gate": True,
        "mamba_rms_norm": False,
        "embedding_multiplier": 1.0,
        "lm_head_multiplier": 1.0,
    },
    biases={
        **BAMBA.biases,
        "mamba_proj_bias": "state_space.input",
        "projectors_bias": "state_space.output",
    },
    variants=(
        ("mamba_rms_norm", True, {"state_norm": "before gates"}),
        ("mamba_norm_before_gate", False, {"state_norm": "gated"}),
        ("mamba_rms_norm", False, {"state_norm": None}),
    ),
    expected={"time_step_limit": UNBOUNDED, "mamba_use_mlp": True, "attn_layer_indices": None},
    # Options of kernels and of the initialization, the number of tokens whose logits are computed, and the kinds of
    # layers, which are all alike.
    unread=words(
        "mamba_chunk_size num_logits_to_keep layer_types layers_block_type time_step_floor time_step_max time_step_min mamba_d_head "
        "mlp_expansion_factor"
    ),
)

FAMILIES = (FALCON_H1,)
