"""Networks with attention for `build.py`."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

WIDTH, HEADS = 32, 4


def split_heads(x: Tensor) -> Tensor:
    """[N, L, WIDTH] -> [N, HEADS, L, WIDTH / HEADS]"""
    return x.view(x.shape[0], x.shape[1], HEADS, WIDTH // HEADS).transpose(1, 2)


def merge_heads(x: Tensor) -> Tensor:
    """[N, HEADS, L, WIDTH / HEADS] -> [N, L, WIDTH]"""
    return x.transpose(1, 2).reshape(x.shape[0], x.shape[2], WIDTH)


def attention(query: Tensor, key: Tensor, value: Tensor, bias: Tensor | float = 0.0) -> Tensor:
    """Written out: softmax(q kᵀ / √d + bias) v."""
    scores = query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1]) + bias
    return scores.softmax(-1) @ value


def feed_forward() -> nn.Sequential:
    """Two dense layers."""
    return nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH))


class TorchEncoder(nn.Module):
    """PyTorch's own encoder with a padding mask: tokens [N, L] -> [N, L, WIDTH]."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(40, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 2 * WIDTH, activation="gelu", batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.encoder(self.embedding(tokens), src_key_padding_mask=tokens == 0)


class Bert(nn.Module):
    """Encoder written out, with an additive mask: tokens and mask [N, L] -> hidden states [N, L, WIDTH] and pooled [N, WIDTH]."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(40, WIDTH), nn.Embedding(24, WIDTH)
        self.norms = nn.ModuleList([nn.LayerNorm(WIDTH, eps=1e-12) for _ in range(3)])
        self.projections = nn.ModuleList([nn.Linear(WIDTH, WIDTH) for _ in range(5)])
        self.feed_forward = feed_forward()

    def forward(self, tokens: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        places = torch.arange(tokens.shape[1])
        x = self.norms[0](self.words(tokens) + self.places(places))
        bias = (1.0 - mask[:, None, None, :].to(torch.float32)) * -10000.0
        query, key, value = (split_heads(self.projections[index](x)) for index in range(3))
        x = self.norms[1](x + self.projections[3](merge_heads(attention(query, key, value, bias))))
        x = self.norms[2](x + self.feed_forward(x))
        return x, torch.tanh(self.projections[4](x[:, 0]))


class Gpt(nn.Module):
    """One decoder block with keys and values of the past: tokens [N, L], past [2, N, HEADS, P, D] -> logits [N, L, 40], present."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(40, WIDTH), nn.Embedding(32, WIDTH)
        self.norms = nn.ModuleList([nn.LayerNorm(WIDTH) for _ in range(3)])
        self.projection, self.output = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.feed_forward = feed_forward()

    def forward(self, tokens: Tensor, past: Tensor) -> tuple[Tensor, Tensor]:
        start, length = past.shape[3], tokens.shape[1]
        places = torch.arange(start, start + length)
        x = self.words(tokens) + self.places(places)
        query, key, value = (split_heads(part) for part in self.projection(self.norms[0](x)).split(WIDTH, -1))
        key, value = torch.cat([past[0], key], 2), torch.cat([past[1], value], 2)
        visible = torch.arange(start + length)[None, :] <= places[:, None]
        scores = query @ key.transpose(-1, -2) / math.sqrt(WIDTH // HEADS)
        scores = scores.masked_fill(~visible, torch.finfo(torch.float32).min)
        x = x + self.output(merge_heads(scores.softmax(-1) @ value))
        x = x + self.feed_forward(self.norms[1](x))
        return functional.linear(self.norms[2](x), self.words.weight), torch.stack([key, value])


class VisionTransformer(nn.Module):
    """Patch embedding, class token, one block with fused attention: images [N, 3, 16, 24] -> [N, 7]."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, WIDTH, 8, 8)
        self.token = nn.Parameter(torch.randn(1, 1, WIDTH))
        self.places = nn.Parameter(torch.randn(1, 7, WIDTH))
        self.norms = nn.ModuleList([nn.LayerNorm(WIDTH) for _ in range(3)])
        self.projection = nn.Linear(WIDTH, 3 * WIDTH)
        self.feed_forward, self.head = feed_forward(), nn.Linear(WIDTH, 7)

    def forward(self, image: Tensor) -> Tensor:
        patches = self.patches(image).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(image.shape[0], -1, -1), patches], 1) + self.places
        query, key, value = (split_heads(part) for part in self.projection(self.norms[0](x)).chunk(3, -1))
        x = x + merge_heads(functional.scaled_dot_product_attention(query, key, value))
        x = x + self.feed_forward(self.norms[1](x))
        return self.head(self.norms[2](x)[:, 0])


class Swin(nn.Module):
    """Attention in shifted windows of 4 × 4, patches merged: [N, 8, 12, WIDTH] -> [N, 4, 6, 2 WIDTH]."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.merged_norm = nn.LayerNorm(WIDTH), nn.LayerNorm(4 * WIDTH)
        self.projection = nn.Linear(WIDTH, 3 * WIDTH)
        self.relative = nn.Parameter(torch.randn(HEADS, 16, 16))
        self.merge = nn.Linear(4 * WIDTH, 2 * WIDTH, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        batch, height, width, channels = x.shape
        shifted = torch.roll(self.norm(x), (-2, -2), (1, 2))
        windows = shifted.view(batch, height // 4, 4, width // 4, 4, channels).permute(0, 1, 3, 2, 4, 5).reshape(-1, 16, channels)
        query, key, value = (split_heads(part) for part in self.projection(windows).chunk(3, -1))
        attended = merge_heads(attention(query, key, value, self.relative))
        image = attended.view(batch, height // 4, width // 4, 4, 4, channels).permute(0, 1, 3, 2, 4, 5).reshape(x.shape)
        x = x + torch.roll(image, (2, 2), (1, 2))
        corners = [x[:, row::2, column::2] for column in range(2) for row in range(2)]
        return self.merge(self.merged_norm(torch.cat(corners, -1)))


class RmsNorm(nn.Module):
    """x / √(mean x² + ε) · scale"""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.rand(WIDTH) + 0.5)

    def forward(self, x: Tensor) -> Tensor:
        return self.scale * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


class T5(nn.Module):
    """Relative positions in logarithmic buckets, RMS normalisation, gated feed-forward: tokens [N, L] -> [N, L, WIDTH]."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.buckets = nn.Embedding(40, WIDTH), nn.Embedding(16, HEADS)
        self.norms = nn.ModuleList([RmsNorm() for _ in range(3)])
        self.projections = nn.ModuleList([nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(6)])

    def bias(self, length: int) -> Tensor:
        """Bias [HEADS, L, L] by the bucket of the distance."""
        places = torch.arange(length)
        distance = places[None, :] - places[:, None]
        size = distance.abs()
        far = 4 + (torch.log(size.clamp(min=1).to(torch.float32) / 4) / math.log(16 / 4) * 4).to(torch.int64)
        bucket = torch.where(size < 4, size, torch.minimum(far, torch.full_like(far, 7)))
        return self.buckets(bucket + (distance > 0).to(torch.int64) * 8).permute(2, 0, 1)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.words(tokens)
        normed = self.norms[0](x)
        query, key, value = (split_heads(self.projections[index](normed)) for index in range(3))
        scores = query @ key.transpose(-1, -2) + self.bias(tokens.shape[1])
        x = x + self.projections[3](merge_heads(scores.softmax(-1) @ value))
        normed = self.norms[1](x)
        x = x + functional.gelu(self.projections[4](normed), approximate="tanh") * self.projections[5](normed)
        return self.norms[2](x)


class Llama(nn.Module):
    """Rotary positions, grouped keys and values, SwiGLU: tokens [N, L] -> logits [N, L, 40]."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(40, WIDTH)
        self.norms = nn.ModuleList([RmsNorm() for _ in range(3)])
        self.query, self.output = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(2))
        self.key, self.value = (nn.Linear(WIDTH, WIDTH // 2, bias=False) for _ in range(2))
        self.gate, self.up, self.down = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(3))

    def forward(self, tokens: Tensor) -> Tensor:
        size = WIDTH // HEADS
        frequencies = 10000.0 ** (-torch.arange(0, size, 2, dtype=torch.float32) / size)
        angles = torch.arange(tokens.shape[1], dtype=torch.float32)[:, None] * frequencies
        cosine, sine = (torch.cat([part, part], -1) for part in (angles.cos(), angles.sin()))

        def rotated(x: Tensor) -> Tensor:
            half = torch.cat([-x[..., size // 2 :], x[..., : size // 2]], -1)
            return x * cosine + half * sine

        x = self.words(tokens)
        normed = self.norms[0](x)
        shape = (tokens.shape[0], tokens.shape[1], -1, size)
        query = self.query(normed).view(shape).transpose(1, 2)
        key, value = (layer(normed).view(shape).transpose(1, 2).repeat_interleave(2, 1) for layer in (self.key, self.value))
        attended = functional.scaled_dot_product_attention(rotated(query), rotated(key), value, is_causal=True)
        x = x + self.output(merge_heads(attended))
        normed = self.norms[1](x)
        x = x + self.down(functional.silu(self.gate(normed)) * self.up(normed))
        return functional.linear(self.norms[2](x), self.words.weight)
