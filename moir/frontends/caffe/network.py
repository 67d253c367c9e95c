"""The layers of a network as the text declares them, for inference.

Deprecated forms are converted to current ones: `layers` with types in capitals, and inputs without a layer. Layers of
another phase are left out, by the rules of `include` and `exclude`.

Source: caffe.proto, upgrade_proto.cpp and net.cpp of BVLC Caffe 1.0.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from moir.errors import ModelFileError
from moir.files.protobuf.text_format import TextMessage
from moir.frontends.caffe.weights import v0_error

V1_TYPES = {
    "ABSVAL": "AbsVal",
    "ACCURACY": "Accuracy",
    "ARGMAX": "ArgMax",
    "BNLL": "BNLL",
    "CONCAT": "Concat",
    "CONTRASTIVE_LOSS": "ContrastiveLoss",
    "CONVOLUTION": "Convolution",
    "CROP": "Crop",
    "DATA": "Data",
    "DECONVOLUTION": "Deconvolution",
    "DROPOUT": "Dropout",
    "DUMMY_DATA": "DummyData",
    "ELTWISE": "Eltwise",
    "EUCLIDEAN_LOSS": "EuclideanLoss",
    "EXP": "Exp",
    "FLATTEN": "Flatten",
    "HDF5_DATA": "HDF5Data",
    "HDF5_OUTPUT": "HDF5Output",
    "HINGE_LOSS": "HingeLoss",
    "IM2COL": "Im2col",
    "IMAGE_DATA": "ImageData",
    "INFOGAIN_LOSS": "InfogainLoss",
    "INNER_PRODUCT": "InnerProduct",
    "LRN": "LRN",
    "MEMORY_DATA": "MemoryData",
    "MULTINOMIAL_LOGISTIC_LOSS": "MultinomialLogisticLoss",
    "MVN": "MVN",
    "POOLING": "Pooling",
    "POWER": "Power",
    "RELU": "ReLU",
    "SIGMOID": "Sigmoid",
    "SIGMOID_CROSS_ENTROPY_LOSS": "SigmoidCrossEntropyLoss",
    "SILENCE": "Silence",
    "SLICE": "Slice",
    "SOFTMAX": "Softmax",
    "SOFTMAX_LOSS": "SoftmaxWithLoss",
    "SPLIT": "Split",
    "TANH": "TanH",
    "THRESHOLD": "Threshold",
    "WINDOW_DATA": "WindowData",
}
"""For each type of layer in the deprecated field `layers`, the type in the field `layer`."""

STRUCTURE = frozenset(
    (
        *("name", "type", "bottom", "top", "phase", "include", "exclude"),
        *("param", "blobs", "blobs_lr", "weight_decay", "loss_weight", "propagate_down", "blob_share_mode"),
    )
)
"""The fields of a layer that are not parameters of its operation. `param` and `blobs_lr` are of training."""

_OLD_INPUT_RANK = 4
"""The number of elements of `input_dim` for each input."""


class Layer(NamedTuple):
    """A layer.

    Args:
        name: its name; several layers may have the same.
        type: its type, spelled as today.
        bottoms: names of the blobs that it reads.
        tops: names of the blobs that it writes.
        message: all its fields.
    """

    name: str
    type: str
    bottoms: list[str]
    tops: list[str]
    message: TextMessage


class Network(NamedTuple):
    """A network.

    Args:
        name: its name, which may be empty.
        inputs: the shapes of the inputs that are not layers, by name; None if the text does not say it.
        layers: the layers in the order in which they are computed.
    """

    name: str
    inputs: dict[str, tuple[int, ...] | None]
    layers: list[Layer]


def network_of(message: TextMessage, path: Path) -> Network:
    """The network of a text. Raises ModelFileError if the text has no network, or is in the format of 2013."""
    if message.messages("layer") and message.messages("layers"):
        raise ModelFileError("the network has both layer and layers", location=str(path), hint="it has to be in one of the two formats")
    layers = [_layer(each, path) for each in (*message.messages("layer"), *message.messages("layers")) if _runs(each)]
    inputs = _inputs(message, path)
    if not layers and not inputs:
        raise ModelFileError("not a network: it has no layers", location=str(path), hint="a solver's file names its network in net")
    return Network(message.text("name"), inputs, layers)


def complete(message: TextMessage, other: TextMessage) -> None:
    """Add missing fields to the layers of a network, from layers of the same names in another network."""
    known = {layer.text("name"): layer for name in ("layer", "layers") for layer in other.messages(name)}
    for name in ("layer", "layers"):
        for layer in message.messages(name):
            namesake = known.get(layer.text("name"))
            for field, values in () if namesake is None else namesake.fields.items():
                if field not in STRUCTURE:
                    layer.fields.setdefault(field, values)


def _layer(message: TextMessage, path: Path) -> Layer:
    location = f"{path}, line {message.line}"
    if message.messages("layer"):
        raise v0_error(location)
    type_ = message.text("type")
    if not type_:
        raise ModelFileError(f"layer {message.text('name')!r} has no type", location=location)
    # A type in capitals that is not in the table belongs to a fork of Caffe.
    return Layer(message.text("name"), V1_TYPES.get(type_, type_), message.texts("bottom"), message.texts("top"), message)


def _inputs(message: TextMessage, path: Path) -> dict[str, tuple[int, ...] | None]:
    """The inputs that are not layers: `input` with `input_shape`, or with `input_dim`."""
    names = message.texts("input")
    shapes = [tuple(each.integers("dim")) for each in message.messages("input_shape")]
    dimensions = message.integers("input_dim")
    if not shapes and dimensions:
        shapes = [tuple(dimensions[start : start + _OLD_INPUT_RANK]) for start in range(0, len(dimensions), _OLD_INPUT_RANK)]
    if (shapes and len(shapes) not in (1, len(names))) or any(min(shape, default=0) < 0 for shape in shapes):
        raise ModelFileError(f"{len(names)} inputs with {len(shapes)} shapes", location=str(path))
    if len(set(names)) < len(names):
        raise ModelFileError("two inputs of the network have the same name", location=str(path))
    # One shape may serve all inputs.
    shapes_of_inputs = shapes * len(names) if len(shapes) == 1 else shapes or [None] * len(names)
    return dict(zip(names, shapes_of_inputs, strict=True))


def _runs(message: TextMessage) -> bool:
    """Whether a layer is part of the network in the phase TEST, at level 0 and without a stage."""
    excluded = any(map(_applies, message.messages("exclude")))
    included = message.messages("include")
    return any(map(_applies, included)) if included else not excluded


def _applies(rule: TextMessage) -> bool:
    """Whether a rule of `include` or `exclude` is met."""
    lowest, highest = rule.integers("min_level"), rule.integers("max_level")
    return (
        rule.text("phase", "TEST") in ("TEST", "1")
        and (not lowest or lowest[-1] <= 0)
        and (not highest or highest[-1] >= 0)
        and not rule.fields.get("stage")
    )


def parameters(layer: Layer) -> Iterator[tuple[str, list[object]]]:
    """The fields of a layer that its operation depends on, with their values."""
    return ((name, list(values)) for name, values in layer.message.fields.items() if name not in STRUCTURE)
