"""Recurrent cells in the bodies of loops: recognition, and their weights in the layout of opset4.LSTMCell.

Recognized cells have data x and states h and c; their gates are affine forms of x and h:

    LSTM   c' = s(f) · c + s(i) · t(g)         h' = s(o) · t(c')
    GRU    h' = s(z) · h + (1 - s(z)) · t(a)   a an affine form of x and s(r) · h, or one of x plus s(r) times one of h
    RNN    h' = t(affine form of x and h)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import scalar_of
from moir.dialects.data import Array
from moir.dialects.shapes import shape_of
from moir.passes.fuse.recurrent.affine_forms import Affine, AffineForms

ACTIVATIONS = {"opset1.Sigmoid": "sigmoid", "opset1.Tanh": "tanh", "opset1.Relu": "relu"}


class Cell(NamedTuple):
    """A recurrent cell with its weights in the layout of opset4.LSTMCell, G the number of gates, I the input size.

    W is [G · H, I], R [G · H, H], and B [G · H] or, with `linear_before_reset`, [4 · H].
    """

    kind: str
    w: Array
    r: Array
    b: Array
    activations: tuple[str, ...]
    linear_before_reset: bool = False

    @property
    def hidden_size(self) -> int:
        """The hidden size H."""
        return self.r.shape[1]


class Activated(NamedTuple):
    """An activation function and its operand."""

    name: str
    value: SSAValue


def activated(value: SSAValue) -> Activated | None:
    """The activation that computes a value, with its operand; None if another operation computes it."""
    op = value.owner
    name = ACTIVATIONS.get(op.name) if isinstance(op, Operation) else None
    return None if name is None or not isinstance(op, Operation) else Activated(name, op.operands[0])


def orders(value: SSAValue, kind: str) -> Iterator[tuple[SSAValue, SSAValue]]:
    """Yields the operands of a sum or product (an operation of `kind`) in both orders; yields nothing for other
    values.
    """
    op = value.owner
    if isinstance(op, Operation) and op.name == kind:
        a, b = op.operands
        yield a, b
        yield b, a


def _stacked(gates: Sequence[Affine], x: SSAValue, h: SSAValue) -> tuple[Array, Array, Array] | None:
    """The stacked W, R and B of gates; None unless each gate is an affine form of x and h with the width of h."""
    size = (shape_of(h) or (-1,))[-1]
    if any(gate.width != size or not gate.weights.keys() <= {x, h} for gate in gates):
        return None
    width = (shape_of(x) or (-1,))[-1]
    dtype = gates[0].bias.dtype
    w = [gate.weights.get(x, np.zeros((width, size), dtype)).T for gate in gates]
    r = [gate.weights.get(h, np.zeros((size, size), dtype)).T for gate in gates]
    return np.concatenate(w), np.concatenate(r), np.concatenate([gate.bias for gate in gates])


def lstm_cell(x: SSAValue, h: SSAValue, c: SSAValue, new_h: SSAValue, new_c: SSAValue) -> Cell | None:
    """The LSTM cell that computes the new states; None if they are computed otherwise."""
    forms = AffineForms(x, h)
    for a, b in orders(new_h, "opset1.Multiply"):
        out, activation = activated(a), activated(b)
        if out is None or activation is None or activation.value is not new_c:
            continue
        for kept, added in orders(new_c, "opset1.Add"):
            for forget, state in orders(kept, "opset1.Multiply"):
                if state is not c or (f := activated(forget)) is None or f.name != out.name:
                    continue
                for entering, candidate in orders(added, "opset1.Multiply"):
                    i, g = activated(entering), activated(candidate)
                    if i is None or g is None or i.name != f.name:
                        continue
                    gates = [forms.of(each.value) for each in (f, i, g, out)]
                    known = [gate for gate in gates if gate is not None]
                    weights = _stacked(known, x, h) if len(known) == 4 else None
                    if weights is not None:
                        return Cell("LSTM", *weights, (f.name, g.name, activation.name))
    return None


def gru_cell(x: SSAValue, h: SSAValue, new_h: SSAValue) -> Cell | None:
    """The GRU cell that computes the new state; None if it is computed otherwise."""
    for z, state, a in gated_update(new_h):
        if state is h and (cell := _gru(x, h, z, a)) is not None:
            return cell
    return None


def gated_update(value: SSAValue) -> Iterator[tuple[Activated, SSAValue, Activated]]:
    """Yields the gate z, the state h and the candidate a of a value z · h + (1 - z) · a; yields nothing for other
    values.
    """
    for kept, added in orders(value, "opset1.Add"):
        for update, state in orders(kept, "opset1.Multiply"):
            if (z := activated(update)) is None:
                continue
            for rest, candidate in orders(added, "opset1.Multiply"):
                if _is_rest(rest, update) and (a := activated(candidate)) is not None:
                    yield z, state, a


def _is_rest(value: SSAValue, gate: SSAValue) -> bool:
    """Whether a value is 1 minus the gate."""
    op = value.owner
    return isinstance(op, Operation) and op.name == "opset1.Subtract" and op.operands[1] is gate and scalar_of(op.operands[0]) == 1


def _gru(x: SSAValue, h: SSAValue, z: Activated, a: Activated) -> Cell | None:
    forms = AffineForms(x, h)
    update = forms.of(z.value)
    if update is None:
        return None
    for data, product in orders(a.value, "opset1.Add"):
        for reset, recurrent in orders(product, "opset1.Multiply"):
            gate = activated(reset)
            if gate is None or gate.name != z.name:
                continue
            parts = [forms.of(each) for each in (gate.value, data, recurrent)]
            known = [part for part in parts if part is not None]
            if len(known) == 3 and h not in known[1].weights and x not in known[2].weights:
                weights = _stacked([update, known[0], known[1] + known[2]], x, h)
                if weights is not None:
                    w, r, b = weights
                    bias = np.concatenate([b[: -known[1].width], known[1].bias, known[2].bias])
                    return Cell("GRU", w, r, bias, (z.name, a.name), linear_before_reset=True)
    return _gru_reset_first(x, h, z, a, update)


def _gru_reset_first(x: SSAValue, h: SSAValue, z: Activated, a: Activated, update: Affine) -> Cell | None:
    forms = AffineForms(x, h)
    for use in h.uses:
        product = use.operation
        if product.name != "opset1.Multiply":
            continue
        gate = activated(product.operands[1 - use.index])
        candidate = AffineForms(x, product.results[0]).of(a.value)
        reset = None if gate is None or gate.name != z.name else forms.of(gate.value)
        if candidate is None or reset is None:
            continue
        weights = {h if base is product.results[0] else base: matrix for base, matrix in candidate.weights.items()}
        stacked = _stacked([update, reset, Affine(weights, candidate.bias)], x, h)
        if stacked is not None:
            return Cell("GRU", *stacked, (z.name, a.name))
    return None


def rnn_cell(x: SSAValue, h: SSAValue, new_h: SSAValue) -> Cell | None:
    """The RNN cell that computes the new state; None if it is computed otherwise."""
    activation = activated(new_h)
    form = None if activation is None else AffineForms(x, h).of(activation.value)
    weights = None if form is None or h not in form.weights else _stacked([form], x, h)
    return None if weights is None or activation is None else Cell("RNN", *weights, (activation.name,))
