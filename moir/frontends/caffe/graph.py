"""A network -> the block of a model in the `caffe` dialect.

    layer { name: "conv1" type: "Convolution" bottom: "x" top: "y" convolution_param { num_output: 8 kernel_size: 3 } }
->  %w = opset1.Constant {…}
    %y = caffe.Convolution(%x, %w) {blobs = 1, convolution_param = {num_output = 8, kernel_size = 3}, name = "conv1"}

The weights of a layer are its last operands, `blobs` is their number. A blob that is written again, as layers that work
in place do, is a new value. Blobs that no layer reads are the outputs of the model. Layers that only serve training are
left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue

from moir.dialects import opset
from moir.dialects.data import DataAttr
from moir.dialects.element_types import f32
from moir.dialects.extension import extension_class
from moir.dialects.framework import operation_class
from moir.dialects.names import several_tensor_names
from moir.dialects.properties import attribute_of, integer_attribute, string_attribute
from moir.dialects.shapes import UNKNOWN, tensor
from moir.errors import ModelFileError
from moir.files.protobuf.text_format import TextMessage
from moir.frontends.caffe.custom_layers import CustomLayer, attributes_of
from moir.frontends.caffe.network import Layer, Network, parameters
from moir.frontends.caffe.weights import Weights
from moir.frontends.operations import Operations, declared_type, named

TRAINING = frozenset(
    (
        *("Accuracy", "Silence", "HDF5Output", "EuclideanLoss", "HingeLoss", "ContrastiveLoss", "InfogainLoss"),
        *("MultinomialLogisticLoss", "SmoothL1Loss", "MultiBoxLoss", "DetectionEvaluate", "L1Loss", "TripletLoss", "CenterLoss"),
    )
)
"""The types of layers that only training or its evaluation needs: the blobs that they read become outputs."""

INFERENCE_TYPES = {"SoftmaxWithLoss": "Softmax", "SigmoidCrossEntropyLoss": "Sigmoid"}
"""The types of losses that contain an activation, with the type of layer that they are in inference."""

DATA = {
    "Data": "data_param",
    "ImageData": "image_data_param",
    "HDF5Data": "hdf5_data_param",
    "WindowData": "window_data_param",
    "MemoryData": "memory_data_param",
    "DummyData": "dummy_data_param",
    "AnnotatedData": "data_param",
}
"""The types of layers that read data, with the field of their parameters: the blobs that they write become inputs."""


class NetworkBuilder:
    """Builds the block of a network.

    Args:
        network: the network.
        weights: its weights.
        path: the file with its text, for messages.
        custom: the types of layers that are written to the IR unchanged.
    """

    def __init__(self, network: Network, weights: Weights, path: Path, custom: Mapping[str, CustomLayer]) -> None:
        self.custom = custom
        self.network = network
        self.weights = weights
        self.path = path
        self.operations = Operations()
        self.values: dict[str, SSAValue] = {}
        """The present value of each blob."""
        self.inputs: list[SSAValue] = []
        self._unread: dict[SSAValue, str] = {}
        """The values that no layer has read yet, with the names of their blobs."""
        self._of_data_layers: set[SSAValue] = set()
        self._last_writers = {top: layer for layer in network.layers for top in layer.tops}
        self._blob_names = {*network.inputs, *self._last_writers}

    def block(self) -> Block:
        """Build the block and return it. Raises ModelFileError if the network is inconsistent or has no outputs."""
        for name, shape in self.network.inputs.items():
            self._input(name, declared_type(shape, f32, name), name not in self._last_writers)
        for layer in self.network.layers:
            self._layer(layer)
        labels = {value.owner for value in self._of_data_layers if value in self._unread}
        outputs = {value: name for value, name in self._unread.items() if value not in self.inputs}
        if not outputs:
            raise ModelFileError("the network has no outputs", location=str(self.path), hint="its layers are of training only")
        result_class = opset.operation("opset1.Result")
        results = [result_class.create(operands=[value], attributes={"name": string_attribute(name)}) for value, name in outputs.items()]
        return Block([*(op for op in self.operations.list if op not in labels), *results])

    def error(self, layer: Layer, reason: str, hint: str | None = None) -> ModelFileError:
        """An error that names a layer and its line."""
        location = f"{self.path}, line {layer.message.line}"
        return ModelFileError(reason, operation=f"caffe.{layer.type}", node=layer.name, location=location, hint=hint)

    def _layer(self, layer: Layer) -> None:
        """Build a layer, unless it is used in training only."""
        if layer.type == "Input":
            self._input_layer(layer)
        elif layer.type in DATA and layer.type not in self.custom:
            self._data_layer(layer)
        elif layer.type not in TRAINING or layer.type in self.custom:
            self._operation(layer)

    # Inputs

    def _input(self, name: str, type_: Attribute, is_final: bool) -> None:
        """Build the Parameter of an input.

        Its name is `name`, unless a layer overwrites the blob in place (`is_final` is false): then the last value has
        the name.
        """
        value = self.operations.parameter(type_, named(name, name) if is_final else named(name))
        self._write(name, value)
        self.inputs.append(value)

    def _input_layer(self, layer: Layer) -> None:
        """The Parameters of an Input layer, which has a shape for each of its tops, or one for all."""
        shapes = [tuple(shape.integers("dim")) for each in layer.message.messages("input_param") for shape in each.messages("shape")]
        if len(shapes) not in (0, 1, len(layer.tops)) or any(min(shape, default=0) < 0 for shape in shapes):
            raise self.error(layer, f"{len(layer.tops)} tops with {len(shapes)} shapes")
        shapes_of_tops = shapes * len(layer.tops) if len(shapes) == 1 else shapes or [None] * len(layer.tops)
        for top, shape in zip(layer.tops, shapes_of_tops, strict=True):
            self._input(top, declared_type(shape, f32, top), self._last_writers[top] is layer)

    def _data_layer(self, layer: Layer) -> None:
        """The Parameters of a layer that reads data: images [N, C, H, W], and labels, which are left out if unread."""
        for index, top in enumerate(layer.tops):
            shape = _data_shape(layer) if index == 0 else None
            self._input(top, declared_type(shape, f32, top), self._last_writers[top] is layer)
            self._of_data_layers.add(self.inputs[-1])

    # Layers

    def _operation(self, layer: Layer) -> None:
        """Build the operation of a layer, with its weights."""
        type_ = layer.type if layer.type in self.custom else INFERENCE_TYPES.get(layer.type, layer.type)
        # The other operands of a loss are labels and their weights.
        bottoms = layer.bottoms[:1] if type_ != layer.type else layer.bottoms
        tops = layer.tops[:1] or [layer.name] if type_ != layer.type else layer.tops
        operands = [self._read(layer, bottom) for bottom in bottoms]
        blobs = self.weights.of(layer.name)
        operands += [self._constant(blob, f"{layer.name}/blob_{index}") for index, blob in enumerate(blobs)]
        if (custom := self.custom.get(layer.type)) is not None:
            operation: type[Operation] = extension_class(type_)
            properties: dict[str, Attribute] = {name: string_attribute(text) for name, text in attributes_of(layer, custom).items()}
        else:
            operation = operation_class("caffe", type_)
            properties = {name: _attribute(values, layer, self) for name, values in parameters(layer)}
            if blobs:
                properties["blobs"] = integer_attribute(len(blobs))
        op = operation.create(
            operands=operands,
            properties=properties,
            attributes={"name": string_attribute(layer.name), "tensor_names": several_tensor_names(self._names(layer, tops))},
            result_types=[UNKNOWN if custom is None else tensor(None, f32)] * len(tops),
        )
        self.operations.append(op)
        for top, result in zip(tops, op.results, strict=True):
            self._write(top, result)

    def _names(self, layer: Layer, tops: Sequence[str]) -> list[list[str]]:
        """The names of the results of a layer: its blob (unless a later layer overwrites that in place) and the layer
        itself.
        """
        names = [[top] if self._last_writers.get(top, layer) is layer else [] for top in tops]
        if len(tops) == 1 and layer.name not in self._blob_names:
            names[0].append(layer.name)
        return names

    def _constant(self, blob: DataAttr, name: str) -> SSAValue:
        return self.operations.constant(blob, named(name))

    def _read(self, layer: Layer, bottom: str) -> SSAValue:
        value = self.values.get(bottom)
        if value is None:
            later = " before a layer writes it" if bottom in self._blob_names else ", which no layer writes"
            raise self.error(layer, f"it reads the blob {bottom!r}{later}", hint="is the network of another phase, or incomplete?")
        self._unread.pop(value, None)
        return value

    def _write(self, top: str, value: SSAValue) -> None:
        self.values[top] = value
        self._unread[value] = top


def _data_shape(layer: Layer) -> tuple[int, ...]:
    """The shape of the images that a layer reads, with -1 for sizes that are not in the text."""
    fields = layer.message.messages(DATA[layer.type])
    transform = layer.message.messages("transform_param")

    def size(name: str, messages: Sequence[TextMessage]) -> int:
        return next((each.integers(name)[-1] for each in reversed(messages) if each.integers(name)), -1) or -1

    shapes = [shape for each in fields for shape in each.messages("shape")]
    if shapes:
        return tuple(shapes[0].integers("dim"))
    crop = size("crop_size", transform)
    sides = [crop if crop > 0 else size(name, fields) for name in ("height", "width")]
    return (size("num", fields) if layer.type == "DummyData" else -1, size("channels", fields), *sides)


def _attribute(values: Sequence[object], layer: Layer, builder: NetworkBuilder) -> Attribute:
    """The values of a field as an attribute: a single value for one, a list for several."""
    try:
        messages = [_dictionary(value, layer, builder) for value in values if isinstance(value, TextMessage)]
        if len(messages) == len(values):
            return messages[0] if len(messages) == 1 else ArrayAttr(messages)
        scalars = [_in_range(value) for value in values if not isinstance(value, TextMessage)]
        if messages:
            raise TypeError
        if len(scalars) > 1 and not all(type(value) in (int, float) for value in scalars):
            return attribute_of([str(value) for value in scalars])
        return attribute_of(scalars[0] if len(scalars) == 1 else scalars)
    except TypeError:
        raise builder.error(layer, "a field is a message in one place and a value in another") from None


def _dictionary(message: TextMessage, layer: Layer, builder: NetworkBuilder) -> DictionaryAttr:
    return DictionaryAttr({name: _attribute(values, layer, builder) for name, values in message.fields.items()})


def _in_range(value: object) -> object:
    """A value in the range of attributes: an integer beyond 64 bits becomes a float."""
    return float(value) if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**63 else value
