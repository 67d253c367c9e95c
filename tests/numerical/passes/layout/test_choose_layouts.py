"""`choose-layouts` on networks: the same results, no more operations, and as few transpositions as there can be."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue

from moir.analysis.analyses import Analyses
from moir.analysis.known_values import KnownValues
from moir.dialects.element_types import boolean, f32
from moir.dialects.moir import BodyPort, ModelOp, Slicing, models_of
from moir.dialects.names import tensor_names_of
from moir.dialects.opset.control_flow import If, Loop
from moir.dialects.opset.infrastructure import Result
from moir.dialects.properties import strings_attribute
from moir.dialects.shapes import shape_of, tensor
from moir.passes.canonicalize.reshape_unit_transposes import ReshapeUnitTransposesPass
from moir.passes.layout import minimum_cut
from moir.passes.layout.application import Application
from moir.passes.layout.choose_layouts import ChooseLayoutsPass
from moir.passes.layout.minimum_cut import SOURCE, Network
from moir.passes.layout.regions import Layouts
from moir.rewriting.builder import OpBuilder
from moir.rewriting.operations_with_bodies import create_with_bodies
from tests.numerical.passes.layout.modules import Array, Build, body, check_equal, kinds, module_of, parameter, result

FIRST, LAST = np.array([0, 3, 1, 2]), np.array([0, 2, 3, 1])
"""Orders that make channel-last tensors channel-first, and back."""


def numbers(*shape: int) -> Array:
    """Weights."""
    return np.random.default_rng(sum(shape)).uniform(0.5, 1.5, shape).astype(np.float32)


def pool(op: OpBuilder, x: SSAValue) -> SSAValue:
    """A channel-last operation, as it is lowered."""
    window = {"strides": [1, 1], "dilations": [1, 1], "pads_begin": [1, 1], "pads_end": [1, 1], "kernel": [3, 3]}
    return op.Transpose(op.MaxPool(op.Transpose(x, FIRST), **window), LAST)


def convolution(op: OpBuilder, x: SSAValue, inputs: int, outputs: int) -> SSAValue:
    """A channel-last convolution with a bias."""
    window = {"strides": [1, 1], "dilations": [1, 1], "pads_begin": [1, 1], "pads_end": [1, 1]}
    value = op.Convolution(op.Transpose(x, FIRST), numbers(outputs, inputs, 3, 3) * 0.1, **window)
    return op.Add(op.Transpose(value, LAST), numbers(outputs))


def choose(module: ModuleOp) -> ModuleOp:
    """Apply the pass."""
    ChooseLayoutsPass().apply(Context(), module)
    module.verify()
    return module


def check(build: Build, shapes: Sequence[Sequence[int]], transposes: int, *, dynamic: bool = True) -> ModuleOp:
    """The pass leaves so many transpositions, no more operations, and the results as they are."""
    before, after = (module_of(build, shapes, dynamic=dynamic) for _ in range(2))
    choose(after)
    check_equal(before, after, shapes)
    assert kinds(after)["Transpose"] == transposes, kinds(after)
    assert kinds(after).total() <= kinds(before).total()
    return after


def test_chain() -> None:
    check(lambda op, x: [op.Relu(convolution(op, op.Relu(convolution(op, x[0], 4, 5)), 5, 6))], [(1, 5, 6, 4)], 2)


def test_residual_block() -> None:
    def build(op: OpBuilder, x: list[SSAValue]) -> list[SSAValue]:
        y = convolution(op, x[0], 4, 4)
        for _ in range(3):
            y = op.Relu(op.Add(y, convolution(op, op.Relu(convolution(op, y, 4, 4)), 4, 4)))
        return [y]

    check(build, [(2, 5, 6, 4)], 2)


def test_skip_connection_from_the_input() -> None:
    check(lambda op, x: [op.Add(convolution(op, x[0], 4, 4), x[0])], [(2, 5, 6, 4)], 2)


def test_squeeze_and_excitation() -> None:
    def build(op: OpBuilder, x: list[SSAValue]) -> list[SSAValue]:
        y = convolution(op, x[0], 4, 6)
        scale = op.ReduceMean(y, np.array([1, 2]), keep_dims=False)
        scale = op.Reshape(scale, np.array([0, 1, 1, 6]), special_zero=True)
        scale = op.Sigmoid(convolution(op, scale, 6, 6))
        return [convolution(op, op.Multiply(y, scale), 6, 3)]

    check(build, [(2, 5, 6, 4)], 2)


def test_concat_of_branches() -> None:
    def build(op: OpBuilder, x: list[SSAValue]) -> list[SSAValue]:
        a, b = convolution(op, x[0], 4, 2), pool(op, x[0])
        y = op.Concat(op.Relu(a), b, axis=3)
        left, right = op.Split.results(y, np.int64(-1), num_splits=2)
        return [op.Add(convolution(op, left, 3, 3), op.Clamp(right, min=0, max=6))]

    check(build, [(2, 5, 6, 4)], 2)


def test_padding_and_strided_slice() -> None:
    def build(op: OpBuilder, x: list[SSAValue]) -> list[SSAValue]:
        y = op.Pad(x[0], np.array([0, 1, 2, 0]), np.array([0, 1, 2, 0]), pad_mode="constant")
        y = convolution(op, y, 4, 4)
        y = op.StridedSlice(y, np.array([0, 1, 1, 0]), np.array([0, -1, -1, 0]), begin_mask=[1, 0, 0, 1], end_mask=[1, 0, 0, 1])
        return [op.Softmax(pool(op, y), axis=-1)]

    check(build, [(2, 5, 6, 4)], 2)


def test_outputs_in_both_orders() -> None:
    def build(op: OpBuilder, x: list[SSAValue]) -> list[SSAValue]:
        y = op.Relu(convolution(op, x[0], 4, 5))
        return [y, pool(op, y), op.Transpose(y, FIRST)]

    check(build, [(2, 5, 6, 4)], 3)


def test_a_transpose_that_pays_stays() -> None:
    # Nothing cancels: the one transposition stays where it is.
    check(lambda op, x: [op.Relu(op.Transpose(op.Exp(x[0]), LAST))], [(2, 3, 4, 5)], 1)


def test_shape_of_a_transposed_tensor() -> None:
    def build(op: OpBuilder, x: list[SSAValue]) -> list[SSAValue]:
        y = pool(op, x[0])
        size = op.Gather(op.ShapeOf(y), np.array([1, 2]), np.int64(0))
        axes = np.array([2, 3])
        z = op.Interpolate(op.Transpose(pool(op, y), FIRST), size, axes, mode="nearest", shape_calculation_mode="sizes")
        return [op.Transpose(z, LAST)]

    check(build, [(2, 5, 6, 4)], 2)


def test_five_dimensions_and_three() -> None:
    def build(op: OpBuilder, x: list[SSAValue]) -> list[SSAValue]:
        volume, sequence = x
        first, last = np.array([0, 4, 1, 2, 3]), np.array([0, 2, 3, 4, 1])
        window = {"strides": [1], "dilations": [1], "pads_begin": [1], "pads_end": [1]}
        for _ in range(2):
            volume = op.Elu(
                op.Transpose(op.MaxPool(op.Transpose(volume, first), **{k: v * 3 for k, v in window.items()}, kernel=[3] * 3), last),
                alpha=1.0,
            )
            sequence = op.Transpose(op.MaxPool(op.Transpose(sequence, np.array([0, 2, 1])), **window, kernel=[3]), np.array([0, 2, 1]))
            sequence = op.Multiply(sequence, numbers(4))
        return [volume, sequence]

    check(build, [(1, 3, 4, 5, 2), (2, 7, 4)], 4)


def loop(op: OpBuilder, build: Build, states: Sequence[SSAValue], sliced: Sequence[SSAValue] = (), *, axis: int = 1) -> list[SSAValue]:
    """A Loop of three iterations: states, then slices of operands; results are the states and all values of the first, joined."""
    types = [state.type for state in states] + [tensor((-1, -1, -1, -1), f32) for _ in sliced]

    def inside(inner: OpBuilder, parameters: list[SSAValue]) -> list[SSAValue]:
        return [inner.constant(np.array(True), boolean), *build(inner, parameters)]

    region = body(inside, types, op)
    inputs = [BodyPort(2 + index, back_edge=1 + index) for index in range(len(states))]
    inputs += [BodyPort(2 + len(states) + index, slicing=Slicing(axis)) for index in range(len(sliced))]
    outputs = [BodyPort(1 + index) for index in range(len(states))] + [BodyPort(1, slicing=Slicing(axis))]
    operands = [op.constant(np.int64(3)), op.constant(np.array(True), boolean), *states, *sliced]
    properties = {"inputs": inputs, "outputs": outputs, "condition": 0}
    return create_with_bodies(op, Loop, operands, properties, [region])


def test_state_of_a_loop() -> None:
    def build(op: OpBuilder, x: list[SSAValue]) -> list[SSAValue]:
        y = pool(op, x[0])
        state, joined = loop(op, lambda inner, p: [inner.Relu(pool(inner, p[0]))], [y])
        return [pool(op, state), pool(op, joined)]

    after = check(build, [(2, 1, 6, 4)], 3)
    assert not [op for op in after.walk() if op.name == "opset1.Transpose" and isinstance(op.parent_op(), Loop)]


def test_slices_of_a_loop() -> None:
    def build(op: OpBuilder, x: list[SSAValue]) -> list[SSAValue]:
        y = pool(op, x[0])
        state, joined = loop(op, lambda inner, p: [inner.Add(pool(inner, p[0]), pool(inner, p[1]))], [pool(op, x[1])], [y], axis=1)
        return [pool(op, state), op.Relu(joined)]

    check(build, [(2, 3, 6, 4), (2, 1, 6, 4)], 4)


def test_bodies_of_a_condition() -> None:
    def build(op: OpBuilder, x: list[SSAValue]) -> list[SSAValue]:
        y = pool(op, x[0])
        condition = op.Greater(op.ReduceMax(x[0], np.array([0, 1, 2, 3]), keep_dims=False), 0.0)
        bodies = [
            body(lambda inner, p: [inner.Relu(pool(inner, p[0]))], [y.type], op),
            body(lambda inner, p: [inner.Exp(p[0])], [y.type], op),
        ]
        actual = create_with_bodies(op, If, [condition, y], {"then_inputs": [1], "else_inputs": [1]}, bodies)
        return [pool(op, actual[0])]

    check(build, [(2, 5, 6, 4)], 2)


def random_network(seed: int, size: int) -> Build:
    """A network of random operations on channel-last tensors of one shape."""

    def build(op: OpBuilder, x: list[SSAValue]) -> list[SSAValue]:
        random = np.random.default_rng(seed)
        values = list(x)
        steps = (
            lambda a, _: op.Relu(a),
            lambda a, b: op.Add(a, b),
            lambda a, _: op.Multiply(a, numbers(4)),
            lambda a, _: pool(op, a),
            lambda a, b: pool(op, op.Add(a, b)),
            lambda a, _: op.Softmax(a, axis=-1),
            lambda a, b: op.Concat(*op.Split.results(op.Concat(a, b, axis=3), np.int64(3), num_splits=4)[1:3], axis=-1),
            lambda a, b: op.Subtract(a, op.ReduceMean(b, np.array([1, 2]), keep_dims=True)),
            lambda a, b: op.Multiply(a, op.Unsqueeze(op.ReduceMax(b, np.array([3]), keep_dims=False), np.array([3]))),
            lambda a, _: op.Transpose(op.Sin(op.Transpose(a, FIRST)), LAST),
        )
        for _ in range(size):
            a, b = (values[-1 - int(random.integers(min(4, len(values))))] for _ in range(2))
            values.append(steps[random.integers(len(steps))](a, b))
        return values[-2:]

    return build


@pytest.mark.parametrize("seed", range(8))
def test_random_networks(seed: int) -> None:
    shapes = [(2, 5, 6, 4), (2, 5, 6, 4)]
    before, after = (module_of(random_network(seed, 25), shapes, dynamic=seed % 2 == 0) for _ in range(2))
    choose(after)
    check_equal(before, after, shapes)
    assert kinds(after)["Transpose"] <= kinds(before)["Transpose"]
    assert kinds(after).total() <= kinds(before).total()
    again = kinds(after).total()
    assert kinds(choose(after)).total() == again


@pytest.mark.parametrize("seed", range(8))
def test_no_choice_is_better(seed: int) -> None:
    build, shapes = random_network(100 + seed, 5), [(2, 5, 6, 4)]
    chosen = kinds(choose(module_of(build, shapes))).total()
    count = len(Layouts(Analyses(module_of(build, shapes))).node_of)
    assert count <= 11
    for choices in product((False, True), repeat=count):
        module = module_of(build, shapes)
        layouts = Layouts(Analyses(module))
        for node, is_permuted in zip(layouts.node_of.values(), choices, strict=True):
            node.is_permuted = is_permuted
        Application(layouts).run([model.block for model in models_of(module)])
        assert chosen <= kinds(module).total()


@pytest.mark.parametrize("seed", range(3))
def test_a_region_too_large_for_the_best_choice(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minimum_cut, "MAXIMUM_WORK", -1)
    shapes = [(2, 5, 6, 4), (2, 5, 6, 4)]
    before, after = (module_of(random_network(seed, 25), shapes) for _ in range(2))
    choose(after)
    check_equal(before, after, shapes)
    assert kinds(after).total() <= kinds(before).total()


def test_ones_are_reshaped() -> None:
    def build(op: OpBuilder, x: list[SSAValue]) -> list[SSAValue]:
        y = op.Convolution(x[0], numbers(5, 4, 3, 3), strides=[1, 1], dilations=[1, 1], pads_begin=[1, 1], pads_end=[1, 1])
        means = op.ReduceMean(y, np.array([2, 3]), keep_dims=True)
        rows = op.ReduceMax(y, np.array([0, 3]), keep_dims=True)
        return [op.Transpose(means, LAST), op.Transpose(rows, LAST), op.Transpose(rows, np.array([0, 1, 3, 2])), op.Transpose(y, LAST)]

    shapes = [(2, 4, 6, 3)]
    before, after = (module_of(build, shapes, dynamic=True) for _ in range(2))
    ReshapeUnitTransposesPass().apply(Context(), after)
    after.verify()
    check_equal(before, after, shapes)
    # Channels and rows change places in the second one, and everything does in the last.
    assert (kinds(after)["Reshape"], kinds(after)["Transpose"]) == (2, 2)


def test_names_go_with_the_layout_of_the_framework() -> None:
    block = Block()
    op = OpBuilder(KnownValues(), block)
    x = parameter(op, (2, 5, 6, 4))
    relu = op.Relu(pool(op, x))
    exp = op.Exp(pool(op, relu))
    for value, name in ((relu, "relu:0"), (exp, "exp:0"), (relu.owner.operands[0], "pool:0")):
        value.owner.attributes["tensor_names"] = strings_attribute([name])
    result(op, exp)
    result(op, relu.owner.operands[0])
    module = choose(ModuleOp([ModelOp.of("case", block)]))
    named = {name: each for each in module.walk() for name in tensor_names_of(each) if name}
    # The Relu is channel-first now, and nobody wants its value in the layout the name stands for.
    assert sorted(named) == ["exp:0", "pool:0"]
    assert all(shape_of(each.results[0]) == (2, 5, 6, 4) for each in named.values())
    outputs = [each.operands[0] for each in block.ops if isinstance(each, Result)]
    assert [tensor_names_of(value.owner)[0] for value in outputs] == ["exp:0", "pool:0"]


def test_a_large_network_is_one_region() -> None:
    def build(op: OpBuilder, x: list[SSAValue]) -> list[SSAValue]:
        y = x[0]
        for _ in range(600):
            y = op.Relu(op.Add(y, pool(op, op.Relu(pool(op, y)))))
        return [y]

    module = module_of(build, [(2, 5, 6, 4)])
    choose(module)
    assert kinds(module)["Transpose"] == 2


def test_minimum_cut() -> None:
    network = Network()
    a, b, c = (network.node() for _ in range(3))
    for start, end, capacity in ((SOURCE, a, 5), (a, b, 2), (b, c, 4), (a, c, 1), (c, 1, 9), (SOURCE, c, 1)):
        network.connect(start, end, capacity)
    assert network.cuts() == ([True, False, True, False, False], [True, False, True, False, False])
