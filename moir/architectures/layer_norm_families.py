"""Families with the projections of Llama, but layer normalization instead of RMS normalization."""

from __future__ import annotations

from moir.architectures.encoders.bert import MODERNBERT
from moir.architectures.family import Family
from moir.architectures.llama import DEFAULTS, PROJECTIONS, TENSORS
from moir.architectures.llama_variants import ALL_PROJECTIONS, COHERE
from moir.architectures.record import Architecture, AttentionBlock
from moir.architectures.residuals import PARALLEL
from moir.support.tables import words

STABLELM = Family(
    architecture=Architecture("stablelm", ("stablelm",), norm="layer", norm_bias=True),
    tensors=TENSORS,
    keys={"epsilon": "layer_norm_eps"},
    defaults={
        **DEFAULTS,
        "vocab_size": 50304,
        "hidden_size": 2560,
        "intermediate_size": 6912,
        "num_key_value_heads": 32,
        "max_position_embeddings": 4096,
        "layer_norm_eps": 1e-5,
        "partial_rotary_factor": 0.25,
        "use_qkv_bias": False,
        "use_parallel_residual": False,
    },
    biases={"use_qkv_bias": PROJECTIONS},
    variants=(("use_parallel_residual", True, {"residuals": PARALLEL}),),
    # transformers' class ignores the size of a window.
    unread=words("rope_pct"),
)

NEMOTRON = Family(
    architecture=Architecture("nemotron", ("nemotron",), norm="layer", norm_bias=True, norm_offset=1.0, feed_forward="plain"),
    tensors=TENSORS,
    keys={"epsilon": "norm_eps"},
    defaults={
        **DEFAULTS,
        "vocab_size": 256000,
        "hidden_size": 6144,
        "intermediate_size": 24576,
        "num_attention_heads": 48,
        "hidden_act": "relu2",
        "max_position_embeddings": 4096,
        "norm_eps": 1e-5,
        "partial_rotary_factor": 0.5,
    },
    biases={"attention_bias": ALL_PROJECTIONS, "mlp_bias": "feed_forward.up feed_forward.down"},
)

OLMO = Family(
    architecture=Architecture("olmo", ("olmo",), norm="layer", norm_weight=False),
    tensors=TENSORS,
    keys={"epsilon": "_epsilon", "clip": "clip_qkv"},
    defaults={**DEFAULTS, "vocab_size": 50304, "_epsilon": 1e-5, "clip_qkv": None},
    biases={"attention_bias": ALL_PROJECTIONS},
)

COHERE2 = Family(
    architecture=COHERE.architecture.with_fields(
        name="cohere2", model_types=("cohere2",), residuals=PARALLEL, attention=AttentionBlock(rotation="interleaved")
    ),
    tensors=TENSORS,
    keys=COHERE.keys,
    defaults={**COHERE.defaults, "rope_theta": 10000.0, "sliding_window": 4096, "sliding_window_pattern": 4},
    biases=COHERE.biases,
    window="pattern",
    rotary_layers="sliding",
    unread=words(
        "order_of_interleaved_layers position_embedding_type rotary_pct layer_switch use_embedding_sharing use_gated_activation "
        "use_parallel_block use_parallel_embedding"
    ),
)

JAIS2 = Family(
    architecture=Architecture("jais2", ("jais2",), norm="layer", norm_bias=True, feed_forward="plain"),
    tensors=TENSORS,
    keys={"epsilon": "layer_norm_eps"},
    defaults={
        **DEFAULTS,
        "vocab_size": 150272,
        "hidden_size": 3328,
        "intermediate_size": 26624,
        "num_attention_heads": 26,
        "hidden_act": "relu2",
        "max_position_embeddings": 8192,
        "layer_norm_eps": 1e-5,
        "attention_bias": True,
        "mlp_bias": True,
    },
    biases=NEMOTRON.biases,
)

PERSIMMON = Family(
    architecture=Architecture(
        "persimmon",
        ("persimmon",),
        norm="layer",
        norm_bias=True,
        feed_forward="plain",
        attention=AttentionBlock(packing="per head", query_norm="head"),
    ),
    tensors={
        **TENSORS,
        "final_norm": "model.final_layernorm",
        "attention.query_key_value": "self_attn.query_key_value",
        "attention.output": "self_attn.dense",
        "attention.query_norm": "self_attn.q_layernorm",
        "attention.key_norm": "self_attn.k_layernorm",
        "feed_forward.up": "mlp.dense_h_to_4h",
        "feed_forward.down": "mlp.dense_4h_to_h",
    },
    keys={"epsilon": "layer_norm_eps"},
    defaults={
        **DEFAULTS,
        "vocab_size": 262144,
        "intermediate_size": 16384,
        "num_hidden_layers": 36,
        "num_attention_heads": 64,
        "hidden_act": "relu2",
        "max_position_embeddings": 16384,
        "layer_norm_eps": 1e-5,
        "partial_rotary_factor": 0.5,
        "qk_layernorm": True,
    },
    biases={"": "attention.query_key_value attention.output feed_forward.up feed_forward.down"},
    variants=(("qk_layernorm", False, {"attention": AttentionBlock(packing="per head")}),),
)

MODERNBERT_BLOCKS = {
    "attention_bias": "attention.query attention.key attention.value attention.output",
    **{"mlp_bias": "feed_forward.gate_up feed_forward.down", "classifier_bias": "head_transform"},
}

MODERNBERT_DECODER = Family(
    architecture=MODERNBERT.architecture.with_fields(
        name="modernbert-decoder",
        model_types=("modernbert-decoder",),
        task="generation",
        attention=AttentionBlock(),
        head_transform=True,
        head_bias=True,
    ),
    tensors={
        **{
            key: f"model.{name}" if key in ("embedding", "embedding_norm", "final_norm") else name
            for key, name in MODERNBERT.tensors.items()
            if key != "attention.query_key_value"
        },
        **{"attention.query": "attn.q_proj", "attention.key": "attn.k_proj", "attention.value": "attn.v_proj"},
        **{"head_transform": "lm_head.dense", "head_norm": "lm_head.norm", "head": "decoder"},
    },
    keys={**MODERNBERT.keys, "pooler_activation": "classifier_activation"},
    defaults={
        **{key: value for key, value in MODERNBERT.defaults.items() if key != "classifier_pooling"},
        "decoder_bias": True,
    },
    biases=MODERNBERT_BLOCKS,
    window="half",
    variants=(("norm_bias", True, {"norm_bias": True}), ("decoder_bias", False, {"head_bias": False})),
    # The window that follows from local_attention.
    unread=words("initializer_cutoff_factor position_embedding_type sliding_window"),
)

FAMILIES = (STABLELM, NEMOTRON, OLMO, COHERE2, JAIS2, PERSIMMON, MODERNBERT_DECODER)
