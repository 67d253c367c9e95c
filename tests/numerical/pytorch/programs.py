"""Exported programs as `torch.export.save` writes them (schema 8.20), written without torch.

program = Program()
x = program.input("x", "f32", [2, 3])
y = program.node("aten.relu.default", [("self", x)], "f32")
program.output(y)
program.save(path)
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

TYPES = {"u8": 1, "i8": 2, "i16": 3, "i32": 4, "i64": 5, "f16": 6, "f32": 7, "f64": 8, "bool": 12, "bf16": 13, "c64": 10, "f8": 29}
"""The numbers of element types."""

_NAMES = {"uint8": "u8", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "float16": "f16", "float32": "f32", "bool": "bool"}
NAMES = {**_NAMES, "float64": "f64"}
"""The element types by the names of numpy's."""

ALIGNMENT = 64


class Value(str):
    """The name of a tensor."""

    __slots__ = ()


class Number(str):
    """The name of a computed integer."""

    __slots__ = ()


class Type(str):
    """The name of an element type, as an argument."""

    __slots__ = ()


def argument(value: Any) -> dict[str, Any]:
    """An argument in the form of the schema."""
    if isinstance(value, Value):
        return {"as_tensor": {"name": str(value)}}
    if isinstance(value, Number):
        return {"as_sym_int": {"as_name": str(value)}}
    if isinstance(value, Type):
        return {"as_scalar_type": TYPES[value]}
    if value is None:
        return {"as_none": True}
    for type_, key in ((bool, "as_bool"), (int, "as_int"), (float, "as_float"), (str, "as_string")):
        if isinstance(value, type_):
            return {key: value}
    return _list(list(value))


def _list(items: list[Any]) -> dict[str, Any]:
    if items and all(isinstance(each, Value) for each in items):
        return {"as_tensors": [{"name": str(each)} for each in items]}
    if any(isinstance(each, Value) for each in items):
        return {"as_optional_tensors": [argument(each) for each in items]}
    if any(isinstance(each, Number) for each in items):
        return {"as_sym_ints": [{"as_name": str(each)} if isinstance(each, Number) else {"as_int": each} for each in items]}
    return {"as_floats" if any(isinstance(each, float) for each in items) else "as_ints": items}


class Program:
    """A program under construction; its fields may be changed before it is saved."""

    def __init__(self) -> None:
        self.nodes: list[dict[str, Any]] = []
        self.inputs: list[dict[str, Any]] = []
        self.outputs: list[dict[str, Any]] = []
        self.tensors: dict[str, Any] = {}
        self.numbers: dict[str, Any] = {}
        self.ranges: dict[str, Any] = {}
        self.weights: dict[str, np.ndarray[Any, Any]] = {}

    def _tensor(self, name: str, element: str, sizes: Sequence[int | str], strides: Sequence[int] | None = None) -> Value:
        known = [size if isinstance(size, int) else 3 for size in sizes]
        strides_ = strides or [int(np.prod(known[index + 1 :])) for index in range(len(known))]
        self.tensors[name] = {
            "dtype": TYPES[element],
            "sizes": [{"as_int": size} if isinstance(size, int) else {"as_expr": {"expr_str": size}} for size in sizes],
            "strides": [{"as_int": stride} for stride in strides_],
            "storage_offset": {"as_int": 0},
            "layout": 7,
        }
        return Value(name)

    def input(self, name: str, element: str, sizes: Sequence[int | str]) -> Value:
        """An input; a size that is a text is an expression of symbols."""
        self.inputs.append({"user_input": {"arg": {"as_tensor": {"name": name}}}})
        return self._tensor(name, element, sizes)

    def weight(self, name: str, value: np.ndarray[Any, Any], kind: str = "parameter") -> Value:
        """A parameter or a buffer."""
        self.weights[name] = value
        placeholder = "p_" + name.replace(".", "_")
        self.inputs.append({kind: {"arg": {"name": placeholder}, f"{kind}_name": name}})
        strides = [stride // value.itemsize for stride in value.strides]
        return self._tensor(placeholder, NAMES[value.dtype.name], value.shape, strides)

    def node(self, target: str, arguments: Sequence[tuple[str, Any]], element: str, sizes: Sequence[int | str] = ()) -> Value:
        """A node with one result of an element type."""
        return self.node_of_several(target, arguments, [element], sizes)[0]

    def node_of_several(
        self, target: str, arguments: Sequence[tuple[str, Any]], elements: Sequence[str], sizes: Sequence[int | str] = ()
    ) -> list[Value]:
        """A node with several results."""
        number = len(self.nodes)
        results = [self._tensor(f"v{number}_{index}", each, sizes) for index, each in enumerate(elements)]
        self._node(target, arguments, [{"as_tensor": {"name": str(each)}} for each in results])
        return results

    def number(self, target: str, arguments: Sequence[tuple[str, Any]]) -> Number:
        """A node whose result is an integer."""
        name = f"n{len(self.nodes)}"
        self.numbers[name] = {"as_expr": {"expr_str": f"Symbol('{name}', integer=True)"}}
        self._node(target, arguments, [{"as_sym_int": {"as_name": name}}])
        return Number(name)

    def _node(self, target: str, arguments: Sequence[tuple[str, Any]], outputs: Sequence[Any]) -> None:
        known = ("aten", "torchvision", "quantized_decomposed", "higher_order", "transformers", "zoo")
        self.nodes.append(
            {
                "target": f"torch.ops.{target}" if target.startswith(known) else target,
                "inputs": [{"name": name, "arg": argument(value), "kind": 1} for name, value in arguments],
                "outputs": list(outputs),
                "metadata": {},
            }
        )

    def output(self, value: Value) -> None:
        """An output."""
        self.outputs.append({"user_output": {"arg": argument(value)}})

    def json(self) -> dict[str, Any]:
        """The program as it is written."""
        held = [next(iter(each.values()))["arg"] for each in self.inputs]
        graph = {
            "inputs": [each if "as_tensor" in each else {"as_tensor": each} for each in held],
            "outputs": [each.get("user_output", {"arg": None})["arg"] for each in self.outputs],
            "nodes": self.nodes,
            "tensor_values": self.tensors,
            "sym_int_values": self.numbers,
        }
        return {
            "graph_module": {"graph": graph, "signature": {"input_specs": self.inputs, "output_specs": self.outputs}},
            "range_constraints": self.ranges,
            "schema_version": {"major": 8, "minor": 20},
            "torch_version": "2.13.0",
        }

    def records(self) -> dict[str, bytes]:
        """The records of the archive."""
        records: dict[str, bytes] = {}
        config: dict[str, Any] = {}
        for number, (name, value) in enumerate(self.weights.items()):
            meta = {
                "dtype": TYPES[NAMES[value.dtype.name]],
                "sizes": [{"as_int": size} for size in value.shape],
                "strides": [{"as_int": stride // value.itemsize} for stride in value.strides],
                "storage_offset": {"as_int": 0},
            }
            config[name] = {"path_name": f"weight_{number}", "is_param": True, "use_pickle": False, "tensor_meta": meta}
            order = np.argsort([-stride for stride in value.strides], kind="stable")
            records[f"m/data/weights/weight_{number}"] = np.ascontiguousarray(value.transpose(order)).tobytes()
        records["m/data/weights/model_weights_config.json"] = json.dumps({"config": config}).encode()
        records["m/models/model.json"] = json.dumps(self.json()).encode()
        records["m/archive_format"] = b"pt2"
        return records

    def save(self, path: Path) -> None:
        """Write the archive."""
        path.write_bytes(archive(self.records()))


def archive(records: dict[str, bytes]) -> bytes:
    """A zip of records that are stored as they are."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as written:
        for name, content in records.items():
            written.writestr(zipfile.ZipInfo(name), content)
    return stream.getvalue()
