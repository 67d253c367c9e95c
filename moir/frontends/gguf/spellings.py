"""How GGUF spells the families: which architecture in a file is which family, and which tensor is which operand.

The keys of a file become keys of config.json, and the records of the families say what these mean, see
`moir.frontends.gguf.configuration`.
"""

from __future__ import annotations

from collections.abc import Mapping

from moir.architectures.record import NOTHING
from moir.support.records import Record

TENSORS: Mapping[str, str] = {
    "attention": "attn",
    "attention_norm": "attn_norm",
    "attention.query": "attn_q",
    "attention.key": "attn_k",
    "attention.value": "attn_v",
    "attention.query_key_value": "attn_qkv",
    "attention.output": "attn_output",
    "attention.query_down": "attn_q_a",
    "attention.query_up": "attn_q_b",
    "attention.key_value_down": "attn_kv_a_mqa",
    "attention.key_value_norm": "attn_kv_a_norm",
    "attention.key_value_up": "attn_kv_b",
    "attention.query_norm": "attn_q_norm",
    "attention.key_norm": "attn_k_norm",
    "attention.sinks": "attn_sinks.weight",
    "attention.gate": "attn_gate",
    "attention_output_norm": "post_attention_norm",
    "feed_forward": "ffn",
    "feed_forward_norm": "ffn_norm",
    "feed_forward.gate": "ffn_gate",
    "feed_forward.up": "ffn_up",
    "feed_forward.gate_up": "ffn_up",
    "feed_forward.down": "ffn_down",
    "feed_forward_output_norm": "post_ffw_norm",
    "experts": "ffn_exps",
    "experts.router": "ffn_gate_inp",
    "experts.gate": "ffn_gate_exps",
    "experts.up": "ffn_up_exps",
    "experts.down": "ffn_down_exps",
    "experts.gate_up": "ffn_gate_up_exps",
    "experts.correction": "exp_probs_b.bias",
    "shared_expert": "ffn_shexp",
    "shared_expert.gate": "ffn_gate_shexp",
    "shared_expert.up": "ffn_up_shexp",
    "shared_expert.down": "ffn_down_shexp",
    "shared_expert_gate": "ffn_gate_inp_shexp",
    "layer_input.gate": "inp_gate",
    "layer_input.output": "proj",
    "layer_input.norm": "post_norm",
    "updates.router_norm": "altup_router_norm",
    "updates.router": "altup_router",
    "updates.prediction": "altup_predict_coef",
    "updates.correction": "altup_correct_coef",
    "updates.scale": "altup_correct_scale.weight",
    "laurel.down": "laurel_l",
    "laurel.up": "laurel_r",
    "laurel.norm": "laurel_post_norm",
    "state_space": "ssm",
    "state_space.input": "ssm_in",
    "state_space.parts": "ssm_x",
    "state_space.step": "ssm_dt",
    "state_space.decay": "ssm_a",
    "state_space.skip": "ssm_d",
    "state_space.output": "ssm_out",
    "convolution": "shortconv",
    "convolution.input": "shortconv.in_proj",
    "convolution.kernel": "shortconv.conv",
    "convolution.output": "shortconv.out_proj",
}
"""The tensors of a layer by their operands."""

MODEL_TENSORS: Mapping[str, str] = {
    "embedding": "token_embd",
    "embedding_norm": "token_embd_norm",
    "positions": "position_embd",
    "final_norm": "output_norm",
    "head": "output",
    "layer_embedding": "per_layer_token_embd",
    "layer_projection": "per_layer_model_proj",
    "layer_projection_norm": "per_layer_proj_norm",
}
"""The tensors of the whole model by their operands."""

LAYER = "blk.{}"
"""The beginning of the names of a layer's tensors."""


class Spelling(Record):
    """The names that GGUF files of an architecture use for the keys and tensors of a model family.

    Args:
        family: the family.
        variants: the family if a key has a value other than 0, or the value after `=`: {key: family}.
        is_permuted: whether the rows of queries and keys are in the order of pairs that are rotated together, where the
            family has the two parts of each head one after another.
        tensors: the tensors by their operands, where they are not those of `TENSORS` and `MODEL_TENSORS`; of several
            names with a comma between them the first that the file has.
        architecture: fields of the family's architecture that files change.
        keys: the keys of config.json by the fields of a configuration, where they are not those of the family.
        fixed: keys of config.json that all files of the architecture stand for.
        choices: keys of config.json with their values if the first layer has a tensor, and if it does not.
        flags: keys of config.json with their values if a key of the file is true, and if it is not or is absent.
        numbers: keys of config.json with their values if a key of the file has a number: (key, number, KEY, value).
        copied: the keys of config.json that keys of the file say as they are.
        quotients: the keys of config.json that are the quotient of two keys of the file.
        required: keys without which older files mean other values than the usual ones.
        ignored: keys without effect in the family.
        scaling: the parameters of a rotary embedding, by keys of the file that say them.
        window: the size of windows for a file without that key: 0 for no windows, None if the key is required.
        has_sliding_sizes: whether sizes differ between layers with windows, which the file lists, and the others.
        wide_layers: the number of layers of the model whose scores are divided by the square root of hidden / heads
            instead of that of the size of a head; 0 if there is none.
    """

    family: str
    variants: Mapping[str, str] = NOTHING
    is_permuted: bool = False
    tensors: Mapping[str, str] = NOTHING
    architecture: Mapping[str, object] = NOTHING
    keys: Mapping[str, str] = NOTHING
    fixed: Mapping[str, object] = NOTHING
    choices: tuple[tuple[str, str, object, object], ...] = ()
    flags: tuple[tuple[str, str, object, object], ...] = ()
    numbers: tuple[tuple[str, int, str, object], ...] = ()
    copied: Mapping[str, str] = NOTHING
    quotients: Mapping[str, tuple[str, str]] = NOTHING
    required: tuple[str, ...] = ()
    ignored: frozenset[str] = frozenset()
    scaling: Mapping[str, str] = NOTHING
    window: int | None = 0
    has_sliding_sizes: bool = False
    wide_layers: int = 0

    def tensors_of(self, operand: str) -> tuple[str, ...]:
        """The alternative names of the tensor of an operand; a file has one of them. Names in a layer lack the prefix
        of the layer.
        """
        usual = TENSORS.get(operand) or MODEL_TENSORS.get(operand, operand)
        return tuple(self.tensors.get(operand, usual).split(","))


WITHOUT_WINDOW: Mapping[str, object] = {"use_sliding_window": False}

OF_IMAGES = frozenset(("rope.dimension_sections", "n_deepstack_layers"))

OF_STATES = frozenset(("feed_forward_length", "context_length", "attention.head_count"))

STATE_TENSORS: Mapping[str, str] = {
    **{"convolution.kernel": "ssm_conv1d", "state_space.step_bias": "ssm_dt.bias", "state_space.norm": "ssm_norm"},
}

DELTA_TENSORS: Mapping[str, str] = {
    **{"feed_forward_norm": "post_attention_norm", "convolution.kernel": "ssm_conv1d"},
    **{"delta_rule.query_key_value": "attn_qkv", "delta_rule.gates": "attn_gate", "delta_rule.decay": "ssm_a"},
    **{"delta_rule.step_bias": "ssm_dt.bias", "delta_rule.norm": "ssm_norm", "delta_rule.output": "ssm_out"},
}

DELTA_KEYS: Mapping[str, str] = {
    **{"full_attention_interval": "full_attention_interval", "ssm.conv_kernel": "linear_conv_kernel_dim"},
    **{"ssm.state_size": "linear_key_head_dim", "ssm.group_count": "linear_num_key_heads"},
    "ssm.time_step_rank": "linear_num_value_heads",
}

DELTA_QUOTIENTS: Mapping[str, tuple[str, str]] = {"linear_value_head_dim": ("ssm.inner_size", "ssm.time_step_rank")}

QWEN35 = Spelling(
    "qwen3_5_text",
    tensors={**DELTA_TENSORS, "delta_rule.strengths": "ssm_beta", "delta_rule.steps": "ssm_alpha"},
    architecture={"tiles_keys": True},
    copied=DELTA_KEYS,
    quotients=DELTA_QUOTIENTS,
    ignored=OF_IMAGES,
)

SPELLINGS: Mapping[str, Spelling] = {
    "llama": Spelling("llama", variants={"expert_count": "mixtral", "attention.sliding_window": "mistral"}, is_permuted=True),
    "qwen2": Spelling("qwen2", fixed=WITHOUT_WINDOW),
    "qwen3": Spelling("qwen3", fixed=WITHOUT_WINDOW),
    "qwen3moe": Spelling("qwen3_moe", fixed={**WITHOUT_WINDOW, "norm_topk_prob": True}),
    "qwen2moe": Spelling("qwen2_moe", fixed={**WITHOUT_WINDOW, "norm_topk_prob": False}),
    # The language models of models with images: the sections of rotations have no effect on text.
    "qwen2vl": Spelling("qwen2", fixed=WITHOUT_WINDOW, ignored=OF_IMAGES),
    "qwen3vl": Spelling("qwen3", fixed=WITHOUT_WINDOW, ignored=OF_IMAGES),
    "qwen3vlmoe": Spelling("qwen3_moe", fixed={**WITHOUT_WINDOW, "norm_topk_prob": True}, ignored=OF_IMAGES),
    "arcee": Spelling("arcee", is_permuted=True),
    "seed_oss": Spelling("seed_oss", tensors={"feed_forward_norm": "post_attention_norm"}),
    "exaone": Spelling("exaone"),
    "olmo": Spelling("olmo", is_permuted=True),
    "olmo2": Spelling("olmo2", variants={"attention.sliding_window": "olmo3"}),
    "olmoe": Spelling("olmoe", fixed={"norm_topk_prob": False}),
    "granite": Spelling("granite", is_permuted=True),
    "granitemoe": Spelling("granitemoe", variants={"expert_shared_feed_forward_length": "granitemoeshared"}, is_permuted=True),
    "smollm3": Spelling("smollm3", is_permuted=True, fixed=WITHOUT_WINDOW),
    "gemma": Spelling("gemma"),
    "gemma2": Spelling("gemma2", window=4096, wide_layers=46),
    "gemma3": Spelling("gemma3_text", wide_layers=62),
    "phi2": Spelling("phi"),
    "phi3": Spelling("phi3"),
    "phimoe": Spelling("phimoe"),
    "chatglm": Spelling("glm"),
    "glm4": Spelling("glm4"),
    "command-r": Spelling("cohere", choices=(("use_qk_norm", "attn_q_norm", True, False),)),
    "cohere2": Spelling("cohere2", window=None),
    "exaone4": Spelling("exaone4"),
    "ernie4_5": Spelling("ernie4_5"),
    "starcoder": Spelling("gpt_bigcode", fixed={"multi_query": True}),
    "starcoder2": Spelling("starcoder2"),
    # The tensors say whether the residuals are parallel; the key is redundant, and wrong in some files.
    "stablelm": Spelling(
        "stablelm", choices=(("use_parallel_residual", "ffn_norm", False, True),), ignored=frozenset(("use_parallel_residual",))
    ),
    "nemotron": Spelling("nemotron"),
    "gpt2": Spelling("gpt2"),
    "gptneox": Spelling("gpt_neox", copied={"use_parallel_residual": "use_parallel_residual"}),
    "bloom": Spelling("bloom"),
    # Falcon-7B is Falcon with the new decoder architecture, one key head and one normalization.
    "falcon": Spelling(
        "falcon",
        tensors={"attention_norm": "attn_norm_2,attn_norm", "feed_forward_norm": "attn_norm"},
        keys={"key_heads": "num_kv_heads"},
        fixed={"new_decoder_architecture": True},
        choices=(("num_ln_in_parallel_attn", "attn_norm_2", 2, 1),),
    ),
    "lfm2": Spelling(
        "lfm2",
        tensors={"final_norm": "output_norm,token_embd_norm"},
        fixed={"block_auto_adjust_ff_dim": False},
        copied={"shortconv.l_cache": "conv_L_cache"},
    ),
    "mistral3": Spelling(
        "ministral3",
        is_permuted=True,
        scaling={"attention.temperature_scale": "llama_4_scaling_beta", "rope.scaling.yarn_log_multiplier": "mscale_all_dim"},
    ),
    # MiniCPM is Llama with the factors of Granite.
    "minicpm": Spelling("granite", is_permuted=True, required=("embedding_scale", "residual_scale", "logit_scale")),
    "glm4moe": Spelling(
        "glm4_moe", tensors={"feed_forward_norm": "post_attention_norm"}, choices=(("use_qk_norm", "attn_q_norm", True, False),)
    ),
    # Files do not have the groups of experts if they are older, and never a normalization that is off.
    "deepseek2": Spelling(
        "deepseek_v2",
        variants={"expert_gating_func=2": "deepseek_v3"},
        tensors={"attention.query_norm": "attn_q_a_norm"},
        fixed={"n_group": 1, "topk_group": 1, "norm_topk_prob": False, "routed_scaling_factor": 1.0},
    ),
    "dots1": Spelling("dots1"),
    "dbrx": Spelling("dbrx", tensors={"feed_forward_norm": "attn_output_norm"}),
    # Of Llama 4 only Maverick, which has 128 experts, does not normalize queries and keys.
    "llama4": Spelling("llama4_text", numbers=(("expert_count", 128, "use_qk_norm", False),)),
    "hunyuan-dense": Spelling("hunyuan_v1_dense"),
    "hunyuan-moe": Spelling("hunyuan_v1_moe"),
    "ernie4_5-moe": Spelling("ernie4_5_moe"),
    "minimax-m2": Spelling("minimax_m2"),
    "exaone-moe": Spelling("exaone_moe"),
    # llama.cpp always scales the embeddings.
    "afmoe": Spelling("afmoe", fixed={"mup_enabled": True}),
    "lfm2moe": Spelling(
        "lfm2_moe",
        tensors={"final_norm": "output_norm,token_embd_norm"},
        fixed={"norm_topk_prob": True},
        copied={"shortconv.l_cache": "conv_L_cache"},
    ),
    "gemma3n": Spelling(
        "gemma3n_text",
        copied={
            **{"attention.shared_kv_layers": "num_kv_shared_layers", "embedding_length_per_layer_input": "hidden_size_per_layer_input"},
            **{"altup.active_idx": "altup_active_idx", "altup.num_inputs": "altup_num_inputs"},
        },
    ),
    "gemma4": Spelling(
        "gemma4_text",
        tensors={
            **{"factor": "layer_output_scale.weight", "experts.router.scale": "ffn_gate_inp.scale"},
            **{"experts.factors": "ffn_down_exps.scale", "experts_norm": "pre_ffw_norm_2"},
            **{"network_output_norm": "post_ffw_norm_1", "experts_output_norm": "post_ffw_norm_2"},
        },
        choices=(("enable_moe_block", "ffn_gate_inp", True, False),),
        copied={
            **{"attention.shared_kv_layers": "num_kv_shared_layers", "embedding_length_per_layer_input": "hidden_size_per_layer_input"},
            **{"expert_count": "num_experts", "expert_used_count": "top_k_experts"},
            "expert_feed_forward_length": "moe_intermediate_size",
        },
        window=None,
        has_sliding_sizes=True,
    ),
    "mamba": Spelling(
        "mamba",
        variants={"ssm.dt_b_c_rms": "falcon_mamba"},
        tensors={"convolution.kernel": "ssm_conv1d"},
        copied={"ssm.conv_kernel": "conv_kernel", "ssm.state_size": "state_size", "ssm.time_step_rank": "time_step_rank"},
        ignored=OF_STATES,
    ),
    "mamba2": Spelling(
        "mamba2",
        tensors=STATE_TENSORS,
        copied={
            **{"ssm.conv_kernel": "conv_kernel", "ssm.state_size": "state_size", "ssm.time_step_rank": "num_heads"},
            "ssm.group_count": "n_groups",
        },
        ignored=OF_STATES,
    ),
    # Dense models have their feed-forward blocks where others have the expert that computes every token.
    "granitehybrid": Spelling(
        "granitemoehybrid",
        is_permuted=True,
        tensors=STATE_TENSORS,
        fixed={"num_local_experts": 0},
        flags=(("position_embedding_type", "rope.scaling.finetuned", "rope", "nope"),),
        copied={
            **{"ssm.conv_kernel": "mamba_d_conv", "ssm.state_size": "mamba_d_state", "ssm.group_count": "mamba_n_groups"},
            "ssm.time_step_rank": "mamba_n_heads",
        },
        quotients={"mamba_d_head": ("ssm.inner_size", "ssm.time_step_rank")},
        ignored=frozenset(("rope.freq_base", "rope.dimension_count")),
    ),
    # Newer files have queries, keys and values of all heads in one matrix, and the gates in another one.
    "qwen3next": Spelling(
        "qwen3_next",
        tensors={**DELTA_TENSORS, "delta_rule.input": "ssm_in", "delta_rule.numbers": "ssm_ba"},
        fixed={"norm_topk_prob": True},
        copied=DELTA_KEYS,
        quotients=DELTA_QUOTIENTS,
    ),
    "qwen35": QWEN35,
    "qwen35moe": QWEN35.with_fields(family="qwen3_5_moe_text"),
    "gpt-oss": Spelling("gpt_oss", tensors={"feed_forward_norm": "post_attention_norm"}, window=None),
}
"""The spellings by `general.architecture`."""
