"""Networks of transformers for images, sounds, videos and several of them, and decoders beside those of `language`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import transformers
from exports.network import Builder, Network, image, tokens

AUTO = torch.export.Dim.AUTO
SMALL: dict[str, Any] = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}
DETR: dict[str, Any] = {
    "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48, "decoder_ffn_dim": 48, "num_queries": 10, "num_labels": 5,
}  # fmt: skip
SPEECH: dict[str, Any] = {"conv_dim": [16] * 7, "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 4, "mask_time_prob": 0.0}


class _Part(torch.nn.Module):
    """Some outputs of a network, with nothing but tensors as inputs."""

    def __init__(self, module: torch.nn.Module, outputs: Sequence[str], names: Sequence[str], **fixed: Any) -> None:
        super().__init__()
        self.module, self.outputs, self.names, self.fixed = module, outputs, names, fixed

    def forward(self, *inputs: torch.Tensor) -> Any:
        outputs = self.module(**dict(zip(self.names, inputs, strict=True)), **self.fixed)
        return [outputs[name] for name in self.outputs]


def part(
    kind: str,
    settings: dict[str, Any],
    outputs: str,
    names: str,
    inputs: Sequence[torch.Tensor],
    others: Sequence[torch.Tensor] | None = None,
    dynamic: Any = None,
    tolerance: float = 2e-3,
    **fixed: Any,
) -> Network:
    """A network of transformers by the name of its class and the settings of its configuration."""
    class_ = getattr(transformers, kind)
    module = class_(class_.config_class(**settings)).eval()
    wrapper = _Part(module, outputs.split(), names.split(), **fixed).eval()
    shapes = None if dynamic is None else (tuple(dynamic),)
    return Network(wrapper, tuple(inputs), dynamic=shapes, others=others, decomposed=True, tolerance=tolerance)


def images(kind: str, settings: dict[str, Any], outputs: str, size: tuple[int, int] = (64, 64), **more: Any) -> Network:
    """A network of images, for batches of any size."""
    return part(kind, settings, outputs, "pixel_values", (image(*size, 2),), (image(*size, 3),), ({0: AUTO},), **more)


def _resnet() -> Any:
    return transformers.ResNetConfig(
        embedding_size=8, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], layer_type="basic", out_features=["stage2", "stage3", "stage4"]
    )


def _swin(**more: Any) -> Any:
    return transformers.SwinConfig(
        image_size=64, embed_dim=8, depths=[1, 1, 1, 1], num_heads=[1, 1, 2, 2], window_size=2,
        out_features=[f"stage{i}" for i in (1, 2, 3, 4)],
        **more,
    )  # fmt: skip


def detr() -> Network:
    """DETR on a ResNet."""
    one = transformers.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic", out_features=["stage2"])
    settings = {**DETR, "use_timm_backbone": False, "backbone": None, "backbone_config": one, "use_pretrained_backbone": False}
    return images("DetrForObjectDetection", settings, "logits pred_boxes", (64, 96))


def deformable_detr() -> Network:
    """DETR with deformable attention."""
    settings = {
        **DETR, "use_timm_backbone": False, "backbone": None, "backbone_config": _resnet(), "use_pretrained_backbone": False,
        "num_feature_levels": 3,
    }  # fmt: skip
    return images("DeformableDetrForObjectDetection", settings, "logits pred_boxes", (64, 96))


def rt_detr() -> Network:
    """RT-DETR."""
    backbone = transformers.RTDetrResNetConfig(
        embedding_size=8, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], layer_type="basic", out_features=["stage2", "stage3", "stage4"]
    )
    settings = {
        "backbone_config": backbone, "encoder_hidden_dim": 32, "encoder_in_channels": [16, 24, 32], "encoder_ffn_dim": 48,
        "encoder_attention_heads": 4, "d_model": 32, "num_queries": 10, "decoder_in_channels": [32, 32, 32], "decoder_ffn_dim": 48,
        "decoder_layers": 2, "decoder_attention_heads": 4, "num_labels": 5, "num_denoising": 0, "anchor_image_size": None,
    }  # fmt: skip
    network = images("RTDetrForObjectDetection", settings, "logits pred_boxes")
    for parameter in network.module.parameters():
        # The scores of all places are equal otherwise, and nothing says which are the largest ones.
        torch.nn.init.normal_(parameter, std=0.2)
    return network


def mask2former() -> Network:
    """Mask2Former on a Swin."""
    settings = {
        "backbone_config": _swin(), "feature_size": 32, "mask_feature_size": 32, "hidden_dim": 32, "encoder_feedforward_dim": 48,
        "encoder_layers": 2, "decoder_layers": 3, "num_attention_heads": 4, "dim_feedforward": 48, "num_queries": 6, "num_labels": 4,
    }  # fmt: skip
    return images("Mask2FormerForUniversalSegmentation", settings, "class_queries_logits masks_queries_logits")


def upernet() -> Network:
    """UPerNet on a ConvNeXt."""
    backbone = transformers.ConvNextConfig(
        hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], out_features=[f"stage{i}" for i in (1, 2, 3, 4)]
    )
    settings = {"backbone_config": backbone, "hidden_size": 16, "use_auxiliary_head": False, "num_labels": 4}
    return images("UperNetForSemanticSegmentation", settings, "logits", (64, 96))


def sam() -> Network:
    """Segment Anything, with points."""
    vision = transformers.SamVisionConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=4, image_size=64, patch_size=8, output_channels=16, mlp_dim=48,
        window_size=4, global_attn_indexes=[1], num_pos_feats=8,
    )  # fmt: skip
    decoder = transformers.SamMaskDecoderConfig(
        hidden_size=16, mlp_dim=24, num_hidden_layers=2, num_attention_heads=2, iou_head_hidden_dim=16, num_multimask_outputs=3
    )
    prompt = transformers.SamPromptEncoderConfig(hidden_size=16, image_size=64, patch_size=8, mask_input_channels=8)
    settings = {"vision_config": vision.to_dict(), "mask_decoder_config": decoder.to_dict(), "prompt_encoder_config": prompt.to_dict()}
    inputs = (image(64, 64), torch.rand(1, 1, 3, 2) * 64, torch.tensor([[[1, 0, 1]]]))
    return part("SamModel", settings, "iou_scores pred_masks", "pixel_values input_points input_labels", inputs)


def whisper_with_cache() -> Network:
    """A step of Whisper's decoder with caches of any length."""
    config = transformers.WhisperConfig(
        vocab_size=99, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
        encoder_ffn_dim=48, decoder_ffn_dim=48, max_source_positions=40, max_target_positions=32, num_mel_bins=16,
        pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1,
    )  # fmt: skip
    return _step(transformers.WhisperForConditionalGeneration(config), 4, 8, 40)


def t5_with_cache() -> Network:
    """A step of T5's decoder with caches of any length."""
    config = transformers.T5Config(
        vocab_size=99, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4, pad_token_id=0, decoder_start_token_id=1, eos_token_id=2
    )
    return _step(transformers.T5ForConditionalGeneration(config), 4, 8, 12)


class _Step(torch.nn.Module):
    """A step of a decoder whose caches, of its own keys and of those of the encoder, are lists of tensors."""

    def __init__(self, module: Any) -> None:
        super().__init__()
        self.module = module

    def forward(self, token: torch.Tensor, encoded: torch.Tensor, past: list[torch.Tensor], cross: list[torch.Tensor]) -> Any:
        own, other = transformers.DynamicCache(), transformers.DynamicCache()
        for layer in range(len(past) // 2):
            own.update(past[2 * layer], past[2 * layer + 1], layer)
            other.update(cross[2 * layer], cross[2 * layer + 1], layer)
        cache = transformers.EncoderDecoderCache(own, other)
        outputs = self.module(encoder_outputs=(encoded,), decoder_input_ids=token, past_key_values=cache, use_cache=True)
        return outputs.logits, [tensor for layer in own.layers for tensor in (layer.keys, layer.values)]


def _step(module: Any, heads: int, size: int, source: int) -> Network:
    def made(batch: int, before: int, length: int) -> tuple[Any, ...]:
        past = [torch.randn(batch, heads, before, size) for _ in range(4)]
        cross = [torch.randn(batch, heads, length, size) for _ in range(4)]
        return tokens(1, batch), torch.randn(batch, length, heads * size), past, cross

    cached = [{0: AUTO, 2: AUTO}] * 4
    return Network(
        _Step(module.eval()).eval(), made(2, 5, source), dynamic=({0: AUTO}, {0: AUTO, 1: AUTO}, cached, cached),
        others=made(3, 8, source), decomposed=True,
    )  # fmt: skip


def speech(kind: str, **more: Any) -> Network:
    """A network of sound samples of any length."""
    settings = {**SMALL, "vocab_size": 20, **SPEECH, **more}
    return part(kind, settings, "last_hidden_state", "input_values", (torch.randn(1, 4000),), (torch.randn(1, 5000),), ({1: AUTO},))


def text(kind: str, settings: dict[str, Any], outputs: str = "logits", **fixed: Any) -> Network:
    """A network of tokens with a mask; settings that are None are left out."""

    def made(batch: int, length: int) -> tuple[torch.Tensor, ...]:
        mask = torch.ones(batch, length, dtype=torch.int64)
        mask[0, -2:] = 0
        return tokens(length, batch), mask

    given = {**SMALL, "vocab_size": 99, "max_position_embeddings": 128, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, **settings}
    given = {name: value for name, value in given.items() if value is not None}
    return part(kind, given, outputs, "input_ids attention_mask", made(2, 12), made(3, 17), ({0: AUTO, 1: AUTO},) * 2, **fixed)


def llava() -> Network:
    """LLaVA: CLIP's images inside of the text of a Llama."""
    vision = transformers.CLIPVisionConfig(**SMALL, image_size=32, patch_size=8, projection_dim=16)
    language = transformers.LlamaConfig(**SMALL, vocab_size=99, num_key_value_heads=2, max_position_embeddings=64)
    settings = {"vision_config": vision, "text_config": language, "image_token_index": 98, "image_token_id": 98}
    given = tokens(30, 1)
    given[0, 3:19] = 98
    return part("LlavaForConditionalGeneration", settings, "logits", "input_ids pixel_values", (given, image(32, 32)), use_cache=False)


def series() -> Network:
    """PatchTST for a series of several values."""
    settings = {
        "num_input_channels": 3, "context_length": 32, "prediction_length": 8, "patch_length": 8, "patch_stride": 4, "d_model": 16,
        "num_hidden_layers": 2, "num_attention_heads": 4, "ffn_dim": 24,
    }  # fmt: skip
    inputs, others = (torch.randn(2, 32, 3),), (torch.randn(3, 32, 3),)
    network = part("PatchTSTForPrediction", settings, "prediction_outputs", "past_values", inputs, others, ({0: AUTO},))
    # torch does not decompose it: a view of what is no view.
    network.decomposed = False
    return network


def clipseg() -> Network:
    """CLIPSeg: segments what a text says."""
    given = {**SMALL, "vocab_size": 99, "max_position_embeddings": 16, "eos_token_id": 2, "bos_token_id": 1, "pad_token_id": 0}
    seen = {**SMALL, "image_size": 32, "patch_size": 8}
    settings = {
        "text_config": given, "vision_config": seen, "projection_dim": 16, "extract_layers": [0, 1], "reduce_dim": 16,
        "decoder_num_attention_heads": 4, "decoder_intermediate_size": 24,
    }  # fmt: skip
    inputs, others = (tokens(9, 2), image(32, 32, 2)), (tokens(9, 3), image(32, 32, 3))
    return part("CLIPSegForImageSegmentation", settings, "logits", "input_ids pixel_values", inputs, others, ({0: AUTO},) * 2)


VISION: dict[str, Any] = {**SMALL, "image_size": 64, "patch_size": 16}
T5: dict[str, Any] = {"d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4, "decoder_start_token_id": 1}
HYBRID: dict[str, Any] = {
    "num_key_value_heads": 2, "mamba_d_state": 8, "mamba_d_conv": 4, "mamba_expand": 2, "mamba_dt_rank": 4, "num_experts": 2,
    "num_experts_per_tok": 1, "attn_layer_period": 2, "attn_layer_offset": 1, "expert_layer_period": 2, "expert_layer_offset": 1,
    "use_mamba_kernels": False,
}  # fmt: skip

NETWORKS: dict[str, Builder] = {
    "mm_detr": detr,
    "mm_deformable_detr": deformable_detr,
    "mm_rt_detr": rt_detr,
    "mm_yolos": lambda: images(
        "YolosForObjectDetection", {**SMALL, "image_size": [64, 64], "patch_size": 16, "num_detection_tokens": 6}, "logits pred_boxes"
    ),
    "mm_mask2former": mask2former,
    "mm_upernet": upernet,
    "mm_sam": sam,
    "mm_dpt": lambda: images(
        "DPTForDepthEstimation",
        {
            **VISION, "num_hidden_layers": 4, "backbone_out_indices": [0, 1, 2, 3], "neck_hidden_sizes": [8, 16, 16, 16],
            "fusion_hidden_size": 16,
        },
        "predicted_depth",
    ),
    "mm_swin2sr": lambda: images(
        "Swin2SRForImageSuperResolution",
        {"image_size": 32, "embed_dim": 12, "depths": [1, 1], "num_heads": [2, 2], "window_size": 4, "upscale": 2},
        "reconstruction", (32, 32),
    ),
    "mm_mobilevit_segmentation": lambda: images(
        "MobileViTForSemanticSegmentation",
        {"hidden_sizes": [16, 24, 32], "neck_hidden_sizes": [8, 8, 16, 24, 32, 40, 48], "num_labels": 4},
        "logits", (96, 96),
    ),
    "mm_timesformer": lambda: part(
        "TimesformerForVideoClassification", {**VISION, "num_frames": 4, "num_labels": 5}, "logits", "pixel_values",
        (torch.randn(2, 4, 3, 64, 64),), (torch.randn(3, 4, 3, 64, 64),), ({0: AUTO},),
    ),
    "mm_whisper_cache": whisper_with_cache,
    "mm_t5_cache": t5_with_cache,
    "mm_wavlm": lambda: speech("WavLMModel"),
    "mm_data2vec_audio": lambda: speech("Data2VecAudioModel", conv_pos_kernel_size=19, num_conv_pos_embeddings=2),
    "mm_ast": lambda: part(
        "ASTForAudioClassification", {**SMALL, "max_length": 64, "num_mel_bins": 32, "num_labels": 5}, "logits", "input_values",
        (torch.randn(2, 64, 32),), (torch.randn(3, 64, 32),), ({0: AUTO},),
    ),
    "mm_llava": llava,
    "mm_clipseg": clipseg,
    "mm_patch_tst": series,
    "mm_gpt_oss": lambda: text(
        "GptOssForCausalLM",
        {"num_key_value_heads": 2, "head_dim": 8, "num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": 8,
         "layer_types": ["sliding_attention", "full_attention"]},
        use_cache=False,
    ),
    "mm_lfm2": lambda: text(
        "Lfm2ForCausalLM", {"num_key_value_heads": 2, "layer_types": ["conv", "full_attention"], "conv_L_cache": 3, "block_ff_dim": 48},
        use_cache=False,
    ),
    "mm_xglm": lambda: text(
        "XGLMForCausalLM", {"d_model": 32, "ffn_dim": 48, "num_layers": 2, "attention_heads": 4, "num_hidden_layers": None}, use_cache=False
    ),
    "mm_depth_anything": lambda: images(
        "DepthAnythingForDepthEstimation",
        {"backbone_config": transformers.Dinov2Config(
            **{**SMALL, "num_hidden_layers": 4}, image_size=56, patch_size=14, out_features=[f"stage{i}" for i in (1, 2, 3, 4)],
            reshape_hidden_states=False,
        ), "reassemble_hidden_size": 32, "patch_size": 14, "neck_hidden_sizes": [8, 16, 16, 16], "fusion_hidden_size": 16,
         "head_hidden_size": 8},
        "predicted_depth", (56, 84),
    ),
    "mm_git": lambda: part(
        "GitForCausalLM",
        {**SMALL, "vocab_size": 99, "vision_config": {**SMALL, "image_size": 32, "patch_size": 8}, "max_position_embeddings": 64},
        "logits", "input_ids pixel_values", (tokens(6, 2), image(32, 32, 2)), (tokens(9, 3), image(32, 32, 3)),
        ({0: AUTO, 1: AUTO}, {0: AUTO}), use_cache=False,
    ),
    "mm_jamba": lambda: text("JambaForCausalLM", HYBRID, use_cache=False),
    "mm_falcon_mamba": lambda: text("FalconMambaForCausalLM", {"state_size": 8, "use_mambapy": False}, use_cache=False),
    "mm_deepseek": lambda: text(
        "DeepseekV3ForCausalLM",
        {"n_routed_experts": 4, "num_experts_per_tok": 2, "n_group": 1, "topk_group": 1, "moe_intermediate_size": 16, "q_lora_rank": 16,
         "kv_lora_rank": 16, "qk_rope_head_dim": 8, "qk_nope_head_dim": 8, "v_head_dim": 8, "first_k_dense_replace": 1},
        use_cache=False,
    ),
    "mm_xlnet": lambda: text(
        "XLNetModel", {"max_position_embeddings": None, "d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 48}, "last_hidden_state"
    ),
    "mm_distilbert": lambda: text("DistilBertForTokenClassification", {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 48}),
    "mm_funnel": lambda: text(
        "FunnelModel", {"num_hidden_layers": None, "block_sizes": [1, 1], "d_model": 32, "n_head": 4, "d_head": 8, "d_inner": 48},
        "last_hidden_state",
    ),
    "mm_canine": lambda: text(
        "CanineModel", {"downsampling_rate": 4, "local_transformer_stride": 8, "num_hash_buckets": 64}, "last_hidden_state"
    ),
    "mm_qwen3_next": lambda: text(
        "Qwen3NextForCausalLM",
        {"num_key_value_heads": 2, "head_dim": 8, "linear_num_value_heads": 4, "linear_num_key_heads": 2, "linear_key_head_dim": 8,
         "linear_value_head_dim": 8, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16,
         "shared_expert_intermediate_size": 16, "layer_types": ["linear_attention", "full_attention"]},
        use_cache=False,
    ),
}  # fmt: skip
"""Networks by name."""
