"""Models one operand of which is a constant that makes no sense there: a string, NaN, nothing, rank 5, far too large.

    python -m tests.fuzz.files.operands [onnx,tf,mxnet,caffe,ir]

converts all of them, some 30,000, and prints those that are neither converted nor refused with a message. A few of each
kind of node are in `test_operands.py`.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import onnx
from onnx import numpy_helper

from moir.frontends.caffe.messages import MESSAGES
from moir.frontends.tensorflow.messages import DATA_TYPE_NAMES, message_class
from tests.fuzz.case import Generator
from tests.fuzz.draw import Draw, NoCase
from tests.fuzz.files.runner import DEFECTS, judged
from tests.fuzz.files.sample import Sample, made
from tests.fuzz.files.samples import FORMATS
from tests.numerical.mxnet.models import array_bytes, parameters
from tests.numerical.runtime import Array
from tests.unit.frontends.tensorflow.samples import NUMPY_TYPES, constant

STRANGE: Mapping[str, Array] = {
    "a string": np.array(["a"], object),
    "NaN": np.array([np.nan], np.float32),
    "nothing": np.zeros(0, np.float32),
    "no integers": np.zeros(0, np.int64),
    "rank 5": np.ones((1, 1, 1, 1, 1), np.float32),
    "integers of rank 5": np.ones((1, 1, 1, 1, 1), np.int64),
    "a huge number": np.array(3e38, np.float32),
    "a huge integer": np.array(2**62, np.int64),
    "huge integers": np.full(4, 2**62, np.int64),
    "negative": np.array([-(2**62)], np.int64),
}
"""What stands in the place of an operand."""

Takes = Callable[[], bool]
"""Says of each operand and each constant whether it is tried."""


def always() -> bool:
    """All are tried."""
    return True


def tried(takes: Takes) -> list[tuple[str, Array]]:
    """What is tried of an operand, with its name."""
    return [(what, array) for what, array in STRANGE.items() if takes()]


def of_onnx(sample: Sample, takes: Takes = always) -> Iterator[Sample]:
    """Each operand of each node of an ONNX model."""
    model = onnx.load_model_from_string(sample.files[sample.model])
    for number, node in enumerate(model.graph.node):
        for index, operand in enumerate(node.input):
            for what, array in tried(takes) if operand else ():
                changed = onnx.ModelProto.FromString(model.SerializeToString())
                changed.graph.node[number].input[index] = "strange"
                changed.graph.initializer.append(numpy_helper.from_array(array, "strange"))
                name = f"{node.op_type} in {sample.name}: operand {index} is {what}"
                yield Sample(name, {sample.model: changed.SerializeToString()}, sample.model)


def of_tensorflow(sample: Sample, takes: Takes = always) -> Iterator[Sample]:
    """Each operand of each node of a graph."""
    graph: Any = message_class("GraphDef").FromString(sample.files[sample.model])
    for number, node in enumerate(graph.node):
        for index, operand in enumerate(node.input):
            for what, array in tried(takes) if not operand.startswith("^") and node.op != "Identity" else ():
                changed: Any = message_class("GraphDef").FromString(graph.SerializeToString())
                changed.node[number].input[index] = "strange"
                changed.node.append(_constant(array))
                name = f"{node.op} in {sample.name}: operand {index} is {what}"
                yield Sample(name, {sample.model: changed.SerializeToString()}, sample.model)


def _constant(array: Array) -> Any:
    if array.dtype.name in NUMPY_TYPES:
        return constant("strange", array, array.dtype)
    result = constant("strange", np.zeros(array.shape, np.int32), np.int32)
    value = result.attr["value"].tensor
    value.tensor_content = b""
    if array.dtype == object:
        value.dtype = DATA_TYPE_NAMES.index("STRING")
        value.string_val.extend(text.encode() for text in array.ravel())
    else:
        value.dtype = DATA_TYPE_NAMES.index("INT64")
        value.int64_val.extend(array.ravel().tolist())
    result.attr["dtype"].type = value.dtype
    return result


def of_mxnet(sample: Sample, takes: Takes = always) -> Iterator[Sample]:
    """Each operand of each node of a symbol; it has no strings."""
    symbol = json.loads(sample.files[sample.model])
    weights = next(name for name in sample.files if name.endswith(".params"))
    for number, node in enumerate(symbol["nodes"]):
        for index in range(len(node["inputs"])):
            for what, array in tried(takes):
                if array.dtype == object:
                    continue
                changed = deepcopy(symbol)
                # The new variable is the first node, so that all others have the next number.
                for each in [*changed["nodes"], changed]:
                    for reference in each["heads" if each is changed else "inputs"]:
                        reference[0] += 1
                changed["nodes"][number]["inputs"][index][:2] = [0, 0]
                changed["nodes"].insert(0, {"op": "null", "name": "strange", "inputs": []})
                name = f"{node['op']} in {sample.name}: operand {index} is {what}"
                content = _with_array(sample.files[weights], array)
                yield Sample(name, {sample.model: json.dumps(changed).encode(), weights: content}, sample.model)


def _with_array(content: bytes, array: Array) -> bytes:
    """A file of NDArrays with one more, which is the first."""
    more, count = parameters({"arg:strange": array}), int.from_bytes(content[16:24], "little")
    arrays = content[24:] if count else content[24:24]
    names = len(content) - 8 if not count else _names(content, count)
    head = content[:16] + (count + 1).to_bytes(8, "little")
    stored = array_bytes(array)
    return head + stored + arrays[: names - 24] + (count + 1).to_bytes(8, "little") + more[24 + len(stored) + 8 :] + content[names + 8 :]


def _names(content: bytes, count: int) -> int:
    """Where the list of names in a file of NDArrays begins: the last place from which it reaches to the end."""
    for start in range(len(content) - 8, 23, -1):
        if int.from_bytes(content[start : start + 8], "little") != count:
            continue
        position = start + 8
        for _ in range(count):
            position += 8 + int.from_bytes(content[position : position + 8], "little")
        if position == len(content):
            return start
    raise AssertionError("no names")


def of_caffe(sample: Sample, takes: Takes = always) -> Iterator[Sample]:
    """Each blob of each layer; it has no strings."""
    kind = MESSAGES.message_class("NetParameter")
    network: Any = kind.FromString(sample.files[sample.model])
    for number, layer in enumerate(network.layer):
        for index in range(len(layer.blobs)):
            for what, array in tried(takes):
                if array.dtype == object:
                    continue
                changed: Any = kind.FromString(network.SerializeToString())
                blob = changed.layer[number].blobs[index]
                blob.Clear()
                blob.shape.dim.extend(array.shape)
                blob.data.extend(array.astype(np.float32).ravel().tolist())
                name = f"{layer.name.decode()} in {sample.name}: blob {index} is {what}"
                yield Sample(name, {**sample.files, sample.model: changed.SerializeToString()}, sample.model)


def of_ir(sample: Sample, takes: Takes = always) -> Iterator[Sample]:
    """Each input of each layer."""
    root = ElementTree.fromstring(sample.files[sample.model])
    weights = sample.model.replace(".xml", ".bin")
    kinds = {layer.get("id"): layer.get("type") for layer in root.iterfind("layers/layer")}
    for number, edge in enumerate(root.iterfind("edges/edge")):
        for what, array in tried(takes) if kinds[edge.get("to-layer")] != "Result" else ():
            if array.dtype == object:
                continue
            changed = deepcopy(root)
            content = sample.files[weights]
            type_ = "f32" if array.dtype == np.float32 else "i64"
            layers = changed.find("layers")
            assert layers is not None
            layer = ElementTree.SubElement(layers, "layer", id="99999", name="strange", type="Const", version="opset1")
            shape = ",".join(map(str, array.shape))
            data = {"element_type": type_, "shape": shape, "offset": str(len(content)), "size": str(array.nbytes)}
            ElementTree.SubElement(layer, "data", data)
            port = ElementTree.SubElement(ElementTree.SubElement(layer, "output"), "port", id="0", precision=type_.upper())
            for size in array.shape:
                ElementTree.SubElement(port, "dim").text = str(size)
            result = changed.findall("edges/edge")[number]
            result.set("from-layer", "99999")
            result.set("from-port", "0")
            name = f"{kinds[edge.get('to-layer')]} in {sample.name}: input {edge.get('to-port')} is {what}"
            yield Sample(name, {sample.model: ElementTree.tostring(changed), weights: content + array.tobytes()}, sample.model)


def every_kind(framework: str) -> Iterator[Sample]:
    """Samples in which every kind of node is that has a lowering and something that draws it."""
    if framework == "onnx":
        from tests.fuzz.nodes import machine_learning_node, names, single_node

        yield from drawn(names("*"), single_node)
        yield from drawn(names("*", "ai.onnx.ml"), machine_learning_node)
    elif framework == "tf":
        from tests.fuzz.tensorflow.nodes import kinds, single_operation

        yield from drawn(kinds(), single_operation)
    for sample in FORMATS[framework]():
        # The files of several nodes; those in which nothing is found by its name are folders.
        if sample.model.endswith((".onnx", ".pb", ".json", ".caffemodel", ".xml")):
            yield sample


def drawn(kinds: Sequence[str], generator: Generator) -> Iterator[Sample]:
    """A sample of each kind of which one can be drawn."""
    for kind in kinds:
        for number in range(30):
            try:
                case = generator(Draw(7, number), kind)
            except NoCase:
                continue
            yield made(kind, case.source.save)
            break


OPERANDS: Mapping[str, Callable[[Sample, Takes], Iterator[Sample]]] = {
    "onnx": of_onnx,
    "tf": of_tensorflow,
    "mxnet": of_mxnet,
    "caffe": of_caffe,
    "ir": of_ir,
}
"""The samples with strange operands that come of a sample of a framework."""


def main(frameworks: Sequence[str]) -> int:
    """Convert all of them; returns the exit status."""
    result = 0
    for framework in frameworks:
        for base in every_kind(framework):
            for sample in OPERANDS[framework](base, always):
                with tempfile.TemporaryDirectory() as text:
                    fate, message = judged(sample, Path(text))
                if fate in DEFECTS:
                    result += 1
                    print(f"{sample.name}: {fate}: {message}", flush=True)
    print(f"{result} defects")
    return int(result > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1].split(",") if len(sys.argv) > 1 else list(OPERANDS)))
