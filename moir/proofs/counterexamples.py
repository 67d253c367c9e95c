"""Counterexamples: a model with two results, `before` and `after` a rewrite, that differ.

Sizes and inputs are those of the solver's model or sampled. A counterexample counts only if it was run: by the
definitions of the operations, as `moir run` runs it where no runtime is installed.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue

from moir.analysis.known_values import KnownValues
from moir.dialects.data import INLINE_BYTES, DataAttr
from moir.dialects.element_types import to_numpy
from moir.dialects.inference import infer_operation
from moir.dialects.memory_map import Array
from moir.dialects.moir import ModelOp
from moir.dialects.opset.infrastructure import Constant, Parameter, Result
from moir.dialects.properties import string_attribute
from moir.dialects.shapes import element_of, shape_of
from moir.errors import ConversionError
from moir.execution.evaluation import EvaluationRunner
from moir.proofs.graph_proofs import block_of
from moir.proofs.outcomes import Failure
from moir.proofs.smt import z3
from moir.rewriting.dead_code import eliminate_dead

SEED = 20260102
MOST_SAMPLES = 120
TOLERANCE = 1e-3
"""The relative difference of floats from which on two results count as different."""


def counterexample(failure: Failure) -> ModuleOp | None:
    """A model that was run and shows that a rewrite changes results; None if no run showed it."""
    if failure.before is None or failure.after is None:
        return None
    before, after = block_of(failure.before), block_of(failure.after)
    for inputs in _inputs(before, failure.values):
        module = joined(before, after, inputs)
        if module is not None and differs(module):
            return module
    return None


def _inputs(block: Block, model: Any) -> Iterator[list[Array]]:
    """Arrays for the Parameters: those of the solver's model first, then sampled ones."""
    parameters = [op.results[0] for op in block.ops if isinstance(op, Parameter)]
    generator = random.Random(SEED)
    if isinstance(model, z3.ModelRef):
        chosen = _of_model(parameters, model)
        if chosen is not None:
            yield chosen
    for _ in range(MOST_SAMPLES):
        arrays = [_sampled(value, generator) for value in parameters]
        if all(array.nbytes <= INLINE_BYTES for array in arrays):
            yield arrays


def _sampled(value: SSAValue, generator: random.Random) -> Array:
    shape = [size if size >= 0 else generator.choice((1, 1, 2, 3)) for size in shape_of(value) or ()]
    dtype = to_numpy(element_of(value))
    count = int(np.prod(shape))
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        numbers = [
            generator.choice((0, 1, 2, 3, 5, limits.max, limits.min, max(limits.min, -1), max(limits.min, -3))) for _ in range(count)
        ]
    elif dtype.kind == "b":
        numbers = [generator.choice((0, 1)) for _ in range(count)]
    else:
        numbers = [generator.choice((0.0, 0.5, 1.0, 3.0, 7.0, 64.0, -0.5, -1.0, -2.0, -6.0, -64.0)) for _ in range(count)]
    return np.array(numbers, object).astype(dtype).reshape(shape)


MOST_SIZE = 4
"""The largest size in a solver's model for which the model is run."""


def _of_model(parameters: Sequence[SSAValue], model: Any) -> list[Array] | None:
    """The inputs in a model of the solver, as arrays; None if they are too large."""
    functions = {str(each): each for each in model.decls()}
    arrays: list[Array] = []
    for number, value in enumerate(parameters):
        dtype = to_numpy(element_of(value))
        shape: list[int] = []
        for axis, size in enumerate(shape_of(value) or ()):
            known = size if size >= 0 else model.eval(z3.Int(f"size{number}_{axis}"), model_completion=True).as_long()
            shape.append(known)
        if any(size > MOST_SIZE for size in shape) or int(np.prod(shape)) * dtype.itemsize > INLINE_BYTES:
            return None
        elements = functions.get(f"x{number}")
        array = np.zeros(shape, dtype)
        for index in np.ndindex(*shape):
            if elements is not None:
                array[index] = _number(model.eval(elements(*index) if index else elements(), model_completion=True), dtype)
        arrays.append(array)
    return arrays


def _number(term: Any, dtype: np.dtype[Any]) -> Any:
    if dtype.kind == "b":
        return z3.is_true(term)
    if z3.is_bv_value(term):
        return term.as_signed_long() if dtype.kind == "i" else term.as_long()
    if z3.is_algebraic_value(term):
        term = term.approx(20)
    return float(term.as_fraction()) if z3.is_rational_value(term) else 0


def joined(before: Block, after: Block, inputs: Sequence[Array]) -> ModuleOp | None:
    """One model of constants with the results of two models with the same Parameters, `before` and `after` a rewrite.

    `inputs` are the constants. Returns None if they do not fit the first model.
    """
    block = Block()
    constants: list[SSAValue] = []
    for op, array in zip((each for each in before.ops if isinstance(each, Parameter)), inputs, strict=True):
        element = element_of(op.results[0])
        data = DataAttr.of(array, element)
        constant = Constant.create(properties={"value": data}, result_types=[op.results[0].type], attributes=dict(op.attributes))
        block.add_op(constant)
        infer_operation(constant, KnownValues())
        constants.append(constant.results[0])
    try:
        for name, source in (("before", before), ("after", after)):
            _copy(source, block, constants, name)
    except ConversionError:
        return None
    eliminate_dead(block)
    return ModuleOp([ModelOp.of("counterexample", block)])


def _copy(source: Block, block: Block, constants: Sequence[SSAValue], name: str) -> None:
    parameters = iter(constants)
    values: dict[SSAValue, SSAValue] = {}
    known = KnownValues()
    results = 0
    for op in source.ops:
        if isinstance(op, Parameter):
            values[op.results[0]] = next(parameters)
            continue
        if isinstance(op, Result):
            result = Result.create(operands=[values[op.operands[0]]])
            result.attributes["name"] = string_attribute(name if not results else f"{name}_{results}")
            block.add_op(result)
            results += 1
            continue
        copy = op.clone(values)
        copy.attributes.pop("name", None)
        copy.attributes.pop("tensor_names", None)
        block.add_op(copy)
        infer_operation(copy, known)


def differs(module: ModuleOp) -> bool:
    """Whether the results before and after differ when the model is run."""
    try:
        with np.errstate(all="ignore"):
            results = EvaluationRunner(module, alone=False).run({})
    except (ConversionError, ArithmeticError, ValueError):
        return False
    return any(not _are_close(results[name], results[name.replace("before", "after")]) for name in results if name.startswith("before"))


def _are_close(a: Array, b: Array) -> bool:
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.kind not in "fV":
        return bool(np.array_equal(a, b))
    first, second = a.astype(np.float64), b.astype(np.float64)
    # Where a model is not defined before, a proof says nothing.
    return not np.all(np.isfinite(first)) or bool(np.allclose(first, second, rtol=TOLERANCE, atol=TOLERANCE))
