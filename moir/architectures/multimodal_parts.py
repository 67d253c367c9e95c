"""The language models of multimodal models: those of known families, with other keys and tensors.

Rotations in sections, one for each axis of an image, are those of Llama for text: its tokens have the same position on
all axes.
"""

from __future__ import annotations

from moir.architectures.deepseek import DEEPSEEK_V2, DEEPSEEK_V3
from moir.architectures.gemma_successors import GEMMA4
from moir.architectures.llama import PROJECTIONS, TENSORS
from moir.architectures.llama_successors import APERTUS, HUNYUAN_V1_DENSE
from moir.architectures.llama_variants import ERNIE4_5, GLM4, GRANITE, QWEN2, QWEN3
from moir.architectures.mixtures import QWEN3_MOE
from moir.architectures.record import Architecture
from moir.architectures.shared_experts import EXPERT_TENSORS, GLM4_MOE
from moir.support.tables import words

OF_IMAGES = words("vision_config image_token_id video_token_id vision_start_token_id vision_end_token_id vision_token_id audio_token_id")
"""Keys about images in configurations that do not separate the language model's part."""

QWEN2_VL = QWEN2.with_fields(
    architecture=Architecture("qwen2_vl_text", ("qwen2_vl_text", "qwen2_vl", "qwen2_5_vl_text", "qwen2_5_vl")),
    defaults={
        **QWEN2.defaults,
        **{"vocab_size": 152064, "hidden_size": 8192, "intermediate_size": 29568, "num_hidden_layers": 80, "num_attention_heads": 64},
        **{"num_key_value_heads": 8, "max_window_layers": 80, "rms_norm_eps": 1e-5, "rope_theta": 1e6},
    },
    unread=OF_IMAGES,
)

QWEN3_VL = QWEN3.with_fields(
    architecture=QWEN3.architecture.with_fields(name="qwen3_vl_text", model_types=("qwen3_vl_text",)),
    defaults={
        **QWEN3.defaults,
        **{"hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "max_position_embeddings": 128000},
        **{"rope_theta": 5e6},
    },
    window="",
    unread=words("use_sliding_window sliding_window max_window_layers"),
)

QWEN3_VL_MOE = QWEN3_MOE.with_fields(
    architecture=QWEN3_MOE.architecture.with_fields(
        name="qwen3_vl_moe_text", model_types=("qwen3_vl_moe_text",), experts="packed rows or columns"
    ),
    tensors={
        **QWEN3_MOE.tensors,
        **{"experts.gate_up": "mlp.experts.gate_up_proj", "experts.down": "mlp.experts.down_proj"},
    },
    defaults={
        **QWEN3_MOE.defaults,
        **{"hidden_size": 2048, "intermediate_size": 5632, "num_key_value_heads": 16, "num_attention_heads": 16},
        **{"moe_intermediate_size": 1408, "num_experts": 60, "num_experts_per_tok": 4},
        **{"max_position_embeddings": 128000, "rope_theta": 5e6},
    },
    # The weights of chosen experts are always normalized.
    experts={**QWEN3_MOE.experts, "is_normalized": True},
    window="",
    unread=words("norm_topk_prob use_sliding_window sliding_window max_window_layers"),
)

GLM4V = GLM4.with_fields(
    architecture=GLM4.architecture.with_fields(name="glm4v_text", model_types=("glm4v_text",)),
    defaults={
        **{key: value for key, value in GLM4.defaults.items() if key != "attention_bias"},
        **{"head_dim": None, "rms_norm_eps": 1e-5, "max_position_embeddings": 32768, "partial_rotary_factor": 1.0},
    },
    biases={"": PROJECTIONS},
)

GLM_OCR = GLM4V.with_fields(
    architecture=GLM4.architecture.with_fields(name="glm_ocr_text", model_types=("glm_ocr_text",)),
    defaults={
        **GLM4V.defaults,
        **{"vocab_size": 59392, "hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 16, "num_attention_heads": 16},
        **{"num_key_value_heads": 8, "max_position_embeddings": 131072},
    },
    biases={},
    further_layers="num_nextn_predict_layers",
)

GLM4V_MOE = GLM4_MOE.with_fields(
    architecture=Architecture("glm4v_moe_text", ("glm4v_moe_text",)),
    tensors={**TENSORS, **EXPERT_TENSORS},
    defaults={
        **{key: value for key, value in GLM4_MOE.defaults.items() if key != "use_qk_norm"},
        **{"vocab_size": 151424, "max_position_embeddings": 65536, "attention_bias": True},
    },
    variants=(),
    expected={"use_qk_norm": False},
)

ARIA = GRANITE.with_fields(
    architecture=Architecture("aria_text", ("aria_text",), experts="packed columns"),
    tensors={
        **TENSORS,
        **EXPERT_TENSORS,
        **{
            "experts.router": "mlp.router",
            "experts.gate_up": "mlp.experts.fc1.weight",
            "experts.down": "mlp.experts.fc2.weight",
        },
    },
    keys={},
    defaults={
        **{key: value for key, value in GRANITE.defaults.items() if "multiplier" not in key and "scaling" not in key},
        **{"intermediate_size": 4096, "moe_num_experts": 8, "moe_topk": 2, "moe_num_shared_experts": 2},
    },
    biases={
        "attention_bias": GRANITE.biases["attention_bias"],
        "mlp_bias": "shared_expert.gate shared_expert.up shared_expert.down",
    },
    divisors={},
    experts={
        "count": "moe_num_experts",
        "chosen": "moe_topk",
        "size": "intermediate_size",
        "shared": "moe_num_shared_experts * intermediate_size",
        "scores": "=chosen softmax",
    },
    unread=words("moe_z_loss_coeff moe_aux_loss_coeff"),
)

PADDLEOCR_VL = ERNIE4_5.with_fields(architecture=Architecture("paddleocr_vl_text", ("paddleocr_vl_text",)))

GRANITE4_VISION = GRANITE.with_fields(
    architecture=GRANITE.architecture.with_fields(name="granite4_vision_text", model_types=("granite4_vision_text",))
)

GEMMA4_UNIFIED = GEMMA4.with_fields(
    architecture=GEMMA4.architecture.with_fields(
        name="gemma4_unified_text", model_types=("gemma4_unified_text",), layer_inputs=False, experts_beside=False
    ),
    defaults={
        **{key: value for key, value in GEMMA4.defaults.items() if "layer_input" not in key and "expert" not in key and "moe" not in key},
        **{"sliding_window": 1024, "max_position_embeddings": 262144},
    },
    sizes={},
    optional_sizes=(),
    experts={},
    variants=GEMMA4.variants[1:],
)

APERTUS_1P5 = APERTUS.with_fields(
    architecture=APERTUS.architecture.with_fields(name="apertus1p5_text", model_types=("apertus1p5_text",)),
    sizes={"logits": "output_vocab_size"},
    optional_sizes=("logits",),
    defaults={**APERTUS.defaults, "vocab_size": 266752, "output_vocab_size": None},
)

HUNYUAN_VL = HUNYUAN_V1_DENSE.with_fields(
    architecture=HUNYUAN_V1_DENSE.architecture.with_fields(name="hunyuan_vl_text", model_types=("hunyuan_vl_text",)),
    defaults={**HUNYUAN_V1_DENSE.defaults, "tie_word_embeddings": True},
    unread=HUNYUAN_V1_DENSE.unread | words("pad_id"),
)

MISTRAL4_EXPERTS = {**DEEPSEEK_V3.experts, "scores": "=softmax", "has_correction": False}

MISTRAL4 = DEEPSEEK_V3.with_fields(
    architecture=DEEPSEEK_V3.architecture.with_fields(name="mistral4", model_types=("mistral4",)),
    defaults={
        **{key: value for key, value in DEEPSEEK_V3.defaults.items() if key != "num_nextn_predict_layers"},
        **{"vocab_size": 131072, "hidden_size": 4096, "intermediate_size": 12288, "num_hidden_layers": 36},
        **{"num_attention_heads": 32, "num_key_value_heads": 32, "n_routed_experts": 128, "routed_scaling_factor": 1.0},
        **{"kv_lora_rank": 256, "q_lora_rank": 1024, "qk_nope_head_dim": 64, "n_group": 1, "topk_group": 1},
        **{"num_experts_per_tok": 4, "first_k_dense_replace": 0, "max_position_embeddings": 1048576},
        "rope_parameters": {
            **{"rope_type": "yarn", "rope_theta": 10000.0, "factor": 128.0, "original_max_position_embeddings": 8192},
            **{"beta_fast": 32.0, "beta_slow": 1.0, "mscale_all_dim": 1.0, "mscale": 1.0, "llama_4_scaling_beta": 0.1},
        },
    },
    experts=MISTRAL4_EXPERTS,
    rotary_traits=words("growth"),
    expected={},
    further_layers="",
)

DEEPSEEK_OCR2 = DEEPSEEK_V2.with_fields(
    architecture=Architecture("deepseek_ocr2_text", ("deepseek_ocr2_text",)),
    tensors={**TENSORS, **EXPERT_TENSORS},
    keys={},
    defaults={
        **{
            key: value for key, value in DEEPSEEK_V2.defaults.items() if not key.startswith(("q_lora", "kv_lora", "qk_", "v_head", "_head"))
        },
        "_dense_layers": 0,
    },
    biases={"attention_bias": f"{PROJECTIONS} attention.output", "mlp_bias": DEEPSEEK_V2.biases["mlp_bias"]},
    latent={},
)

FAMILIES = (
    *(QWEN2_VL, QWEN3_VL, QWEN3_VL_MOE, GLM4V, GLM_OCR, GLM4V_MOE, ARIA, PADDLEOCR_VL, GRANITE4_VISION),
    *(GEMMA4_UNIFIED, APERTUS_1P5, HUNYUAN_VL, MISTRAL4, DEEPSEEK_OCR2),
)
