"""Llama and the families that differ from it in few points."""

from __future__ import annotations

from moir.architectures.family import Family
from moir.architectures.record import Architecture

TENSORS = {
    "embedding": "model.embed_tokens",
    "final_norm": "model.norm",
    "head": "lm_head",
    "attention": "self_attn",
    "feed_forward": "mlp",
    "attention_norm": "input_layernorm",
    "feed_forward_norm": "post_attention_layernorm",
    "attention.query": "self_attn.q_proj",
    "attention.key": "self_attn.k_proj",
    "attention.value": "self_attn.v_proj",
    "attention.output": "self_attn.o_proj",
    "feed_forward.gate": "mlp.gate_proj",
    "feed_forward.up": "mlp.up_proj",
    "feed_forward.down": "mlp.down_proj",
}
"""The tensors of Llama by their operands."""

DEFAULTS: dict[str, object] = {
    "vocab_size": 32000,
    "hidden_size": 4096,
    "intermediate_size": 11008,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": None,
    "hidden_act": "silu",
    "max_position_embeddings": 2048,
    "rms_norm_eps": 1e-6,
    "tie_word_embeddings": False,
    "rope_theta": 10000.0,
    "attention_bias": False,
    "mlp_bias": False,
    "head_dim": None,
}
"""The values of Llama's keys that a file may leave out."""

PROJECTIONS = "attention.query attention.key attention.value"

LLAMA = Family(
    architecture=Architecture("llama", ("llama",)),
    tensors=TENSORS,
    defaults=DEFAULTS,
    biases={"attention_bias": f"{PROJECTIONS} attention.output", "mlp_bias": "feed_forward.gate feed_forward.up feed_forward.down"},
    ignored_tensors=("model.layers.{}.self_attn.rotary_emb.inv_freq",),
)

FAMILIES = (LLAMA,)
