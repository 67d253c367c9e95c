"""Random models of all families, written and computed by Transformers, against the converted models.

    python -m tests.numerical.transformers.drawn_models write FOLDER [--count N] [--seed S] [--only FAMILY]
    python -m tests.numerical.transformers.drawn_models compare FOLDER

The first command needs torch and transformers, the second moir and OpenVINO; they may be of different environments. A
decoder sees two texts, one of them padded on the left, then a token of each, then several, with what is cached; an
encoder two texts, one of them padded on the right.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

TOLERANCE = 1e-4
"""Greatest difference of a result, in parts of the largest result."""

LENGTH, STEPS = 13, ((0, 9), (9, 10), (10, 13))

PADDING = 3
"""Tokens of padding of the second text."""

HEADS = {"num_attention_heads": [2, 4], "num_hidden_layers": [1, 2, 4], "vocab_size": [64]}
SIZES = {**HEADS, "hidden_size": [32, 64], "intermediate_size": [48, 80], "max_position_embeddings": [64]}
SPECIAL = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
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
LATENT = {
    **{**SIZES, **TIED, **BIAS, **GROUPED_EXPERTS, "num_attention_heads": [4], "num_key_value_heads": [4]},
    **{"q_lora_rank": [None, 24], "kv_lora_rank": [16], "qk_nope_head_dim": [8, 12], "qk_rope_head_dim": [8, 4], "v_head_dim": [16, 8, 20]},
    **{"rms_norm_eps": [1e-5], "rope_parameters": [None, YARN]},
}
GRANITE = {
    **{**GROUPS, "embedding_multiplier": [2.0], "residual_multiplier": [0.5], "attention_multiplier": [0.2]},
    "logits_scaling": [3.0],
}
MAMBA = {
    **{"vocab_size": [64], "hidden_size": [32, 48], "num_hidden_layers": [1, 2], "state_size": [4, 8], "expand": [1, 2]},
    **{"conv_kernel": [2, 4], "use_bias": [True, False], "use_conv_bias": [True, False], "time_step_rank": ["auto", 4], **TIED},
}
ENCODER = {**SIZES, "type_vocab_size": [2], "num_labels": [1, 3]}

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
}
"""The keys of config.json that are drawn for each family, with their values."""

ENCODERS: Mapping[str, Mapping[str, list[Any]]] = {
    "bert": ENCODER,
    "roberta": ENCODER,
    "xlm-roberta": ENCODER,
    "distilbert": {"vocab_size": [64], "dim": [32], "n_layers": [2], "n_heads": [4], "hidden_dim": [48], "num_labels": [1, 3]},
    "modernbert": {
        **SIZES,
        **{"local_attention": [4, 6], "global_attn_every_n_layers": [2, 3], "attention_bias": [True, False]},
        **{"mlp_bias": [True, False], "norm_bias": [True, False]},
    },
}


IMPLEMENTATIONS = {"falcon": "sdpa"}
"""The attentions of Transformers with which models are computed, where it is not `eager`: this one adds biases twice."""


def write(folder: Path, count: int, seed: int, only: str | None) -> None:
    """Write `count` random models of each family below a folder, each with what Transformers computes (`NAME.npz`)."""
    transformers, torch = import_module("transformers"), import_module("torch")
    for model_type, choices in {**DECODERS, **ENCODERS}.items():
        for number in range(count) if only in (None, model_type) else ():
            draw = random.Random(f"{seed} {model_type} {number}")
            torch.manual_seed(draw.randrange(1 << 30))
            keys = {key: draw.choice(values) for key, values in choices.items()}
            configuration = transformers.AutoConfig.for_model(model_type, **{**SPECIAL, **keys})
            configuration._attn_implementation = IMPLEMENTATIONS.get(model_type, "eager")
            kind = "AutoModelForCausalLM"
            if model_type in ENCODERS:
                kind = draw.choice(["AutoModel", "AutoModelForMaskedLM", "AutoModelForSequenceClassification"])
                kind = "AutoModel" if model_type == "modernbert" and kind.endswith("Classification") else kind
            model = getattr(transformers, kind).from_config(configuration).eval()
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter.copy_(torch.randn_like(parameter) * 0.3)
                for name, buffer in model.named_buffers():
                    if name.endswith("correction_bias"):
                        buffer.copy_(torch.randn_like(buffer) * 0.3)
                tokens = torch.randint(5, 64, (2, LENGTH))
                mask = torch.ones_like(tokens)
                padding = slice(0, PADDING) if model_type in DECODERS else slice(9, LENGTH)
                tokens[1, padding], mask[1, padding] = configuration.pad_token_id or 0, 0
                inputs = {"input_ids": tokens, "attention_mask": mask}
                if model_type in DECODERS and "position_ids" in signature(model.forward).parameters:
                    inputs["position_ids"] = (mask.cumsum(-1) - 1).clamp(min=0)
                computed = (model.base_model if kind.endswith("MaskedLM") else model)(**inputs)
            path = folder / f"{model_type}_{number}"
            model.save_pretrained(path)
            result = computed.last_hidden_state if "last_hidden_state" in computed else computed.logits
            np.savez(path.with_suffix(".npz"), tokens=tokens.numpy(), mask=mask.numpy(), result=result.float().numpy())


def differences(folder: Path) -> Iterator[tuple[str, float]]:
    """The models below a folder, and the difference of the result of each in parts of the largest result.

    Raises ConversionError for a model that cannot be converted.
    """
    openvino, moir = import_module("openvino"), import_module("moir")
    exact = {"INFERENCE_PRECISION_HINT": "f32", "KV_CACHE_PRECISION": "f32"}
    for path in sorted(folder.glob("*.npz")):
        arrays = dict(np.load(path))
        compiled = openvino.Core().compile_model(moir.to_openvino(moir.convert_model(path.with_suffix(""))), "CPU", exact)
        inputs, request = {each.any_name for each in compiled.inputs}, compiled.create_infer_request()
        parts: list[Any] = []
        for start, stop in STEPS if "beam_idx" in inputs else ((0, LENGTH),):
            given = {
                "input_ids": arrays["tokens"][:, start:stop],
                "attention_mask": arrays["mask"][:, :stop],
                "position_ids": np.maximum(np.cumsum(arrays["mask"], 1) - 1, 0)[:, start:stop],
                "beam_idx": np.arange(2, dtype=np.int32),
                "token_type_ids": np.zeros_like(arrays["tokens"]),
            }
            parts.append(request.infer({name: value for name, value in given.items() if name in inputs})[0].copy())
        actual, expected = np.concatenate(parts, 1) if len(parts) > 1 else parts[0], arrays["result"]
        if expected.ndim == 3:
            actual, expected = actual[arrays["mask"] > 0], expected[arrays["mask"] > 0]
        yield path.stem, float(np.abs(actual - expected).max() / np.abs(expected).max())


def main() -> int:
    """Run a command; returns the number of models that are wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.numerical.transformers.drawn_models", description="Compare drawn models.")
    parser.add_argument("command", choices=["write", "compare"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", metavar="FAMILY")
    options = parser.parse_args()
    if options.command == "write":
        write(options.folder, options.count, options.seed, options.only)
        return 0
    results = list(differences(options.folder))
    wrong = [(name, difference) for name, difference in results if not difference < TOLERANCE]
    for name, difference in wrong:
        print(f"{name}: {difference:.2g}")
    print(f"{len(results)} models, {len(wrong)} wrong")
    return len(wrong)


if __name__ == "__main__":
    sys.exit(main())
