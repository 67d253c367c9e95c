"""BLOOM and MPT: attention with linear biases instead of positions."""

from __future__ import annotations

from moir.architectures.family import Family
from moir.architectures.record import Architecture, AttentionBlock
from moir.architectures.residuals import ATTENTION, FEED_FORWARD, Branch, Residual
from moir.support.tables import words

NORMED_RESIDUALS = (
    Residual((Branch(ATTENTION, "attention_norm"),), adds_normed=True),
    Residual((Branch(FEED_FORWARD, "feed_forward_norm"),), adds_normed=True),
)

BLOOM = Family(
    architecture=Architecture(
        "bloom",
        ("bloom",),
        norm="layer",
        norm_bias=True,
        attention=AttentionBlock(packing="per head", rotation=None, alibi="plain"),
        feed_forward="plain",
        embedding_norm=True,
        takes_positions=False,
    ),
    layer="transformer.h.{}",
    tensors={
        "embedding": "transformer.word_embeddings",
        "embedding_norm": "transformer.word_embeddings_layernorm",
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
    },
    keys={"layers": "n_layer", "heads": "n_head", "key_heads": "n_head", "head_size": "_head_size", "epsilon": "layer_norm_epsilon"},
    aliases={"num_hidden_layers": "n_layer", "num_attention_heads": "n_head", "n_embed": "hidden_size"},
    defaults={
        "vocab_size": 250880,
        "hidden_size": 64,
        "n_layer": 2,
        "n_head": 8,
        "layer_norm_epsilon": 1e-5,
        "apply_residual_connection_post_layernorm": False,
        "tie_word_embeddings": True,
        "_head_size": None,
    },
    # The inner value is always four times as large; the activation is written out in the code of transformers.
    fixed={"feed_forward": 0, "positions": 0, "activation": "gelu_pytorch_tanh"},
    biases={"": "attention.query_key_value attention.output feed_forward.up feed_forward.down"},
    variants=(("apply_residual_connection_post_layernorm", True, {"residuals": NORMED_RESIDUALS}),),
    # Options of Megatron's kernels, and the training's sequence length.
    unread=words(
        "slow_but_exact seq_length n_inner offset_alibi attention_softmax_in_fp32 masked_softmax_fusion bias_dropout_fusion "
        "skip_bias_add skip_bias_add_qkv"
    ),
)

MPT = Family(
    architecture=Architecture(
        "mpt",
        ("mpt",),
        norm="layer",
        attention=AttentionBlock(packing="stacked", rotation=None, alibi="plain"),
        feed_forward="plain",
        takes_positions=False,
    ),
    layer="transformer.blocks.{}",
    tensors={
        "embedding": "transformer.wte",
        "final_norm": "transformer.norm_f",
        "head": "lm_head",
        "attention": "attn",
        "feed_forward": "ffn",
        "attention_norm": "norm_1",
        "feed_forward_norm": "norm_2",
        "attention.query_key_value": "attn.Wqkv",
        "attention.output": "attn.out_proj",
        "feed_forward.up": "ffn.up_proj",
        "feed_forward.down": "ffn.down_proj",
    },
    keys={
        "layers": "n_layers",
        "hidden": "d_model",
        "heads": "n_heads",
        "key_heads": "n_heads",
        "head_size": "_head_size",
        "positions": "max_seq_len",
        "epsilon": "layer_norm_epsilon",
        "clip": "attn_config.clip_qkv",
        "attention_scale": "attn_config.softmax_scale",
    },
    aliases={"num_hidden_layers": "n_layers", "num_attention_heads": "n_heads", "hidden_size": "d_model"},
    sizes={"alibi_bias": "attn_config.alibi_bias_max"},
    tables=("attn_config",),
    defaults={
        "vocab_size": 50368,
        "d_model": 2048,
        "n_layers": 24,
        "n_heads": 16,
        "max_seq_len": 2048,
        "layer_norm_epsilon": 1e-5,
        "tie_word_embeddings": True,
        "attn_config.alibi_bias_max": 8,
        "attn_config.clip_qkv": None,
        "attn_config.softmax_scale": None,
        "_head_size": None,
    },
    # The inner value is always four times as large; the activation is written out in the code of transformers.
    fixed={"feed_forward": 0, "activation": "gelu"},
    expected={
        "expansion_ratio": 4,
        "no_bias": True,
        "logit_scale": None,
        "attn_config.alibi": True,
        "attn_config.attn_type": "multihead_attention",
        "attn_config.prefix_lm": False,
        "attn_config.qk_ln": False,
    },
    # Keys about the original implementation, and keys that only training uses.
    unread=words(
        "emb_pdrop embedding_fraction init_device init_config learned_pos_emb norm_type verbose tokenizer_name attn_config.attn_impl "
        "attn_config.attn_uses_sequence_id"
    ),
)

FAMILIES = (BLOOM, MPT)
