"""Networks that torchao quantizes: weights alone, weights and activations, and pt2e."""

from __future__ import annotations

from typing import Any

import torch
import torchao.quantization as quantization
from exports.network import Builder, Network, image
from torch import nn

AUTO = torch.export.Dim.AUTO


def _perceptron() -> nn.Module:
    return nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 64), nn.LayerNorm(64), nn.Linear(64, 32)).eval()


def by_config(name: str, **settings: Any) -> Network:
    """A perceptron whose weights a configuration of torchao quantizes, for any number of rows."""
    module = _perceptron()
    quantization.quantize_(module, getattr(quantization, name)(**settings))
    return Network(module, (torch.randn(4, 64),), dynamic=({0: AUTO},), others=(torch.randn(7, 64),), decomposed=True, tolerance=3e-2)


def _convolutional() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.BatchNorm2d(8), nn.ReLU6(), nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.Hardswish(),
        nn.MaxPool2d(2), nn.Conv2d(8, 16, 1), nn.SiLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 5),
    ).eval()  # fmt: skip


def pt2e(kind: str, **settings: Any) -> Network:
    """A network of convolutions that a quantizer of pt2e prepares."""
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    quantizer: Any
    if kind == "x86":
        from torchao.quantization.pt2e.quantizer import x86_inductor_quantizer as x86

        quantizer = x86.X86InductorQuantizer().set_global(x86.get_default_x86_inductor_quantization_config(**settings))
    else:
        from torchao.testing.pt2e._xnnpack_quantizer import XNNPACKQuantizer, get_symmetric_quantization_config

        quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config(**settings))
    inputs = (image(32, 48, 2),)
    prepared = prepare_pt2e(torch.export.export(_convolutional(), inputs).module(), quantizer)
    for _ in range(3):
        prepared(image(32, 48, 2))
    return Network(convert_pt2e(prepared), inputs, decomposed=True, tolerance=8e-2)


NETWORKS: dict[str, Builder] = {
    "ao_int8_weights": lambda: by_config("Int8WeightOnlyConfig"),
    "ao_int8_dynamic": lambda: by_config("Int8DynamicActivationInt8WeightConfig"),
    "ao_int4_weights_of_int8_dynamic": lambda: by_config("Int8DynamicActivationIntxWeightConfig"),
    "ao_intx_weights": lambda: by_config("IntxWeightOnlyConfig", weight_dtype=torch.int4),
    "ao_float8_weights": lambda: by_config("Float8WeightOnlyConfig"),
    "ao_pt2e_x86": lambda: pt2e("x86"),
    "ao_pt2e_x86_dynamic": lambda: pt2e("x86", is_dynamic=True),
    "ao_pt2e_xnnpack": lambda: pt2e("xnnpack"),
    "ao_pt2e_xnnpack_channels": lambda: pt2e("xnnpack", is_per_channel=True),
}
"""Networks by name."""
