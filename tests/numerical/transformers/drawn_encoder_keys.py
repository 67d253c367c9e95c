"""The keys of config.json that `drawn_models.py` draws for each encoder, with their values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.numerical.transformers.drawn_keys import GROUPS, SIZES

ENCODER = {**SIZES, "type_vocab_size": [2], "num_labels": [1, 3]}

DEBERTA = {
    **{**ENCODER, "type_vocab_size": [0, 2], "relative_attention": [True, True, True, False], "position_biased_input": [True, False]},
    "pos_att_type": [["c2p", "p2c"], ["p2c", "c2p"], ["c2p"], ["p2c"], "c2p|p2c"],
}

ENCODERS: Mapping[str, Mapping[str, list[Any]]] = {
    "bert": ENCODER,
    "roberta": ENCODER,
    "xlm-roberta": ENCODER,
    "camembert": ENCODER,
    "distilbert": {"vocab_size": [64], "dim": [32], "n_layers": [2], "n_heads": [4], "hidden_dim": [48], "num_labels": [1, 3]},
    "modernbert": {
        **SIZES,
        **{"local_attention": [4, 6], "global_attn_every_n_layers": [2, 3], "attention_bias": [True, False]},
        **{"mlp_bias": [True, False], "norm_bias": [True, False], "classifier_pooling": ["cls", "mean"], "classifier_bias": [True, False]},
    },
    "electra": {**ENCODER, "embedding_size": [32, 24]},
    "mpnet": {**SIZES, "num_labels": [1, 3], "pad_token_id": [1]},
    "roformer": {**ENCODER, "embedding_size": [32, 24]},
    "nomic_bert": ENCODER,
    "data2vec-text": ENCODER,
    "roberta-prelayernorm": ENCODER,
    "xlm-roberta-xl": ENCODER,
    "megatron-bert": ENCODER,
    "ernie": {**ENCODER, "use_task_id": [True, False]},
    "albert": {**ENCODER, "embedding_size": [24, 32], "num_hidden_groups": [1, 2], "num_hidden_layers": [2, 4]},
    "rembert": {**ENCODER, "input_embedding_size": [24, 32], "output_embedding_size": [40]},
    "luke": {**ENCODER, "entity_vocab_size": [16], "entity_emb_size": [16], "use_entity_aware_attention": [True, False]},
    "jina_embeddings_v3": {
        **ENCODER,
        "type_vocab_size": [1, 2],
        "rope_parameters": [None, {"rope_type": "linear", "factor": 2.0, "rope_theta": 5e3}],
    },
    "gte": {**ENCODER, "type_vocab_size": [0, 1, 2]},
    "deberta-v2": {
        **DEBERTA,
        **{"position_buckets": [-1, 8, 4], "max_relative_positions": [-1, 10], "share_att_key": [True, False]},
        **{"norm_rel_ebd": ["none", "layer_norm"], "pooler_hidden_act": ["gelu", "tanh"]},
    },
    "deberta": {**DEBERTA, "max_relative_positions": [-1, 4, 10]},
    "eurobert": {
        **GROUPS,
        "attention_bias": [True, False],
        "mlp_bias": [True, False],
        "classifier_pooling": ["bos", "mean", "late"],
        "num_labels": [1, 3],
    },
}
"""Those of each family."""
