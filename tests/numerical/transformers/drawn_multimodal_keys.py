"""The keys of config.json that `drawn_models.py` draws for language models of multimodal models, with their values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.numerical.transformers.drawn_keys import (
    BIAS,
    EXPERTS,
    GRANITE,
    GROUPED_EXPERTS,
    GROUPS,
    HUNYUAN_SCALING,
    LATENT,
    SIZES,
    TIED,
    YARN,
)

WHOLE_MODELS: Mapping[str, str] = {
    "qwen2_vl_text": "qwen2_vl",
    "qwen2_5_vl_text": "qwen2_5_vl",
    "qwen3_vl_text": "qwen3_vl",
    "qwen3_vl_moe_text": "qwen3_vl_moe",
    "glm4v_text": "glm4v",
    "glm4v_moe_text": "glm4v_moe",
    "glm_ocr_text": "glm_ocr",
    "aria_text": "aria",
    "paddleocr_vl_text": "paddleocr_vl",
    "granite4_vision_text": "granite4_vision",
    "mistral4": "mistral3",
    "deepseek_ocr2_text": "deepseek_ocr2",
    "hunyuan_vl_text": "hunyuan_vl",
}
"""The multimodal models whose parts families are."""

SECTIONS = {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [2, 1, 1]}

HUNYUAN_SECTIONS = {**SECTIONS, "mrope_section": [1, 1, 1, 1]}

HALF_SECTIONS = {**SECTIONS, "mrope_section": [1, 1, 0], "partial_rotary_factor": 0.5}

PARTS: Mapping[str, Mapping[str, list[Any]]] = {
    "qwen2_vl_text": {**GROUPS, "num_attention_heads": [4], "hidden_size": [32], "rope_parameters": [SECTIONS]},
    "qwen2_5_vl_text": {**GROUPS, "num_attention_heads": [4], "hidden_size": [32], "rope_parameters": [SECTIONS]},
    "qwen3_vl_text": {**GROUPS, **BIAS, "head_dim": [8], "hidden_size": [32], "rope_parameters": [SECTIONS]},
    "qwen3_vl_moe_text": {
        **{**GROUPS, **EXPERTS, "head_dim": [8], "hidden_size": [32], "moe_intermediate_size": [24], "decoder_sparse_step": [1, 2]},
        "rope_parameters": [SECTIONS],
    },
    "glm4v_text": {**GROUPS, "num_attention_heads": [4], "hidden_size": [32], "rope_parameters": [SECTIONS]},
    "glm4v_moe_text": {
        **{**GROUPS, **BIAS, **GROUPED_EXPERTS, "num_attention_heads": [4], "hidden_size": [32], "rope_parameters": [HALF_SECTIONS]},
    },
    "glm_ocr_text": {**GROUPS, "num_attention_heads": [4], "hidden_size": [32], "head_dim": [8], "rope_parameters": [HALF_SECTIONS]},
    "aria_text": {
        **GROUPS,
        **BIAS,
        "mlp_bias": [True, False],
        "moe_num_experts": [4],
        "moe_topk": [1, 2],
        "moe_num_shared_experts": [1, 2],
    },
    "paddleocr_vl_text": {**GROUPS, "use_bias": [True, False], "head_dim": [8], "hidden_size": [32], "rope_parameters": [SECTIONS]},
    "granite4_vision_text": {**GRANITE, **BIAS, "hidden_size": [32]},
    "gemma4_unified_text": {
        **{**SIZES, **BIAS, "num_attention_heads": [4], "num_hidden_layers": [6], "num_key_value_heads": [1, 2], "head_dim": [8, 16]},
        **{"global_head_dim": [16, 32], "num_global_key_value_heads": [None, 1, 2], "attention_k_eq_v": [True, False]},
        **{"num_kv_shared_layers": [0, 2, 3], "use_double_wide_mlp": [True, False], "final_logit_softcapping": [30.0, None]},
        **{"sliding_window": [4], "layer_types": [["sliding_attention", "full_attention"] * 3]},
    },
    "apertus1p5_text": {**GROUPS, **BIAS, "output_vocab_size": [None, 64, 48], "tie_word_embeddings": [False]},
    "hunyuan_vl_text": {
        **{**GROUPS, **BIAS, "head_dim": [8], "num_attention_heads": [4], "hidden_size": [32]},
        "rope_parameters": [
            HUNYUAN_SECTIONS,
            {**HUNYUAN_SECTIONS, **HUNYUAN_SCALING, "beta_fast": 32, "beta_slow": 1, "mscale": 1.0, "mscale_all_dim": 1.0},
        ],
    },
    "mistral4": {
        **{**LATENT, "hidden_size": [32], "rope_interleave": [True, False]},
        "rope_parameters": [{**YARN, "llama_4_scaling_beta": 0.1, "original_max_position_embeddings": 4}],
    },
    "deepseek_ocr2_text": {
        **{**SIZES, **TIED, **BIAS, "hidden_size": [32], "num_attention_heads": [4], "num_key_value_heads": [4], "mlp_bias": [True, False]},
        **{"n_routed_experts": [8], "num_experts_per_tok": [1, 2], "moe_intermediate_size": [24], "n_shared_experts": [1, 2]},
        **{"topk_method": ["greedy"], "routed_scaling_factor": [1.0, 1.5], "num_hidden_layers": [2]},
        "mlp_layer_types": [["dense", "sparse"], ["sparse", "sparse"]],
    },
}
"""Those of each family."""
