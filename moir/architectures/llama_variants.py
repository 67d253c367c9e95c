"""Families with the blocks of Llama: other biases, windows, normalizations of queries and keys, factors."""

from __future__ import annotations

from moir.architectures.family import Family
from moir.architectures.llama import DEFAULTS, PROJECTIONS, TENSORS
from moir.architectures.record import Architecture, AttentionBlock
from moir.architectures.residuals import OUTPUT_NORM, PARALLEL, SANDWICH_NORM
from moir.support.tables import words

QUERY_NORMS = {"attention.query_norm": "self_attn.q_norm", "attention.key_norm": "self_attn.k_norm"}

ALL_PROJECTIONS = f"{PROJECTIONS} attention.output"

PACKED_GATE = {**TENSORS, "feed_forward.gate_up": "mlp.gate_up_proj"}

MISTRAL = Family(
    architecture=Architecture("mistral", ("mistral",)),
    tensors=TENSORS,
    defaults={**DEFAULTS, "intermediate_size": 14336, "num_key_value_heads": 8, "max_position_embeddings": 131072, "sliding_window": 4096},
    window="all",
)

QWEN_WINDOW: dict[str, object] = {"use_sliding_window": False, "sliding_window": 4096, "max_window_layers": 28}

QWEN2 = Family(
    architecture=Architecture("qwen2", ("qwen2",)),
    tensors=TENSORS,
    defaults={
        **DEFAULTS,
        **QWEN_WINDOW,
        "vocab_size": 151936,
        "intermediate_size": 22016,
        "num_key_value_heads": 32,
        "max_position_embeddings": 32768,
    },
    biases={"": PROJECTIONS},
    window="flagged",
)

QWEN3 = Family(
    architecture=Architecture("qwen3", ("qwen3",), attention=AttentionBlock(query_norm="head")),
    tensors={**TENSORS, **QUERY_NORMS},
    defaults={**QWEN2.defaults, "head_dim": 128},
    biases={"attention_bias": ALL_PROJECTIONS},
    window="flagged",
)

PHI3 = Family(
    architecture=Architecture("phi3", ("phi3",), attention=AttentionBlock(packing="stacked"), feed_forward="packed gated"),
    tensors={**PACKED_GATE, "attention.query_key_value": "self_attn.qkv_proj"},
    defaults={
        **DEFAULTS,
        "vocab_size": 32064,
        "hidden_size": 3072,
        "intermediate_size": 8192,
        "max_position_embeddings": 4096,
        "rms_norm_eps": 1e-5,
        "original_max_position_embeddings": 4096,
        "sliding_window": None,
    },
    window="all",
    # Only some scalings of rotary embeddings use it.
    unread=words("original_max_position_embeddings"),
)

OLMO2 = Family(
    architecture=Architecture("olmo2", ("olmo2",), residuals=OUTPUT_NORM, attention=AttentionBlock(query_norm="whole")),
    tensors={
        **TENSORS,
        **QUERY_NORMS,
        "attention_output_norm": "post_attention_layernorm",
        "feed_forward_output_norm": "post_feedforward_layernorm",
    },
    defaults={**DEFAULTS, "vocab_size": 50304, "rms_norm_eps": 1e-5},
    biases={"attention_bias": ALL_PROJECTIONS},
)

SMOLLM3 = Family(
    architecture=Architecture("smollm3", ("smollm3",)),
    tensors=TENSORS,
    defaults={
        **DEFAULTS,
        **QWEN_WINDOW,
        "sliding_window": None,
        "vocab_size": 128256,
        "hidden_size": 2048,
        "num_hidden_layers": 36,
        "num_attention_heads": 16,
        "num_key_value_heads": 4,
        "max_position_embeddings": 32768,
        "rope_theta": 2000000.0,
        "tie_word_embeddings": True,
    },
    biases={"attention_bias": ALL_PROJECTIONS, "mlp_bias": "feed_forward.gate feed_forward.up feed_forward.down"},
    window="flagged",
    rotary_layers="listed",
)

GRANITE = Family(
    architecture=Architecture("granite", ("granite",)),
    tensors=TENSORS,
    keys={"embedding_scale": "embedding_multiplier", "residual_scale": "residual_multiplier", "attention_scale": "attention_multiplier"},
    defaults={
        **DEFAULTS,
        "embedding_multiplier": 1.0,
        "residual_multiplier": 1.0,
        "attention_multiplier": 1.0,
        "logits_scaling": 1.0,
        "tie_word_embeddings": False,
    },
    biases={"attention_bias": ALL_PROJECTIONS, "mlp_bias": "feed_forward.gate feed_forward.up feed_forward.down"},
    divisors={"logits_scale": "logits_scaling"},
)

GLM_DEFAULTS: dict[str, object] = {
    **DEFAULTS,
    "vocab_size": 151552,
    "intermediate_size": 13696,
    "num_hidden_layers": 40,
    "num_key_value_heads": 2,
    "head_dim": 128,
    "rms_norm_eps": 1.5625e-07,
    "max_position_embeddings": 131072,
    "partial_rotary_factor": 0.5,
    "attention_bias": True,
}

GLM = Family(
    architecture=Architecture("glm", ("glm",), attention=AttentionBlock(rotation="interleaved"), feed_forward="packed gated"),
    tensors=PACKED_GATE,
    defaults=GLM_DEFAULTS,
    biases={"attention_bias": PROJECTIONS},
)

GLM4 = Family(
    architecture=GLM.architecture.with_fields(name="glm4", model_types=("glm4",), residuals=SANDWICH_NORM),
    tensors={**PACKED_GATE, "attention_output_norm": "post_self_attn_layernorm", "feed_forward_output_norm": "post_mlp_layernorm"},
    defaults=GLM_DEFAULTS,
    biases={"attention_bias": PROJECTIONS},
)

COHERE = Family(
    architecture=Architecture("cohere", ("cohere",), residuals=PARALLEL, norm="layer", attention=AttentionBlock(rotation="interleaved")),
    tensors={**TENSORS, **QUERY_NORMS},
    keys={"epsilon": "layer_norm_eps", "logits_scale": "logit_scale"},
    defaults={
        **DEFAULTS,
        "vocab_size": 256000,
        "hidden_size": 8192,
        "intermediate_size": 22528,
        "num_hidden_layers": 40,
        "num_attention_heads": 64,
        "logit_scale": 0.0625,
        "layer_norm_eps": 1e-5,
        "max_position_embeddings": 8192,
        "tie_word_embeddings": True,
        "rope_theta": 500000.0,
        "use_qk_norm": False,
    },
    biases={"attention_bias": ALL_PROJECTIONS},
    variants=(("use_qk_norm", True, {"attention": AttentionBlock(rotation="interleaved", query_norm="per head")}),),
)

STARCODER2 = Family(
    architecture=Architecture("starcoder2", ("starcoder2",), norm="layer", norm_bias=True, feed_forward="plain"),
    tensors={**TENSORS, "feed_forward.up": "mlp.c_fc", "feed_forward.down": "mlp.c_proj"},
    keys={"epsilon": "norm_epsilon"},
    defaults={
        **DEFAULTS,
        "vocab_size": 49152,
        "hidden_size": 3072,
        "intermediate_size": 12288,
        "num_hidden_layers": 30,
        "num_attention_heads": 24,
        "num_key_value_heads": 2,
        "hidden_act": "gelu_pytorch_tanh",
        "max_position_embeddings": 4096,
        "norm_epsilon": 1e-5,
        "use_bias": True,
        "sliding_window": None,
        "tie_word_embeddings": True,
    },
    biases={"use_bias": f"{ALL_PROJECTIONS} feed_forward.up feed_forward.down"},
    window="all",
)

PHI = Family(
    architecture=Architecture("phi", ("phi",), residuals=PARALLEL, norm="layer", norm_bias=True, feed_forward="plain", head_bias=True),
    tensors={
        **TENSORS,
        "final_norm": "model.final_layernorm",
        "attention.output": "self_attn.dense",
        "attention.query_norm": "self_attn.q_layernorm",
        "attention.key_norm": "self_attn.k_layernorm",
        "feed_forward.up": "mlp.fc1",
        "feed_forward.down": "mlp.fc2",
    },
    keys={"epsilon": "layer_norm_eps"},
    defaults={
        **DEFAULTS,
        "vocab_size": 51200,
        "hidden_size": 2048,
        "intermediate_size": 8192,
        "num_hidden_layers": 24,
        "hidden_act": "gelu_new",
        "layer_norm_eps": 1e-5,
        "partial_rotary_factor": 0.5,
        "qk_layernorm": False,
    },
    biases={"": f"{ALL_PROJECTIONS} feed_forward.up feed_forward.down"},
    variants=(("qk_layernorm", True, {"attention": AttentionBlock(query_norm="head")}),),
)

EXAONE4 = Family(
    architecture=OLMO2.architecture.with_fields(name="exaone4", model_types=("exaone4",), attention=AttentionBlock(query_norm="head")),
    tensors=OLMO2.tensors,
    defaults={
        **DEFAULTS,
        "vocab_size": 102400,
        "intermediate_size": 16384,
        "num_key_value_heads": 32,
        "rms_norm_eps": 1e-5,
        "sliding_window": 4096,
        "sliding_window_pattern": 4,
    },
    window="pattern",
    rotary_layers="sliding or all",
    unread=words("sliding_window_pattern"),
)

ERNIE4_5 = Family(
    architecture=Architecture("ernie4_5", ("ernie4_5",), attention=AttentionBlock(rotation="interleaved")),
    tensors=TENSORS,
    defaults={
        **DEFAULTS,
        "vocab_size": 103424,
        "hidden_size": 1024,
        "intermediate_size": 3072,
        "num_hidden_layers": 18,
        "num_attention_heads": 16,
        "num_key_value_heads": 2,
        "head_dim": 128,
        "max_position_embeddings": 131072,
        "rms_norm_eps": 1e-5,
        "tie_word_embeddings": True,
        "rope_theta": 500000.0,
        "use_bias": False,
    },
    biases={"use_bias": f"{ALL_PROJECTIONS} feed_forward.gate feed_forward.up feed_forward.down"},
)

FAMILIES = (MISTRAL, QWEN2, QWEN3, PHI3, OLMO2, SMOLLM3, GRANITE, GLM, GLM4, COHERE, STARCODER2, PHI, EXAONE4, ERNIE4_5)
