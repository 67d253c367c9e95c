"""Products by weights of 4 and 8 bits as com.microsoft.MatMulNBits of ONNX Runtime, which unpacks them block by block.

    %w = onnx.DequantizeLinear(%q [N, blocks, size], %scales, %zeros) {axis = 2, block_size = size}
    %y = onnx.MatMul(%x, onnx.Transpose(onnx.Reshape(%w, [N, K]))) {perm = [1, 0]}
->  %y = onnx.com.microsoft.MatMulNBits(%x, %q, %scales, %zeros) {N, K, bits, block_size}

The bytes of unsigned weights stay those of the file. Signed weights become unsigned by inverting the sign bit.

Source: the schema of MatMulNBits in ONNX Runtime's documentation of contrib operators.
"""

from __future__ import annotations

from functools import partial
from typing import cast

import numpy as np
from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue

from moir.dialects.data import Array, DataAttr
from moir.dialects.element_types import describe, f16, f32, si4, si8, ui4, ui8
from moir.dialects.framework import operation_class
from moir.dialects.inference import set_type
from moir.dialects.large_arrays import Values, computed
from moir.dialects.moir import ModelOp, ModuleLevel
from moir.dialects.names import inherit_names
from moir.dialects.properties import integer_attribute, value_of
from moir.dialects.shapes import element_of, shape_of
from moir.lowering.to_onnx.builder import OnnxBuilder
from moir.rewriting.dead_code import erase
from moir.support.records import Record

DOMAIN = "com.microsoft"
"""The domain of ONNX Runtime's own operations; its version is 1."""

KIND = f"{DOMAIN}.MatMulNBits"

SMALLEST_BLOCK, LARGEST_BLOCK = 16, 256
"""The limits of the size of a block, which is a power of 2."""

_BITS: dict[Attribute, int] = {si4: 4, ui4: 4, si8: 8, ui8: 8}
_SIGNED = (si4, si8)


class PackedWeights(Record):
    """Weights [N, K] in blocks along K.

    Args:
        codes: the integers [N, K] or [N, blocks, size].
        scales: a scale for each block, [N, blocks].
        zeros: a zero point for each block, [N, blocks], as unsigned integers; None for zero points in the middle of the
            range.
        block: the size of a block.
    """

    codes: DataAttr
    scales: Array
    zeros: Array | None
    block: int


def pack_products(model: ModelOp, version: int) -> None:
    """Replace the products of a lowered model by MatMulNBits, if it can express their weights.

    Other products stay: weights with a scale per column, unsupported block sizes, and columns that are not a multiple
    of the block size.
    """
    if _pack(model.block, version):
        imports = cast("DictionaryAttr", model.attributes[ModuleLevel.OPSET_IMPORT])
        model.attributes[ModuleLevel.OPSET_IMPORT] = DictionaryAttr({**imports.data, DOMAIN: integer_attribute(1)})


def _pack(block: Block, version: int) -> bool:
    """Replace the products of a block and of the bodies in it; returns whether any was replaced."""
    is_changed = False
    for op in list(block.ops):
        for region in op.regions:
            for body in region.blocks:
                is_changed |= _pack(body, version)
        weights = _weights_of(op) if op.name == "onnx.MatMul" else None
        if weights is not None:
            _replace(op, weights, version)
            is_changed = True
    return is_changed


def _producer(value: SSAValue, kind: str) -> Operation | None:
    """The operation that computes a value, if it is of a kind; else None."""
    owner = value.owner
    return owner if isinstance(owner, Operation) and owner.name == f"onnx.{kind}" else None


def _constant(value: SSAValue) -> DataAttr | None:
    owner = value.owner
    data = owner.properties.get("value") if isinstance(owner, Operation) and owner.name == "opset1.Constant" else None
    return data if isinstance(data, DataAttr) else None


def _weights_of(product: Operation) -> PackedWeights | None:
    """The weights of a product x · W, if W is the transposition of dequantized blocks; None for any other W."""
    value = product.operands[1]
    shape = shape_of(value)
    transpose = _producer(value, "Transpose")
    if transpose is None or shape is None or len(shape) != 2 or min(shape) < 0 or element_of(product.operands[0]) not in (f32, f16):
        return None
    value = transpose.operands[0]
    # Between the dequantization and the transposition the elements keep their order.
    for kind in ("Cast", "Reshape", "Cast"):
        if (op := _producer(value, kind)) is not None:
            value = op.operands[0]
    dequantization = _producer(value, "DequantizeLinear")
    if dequantization is None:
        return None
    codes, scales = (_constant(each) for each in dequantization.operands[:2])
    zeros = _constant(dequantization.operands[2]) if len(dequantization.operands) > 2 else None
    if codes is None or scales is None or codes.element not in _BITS or (len(dequantization.operands) > 2 and zeros is None):
        return None
    columns, rows = shape
    return _blocks(codes, scales, zeros, rows, columns, _axis_of(dequantization))


def _axis_of(dequantization: Operation) -> int:
    axis = dequantization.properties.get("axis")
    return 1 if axis is None else cast("int", value_of(axis))


def _blocks(codes: DataAttr, scales: DataAttr, zeros: DataAttr | None, rows: int, columns: int, axis: int) -> PackedWeights | None:
    """Weights [rows, columns] in blocks; None if the scales do not belong to blocks along the columns (`axis`)."""
    if codes.shape[0] != rows:
        return None
    if len(codes.shape) == 2 and (scales.shape == () or (scales.shape == (rows,) and axis == 0)):
        # One scale for a row: those of its blocks are equal.
        block = next((size for size in (128, 64, 32, 16) if columns % size == 0), 0)
        counts = (rows, columns // block if block else 0)
    elif len(codes.shape) == 3 and scales.shape[:2] == codes.shape[:2] and len(scales.shape) <= 3:
        block = codes.shape[2]
        counts = codes.shape[:2]
    else:
        return None
    if not SMALLEST_BLOCK <= block <= LARGEST_BLOCK or block & (block - 1):
        return None
    points = None if zeros is None else _spread(_unpacked(zeros), counts)
    if points is not None and codes.element in _SIGNED:
        points = points + (1 << (_BITS[codes.element] - 1))
    if points is None and codes.element not in _SIGNED:
        points = np.zeros(counts, np.int64)
    return PackedWeights(codes, _spread(scales.array, counts), points, block)


def _spread(values: Array, counts: tuple[int, ...]) -> Array:
    """A value for each block, in the shape `counts` [rows, blocks].

    `values` has one for all blocks, one for each row, or one for each block.
    """
    if values.size == 1:
        return np.full(counts, values.reshape(()))
    return np.broadcast_to(values.reshape(counts[0], -1), counts)


def _unpacked(data: DataAttr) -> Array:
    """The integers of a constant of 4 or 8 bits; 4-bit integers are returned as a flat array."""
    if not describe(data.element).is_packed:
        return data.array.astype(np.int64)
    nibbles = data.array.reshape(-1)
    values = np.stack([nibbles & 15, nibbles >> 4], axis=-1).reshape(-1)[: int(np.prod(data.shape))].astype(np.int64)
    return np.where(values > 7, values - 16, values) if data.element == si4 else values


def _replace(product: Operation, weights: PackedWeights, version: int) -> None:
    assert product.parent is not None
    op = OnnxBuilder(product.parent, product, version)
    x, bits = product.operands[0], _BITS[weights.codes.element]
    rows, blocks = weights.scales.shape
    operands = [
        x,
        op.constant(DataAttr.of(_unsigned(weights.codes).reshape(rows, blocks, weights.block * bits // 8), ui8)),
        op.constant(np.ascontiguousarray(weights.scales), element_of(x)),
    ]
    if weights.zeros is not None and not (weights.zeros == 1 << (bits - 1)).all():
        operands.append(op.constant(_packed_rows(weights.zeros, bits)))
    attributes = {"K": blocks * weights.block, "N": rows, "bits": bits, "block_size": weights.block}
    created = operation_class("onnx", KIND).create(
        operands=operands,
        properties={name: integer_attribute(value) for name, value in attributes.items()},
        result_types=[product.results[0].type],
    )
    op.insert(created)
    result: OpResult = created.results[0]
    set_type(result, product.results[0].type)
    inherit_names(product, [result])
    product.results[0].replace_all_uses_with(result)
    erase(product)


def _unsigned(codes: DataAttr) -> Values:
    """The bytes of quantized values as unsigned integers: the sign bit of signed ones is inverted."""
    if codes.element not in _SIGNED:
        return codes.values
    return computed(partial(_with_sign_inverted, np.uint8(0x88 if codes.element == si4 else 0x80)), codes.values)


def _with_sign_inverted(mask: np.uint8, codes: Array) -> Array:
    return codes.view(np.uint8) ^ mask


def _packed_rows(zeros: Array, bits: int) -> Array:
    """Zero points [rows, blocks] of 4 or 8 bits, packed into bytes row by row."""
    if bits == 8:
        return zeros.astype(np.uint8)
    even = np.pad(zeros, ((0, 0), (0, zeros.shape[1] % 2))).astype(np.uint8)
    return even[:, ::2] | even[:, 1::2] << np.uint8(4)
