"""Whether two models of OpenVINO Runtime are equal: operation by operation, attribute by attribute, body by body."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import openvino

WITHOUT_ATTRIBUTES = frozenset(("Assign", "ReadValue"))
"""Operations that the runtime's Python interface cannot be asked for attributes of; the serialized text has them."""

BODIES = {"If": (0, 1), "Loop": (0,), "TensorIterator": (0,)}


def differences(first: openvino.Model, second: openvino.Model, where: str = "") -> Iterator[str]:
    """What differs between two models, a line each; nothing of their own runtime information."""
    for kind in ("inputs", "outputs"):
        ports = [[sorted(port.get_names()) for port in getattr(model, kind)] for model in (first, second)]
        if ports[0] != ports[1]:
            yield f"{where}{kind}: {ports[0]} / {ports[1]}"
    operations = [model.get_ordered_ops() for model in (first, second)]
    if len(operations[0]) != len(operations[1]):
        yield f"{where}{len(operations[0])} / {len(operations[1])} operations"
    positions = [{op: number for number, op in enumerate(each)} for each in operations]
    for one, other in zip(*operations, strict=False):
        name = f"{where}{one.get_type_name()} {one.get_friendly_name()}"
        facts = [list(_facts(op, numbers)) for op, numbers in zip((one, other), positions, strict=True)]
        for (what, left), (_, right) in zip(*facts, strict=True):
            if left != right:
                yield f"{name}: {what}: {left} / {right}"
        for index in BODIES.get(one.get_type_name(), ()):
            if one.get_type_name() == other.get_type_name():
                yield from differences(_body(one, index), _body(other, index), f"{name}: ")


def _body(op: Any, index: int) -> Any:
    return op.get_function(index) if op.get_type_name() == "If" else op.get_function()


def _facts(op: Any, positions: dict[Any, int]) -> Iterator[tuple[str, Any]]:
    info, kind = op.get_type_info(), op.get_type_name()
    yield "type", (info.name, info.version_id)
    yield "name", op.get_friendly_name()
    sources = [op.input_value(index) for index in range(op.get_input_size())]
    yield "inputs", [(positions.get(source.get_node()), source.get_index()) for source in sources]
    yield "outputs", [(port.get_element_type().get_type_name(), str(port.get_partial_shape())) for port in op.outputs()]
    yield "tensor names", [sorted(port.get_names()) for port in op.outputs()]
    yield "attributes", {} if kind in WITHOUT_ATTRIBUTES else {name: str(value) for name, value in op.get_attributes().items()}
    yield "runtime information", sorted(op.get_rt_info().keys())
    yield "runtime information of ports", [sorted(port.get_rt_info().keys()) for port in (*op.inputs(), *op.outputs())]
    yield "value", _bytes(op) if kind == "Constant" else b""
    yield "connections", [str(each) for each in _connections(op)]


def _bytes(constant: Any) -> Any:
    if constant.get_element_type() == openvino.Type.string:
        return constant.get_data().ravel().tolist()
    if 0 in constant.get_output_shape(0):
        return b""
    return np.asarray(constant.get_tensor_view().data if hasattr(constant, "get_tensor_view") else constant.data).tobytes()


def _connections(op: Any) -> Iterator[object]:
    kind = op.get_type_name()
    for index in BODIES.get(kind, ()):
        arguments = (index,) if kind == "If" else ()
        for each in (*op.get_input_descriptions(*arguments), *op.get_output_descriptions(*arguments)):
            yield type(each).__name__, {name: getattr(each, name) for name in dir(each) if not name.startswith("_")}
    if kind == "Loop":
        yield op.get_special_body_ports()


ADDED = frozenset(("optimization", "version"))
"""Entries that the runtime adds to the information of a model while it reads a file."""

EMPTY_INFORMATION = re.compile(r"<rt_info>\s*<optimization />\s*</rt_info>")
OWN_INFORMATION = re.compile(r"^\t<rt_info>.*?^\t</rt_info>\n", re.MULTILINE | re.DOTALL)


def serialized(model: openvino.Model) -> tuple[str, bytes]:
    """The files that the runtime writes of a model, without the runtime information of the model as a whole."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.xml"
        openvino.serialize(model, path)
        text = OWN_INFORMATION.sub("", path.read_text(encoding="utf-8"))
        text = EMPTY_INFORMATION.sub("<rt_info />", text)
        return re.sub(r'(<net name="[^"]*") version="\d+"', r"\1", text), path.with_suffix(".bin").read_bytes()


def information_lost(first: Any, second: Any, path: str = "") -> Iterator[str]:
    """Entries of the runtime information of a model that another one lacks, or has otherwise."""
    left, right = (_entries(each) for each in (first, second))
    for name, value in left.items():
        if name in ADDED:
            continue
        if name not in right:
            yield f"{path}{name}"
        elif isinstance(value, dict):
            yield from information_lost(value, right[name], f"{path}{name}/")
        elif value != right[name]:
            yield f"{path}{name}: {value} / {right[name]}"


def _entries(information: Any) -> dict[str, Any]:
    entries = information.get_rt_info() if isinstance(information, openvino.Model) else information
    return {
        name: value.astype(str)
        if isinstance(value, openvino.OVAny) and not isinstance(value.value, dict)
        else getattr(value, "value", value)
        for name, value in entries.items()
    }


NOT_COMPUTING = frozenset(("Constant", "Parameter", "Result"))


def computing(model: Any) -> int:
    """The number of operations that compute, those in bodies included."""
    count = 0
    for op in model.get_ops():
        kind = op.get_type_name()
        count += kind not in NOT_COMPUTING
        count += sum(computing(_body(op, index)) for index in BODIES.get(kind, ()))
    return count
