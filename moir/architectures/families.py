"""The family of a `model_type`; the file of its record is imported on demand."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from moir.architectures.family import Family
from moir.support.tables import by_member

FILES = by_member(
    {
        "llama": "llama",
        "llama4": "llama4_text",
        "llama_variants": "mistral qwen2 qwen3 phi3 olmo2 smollm3 granite glm glm4 cohere starcoder2 phi exaone4 ernie4_5",
        "llama_successors": "seed_oss arcee helium olmo3 ministral ministral3 cwm exaone hunyuan_v1_dense nanochat apertus "
        "internlm3 iquestcoder bitnet diffllama",
        "layer_norm_families": "stablelm nemotron olmo cohere2 jais2 persimmon modernbert-decoder",
        "gemma": "gemma gemma2 gemma3_text vaultgemma",
        "gemma_successors": "gemma3n_text gemma4_text",
        "gpt": "gpt2 gpt_bigcode gpt_neox gptj gpt_neo codegen opt",
        "gpt_relatives": "openai-gpt biogpt xglm",
        "bloom": "bloom mpt",
        "falcon": "falcon",
        "mixtures": "mixtral qwen3_moe olmoe gpt_oss granitemoe granitemoeshared phimoe dbrx",
        "shared_experts": "qwen2_moe ernie4_5_moe glm4_moe dots1",
        "expert_successors": "hunyuan_v1_moe minimax_m2 exaone_moe solar_open flex_olmo hy_v3 mellum sarvam_moe afmoe",
        "layered_experts": "laguna mimo_v2_flash cohere2_moe kolibri1 flint",
        "multimodal_parts": "qwen2_vl_text qwen2_vl qwen2_5_vl_text qwen2_5_vl qwen3_vl_text qwen3_vl_moe_text glm4v_text "
        "glm4v_moe_text glm_ocr_text aria_text paddleocr_vl_text granite4_vision_text gemma4_unified_text mistral4 "
        "deepseek_ocr2_text apertus1p5_text hunyuan_vl_text",
        "deepseek": "deepseek_v2 deepseek_v3 glm4_moe_lite sarvam_mla youtu axk1 deepseek_v32 glm_moe_dsa",
        "scaled_families": "minicpm minicpm3 hyperclovax granite_swa granitemoe_swa",
        "recurrent.hybrids": "lfm2 lfm2_moe qwen3_next qwen3_5_text qwen3_5_moe_text olmo_hybrid lara_mini",
        "recurrent.mamba": "mamba falcon_mamba",
        "recurrent.state_space_hybrids": "mamba2 bamba granitemoehybrid jamba nemotron_h",
        "recurrent.falcon_h1": "falcon_h1",
        "recurrent.minimax": "minimax",
        "recurrent.recurrent_gemma": "recurrent_gemma",
        "encoders.bert": "bert roberta camembert xlm-roberta distilbert modernbert",
        "encoders.deberta": "deberta-v2 deberta",
        "encoders.successors": "electra mpnet nomic_bert roformer",
        "encoders.relatives": "data2vec-text roberta-prelayernorm xlm-roberta-xl megatron-bert ernie albert rembert luke "
        "jina_embeddings_v3 gte eurobert",
    }
)
"""For each `model_type`, the file of this folder that has the record of its family."""


def family_of(model_type: str) -> Family | None:
    """The record of the family of a `model_type`; None if there is none."""
    file = FILES.get(model_type)
    if file is None:
        return None
    families = cast("tuple[Family, ...]", import_module(f"moir.architectures.{file}").FAMILIES)
    return next(each for each in families if model_type in each.architecture.model_types)


def architecture_of(name: str) -> Family | None:
    """The record of a family by the name of its architecture, which file formats such as GGUF use; None if there is
    none.
    """
    return family_of(name)
