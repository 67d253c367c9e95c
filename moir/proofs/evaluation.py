"""A model evaluated on symbolic tensors.

An operation means its index map, its sum, or what its own `evaluate` computes on symbolic tensors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.ir import Block, Operation, SSAValue

from moir.analysis.constants import values_of
from moir.dialects.element_types import to_numpy
from moir.dialects.moir import is_none
from moir.dialects.opset.control_flow import If
from moir.dialects.opset.infrastructure import Constant, Parameter, Result
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import element_of, shape_of
from moir.errors import InferenceError
from moir.proofs.array_functions import IMPLEMENTATIONS
from moir.proofs.averages import AVERAGES
from moir.proofs.context import assume, guarded
from moir.proofs.index_maps import INDEX_MAPS, Meaning
from moir.proofs.movement_functions import MOVEMENTS
from moir.proofs.products import MATRIX_PRODUCTS, PRODUCTS
from moir.proofs.scalars import Scalar, UnprovableError, index_of, is_term, of_size, real, variable
from moir.proofs.smt import z3
from moir.proofs.tensors import ARRAY_FUNCTIONS, Index, Size, Tensor, constant, is_same, select

ARRAY_FUNCTIONS.update({**IMPLEMENTATIONS, **MOVEMENTS, **MATRIX_PRODUCTS})

SYMBOLIC_TYPES = "biuf"
"""The kinds of numpy's types whose elements can be terms; bf16 is treated as a real number, too."""


def parameters_of(block: Block, least: int = 0) -> dict[SSAValue, Tensor]:
    """Symbolic tensors for the Parameters of a model: a symbol for each dynamic dimension, an uninterpreted function
    for the elements.

    Dynamic dimensions have at least the size `least`. The symbols are named after the index of the Parameter, so that
    two forms of a model share them.
    """
    values: dict[SSAValue, Tensor] = {}
    for number, op in enumerate(each for each in block.ops if isinstance(each, Parameter)):
        shape, dtype = shape_of(op.results[0]), to_numpy(element_of(op.results[0]))
        if shape is None:
            raise UnprovableError("a Parameter of dynamic rank")
        sizes: list[Size] = [size if size >= 0 else z3.Int(f"size{number}_{axis}") for axis, size in enumerate(shape)]
        for size in sizes:
            if is_term(size):
                assume(size >= least)
        elements = variable(f"x{number}", len(shape), dtype)
        values[op.results[0]] = Tensor(sizes, dtype, lambda index, elements=elements: elements(*index))
    return values


def results_of(block: Block, least: int = 0) -> list[Tensor]:
    """The results of a model for arbitrary inputs, with dynamic dimensions of at least the size `least`.

    Raises UnprovableError for an operation without meaning.
    """
    return computed(block, parameters_of(block, least))


def computed(block: Block, values: dict[SSAValue, Tensor]) -> list[Tensor]:
    """Evaluate a model or a body symbolically; returns the tensors of its Results.

    Args:
        block: the block.
        values: the tensors of its Parameters, to which those of the operations are added.
    """
    results: list[Tensor] = []
    for op in block.ops:
        if isinstance(op, Result):
            results.append(values[op.operands[0]])
        elif isinstance(op, Constant):
            values[op.results[0]] = _constant(op)
        elif not isinstance(op, Parameter) and not is_none(op):
            values.update(zip(op.results, meaning(op, [values[each] for each in op.operands if not is_none(each.owner)]), strict=True))
    return results


def _constant(op: Constant) -> Tensor:
    """The tensor of a constant. One whose value was left out of a text may have any values."""
    array = values_of(op.results[0])
    if array is not None:
        return constant(np.asarray(array))
    shape = shape_of(op.results[0]) or ()
    dtype = to_numpy(element_of(op.results[0]))
    elements = variable(f"x of {op.value.data.key}", len(shape), dtype)
    return Tensor(shape, dtype, lambda index: elements(*index))


def meaning(op: Operation, operands: Sequence[Tensor]) -> Sequence[Tensor]:
    """The results of an operation for symbolic operands. Raises UnprovableError if it has no meaning in a proof."""
    defined = MEANINGS.get(op.KIND) if isinstance(op, OpsetOp) else None
    if defined is not None:
        return defined(op, *operands)
    if not isinstance(op, OpsetOp) or op.regions:
        raise UnprovableError(f"{op.name} has no meaning in a proof")
    if "auto_broadcast" in op.properties and op.text("auto_broadcast") == "pdpd":
        raise UnprovableError("broadcasting of mode pdpd")
    try:
        arrays: Sequence[Any] = [each if each.numbers is None else each.numbers for each in operands]
        results = op.evaluate(*arrays)
    except (TypeError, AttributeError, ValueError, z3.Z3Exception, InferenceError) as error:
        raise UnprovableError(f"{op.name}: {error}") from error
    if results is None:
        raise UnprovableError(f"{op.name} has no meaning in a proof")
    symbolic: Sequence[Any] = results
    return [each if isinstance(each, Tensor) else constant(each) for each in symbolic]


def _convert(op: OpsetOp, data: Tensor, *like: Tensor) -> Sequence[Tensor]:
    target = to_numpy(element_of(op.results[0]))
    kinds = ("f" if data.dtype.kind in "fV" else data.dtype.kind, "f" if target.kind in "fV" else target.kind)

    def at(index: Index) -> Scalar:
        return converted(data.at(index), data.dtype, target)

    if kinds[0] == kinds[1] == "f":
        return (data.astype(target),)
    return (Tensor(data.shape, target, at),)


def converted(element: Scalar, source: np.dtype[Any], target: np.dtype[Any]) -> Scalar:
    """An element of the type `source` converted to the type `target`, as Convert does.

    A real number converted to an integer is truncated if the type has 8 bits and the number is in its range; otherwise
    it is an uninterpreted function of the number. z3 decides too little of wider types.
    """
    if source.kind == "b":
        return z3.If(element, of_size(1, target), of_size(0, target)) if target.kind != "b" else element
    if target.kind == "b":
        return element != 0
    if source.kind in "iu":
        if not z3.is_bv(element):
            return of_size(element, target)
        if target.kind in "iu":
            return resized(element, source, target)
        return of_size(index_of(element, source), target)
    width = target.itemsize * 8
    unknown = z3.Function(f"as_{target}", z3.RealSort(), z3.BitVecSort(width))(element)
    if width > WIDEST_TRUNCATED:
        return unknown
    whole, limits = z3.If(element >= 0, z3.ToInt(element), -z3.ToInt(-element)), np.iinfo(target)
    return z3.If(z3.And(whole >= int(limits.min), whole <= int(limits.max)), z3.Int2BV(whole, width), unknown)


WIDEST_TRUNCATED = 8
"""The largest number of bits of an integer type to which a conversion truncates; wider types are uninterpreted."""


def resized(element: Scalar, source: np.dtype[Any], target: np.dtype[Any]) -> Scalar:
    """A bit vector of the integer type `source` as one of the type `target`: cut off, or extended with its sign."""
    width = target.itemsize * 8 - element.size()
    if width <= 0:
        return z3.Extract(target.itemsize * 8 - 1, 0, element)
    return (z3.SignExt if source.kind == "i" else z3.ZeroExt)(width, element)


LARGEST = float(np.finfo(np.float32).max)


def _clamp(op: OpsetOp, data: Tensor) -> Sequence[Tensor]:
    """A Clamp, assuming elements in the range of f32: an upper limit of the largest f32 then changes nothing.

    Raises UnprovableError for integers.
    """
    if data.dtype.kind not in "fV":
        raise UnprovableError(f"{op.name} of {data.dtype}")
    operand: Any = data
    results: Any = op.evaluate(operand)
    limits: Tensor = results[0]

    def at(index: Index) -> Scalar:
        element = data.at(index)
        assume(z3.And(element <= real(LARGEST), element >= real(-LARGEST)))
        return limits.at(index)

    return (Tensor(data.shape, data.dtype, at),)


def _if(op: If, *operands: Tensor) -> Sequence[Tensor]:
    """The results of an If: of one body or the other; each body has to be defined only where the condition
    selects it.
    """
    branches: list[list[Tensor]] = []
    truth = operands[0].at((0,) * operands[0].ndim)
    for body, indices, guard in (
        (op.then_body.block, op.integers("then_inputs"), truth),
        (op.else_body.block, op.integers("else_inputs"), z3.Not(truth)),
    ):
        parameters = [each for each in body.ops if isinstance(each, Parameter)]
        values: dict[SSAValue, Tensor] = {each.results[0]: operands[index] for each, index in zip(parameters, indices, strict=True)}
        with guarded(guard):
            branches.append(computed(body, values))
    if (certain := z3.simplify(truth)) is not truth and (z3.is_true(certain) or z3.is_false(certain)):
        return branches[0 if z3.is_true(certain) else 1]
    for then, otherwise in zip(*branches, strict=True):
        if then.ndim != otherwise.ndim or not all(map(is_same, then.shape, otherwise.shape)):
            raise UnprovableError("branches of different shapes")
    return [select(operands[0], *pair) for pair in zip(*branches, strict=True)]


def _interpolate(op: OpsetOp, data: Tensor, target: Tensor, *axes: Tensor) -> Sequence[Tensor]:
    """What `evaluate` computes for static sizes; raises UnprovableError for computed scales or axes."""
    elements = [target.at((index,)) for index in range(target.shape[0])] if isinstance(target.shape[0], int) else []
    if any(is_term(each) and not z3.is_rational_value(each) for each in (*elements, *data.shape)):
        raise UnprovableError(f"{op.name} of dynamic sizes or computed scales")
    numbers = target.numbers if target.numbers is not None else np.array([float(each.as_fraction()) for each in elements], np.float32)
    operand: Any = data
    results: Any = op.evaluate(operand, numbers, *(entries for each in axes if (entries := each.numbers) is not None))
    if results is None:
        raise UnprovableError(f"{op.name} has no meaning in a proof")
    return results


MEANINGS: dict[str, Meaning] = {
    **INDEX_MAPS,
    **PRODUCTS,
    **AVERAGES,
    "If": _if,
    "Interpolate": _interpolate,
    "Convert": _convert,
    "ConvertLike": _convert,
    "Clamp": _clamp,
}
"""The meaning of operations that differs from `evaluate`, by kind."""
