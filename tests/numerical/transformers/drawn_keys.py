"""The keys of config.json that `drawn_models.py` draws for each decoder, with their values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

HEADS = {"num_attention_heads": [2, 4], "num_hidden_layers": [1, 2, 4], "vocab_size": [64]}
SIZES = {**HEADS, "hidden_size": [32, 64], "intermediate_size": [48, 80], "max_position_embeddings": [64]}
TIED = {"tie_word_embeddings": [True, False]}
GROUPS = {**SIZES, **TIED, "num_key_value_heads": [1, 2]}
YARN = {
    **{"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0, "mscale": 0.7, "mscale_all_dim": 0.5},
    "original_max_position_embeddings": 16,
}
HUNYUAN_SCALING = {"rope_type": "dynamic", "rope_theta": 1e4, "alpha": 50.0, "factor": 1.0}
PHIMOE_SCALING = {
    **{"rope_type": "longrope", "rope_theta": 1e4, "short_mscale": 1.2, "long_mscale": 1.4, "original_max_position_embeddings": 32},
    **{"short_factor": [1.0, 1.5, 2.0, 2.5], "long_factor": [1.0, 2.0, 3.0, 4.0]},
}
BIAS = {"attention_bias": [True, False]}
WINDOW = {"sliding_window": [4, 6, None]}
GPT2 = {"vocab_size": [64], "n_positions": [64], "n_embd": [32], "n_layer": [1, 3], "n_head": [2, 4], "n_inner": [None, 48]}
EXPERTS = {"num_experts": [4, 6], "num_experts_per_tok": [1, 2, 3], "norm_topk_prob": [True, False]}
GROUPED_EXPERTS = {
    **{"n_routed_experts": [8], "num_experts_per_tok": [1, 2], "moe_intermediate_size": [24], "n_shared_experts": [1, 2]},
    **{"n_group": [2, 4], "topk_group": [1, 2], "first_k_dense_replace": [0, 1], "norm_topk_prob": [True, False]},
    "routed_scaling_factor": [1.0, 1.5],
}
EVEN_YARN = {**YARN, "mscale": 0.7, "mscale_all_dim": 0.7}
LATENT = {
    **{**SIZES, **TIED, **BIAS, **GROUPED_EXPERTS, "num_attention_heads": [4], "num_key_value_heads": [4]},
    **{"q_lora_rank": [None, 24], "kv_lora_rank": [16], "qk_nope_head_dim": [8, 12], "qk_rope_head_dim": [8, 4], "v_head_dim": [16, 8, 20]},
    **{"rms_norm_eps": [1e-5], "rope_parameters": [None, YARN, EVEN_YARN]},
}
INDEXED = {
    **{**LATENT, "q_lora_rank": [24], "index_topk": [4, 6, 64], "index_head_dim": [8, 12], "index_n_heads": [16]},
    **{"mlp_layer_types": [None, ["sparse"] * 4], "num_hidden_layers": [4]},
}
GRANITE = {
    **{**GROUPS, "embedding_multiplier": [2.0], "residual_multiplier": [0.5], "attention_multiplier": [0.2]},
    "logits_scaling": [3.0],
}
MAMBA = {
    **{"vocab_size": [64], "hidden_size": [32, 48], "num_hidden_layers": [1, 2], "state_size": [4, 8], "expand": [1, 2]},
    **{"conv_kernel": [2, 4], "use_bias": [True, False], "use_conv_bias": [True, False], "time_step_rank": ["auto", 4], **TIED},
}
MINISTRAL_SCALING = {
    **{"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0, "original_max_position_embeddings": 4},
    "llama_4_scaling_beta": 0.1,
}
PLAIN_LONG_SCALING = {
    **{"rope_type": "longrope", "rope_theta": 1e4, "original_max_position_embeddings": 32},
    **{"short_factor": [1.0, 1.5, 2.0, 2.5], "long_factor": [1.0, 2.0, 3.0, 4.0]},
}
LARA_LAYERS = ["linear_attention", "sliding_attention", "full_attention", "sliding_attention"]

DELTA_RULE = {
    **{"num_hidden_layers": [4], "linear_num_key_heads": [2], "linear_num_value_heads": [2, 4], "head_dim": [16]},
    **{"linear_key_head_dim": [8], "linear_value_head_dim": [8, 12], "linear_conv_kernel_dim": [2, 4]},
}
MIXER = {
    **{"hidden_size": [32], "num_attention_heads": [4], "mamba_n_heads": [4], "mamba_d_head": [16], "mamba_expand": [2]},
    **{"mamba_n_groups": [1, 2], "mamba_d_state": [8], "mamba_d_conv": [2, 4], "mamba_conv_bias": [True, False]},
    "mamba_proj_bias": [True, False],
}
WINDOWS_AND_BASES = {
    **{"num_hidden_layers": [5], "sliding_window": [4], "layer_rope_theta": [None, [1e4, 0.0, 5e5, 1e4, 0.0]]},
}

DECODERS: Mapping[str, Mapping[str, list[Any]]] = {
    "llama": {**GROUPS, **BIAS, "mlp_bias": [True, False], "head_dim": [8, 16], "rope_theta": [1e4, 5e5]},
    "mistral": {**GROUPS, **WINDOW, "head_dim": [16]},
    "qwen2": {**GROUPS, "use_sliding_window": [True, False], "sliding_window": [5], "max_window_layers": [0, 1]},
    "qwen3": {**GROUPS, **BIAS, "head_dim": [8, 16]},
    "smollm3": {**GROUPS, "no_rope_layer_interval": [2, 4], "sliding_window": [None]},
    "olmo": {**GROUPS, **BIAS, "clip_qkv": [0.3, None]},
    "olmo2": {**GROUPS, **BIAS},
    "granite": GRANITE,
    "gemma": {**SIZES, "num_key_value_heads": [1, 2], "head_dim": [8, 16]},
    "gemma2": {**SIZES, "num_key_value_heads": [1, 2], "head_dim": [16], "sliding_window": [4], "query_pre_attn_scalar": [16, 24]},
    "gemma3_text": {**SIZES, "num_key_value_heads": [1, 2], "head_dim": [16], "sliding_window": [4], "num_hidden_layers": [7]},
    "phi": {**SIZES, **TIED, "partial_rotary_factor": [0.5], "qk_layernorm": [True, False]},
    "phi3": {**GROUPS, **WINDOW},
    "starcoder2": {**GROUPS, **WINDOW, "use_bias": [True, False]},
    "glm": {**GROUPS, **BIAS, "head_dim": [16]},
    "glm4": {**GROUPS, **BIAS, "head_dim": [16]},
    "cohere": {**GROUPS, **BIAS, "use_qk_norm": [True, False]},
    "cohere2": {**GROUPS, **BIAS, "sliding_window": [4]},
    "exaone4": {**GROUPS, "sliding_window": [4], "sliding_window_pattern": [2, 4]},
    "ernie4_5": {**GROUPS, "use_bias": [True, False], "head_dim": [8, 16]},
    "stablelm": {**GROUPS, "use_qkv_bias": [True, False], "use_parallel_residual": [True, False]},
    "nemotron": {**GROUPS, **BIAS, "mlp_bias": [True, False]},
    "gpt2": {**GPT2, "scale_attn_by_inverse_layer_idx": [True, False]},
    "gpt_bigcode": {**GPT2, "multi_query": [True, False]},
    "gpt_neox": {**SIZES, **TIED, "rotary_pct": [0.5, 1.0], "use_parallel_residual": [True, False]},
    "gptj": {**GPT2, "rotary_dim": [4, 8]},
    "opt": {
        **{"vocab_size": [64], "hidden_size": [32], "ffn_dim": [48], "num_hidden_layers": [2], "num_attention_heads": [4]},
        **{"max_position_embeddings": [64], "do_layer_norm_before": [True, False], "word_embed_proj_dim": [32, 16]},
    },
    "bloom": {"vocab_size": [64], "hidden_size": [48], "n_layer": [2], "n_head": [4, 6]},
    "falcon": {
        **{"vocab_size": [64], "hidden_size": [32], "num_hidden_layers": [2], "num_attention_heads": [4], "bias": [True, False]},
        **{"new_decoder_architecture": [True, False], "num_kv_heads": [4], "multi_query": [True, False], "alibi": [True, False]},
    },
    "deepseek_v32": INDEXED,
    "glm_moe_dsa": {**INDEXED, "indexer_types": [None, ["full", "shared", "full", "shared"], ["full", "shared", "shared", "full"]]},
    "diffllama": {**GROUPS, **BIAS, "num_attention_heads": [4, 8], "num_key_value_heads": [2, 4]},
    "modernbert-decoder": {
        **{**SIZES, **TIED, **BIAS, "num_hidden_layers": [3, 4], "local_attention": [6, 8], "norm_bias": [True, False]},
        **{"mlp_bias": [True, False], "decoder_bias": [True, False], "classifier_bias": [True, False]},
        "classifier_activation": ["gelu", "silu"],
    },
    "lfm2": {
        **{**SIZES, **TIED, "num_hidden_layers": [4], "num_key_value_heads": [1, 2], "conv_bias": [True, False]},
        **{"conv_L_cache": [2, 3, 4], "full_attn_idxs": [[1], [0, 3], None], "block_auto_adjust_ff_dim": [True, False]},
        **{"block_multiple_of": [16], "block_ffn_dim_multiplier": [1.0, 1.3], "norm_eps": [1e-5, 1e-3]},
    },
    "qwen3_next": {
        **{**GROUPS, **BIAS, **EXPERTS, "moe_intermediate_size": [24], "shared_expert_intermediate_size": [16], "head_dim": [16]},
        **{"num_hidden_layers": [4], "full_attention_interval": [2, 4], "linear_num_key_heads": [2], "linear_num_value_heads": [2, 4, 6]},
        **{"linear_key_head_dim": [8, 16], "linear_value_head_dim": [8, 12], "linear_conv_kernel_dim": [2, 4]},
        "partial_rotary_factor": [0.5],
    },
    "seed_oss": {**GROUPS, **BIAS, "attention_out_bias": [True, False], "mlp_bias": [True, False], "head_dim": [8, 16]},
    "arcee": {**GROUPS, **BIAS, "mlp_bias": [True, False]},
    "helium": {**GROUPS, **BIAS, "mlp_bias": [True, False], "hidden_size": [32], "num_attention_heads": [4], "head_dim": [8]},
    "olmo3": {**GROUPS, **BIAS, "num_hidden_layers": [5], "sliding_window": [4]},
    "ministral": {**GROUPS, "sliding_window": [4, 6], "head_dim": [16]},
    "exaone": {**GROUPS, **BIAS, "mlp_bias": [True, False]},
    "hunyuan_v1_dense": {**GROUPS, **BIAS, "head_dim": [8, 16], "rope_parameters": [None, HUNYUAN_SCALING]},
    "nanochat": {**GROUPS, **BIAS, "final_logit_softcapping": [15.0, 2.0]},
    "apertus": {**GROUPS, **BIAS},
    "vaultgemma": {**SIZES, "num_key_value_heads": [1, 2], "head_dim": [16], "sliding_window": [4], "attn_logit_softcapping": [None, 5.0]},
    "gpt_oss": {
        **{**GROUPS, "head_dim": [16], "num_local_experts": [4], "num_experts_per_tok": [1, 2], "sliding_window": [4]},
        **{"attention_bias": [True, False], "swiglu_limit": [7.0, 1.0], "swiglu_alpha": [1.702, 1.2]},
    },
    "mamba": MAMBA,
    "falcon_mamba": {**MAMBA, "mixer_rms_eps": [1e-6, 1e-3]},
    "mpt": {
        **{"vocab_size": [64], "d_model": [48], "n_layers": [1, 2], "n_heads": [2, 4, 6], "max_seq_len": [64]},
        "attn_config": [{"alibi_bias_max": 8}, {"clip_qkv": 0.7}, {"softmax_scale": 0.2}],
    },
    "mixtral": {**GROUPS, **WINDOW, "num_local_experts": [3, 4], "num_experts_per_tok": [1, 2]},
    "dbrx": {
        **{"vocab_size": [64], "d_model": [48], "n_layers": [1, 2], "n_heads": [2, 4, 6], "max_seq_len": [64]},
        "rope_parameters": [{"rope_type": "default", "rope_theta": 10000.0}, {"rope_type": "linear", "rope_theta": 500.0, "factor": 2.0}],
        "attn_config": [{"kv_n_heads": 2, "clip_qkv": 8, "rope_theta": 500.0}, {"kv_n_heads": 1, "clip_qkv": 0.5, "rope_theta": 500.0}],
        "ffn_config": [
            {"ffn_hidden_size": 24, "moe_num_experts": 4, "moe_top_k": 2},
            {"ffn_hidden_size": 40, "moe_num_experts": 6, "moe_top_k": 3, "moe_normalize_expert_weights": None},
            {"ffn_hidden_size": 16, "moe_num_experts": 3, "moe_top_k": 1, "ffn_act_fn": {"name": "gelu"}, "moe_jitter_eps": 0.1},
        ],
    },
    "qwen3_moe": {**GROUPS, **BIAS, **EXPERTS, "moe_intermediate_size": [24], "head_dim": [16], "decoder_sparse_step": [1, 2]},
    "olmoe": {**GROUPS, **BIAS, **EXPERTS, "clip_qkv": [0.5, None]},
    "qwen2_moe": {
        **{**GROUPS, **EXPERTS, "moe_intermediate_size": [24], "shared_expert_intermediate_size": [16, 40], "qkv_bias": [True, False]},
        **{"decoder_sparse_step": [1, 2], "use_sliding_window": [True, False], "sliding_window": [4], "max_window_layers": [1, 9]},
    },
    "granitemoe": {**GRANITE, **BIAS, "num_local_experts": [4, 6], "num_experts_per_tok": [1, 2, 3]},
    "granitemoeshared": {
        **{**GRANITE, **BIAS, "num_local_experts": [4], "num_experts_per_tok": [2], "shared_intermediate_size": [24, 0]},
    },
    "phimoe": {
        **{**GROUPS, **BIAS, **WINDOW, "num_local_experts": [4, 8], "lm_head_bias": [True, False], "router_jitter_noise": [0.01, 0.4]},
        **{"hidden_size": [32], "num_attention_heads": [4], "rope_parameters": [None, PHIMOE_SCALING]},
    },
    "ernie4_5_moe": {
        **{**GROUPS, "use_bias": [True, False], "moe_num_experts": [4, 6], "moe_k": [1, 2, 3], "moe_intermediate_size": [24]},
        **{"moe_num_shared_experts": [0, 1, 2], "moe_layer_start_index": [0, 1], "moe_layer_end_index": [-1, 1, 2]},
        "moe_layer_interval": [1, 2],
    },
    "glm4_moe": {**GROUPS, **BIAS, **GROUPED_EXPERTS, "use_qk_norm": [True, False]},
    "dots1": {**GROUPS, **BIAS, **GROUPED_EXPERTS, "sliding_window": [4, None], "max_window_layers": [1, 9]},
    "deepseek_v2": {
        **{**LATENT, "norm_topk_prob": [False], "mlp_bias": [True, False]},
        "topk_method": ["greedy", "group_limited_greedy"],
    },
    "deepseek_v3": {**LATENT, "rope_interleave": [True, False]},
    "gpt_neo": {
        **{"vocab_size": [64], "hidden_size": [32], "num_layers": [2], "num_heads": [2, 4], "max_position_embeddings": [64]},
        **{"attention_types": [[[["global", "local"], 1]], [[["local"], 2]]], "window_size": [4], "intermediate_size": [48]},
    },
    "codegen": {**GPT2, "rotary_dim": [4, 8], "n_head": [4], "n_embd": [64]},
    "ministral3": {
        **GROUPS,
        **WINDOW,
        "head_dim": [16],
        "rope_parameters": [MINISTRAL_SCALING, {**MINISTRAL_SCALING, "mscale": 1.0, "mscale_all_dim": 1.0}],
    },
    "cwm": {**GROUPS, "head_dim": [16], "sliding_window": [4], "num_hidden_layers": [5]},
    "lfm2_moe": {
        **{**SIZES, **TIED, "num_hidden_layers": [4], "num_key_value_heads": [1, 2], "conv_bias": [True, False], "conv_L_cache": [3]},
        **{"moe_intermediate_size": [24], "num_dense_layers": [0, 2], "num_experts": [4], "num_experts_per_tok": [1, 2]},
        **{"use_expert_bias": [True, False], "norm_topk_prob": [True, False], "routed_scaling_factor": [1.0, 1.5]},
        "layer_types": [["conv", "full_attention"] * 2],
    },
    "qwen3_5_text": {**GROUPS, **BIAS, **DELTA_RULE},
    "qwen3_5_moe_text": {
        **{**GROUPS, **BIAS, **DELTA_RULE, "num_experts": [4, 6], "num_experts_per_tok": [1, 2], "moe_intermediate_size": [24]},
        "shared_expert_intermediate_size": [16],
    },
    "mamba2": {
        **{"vocab_size": [64], "hidden_size": [32], "num_hidden_layers": [1, 2], "state_size": [8], "num_heads": [4], "head_dim": [16]},
        **{"expand": [2], "n_groups": [1, 2], "conv_kernel": [2, 4], "use_bias": [True, False], **TIED},
    },
    "bamba": {**GROUPS, **BIAS, **MIXER, "num_hidden_layers": [4], "attn_layer_indices": [[1], [0, 2]]},
    "granitemoehybrid": {
        **{**GRANITE, **BIAS, **MIXER, "num_hidden_layers": [4], "num_local_experts": [0, 4], "num_experts_per_tok": [2]},
        **{"shared_intermediate_size": [24], "layer_types": [["mamba", "attention"] * 2], "position_embedding_type": ["rope", "nope"]},
    },
    "jamba": {
        **{**GROUPS, "num_hidden_layers": [4], "num_experts": [1, 4], "num_experts_per_tok": [2], "mamba_d_state": [4, 8]},
        **{
            "mamba_dt_rank": [4],
            "attn_layer_period": [2, 4],
            "attn_layer_offset": [1],
            "expert_layer_period": [2],
            "use_mamba_kernels": [False],
        },
    },
    "nemotron_h": {
        **{"vocab_size": [64], "hidden_size": [32], "intermediate_size": [48], "num_attention_heads": [4], "num_key_value_heads": [2]},
        **{"head_dim": [8], "ssm_state_size": [8], "mamba_num_heads": [4], "mamba_head_dim": [8], "n_groups": [1, 2]},
        **{"layers_block_type": [["mamba", "attention", "mlp", "mamba"], ["mamba", "moe", "attention"]], "n_routed_experts": [4]},
        **{"moe_intermediate_size": [24], "moe_shared_expert_intermediate_size": [16], "num_experts_per_tok": [2], "n_group": [1]},
        **{"topk_group": [1], "use_mamba_kernels": [False], "max_position_embeddings": [64], "mlp_bias": [True, False]},
    },
    "hunyuan_v1_moe": {**GROUPS, **BIAS, "head_dim": [16], "num_experts": [4], "moe_topk": [1, 2]},
    "minimax_m2": {
        **{**GROUPS, "head_dim": [16], "num_local_experts": [4], "num_experts_per_tok": [1, 2], "rotary_dim": [8, 16]},
    },
    "exaone_moe": {
        **{**GROUPS, "sliding_window": [4], "sliding_window_pattern": [2, 4], "moe_intermediate_size": [24], "num_experts": [4]},
        **{"num_experts_per_tok": [1, 2], "num_shared_experts": [1], "first_k_dense_replace": [0, 1], "n_group": [1], "topk_group": [1]},
    },
    "solar_open": {**GROUPS, **BIAS, **GROUPED_EXPERTS, "head_dim": [16], "first_k_dense_replace": [0]},
    "glm4_moe_lite": LATENT,
    "internlm3": {**GROUPS, "head_dim": [8, 16]},
    "iquestcoder": {**GROUPS, **BIAS, "mlp_bias": [True, False], "head_dim": [8, 16]},
    "jais2": {**GROUPS, **BIAS, "mlp_bias": [True, False]},
    "persimmon": {**SIZES, **TIED, "qk_layernorm": [True, False], "partial_rotary_factor": [0.5]},
    "youtu": {key: values for key, values in LATENT.items() if key not in GROUPED_EXPERTS},
    "sarvam_mla": LATENT,
    "axk1": {**LATENT, "q_lora_rank": [24], "rope_interleave": [True, False]},
    "minicpm3": {
        **{**SIZES, **TIED, **BIAS, "mlp_bias": [True, False], "num_attention_heads": [4], "num_key_value_heads": [4]},
        **{"q_lora_rank": [None, 24], "kv_lora_rank": [16], "qk_nope_head_dim": [8, 12], "qk_rope_head_dim": [8], "v_head_dim": [None, 12]},
        **{"scale_emb": [1, 12], "scale_depth": [None, 1.4], "dim_model_base": [None, 16], "rope_parameters": [None, PLAIN_LONG_SCALING]},
    },
    "hyperclovax": {**GRANITE, **BIAS, "attention_multiplier": [None, 0.2], "use_post_norm": [True, False], "head_dim": [None, 16]},
    "granite_swa": {**GRANITE, **BIAS, **WINDOWS_AND_BASES, "mlp_bias": [True, False]},
    "granitemoe_swa": {
        **{**GRANITE, **BIAS, **WINDOWS_AND_BASES, "num_local_experts": [4], "num_experts_per_tok": [1, 2]},
        "shared_intermediate_size": [24, 0],
    },
    "flex_olmo": {**GROUPS, **BIAS, **EXPERTS},
    "hy_v3": {
        **{**GROUPS, **BIAS, "head_dim": [16], "num_experts": [4], "num_experts_per_tok": [1, 2], "num_shared_experts": [1, 2]},
        **{"moe_intermediate_size": [24], "router_scaling_factor": [1.5]},
    },
    "mellum": {
        **{**GROUPS, **BIAS, "head_dim": [16], "num_experts": [4], "num_experts_per_tok": [1, 2], "norm_topk_prob": [True, False]},
        **{"moe_intermediate_size": [24], "num_hidden_layers": [2], "sliding_window": [4], "mlp_layer_types": [None, ["dense", "sparse"]]},
        "layer_types": [None, ["sliding_attention", "full_attention"]],
    },
    "sarvam_moe": {**GROUPS, **BIAS, **GROUPED_EXPERTS, "head_dim": [16], "use_qk_norm": [True, False]},
    "afmoe": {
        **{**GROUPS, **BIAS, "head_dim": [16], "num_hidden_layers": [5], "num_experts": [4], "num_experts_per_tok": [1, 2]},
        **{"num_shared_experts": [1, 2], "moe_intermediate_size": [24], "num_dense_layers": [0, 1], "route_scale": [1.5]},
        **{"sliding_window": [4], "global_attn_every_n_layers": [2, 4], "mup_enabled": [True, False]},
    },
    "gemma3n_text": {
        **{**SIZES, "num_hidden_layers": [6], "num_key_value_heads": [1, 2], "head_dim": [16], "sliding_window": [4]},
        **{"intermediate_size": [48, [48, 80, 48, 48, 80, 48]], "hidden_size_per_layer_input": [8], "laurel_rank": [4]},
        **{"vocab_size_per_layer_input": [64, 50], "altup_num_inputs": [2, 4], "altup_active_idx": [0, 1]},
        **{"altup_correct_scale": [True, False], "num_kv_shared_layers": [0, 2, 3], "final_logit_softcapping": [30.0]},
        **{"activation_sparsity_pattern": [None, [0.95, 0.5, 0.0, 0.0, 0.0, 0.9]]},
        "layer_types": [["sliding_attention", "full_attention"] * 3, ["sliding_attention", "sliding_attention", "full_attention"] * 2],
    },
    "gemma4_text": {
        **{**SIZES, **BIAS, "num_attention_heads": [4], "num_hidden_layers": [6], "num_key_value_heads": [1, 2], "head_dim": [8, 16]},
        **{"global_head_dim": [16, 32], "num_global_key_value_heads": [None, 1, 2], "attention_k_eq_v": [True, False]},
        **{"hidden_size_per_layer_input": [8, 0], "vocab_size_per_layer_input": [64], "num_kv_shared_layers": [0, 2, 3]},
        **{"enable_moe_block": [True, False], "num_experts": [4], "top_k_experts": [1, 2], "moe_intermediate_size": [24]},
        **{"use_double_wide_mlp": [True, False], "final_logit_softcapping": [30.0, None], "sliding_window": [4]},
        "layer_types": [["sliding_attention", "full_attention"] * 3, ["sliding_attention", "sliding_attention", "full_attention"] * 2],
    },
    "llama4_text": {
        **{**GROUPS, **BIAS, "head_dim": [8, 16], "num_hidden_layers": [4], "intermediate_size_mlp": [40], "num_local_experts": [4]},
        **{"num_experts_per_tok": [1, 2], "interleave_moe_layer_step": [1, 2], "no_rope_layer_interval": [2, 4]},
        **{
            "attention_chunk_size": [4, 5, None],
            "attn_temperature_tuning": [True, False],
            "floor_scale": [3],
            "use_qk_norm": [True, False],
        },
        "moe_layers": [None, [0, 3]],
    },
    "falcon_h1": {
        **{**GROUPS, **BIAS, **MIXER, "mlp_bias": [True, False], "mamba_d_ssm": [64, None], "projectors_bias": [True, False]},
        **{
            "mamba_rms_norm": [True, False],
            "mamba_norm_before_gate": [True, False],
            "key_multiplier": [0.5],
            "mlp_multipliers": [[0.7, 1.4]],
        },
        **{"ssm_multipliers": [None, [0.5, 0.7, 1.3, 1.5, 0.9]], "ssm_in_multiplier": [1.0, 1.25], "ssm_out_multiplier": [0.8]},
        **{"attention_in_multiplier": [0.9], "attention_out_multiplier": [1.2], "embedding_multiplier": [2.0], "lm_head_multiplier": [0.5]},
    },
    "openai-gpt": {
        "vocab_size": [64],
        "n_positions": [64],
        "n_embd": [32, 48],
        "n_layer": [1, 3],
        "n_head": [2, 4],
        "afn": ["gelu", "silu"],
    },
    "biogpt": {**SIZES, **TIED, "scale_embedding": [True, False]},
    "xglm": {
        **{"vocab_size": [64], "d_model": [32], "ffn_dim": [48], "num_layers": [1, 2], "attention_heads": [2, 4]},
        **{"max_position_embeddings": [64], "scale_embedding": [True, False], "activation_function": ["gelu", "relu"]},
    },
    "bitnet": {**GROUPS, **BIAS},
    "laguna": {
        **{**GROUPS, **BIAS, "head_dim": [16], "num_hidden_layers": [3], "num_attention_heads": [4], "sliding_window": [4]},
        **{"num_attention_heads_per_layer": [None, [4, 2, 8]], "gating": [True, "per-element"], "num_experts": [4, 6]},
        **{"num_experts_per_tok": [1, 2], "moe_intermediate_size": [24], "shared_expert_intermediate_size": [16]},
        **{"moe_routed_scaling_factor": [1.0, 1.5], "moe_router_logit_softcapping": [0.0, 2.0]},
        "layer_types": [None, ["full_attention", "sliding_attention", "sliding_attention"]],
        "mlp_layer_types": [None, ["sparse", "dense", "sparse"]],
    },
    "mimo_v2_flash": {
        **{**GROUPS, **BIAS, "head_dim": [24], "v_head_dim": [16, 24], "num_attention_heads": [4], "num_hidden_layers": [4]},
        **{"n_routed_experts": [8], "num_experts_per_tok": [1, 2], "moe_intermediate_size": [24], "n_group": [2], "topk_group": [1, 2]},
        **{"norm_topk_prob": [True, False], "routed_scaling_factor": [None, 1.5], "sliding_window": [4]},
        **{"attention_value_scale": [None, 0.707], "layer_types": [None, ["sliding_attention", "full_attention"] * 2]},
        "mlp_layer_types": [None, ["sparse", "dense"] * 2],
    },
    "cohere2_moe": {
        **{**GROUPS, **BIAS, "head_dim": [16], "num_hidden_layers": [5], "sliding_window": [4], "num_experts": [4]},
        **{"num_experts_per_tok": [1, 2], "num_shared_experts": [0, 1, 2], "shared_expert_combination_strategy": ["average", "sum"]},
        **{"expert_selection_fn": ["softmax", "sigmoid"], "norm_topk_prob": [True, False], "rms_norm_eps": [None, 1e-3]},
        **{"first_k_dense_replace": [0, 1, 2], "prefix_dense_sliding_window_pattern": [1, 2], "sliding_window_pattern": [2, 4]},
        "prefix_dense_intermediate_size": [None, 40],
    },
    "kolibri1": {
        **{**HEADS, **TIED, "hidden_size": [32], "num_key_value_heads": [1, 2], "head_dim": [16], "sliding_window": [4]},
        **{"num_hidden_layers": [2, 5], "max_position_embeddings": [64], "num_experts": [4, 6], "num_experts_per_tok": [1, 2]},
        **{"moe_intermediate_size": [24], "shared_expert_intermediate_size": [16], "norm_topk_prob": [True, False]},
    },
    "flint": {
        **{**GROUPS, **BIAS, "head_dim": [16], "num_hidden_layers": [5], "sliding_window": [4], "num_experts": [4, 6]},
        **{"num_experts_per_tok": [1, 2], "moe_intermediate_size": [24], "shared_expert_intermediate_size": [16]},
        **{"norm_topk_prob": [True, False], "mlp_only_layers": [None, [2]]},
        "layer_types": [None, ["sliding_attention", "full_attention", "sliding_attention", "sliding_attention", "full_attention"]],
    },
    "lara_mini": {
        **{**GROUPS, **BIAS, **DELTA_RULE, "head_dim": [16], "num_hidden_layers": [4], "sliding_window": [4], "num_experts": [4, 6]},
        **{"num_experts_per_tok": [1, 2], "moe_intermediate_size": [24], "shared_expert_intermediate_size": [16]},
        **{"norm_topk_prob": [True, False], "layer_types": [LARA_LAYERS, ["full_attention", "linear_attention", *LARA_LAYERS[:2]]]},
    },
    "minimax": {
        **{**GROUPS, "head_dim": [8, 16], "num_local_experts": [4], "num_experts_per_tok": [1, 2], "num_hidden_layers": [2, 3]},
        **{f"{key}_{part}_factor": [1.0, 0.7] for key in ("full_attn", "linear_attn", "mlp") for part in ("alpha", "beta")},
        **{"block_size": [4, 256], "layer_types": [None]},
    },
    "recurrent_gemma": {
        **{**SIZES, **BIAS, "num_key_value_heads": [1, 2], "num_hidden_layers": [3, 4], "conv1d_width": [2, 4], "lru_width": [None, 48]},
        **{"attention_window_size": [4, 64], "block_types": [["recurrent", "attention"], ["recurrent", "recurrent", "attention"]]},
        **{"logits_soft_cap": [30.0, 2.0], "hidden_activation": ["gelu_pytorch_tanh", "silu"], "rope_theta": [1e4, 5e5]},
    },
    "olmo_hybrid": {
        **{**GROUPS, **BIAS, "num_hidden_layers": [4], "linear_num_key_heads": [2], "linear_num_value_heads": [2, 4]},
        **{"linear_key_head_dim": [8], "linear_value_head_dim": [8, 12], "linear_conv_kernel_dim": [2, 4]},
        **{"linear_allow_neg_eigval": [True, False], "rope_parameters": [None, {"rope_type": "default", "rope_theta": 1e4}]},
        "layer_types": [None, ["full_attention", "linear_attention"] * 2],
    },
}
"""Those of each family."""
