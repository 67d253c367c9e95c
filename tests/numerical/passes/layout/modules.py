"""Modules for the tests of the layout passes, built operation by operation, and what the runtime computes for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Region, SSAValue

from moir.analysis.known_values import KnownValues
from moir.dialects import opset
from moir.dialects.element_types import f32
from moir.dialects.moir import ModelOp
from moir.dialects.properties import string_attribute
from moir.dialects.shapes import tensor
from moir.passes.canonicalize.eliminate_dead import EliminateDeadPass
from moir.rewriting.builder import OpBuilder
from tests.numerical.passes.module_results import results_of_modules

Array = np.ndarray
Order = tuple[int, ...]
Build = Callable[[OpBuilder, list[SSAValue]], Sequence[SSAValue]]

UNCOUNTED = ("Constant", "Parameter", "Result")


def parameter(op: OpBuilder, shape: Sequence[int], element: object = f32) -> SSAValue:
    """An input."""
    value = opset.operation("opset1.Parameter").create(result_types=[tensor(shape, element)])
    value.attributes["name"] = string_attribute(f"x{sum(1 for each in op.block.ops if each.name == value.name)}")
    op.insert(value)
    return value.results[0]


def result(op: OpBuilder, value: SSAValue) -> None:
    """An output."""
    op.insert(opset.operation("opset1.Result").create(operands=[value]))


def body(build: Build, types: Sequence[object], outside: OpBuilder) -> Region:
    """A body with Parameters of these types."""
    block = Block()
    op = OpBuilder(outside.known, block)
    parameters = []
    for type_ in types:
        parameter = opset.operation("opset1.Parameter").create(result_types=[type_])
        op.insert(parameter)
        parameters.append(parameter.results[0])
    for value in build(op, parameters):
        result(op, value)
    return Region(block)


def module_of(build: Build, shapes: Sequence[Sequence[int]], *, dynamic: bool = False) -> ModuleOp:
    """A module whose inputs have these shapes, or only their ranks."""
    block = Block()
    op = OpBuilder(KnownValues(), block)
    inputs = [parameter(op, [-1] * len(shape) if dynamic else shape) for shape in shapes]
    for value in build(op, inputs):
        result(op, value)
    module = ModuleOp([ModelOp.of("case", block)])
    EliminateDeadPass().apply(Context(), module)
    module.verify()
    return module


def kinds(module: ModuleOp) -> Counter[str]:
    """How often each kind of operation occurs that is used."""
    EliminateDeadPass().apply(Context(), module)
    names = (op.name.partition(".")[2] for op in module.walk() if op.name.startswith("opset"))
    return Counter(name for name in names if name not in UNCOUNTED)


def check_equal(before: ModuleOp, after: ModuleOp, shapes: Sequence[Sequence[int]]) -> None:
    """Both compute the same for random inputs."""
    random = np.random.default_rng(5)
    arrays = [random.standard_normal(shape).astype(np.float32) for shape in shapes]
    for expected, actual in zip(*results_of_modules([before, after], arrays), strict=True):
        assert actual.dtype == expected.dtype
        assert actual.shape == expected.shape
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5)
