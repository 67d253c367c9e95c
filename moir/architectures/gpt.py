"""GPT-2, GPT BigCode, GPT-NeoX, GPT-J and OPT: layer normalizations and biases."""

from __future__ import annotations

from moir.architectures.family import Family
from moir.architectures.record import Architecture, AttentionBlock
from moir.architectures.residuals import PARALLEL, PARALLEL_TWO_NORMS, POST_NORM
from moir.support.tables import words

NETWORK = "feed_forward.up feed_forward.down"

GPT2 = Family(
    architecture=Architecture(
        "gpt2",
        ("gpt2",),
        norm="layer",
        norm_bias=True,
        attention=AttentionBlock(packing="stacked", rotation=None),
        feed_forward="plain",
        learned_positions="input",
    ),
    layer="transformer.h.{}",
    tensors={
        "embedding": "transformer.wte",
        "positions": "transformer.wpe",
        "final_norm": "transformer.ln_f",
        "head": "lm_head",
        "attention": "attn",
        "feed_forward": "mlp",
        "attention_norm": "ln_1",
        "feed_forward_norm": "ln_2",
        "attention.query_key_value": "attn.c_attn",
        "attention.output": "attn.c_proj",
        "feed_forward.up": "mlp.c_fc",
        "feed_forward.down": "mlp.c_proj",
    },
    keys={
        "layers": "n_layer",
        "hidden": "n_embd",
        "heads": "n_head",
        "key_heads": "n_head",
        "head_size": "_head_size",
        "feed_forward": "n_inner",
        "positions": "n_positions",
        "epsilon": "layer_norm_epsilon",
        "activation": "activation_function",
        "scales_by_layer": "scale_attn_by_inverse_layer_idx",
    },
    defaults={
        "vocab_size": 50257,
        "n_positions": 1024,
        "n_embd": 768,
        "n_layer": 12,
        "n_head": 12,
        "n_inner": None,
        "_head_size": None,
        "activation_function": "gelu_new",
        "layer_norm_epsilon": 1e-5,
        "scale_attn_by_inverse_layer_idx": False,
        "tie_word_embeddings": True,
    },
    biases={"": f"attention.query_key_value attention.output {NETWORK}"},
    transposed=True,
    ignored_tensors=("transformer.h.{}.attn.bias", "transformer.h.{}.attn.masked_bias"),
    # `scale_attn_weights` is handled as a variant; upcast attention changes the order of operations, not the result in
    # f32.
    unread=words("reorder_and_upcast_attn n_ctx scale_attn_weights"),
    variants=(("scale_attn_weights", False, {"attention_scale": 1.0}),),
)

GPT_BIGCODE = GPT2.with_fields(
    architecture=GPT2.architecture.with_fields(name="gpt_bigcode", model_types=("gpt_bigcode",)),
    keys={**GPT2.keys, "key_heads": "_key_heads"},
    defaults={**GPT2.defaults, "activation_function": "gelu_pytorch_tanh", "multi_query": True, "_key_heads": 1},
    transposed=False,
    variants=(
        *GPT2.variants,
        (
            "multi_query",
            False,
            {"attention": AttentionBlock(packing="per head", rotation=None), "keys": {**GPT2.keys, "key_heads": "n_head"}},
        ),
    ),
    unread=words(
        "attention_softmax_in_fp32 scale_attention_softmax_in_fp32 runner_max_sequence_length inference_runner pad_key_length "
        "pre_allocate_kv_cache validate_runner_input n_ctx num_key_value_heads"
    ),
)

GPT_NEOX = Family(
    architecture=Architecture(
        "gpt_neox",
        ("gpt_neox",),
        norm="layer",
        norm_bias=True,
        residuals=PARALLEL_TWO_NORMS,
        attention=AttentionBlock(packing="per head"),
        feed_forward="plain",
    ),
    layer="gpt_neox.layers.{}",
    tensors={
        "embedding": "gpt_neox.embed_in",
        "final_norm": "gpt_neox.final_layer_norm",
        "head": "embed_out",
        "attention": "attention",
        "feed_forward": "mlp",
        "attention_norm": "input_layernorm",
        "feed_forward_norm": "post_attention_layernorm",
        "attention.query_key_value": "attention.query_key_value",
        "attention.output": "attention.dense",
        "feed_forward.up": "mlp.dense_h_to_4h",
        "feed_forward.down": "mlp.dense_4h_to_h",
    },
    keys={
        "key_heads": "num_attention_heads",
        "head_size": "_head_size",
        "epsilon": "layer_norm_eps",
        "theta": "rotary_emb_base",
        "partial": "rotary_pct",
    },
    defaults={
        "vocab_size": 50432,
        "hidden_size": 6144,
        "num_hidden_layers": 44,
        "num_attention_heads": 64,
        "intermediate_size": 24576,
        "hidden_act": "gelu",
        "rotary_pct": 0.25,
        "rotary_emb_base": 10000,
        "max_position_embeddings": 2048,
        "layer_norm_eps": 1e-5,
        "tie_word_embeddings": False,
        "use_parallel_residual": True,
        "attention_bias": True,
        "_head_size": None,
    },
    biases={"attention_bias": "attention.query_key_value attention.output", "": NETWORK},
    variants=(("use_parallel_residual", False, {"residuals": Architecture("", ()).residuals}),),
    ignored_tensors=(
        "gpt_neox.layers.{}.attention.bias",
        "gpt_neox.layers.{}.attention.masked_bias",
        "gpt_neox.layers.{}.attention.rotary_emb.inv_freq",
    ),
)

GPTJ = Family(
    architecture=Architecture(
        "gptj",
        ("gptj",),
        norm="layer",
        norm_bias=True,
        residuals=PARALLEL,
        attention=AttentionBlock(rotation="interleaved"),
        feed_forward="plain",
        head_bias=True,
    ),
    layer="transformer.h.{}",
    tensors={
        "embedding": "transformer.wte",
        "final_norm": "transformer.ln_f",
        "head": "lm_head",
        "attention": "attn",
        "feed_forward": "mlp",
        "attention_norm": "ln_1",
        "attention.query": "attn.q_proj",
        "attention.key": "attn.k_proj",
        "attention.value": "attn.v_proj",
        "attention.output": "attn.out_proj",
        "feed_forward.up": "mlp.fc_in",
        "feed_forward.down": "mlp.fc_out",
    },
    keys={**GPT2.keys, "rotary_size": "rotary_dim", "scales_by_layer": ""},
    defaults={
        **{key: value for key, value in GPT2.defaults.items() if key != "scale_attn_by_inverse_layer_idx"},
        "vocab_size": 50400,
        "n_positions": 2048,
        "n_embd": 4096,
        "n_layer": 28,
        "n_head": 16,
        "rotary_dim": 64,
        "tie_word_embeddings": False,
    },
    biases={"": NETWORK},
    ignored_tensors=("transformer.h.{}.attn.bias", "transformer.h.{}.attn.masked_bias"),
)

OPT = Family(
    architecture=Architecture(
        "opt",
        ("opt",),
        norm="layer",
        norm_bias=True,
        attention=AttentionBlock(rotation=None),
        feed_forward="plain",
        learned_positions="input",
        positions_offset=2,
    ),
    layer="model.decoder.layers.{}",
    tensors={
        "embedding": "model.decoder.embed_tokens",
        "positions": "model.decoder.embed_positions",
        "final_norm": "model.decoder.final_layer_norm",
        "head": "lm_head",
        "embedding_projection": "model.decoder.project_in",
        "head_projection": "model.decoder.project_out",
        "attention": "self_attn",
        "feed_forward": "fc1",
        "attention_norm": "self_attn_layer_norm",
        "feed_forward_norm": "final_layer_norm",
        "attention.query": "self_attn.q_proj",
        "attention.key": "self_attn.k_proj",
        "attention.value": "self_attn.v_proj",
        "attention.output": "self_attn.out_proj",
        "feed_forward.up": "fc1",
        "feed_forward.down": "fc2",
    },
    keys={
        "key_heads": "num_attention_heads",
        "head_size": "_head_size",
        "feed_forward": "ffn_dim",
        "epsilon": "_epsilon",
        "activation": "activation_function",
        "embedding_size": "word_embed_proj_dim",
    },
    defaults={
        "vocab_size": 50272,
        "hidden_size": 768,
        "num_hidden_layers": 12,
        "ffn_dim": 3072,
        "max_position_embeddings": 2048,
        "do_layer_norm_before": True,
        "_remove_final_layer_norm": False,
        "word_embed_proj_dim": None,
        "num_attention_heads": 12,
        "activation_function": "relu",
        "enable_bias": True,
        "layer_norm_elementwise_affine": True,
        "tie_word_embeddings": True,
        "_head_size": None,
        "_epsilon": 1e-5,
    },
    biases={"enable_bias": f"attention.query attention.key attention.value attention.output {NETWORK}"},
    variants=(
        ("do_layer_norm_before", False, {"residuals": POST_NORM, "final_norm": False}),
        ("_remove_final_layer_norm", True, {"final_norm": False}),
        ("layer_norm_elementwise_affine", False, {"norm_weight": False, "norm_bias": False}),
    ),
    unread=words("init_std"),
)

GPT_NEO = Family(
    architecture=GPT2.architecture.with_fields(name="gpt_neo", model_types=("gpt_neo",), attention=AttentionBlock(rotation=None)),
    layer=GPT2.layer,
    tensors={
        **GPT2.tensors,
        **{
            "attention": "attn.attention",
            "attention.query": "attn.attention.q_proj",
            "attention.key": "attn.attention.k_proj",
            "attention.value": "attn.attention.v_proj",
            "attention.output": "attn.attention.out_proj",
        },
    },
    keys={
        "layers": "num_layers",
        "heads": "num_heads",
        "key_heads": "num_heads",
        "head_size": "_head_size",
        "epsilon": "layer_norm_epsilon",
        "activation": "activation_function",
    },
    defaults={
        "vocab_size": 50257,
        "max_position_embeddings": 2048,
        "hidden_size": 2048,
        "num_layers": 24,
        "num_heads": 16,
        "intermediate_size": None,
        "_head_size": None,
        "activation_function": "gelu_new",
        "layer_norm_epsilon": 1e-5,
        "window_size": 256,
        "attention_types": [[["global", "local"], 12]],
        "tie_word_embeddings": True,
    },
    # The scores are not divided by the root of the size of a head.
    fixed={"attention_scale": 1.0},
    biases={"": f"attention.output {NETWORK}"},
    window="attention types",
    # Redundant: one element a layer for what `attention_types` says of runs of layers.
    unread=words("attention_layers embed_dropout"),
    ignored_tensors=("transformer.h.{}.attn.attention.bias", "transformer.h.{}.attn.attention.masked_bias"),
)

CODEGEN = GPTJ.with_fields(
    architecture=GPTJ.architecture.with_fields(
        name="codegen", model_types=("codegen",), attention=AttentionBlock(packing="four shards", rotation="interleaved")
    ),
    tensors={**GPTJ.tensors, "attention.query_key_value": "attn.qkv_proj"},
    ignored_tensors=("transformer.h.{}.attn.causal_mask",),
    unread=words("n_ctx"),
)

FAMILIES = (GPT2, GPT_BIGCODE, GPT_NEOX, GPTJ, GPT_NEO, CODEGEN, OPT)
