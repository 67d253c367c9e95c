"""More encoders: ELECTRA, MPNet, Nomic BERT."""

from __future__ import annotations

from moir.architectures.encoders.bert import BERT, BLOCKS, CLASSIFICATION, DEFAULTS, TENSORS, encoder
from moir.architectures.family import Family
from moir.architectures.record import AttentionBlock
from moir.support.tables import words

HEAD_OF_FIRST = {"pooler": "classifier.dense", "classifier": "classifier.out_proj"}

ELECTRA = BERT.with_fields(
    architecture=encoder("electra", ("electra",), "row").with_fields(projects_last=True),
    prefixes=("electra.",),
    tensors={**TENSORS, "embedding_projection": "embeddings_project"},
    keys={**BERT.keys, "embedding_size": "embedding_size"},
    defaults={**DEFAULTS, "embedding_size": 128, "hidden_size": 256, "num_attention_heads": 4, "intermediate_size": 1024},
    biases={"": f"{BLOCKS} embedding_projection"},
    variants=(
        (
            "architectures",
            ["ElectraForSequenceClassification"],
            {
                "task": CLASSIFICATION,
                "pooler_activation": "gelu",
                "tensors": {**TENSORS, **HEAD_OF_FIRST, "embedding_projection": "embeddings_project"},
                "biases": {"": f"{BLOCKS} embedding_projection pooler classifier"},
                "ignored_tensors": ("embeddings.position_ids",),
            },
        ),
    ),
    unread=BERT.unread | words("summary_last_dropout"),
    ignored_tensors=(*BERT.ignored_tensors, "generator_predictions.*", "generator_lm_head.*", "discriminator_predictions.*"),
)

MPNET_TENSORS = {
    **TENSORS,
    "position_bias": "encoder.relative_attention_bias",
    "attention_norm": "attention.LayerNorm",
    "attention.query": "attention.attn.q",
    "attention.key": "attention.attn.k",
    "attention.value": "attention.attn.v",
    "attention.output": "attention.attn.o",
}

MPNET = BERT.with_fields(
    architecture=encoder("mpnet", ("mpnet",), "unpadded").with_fields(attention=AttentionBlock(rotation=None, has_position_bias=True)),
    prefixes=("mpnet.",),
    tensors=MPNET_TENSORS,
    keys={key: value for key, value in BERT.keys.items() if key != "types"},
    # The token of padding is 1 whatever pad_token_id says.
    fixed={"padding": 1},
    sizes={"position_buckets": "relative_attention_num_buckets"},
    defaults={**DEFAULTS, "vocab_size": 30527, "relative_attention_num_buckets": 32},
    variants=(
        (
            "architectures",
            ["MPNetForSequenceClassification"],
            {
                "task": CLASSIFICATION,
                "tensors": {**MPNET_TENSORS, **HEAD_OF_FIRST},
                "biases": {"": f"{BLOCKS} pooler classifier"},
                "ignored_tensors": ("embeddings.position_ids",),
            },
        ),
    ),
    expected={"relative_attention_num_buckets": 32},
    unread=BERT.unread | words("type_vocab_size"),
)

NOMIC_TENSORS = {
    "embedding": "embeddings.word_embeddings",
    "types": "embeddings.token_type_embeddings",
    "embedding_norm": "emb_ln",
    "attention": "attn",
    "feed_forward": "mlp",
    "attention_norm": "norm1",
    "feed_forward_norm": "norm2",
    "attention.query_key_value": "attn.Wqkv",
    "attention.output": "attn.out_proj",
    "feed_forward.up": "mlp.fc11",
    "feed_forward.gate": "mlp.fc12",
    "feed_forward.down": "mlp.fc2",
}

NOMIC_BERT = Family(
    architecture=encoder("nomic_bert", ("nomic_bert",), None).with_fields(
        attention=AttentionBlock(packing="stacked"), feed_forward="gated"
    ),
    layer="encoder.layers.{}",
    prefixes=("nomic_bert.", "bert."),
    tensors=NOMIC_TENSORS,
    keys={"key_heads": "num_attention_heads", "epsilon": "layer_norm_eps", "types": "type_vocab_size"},
    aliases={
        **{"n_embd": "hidden_size", "n_head": "num_attention_heads", "n_inner": "intermediate_size", "n_layer": "num_hidden_layers"},
        **{"n_positions": "max_position_embeddings", "layer_norm_epsilon": "layer_norm_eps", "rotary_emb_base": "rope_theta"},
        "activation_function": "hidden_act",
    },
    defaults={
        **{key: value for key, value in DEFAULTS.items() if key != "_head_size"},
        "vocab_size": 30528,
        "hidden_act": "silu",
        "max_position_embeddings": 2048,
        "rope_theta": 1000.0,
        "head_dim": None,
    },
    variants=(
        ("hidden_act", "swiglu", {"activation": "silu"}),
        (
            "architectures",
            ["NomicBertForSequenceClassification"],
            {
                "task": CLASSIFICATION,
                "tensors": {**NOMIC_TENSORS, "pooler": "pooler.dense", "classifier": "classifier"},
                "biases": {"": "pooler classifier"},
                "ignored_tensors": (),
            },
        ),
    ),
    expected={
        **{"rotary_emb_fraction": 1.0, "rotary_emb_interleaved": False, "rotary_scaling_factor": None, "rotary_emb_scale_base": None},
        **{"scale_attn_weights": True, "prenorm": False, "qkv_proj_bias": False, "mlp_fc1_bias": False, "mlp_fc2_bias": False},
    },
    # Options of kernels, of the training, and of padded tables, which the file contains.
    unread=words(
        "dense_seq_output fused_bias_fc fused_dropout_add_ln max_trained_positions pad_vocab_size_multiple use_xentropy pad_token_id "
        "position_embedding_type"
    ),
    ignored_tensors=BERT.ignored_tensors,
)

ROFORMER_TENSORS = {key: name for key, name in TENSORS.items() if key != "positions"} | {"embedding_projection": "embeddings_project"}

ROFORMER = BERT.with_fields(
    architecture=encoder("roformer", ("roformer",), None).with_fields(attention=AttentionBlock(rotation="interleaved"), projects_last=True),
    prefixes=("roformer.",),
    tensors=ROFORMER_TENSORS,
    keys={**BERT.keys, "embedding_size": "embedding_size"},
    defaults={**DEFAULTS, "vocab_size": 50000, "embedding_size": None, "max_position_embeddings": 1536, "rope_theta": 10000.0},
    biases={"": f"{BLOCKS} embedding_projection"},
    variants=(
        (
            "architectures",
            ["RoFormerForSequenceClassification"],
            {
                "task": CLASSIFICATION,
                "keys": {**BERT.keys, "embedding_size": "embedding_size", "pooler_activation": "hidden_act"},
                "tensors": {**ROFORMER_TENSORS, **HEAD_OF_FIRST},
                "biases": {"": f"{BLOCKS} embedding_projection pooler classifier"},
                "ignored_tensors": ("encoder.embed_positions.*",),
            },
        ),
    ),
    expected={"rotary_value": False},
    ignored_tensors=(*BERT.ignored_tensors, "encoder.embed_positions.*"),
)

FAMILIES = (ELECTRA, MPNET, NOMIC_BERT, ROFORMER)
