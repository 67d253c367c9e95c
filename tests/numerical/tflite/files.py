"""Files of single operators, written with the classes of the package `tflite`, for what no converter writes any more."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import flatbuffers
import numpy as np

from moir.dialects.memory_map import Array

TYPES = {
    "float32": 0, "float16": 1, "int32": 2, "uint8": 3, "int64": 4, "bool": 6, "int16": 7, "int8": 9, "float64": 10,
    "uint64": 12, "uint32": 15, "uint16": 16, "int4": 17,
    "int2": 19, "uint4": 20, "float8_e4m3fn": 21, "float8_e5m2": 22,
}  # fmt: skip
"""The numbers of element types by their names in numpy."""

STRING = 5


@dataclass
class Tensor:
    """A tensor of a file.

    Args:
        name: its name.
        value: the value of a constant, or an example of what else it may be, which gives type and shape.
        is_constant: whether it is a constant.
        is_variable: whether it keeps its value.
        scale: the scales of its integers, and their zero points.
        is_ranked: whether the flag says that the rank is known, which older files do not have.
    """

    name: str
    value: Array
    is_constant: bool = False
    is_variable: bool = False
    scale: Sequence[float] = ()
    zero: Sequence[int] = ()
    axis: int = 0
    sparsity: Sparsity | None = None
    is_ranked: bool = False


@dataclass
class Sparsity:
    """How a sparse tensor is stored.

    Args:
        order: the order in which dimensions, and then those of blocks, are traversed.
        blocks: the dimension that each dimension of blocks belongs to.
        levels: for each of them its size, or the segments and indices of a compressed one.
        values: the elements that are stored.
    """

    order: Sequence[int]
    blocks: Sequence[int]
    levels: Sequence[int | tuple[Sequence[int], Sequence[int]]]
    values: Array


@dataclass
class Operator:
    """An operator of a file: the names of operands ("" for none) and results, its options, and its intermediate tensors.

    A custom operator has the bytes of its options.
    """

    kind: str
    inputs: Sequence[str]
    outputs: Sequence[str]
    options: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)
    custom: bytes | None = None
    intermediates: Sequence[str] = ()


@dataclass
class Function:
    """A subgraph that another one calls; its tensors have names of their own."""

    tensors: Sequence[Tensor]
    operators: Sequence[Operator]
    inputs: Sequence[str]
    outputs: Sequence[str]


class FileWriter:
    """Writes a file."""

    def __init__(self) -> None:
        self.builder = flatbuffers.Builder(1024)

    def table(self, name: str, **fields: Any) -> int:
        """A table; lists and texts of the fields are written before it."""
        module = import_module(f"tflite.{name}")
        places = {key: self._place(name, key, value) for key, value in fields.items() if value is not None}
        getattr(module, f"{name}Start")(self.builder)
        for key, place in places.items():
            getattr(module, f"{name}Add{key}")(self.builder, place)
        return getattr(module, f"{name}End")(self.builder)

    def _place(self, table: str, key: str, value: Any) -> Any:
        if isinstance(value, str):
            return self.builder.CreateString(value)
        if isinstance(value, bytes):
            return self.builder.CreateByteVector(value)
        if isinstance(value, np.ndarray):
            return self.builder.CreateNumpyVector(value)
        if isinstance(value, list):
            getattr(import_module(f"tflite.{table}"), f"{table}Start{key}Vector")(self.builder, len(value))
            for each in reversed(value):
                self.builder.PrependUOffsetTRelative(each)
            return self.builder.EndVector()
        return value

    def tensor(self, tensor: Tensor, buffer: int) -> int:
        """The table of a tensor."""
        quantization = None
        if tensor.scale:
            zeros = tensor.zero or [0] * len(tensor.scale)
            quantization = self.table(
                "QuantizationParameters",
                Scale=np.array(tensor.scale, np.float32),
                ZeroPoint=np.array(zeros, np.int64),
                QuantizedDimension=tensor.axis,
            )
        kind = tensor.value.dtype
        return self.table(
            "Tensor",
            Sparsity=None if tensor.sparsity is None else self.sparsity(tensor.sparsity),
            Name=tensor.name,
            Shape=np.array(tensor.value.shape, np.int32),
            HasRank=tensor.is_ranked,
            Type=STRING if kind.kind in "OU" else TYPES[kind.name],
            Buffer=buffer,
            IsVariable=tensor.is_variable,
            Quantization=quantization,
        )

    def sparsity(self, sparsity: Sparsity) -> int:
        """The table of how a sparse tensor is stored."""
        levels: list[int] = []
        for level in sparsity.levels:
            if isinstance(level, int):
                levels.append(self.table("DimensionMetadata", Format=0, DenseSize=level))
                continue
            segments, indices = (self.table("Int32Vector", Values=np.array(each, np.int32)) for each in level)
            fields = {"ArraySegmentsType": 1, "ArraySegments": segments, "ArrayIndicesType": 1, "ArrayIndices": indices}
            levels.append(self.table("DimensionMetadata", Format=1, **fields))
        order, blocks = (np.array(each, np.int32) for each in (sparsity.order, sparsity.blocks))
        return self.table("SparsityParameters", TraversalOrder=order, BlockMap=blocks, DimMetadata=levels)

    def operator(self, operator: Operator, code: int, places: Mapping[str, int]) -> int:
        """The table of an operator."""
        inputs, outputs = ([places[name] if name else -1 for name in names] for names in (operator.inputs, operator.outputs))
        return self.table(
            "Operator",
            OpcodeIndex=code,
            Inputs=np.array(inputs, np.int32),
            Outputs=np.array(outputs, np.int32),
            CustomOptions=operator.custom,
            Intermediates=np.array([places[name] for name in operator.intermediates], np.int32) if operator.intermediates else None,
            **self.options(operator),
        )

    def options(self, operator: Operator) -> dict[str, int]:
        """The fields of an operator for its options, which are in one of two unions."""
        if not operator.options:
            return {}
        table = self.table(operator.options, **operator.fields)
        for union in ("BuiltinOptions", "BuiltinOptions2"):
            numbers = getattr(import_module(f"tflite.{union}"), union)
            if hasattr(numbers, operator.options):
                return {f"{union}Type": getattr(numbers, operator.options), union: table}
        raise ValueError(f"there are no options {operator.options}")


def file_of(
    tensors: Sequence[Tensor],
    operators: Sequence[Operator],
    inputs: Sequence[str],
    outputs: Sequence[str],
    functions: Sequence[Function] = (),
    code_fields: str = "both",
) -> bytes:
    """The bytes of a model; its functions are the subgraphs from 1 on.

    `code_fields` tells which fields of operator codes have the number of the operator: "old", "new", or "both".
    """
    writer = FileWriter()
    buffers = [writer.table("Buffer")]
    codes: list[int] = []
    graphs: list[int] = []
    for function in (Function(tensors, operators, inputs, outputs), *functions):
        places = {tensor.name: number for number, tensor in enumerate(function.tensors)}
        tables: list[int] = []
        for tensor in function.tensors:
            if tensor.is_constant:
                stored = tensor.value if tensor.sparsity is None else tensor.sparsity.values
                buffers.append(writer.table("Buffer", Data=content(stored)))
            tables.append(writer.tensor(tensor, len(buffers) - 1 if tensor.is_constant else 0))
        listed: list[int] = []
        for operator in function.operators:
            listed.append(writer.operator(operator, len(codes), places))
            codes.append(_code(writer, operator, code_fields))
        graphs.append(
            writer.table(
                "SubGraph",
                Tensors=tables,
                Inputs=np.array([places[name] for name in function.inputs], np.int32),
                Outputs=np.array([places[name] for name in function.outputs], np.int32),
                Operators=listed,
                Name="main" if not graphs else f"function_{len(graphs)}",
            )
        )
    root = writer.table("Model", Version=3, OperatorCodes=codes, Subgraphs=graphs, Buffers=buffers, Description="test")
    writer.builder.Finish(root, b"TFL3")
    return bytes(writer.builder.Output())


def _code(writer: FileWriter, operator: Operator, fields: str) -> int:
    """The table of the code of an operator."""
    builtin: int = getattr(import_module("tflite.BuiltinOperator").BuiltinOperator, operator.kind, 32)
    is_custom = operator.custom is not None
    return writer.table(
        "OperatorCode",
        DeprecatedBuiltinCode=None if fields == "new" else 32 if is_custom else min(builtin, 127),
        BuiltinCode=None if fields == "old" else 32 if is_custom else builtin,
        CustomCode=operator.kind if is_custom else None,
        Version=1,
    )


def content(value: Array) -> Array:
    """The bytes of a constant; of integers of less than 8 bits, the first stands in the lowest bits of a byte."""
    if (bits := {"int4": 4, "uint4": 4, "int2": 2}.get(value.dtype.name)) is not None:
        count = 8 // bits
        codes = np.append(value.astype(np.int8).reshape(-1), [0] * (-value.size % count)).astype(np.uint8) & (1 << bits) - 1
        return np.bitwise_or.reduce(codes.reshape(-1, count) << np.arange(0, 8, bits, dtype=np.uint8), axis=1).astype(np.uint8)
    if value.dtype.kind not in "OU":
        return np.frombuffer(value.tobytes(), np.uint8)
    texts = [str(each).encode() for each in value.ravel()]
    offsets = 4 * (len(texts) + 2) + np.cumsum([0, *map(len, texts)])
    return np.frombuffer(np.array([len(texts), *offsets], np.int32).tobytes() + b"".join(texts), np.uint8)


def camel(name: str) -> str:
    """The name of a field in the generated classes: stride_w -> StrideW."""
    return re.sub(r"(?:^|_)(\w)", lambda match: match[1].upper(), name)
