"""Falcon: one head of keys for all queries, or one for each group; both blocks of a layer side by side."""

from __future__ import annotations

from moir.architectures.family import Family
from moir.architectures.record import Architecture, AttentionBlock
from moir.architectures.residuals import PARALLEL, PARALLEL_TWO_NORMS, PRE_NORM
from moir.support.tables import words

TENSORS = {
    "embedding": "transformer.word_embeddings",
    "final_norm": "transformer.ln_f",
    "head": "lm_head",
    "attention": "self_attention",
    "feed_forward": "mlp",
    "attention_norm": "input_layernorm",
    "feed_forward_norm": "post_attention_layernorm",
    "attention.query_key_value": "self_attention.query_key_value",
    "attention.output": "self_attention.dense",
    "feed_forward.up": "mlp.dense_h_to_4h",
    "feed_forward.down": "mlp.dense_4h_to_h",
}

TWO_NORMS = {**TENSORS, "attention_norm": "ln_attn", "feed_forward_norm": "ln_mlp"}

KEYS = {
    "key_heads": "num_attention_heads",
    "head_size": "_head_size",
    "feed_forward": "ffn_hidden_size",
    "epsilon": "layer_norm_epsilon",
    "activation": "activation",
}

ONE_KEY_HEAD = {"key_heads": 1}

FALCON = Family(
    architecture=Architecture(
        "falcon",
        ("falcon",),
        norm="layer",
        norm_bias=True,
        residuals=PARALLEL,
        attention=AttentionBlock(packing="stacked"),
        feed_forward="plain",
    ),
    layer="transformer.h.{}",
    tensors=TENSORS,
    keys=KEYS,
    aliases={"n_layer": "num_hidden_layers", "n_head": "num_attention_heads", "n_head_kv": "num_kv_heads"},
    defaults={
        "vocab_size": 65024,
        "hidden_size": 4544,
        "num_hidden_layers": 32,
        "num_attention_heads": 71,
        "num_kv_heads": None,
        "ffn_hidden_size": None,
        "layer_norm_epsilon": 1e-5,
        "activation": "gelu",
        "multi_query": True,
        "parallel_attn": True,
        "bias": False,
        "new_decoder_architecture": False,
        "num_ln_in_parallel_attn": None,
        "max_position_embeddings": 2048,
        "tie_word_embeddings": True,
        "_head_size": None,
    },
    fixed=ONE_KEY_HEAD,
    biases={"bias": "attention.query_key_value attention.output feed_forward.up feed_forward.down"},
    variants=(
        ("multi_query", False, {"attention.packing": "per head", "fixed": {}}),
        ("parallel_attn", False, {"residuals": PRE_NORM}),
        (
            "new_decoder_architecture",
            True,
            {
                "attention.packing": "per group",
                "residuals": PARALLEL_TWO_NORMS,
                "tensors": TWO_NORMS,
                "fixed": {},
                "keys": {**KEYS, "key_heads": "num_kv_heads"},
            },
        ),
        ("num_ln_in_parallel_attn", 1, {"residuals": PARALLEL, "tensors": TENSORS}),
        ("alibi", True, {"attention.alibi": "scaled", "attention.rotation": None, "takes_positions": False}),
    ),
    # The number of heads of keys is that of the queries, or 1, unless the architecture is the new one; models with
    # linear biases have no rotations.
    unread=words("num_kv_heads rope_theta rope_scaling rope_parameters"),
    ignored_tensors=("transformer.h.{}.self_attention.rotary_emb.inv_freq",),
)

FAMILIES = (FALCON,)
