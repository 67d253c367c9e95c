"""DeBERTa and DeBERTa V2 and V3: the scores of attentions depend on distances, by the content of query and key."""

from __future__ import annotations

from itertools import permutations
from typing import Any

from moir.architectures.encoders.bert import BERT, BLOCKS, CLASSIFICATION, DEFAULTS, TENSORS, encoder
from moir.architectures.record import AttentionBlock
from moir.support.tables import words

HEAD = {"pooler": "pooler.dense", "classifier": "classifier"}

FURTHER_TENSORS = {"distances": "encoder.rel_embeddings", "distance_norm": "encoder.LayerNorm"}

V2_TENSORS = {
    **{**TENSORS, **FURTHER_TENSORS},
    **{"attention.query": "attention.self.query_proj", "attention.key": "attention.self.key_proj"},
    **{"attention.value": "attention.self.value_proj", "attention.distance_key": "attention.self.pos_key_proj"},
    **{"attention.distance_query": "attention.self.pos_query_proj", "embedding_projection": "embeddings.embed_proj"},
}

V2_BLOCKS = f"{BLOCKS} attention.distance_key attention.distance_query"

V1_TENSORS = {
    **{**TENSORS, **FURTHER_TENSORS},
    **{"attention.query_key_value": "attention.self.in_proj", "attention.query_bias": "attention.self.q_bias"},
    **{"attention.value_bias": "attention.self.v_bias", "attention.distance_key": "attention.self.pos_proj"},
    **{"attention.distance_query": "attention.self.pos_q_proj", "embedding_projection": "embeddings.embed_proj"},
}

V1_BLOCKS = "attention.output feed_forward.up feed_forward.down attention.distance_query"


def variants(name: str, tensors: dict[str, str], blocks: str) -> tuple[tuple[str, object, dict[str, Any]], ...]:
    """The entries of `Family.variants`: the terms of the scores, and models that classify.

    Args:
        name: the class in config.json of models that classify.
        tensors: the tensors by operand.
        blocks: the operands that have biases.
    """
    terms: list[tuple[str, object, dict[str, Any]]] = []
    for each in (*permutations(("c2p", "p2c"), 1), *permutations(("c2p", "p2c"), 2)):
        changes = {"attention.distance_terms": frozenset(each)}
        terms += [("pos_att_type", list(each), changes), ("pos_att_type", "|".join(each), changes)]
    return (
        *terms,
        ("relative_attention", False, {"has_distances": False}),
        ("norm_rel_ebd", "layer_norm", {"distance_norm": True}),
        ("position_biased_input", False, {"learned_positions": None}),
        (
            "architectures",
            [name],
            {
                "task": CLASSIFICATION,
                "tensors": {**tensors, **HEAD},
                "biases": {"": f"{blocks} pooler classifier"},
                "ignored_tensors": ("embeddings.position_ids",),
            },
        ),
    )


IGNORED_TENSORS = (*BERT.ignored_tensors, "lm_predictions.*", "mask_predictions.*", "deberta.embeddings.position_ids")

DEBERTA_V2 = BERT.with_fields(
    architecture=encoder("deberta-v2", ("deberta-v2",), "row"),
    prefixes=("deberta.",),
    tensors=V2_TENSORS,
    keys={
        **BERT.keys,
        **{"head_size": "attention_head_size", "embedding_size": "embedding_size", "pooler_activation": "pooler_hidden_act"},
    },
    has_distances=True,
    defaults={
        **{key: value for key, value in DEFAULTS.items() if key != "_head_size"},
        **{"vocab_size": 128100, "hidden_size": 1536, "num_hidden_layers": 24, "num_attention_heads": 24, "intermediate_size": 6144},
        **{"type_vocab_size": 0, "layer_norm_eps": 1e-7, "relative_attention": False, "max_relative_positions": -1},
        **{"position_biased_input": True, "pos_att_type": None, "pooler_hidden_act": "gelu", "position_buckets": -1},
        **{"norm_rel_ebd": "none", "share_att_key": False, "attention_head_size": None, "embedding_size": None},
    },
    biases={"": V2_BLOCKS},
    variants=(
        *variants("DebertaV2ForSequenceClassification", V2_TENSORS, V2_BLOCKS),
        ("share_att_key", False, {"attention.distance_projections": "own"}),
        ("share_att_key", None, {"attention.distance_projections": "own"}),
    ),
    expected={"conv_kernel_size": 0},
    unread=BERT.unread | words("pooler_dropout pooler_hidden_size pos_att_type conv_act legacy position_buckets max_relative_positions"),
    ignored_tensors=IGNORED_TENSORS,
)

DEBERTA = DEBERTA_V2.with_fields(
    architecture=encoder("deberta", ("deberta",), "row").with_fields(
        attention=AttentionBlock(rotation=None, packing="per head", query_value_bias=True, distance_projections="own")
    ),
    tensors=V1_TENSORS,
    keys={**DEBERTA_V2.keys, "head_size": "_head_size"},
    defaults={
        **{**DEBERTA_V2.defaults, **DEFAULTS, "vocab_size": 50265, "type_vocab_size": 0, "layer_norm_eps": 1e-7},
    },
    biases={"": V1_BLOCKS},
    variants=variants("DebertaForSequenceClassification", V1_TENSORS, V1_BLOCKS),
    expected={"talking_head": False, "position_buckets": -1},
    unread=DEBERTA_V2.unread | words("share_att_key norm_rel_ebd"),
)

FAMILIES = (DEBERTA_V2, DEBERTA)
