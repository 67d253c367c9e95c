"""Families with factors of embeddings, residuals and logits that a smaller model was tuned with: MiniCPM and others.

Yang, Hu and others, "Tensor Programs V: Tuning Large Neural Networks via Zero-Shot Hyperparameter Transfer", 2022.
"""

from __future__ import annotations

from moir.architectures.deepseek import DEEPSEEK_V2, LATENT_KEYS, LATENT_TENSORS
from moir.architectures.family import Family
from moir.architectures.llama import DEFAULTS, LLAMA
from moir.architectures.llama_variants import GRANITE
from moir.architectures.mixtures import GRANITEMOESHARED
from moir.architectures.record import Architecture, AttentionBlock
from moir.architectures.residuals import PRE_NORM, SANDWICH_NORM
from moir.support.tables import words

MINICPM_QUOTIENTS = {"residual_scale": "scale_depth / root num_hidden_layers", "logits_scale": "dim_model_base / hidden_size"}

MINICPM = LLAMA.with_fields(
    architecture=Architecture("minicpm", ("minicpm",)),
    keys={"embedding_scale": "scale_emb"},
    defaults={**DEFAULTS, "num_key_value_heads": None, "tie_word_embeddings": True, "scale_emb": 1, "scale_depth": 1, "dim_model_base": 1},
    quotients=MINICPM_QUOTIENTS,
    expected={"num_experts": 0, "sparse_config": None},
)
"""The record of MiniCPM. Transformers has no class for it: its folders contain the code."""

MINICPM3 = Family(
    architecture=Architecture("minicpm3", ("minicpm3",), attention=AttentionBlock(latent=True)),
    tensors=LATENT_TENSORS,
    keys={**LATENT_KEYS, "embedding_scale": "scale_emb"},
    defaults={
        **DEFAULTS,
        "vocab_size": 73448,
        "hidden_size": 2560,
        "intermediate_size": 6400,
        "num_hidden_layers": 62,
        "num_attention_heads": 40,
        "num_key_value_heads": 40,
        "max_position_embeddings": 32768,
        "rms_norm_eps": 1e-5,
        "tie_word_embeddings": True,
        "_head_size": None,
        "kv_lora_rank": 256,
        "q_lora_rank": 768,
        "qk_nope_head_dim": 64,
        "qk_rope_head_dim": 32,
        "v_head_dim": None,
        "scale_emb": 12,
        "scale_depth": 1.4,
        "dim_model_base": 256,
    },
    quotients=MINICPM_QUOTIENTS,
    biases={key: operands.partition(" shared")[0] for key, operands in DEEPSEEK_V2.biases.items()},
    latent=DEEPSEEK_V2.latent,
    # The sizes of heads follow from those of their parts.
    unread=words("head_dim qk_head_dim"),
)

HYPERCLOVAX = GRANITE.with_fields(
    architecture=Architecture("hyperclovax", ("hyperclovax",), residuals=SANDWICH_NORM),
    tensors={**GRANITE.tensors, "attention_output_norm": "post_norm1", "feed_forward_output_norm": "post_norm2"},
    keys={**GRANITE.keys, "logits_scale": "logits_scaling"},
    defaults={**GRANITE.defaults, "attention_multiplier": None, "use_post_norm": True},
    divisors={},
    variants=(("use_post_norm", False, {"residuals": PRE_NORM}),),
)

SWA_DEFAULTS: dict[str, object] = {"sliding_window": 128, "layer_rope_theta": None}

GRANITE_SWA = GRANITE.with_fields(
    architecture=Architecture("granite_swa", ("granite_swa",), attention=AttentionBlock(sinks=True)),
    defaults={
        **GRANITE.defaults,
        **SWA_DEFAULTS,
        "vocab_size": 100352,
        "hidden_size": 2560,
        "intermediate_size": 8192,
        "num_hidden_layers": 24,
        "num_attention_heads": 20,
        "num_key_value_heads": 4,
        "max_position_embeddings": 8192,
        "rms_norm_eps": 1e-5,
        "tie_word_embeddings": True,
    },
    window="every fourth sees all",
    rotary_layers="thetas",
)

GRANITEMOE_SWA = GRANITEMOESHARED.with_fields(
    architecture=GRANITEMOESHARED.architecture.with_fields(
        name="granitemoe_swa", model_types=("granitemoe_swa",), attention=AttentionBlock(sinks=True)
    ),
    tensors={
        **GRANITEMOESHARED.tensors,
        **{
            "experts.router": "block_sparse_moe.router",
            "experts.gate_up": "block_sparse_moe.experts.gate_up_proj",
            "experts.down": "block_sparse_moe.experts.down_proj",
        },
    },
    defaults={**GRANITEMOESHARED.defaults, **SWA_DEFAULTS},
    window="every fourth sees all",
    rotary_layers="thetas",
)

FAMILIES = (MINICPM, MINICPM3, HYPERCLOVAX, GRANITE_SWA, GRANITEMOE_SWA)
