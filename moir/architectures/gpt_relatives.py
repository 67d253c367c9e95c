"""Decoders that are older than GPT-2 or of its time: GPT, BioGPT, XGLM."""

from __future__ import annotations

from moir.architectures.family import Family
from moir.architectures.gpt import GPT2, NETWORK, OPT
from moir.architectures.residuals import POST_NORM
from moir.support.tables import words

BLOCKS = f"attention.query attention.key attention.value attention.output {NETWORK}"

GPT = Family(
    architecture=GPT2.architecture.with_fields(name="openai-gpt", model_types=("openai-gpt",), residuals=POST_NORM, final_norm=False),
    layer=GPT2.layer,
    transposed=True,
    tensors={**GPT2.tensors, "embedding": "transformer.tokens_embed", "positions": "transformer.positions_embed"},
    keys={**GPT2.keys, "activation": "afn", "feed_forward": "_feed_forward"},
    aliases=GPT2.aliases,
    defaults={**GPT2.defaults, "vocab_size": 40478, "n_positions": 512, "afn": "gelu", "_feed_forward": None},
    biases=GPT2.biases,
    # Transformers computes the approximation by tanh.
    variants=(("afn", "gelu", {"activation": "gelu_new"}),),
    unread=words("n_special predict_special_tokens n_ctx"),
    ignored_tensors=(*GPT2.ignored_tensors, "transformer.position_ids"),
)

BIOGPT = Family(
    architecture=OPT.architecture.with_fields(name="biogpt", model_types=("biogpt",), learned_positions="input", takes_positions=True),
    layer="biogpt.layers.{}",
    tensors={
        "embedding": "biogpt.embed_tokens",
        "positions": "biogpt.embed_positions",
        "final_norm": "biogpt.layer_norm",
        "head": "output_projection",
        **{name: tensor for name, tensor in OPT.tensors.items() if name.startswith(("attention", "feed_forward"))},
    },
    keys={"key_heads": "num_attention_heads", "head_size": "_head_size", "epsilon": "_epsilon"},
    defaults={
        "vocab_size": 42384,
        "hidden_size": 1024,
        "num_hidden_layers": 24,
        "num_attention_heads": 16,
        "intermediate_size": 4096,
        "hidden_act": "gelu",
        "max_position_embeddings": 1024,
        "scale_embedding": True,
        "tie_word_embeddings": True,
        "_head_size": None,
        "_epsilon": 1e-5,
    },
    biases={"": BLOCKS},
    variants=(("scale_embedding", True, {"roots": {"embedding_scale": "hidden_size"}}),),
    # Transformers takes the usual epsilon whatever this key says.
    unread=words("layer_norm_eps"),
)

XGLM = Family(
    architecture=BIOGPT.architecture.with_fields(name="xglm", model_types=("xglm",), has_sinusoidal_positions=True),
    layer="model.layers.{}",
    tensors={
        **BIOGPT.tensors,
        **{"embedding": "model.embed_tokens", "positions": "model.embed_positions", "final_norm": "model.layer_norm", "head": "lm_head"},
    },
    keys={
        **{"hidden": "d_model", "layers": "num_layers", "heads": "attention_heads", "key_heads": "attention_heads"},
        **{"feed_forward": "ffn_dim", "activation": "activation_function", "padding": "pad_token_id"},
        **{"head_size": "_head_size", "epsilon": "_epsilon"},
    },
    defaults={
        "vocab_size": 256008,
        "max_position_embeddings": 2048,
        "d_model": 1024,
        "ffn_dim": 4096,
        "num_layers": 24,
        "attention_heads": 16,
        "activation_function": "gelu",
        "scale_embedding": True,
        "tie_word_embeddings": True,
        "pad_token_id": 1,
        "_head_size": None,
        "_epsilon": 1e-5,
    },
    biases=BIOGPT.biases,
    variants=(("scale_embedding", True, {"roots": {"embedding_scale": "d_model"}}),),
    unread=words("init_std"),
    ignored_tensors=("model.embed_positions.weights",),
)

FAMILIES = (GPT, BIOGPT, XGLM)
