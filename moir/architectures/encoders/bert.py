"""Encoders: BERT and its kin, for embeddings and for the classification of texts.

Without a head the output is the last hidden state of each token; a class `…ForSequenceClassification` in config.json
gives the scores of its labels.
"""

from __future__ import annotations

from collections.abc import Mapping

from moir.architectures.family import Family
from moir.architectures.record import Architecture, AttentionBlock
from moir.architectures.residuals import POST_NORM
from moir.support.tables import words

EMBEDDING, CLASSIFICATION = "embedding", "classification"

BLOCKS = "attention.query attention.key attention.value attention.output feed_forward.up feed_forward.down"

TENSORS = {
    "embedding": "embeddings.word_embeddings",
    "positions": "embeddings.position_embeddings",
    "types": "embeddings.token_type_embeddings",
    "embedding_norm": "embeddings.LayerNorm",
    "attention": "attention",
    "feed_forward": "intermediate",
    "attention_norm": "attention.output.LayerNorm",
    "feed_forward_norm": "output.LayerNorm",
    "attention.query": "attention.self.query",
    "attention.key": "attention.self.key",
    "attention.value": "attention.self.value",
    "attention.output": "attention.output.dense",
    "feed_forward.up": "intermediate.dense",
    "feed_forward.down": "output.dense",
}

DEFAULTS: Mapping[str, object] = {
    "vocab_size": 30522,
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
    "hidden_act": "gelu",
    "max_position_embeddings": 512,
    "type_vocab_size": 2,
    "layer_norm_eps": 1e-12,
    "pad_token_id": 0,
    "tie_word_embeddings": True,
    "_head_size": None,
}

HEADS_OF_OTHERS = ("pooler.*", "cls.*", "lm_head.*", "qa_outputs.*", "embeddings.position_ids")
"""Names of tensors of task heads that are left out of a model, since its output does not depend on them."""


def encoder(name: str, model_types: tuple[str, ...], learned_positions: str | None) -> Architecture:
    """The record of a post-norm encoder like BERT, for embeddings.

    Args:
        name: the name of the architecture.
        model_types: its names in config.json.
        learned_positions: how the table of learned positions is indexed, as in `Architecture`; None without a table.
    """
    return Architecture(
        name,
        model_types,
        task=EMBEDDING,
        residuals=POST_NORM,
        norm="layer",
        norm_bias=True,
        attention=AttentionBlock(rotation=None),
        feed_forward="plain",
        embedding_norm=True,
        final_norm=False,
        learned_positions=learned_positions,
    )


BERT = Family(
    architecture=encoder("bert", ("bert",), "row"),
    layer="encoder.layer.{}",
    prefixes=("bert.",),
    tensors=TENSORS,
    keys={"key_heads": "num_attention_heads", "head_size": "_head_size", "epsilon": "layer_norm_eps", "types": "type_vocab_size"},
    defaults=DEFAULTS,
    biases={"": BLOCKS},
    variants=(
        (
            "architectures",
            ["BertForSequenceClassification"],
            {
                "task": CLASSIFICATION,
                "tensors": {**TENSORS, "pooler": "pooler.dense", "classifier": "classifier"},
                "biases": {"": f"{BLOCKS} pooler classifier"},
                "ignored_tensors": ("embeddings.position_ids",),
            },
        ),
    ),
    # Embeddings of relative positions would be tensors that nothing reads.
    unread=words("position_embedding_type pad_token_id"),
    ignored_tensors=HEADS_OF_OTHERS,
)


def roberta(model_types: tuple[str, ...], classifier: str, defaults: Mapping[str, object]) -> Family:
    """The record of a family like RoBERTa.

    Args:
        model_types: its names in config.json.
        classifier: the class in config.json of models with a classifier.
        defaults: the values of keys that a file leaves out.
    """
    return BERT.with_fields(
        architecture=encoder("roberta", model_types, "unpadded"),
        prefixes=("roberta.",),
        keys={**BERT.keys, "padding": "pad_token_id"},
        defaults={**DEFAULTS, "pad_token_id": 1, **defaults},
        variants=(
            (
                "architectures",
                [classifier],
                {
                    "task": CLASSIFICATION,
                    "tensors": {**TENSORS, "pooler": "classifier.dense", "classifier": "classifier.out_proj"},
                    "biases": {"": f"{BLOCKS} pooler classifier"},
                    "ignored_tensors": ("embeddings.position_ids",),
                },
            ),
        ),
        unread=words("position_embedding_type"),
    )


ROBERTA = roberta(("roberta",), "RobertaForSequenceClassification", {"vocab_size": 50265})
CAMEMBERT = roberta(("camembert",), "CamembertForSequenceClassification", {})
XLM_ROBERTA = roberta(("xlm-roberta",), "XLMRobertaForSequenceClassification", {})

DISTILBERT_TENSORS = {
    "embedding": "embeddings.word_embeddings",
    "positions": "embeddings.position_embeddings",
    "embedding_norm": "embeddings.LayerNorm",
    "attention": "attention",
    "feed_forward": "ffn",
    "attention_norm": "sa_layer_norm",
    "feed_forward_norm": "output_layer_norm",
    "attention.query": "attention.q_lin",
    "attention.key": "attention.k_lin",
    "attention.value": "attention.v_lin",
    "attention.output": "attention.out_lin",
    "feed_forward.up": "ffn.lin1",
    "feed_forward.down": "ffn.lin2",
}

DISTILBERT = Family(
    architecture=encoder("distilbert", ("distilbert",), "row"),
    layer="transformer.layer.{}",
    prefixes=("distilbert.",),
    tensors=DISTILBERT_TENSORS,
    keys={
        "layers": "n_layers",
        "hidden": "dim",
        "heads": "n_heads",
        "key_heads": "n_heads",
        "head_size": "_head_size",
        "feed_forward": "hidden_dim",
        "epsilon": "_epsilon",
        "activation": "activation",
    },
    defaults={
        "vocab_size": 30522,
        "max_position_embeddings": 512,
        "sinusoidal_pos_embds": False,
        "n_layers": 6,
        "n_heads": 12,
        "dim": 768,
        "hidden_dim": 3072,
        "activation": "gelu",
        "tie_word_embeddings": True,
        "_head_size": None,
        "_epsilon": 1e-12,
    },
    biases={"": BLOCKS},
    variants=(
        (
            "architectures",
            ["DistilBertForSequenceClassification"],
            {
                "task": CLASSIFICATION,
                "pooler_activation": "relu",
                "tensors": {**DISTILBERT_TENSORS, "pooler": "pre_classifier", "classifier": "classifier"},
                "biases": {"": f"{BLOCKS} pooler classifier"},
                "ignored_tensors": (),
            },
        ),
    ),
    # The file contains the table of positions, so it does not matter whether it is sinusoidal.
    unread=words("sinusoidal_pos_embds qa_dropout seq_classif_dropout"),
    ignored_tensors=("vocab_transform.*", "vocab_layer_norm.*", "vocab_projector.*", "qa_outputs.*"),
)

MODERNBERT_TENSORS = {
    "embedding": "embeddings.tok_embeddings",
    "embedding_norm": "embeddings.norm",
    "final_norm": "final_norm",
    "attention": "attn",
    "feed_forward": "mlp",
    "attention_norm": "attn_norm",
    "feed_forward_norm": "mlp_norm",
    "attention.query_key_value": "attn.Wqkv",
    "attention.output": "attn.Wo",
    "feed_forward.gate_up": "mlp.Wi",
    "feed_forward.down": "mlp.Wo",
}

MODERNBERT_KEYS = {
    "key_heads": "num_attention_heads",
    "head_size": "_head_size",
    "epsilon": "norm_eps",
    "activation": "hidden_activation",
    "theta": "global_rope_theta",
    "local_theta": "local_rope_theta",
}

MODERNBERT_BIASES = {"attention_bias": "attention.query_key_value attention.output", "mlp_bias": "feed_forward.gate_up feed_forward.down"}

MODERNBERT = Family(
    architecture=Architecture(
        "modernbert",
        ("modernbert",),
        task=EMBEDDING,
        norm="layer",
        attention=AttentionBlock(packing="stacked"),
        feed_forward="packed",
        embedding_norm=True,
        first_norm=False,
    ),
    layer="layers.{}",
    prefixes=("model.",),
    tensors=MODERNBERT_TENSORS,
    keys=MODERNBERT_KEYS,
    defaults={
        "vocab_size": 50368,
        "hidden_size": 768,
        "intermediate_size": 1152,
        "num_hidden_layers": 22,
        "num_attention_heads": 12,
        "hidden_activation": "gelu",
        "max_position_embeddings": 8192,
        "norm_eps": 1e-5,
        "norm_bias": False,
        "global_rope_theta": 160000.0,
        "local_rope_theta": 10000.0,
        "global_attn_every_n_layers": 3,
        "classifier_pooling": "cls",
        "classifier_activation": "gelu",
        "classifier_bias": False,
        "local_attention": 128,
        "attention_bias": False,
        "mlp_bias": False,
        "tie_word_embeddings": True,
        "_head_size": None,
    },
    biases=MODERNBERT_BIASES,
    window="both sides",
    variants=(
        ("norm_bias", True, {"norm_bias": True}),
        ("architectures", ["ModernBertForMaskedLM"], {"ignored_tensors": ("head.*", "decoder.*")}),
        (
            "architectures",
            ["ModernBertForSequenceClassification"],
            {
                "task": CLASSIFICATION,
                "pooler_norm": True,
                "tensors": {**MODERNBERT_TENSORS, "pooler": "head.dense", "pooler_norm": "head.norm", "classifier": "classifier"},
                "keys": {**MODERNBERT_KEYS, "pooling": "classifier_pooling", "pooler_activation": "classifier_activation"},
                "biases": {**MODERNBERT_BIASES, "classifier_bias": "pooler", "": "classifier"},
            },
        ),
        ("classifier_pooling", "cls", {"pooling": "first"}),
    ),
    unread=words(
        """
        classifier_activation classifier_bias classifier_pooling decoder_bias deterministic_flash_attn initializer_cutoff_factor
        sparse_pred_ignore_index sparse_prediction position_embedding_type reference_compile repad_logits_with_grad
        """
    ),
)

FAMILIES = (BERT, ROBERTA, CAMEMBERT, XLM_ROBERTA, DISTILBERT, MODERNBERT)
