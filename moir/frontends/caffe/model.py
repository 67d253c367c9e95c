"""Caffe model, a `.caffemodel` with its `.prototxt` -> module in the `caffe` dialect."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from moir.dialects import opset
from moir.dialects.data import DataAttr, TensorData
from moir.dialects.element_types import f32
from moir.dialects.module import Module
from moir.dialects.moir import ModelOp
from moir.dialects.properties import string_attribute
from moir.dialects.shapes import shape_of, tensor
from moir.errors import ModelFileError
from moir.files.protobuf.text_format import read_text
from moir.files.recognition import beginning_of
from moir.frameworks.record import is_text
from moir.frontends.caffe.custom_layers import read_mapping
from moir.frontends.caffe.graph import NetworkBuilder
from moir.frontends.caffe.network import Network, complete, network_of
from moir.frontends.caffe.weights import Weights, read_mean

_USUAL_NAME = "deploy.prototxt"


def read_model(
    path: str | Path,
    input_proto: str | Path | None = None,
    mean_file: str | Path | None = None,
    mean_file_offsets: str | None = None,
    caffe_proto: str | Path | None = None,
    custom_layers: str | Path | None = None,
) -> ModuleOp:
    """Read a Caffe model.

    Args:
        path: the `.caffemodel`, or the `.prototxt` with a `.caffemodel` of the same name beside it.
        input_proto: the `.prototxt`; by default the one beside the `.caffemodel` of its name, or `deploy.prototxt`.
        mean_file: a `.binaryproto` with a mean image [1, C, H, W], which is subtracted from the first input.
        mean_file_offsets: `x,y` of the part of a larger mean image, from its upper left corner; by default its middle.
        caffe_proto: the `caffe.proto` of a fork. Parameters that the text of a layer does not have come from the
            `.caffemodel` then; without a text the whole network does.
        custom_layers: a `CustomLayersMapping.xml`.

    Returns a module with one `moir.model`. Raises ModelFileError for a file that is damaged, missing or of another
    network.
    """
    given, description = (None if each is None else Path(each) for each in (input_proto, caffe_proto))
    text, binary = _files(Path(path), given, may_lack_text=description is not None)
    named = (Path(path), given)
    weights = Weights(binary, _folder_of(binary, named))
    if text is None:
        assert description is not None
        text, message = binary, weights.described(description)
    else:
        message = read_text(text, _folder_of(text, named))
        if description is not None:
            complete(message, weights.described(description))
    network = network_of(message, text)
    _check_names(network, weights, text, binary)
    builder = NetworkBuilder(network, weights, text, {} if custom_layers is None else read_mapping(Path(custom_layers)))
    block = builder.block()
    if mean_file is not None:
        _subtract_mean(block, builder.inputs, Path(mean_file), mean_file_offsets)
    return Module([ModelOp.of(network.name or binary.stem or "model", block)])


def _folder_of(path: Path, named: Sequence[Path | None]) -> Path | None:
    """The first of the `named` files, in whose folder `path` has to be; None if the user named `path` itself, which may
    be anywhere.
    """
    return None if path in named else named[0]


def _files(path: Path, text_path: Path | None, may_lack_text: bool) -> tuple[Path | None, Path]:
    """The text of a network and the file of its weights. Raises ModelFileError if one of them is missing.

    With `may_lack_text` a missing text is None instead.
    """
    if not is_text(beginning_of(path)):
        beside = [path.with_suffix(".prototxt"), path.with_name(_USUAL_NAME)]
        text = text_path or next((each for each in beside if each.is_file()), None)
        if text is None and not may_lack_text:
            reason = f"the network's text is missing: there is no {beside[0].name} and no {_USUAL_NAME} beside the file"
            raise ModelFileError(reason, location=str(path), hint="name it: --input-proto FILE.prototxt")
        return text, path
    if text_path is not None and not is_text(beginning_of(text_path)):
        return path, text_path
    binary = path.with_suffix(".caffemodel")
    if not binary.is_file():
        hint = f"give the weights: moir FILE.caffemodel --input-proto {path.name}"
        raise ModelFileError(f"a .prototxt has no weights, and there is no {binary.name} beside it", location=str(path), hint=hint)
    return path, binary


def _check_names(network: Network, weights: Weights, text: Path, binary: Path) -> None:
    """Raises ModelFileError if no layer of the network has weights in the binary file, which then belongs to another
    network.
    """
    names = {layer.name for layer in network.layers}
    if weights.layers and not names.intersection(weights.layers):
        reason = f"no layer of {text.name} has weights in {binary.name}, whose layers are {', '.join(weights.layers[:3])}, …"
        raise ModelFileError(reason, location=str(text), hint="the two files are of different networks")


def _subtract_mean(block: Block, inputs: Sequence[SSAValue], path: Path, offsets: str | None) -> None:
    """Subtract a mean image, or the part of it with the size of the input, from the first input."""
    location = str(path)
    data = read_mean(path)
    mean = np.asarray(data.array)
    value = inputs[0] if inputs else None
    shape = None if value is None else shape_of(value)
    if value is None or shape is None or len(shape) != 4 or min(shape[1:]) < 0:
        raise ModelFileError("the first input has no known shape [N, C, H, W]", location=location, hint="leave out the mean file")
    if mean.ndim == 3:
        mean = mean[None]
    if mean.ndim != 4 or mean.shape[:2] != (1, shape[1]):
        raise ModelFileError(f"a mean of shape {list(mean.shape)} does not fit inputs of shape {list(shape)}", location=location)
    room = [mean.shape[axis] - shape[axis] for axis in (2, 3)]
    begins = [each // 2 for each in room] if offsets is None else _offsets(offsets, location)[::-1]
    if len(begins) != 2 or any(not 0 <= begin <= most for begin, most in zip(begins, room, strict=True)):
        reason = f"no part of {shape[2]}x{shape[3]} of a mean of {mean.shape[2]}x{mean.shape[3]} begins at {tuple(begins[::-1])}"
        raise ModelFileError(reason, location=location, hint="the offsets are x,y from the upper left corner")
    part = mean[:, :, begins[0] : begins[0] + shape[2], begins[1] : begins[1] + shape[3]]
    constant = opset.operation("opset1.Constant").create(
        properties={"value": DataAttr(TensorData(part, f32, part.shape))},
        attributes={"name": string_attribute("mean")},
        result_types=[tensor(part.shape, f32)],
    )
    subtract = opset.operation("opset1.Subtract").create(
        operands=[value, constant.results[0]],
        properties={"auto_broadcast": string_attribute("numpy")},
        attributes={"name": string_attribute("subtract_mean")},
        result_types=[value.type],
    )
    value.replace_uses_with_if(subtract.results[0], lambda use: use.operation is not subtract)
    parameter = value.owner
    assert isinstance(parameter, Operation)
    block.insert_ops_after([constant, subtract], parameter)


def _offsets(text: str, location: str) -> list[int]:
    """The two numbers of a text `x,y`, which may be in parentheses; `location` is for messages."""
    try:
        return [int(part) for part in text.strip().removeprefix("(").removesuffix(")").split(",")]
    except ValueError:
        raise ModelFileError(
            f"the offsets {text!r} of the mean are not numbers", location=location, hint="write X,Y, such as 2,2"
        ) from None
