"""A user's graph of TensorFlow 1 feeds a recurrent cell its weights, and nothing says the size of its state."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.numerical.runtime import Array
from tests.numerical.tensorflow.conversion import check

raw = tf.raw_ops
HIDDEN, GATES = 4, {"GRU": 2, "LSTM": 4}


def operands(kind: str) -> dict[str, Array]:
    random = np.random.default_rng(0)
    shapes = {"x": (2, 3), "h": (2, HIDDEN), "w": (3 + HIDDEN, GATES[kind] * HIDDEN), "b": (GATES[kind] * HIDDEN,)}
    more = {"w_c": (3 + HIDDEN, HIDDEN), "b_c": (HIDDEN,)} if kind == "GRU" else {"c": (2, HIDDEN), "p": (HIDDEN,)}
    return {name: random.uniform(-1, 1, shape).astype(np.float32) for name, shape in {**shapes, **more}.items()}


@pytest.mark.parametrize("every", [True, False])
def test_gated_cell(every: bool) -> None:
    def build(x: Any, h: Any, w: Any, b: Any, w_c: Any, b_c: Any) -> Any:
        actual = raw.GRUBlockCell(x=x, h_prev=h, w_ru=w, w_c=w_c, b_ru=b, b_c=b_c)
        return actual if every else actual.h

    check(build, operands("GRU"))


@pytest.mark.parametrize("peephole", [True, False])
@pytest.mark.parametrize("every", [True, False])
def test_long_short_term_cell(peephole: bool, every: bool) -> None:
    def build(x: Any, h: Any, w: Any, b: Any, c: Any, p: Any) -> Any:
        peepholes = {"wci": p, "wcf": 2 * p, "wco": -p}
        actual = raw.LSTMBlockCell(x=x, cs_prev=c, h_prev=h, w=w, b=b, use_peephole=peephole, cell_clip=-1.0, **peepholes)
        return actual if every else actual.h

    check(build, operands("LSTM"))


@pytest.mark.parametrize("kind", [raw.BlockLSTM, raw.BlockLSTMV2])
@pytest.mark.parametrize("every", [True, False])
def test_steps(kind: Any, every: bool) -> None:
    def build(x: Any, h: Any, w: Any, b: Any, c: Any, p: Any) -> Any:
        actual = kind(seq_len_max=5, x=x, cs_prev=c, h_prev=h, w=w, b=b, wci=p, wcf=p, wco=p)
        return actual if every else actual.h

    steps = np.random.default_rng(1).uniform(-1, 1, (5, 2, 3)).astype(np.float32)
    check(build, {**operands("LSTM"), "x": steps})


def test_size_that_one_operand_says() -> None:
    """The state says the size, and the cell of the runtime is used."""

    def build(x: Any, h: Any, w: Any, b: Any, w_c: Any, b_c: Any) -> Any:
        return raw.GRUBlockCell(x=x, h_prev=h, w_ru=w, w_c=w_c, b_ru=b, b_c=b_c).h

    check(build, operands("GRU"), forms=("dynamic",), fixed=("h",))
