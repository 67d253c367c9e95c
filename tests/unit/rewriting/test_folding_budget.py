"""What folding may take is in proportion to the model."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from xdsl.ir import Block, Operation, SSAValue

from moir.analysis import folding_budget
from moir.analysis.folding_budget import FoldingBudget
from moir.analysis.known_values import KnownValues
from moir.dialects.element_types import f32, string
from moir.dialects.opset.infrastructure import Constant, Result
from moir.rewriting.builder import OpBuilder
from moir.rewriting.folding import Folding

KILOBYTE = np.ones(256, np.float32)


@pytest.fixture(autouse=True)
def limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten kilobytes and a hundred thousand steps, besides what the constants of the model give."""
    monkeypatch.setattr(folding_budget, "FREE_BYTES", 10 << 10)
    monkeypatch.setattr(folding_budget, "FREE_STEPS", 100_000)
    monkeypatch.setattr(folding_budget, "GROWTH", 0)
    monkeypatch.setattr(folding_budget, "STEPS_PER_BYTE", 0)


def folded(build: Callable[[OpBuilder], SSAValue | Iterator[SSAValue]]) -> list[Operation]:
    """The operations that give the results, after folding."""
    block = Block()
    built = build(OpBuilder(KnownValues(), block))
    results = [Result.create(operands=[each]) for each in ([built] if isinstance(built, SSAValue) else built)]
    block.add_ops(results)
    Folding(False, FoldingBudget(block.ops)).fold(block.ops)
    return [each.operands[0].owner for each in results]


def doubled(op: OpBuilder, value: SSAValue, times: int) -> SSAValue:
    for _ in range(times):
        value = op.Concat(value, value, axis=0)
    return value


def test_a_value_is_joined_with_itself_until_it_is_too_large() -> None:
    """Each step replaces its operand, which it uses twice: it counts once."""
    assert isinstance(folded(lambda op: doubled(op, op.constant(KILOBYTE), 3))[0], Constant)
    (last,) = folded(lambda op: doubled(op, op.constant(KILOBYTE), 20))
    assert last.name == "opset1.Concat"


def test_an_operand_that_others_use_is_not_replaced() -> None:
    def sums(op: OpBuilder) -> Iterator[SSAValue]:
        shared = op.constant(np.ones(1024, np.float32))
        for number in range(4):
            yield op.Add(shared, op.constant(float(number)))

    actual = [isinstance(each, Constant) for each in folded(sums)]
    assert actual == [True, True, False, False]


def test_constants_of_the_model_count_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folding_budget, "GROWTH", 4)
    monkeypatch.setattr(folding_budget, "STEPS_PER_BYTE", 256)
    assert isinstance(folded(lambda op: op.Concat(*[op.constant(np.ones(65536, np.float32))] * 2, axis=0))[0], Constant)
    # One number that has many places by its strides is no large constant.
    wide = np.broadcast_to(np.float32(1), (65536,))
    assert not isinstance(folded(lambda op: op.Concat(*[op.constant(wide)] * 2, axis=0))[0], Constant)


def vectors(count: int, size: int) -> Callable[[OpBuilder], SSAValue]:
    """An Einsum of vectors without a common index."""
    letters = "abcdefgh"[:count]
    return lambda op: op.Einsum(*[op.constant(np.ones(size, np.float32))] * count, equation=f"{','.join(letters)}->")


def test_products_of_many_steps_are_not_folded() -> None:
    assert isinstance(folded(vectors(2, 100))[0], Constant)
    assert folded(vectors(8, 100))[0].name == "opset7.Einsum"

    def product(op: OpBuilder) -> SSAValue:
        return op.MatMul(op.constant(np.ones((4, 100_000), np.int64)), op.constant(np.ones((100_000, 4), np.int64)))

    assert folded(product)[0].name == "opset1.MatMul"


def test_known_values_are_not_computed_in_many_steps() -> None:
    op = OpBuilder(KnownValues(), Block())
    assert op.known.constant(vectors(2, 100)(op)) is not None
    assert op.known.constant(vectors(8, 100)(op)) is None


def test_sorting_counts_more_than_adding() -> None:
    numbers = np.arange(300, dtype=np.float32)
    actual = folded(lambda op: (op.Unique.results(op.constant(numbers))[0] for _ in range(3)))
    assert [each.name for each in actual] != ["opset1.Constant"] * 3
    assert isinstance(actual[0], Constant)


def test_strings_that_are_the_same_bytes_count_each() -> None:
    def packed(op: OpBuilder, count: int) -> SSAValue:
        symbols = op.constant(np.full(4096, 97, np.uint8))
        return op.StringTensorPack(op.constant(np.zeros(count, np.int32)), op.constant(np.full(count, 4096, np.int32)), symbols)

    assert isinstance(folded(lambda op: packed(op, 2))[0], Constant)
    assert folded(lambda op: packed(op, 20))[0].name == "opset15.StringTensorPack"


def test_bytes_of_strings_count() -> None:
    long = np.array(["a" * 9000], object)
    actual = folded(lambda op: (op.Concat(op.constant(long, string), op.constant(long, string), axis=0) for _ in range(2)))
    assert [isinstance(each, Constant) for each in actual] == [True, True]
    shared = folded(lambda op: (op.Concat(*[op.constant(long, string)] * 3, axis=0) for _ in range(2)))
    assert not isinstance(shared[1], Constant)


def test_a_result_without_memory_is_left_to_the_runtime(monkeypatch: pytest.MonkeyPatch) -> None:
    def evaluate(*_: object) -> None:
        raise MemoryError

    def build(op: OpBuilder) -> SSAValue:
        value = op.Exp(op.constant(KILOBYTE, f32))
        monkeypatch.setattr(type(value.owner), "evaluate", evaluate)
        return value

    assert folded(build)[0].name == "opset1.Exp"
