"""Convolutional networks for `build.py`."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


def normalized(inputs: int, outputs: int, size: int = 3, stride: int = 1, groups: int = 1) -> nn.Sequential:
    """A convolution without bias and batch normalisation."""
    return nn.Sequential(nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False), nn.BatchNorm2d(outputs))


class ResidualBlock(nn.Module):
    """Two convolutions and a shortcut, projected where the shape changes."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(normalized(inputs, outputs, stride=stride), nn.ReLU(), normalized(outputs, outputs))
        self.shortcut = nn.Identity() if inputs == outputs and stride == 1 else normalized(inputs, outputs, 1, stride)

    def forward(self, x: Tensor) -> Tensor:
        return functional.relu(self.body(x) + self.shortcut(x))


class ResNet(nn.Module):
    """Residual network: images [N, 3, H, W] -> [N, 10]."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(normalized(3, 8, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1))
        self.blocks = nn.Sequential(ResidualBlock(8, 8, 1), ResidualBlock(8, 16, 2), ResidualBlock(16, 24, 2))
        self.head = nn.Linear(24, 10)

    def forward(self, image: Tensor) -> Tensor:
        return self.head(functional.adaptive_avg_pool2d(self.blocks(self.stem(image)), 1).flatten(1))


class SqueezeExcitation(nn.Module):
    """Scales channels by what their means say."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.reduce, self.expand = nn.Conv2d(channels, 4, 1), nn.Conv2d(4, channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        return x * functional.hardsigmoid(self.expand(functional.relu(self.reduce(x.mean((2, 3), keepdim=True)))))


class InvertedResidual(nn.Module):
    """Widen, depthwise convolution, squeeze and excitation, narrow."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        wide = 3 * inputs
        self.body = nn.Sequential(
            *(normalized(inputs, wide, 1), nn.Hardswish()),
            *(normalized(wide, wide, 5, stride, groups=wide), nn.Hardswish()),
            *(SqueezeExcitation(wide), normalized(wide, outputs, 1)),
        )
        self.adds = inputs == outputs and stride == 1

    def forward(self, x: Tensor) -> Tensor:
        return x + self.body(x) if self.adds else self.body(x)


class MobileNet(nn.Module):
    """MobileNet-V3-like: images [N, 3, H, W] -> [N, 10]."""

    def __init__(self) -> None:
        super().__init__()
        blocks = [InvertedResidual(8, 8, 1), InvertedResidual(8, 16, 2), InvertedResidual(16, 16, 1)]
        self.features = nn.Sequential(normalized(3, 8, 3, 2), nn.Hardswish(), *blocks)
        self.head = nn.Sequential(nn.Linear(16, 32), nn.Hardswish(), nn.Dropout(0.2), nn.Linear(32, 10))

    def forward(self, image: Tensor) -> Tensor:
        return self.head(functional.adaptive_avg_pool2d(self.features(image), 1).flatten(1)).softmax(-1)


class UNet(nn.Module):
    """Segmentation with skip connections and bilinear upsampling to the size of the skipped features: [N, 1, H, W] -> [N, 3, H, W]."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.ModuleList([normalized(1, 8), normalized(8, 12), normalized(12, 16)])
        self.up = nn.ModuleList([normalized(16 + 12, 12), normalized(12 + 8, 8)])
        self.head = nn.Conv2d(8, 3, 1)

    def forward(self, image: Tensor) -> Tensor:
        skipped: list[Tensor] = []
        x = image
        for index, layer in enumerate(self.down):
            x = functional.leaky_relu(layer(functional.avg_pool2d(x, 2) if index else x), 0.1)
            skipped.append(x)
        for index, layer in enumerate(self.up):
            skip = skipped[-2 - index]
            x = functional.interpolate(x, size=skip.shape[2:], mode="bilinear", align_corners=False)
            x = functional.leaky_relu(layer(torch.cat([x, skip], 1)), 0.1)
        return self.head(x).log_softmax(1)


class Dilated(nn.Module):
    """Dilated and transposed convolutions, instance and group normalisation: [N, 2, H, W] -> [N, 2, 2 H + 1, 2 W + 1]."""

    def __init__(self) -> None:
        super().__init__()
        self.dilated = nn.Conv2d(2, 12, 3, padding=2, dilation=2, padding_mode="reflect")
        self.instance = nn.InstanceNorm2d(12, affine=True)
        self.grouped = nn.Conv2d(12, 12, (3, 1), padding=(1, 0), groups=3)
        self.group = nn.GroupNorm(3, 12)
        self.transposed = nn.ConvTranspose2d(12, 6, 4, 2, 1, output_padding=1, groups=2)
        self.slope = nn.PReLU(6)
        self.head = nn.ConvTranspose2d(6, 2, 3, padding=2, dilation=2)

    def forward(self, image: Tensor) -> Tensor:
        x = functional.elu(self.instance(self.dilated(image)))
        x = functional.gelu(self.group(self.grouped(x)))
        return torch.tanh(self.head(self.slope(self.transposed(x))))


class SuperResolution(nn.Module):
    """Pixel shuffle: [N, 1, H, W] -> [N, 1, 3 H, 3 W]."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 12, 5, padding=2), nn.Softplus(), nn.Conv2d(12, 9, 3, padding=1), nn.PixelShuffle(3))

    def forward(self, image: Tensor) -> Tensor:
        nearest = functional.interpolate(image, scale_factor=3.0, mode="nearest")
        return (self.body(image) + nearest).clamp(-1, 1)


class ShuffleNet(nn.Module):
    """Channels split, shuffled by reshape and transpose: [N, 3, H, W] -> [N, 5]."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(normalized(3, 16, 3, 2), nn.ReLU6())
        self.branches = nn.ModuleList([nn.Sequential(normalized(8, 8, groups=8), normalized(8, 8, 1), nn.ReLU6()) for _ in range(2)])
        self.head = nn.Linear(16, 5)

    def forward(self, image: Tensor) -> Tensor:
        x = self.stem(image)
        for branch in self.branches:
            kept, changed = x.chunk(2, 1)
            x = torch.cat([kept, branch(changed)], 1)
            batch, channels, height, width = x.shape
            x = x.view(batch, 2, channels // 2, height, width).transpose(1, 2).reshape(batch, channels, height, width)
        return self.head(x.amax((2, 3)))


class Quantized(nn.Module):
    """Simulated quantisation of weights (one scale a channel) and activations: [N, 3, H, W] -> [N, 6]."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Conv2d(3, 8, 3, 2), nn.Conv2d(8, 6, 3)])

    def forward(self, image: Tensor) -> Tensor:
        x = torch.fake_quantize_per_tensor_affine(image, 1 / 64, 128, 0, 255)
        for layer in self.layers:
            scale = layer.weight.detach().abs().amax((1, 2, 3)) / 127
            zero = torch.zeros(len(scale), dtype=torch.int32)
            weight = torch.fake_quantize_per_channel_affine(layer.weight, scale, zero, 0, -128, 127)
            x = functional.relu(functional.conv2d(x, weight, layer.bias, layer.stride))
            x = torch.fake_quantize_per_tensor_affine(x, 1 / 128, 0, 0, 255)
        return x.mean((2, 3))
