"""Networks of diffusers and torchaudio at random weights and small sizes."""

from __future__ import annotations

from typing import Any

import diffusers
import torch
import torchaudio
from exports.network import Builder, Network, image

AUTO = torch.export.Dim.AUTO
BLOCKS: dict[str, Any] = {"block_out_channels": (16, 32), "norm_num_groups": 8, "layers_per_block": 1}


class _Sample(torch.nn.Module):
    """The first result of a network of diffusers."""

    def __init__(self, module: torch.nn.Module, *names: str) -> None:
        super().__init__()
        self.module, self.names = module, names

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        return self.module(**dict(zip(self.names, inputs, strict=True)), return_dict=False)[0]


def denoiser() -> Network:
    """The network of Stable Diffusion, for images of any size and any number of tokens."""
    module = diffusers.UNet2DConditionModel(
        sample_size=16, in_channels=4, out_channels=4, down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
        up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"), cross_attention_dim=24, attention_head_dim=8, **BLOCKS,
    )  # fmt: skip

    def made(batch: int, size: int, tokens: int) -> tuple[torch.Tensor, ...]:
        return torch.randn(batch, 4, size, size), torch.tensor([7]).repeat(batch), torch.randn(batch, tokens, 24)

    shapes = ({0: AUTO}, {0: AUTO}, {0: AUTO, 1: AUTO})
    return Network(
        _Sample(module.eval(), "sample", "timestep", "encoder_hidden_states").eval(),
        made(2, 16, 7),
        dynamic=(shapes,),
        others=made(3, 16, 9),
    )


def autoencoder(kind: str) -> Network:
    """The decoder of latent images."""
    types = {"down_block_types": ("DownEncoderBlock2D",) * 2, "up_block_types": ("UpDecoderBlock2D",) * 2}
    module = diffusers.AutoencoderKL(latent_channels=4, **types, **BLOCKS).eval()

    class Part(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.module = module

        def forward(self, x: torch.Tensor) -> Any:
            return self.module.decode(x).sample if kind == "decoder" else self.module.encode(x).latent_dist.mean

    inputs = torch.randn(1, 4, 8, 8) if kind == "decoder" else image(32, 32)
    others = torch.randn(1, 4, 10, 8) if kind == "decoder" else image(48, 32)
    return Network(Part().eval(), (inputs,), dynamic=({2: AUTO, 3: AUTO},), others=(others,), tolerance=2e-3)


def transformer() -> Network:
    """The transformer of DiT."""
    module = diffusers.DiTTransformer2DModel(
        num_attention_heads=2, attention_head_dim=8, in_channels=4, out_channels=8, num_layers=2, sample_size=8, num_embeds_ada_norm=12
    ).eval()
    return Network(
        _Sample(module, "hidden_states", "timestep", "class_labels").eval(),
        (torch.randn(2, 4, 8, 8), torch.tensor([3, 7]), torch.tensor([1, 5])),
    )


def joint_transformer() -> Network:
    """The transformer of Stable Diffusion 3, on images and texts."""
    module = diffusers.SD3Transformer2DModel(
        sample_size=16, patch_size=2, in_channels=4, num_layers=2, attention_head_dim=8, num_attention_heads=2, caption_projection_dim=16,
        joint_attention_dim=24, pooled_projection_dim=20, out_channels=4,
    ).eval()  # fmt: skip
    names = ("hidden_states", "encoder_hidden_states", "pooled_projections", "timestep")
    inputs = (torch.randn(2, 4, 16, 16), torch.randn(2, 7, 24), torch.randn(2, 20), torch.tensor([3, 7]))
    return Network(_Sample(module, *names).eval(), inputs)


def conformer() -> Network:
    """A conformer with lengths."""
    module = torchaudio.models.Conformer(16, 4, 32, 2, 7).eval()
    inputs, others = (torch.randn(2, 20, 16), torch.tensor([20, 13])), (torch.randn(3, 31, 16), torch.tensor([31, 9, 22]))
    return Network(module, inputs, dynamic=({0: AUTO, 1: AUTO}, {0: AUTO}), others=others)


def sound(module: torch.nn.Module, *inputs: torch.Tensor, others: tuple[torch.Tensor, ...] | None = None, axis: int = 2) -> Network:
    """A network of sounds of any length."""
    return Network(module.eval(), inputs, dynamic=None if others is None else ({axis: AUTO},), others=others)


NETWORKS: dict[str, Builder] = {
    "diffusers_unet": denoiser,
    "diffusers_decoder": lambda: autoencoder("decoder"),
    "diffusers_encoder": lambda: autoencoder("encoder"),
    "diffusers_dit": transformer,
    "diffusers_sd3": joint_transformer,
    "audio_conformer": conformer,
    "audio_conv_tasnet": lambda: sound(
        torchaudio.models.ConvTasNet(msk_num_layers=2, msk_num_stacks=1, enc_num_feats=32, msk_num_feats=16, msk_num_hidden_feats=32),
        torch.randn(1, 1, 800), others=(torch.randn(1, 1, 1200),),
    ),
    "audio_wav2letter": lambda: sound(torchaudio.models.Wav2Letter(12), torch.randn(1, 1, 4000)),
    "audio_deepspeech": lambda: sound(torchaudio.models.DeepSpeech(16, 32, 12), torch.randn(2, 1, 9, 16)),
    "audio_mel": lambda: sound(
        torchaudio.transforms.MelSpectrogram(8000, 64, hop_length=32, n_mels=12), torch.randn(2, 800), others=(torch.randn(2, 960),), axis=1
    ),
    "audio_mfcc": lambda: sound(
        torchaudio.transforms.MFCC(8000, 6, melkwargs={"n_fft": 64, "hop_length": 32, "n_mels": 12}), torch.randn(2, 800)
    ),
    "audio_resample": lambda: sound(torchaudio.transforms.Resample(8000, 6000), torch.randn(2, 800), others=(torch.randn(2, 960),), axis=1),
}  # fmt: skip
"""Networks by name."""
