"""The keys of drawn models in GGUF, from the configurations of Transformers: a function for each kind of architecture.

Each takes a configuration and the keys of `common_keys`, which it changes, or it returns all keys.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

from tests.numerical.transformers.drawn_file_tensors import is_split

Keys = dict[str, Any]
"""The keys of a file, without the architecture; or those of config.json."""


def common_keys(config: Any) -> Keys:
    """The keys of most architectures."""
    head_size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    rotation = config.rope_parameters
    by_kind = rotation.get("full_attention", rotation)
    keys: Keys = {
        "context_length": config.max_position_embeddings,
        "embedding_length": config.hidden_size,
        "block_count": config.num_hidden_layers,
        "feed_forward_length": config.intermediate_size,
        "attention.head_count": config.num_attention_heads,
        "attention.head_count_kv": config.num_key_value_heads,
        "attention.layer_norm_rms_epsilon": getattr(config, "rms_norm_eps", None) or getattr(config, "norm_eps", 0.0),
        "attention.key_length": head_size,
        "attention.value_length": head_size,
        "rope.freq_base": float(by_kind["rope_theta"]),
        "vocab_size": config.vocab_size,
    }
    if (part := by_kind.get("partial_rotary_factor")) is not None:
        keys["rope.dimension_count"] = int(head_size * part)
    if getattr(config, "moe_intermediate_size", None):
        keys["expert_feed_forward_length"] = config.moe_intermediate_size
    count = getattr(config, "n_routed_experts", None) or getattr(config, "num_experts", None) or getattr(config, "num_local_experts", None)
    if count:
        keys |= {"expert_count": count, "expert_used_count": getattr(config, "num_experts_per_tok", None)}
    return keys


def routed(config: Any, keys: Keys) -> None:
    """Add the keys of routers with sigmoids and of experts that compute every token."""
    keys["expert_gating_func"] = 2
    for name, field in (("expert_shared_count", "n_shared_experts"), ("expert_shared_count", "num_shared_experts")):
        if getattr(config, field, None) is not None:
            keys[name] = getattr(config, field)
    keys["leading_dense_block_count"] = next(
        (getattr(config, each) for each in ("first_k_dense_replace", "num_dense_layers") if getattr(config, each, None) is not None), 0
    )
    for field in ("routed_scaling_factor", "route_scale"):
        if hasattr(config, field):
            keys["expert_weights_scale"] = float(getattr(config, field))
    if getattr(config, "norm_topk_prob", None) is not None:
        keys["expert_weights_norm"] = bool(config.norm_topk_prob)


def glm4_moe(config: Any, keys: Keys) -> None:
    """Groups, and no layers for further tokens."""
    routed(config, keys)
    keys |= {"expert_group_count": config.n_group, "expert_group_used_count": config.topk_group, "nextn_predict_layers": 0}


def deepseek(config: Any, keys: Keys) -> None:
    """Sizes of compressed vectors, and of heads as newer files have them."""
    glm4_moe(config, keys)
    keys["expert_gating_func"] = 2 if config.model_type == "deepseek_v3" else 1
    keys.pop("nextn_predict_layers")
    if config.model_type == "deepseek_v2":
        keys |= {"expert_weights_norm": False, "expert_group_count": 1, "expert_group_used_count": 1}
    key = config.qk_nope_head_dim + config.qk_rope_head_dim
    keys |= {"attention.key_length": key, "attention.value_length": config.v_head_dim, "rope.dimension_count": config.qk_rope_head_dim}
    keys["attention.kv_lora_rank"] = config.kv_lora_rank
    if config.q_lora_rank:
        keys["attention.q_lora_rank"] = config.q_lora_rank
    if is_split(config):
        keys |= {"attention.key_length_mla": key, "attention.value_length_mla": config.v_head_dim, "attention.head_count_kv": 1}
        keys |= {"attention.key_length": config.kv_lora_rank + config.qk_rope_head_dim, "attention.value_length": config.kv_lora_rank}
    scaling = config.rope_parameters
    if scaling.get("rope_type") == "yarn":
        keys |= {"rope.scaling.type": "yarn", "rope.scaling.factor": scaling["factor"]}
        keys["rope.scaling.original_context_length"] = scaling["original_max_position_embeddings"]
        keys["rope.scaling.yarn_log_multiplier"] = 0.1 * scaling["mscale_all_dim"]


def hunyuan(config: Any, keys: Keys) -> None:
    """The base of the rotation as it is after its scaling."""
    alpha, size = config.rope_parameters.get("alpha"), keys["attention.key_length"]
    if alpha:
        keys["rope.freq_base"] *= alpha ** (size / (size - 2))
        keys |= {"rope.scaling.type": "none", "rope.scaling.factor": 1.0, "rope.scaling.original_context_length": 64}
    if getattr(config, "moe_topk", None):
        keys |= {"expert_used_count": config.moe_topk, "expert_feed_forward_length": config.intermediate_size}
        keys |= {"expert_shared_feed_forward_length": config.intermediate_size, "expert_shared_count": 1}
    else:
        for name in ("expert_count", "expert_used_count"):
            keys.pop(name, None)


def with_images(config: Any, keys: Keys) -> None:
    """Keys of models with images, which have no effect on texts."""
    keys["rope.dimension_sections"] = [*config.rope_parameters["mrope_section"], 0]
    if config.model_type.startswith("qwen3"):
        keys["n_deepstack_layers"] = 3


def minimax(config: Any, keys: Keys) -> None:
    """Sigmoids, and fewer rotated dimensions."""
    keys |= {"expert_gating_func": 2, "expert_feed_forward_length": config.intermediate_size}
    keys["rope.dimension_count"] = config.rotary_dim or keys["attention.key_length"]


def windows(config: Any, keys: Keys) -> None:
    """The window and the layers that have it."""
    if config.sliding_window:
        keys["attention.sliding_window"] = config.sliding_window
        if getattr(config, "layer_types", None):
            keys["attention.sliding_window_pattern"] = [each == "sliding_attention" for each in config.layer_types]


def exaone_moe(config: Any, keys: Keys) -> None:
    """Windows, and experts."""
    routed(config, keys)
    windows(config, keys)
    keys |= {"expert_shared_feed_forward_length": config.moe_intermediate_size * config.num_shared_experts}
    keys |= {"nextn_predict_layers": 0, "rope.scaling.type": "none"}


def afmoe(config: Any, keys: Keys) -> None:
    """A window whose layers the architecture knows."""
    routed(config, keys)
    keys |= {"attention.sliding_window": config.sliding_window, "expert_weights_norm": True}


def lfm2_moe(config: Any, keys: Keys) -> None:
    """Layers without attention have no heads of keys."""
    routed(config, keys)
    for name in ("expert_weights_norm", "expert_weights_scale"):
        keys.pop(name, None)
    keys["shortconv.l_cache"] = config.conv_L_cache
    keys["attention.head_count_kv"] = [config.num_key_value_heads if each == "full_attention" else 0 for each in config.layer_types]


def ernie(config: Any, keys: Keys) -> None:
    """Experts in each n-th layer."""
    keys |= {
        "expert_count": config.moe_num_experts,
        "expert_used_count": config.moe_k,
        "expert_shared_count": config.moe_num_shared_experts,
    }
    keys |= {"interleave_moe_layer_step": config.moe_layer_interval, "leading_dense_block_count": config.moe_layer_start_index}


def ministral(config: Any, keys: Keys) -> None:
    """A scaling with a growth of queries."""
    scaling = config.rope_parameters
    keys |= {"rope.scaling.type": "yarn", "rope.scaling.factor": scaling["factor"]}
    keys["rope.scaling.original_context_length"] = scaling["original_max_position_embeddings"]
    keys["rope.scaling.yarn_log_multiplier"] = scaling.get("mscale_all_dim", 1.0)
    keys["attention.temperature_scale"] = scaling["llama_4_scaling_beta"]
    if config.sliding_window:
        keys["attention.sliding_window"] = config.sliding_window


def gemma3n(config: Any, keys: Keys) -> None:
    """Sizes of embeddings of layers, and the number of deviations below which gates are 0."""
    windows(config, keys)
    keys |= {"altup.active_idx": config.altup_active_idx, "altup.num_inputs": config.altup_num_inputs}
    keys |= {
        "embedding_length_per_layer_input": config.hidden_size_per_layer_input,
        "attention.shared_kv_layers": config.num_kv_shared_layers,
    }
    shares = config.activation_sparsity_pattern
    keys["activation_sparsity_scale"] = [NormalDist().inv_cdf(each) if each else -float("inf") for each in shares]
    keys |= {"final_logit_softcapping": config.final_logit_softcapping, "rope.freq_base_swa": 10000.0}


def mamba(config: Any, _keys: Keys) -> Keys:
    """All keys of state spaces."""
    return {
        "context_length": 1 << 20,
        "embedding_length": config.hidden_size,
        "feed_forward_length": 0,
        "attention.head_count": 0,
        "block_count": config.num_hidden_layers,
        "ssm.conv_kernel": config.conv_kernel,
        "ssm.inner_size": config.intermediate_size,
        "ssm.state_size": config.state_size,
        "ssm.time_step_rank": config.time_step_rank,
        "attention.layer_norm_rms_epsilon": config.layer_norm_epsilon,
        "ssm.dt_b_c_rms": config.model_type == "falcon_mamba",
    }


def mamba2(config: Any, _keys: Keys) -> Keys:
    """All keys of state spaces with heads."""
    inner = config.expand * config.hidden_size
    return {
        **{"context_length": 1 << 20, "embedding_length": config.hidden_size, "feed_forward_length": 0, "attention.head_count": 0},
        **{"block_count": config.num_hidden_layers, "ssm.conv_kernel": config.conv_kernel, "ssm.inner_size": inner},
        **{"ssm.state_size": config.state_size, "ssm.time_step_rank": config.num_heads, "ssm.group_count": config.n_groups},
        "attention.layer_norm_rms_epsilon": config.layer_norm_epsilon,
    }


def granite(config: Any, keys: Keys) -> None:
    """Factors, sizes of state spaces, and layers without attention, which have no heads of keys."""
    keys |= {"embedding_scale": config.embedding_multiplier, "residual_scale": config.residual_multiplier}
    keys |= {"attention.scale": config.attention_multiplier, "logit_scale": config.logits_scaling}
    keys |= {"expert_shared_feed_forward_length": config.shared_intermediate_size}
    if not config.num_local_experts:
        for name in ("expert_count", "expert_used_count"):
            keys.pop(name, None)
    keys |= {"ssm.conv_kernel": config.mamba_d_conv, "ssm.state_size": config.mamba_d_state, "ssm.group_count": config.mamba_n_groups}
    keys |= {"ssm.inner_size": config.mamba_n_heads * config.mamba_d_head, "ssm.time_step_rank": config.mamba_n_heads}
    keys["rope.scaling.finetuned"] = config.position_embedding_type == "rope"
    has_attention = [each in ("attention", "full_attention") for each in config.layer_types]
    keys["attention.head_count_kv"] = [config.num_key_value_heads if each else 0 for each in has_attention]


def qwen3_next(config: Any, keys: Keys) -> None:
    """Sizes of delta rules."""
    keys |= {"full_attention_interval": config.layer_types.index("full_attention") + 1, "ssm.conv_kernel": config.linear_conv_kernel_dim}
    keys |= {"ssm.state_size": config.linear_key_head_dim, "ssm.group_count": config.linear_num_key_heads}
    keys["ssm.time_step_rank"] = config.linear_num_value_heads
    keys["ssm.inner_size"] = config.linear_value_head_dim * config.linear_num_value_heads
    if getattr(config, "shared_expert_intermediate_size", None):
        keys["expert_shared_feed_forward_length"] = config.shared_expert_intermediate_size


def llama4(config: Any, keys: Keys) -> None:
    """The size of experts apart from that of other blocks."""
    keys |= {"feed_forward_length": config.intermediate_size_mlp, "expert_feed_forward_length": config.intermediate_size}
    keys |= {"interleave_moe_layer_step": config.interleave_moe_layer_step, "leading_dense_block_count": 0}
    keys |= {"expert_used_count": config.num_experts_per_tok, "rope.dimension_count": keys["attention.key_length"]}


def full_layer(config: Any) -> Keys:
    """The sizes of layers without a window that differ from those of others."""
    keys: Keys = config.to_dict()
    overridden = keys.get("per_layer_config") or {}
    return overridden.get(str(keys["layer_types"].index("full_attention")), {})


def gemma4(config: Any, keys: Keys) -> None:
    """Sizes that differ between layers with windows and the others."""
    windows(config, keys)
    size, of_full = config.to_dict()["head_dim"], full_layer(config)
    full = of_full.get("head_dim", size)
    keys |= {"attention.key_length": full, "attention.value_length": full, "rope.dimension_count": full}
    keys |= {"attention.key_length_swa": size, "attention.value_length_swa": size, "rope.dimension_count_swa": size}
    keys |= {"attention.shared_kv_layers": config.num_kv_shared_layers, "rope.freq_base_swa": 10000.0}
    keys["embedding_length_per_layer_input"] = config.hidden_size_per_layer_input or 0
    if config.final_logit_softcapping:
        keys["final_logit_softcapping"] = config.final_logit_softcapping
    if config.use_double_wide_mlp:
        own = config.num_hidden_layers - config.num_kv_shared_layers
        keys["feed_forward_length"] = [config.intermediate_size * (1 if layer < own else 2) for layer in range(config.num_hidden_layers)]
    if "num_key_value_heads" in of_full:
        by_kind = {"sliding_attention": config.to_dict()["num_key_value_heads"], "full_attention": of_full["num_key_value_heads"]}
        keys["attention.head_count_kv"] = [by_kind[each] for each in config.layer_types]
    for name in ("expert_count", "expert_used_count", "expert_feed_forward_length"):
        keys.pop(name, None)
    if config.enable_moe_block:
        keys |= {"expert_count": config.num_experts, "expert_used_count": config.top_k_experts}
        keys["expert_feed_forward_length"] = config.moe_intermediate_size


def dbrx(config: Any, _keys: Keys) -> Keys:
    """All keys, of objects within the configuration."""
    attention, experts = config.attn_config, config.ffn_config
    return {
        **{"block_count": config.n_layers, "context_length": config.max_seq_len, "embedding_length": config.d_model},
        **{"feed_forward_length": experts.ffn_hidden_size, "attention.head_count": config.n_heads},
        **{"attention.head_count_kv": attention.kv_n_heads, "rope.freq_base": float(config.rope_parameters["rope_theta"])},
        **{"attention.clamp_kqv": float(attention.clip_qkv), "expert_count": experts.moe_num_experts},
        **{"expert_used_count": experts.moe_top_k, "attention.layer_norm_epsilon": 1e-5},
    }
