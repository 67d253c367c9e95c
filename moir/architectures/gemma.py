"""Gemma: weights of normalizations are stored less 1, embeddings are scaled by the root of their size."""

from __future__ import annotations

from moir.architectures.family import Family
from moir.architectures.llama import DEFAULTS, PROJECTIONS, TENSORS
from moir.architectures.llama_variants import QUERY_NORMS
from moir.architectures.record import Architecture, AttentionBlock
from moir.architectures.residuals import SANDWICH_NORM
from moir.support.tables import words

GEMMA_DEFAULTS: dict[str, object] = {
    **DEFAULTS,
    "vocab_size": 256000,
    "hidden_size": 3072,
    "intermediate_size": 24576,
    "num_hidden_layers": 28,
    "num_attention_heads": 16,
    "num_key_value_heads": 16,
    "head_dim": 256,
    "hidden_activation": "gelu_pytorch_tanh",
    "max_position_embeddings": 8192,
    "tie_word_embeddings": True,
    "use_bidirectional_attention": None,
}

BIASES = {"attention_bias": f"{PROJECTIONS} attention.output"}

SANDWICH_TENSORS = {
    **TENSORS,
    "attention_output_norm": "post_attention_layernorm",
    "feed_forward_norm": "pre_feedforward_layernorm",
    "feed_forward_output_norm": "post_feedforward_layernorm",
}

GEMMA = Family(
    architecture=Architecture("gemma", ("gemma",), norm_offset=1.0),
    tensors=TENSORS,
    defaults={**GEMMA_DEFAULTS, "hidden_act": "gelu_pytorch_tanh"},
    # Published files name the exact GELU, but the models are trained with the approximation by tanh.
    variants=(("hidden_act", "gelu", {"activation": "gelu_pytorch_tanh"}),),
    biases=BIASES,
    roots={"embedding_scale": "hidden_size"},
    unread=words("hidden_activation"),
)

GEMMA2 = Family(
    architecture=Architecture("gemma2", ("gemma2",), residuals=SANDWICH_NORM, norm_offset=1.0),
    tensors=SANDWICH_TENSORS,
    keys={"activation": "hidden_activation", "attention_cap": "attn_logit_softcapping", "logits_cap": "final_logit_softcapping"},
    defaults={
        **GEMMA_DEFAULTS,
        "hidden_size": 2304,
        "intermediate_size": 9216,
        "num_hidden_layers": 26,
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
        "query_pre_attn_scalar": 256,
        "sliding_window": 4096,
        "attn_logit_softcapping": 50.0,
        "final_logit_softcapping": 30.0,
    },
    biases=BIASES,
    window="alternating",
    roots={"embedding_scale": "hidden_size"},
    inverse_roots={"attention_scale": "query_pre_attn_scalar"},
    unread=words("hidden_act"),
)

GEMMA3 = Family(
    architecture=GEMMA2.architecture.with_fields(
        name="gemma3_text", model_types=("gemma3_text",), attention=AttentionBlock(query_norm="head")
    ),
    tensors={**SANDWICH_TENSORS, **QUERY_NORMS},
    keys={**GEMMA2.keys, "local_theta": "rope_local_base_freq"},
    defaults={
        **GEMMA2.defaults,
        "vocab_size": 262208,
        "max_position_embeddings": 131072,
        "rope_theta": 1000000.0,
        "rope_local_base_freq": 10000.0,
        "attn_logit_softcapping": None,
        "final_logit_softcapping": None,
        "sliding_window_pattern": 6,
    },
    biases=BIASES,
    window="pattern",
    roots=GEMMA2.roots,
    inverse_roots=GEMMA2.inverse_roots,
    unread=words("hidden_act sliding_window_pattern _sliding_window_pattern"),
)

VAULTGEMMA = GEMMA2.with_fields(
    architecture=Architecture("vaultgemma", ("vaultgemma",), norm_offset=1.0),
    tensors={**TENSORS, "feed_forward_norm": "pre_feedforward_layernorm"},
)

FAMILIES = (GEMMA, GEMMA2, GEMMA3, VAULTGEMMA)
