"""Networks of transformers at random weights and small sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import transformers
from exports.network import Builder, Network, image, tokens

SMALL: dict[str, Any] = {
    "vocab_size": 99,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "max_position_embeddings": 64,
}
GROUPED: dict[str, Any] = {**SMALL, "num_key_value_heads": 2, "head_dim": 8}
"""Settings of decoders whose heads share keys."""

RELATIVE: dict[str, Any] = {
    "relative_attention": True,
    "position_buckets": 8,
    "norm_rel_ebd": "layer_norm",
    "share_att_key": True,
    "pos_att_type": ["p2c", "c2p"],
    "position_biased_input": False,
    "type_vocab_size": 0,
}
"""Settings of DeBERTa's attention, whose scores have parts for contents and for places."""

ENCODERS = (
    *("Bert", "Roberta", "Electra", "Albert", "MPNet", "ConvBert", "DebertaV2", "MobileBert", "Camembert", "XLMRoberta", "ModernBert"),
    *("Splinter", "Nystromformer", "RoFormer", "Ernie", "FNet", "MegatronBert", "LayoutLM"),
)
DECODERS = (
    *(
        "Llama",
        "Qwen2",
        "Qwen3",
        "Mistral",
        "Gemma",
        "Gemma2",
        "Gemma3Text",
        "Phi",
        "Phi3",
        "Cohere",
        "Olmo",
        "Olmo2",
        "StableLm",
        "Starcoder2",
    ),
    *(
        "Granite",
        "Glm",
        "Mixtral",
        "Qwen3Moe",
        "GPTNeoX",
        "Falcon",
        "Bloom",
        "Opt",
        "GPT2",
        "GPTNeo",
        "GPTJ",
        "Persimmon",
        "SmolLM3",
        "Helium",
    ),
    *("Exaone4", "Nemotron", "Mamba", "Mamba2", "Rwkv", "RecurrentGemma"),
)
CACHED = ("Llama", "Qwen2", "GPT2", "Qwen3", "Phi3", "Mistral", "Gemma3Text")

_LENGTH = _BATCH = torch.export.Dim.AUTO
"""Sizes that torch fixes where the network needs that."""


class _Part(torch.nn.Module):
    """One output of a network, with nothing but tensors as inputs."""

    def __init__(self, module: torch.nn.Module, output: str, names: tuple[str, ...], **fixed: Any) -> None:
        super().__init__()
        self.module, self.output, self.names, self.fixed = module, output, names, fixed

    def forward(self, *inputs: torch.Tensor) -> Any:
        outputs = self.module(**dict(zip(self.names, inputs, strict=True)), **self.fixed)
        return outputs[self.output] if self.output else outputs


def _config(name: str, settings: dict[str, Any]) -> Any:
    return getattr(transformers, f"{name}Config")(**settings)


def encoder(name: str, **more: Any) -> Network:
    """An encoder of text with a mask."""
    settings = {
        **SMALL,
        "embedding_size": 16,
        "pad_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "cls_token_id": 1,
        "sep_token_id": 2,
    }
    settings |= {"bottleneck_size": 16, "intra_bottleneck_size": 16, "num_landmarks": 4} if name in ("MobileBert", "Nystromformer") else {}
    settings |= more
    module = getattr(transformers, f"{name}Model")(_config(name, settings)).eval()
    names = ("input_ids",) if name == "FNet" else ("input_ids", "attention_mask")

    def made(batch: int, length: int) -> tuple[torch.Tensor, ...]:
        mask = torch.ones(batch, length, dtype=torch.int64)
        mask[0, -2:] = 0
        return (tokens(length, batch), mask)[: len(names)]

    module = _Part(module, "last_hidden_state", names).eval()
    return Network(module, made(2, 12), dynamic=(({0: _BATCH, 1: _LENGTH},) * len(names),), others=made(3, 17), decomposed=name == "Bert")


def _decoder(name: str, **more: Any) -> torch.nn.Module:
    settings = {
        **GROUPED,
        "num_experts": 4,
        "num_local_experts": 4,
        "num_experts_per_tok": 2,
        "moe_intermediate_size": 16,
        "pad_token_id": 0,
    }
    settings |= {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_inner": 48, "n_positions": 64} if name in ("GPT2", "GPTJ", "Bloom") else {}
    settings |= {"rotary_dim": 4} if name == "GPTJ" else {}
    settings |= (
        {"num_layers": 2, "attention_types": [[["global", "local"], 1]], "num_heads": 4, "window_size": 8} if name == "GPTNeo" else {}
    )
    settings |= {"word_embed_proj_dim": 32, "ffn_dim": 48} if name == "Opt" else {}
    settings |= {"state_size": 8, "num_heads": 8, "n_groups": 2, "expand": 2, "chunk_size": 8} if name in ("Mamba", "Mamba2") else {}
    settings |= {"lru_width": 32} if name == "RecurrentGemma" else {}
    settings |= {"sliding_window": 8} if name in ("Mistral", "Gemma2", "Gemma3Text", "Starcoder2") else {}
    settings |= more
    spelled = {"Gemma3Text": "Gemma3ForCausalLM", "Opt": "OPTForCausalLM", "GPT2": "GPT2LMHeadModel"}
    config = _config({"Opt": "OPT"}.get(name, name), settings)
    return getattr(transformers, spelled.get(name, f"{name}ForCausalLM"))(config).eval()


def decoder(name: str) -> Network:
    """A decoder without a cache, with a mask."""
    names = ("input_ids",) if name in ("Mamba", "Mamba2", "Rwkv") else ("input_ids", "attention_mask")

    def made(batch: int, length: int) -> tuple[torch.Tensor, ...]:
        mask = torch.ones(batch, length, dtype=torch.int64)
        mask[0, :2] = 0
        return (tokens(length, batch), mask)[: len(names)]

    module = _Part(_decoder(name), "logits", names, use_cache=False).eval()
    return Network(
        module, made(2, 10), dynamic=(({0: _BATCH, 1: _LENGTH},) * len(names),), others=made(3, 15), decomposed=name in ("Llama", "GPT2")
    )


class _WithCache(torch.nn.Module):
    """A decoder whose cache is given and returned as a list of tensors."""

    def __init__(self, module: torch.nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor, past: list[torch.Tensor]) -> dict[str, Any]:
        cache = transformers.DynamicCache(config=self.module.config)
        for layer in range(len(past) // 2):
            cache.update(past[2 * layer], past[2 * layer + 1], layer)
        outputs = self.module(input_ids=input_ids, attention_mask=attention_mask, past_key_values=cache, use_cache=True)
        present = [tensor for layer in cache.layers for tensor in (layer.keys, layer.values)]
        return {"logits": outputs.logits, "present": present}


def with_cache(name: str) -> Network:
    """A decoder with a cache of any length."""
    module = _decoder(name)
    heads = 4 if name in ("GPT2",) else 2

    def made(batch: int, before: int, length: int) -> tuple[Any, ...]:
        past = [torch.randn(batch, heads, before, 8) for _ in range(4)]
        return tokens(length, batch), torch.ones(batch, before + length, dtype=torch.int64), past

    past = torch.export.Dim.AUTO
    dynamic = ({0: past, 1: past}, {0: past, 1: past}, [{0: past, 2: past}] * 4)
    return Network(_WithCache(module).eval(), made(2, 6, 4), dynamic=dynamic, others=made(3, 9, 5))


class _StaticCache(torch.nn.Module):
    """A decoder whose cache is a buffer of fixed length, which is written."""

    def __init__(self, module: Any) -> None:
        super().__init__()
        self.inner = transformers.integrations.executorch.TorchExportableModuleWithStaticCache(module, 1, 24, torch.device("cpu"))

    def forward(self, input_ids: torch.Tensor, cache_position: torch.Tensor) -> torch.Tensor:
        return self.inner(input_ids=input_ids, cache_position=cache_position)


def static_cache(name: str) -> Network:
    """A decoder whose cache is written in place, one token at a time."""
    module = _decoder(name)
    module.generation_config = transformers.GenerationConfig(
        use_cache=True, cache_implementation="static", max_length=24, cache_config={"batch_size": 1, "max_cache_len": 24, "device": "cpu"}
    )
    return Network(_StaticCache(module).eval(), (tokens(1), torch.tensor([0])))


def _sequence_to_sequence(name: str) -> Network:
    settings = {**SMALL, "d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4, "encoder_layers": 2, "decoder_layers": 2}
    settings |= {"encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48}
    settings |= {"pad_token_id": 0, "decoder_start_token_id": 1, "bos_token_id": 1, "eos_token_id": 2, "forced_eos_token_id": 2}
    module = getattr(transformers, f"{name}ForConditionalGeneration" if name != "Marian" else "MarianMTModel")(
        _config(name, settings)
    ).eval()

    def made(batch: int, first: int, second: int) -> tuple[torch.Tensor, ...]:
        return tokens(first, batch), torch.ones(batch, first, dtype=torch.int64), tokens(second, batch)

    module = _Part(module, "logits", ("input_ids", "attention_mask", "decoder_input_ids"), use_cache=False).eval()
    auto = torch.export.Dim.AUTO
    return Network(module, made(2, 11, 7), dynamic=(({0: auto, 1: auto},) * 3,), others=made(3, 9, 12), decomposed=name == "T5")


def whisper() -> Network:
    """Whisper: sound to text."""
    config = transformers.WhisperConfig(
        vocab_size=99, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
        encoder_ffn_dim=48, decoder_ffn_dim=48, max_source_positions=40, max_target_positions=32, num_mel_bins=16,
        pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1,
    )  # fmt: skip
    module = transformers.WhisperForConditionalGeneration(config).eval()
    module = _Part(module, "logits", ("input_features", "decoder_input_ids"), use_cache=False).eval()
    auto = torch.export.Dim.AUTO
    inputs, others = (torch.randn(2, 16, 80), tokens(7, 2)), (torch.randn(2, 16, 80), tokens(11, 2))
    return Network(module, inputs, dynamic=(({}, {1: auto}),), others=others)


def clip(name: str) -> Network:
    """CLIP or SigLIP: similarities of texts and images."""
    text = {**SMALL, "eos_token_id": 2, "bos_token_id": 1, "pad_token_id": 0, "projection_dim": 16}
    vision = {**SMALL, "image_size": 32, "patch_size": 8, "projection_dim": 16}
    config = _config(name, {"text_config": text, "vision_config": vision, "projection_dim": 16})
    module = getattr(transformers, f"{name}Model")(config).eval()
    length = 64 if name == "Siglip" else 9
    module = _Part(module, "logits_per_image", ("input_ids", "pixel_values")).eval()
    return Network(module, (tokens(length, 2), image(32, 32, 2)))


def _vision(name: str, suffix: str, output: str, settings: dict[str, Any], size: tuple[int, int]) -> Callable[[], Network]:
    def build() -> Network:
        module = getattr(transformers, f"{name}{suffix}")(_config(name, {**SMALL, **settings})).eval()
        return Network(_Part(module, output, ("pixel_values",)).eval(), (image(*size, 1),), tolerance=2e-3)

    return build


def sound(name: str) -> Network:
    """A network for sound samples."""
    settings = {**SMALL, "conv_dim": [16] * 7, "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 4, "mask_time_prob": 0.0}
    module = getattr(transformers, f"{name}Model")(_config(name, settings)).eval()
    return Network(_Part(module, "last_hidden_state", ("input_values",)).eval(), (torch.randn(1, 4000),))


NETWORKS: dict[str, Builder] = {
    **{f"hf_{name}": (lambda name=name: encoder(name)) for name in ENCODERS},
    "hf_DebertaV2_relative": lambda: encoder("DebertaV2", **RELATIVE),
    **{f"hf_{name}": (lambda name=name: decoder(name)) for name in DECODERS},
    **{
        f"hf_{name}_cache": (lambda name=name: with_cache(name))
        for name in ("Llama", "Qwen2", "GPT2", "Qwen3", "Phi3", "Mistral", "Gemma3Text")
    },
    **{f"hf_{name}_static_cache": (lambda name=name: static_cache(name)) for name in ("Llama", "Qwen2", "Gemma")},
    **{f"hf_{name}": (lambda name=name: _sequence_to_sequence(name)) for name in ("T5", "Bart", "Marian", "MT5", "Pegasus", "MBart")},
    "hf_Whisper": whisper,
    "hf_CLIP": lambda: clip("CLIP"),
    "hf_Siglip": lambda: clip("Siglip"),
    "hf_ViT": _vision("ViT", "Model", "last_hidden_state", {"image_size": 32, "patch_size": 8}, (32, 32)),
    "hf_Dinov2": _vision("Dinov2", "Model", "last_hidden_state", {"image_size": 28, "patch_size": 7}, (28, 28)),
    "hf_Segformer": _vision(
        "Segformer",
        "ForSemanticSegmentation",
        "logits",
        {"hidden_sizes": [16, 16, 32, 32], "depths": [1, 1, 1, 1], "decoder_hidden_size": 16},
        (64, 64),
    ),
    "hf_Wav2Vec2": lambda: sound("Wav2Vec2"),
    "hf_Hubert": lambda: sound("Hubert"),
}
"""Networks by name."""
