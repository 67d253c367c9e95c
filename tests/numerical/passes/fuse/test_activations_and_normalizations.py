"""Fusions of activations and normalizations: the runtime computes the same before and after, with the fused operation only."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import openvino
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue
from xdsl.passes import ModulePass

from moir.analysis.known_values import KnownValues
from moir.dialects import element_types
from moir.dialects.moir import ModelOp, models_of
from moir.dialects.opset.infrastructure import Parameter, Result
from moir.dialects.properties import string_attribute
from moir.dialects.shapes import Shape, tensor
from moir.emit import to_openvino
from moir.passes.canonicalize.eliminate_dead import EliminateDeadPass
from moir.passes.fuse.fuse_clamp import FuseClampPass
from moir.passes.fuse.fuse_hsigmoid import FuseHsigmoidPass
from moir.passes.fuse.fuse_hswish import FuseHswishPass
from moir.passes.fuse.fuse_mish import FuseMishPass
from moir.passes.fuse.fuse_mvn import FuseMvnPass
from moir.passes.fuse.fuse_normalize_l2 import FuseNormalizeL2Pass
from moir.passes.fuse.fuse_prelu import FusePreluPass
from moir.passes.fuse.fuse_reduce import FuseReducePass
from moir.passes.fuse.fuse_soft_plus import FuseSoftPlusPass
from moir.passes.fuse.fuse_swish import FuseSwishPass
from moir.passes.fuse.gelu.fuse_gelu import FuseGeluPass
from moir.rewriting.builder import OpBuilder
from tests.numerical.runtime import run_together

Expression = Callable[[OpBuilder, SSAValue], SSAValue]

SHAPE = (2, 3, 4, 5)
FORMS: dict[str, Shape] = {"static": SHAPE, "dynamic": (-1, 3, -1, -1), "rank": None}


def build(expression: Expression, shape: Shape, element: Any = element_types.f32) -> ModuleOp:
    """A model with one input and the value of an expression as its output."""
    block = Block()
    builder = OpBuilder(KnownValues(), block)
    parameter = Parameter.create(result_types=[tensor(shape, element)], properties={})
    parameter.attributes["name"] = string_attribute("x")
    block.add_op(parameter)
    value = expression(builder, parameter.results[0])
    result = Result.create(operands=[value])
    result.attributes["name"] = string_attribute("y")
    block.add_op(result)
    module = ModuleOp([ModelOp.of("model", block)])
    module.verify()
    return module


def kinds(module: ModuleOp) -> list[str]:
    """Types of the operations of a model, constants and its ends left out."""
    (model,) = models_of(module)
    return [kind for op in model.block.ops if (kind := op.name.partition(".")[2]) not in ("Parameter", "Constant", "Result")]


def apply(module: ModuleOp, *passes: ModulePass) -> ModuleOp:
    for each in (*passes, EliminateDeadPass()):
        each.apply(Context(), module)
        module.verify()
    return module


def samples(shape: Sequence[int] = SHAPE) -> np.ndarray:
    return (np.random.default_rng(7).standard_normal(shape) * 3).astype(np.float32)


def computed(*models: openvino.Model) -> list[np.ndarray]:
    """The result of each model for the samples."""
    return [result for (result,) in run_together(models, [[samples()]] * len(models))]


@dataclass(frozen=True)
class Case:
    """An expression, and the passes that reduce it to operations of the types `left`."""

    passes: tuple[ModulePass, ...]
    expression: Expression
    left: tuple[str, ...]
    tolerance: float = 1e-5


ROOT_HALF = math.sqrt(0.5)
ROOT_TWO_BY_PI = math.sqrt(2 / math.pi)


def relu6_forms() -> Iterator[Expression]:
    yield lambda op, a: op.Clamp(a, min=0.0, max=6.0)
    yield lambda op, a: op.Minimum(op.Relu(a), 6.0)
    yield lambda op, a: op.Maximum(op.Minimum(a, 6.0), 0.0)
    yield lambda op, a: op.Relu(op.Minimum(6.0, a))
    yield lambda op, a: op.Minimum(op.Maximum(0.0, a), 6.0)


def hard_cases() -> Iterator[Case]:
    sigmoid = (FuseClampPass(), FuseHsigmoidPass())
    swish = (FuseClampPass(), FuseHswishPass())
    for relu6 in relu6_forms():
        yield Case(sigmoid, lambda op, x, f=relu6: op.Divide(f(op, op.Add(x, 3.0)), 6.0), ("HSigmoid",))
        yield Case(swish, lambda op, x, f=relu6: op.Divide(op.Multiply(x, f(op, op.Add(x, 3.0))), 6.0), ("HSwish",))

    def relu6(op: OpBuilder, x: SSAValue) -> SSAValue:
        return op.Clamp(op.Add(3.0, x), min=0.0, max=6.0)

    yield Case(sigmoid, lambda op, x: op.Multiply(relu6(op, x), 1 / 6), ("HSigmoid",))
    yield Case(sigmoid, lambda op, x: op.Clamp(op.Divide(op.Add(x, 3.0), 6.0), min=0.0, max=1.0), ("HSigmoid",))
    yield Case(sigmoid, lambda op, x: op.Clamp(op.Multiply(op.Add(x, 3.0), 1 / 6), min=0.0, max=1.0), ("HSigmoid",))
    yield Case(sigmoid, lambda op, x: op.Clamp(op.Add(op.Multiply(1 / 6, x), 0.5), min=0.0, max=1.0), ("HSigmoid",))
    yield Case(sigmoid, lambda op, x: op.Clamp(op.Add(op.Divide(x, 6.0), 0.5), min=0.0, max=1.0), ("HSigmoid",))
    yield Case(sigmoid, lambda op, x: hard_sigmoid(op, x), ("HSigmoid",))
    yield Case(swish, lambda op, x: op.Multiply(x, op.HSigmoid(x)), ("HSwish",))
    yield Case(swish, lambda op, x: op.Multiply(hard_sigmoid(op, x), x), ("HSwish",))
    yield Case(swish, lambda op, x: op.Multiply(x, op.Divide(relu6(op, x), 6.0)), ("HSwish",))
    yield Case(swish, lambda op, x: op.Multiply(x, op.Multiply(relu6(op, x), 1 / 6)), ("HSwish",))
    yield Case(swish, lambda op, x: op.Multiply(op.Multiply(relu6(op, x), x), 1 / 6), ("HSwish",))
    yield Case(swish, lambda op, x: op.Multiply(op.Divide(x, 6.0), relu6(op, x)), ("HSwish",))
    yield Case(swish, lambda op, x: op.Multiply(op.Multiply(x, 1 / 6), relu6(op, x)), ("HSwish",))


def hard_sigmoid(op: OpBuilder, x: SSAValue) -> SSAValue:
    return op.HardSigmoid(x, op.constant_like(1 / 6, x), op.constant_like(0.5, x))


def smooth_cases() -> Iterator[Case]:
    def soft_plus(op: OpBuilder, x: SSAValue) -> SSAValue:
        return op.Log(op.Add(op.Exp(x), 1.0))

    yield Case((FuseSoftPlusPass(),), soft_plus, ("SoftPlus",))
    yield Case((FuseSoftPlusPass(),), lambda op, x: op.Log(op.Add(1.0, op.Exp(x))), ("SoftPlus",))
    yield Case((FuseSoftPlusPass(), FuseMishPass()), lambda op, x: op.Multiply(op.Tanh(soft_plus(op, x)), x), ("Mish",))
    yield Case((FuseMishPass(),), lambda op, x: op.Multiply(x, op.Tanh(op.SoftPlus(x))), ("Mish",))
    yield Case((FuseSwishPass(),), lambda op, x: op.Multiply(x, op.Sigmoid(x)), ("Swish",))
    yield Case((FuseSwishPass(),), lambda op, x: op.Multiply(op.Sigmoid(op.Multiply(x, 1.702)), x), ("Swish",))


def gelu_cases() -> Iterator[Case]:
    def cdf(op: OpBuilder, x: SSAValue) -> SSAValue:
        return op.Add(op.Erf(op.Divide(x, math.sqrt(2))), 1.0)

    expressions: list[Expression] = [
        lambda op, x: op.Multiply(op.Multiply(x, cdf(op, x)), 0.5),
        lambda op, x: op.Multiply(0.5, op.Multiply(cdf(op, x), x)),
        lambda op, x: op.Multiply(op.Multiply(x, 0.5), cdf(op, x)),
        lambda op, x: op.Multiply(cdf(op, x), op.Multiply(0.5, x)),
        lambda op, x: op.Multiply(x, op.Multiply(cdf(op, x), 0.5)),
        lambda op, x: op.Multiply(op.Divide(x, 2.0), cdf(op, x)),
        lambda op, x: op.Divide(op.Multiply(x, cdf(op, x)), 2.0),
        lambda op, x: op.Multiply(op.Multiply(x, 0.5), op.Add(1.0, op.Erf(op.Multiply(x, ROOT_HALF)))),
        lambda op, x: op.Multiply(x, op.Add(op.Multiply(op.Erf(op.Multiply(ROOT_HALF, x)), 0.5), 0.5)),
        lambda op, x: op.Multiply(op.Multiply(0.5, x), op.Subtract(1.0, op.Erf(op.Multiply(op.Negative(x), ROOT_HALF)))),
        lambda op, x: op.Multiply(op.Multiply(0.5, x), op.Subtract(1.0, op.Erf(op.Negative(op.Divide(x, math.sqrt(2)))))),
        lambda op, x: op.Multiply(op.Multiply(op.Add(1.0, tanh(op, x, op.Power(x, 3.0))), x), 0.5),
        lambda op, x: op.Multiply(op.Multiply(0.5, x), op.Add(1.0, tanh(op, x, op.Multiply(x, op.Multiply(x, x))))),
        lambda op, x: op.Multiply(op.Multiply(0.5, x), op.Add(1.0, tanh(op, x, op.Multiply(op.Power(x, 2.0), x)))),
        lambda op, x: op.Multiply(x, op.Multiply(0.5, op.Add(1.0, op.Tanh(factored(op, x))))),
    ]
    for expression in expressions:
        yield Case((FuseGeluPass(),), expression, ("Gelu",), 1e-4)


def tanh(op: OpBuilder, x: SSAValue, cube: SSAValue) -> SSAValue:
    return op.Tanh(op.Multiply(op.Add(x, op.Multiply(cube, 0.044715)), ROOT_TWO_BY_PI))


def factored(op: OpBuilder, x: SSAValue) -> SSAValue:
    return op.Multiply(op.Multiply(x, ROOT_TWO_BY_PI), op.Add(op.Multiply(op.Multiply(x, 0.044715), x), 1.0))


def limit_cases() -> Iterator[Case]:
    passes = (FuseClampPass(),)
    yield Case(passes, lambda op, x: op.Minimum(op.Maximum(x, -1.0), 2.0), ("Clamp",))
    yield Case(passes, lambda op, x: op.Maximum(op.Minimum(x, 2.0), -1.0), ("Clamp",))
    yield Case(passes, lambda op, x: op.Minimum(op.Maximum(x, 2.0), -1.0), ("Maximum", "Minimum"))
    yield Case(passes, lambda op, x: op.Maximum(x, 0.0), ("Relu",))
    yield Case(passes, lambda op, x: op.Relu(op.Maximum(x, -1.0)), ("Maximum", "Relu"))
    yield Case(passes, lambda op, x: op.Relu(op.Relu(x)), ("Relu",))
    yield Case(passes, lambda op, x: op.Clamp(op.Relu(x), min=-1.0, max=2.0), ("Clamp",))
    yield Case(passes, lambda op, x: op.Relu(op.Clamp(x, min=-1.0, max=2.0)), ("Clamp",))
    yield Case(passes, lambda op, x: op.Clamp(op.Clamp(x, min=-1.0, max=2.0), min=-3.0, max=1.0), ("Clamp",))
    yield Case(passes, lambda op, x: op.Clamp(op.Clamp(x, min=-1.0, max=0.0), min=1.0, max=2.0), ("Clamp", "Clamp"))
    yield Case(passes, lambda op, x: op.Minimum(op.Maximum(op.Clamp(op.Relu(x), min=-9.0, max=3.0), 1.0), 2.5), ("Clamp",))
    yield Case(passes, lambda op, x: op.Maximum(op.Clamp(x, min=-1.0, max=2.0), 1.0), ("Clamp",))
    yield Case(passes, lambda op, x: op.Minimum(op.Clamp(x, min=-1.0, max=2.0), 1.0), ("Clamp",))
    yield Case(passes, lambda op, x: op.Clamp(op.Maximum(x, 1.0), min=-1.0, max=2.0), ("Clamp",))
    yield Case(passes, lambda op, x: op.Clamp(op.Minimum(x, 1.0), min=-1.0, max=2.0), ("Clamp",))


def rectifier_cases() -> Iterator[Case]:
    def below(op: OpBuilder, x: SSAValue) -> SSAValue:
        return op.Relu(op.Negative(x))

    expressions: list[Expression] = [
        lambda op, x: op.Maximum(x, op.Multiply(x, 0.1)),
        lambda op, x: op.Maximum(op.Multiply(-2.0, x), x),
        lambda op, x: op.Minimum(x, op.Multiply(x, 1.5)),
        lambda op, x: op.Add(op.Relu(x), op.Multiply(op.Minimum(x, 0.0), -0.3)),
        lambda op, x: op.Add(op.Maximum(x, 0.0), op.Multiply(op.Minimum(x, 0.0), 0.3)),
        lambda op, x: op.Add(op.Relu(x), op.Minimum(op.Multiply(x, 0.3), 0.0)),
        lambda op, x: op.Subtract(op.Relu(x), op.Multiply(below(op, x), 0.3)),
        lambda op, x: op.Subtract(op.Relu(x), op.Multiply(op.Relu(op.Multiply(x, -1.0)), 0.3)),
        lambda op, x: op.Add(op.Relu(x), op.Multiply(below(op, x), -0.3)),
        lambda op, x: op.Add(op.Multiply(op.Relu(op.Multiply(x, -1.0)), -0.3), op.Relu(x)),
        lambda op, x: op.Add(op.Relu(x), op.Negative(op.Multiply(below(op, x), 0.3))),
        lambda op, x: op.Add(op.Relu(x), op.Multiply(op.Subtract(x, op.Abs(x)), 0.15)),
        lambda op, x: op.Add(op.Relu(x), op.Multiply(op.Multiply(op.Subtract(x, op.Abs(x)), 0.3), 0.5)),
        lambda op, x: op.Add(op.Relu(x), op.Multiply(op.Multiply(op.Subtract(x, op.Abs(x)), 0.5), 0.3)),
        lambda op, x: op.Select(op.Greater(x, 0.0), x, op.Multiply(x, 0.3)),
        lambda op, x: op.Select(op.GreaterEqual(x, 0.0), x, op.Multiply(x, -0.3)),
        lambda op, x: op.Select(op.Less(x, 0.0), op.Multiply(x, 1.3), x),
        lambda op, x: op.Select(op.LessEqual(x, 0.0), op.Multiply(x, 0.3), x),
    ]
    for expression in expressions:
        yield Case((FusePreluPass(),), expression, ("PRelu",))


def mean(op: OpBuilder, x: SSAValue, axes: Sequence[int]) -> SSAValue:
    return op.ReduceMean(x, list(axes), keep_dims=True)


def normalization_cases() -> Iterator[Case]:
    for axes in ((-1,), (1, 2)):
        yield from mean_and_variance_cases(axes)
        yield from unit_length_cases(axes)


def mean_and_variance_cases(axes: Sequence[int]) -> Iterator[Case]:
    def centred(op: OpBuilder, x: SSAValue) -> SSAValue:
        return op.Subtract(x, mean(op, x, axes))

    def variance(op: OpBuilder, x: SSAValue) -> SSAValue:
        return mean(op, op.SquaredDifference(x, mean(op, x, axes)), axes)

    def shared(op: OpBuilder, x: SSAValue) -> SSAValue:
        c = centred(op, x)
        return op.Divide(c, op.Sqrt(op.Add(mean(op, op.Power(c, 2.0), axes), 1e-5)))

    def layer_normalization(op: OpBuilder, x: SSAValue) -> SSAValue:
        m = mean(op, x, axes)
        v = mean(op, op.SquaredDifference(x, m), axes)
        scale = op.Multiply(op.Power(op.Add(v, 1e-3), -0.5), np.linspace(1, 2, 5, dtype=np.float32))
        return op.Add(op.Multiply(x, scale), op.Subtract(np.linspace(-1, 1, 5, dtype=np.float32), op.Multiply(m, scale)))

    expressions: list[tuple[Expression, tuple[str, ...]]] = [
        (shared, ("MVN",)),
        (lambda op, x: op.Divide(centred(op, x), op.Sqrt(op.Add(1e-5, mean(op, op.Power(centred(op, x), 2.0), axes)))), ("MVN",)),
        (lambda op, x: op.Divide(centred(op, x), op.Power(op.Add(variance(op, x), 1e-5), 0.5)), ("MVN",)),
        (lambda op, x: op.Divide(centred(op, x), op.Add(op.Sqrt(variance(op, x)), 1e-5)), ("MVN",)),
        (lambda op, x: op.Multiply(centred(op, x), op.Power(op.Add(variance(op, x), 1e-5), -0.5)), ("MVN",)),
        (lambda op, x: op.Multiply(centred(op, x), op.Divide(one(op, x), op.Sqrt(op.Add(variance(op, x), 1e-5)))), ("MVN",)),
        (lambda op, x: op.Multiply(op.Power(op.Sqrt(op.Add(variance(op, x), 1e-5)), -1.0), centred(op, x)), ("MVN",)),
        (
            lambda op, x: op.Multiply(
                centred(op, x), op.Multiply(op.Power(op.Add(variance(op, x), 1e-5), -0.5), np.linspace(1, 2, 5, dtype=np.float32))
            ),
            ("MVN", "Multiply"),
        ),
        (layer_normalization, ("MVN", "Multiply", "Add")),
    ]
    for expression, left in expressions:
        yield Case((FuseMvnPass(),), expression, left, 2e-4)


def one(op: OpBuilder, x: SSAValue) -> SSAValue:
    return op.constant_like(1.0, x)


def unit_length_cases(axes: Sequence[int]) -> Iterator[Case]:
    def total(op: OpBuilder, x: SSAValue) -> SSAValue:
        return op.ReduceSum(op.Multiply(x, x), list(axes), keep_dims=True)

    def total_of_powers(op: OpBuilder, x: SSAValue) -> SSAValue:
        return op.ReduceSum(op.Power(x, 2.0), list(axes), keep_dims=True)

    def norm(op: OpBuilder, x: SSAValue) -> SSAValue:
        return op.ReduceL2(x, list(axes), keep_dims=True)

    expressions: list[Expression] = [
        lambda op, x: op.Divide(x, op.Sqrt(op.Add(total(op, x), 0.5))),
        lambda op, x: op.Divide(x, op.Sqrt(op.Maximum(total_of_powers(op, x), 30.0))),
        lambda op, x: op.Divide(x, op.Power(op.Add(total_of_powers(op, x), 0.5), 0.5)),
        lambda op, x: op.Divide(x, op.Power(op.Maximum(total(op, x), 30.0), 0.5)),
        lambda op, x: op.Divide(x, op.Maximum(op.Sqrt(total(op, x)), 6.0)),
        lambda op, x: op.Divide(x, op.Maximum(norm(op, x), 6.0)),
        lambda op, x: op.Divide(x, op.Clamp(norm(op, x), min=6.0, max=float(np.finfo(np.float32).max))),
        lambda op, x: op.Divide(x, op.Broadcast(op.Maximum(norm(op, x), 6.0), op.ShapeOf(x), mode="bidirectional")),
        lambda op, x: op.Multiply(x, op.Power(op.Add(total(op, x), 0.5), -0.5)),
        lambda op, x: op.Multiply(op.Power(op.Maximum(total_of_powers(op, x), 30.0), -0.5), x),
        lambda op, x: op.Multiply(x, op.Divide(one(op, x), op.Sqrt(op.Add(total(op, x), 0.5)))),
        lambda op, x: op.Multiply(x, op.Divide(one(op, x), op.Maximum(norm(op, x), 6.0))),
    ]
    for expression in expressions:
        yield Case((FuseNormalizeL2Pass(),), expression, ("NormalizeL2",), 1e-4)
    for kept in (False, True):
        norms: list[tuple[Expression, str]] = [
            (lambda op, x, k=kept: op.Sqrt(op.ReduceSum(op.Multiply(x, x), list(axes), keep_dims=k)), "ReduceL2"),
            (lambda op, x, k=kept: op.Sqrt(op.ReduceSum(op.Power(x, 2.0), list(axes), keep_dims=k)), "ReduceL2"),
            (lambda op, x, k=kept: op.Power(op.ReduceSum(op.Multiply(x, x), list(axes), keep_dims=k), 0.5), "ReduceL2"),
            (lambda op, x, k=kept: op.Power(op.ReduceSum(op.Power(x, 2.0), list(axes), keep_dims=k), 0.5), "ReduceL2"),
            (lambda op, x, k=kept: op.ReduceSum(op.Abs(x), list(axes), keep_dims=k), "ReduceL1"),
        ]
        for expression, kind in norms:
            yield Case((FuseReducePass(),), expression, (kind,))


CASES = [
    *hard_cases(),
    *smooth_cases(),
    *gelu_cases(),
    *limit_cases(),
    *rectifier_cases(),
    *normalization_cases(),
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.passes[-1].name}-{'-'.join(case.left)}")
def test_fusion_computes_the_same(case: Case, form: str) -> None:
    module = build(case.expression, FORMS[form])
    before = to_openvino(module)
    assert sorted(kinds(apply(module, *case.passes))) == sorted(case.left)
    expected, actual = computed(before, to_openvino(module))
    np.testing.assert_allclose(actual, expected, rtol=case.tolerance, atol=case.tolerance)


HALF_CASES = [case for case in CASES if case.passes[-1].name in ("fuse-gelu", "fuse-hswish", "fuse-prelu", "fuse-clamp")]


@pytest.mark.parametrize("case", HALF_CASES, ids=lambda case: f"{case.passes[-1].name}-{'-'.join(case.left)}")
def test_constants_of_half_precision_are_recognized(case: Case) -> None:
    module = apply(build(case.expression, SHAPE, element_types.f16), *case.passes)
    assert sorted(kinds(module)) == sorted(case.left)
    models = [to_openvino(module), to_openvino(build(case.expression, SHAPE))]
    (actual,), (expected,) = run_together(models, [[samples().astype(np.float16)], [samples()]])
    np.testing.assert_allclose(actual, expected, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("axis", [0, 1])
def test_slope_of_each_channel(axis: int) -> None:
    slope = np.linspace(-1, 1, 3, dtype=np.float32).reshape((1, 3, 1, 1) if axis == 0 else (3, 1, 1))
    module = build(lambda op, x: op.Maximum(x, op.Multiply(x, slope)), SHAPE)
    before = to_openvino(module)
    assert kinds(apply(module, FusePreluPass())) == ["PRelu"]
    expected, actual = computed(before, to_openvino(module))
    np.testing.assert_allclose(actual, expected, rtol=1e-6)


def test_slope_along_the_last_dimension() -> None:
    slope = np.linspace(-1, 1, 5, dtype=np.float32)
    module = build(lambda op, x: op.Select(op.Greater(x, 0.0), x, op.Multiply(x, slope)), SHAPE)
    before = to_openvino(module)
    assert kinds(apply(module, FusePreluPass())) == ["PRelu"]
    expected, actual = computed(before, to_openvino(module))
    np.testing.assert_allclose(actual, expected, rtol=1e-6)
