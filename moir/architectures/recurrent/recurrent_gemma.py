"""RecurrentGemma: gated recurrences between attentions with windows (Griffin)."""

from __future__ import annotations

from moir.architectures.family import Family
from moir.architectures.llama import DEFAULTS, PROJECTIONS
from moir.architectures.record import Architecture
from moir.support.tables import words

RECURRENT_GEMMA = Family(
    architecture=Architecture("recurrent_gemma", ("recurrent_gemma",), norm_offset=1.0),
    tensors={
        "embedding": "model.embed_tokens",
        "final_norm": "model.final_norm",
        "head": "lm_head",
        "attention": "temporal_block",
        "feed_forward": "mlp_block",
        "attention_norm": "temporal_pre_norm",
        "feed_forward_norm": "channel_pre_norm",
        "attention.query": "temporal_block.q_proj",
        "attention.key": "temporal_block.k_proj",
        "attention.value": "temporal_block.v_proj",
        "attention.output": "temporal_block.o_proj",
        "recurrence": "temporal_block.rg_lru",
        "recurrence.gates": "temporal_block.linear_y",
        "recurrence.values": "temporal_block.linear_x",
        "recurrence.output": "temporal_block.linear_out",
        "recurrence.input_weight": "temporal_block.rg_lru.input_gate_weight",
        "recurrence.input_bias": "temporal_block.rg_lru.input_gate_bias",
        "recurrence.recurrence_weight": "temporal_block.rg_lru.recurrent_gate_weight",
        "recurrence.recurrence_bias": "temporal_block.rg_lru.recurrent_gate_bias",
        "recurrence.decay": "temporal_block.rg_lru.recurrent_param",
        "convolution.kernel": "temporal_block.conv_1d",
        "feed_forward.gate": "mlp_block.gate_proj",
        "feed_forward.up": "mlp_block.up_proj",
        "feed_forward.down": "mlp_block.down_proj",
    },
    keys={"activation": "hidden_activation", "logits_cap": "logits_soft_cap"},
    aliases={"attention_window_size": "sliding_window", "_block_types": "block_types"},
    halves=("feed_forward",),
    rounded_roots={"embedding_scale": "hidden_size"},
    sizes={"kernel": "conv1d_width", "features": "lru_width"},
    optional_sizes=("features",),
    defaults={
        **{key: value for key, value in DEFAULTS.items() if key not in ("hidden_act", "mlp_bias")},
        "vocab_size": 256000,
        "hidden_size": 2560,
        "intermediate_size": 7680,
        "num_hidden_layers": 26,
        "num_attention_heads": 10,
        # The model has no learned positions, and config.json no length.
        "max_position_embeddings": 8192,
        "hidden_activation": "gelu_pytorch_tanh",
        "lru_width": None,
        "sliding_window": 2048,
        "conv1d_width": 4,
        "logits_soft_cap": 30.0,
        "partial_rotary_factor": 0.5,
        "block_types": ("recurrent", "recurrent", "attention"),
        "tie_word_embeddings": True,
    },
    biases={
        "": "attention.output convolution.kernel recurrence.gates recurrence.values recurrence.output "
        "feed_forward.gate feed_forward.up feed_forward.down",
        "attention_bias": PROJECTIONS,
    },
    window="all",
    other_block="gated recurrence",
    attention_layers="block_types",
    expected={"embeddings_scale_by_sqrt_dim": True},
    # The initialization of the training, and the kinds of layers.
    unread=words("w_init_variance_scale final_w_init_variance_scale block_types"),
)

FAMILIES = (RECURRENT_GEMMA,)
