"""Networks for what an exported program can have: recurrence, control flow, states, quantized weights, structures of outputs."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from exports.network import Builder, Network
from torch import nn

# What torch 2.5 does not have yet is imported where it is used.

AUTO = torch.export.Dim.AUTO


class _Recurrent(nn.Module):
    def __init__(self, kind: type[nn.RNNBase], **settings: Any) -> None:
        super().__init__()
        self.inner = kind(6, 8, **settings)

    def forward(self, x: torch.Tensor) -> Any:
        y, state = self.inner(x)
        return y, state


class _Cells(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm, self.gru, self.rnn = nn.LSTMCell(6, 8), nn.GRUCell(8, 8), nn.RNNCell(8, 8)

    def forward(self, x: torch.Tensor) -> Any:
        h, c = x.new_zeros(x.shape[1], 8), x.new_zeros(x.shape[1], 8)
        states = []
        for step in range(x.shape[0]):
            h, c = self.lstm(x[step], (h, c))
            states.append(self.rnn(self.gru(h)))
        return torch.stack(states)


class _Function(nn.Module):
    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Any) -> Any:
        return self.function(*inputs)


def function(function: Any, *inputs: Any, others: Any = None, dynamic: Any = None, **more: Any) -> Network:
    """A network of a function."""
    if isinstance(dynamic, tuple):
        dynamic = (dynamic,)
    return Network(_Function(function).eval(), inputs, dynamic=dynamic, others=others, **more)


def _cond(x: torch.Tensor) -> torch.Tensor:
    return torch.cond(x.sum() > 0, lambda x: x.sin() + 1, lambda x: x.cos() * 2, (x,))


def _while(x: torch.Tensor) -> Any:
    return torch.ops.higher_order.while_loop(lambda i, _: i < 5, lambda i, x: (i + 1, x * 1.5 + i), (torch.tensor(0), x), ())


def _scan(x: torch.Tensor) -> Any:
    from torch._higher_order_ops import scan

    return scan(lambda state, y: (state * 0.5 + y, state + y), torch.zeros(4), x)


def _associative(x: torch.Tensor) -> Any:
    from torch._higher_order_ops.associative_scan import associative_scan

    return associative_scan(lambda a, b: a * 0.5 + b, x, 0, combine_mode="generic")


def _mapped(x: torch.Tensor, y: torch.Tensor) -> Any:
    from torch._higher_order_ops.map import map as map_

    return map_(lambda each, other: each * other + 1, x, y)


class _Moments(nn.Module):
    """Buffers that are written."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(4))
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count.add_(1)
        self.mean.mul_(0.9).add_(0.1 * x.mean(0))
        return x - self.mean * self.count


class _Bags(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.bags = nn.ModuleList(nn.EmbeddingBag(20, 6, mode=mode) for mode in ("sum", "mean", "max"))

    def forward(self, x: torch.Tensor, offsets: torch.Tensor) -> Any:
        return [bag(x, offsets) for bag in self.bags], self.bags[0](x.reshape(4, 3))


class _Weights(nn.Module):
    """Quantized weights as plain tensors, of 8 and of 4 bits."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("w8", torch.randint(-128, 127, (32, 16), dtype=torch.int8))
        self.register_buffer("s8", torch.rand(32, 1) * 0.01)
        self.register_buffer("w4", torch.randint(0, 255, (8, 16), dtype=torch.uint8))
        self.register_buffer("s4", torch.rand(8, 1) * 0.1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.linear(x, self.w8.to(x.dtype) * self.s8)
        low, high = self.w4 & 15, self.w4 >> 4
        w = (torch.stack([low, high], -1).reshape(8, 32).to(x.dtype) - 8) * self.s4
        return F.linear(F.relu(y), w)


def _dictionary(x: torch.Tensor, y: dict[str, torch.Tensor]) -> Any:
    return {"sum": x + y["a"], "parts": [x * 2, {"deep": y["b"] - x}], "number": 3}


def _spectrum(x: torch.Tensor) -> Any:
    spectrum = torch.stft(x, 16, 4, window=torch.hann_window(16), return_complex=True)
    return spectrum.abs(), torch.view_as_real(spectrum), torch.fft.rfft(x).abs()


def _rotary(x: torch.Tensor) -> torch.Tensor:
    angles = torch.outer(torch.arange(x.shape[1]).float(), 1.0 / (10000 ** (torch.arange(0, 8, 2).float() / 8)))
    turns = torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2)) * turns).flatten(2)


def _filtered(x: torch.Tensor) -> torch.Tensor:
    """A global filter in the frequencies of an image."""
    weight = torch.view_as_complex(torch.linspace(-1, 1, 8 * 5 * 2).reshape(8, 5, 2))
    return torch.fft.irfft2(torch.fft.rfft2(x, norm="ortho") * weight, s=(8, 8), norm="ortho")


def _resized(x: torch.Tensor) -> Any:
    modes = ("bilinear", "bicubic")
    return [F.interpolate(x, (5, 11), mode=mode, antialias=True) for mode in modes] + [
        F.interpolate(x, scale_factor=1.7, mode=m) for m in modes
    ]


def _losses(x: torch.Tensor, y: torch.Tensor) -> Any:
    target = y[:, 0].abs().long() % 4
    named = (F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss)
    return [loss(x, y) for loss in named] + [
        F.cross_entropy(x, target),
        F.nll_loss(x.log_softmax(-1), target),
        F.binary_cross_entropy_with_logits(x, y),
    ]


def _pt2e() -> Network:
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
    from torchao.quantization.pt2e.quantizer.x86_inductor_quantizer import (
        X86InductorQuantizer,
        get_default_x86_inductor_quantization_config,
    )

    module = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(128, 5)).eval()
    inputs = (torch.randn(2, 3, 12, 16),)
    quantizer = X86InductorQuantizer().set_global(get_default_x86_inductor_quantization_config())
    prepared = prepare_pt2e(torch.export.export(module, inputs).module(), quantizer)
    prepared(*inputs)
    return Network(convert_pt2e(prepared), inputs, tolerance=6e-2)


class _Deformable(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        import torchvision

        self.inner = torchvision.ops.DeformConv2d(4, 6, 3, padding=1, groups=2)

    def forward(self, x: torch.Tensor, offset: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return self.inner(x, offset, mask)


_KINDS: dict[str, type[nn.RNNBase]] = {"lstm": nn.LSTM, "gru": nn.GRU, "rnn": nn.RNN}
_IMAGE = (1, 3, 9, 14)


def _recurrent(kind: type[nn.RNNBase], **settings: Any) -> Network:
    return Network(
        _Recurrent(kind, **settings).eval(), (torch.randn(5, 2, 6),), dynamic=({0: AUTO, 1: AUTO},), others=(torch.randn(7, 3, 6),)
    )


NETWORKS: dict[str, Builder] = {
    **{f"{name}_plain": (lambda kind=kind: _recurrent(kind)) for name, kind in _KINDS.items()},
    **{f"{name}_deep": (lambda kind=kind: _recurrent(kind, num_layers=2, bidirectional=True)) for name, kind in _KINDS.items()},
    "lstm_projected": lambda: _recurrent(nn.LSTM, proj_size=4, batch_first=True),
    "lstm_projected_deep": lambda: _recurrent(nn.LSTM, proj_size=4, num_layers=2, bidirectional=True, bias=False),
    "cells": lambda: Network(_Cells().eval(), (torch.randn(4, 2, 6),)),
    "cond": lambda: function(_cond, torch.randn(3, 4), others=(-torch.rand(3, 4),)),
    "while_loop": lambda: function(_while, torch.randn(3, 4)),
    "scan": lambda: function(_scan, torch.randn(5, 4)),
    "associative_scan": lambda: function(_associative, torch.randn(6, 4)),
    "map": lambda: function(_mapped, torch.randn(6, 4), torch.randn(4)),
    "moments": lambda: Network(_Moments(), (torch.randn(5, 4),)),
    "embedding_bags": lambda: Network(_Bags(), (torch.randint(0, 20, (12,)), torch.tensor([0, 3, 3, 9]))),
    "weights_of_4_bits": lambda: Network(_Weights(), (torch.randn(4, 16),)),
    "dictionary": lambda: function(_dictionary, torch.randn(2, 3), {"a": torch.randn(2, 3), "b": torch.randn(3)}),
    "spectrum": lambda: function(_spectrum, torch.randn(2, 64)),
    "rotary": lambda: function(_rotary, torch.randn(2, 5, 8)),
    "fourier_filter": lambda: function(_filtered, torch.randn(1, 2, 8, 8)),
    "resized": lambda: function(_resized, torch.randn(*_IMAGE)),
    "losses": lambda: function(_losses, torch.randn(6, 4), torch.rand(6, 4)),
    "pt2e_x86": _pt2e,
    "deformable": lambda: Network(_Deformable(), (torch.randn(1, 4, 6, 7), torch.randn(1, 18, 6, 7), torch.rand(1, 9, 6, 7))),
    "half": lambda: Network(nn.Sequential(nn.Linear(8, 16), nn.GELU()).half().eval(), (torch.randn(3, 8).half(),), tolerance=2e-2),
    "bfloat16": lambda: Network(
        _Function(lambda x: F.linear(x.bfloat16(), torch.eye(8).bfloat16() * 2).float()), (torch.randn(3, 8),), tolerance=6e-2
    ),
}  # fmt: skip
"""Networks by name."""
