"""Builds the networks beside this file: for each an ONNX file and an `.npz` with inputs and PyTorch's outputs.

Run by hand, with PyTorch (and onnxscript); what it writes is in the repository.

    python tests/numerical/onnx/networks/build.py [NAME ...]
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
import torch
from torch import Tensor, nn

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import attention  # noqa: E402
import convolutional  # noqa: E402
import recurrent  # noqa: E402

Inputs = Mapping[str, Tensor]

# The samples below are drawn when this file is imported.
torch.manual_seed(0)


@dataclass(frozen=True)
class Network:
    """A network and how it is exported.

    Args:
        module: makes the network.
        samples: sets of inputs by name; the first is what is exported. Sets of other sizes show that the model is dynamic.
        opset: version of the operator set.
        outputs: names of the outputs.
        dynamic: the dimensions that are unknown: name of an input -> axes.
        dynamo: use the exporter on `torch.export`, not the one on TorchScript.
        script: compile by `torch.jit.script`, which keeps control flow.
    """

    module: Callable[[], nn.Module]
    samples: Sequence[Inputs]
    opset: int
    outputs: tuple[str, ...] = ("output",)
    dynamic: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    dynamo: bool = False
    script: bool = False


def image(*shape: int) -> Inputs:
    """An image."""
    return {"image": torch.rand(shape) * 2 - 0.5}


def tokens(*shape: int) -> Inputs:
    """Numbers of words, none of them 0."""
    return {"tokens": torch.randint(1, 30, shape)}


def masked(batch: int, length: int) -> Inputs:
    """Numbers of words and a mask that hides the last ones of each text but the first."""
    lengths = length - torch.arange(batch)
    return {**tokens(batch, length), "mask": (torch.arange(length)[None] < lengths[:, None]).to(torch.int64)}


def padded(batch: int, length: int) -> Inputs:
    """Numbers of words, the last ones of each text but the first 0."""
    sample = masked(batch, length)
    return {"tokens": sample["tokens"] * sample["mask"]}


def remembered(batch: int, length: int, past: int) -> Inputs:
    """Numbers of words, and keys and values of the words before them."""
    return {**tokens(batch, length), "past": torch.randn(2, batch, attention.HEADS, past, attention.WIDTH // attention.HEADS)}


def counted(batch: int, count: int) -> Inputs:
    """Features and how often to go through them."""
    return {"x": torch.randn(batch, 8), "count": torch.tensor(count)}


IMAGES = {"image": {0: "batch", 2: "height", 3: "width"}}
TEXTS = {"tokens": {0: "batch", 1: "length"}}

NETWORKS: dict[str, Network] = {
    "resnet": Network(convolutional.ResNet, [image(2, 3, 40, 48)], 11),
    "mobilenet": Network(convolutional.MobileNet, [image(1, 3, 32, 40), image(3, 3, 32, 40)], 14, dynamic={"image": {0: "batch"}}),
    "unet": Network(convolutional.UNet, [image(1, 1, 20, 24), image(2, 1, 33, 26)], 16, dynamic=IMAGES),
    "dilated": Network(convolutional.Dilated, [image(1, 2, 14, 17)], 18, dynamo=True),
    "super_resolution": Network(convolutional.SuperResolution, [image(1, 1, 9, 11), image(2, 1, 6, 13)], 11, dynamic=IMAGES),
    "shuffle_net": Network(convolutional.ShuffleNet, [image(2, 3, 20, 28), image(1, 3, 24, 16)], 13, dynamic=IMAGES),
    "quantized": Network(convolutional.Quantized, [image(2, 3, 17, 19)], 13),
    "torch_encoder": Network(attention.TorchEncoder, [padded(2, 7), padded(3, 7)], 17, dynamic={"tokens": {0: "batch"}}),
    "bert": Network(
        *(attention.Bert, [masked(2, 9), masked(3, 12)], 20, ("hidden", "pooled")),
        dynamic={**TEXTS, "mask": {0: "batch", 1: "length"}},
        dynamo=True,
    ),
    "gpt": Network(
        *(attention.Gpt, [remembered(1, 3, 5), remembered(2, 4, 0)], 15, ("logits", "present")),
        dynamic={**TEXTS, "past": {1: "batch", 3: "past"}},
    ),
    "vision_transformer": Network(attention.VisionTransformer, [image(2, 3, 16, 24)], 18, dynamo=True),
    "swin": Network(attention.Swin, [{"x": torch.randn(2, 8, 12, attention.WIDTH)}], 16),
    "t5": Network(attention.T5, [tokens(2, 6), tokens(1, 19)], 13, dynamic=TEXTS),
    "llama": Network(attention.Llama, [tokens(2, 6), tokens(3, 11)], 20, dynamic=TEXTS, dynamo=True),
    "lstm": Network(lambda: recurrent.Tagger(nn.LSTM), [tokens(2, 7), tokens(3, 4)], 12, ("scores", "last"), dynamic=TEXTS),
    "gru": Network(lambda: recurrent.Tagger(nn.GRU), [tokens(2, 5)], 15, ("scores", "last")),
    "iterated": Network(
        *(recurrent.Iterated, [counted(3, 4), counted(2, 0)], 16, ("x_last", "total")),
        dynamic={"x": {0: "batch"}},
        script=True,
    ),
}


def seed_statistics(module: nn.Module) -> None:
    """Give batch normalisation statistics that are not those of an untrained layer."""
    for layer in module.modules():
        if isinstance(layer, nn.BatchNorm2d):
            layer.running_mean.normal_(0, 0.1)
            layer.running_var.uniform_(0.5, 1.5)
            nn.init.uniform_(layer.weight, 0.5, 1.5)
            nn.init.normal_(layer.bias, 0, 0.1)


def without_stack_traces(path: Path) -> None:
    """Take from a file the places in this folder that the exporter notes for every node."""
    model = onnx.load(path)
    for entity in (*model.graph.node, *model.graph.value_info, *model.graph.input, *model.graph.output):
        kept = [entry for entry in entity.metadata_props if entry.key != "pkg.torch.onnx.stack_trace"]
        del entity.metadata_props[:]
        entity.metadata_props.extend(kept)
    onnx.save(model, path)


def export(name: str, network: Network) -> None:
    """Write the files of a network."""
    module = network.module().eval()
    seed_statistics(module)
    traced = torch.jit.script(module) if network.script else module
    path = HERE / f"{name}.onnx"
    first = network.samples[0]
    names = {"input_names": list(first), "output_names": list(network.outputs), "opset_version": network.opset}
    if network.dynamo:
        shapes = {key: dict(axes) for key, axes in network.dynamic.items()} or None
        torch.onnx.export(
            traced, (), path, kwargs=dict(first), dynamic_shapes=shapes, dynamo=True, external_data=False, verbose=False, **names
        )
        without_stack_traces(path)
    else:
        torch.onnx.export(traced, tuple(first.values()), path, dynamic_axes=network.dynamic or None, dynamo=False, **names)
    arrays: dict[str, np.ndarray] = {}
    for index, sample in enumerate(network.samples):
        with torch.inference_mode():
            results = module(**sample)
        results = results if isinstance(results, tuple) else (results,)
        arrays |= {f"{index}.input.{key}": value.numpy() for key, value in sample.items()}
        arrays |= {f"{index}.output.{key}": value.numpy() for key, value in zip(network.outputs, results, strict=True)}
    np.savez_compressed(path.with_suffix(".npz"), **arrays)


def main() -> None:
    torch.backends.mha.set_fastpath_enabled(False)
    for name in sys.argv[1:] or NETWORKS:
        torch.manual_seed(len(name))
        export(name, NETWORKS[name])
        print(f"{name}: {(HERE / f'{name}.onnx').stat().st_size} + {(HERE / f'{name}.npz').stat().st_size} bytes")


if __name__ == "__main__":
    main()
