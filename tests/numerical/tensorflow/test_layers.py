"""A part of the layer tests of TensorFlow, with static and with dynamic shapes: none is a defect but those that are known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args
from zlib import crc32

import pytest

from tests.fuzz.even_draw import EvenDraw
from tests.fuzz.runner import GENERATOR_FAILED
from tests.numerical.outcomes import DEFECTS, Judgement, died
from tests.numerical.tensorflow.layers.case import Form
from tests.numerical.tensorflow.layers.suite import run_test, suite
from tests.numerical.workers import Died, Say, Workers

PART = 34
"""One in so many tests is run; `benchmarks/tensorflow_layers.py` runs all."""

Item = tuple[str, Form]

KNOWN: dict[Item, str] = {}
"""Tests that are defects, with the reason."""


def run_item(item: Item, say: Say) -> Judgement:
    """The task of a worker."""
    return run_test(item[0], say, item[1])


@pytest.fixture(scope="module")
def judgements() -> Mapping[Item, Judgement]:
    items: list[Item] = [(name, form) for name in suite() if crc32(name.encode()) % PART == 0 for form in get_args(Form)]
    workers: Workers[Item, Judgement] = Workers(run_item)
    return {item: died(answer) if isinstance(answer, Died) else answer for item, answer in workers.run(items)}


def test_a_part_of_the_suite(judgements: Mapping[Item, Judgement]) -> None:
    assert len(judgements) > 200
    defects = {item: each for item, each in judgements.items() if each.outcome in DEFECTS}
    new = [f"{item}: {each.outcome}: {each.message}" for item, each in defects.items() if item not in KNOWN]
    assert not new, "\n".join(new)
    mended = KNOWN.keys() - defects.keys()
    assert not mended, f"take these out of the list: {sorted(mended)}"


def test_every_test_can_be_made(judgements: Mapping[Item, Judgement]) -> None:
    assert not [f"{item}: {each.message}" for item, each in judgements.items() if each.message.startswith(GENERATOR_FAILED)]


def test_choices_are_spread_evenly() -> None:
    """Every choice occurs about equally often, and pairs of choices do."""
    draws = [EvenDraw("Pad", variant) for variant in range(60)]
    pairs = [(draw.one_of("abc"), draw.chance(0.5)) for draw in draws]
    assert all(15 <= [letter for letter, _ in pairs].count(each) <= 25 for each in "abc")
    assert len(set(pairs)) == 6
    assert {draw.integer(2, 5) for draw in draws} == {2, 3, 4, 5}
