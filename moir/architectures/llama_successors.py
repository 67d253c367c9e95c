"""More families with the blocks of Llama, but other biases, activations, rotations or positions of normalizations."""

from __future__ import annotations

from moir.architectures.family import Family
from moir.architectures.llama import DEFAULTS, LLAMA, PROJECTIONS, TENSORS
from moir.architectures.llama_variants import ALL_PROJECTIONS, MISTRAL, OLMO2, QUERY_NORMS
from moir.architectures.record import Architecture, AttentionBlock
from moir.support.tables import words

NETWORK = "feed_forward.gate feed_forward.up feed_forward.down"

PLAIN_NETWORK = "feed_forward.up feed_forward.down"

SEED_OSS = Family(
    architecture=Architecture("seed_oss", ("seed_oss",)),
    tensors=TENSORS,
    defaults={
        **DEFAULTS,
        "vocab_size": 155136,
        "intermediate_size": 27648,
        "num_hidden_layers": 64,
        "num_attention_heads": 80,
        "num_key_value_heads": 8,
        "max_position_embeddings": 524288,
        "attention_bias": True,
        "attention_out_bias": False,
        "head_dim": 128,
    },
    biases={"attention_bias": PROJECTIONS, "attention_out_bias": "attention.output", "mlp_bias": NETWORK},
)

ARCEE = Family(
    architecture=Architecture("arcee", ("arcee",), feed_forward="plain"),
    tensors=TENSORS,
    defaults={
        **DEFAULTS,
        "hidden_size": 2560,
        "intermediate_size": 18432,
        "hidden_act": "relu2",
        "max_position_embeddings": 4096,
        "rms_norm_eps": 1e-5,
    },
    biases={"attention_bias": ALL_PROJECTIONS, "mlp_bias": PLAIN_NETWORK},
)

HELIUM = Family(
    architecture=Architecture("helium", ("helium",), attention=AttentionBlock(rotation="interleaved")),
    tensors=TENSORS,
    defaults={
        **DEFAULTS,
        "vocab_size": 48000,
        "hidden_size": 2560,
        "intermediate_size": 7040,
        "num_hidden_layers": 24,
        "num_attention_heads": 20,
        "num_key_value_heads": 20,
        "head_dim": 128,
        "max_position_embeddings": 4096,
        "rms_norm_eps": 1e-8,
        "rope_theta": 100000.0,
    },
    biases={"attention_bias": PROJECTIONS, "mlp_bias": NETWORK},
)

OLMO3 = OLMO2.with_fields(
    architecture=OLMO2.architecture.with_fields(name="olmo3", model_types=("olmo3",)),
    # The scaling of rotations holds for layers without a window.
    keys={"local_theta": "rope_theta"},
    defaults={**OLMO2.defaults, "rope_theta": 500000.0, "sliding_window": 4096, "sliding_window_pattern": 4},
    window="pattern",
    unread=words("sliding_window_pattern"),
)

MINISTRAL = MISTRAL.with_fields(architecture=Architecture("ministral", ("ministral",)))

MINISTRAL3 = MISTRAL.with_fields(
    architecture=Architecture("ministral3", ("ministral3",)),
    defaults={
        **MISTRAL.defaults,
        "vocab_size": 131072,
        "num_hidden_layers": 34,
        "head_dim": 128,
        "max_position_embeddings": 262144,
        "rms_norm_eps": 1e-5,
        "sliding_window": None,
    },
    rotary_traits=words("growth"),
)

CWM = LLAMA.with_fields(
    architecture=Architecture("cwm", ("cwm",)),
    defaults={
        **DEFAULTS,
        "vocab_size": 128256,
        "hidden_size": 6144,
        "intermediate_size": 21504,
        "num_hidden_layers": 64,
        "num_attention_heads": 48,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "max_position_embeddings": 131072,
        "rms_norm_eps": 1e-5,
        "rope_theta": 1e6,
        "sliding_window": 8192,
    },
    window="every fourth sees all",
)

EXAONE = Family(
    architecture=Architecture("exaone", ("exaone",)),
    layer="transformer.h.{}",
    tensors={
        "embedding": "transformer.wte",
        "final_norm": "transformer.ln_f",
        "head": "lm_head",
        "attention": "attn.attention",
        "feed_forward": "mlp",
        "attention_norm": "ln_1",
        "feed_forward_norm": "ln_2",
        "attention.query": "attn.attention.q_proj",
        "attention.key": "attn.attention.k_proj",
        "attention.value": "attn.attention.v_proj",
        "attention.output": "attn.attention.out_proj",
        "feed_forward.gate": "mlp.c_fc_0",
        "feed_forward.up": "mlp.c_fc_1",
        "feed_forward.down": "mlp.c_proj",
    },
    defaults={
        **DEFAULTS,
        "vocab_size": 102400,
        "intermediate_size": 14336,
        "num_key_value_heads": 8,
        "max_position_embeddings": 4096,
        "rms_norm_eps": 1e-5,
        "rope_theta": 500000.0,
    },
    aliases={"num_layers": "num_hidden_layers", "layer_norm_epsilon": "rms_norm_eps", "activation_function": "hidden_act"},
    biases={"attention_bias": ALL_PROJECTIONS, "mlp_bias": NETWORK},
    ignored_tensors=("transformer.h.{}.attn.attention.rotary.inv_freq", "transformer.rotary.inv_freq"),
)

HUNYUAN_V1_DENSE = Family(
    architecture=Architecture("hunyuan_v1_dense", ("hunyuan_v1_dense",), attention=AttentionBlock(query_norm="rotated head")),
    tensors={**TENSORS, **{"attention.query_norm": "self_attn.query_layernorm", "attention.key_norm": "self_attn.key_layernorm"}},
    defaults={**DEFAULTS, "vocab_size": 290943, "rms_norm_eps": 1e-5},
    biases={"attention_bias": ALL_PROJECTIONS},
    rotary_traits=words("alpha"),
    expected={"use_cla": False, "use_qk_norm": True},
    # Other spellings of sizes in the original's configuration, and keys that only training uses.
    unread=words(
        "attention_head_dim cla_share_factor norm_type org_vocab_size num_experts moe_topk num_shared_expert capacity_factor "
        "moe_drop_tokens moe_random_routing_dropped_token mask_init_id im_start_id im_end_id text_start_id text_end_id eod_token_id "
        "add_classification_head class_num pool_type use_rotary_pos_emb use_mixed_mlp_moe routed_scaling_factor dense_list"
    ),
)

NANOCHAT = Family(
    architecture=Architecture(
        "nanochat",
        ("nanochat",),
        attention=AttentionBlock(query_norm="head"),
        feed_forward="plain",
        norm_weight=False,
        embedding_norm=True,
    ),
    tensors={**TENSORS, **QUERY_NORMS, "feed_forward.up": "mlp.fc1", "feed_forward.down": "mlp.fc2", "embedding_norm": "model.norm"},
    keys={"logits_cap": "final_logit_softcapping"},
    defaults={
        **DEFAULTS,
        "vocab_size": 50304,
        "hidden_size": 768,
        "intermediate_size": 8192,
        "num_hidden_layers": 12,
        "num_attention_heads": 6,
        "hidden_act": "relu2",
        "final_logit_softcapping": 15.0,
    },
    biases={"attention_bias": ALL_PROJECTIONS},
    rotary_traits=words("backward"),
)

APERTUS = Family(
    architecture=Architecture("apertus", ("apertus",), attention=AttentionBlock(query_norm="head"), feed_forward="plain"),
    tensors={
        **TENSORS,
        **QUERY_NORMS,
        **{
            "attention_norm": "attention_layernorm",
            "feed_forward_norm": "feedforward_layernorm",
            "feed_forward.alpha_p": "mlp.act_fn.alpha_p",
            "feed_forward.alpha_n": "mlp.act_fn.alpha_n",
            "feed_forward.beta": "mlp.act_fn.beta",
            "feed_forward.eps": "mlp.act_fn.eps",
        },
    },
    defaults={
        **DEFAULTS,
        "vocab_size": 131072,
        "intermediate_size": 14336,
        "hidden_act": "xielu",
        "max_position_embeddings": 65536,
        "rms_norm_eps": 1e-5,
        "rope_theta": 12000000.0,
        "rope_scaling": {
            "rope_type": "llama3",
            "factor": 8.0,
            "original_max_position_embeddings": 8192,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
        },
    },
    biases={"attention_bias": ALL_PROJECTIONS},
    expected={"post_norm": False, "qk_norm": True},
)

INTERNLM3 = LLAMA.with_fields(
    architecture=Architecture("internlm3", ("internlm3",)),
    defaults={
        **DEFAULTS,
        "vocab_size": 128512,
        "intermediate_size": 10240,
        "num_hidden_layers": 48,
        "num_key_value_heads": 2,
        "head_dim": 128,
        "max_position_embeddings": 32768,
        "rms_norm_eps": 1e-5,
    },
    aliases={"qkv_bias": "attention_bias", "bias": "mlp_bias"},
)

IQUESTCODER = LLAMA.with_fields(
    architecture=Architecture("iquestcoder", ("iquestcoder",)),
    defaults={
        **DEFAULTS,
        "vocab_size": 76800,
        "hidden_size": 5120,
        "intermediate_size": 27648,
        "num_hidden_layers": 80,
        "num_attention_heads": 40,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "max_position_embeddings": 131072,
        "rms_norm_eps": 1e-5,
    },
    expected={"clip_qkv": None, "use_sliding_window": False},
    # Windows that the model does not use.
    unread=words("sliding_window"),
)

BITNET = LLAMA.with_fields(
    architecture=Architecture("bitnet", ("bitnet",), attention=AttentionBlock(output_norm=True), inner_norm=True),
    tensors={**TENSORS, "attention.inner_norm": "self_attn.attn_sub_norm", "feed_forward.inner_norm": "mlp.ffn_sub_norm"},
    defaults={
        **DEFAULTS,
        "vocab_size": 128256,
        "hidden_size": 2560,
        "intermediate_size": 6912,
        "num_hidden_layers": 30,
        "num_attention_heads": 20,
        "num_key_value_heads": 5,
        "hidden_act": "relu2",
        "rms_norm_eps": 1e-5,
        "rope_theta": 500000.0,
    },
)

DIFFLLAMA = Family(
    architecture=Architecture("diffllama", ("diffllama",), attention=AttentionBlock(is_differential=True)),
    tensors={
        **TENSORS,
        **{f"attention.{part}_{number}": f"self_attn.lambda_{part[0]}{number}" for part in ("query", "key") for number in (1, 2)},
    },
    defaults={
        **{**DEFAULTS, "hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16, "rms_norm_eps": 1e-5},
    },
    biases={"attention_bias": ALL_PROJECTIONS},
    unread=words("lambda_std_dev"),
)

FAMILIES = (
    *(SEED_OSS, ARCEE, HELIUM, OLMO3, MINISTRAL, MINISTRAL3, CWM, EXAONE, HUNYUAN_V1_DENSE, NANOCHAT, APERTUS),
    *(INTERNLM3, IQUESTCODER, BITNET, DIFFLLAMA),
)
