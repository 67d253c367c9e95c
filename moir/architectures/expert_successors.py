"""More families with experts among which a router chooses: Hunyuan, MiniMax-M2, K-EXAONE, Solar Open."""

from __future__ import annotations

from moir.architectures.family import Family
from moir.architectures.llama import DEFAULTS, PROJECTIONS
from moir.architectures.llama_successors import HUNYUAN_V1_DENSE
from moir.architectures.llama_variants import EXAONE4, QUERY_NORMS
from moir.architectures.mixtures import MIXTRAL
from moir.architectures.record import Architecture, AttentionBlock
from moir.architectures.shared_experts import CORRECTED_EXPERTS, EXPERT_TENSORS, GLM4_MOE
from moir.support.tables import words

HUNYUAN_V1_MOE = HUNYUAN_V1_DENSE.with_fields(
    architecture=HUNYUAN_V1_DENSE.architecture.with_fields(name="hunyuan_v1_moe", model_types=("hunyuan_v1_moe",)),
    tensors={
        **HUNYUAN_V1_DENSE.tensors,
        **EXPERT_TENSORS,
        **{
            "experts.router": "mlp.gate.wg",
            "shared_expert": "mlp.shared_mlp",
            "shared_expert.gate": "mlp.shared_mlp.gate_proj",
            "shared_expert.up": "mlp.shared_mlp.up_proj",
            "shared_expert.down": "mlp.shared_mlp.down_proj",
        },
    },
    defaults={**HUNYUAN_V1_DENSE.defaults, "num_experts": 1, "moe_topk": 1},
    aliases={"num_local_experts": "num_experts", "num_experts_per_tok": "moe_topk"},
    experts={
        "count": "num_experts",
        "chosen": "moe_topk",
        "size": "intermediate_size",
        "shared": "intermediate_size",
        "is_normalized": True,
    },
    # Redundant: in transformers, intermediate_size is the size of every expert.
    unread=HUNYUAN_V1_DENSE.unread - words("num_experts moe_topk") | words("moe_intermediate_size moe_layer_num_skipped use_mla"),
)

MINIMAX_M2 = Family(
    architecture=Architecture("minimax_m2", ("minimax_m2",), attention=AttentionBlock(query_norm="whole")),
    tensors={**MIXTRAL.tensors, **QUERY_NORMS, "experts.correction": "block_sparse_moe.e_score_correction_bias"},
    keys={"rotary_size": "rotary_dim"},
    defaults={
        **DEFAULTS,
        "vocab_size": 200064,
        "hidden_size": 3072,
        "intermediate_size": 1536,
        "num_hidden_layers": 62,
        "num_attention_heads": 48,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "max_position_embeddings": 196608,
        "rope_theta": 5e6,
        "rotary_dim": None,
        "num_experts_per_tok": 8,
        "num_local_experts": 256,
    },
    aliases={"num_experts": "num_local_experts"},
    experts={
        "count": "num_local_experts",
        "chosen": "num_experts_per_tok",
        "size": "intermediate_size",
        "scores": "=sigmoid",
        "is_normalized": True,
        "has_correction": True,
    },
    expected={"use_qk_norm": True, "qk_norm_type": "per_layer", "scoring_func": "sigmoid", "use_routing_bias": True},
    # Training noise, the layers of multi-token prediction, and the list of attention layers, which is all layers.
    unread=words("router_jitter_noise use_mtp num_mtp_modules mtp_transformer_layers attn_type_list shared_intermediate_size"),
    ignored_tensors=("model.mtp.*",),
)

EXAONE_MOE = EXAONE4.with_fields(
    architecture=Architecture("exaone_moe", ("exaone_moe",), attention=AttentionBlock(query_norm="head")),
    tensors={**GLM4_MOE.tensors, **QUERY_NORMS, "experts.correction": "mlp.e_score_correction_bias"},
    defaults={
        **EXAONE4.defaults,
        "first_k_dense_replace": 1,
        "moe_intermediate_size": 1024,
        "num_experts": 64,
        "num_experts_per_tok": 8,
        "num_shared_experts": 1,
        "norm_topk_prob": True,
        "routed_scaling_factor": 2.5,
        "n_group": 1,
        "topk_group": 1,
    },
    experts={**CORRECTED_EXPERTS, "count": "num_experts", "shared": "num_shared_experts * moe_intermediate_size"},
    dense="first_k_dense_replace",
    expected={"scoring_func": "sigmoid", "topk_method": "noaux_tc"},
    unread=EXAONE4.unread | words("num_nextn_predict_layers first_k_dense_replace"),
    ignored_tensors=("mtp.*",),
)

SOLAR_OPEN = GLM4_MOE.with_fields(
    architecture=Architecture("solar_open", ("solar_open",)),
    defaults={
        **GLM4_MOE.defaults,
        "vocab_size": 196608,
        "moe_intermediate_size": 1280,
        "num_hidden_layers": 48,
        "num_attention_heads": 64,
        "head_dim": 128,
        "rope_theta": 1e6,
        "partial_rotary_factor": 1.0,
    },
    biases={"attention_bias": PROJECTIONS},
    dense="",
    variants=(),
    expected={"use_qk_norm": False},
    # Sizes of layers without experts, of which there are none.
    unread=words("intermediate_size first_k_dense_replace"),
)

FAMILIES = (HUNYUAN_V1_MOE, MINIMAX_M2, EXAONE_MOE, SOLAR_OPEN)
