"""Relatives of BERT and RoBERTa: normalizations before the blocks, rotations, layers with the same weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moir.architectures.encoders.bert import BERT, BLOCKS, CLASSIFICATION, DEFAULTS, EMBEDDING, HEADS_OF_OTHERS, TENSORS, encoder, roberta
from moir.architectures.encoders.successors import HEAD_OF_FIRST
from moir.architectures.family import Family
from moir.architectures.llama import LLAMA
from moir.architectures.record import AttentionBlock
from moir.architectures.residuals import PRE_NORM
from moir.support.tables import words


def classifier(name: str, tensors: Mapping[str, str], head: Mapping[str, str], biases: str = BLOCKS, **others: object) -> tuple[Any, ...]:
    """The entry of `Family.variants` for models that classify the pooled first token.

    Args:
        name: the class in config.json that chooses the variant.
        tensors: the tensors of the family by operand.
        head: the tensors of `pooler` and `classifier`.
        biases: the operands within layers that have biases.
        others: further changed fields.
    """
    changes: dict[str, object] = {
        "task": CLASSIFICATION,
        "tensors": {**tensors, **head},
        "biases": {"": f"{biases} pooler classifier"},
        "ignored_tensors": ("embeddings.position_ids",),
    }
    return (("architectures", [name], {**changes, **others}),)


HEAD_OF_POOLER = {"pooler": "pooler.dense", "classifier": "classifier"}

DATA2VEC = roberta(("data2vec-text",), "Data2VecTextForSequenceClassification", {}).with_fields(prefixes=("data2vec_text.",))

PRE_NORM_TENSORS = {
    **TENSORS,
    "attention_norm": "attention.LayerNorm",
    "feed_forward_norm": "intermediate.LayerNorm",
    "final_norm": "LayerNorm",
}

ROBERTA_PRELAYERNORM = DATA2VEC.with_fields(
    architecture=DATA2VEC.architecture.with_fields(
        name="roberta-prelayernorm", model_types=("roberta-prelayernorm",), residuals=PRE_NORM, final_norm=True
    ),
    prefixes=("roberta_prelayernorm.",),
    tensors=PRE_NORM_TENSORS,
    defaults={**DATA2VEC.defaults, "vocab_size": 50265},
    variants=classifier("RobertaPreLayerNormForSequenceClassification", PRE_NORM_TENSORS, HEAD_OF_FIRST),
)

XL_TENSORS = {
    **TENSORS,
    "attention_norm": "attention.self_attn_layer_norm",
    "feed_forward_norm": "LayerNorm",
    "final_norm": "encoder.LayerNorm",
}

XLM_ROBERTA_XL = ROBERTA_PRELAYERNORM.with_fields(
    architecture=ROBERTA_PRELAYERNORM.architecture.with_fields(
        name="xlm-roberta-xl", model_types=("xlm-roberta-xl",), embedding_norm=False
    ),
    prefixes=("roberta.",),
    tensors=XL_TENSORS,
    defaults={
        **{**DEFAULTS, "vocab_size": 250880, "hidden_size": 2560, "num_hidden_layers": 36, "num_attention_heads": 32},
        **{"intermediate_size": 10240, "max_position_embeddings": 514, "type_vocab_size": 1, "layer_norm_eps": 1e-5, "pad_token_id": 1},
    },
    variants=classifier("XLMRobertaXLForSequenceClassification", XL_TENSORS, HEAD_OF_FIRST),
    ignored_tensors=(*HEADS_OF_OTHERS, "embeddings.LayerNorm.*"),
)

MEGATRON_TENSORS = {**TENSORS, "attention_norm": "attention.ln", "feed_forward_norm": "ln", "final_norm": "encoder.ln"}

MEGATRON_BERT = BERT.with_fields(
    architecture=BERT.architecture.with_fields(
        name="megatron-bert", model_types=("megatron-bert",), residuals=PRE_NORM, final_norm=True, embedding_norm=False
    ),
    tensors=MEGATRON_TENSORS,
    defaults={
        **{**DEFAULTS, "vocab_size": 29056, "hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16},
        "intermediate_size": 4096,
    },
    variants=classifier("MegatronBertForSequenceClassification", MEGATRON_TENSORS, HEAD_OF_POOLER),
)

ERNIE_TENSORS = {**TENSORS, "task_types": "embeddings.task_type_embeddings"}

ERNIE = BERT.with_fields(
    architecture=BERT.architecture.with_fields(name="ernie", model_types=("ernie",)),
    prefixes=("ernie.",),
    tensors=ERNIE_TENSORS,
    sizes={"task_types": "task_type_vocab_size"},
    defaults={**DEFAULTS, "task_type_vocab_size": 3, "use_task_id": False},
    variants=(
        *classifier("ErnieForSequenceClassification", ERNIE_TENSORS, HEAD_OF_POOLER),
        ("use_task_id", False, {"sizes": {}}),
        ("use_task_id", None, {"sizes": {}}),
    ),
    unread=BERT.unread | words("task_type_vocab_size"),
)

ALBERT_TENSORS = {
    **TENSORS,
    "embedding_projection": "encoder.embedding_hidden_mapping_in",
    "attention_norm": "attention.LayerNorm",
    "feed_forward_norm": "full_layer_layer_norm",
    "feed_forward": "ffn",
    "attention.query": "attention.query",
    "attention.key": "attention.key",
    "attention.value": "attention.value",
    "attention.output": "attention.dense",
    "feed_forward.up": "ffn",
    "feed_forward.down": "ffn_output",
}

ALBERT_BLOCKS = f"{BLOCKS} embedding_projection"

ALBERT = BERT.with_fields(
    architecture=BERT.architecture.with_fields(name="albert", model_types=("albert",), projects_last=True, projects_always=True),
    layer="encoder.albert_layer_groups.{}.albert_layers.0",
    layer_groups="num_hidden_groups",
    prefixes=("albert.",),
    tensors=ALBERT_TENSORS,
    keys={**BERT.keys, "embedding_size": "embedding_size"},
    defaults={
        **{**DEFAULTS, "vocab_size": 30000, "embedding_size": 128, "hidden_size": 4096, "num_attention_heads": 64},
        **{"intermediate_size": 16384, "hidden_act": "gelu_new", "num_hidden_groups": 1},
    },
    biases={"": ALBERT_BLOCKS},
    variants=classifier("AlbertForSequenceClassification", ALBERT_TENSORS, {"pooler": "pooler", "classifier": "classifier"}, ALBERT_BLOCKS),
    expected={"inner_group_num": 1},
    unread=BERT.unread
    | words("classifier_dropout_prob num_hidden_groups inner_group_num gap_size down_scale_factor net_structure_type num_memory_blocks"),
    ignored_tensors=(*HEADS_OF_OTHERS, "predictions.*", "sop_classifier.*"),
)

REMBERT_TENSORS = {**TENSORS, "embedding_projection": "encoder.embedding_hidden_mapping_in"}

REMBERT_BLOCKS = f"{BLOCKS} embedding_projection"

REMBERT = BERT.with_fields(
    architecture=BERT.architecture.with_fields(name="rembert", model_types=("rembert",), projects_last=True, projects_always=True),
    prefixes=("rembert.",),
    tensors=REMBERT_TENSORS,
    keys={**BERT.keys, "embedding_size": "input_embedding_size"},
    defaults={
        **{**DEFAULTS, "vocab_size": 250300, "hidden_size": 1152, "num_hidden_layers": 32, "num_attention_heads": 18},
        **{"intermediate_size": 4608, "input_embedding_size": 256},
    },
    biases={"": REMBERT_BLOCKS},
    variants=classifier("RemBertForSequenceClassification", REMBERT_TENSORS, HEAD_OF_POOLER, REMBERT_BLOCKS),
    # The size of embeddings that only the head for masked tokens has.
    unread=BERT.unread | words("classifier_dropout_prob output_embedding_size"),
)

LUKE_ENTITIES = (
    *("entity_embeddings.*", "entity_predictions.*"),
    *(f"encoder.layer.{{}}.attention.self.{each}_query.*" for each in ("w2e", "e2w", "e2e")),
)
"""The weights for entities, which are inputs of their own: their embeddings, and the projections of the queries of
attentions from words to entities (w2e), from entities to words, and between entities.
"""

LUKE = DATA2VEC.with_fields(
    architecture=DATA2VEC.architecture.with_fields(name="luke", model_types=("luke",)),
    prefixes=("luke.",),
    defaults={**DATA2VEC.defaults, "vocab_size": 50267},
    variants=tuple(
        (key, value, {**changes, "ignored_tensors": (*changes["ignored_tensors"], *LUKE_ENTITIES)})
        for key, value, changes in classifier("LukeForSequenceClassification", TENSORS, HEAD_OF_POOLER)
    ),
    unread=DATA2VEC.unread | words("entity_vocab_size entity_emb_size use_entity_aware_attention cls_entity_prediction"),
    ignored_tensors=(*HEADS_OF_OTHERS, *LUKE_ENTITIES),
)

JINA_TENSORS = {
    "embedding": "embeddings.word_embeddings",
    "types": "embeddings.token_type_embeddings",
    "embedding_norm": "emb_ln",
    "attention": "mixer",
    "feed_forward": "mlp",
    "attention_norm": "norm1",
    "feed_forward_norm": "norm2",
    "attention.query_key_value": "mixer.Wqkv",
    "attention.output": "mixer.out_proj",
    "feed_forward.up": "mlp.fc1",
    "feed_forward.down": "mlp.fc2",
}

JINA_BLOCKS = "attention.query_key_value attention.output feed_forward.up feed_forward.down"

JINA_KEYS = {"key_heads": "num_attention_heads", "head_size": "_head_size", "epsilon": "layer_norm_eps", "types": "type_vocab_size"}

JINA_EMBEDDINGS_V3 = Family(
    architecture=encoder("jina_embeddings_v3", ("jina_embeddings_v3",), None).with_fields(attention=AttentionBlock(packing="stacked")),
    layer="encoder.layers.{}",
    prefixes=("roberta.",),
    tensors=JINA_TENSORS,
    keys=JINA_KEYS,
    defaults={
        **{**DEFAULTS, "vocab_size": 250002, "hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16},
        **{"intermediate_size": 4096, "max_position_embeddings": 8194, "type_vocab_size": 1, "layer_norm_eps": 1e-5},
        "rope_theta": 20000.0,
    },
    biases={"": JINA_BLOCKS},
    variants=classifier("JinaEmbeddingsV3ForSequenceClassification", JINA_TENSORS, HEAD_OF_FIRST, JINA_BLOCKS),
    unread=words("position_embedding_type pad_token_id"),
    ignored_tensors=HEADS_OF_OTHERS,
)

GTE_TENSORS = {
    "embedding": "embeddings.word_embeddings",
    "types": "embeddings.token_type_embeddings",
    "embedding_norm": "embeddings.LayerNorm",
    "attention": "attention",
    "feed_forward": "mlp",
    "attention_norm": "attn_ln",
    "feed_forward_norm": "mlp_ln",
    "attention.query_key_value": "attention.qkv_proj",
    "attention.output": "attention.o_proj",
    "feed_forward.gate_up": "mlp.up_gate_proj",
    "feed_forward.down": "mlp.down_proj",
}

GTE_BLOCKS = "attention.query_key_value attention.output feed_forward.down"

GTE = JINA_EMBEDDINGS_V3.with_fields(
    architecture=JINA_EMBEDDINGS_V3.architecture.with_fields(name="gte", model_types=("gte",), feed_forward="packed gated up first"),
    layer="encoder.layer.{}",
    prefixes=("new.", "gte."),
    tensors=GTE_TENSORS,
    defaults={
        **{**DEFAULTS, "vocab_size": 250048, "type_vocab_size": 1, "max_position_embeddings": 8192, "rope_theta": 160000.0},
    },
    biases={"": GTE_BLOCKS},
    variants=classifier("GteForSequenceClassification", GTE_TENSORS, HEAD_OF_POOLER, GTE_BLOCKS),
)

EUROBERT = LLAMA.with_fields(
    architecture=LLAMA.architecture.with_fields(name="eurobert", model_types=("eurobert",), task=EMBEDDING),
    prefixes=(),
    defaults={
        **LLAMA.defaults,
        **{"vocab_size": 128256, "hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12},
        **{"max_position_embeddings": 8192, "rms_norm_eps": 1e-5, "classifier_pooling": "late", "tie_word_embeddings": True},
    },
    variants=(
        (
            "architectures",
            ["EuroBertForSequenceClassification"],
            {
                "task": CLASSIFICATION,
                "pooler_activation": "gelu",
                "tensors": {**LLAMA.tensors, "pooler": "dense", "classifier": "classifier"},
                "keys": {"pooling": "classifier_pooling"},
                "biases": {**LLAMA.biases, "": "pooler classifier"},
                "ignored_tensors": (),
            },
        ),
        ("classifier_pooling", "bos", {"pooling": "first"}),
    ),
    unread=words("classifier_pooling clf_pooling"),
    ignored_tensors=("lm_head.*",),
)

FAMILIES = (DATA2VEC, ROBERTA_PRELAYERNORM, XLM_ROBERTA_XL, MEGATRON_BERT, ERNIE, ALBERT, REMBERT, LUKE, JINA_EMBEDDINGS_V3, GTE, EUROBERT)
