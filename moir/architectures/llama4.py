"""The language model of Llama 4: layers without rotation among others that see chunks, experts that compute factors."""

from __future__ import annotations

from moir.architectures.family import Family
from moir.architectures.llama import DEFAULTS, TENSORS
from moir.architectures.llama_variants import ALL_PROJECTIONS
from moir.architectures.record import Architecture, AttentionBlock
from moir.support.tables import words

LLAMA4 = Family(
    architecture=Architecture(
        "llama4_text",
        ("llama4_text",),
        attention=AttentionBlock(rotation="interleaved", query_norm="rotated only"),
        experts="packed columns",
    ),
    tensors={
        **{name: tensor.replace("mlp", "feed_forward") for name, tensor in TENSORS.items()},
        **{
            "experts": "feed_forward.experts",
            "experts.router": "feed_forward.router",
            "experts.gate_up": "feed_forward.experts.gate_up_proj",
            "experts.down": "feed_forward.experts.down_proj",
            "shared_expert": "feed_forward.shared_expert",
            "shared_expert.gate": "feed_forward.shared_expert.gate_proj",
            "shared_expert.up": "feed_forward.shared_expert.up_proj",
            "shared_expert.down": "feed_forward.shared_expert.down_proj",
            "all_experts": "feed_forward",
        },
    },
    keys={"feed_forward": "intermediate_size_mlp", "query_growth": "attn_scale", "growth_length": "floor_scale"},
    defaults={
        **DEFAULTS,
        "vocab_size": 202048,
        "hidden_size": 5120,
        "intermediate_size": 8192,
        "intermediate_size_mlp": 16384,
        "num_hidden_layers": 48,
        "num_attention_heads": 40,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "max_position_embeddings": 131072,
        "rms_norm_eps": 1e-5,
        "rope_theta": 500000.0,
        "num_experts_per_tok": 1,
        "num_local_experts": 16,
        "moe_layers": None,
        "interleave_moe_layer_step": 1,
        "use_qk_norm": True,
        "attention_chunk_size": 8192,
        "attn_temperature_tuning": True,
        "floor_scale": 8192,
        "attn_scale": 0.1,
    },
    aliases={"num_experts": "num_local_experts"},
    biases={"attention_bias": ALL_PROJECTIONS},
    experts={
        "count": "num_local_experts",
        "chosen": "num_experts_per_tok",
        "size": "intermediate_size",
        "shared": "intermediate_size",
        "scores": "=sigmoid",
        "scales_inputs": True,
    },
    dense="listed",
    rotary_layers="listed",
    has_chunks=True,
    variants=(
        ("use_qk_norm", False, {"attention": AttentionBlock(rotation="interleaved")}),
        ("attn_temperature_tuning", False, {"query_growth": 0.0}),
    ),
    # Noise that only the training adds, and a switch of an older implementation.
    unread=words("router_jitter_noise for_llm_compressor"),
)

FAMILIES = (LLAMA4,)
