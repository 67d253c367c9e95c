"""Trains the digit classifier of the demo: writes `digits.onnx` and `held_out.npz` beside this file.

Needs PyTorch and scikit-learn, which `run.py` does not, as its input files are in the repository. The seed is fixed, so
that the same versions of both packages write the same files.

    python examples/digits/train.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.nn import functional

HERE = Path(__file__).parent
SEED = 20
EPOCHS = 60
BATCH = 64
CLASSES = 10


def block(inputs: int, outputs: int, activation: nn.Module, groups: int = 1) -> nn.Sequential:
    """A 3 × 3 convolution, batch normalisation and an activation."""
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1, groups=groups, bias=False), nn.BatchNorm2d(outputs), activation)


class Classifier(nn.Module):
    """Digits of 8 × 8 pixels: images [N, 1, 8, 8] in 0 … 1 to logits [N, 10]."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = block(1, 16, nn.SiLU())
        self.widen = block(16, 32, nn.Hardswish())
        self.depthwise = block(32, 32, nn.SiLU(), groups=32)
        self.pointwise = nn.Sequential(nn.Conv2d(32, 32, 1, bias=False), nn.BatchNorm2d(32))
        self.head = nn.Linear(64, CLASSES)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        features = functional.max_pool2d(self.widen(self.stem(images)), 2)
        features = functional.silu(features + self.pointwise(self.depthwise(features)))
        mean, largest = functional.adaptive_avg_pool2d(features, 1), functional.adaptive_max_pool2d(features, 1)
        return self.head(torch.cat([mean, largest], dim=1).flatten(1))


def train(images: torch.Tensor, labels: torch.Tensor) -> Classifier:
    """A classifier trained on images [N, 1, 8, 8] and labels [N]."""
    model = Classifier()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=EPOCHS * (len(images) // BATCH))
    for _ in range(EPOCHS):
        order = torch.randperm(len(images))
        for start in range(0, len(images) - BATCH + 1, BATCH):
            batch = order[start : start + BATCH]
            optimizer.zero_grad()
            functional.cross_entropy(model(images[batch]), labels[batch], label_smoothing=0.05).backward()
            optimizer.step()
            schedule.step()
    return model.eval()


def main() -> None:
    torch.manual_seed(SEED)
    torch.use_deterministic_algorithms(True)
    digits = load_digits()
    images = (digits.images[:, None] / 16).astype(np.float32)
    parts = train_test_split(images, digits.target.astype(np.int64), test_size=0.25, random_state=SEED, stratify=digits.target)
    train_images, held_images, train_labels, held_labels = parts
    model = train(torch.from_numpy(train_images), torch.from_numpy(train_labels))
    with torch.inference_mode():
        accuracy = (model(torch.from_numpy(held_images)).argmax(1).numpy() == held_labels).mean()
    print(f"accuracy on {len(held_labels)} held-out images: {accuracy:.4f}")
    torch.onnx.export(
        model,
        (torch.from_numpy(held_images[:2]),),
        HERE / "digits.onnx",
        input_names=["image"],
        output_names=["logits"],
        dynamic_axes={"image": {0: "batch"}, "logits": {0: "batch"}},
        opset_version=17,
        dynamo=False,
        # Batch normalisation stays in the file, as the demo shows that the converter folds it.
        training=torch.onnx.TrainingMode.PRESERVE,
        do_constant_folding=False,
    )
    np.savez_compressed(HERE / "held_out.npz", images=np.rint(held_images * 16).astype(np.uint8), labels=held_labels.astype(np.uint8))


if __name__ == "__main__":
    main()
