"""Unrolled recurrent cells, one for each step of a sequence: the steps, and the chains that they form.

A step computes its hidden state, and for LSTM its cell state, from data and the states of the step before. The steps of
one sequence share their weights. `recurrent_cells` defines the forms of cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of, is_constant
from moir.dialects.opset.arithmetic import Add, Multiply, Subtract
from moir.dialects.opset.matrix import MatMul
from moir.dialects.opset.movement import Concat, Split, VariadicSplit
from moir.dialects.opset.slicing import Slice
from moir.passes.fuse.recurrent.affine_forms import AffineForms
from moir.passes.fuse.recurrent.recurrent_cells import ACTIVATIONS, Cell, activated, gated_update, gru_cell, lstm_cell, orders, rnn_cell

LARGEST_STEP = 64
"""The maximum number of operations of a step."""


@dataclass
class CellStep:
    """A candidate for a step of a sequence.

    Args:
        kind: "LSTM", "GRU" or "RNN".
        following: the states that the step computes, the hidden state first.
        state: the initial state that follows from the form of the cell: the cell state of LSTM, the hidden state of
            GRU; None for RNN.
        bases: the values that it multiplies with constant matrices.
        weights: these matrices.
        previous: the step before.
    """

    kind: str
    following: tuple[SSAValue, ...]
    state: SSAValue | None
    bases: list[SSAValue]
    weights: set[SSAValue]
    previous: CellStep | None = None

    def cell(self, x: SSAValue, h: SSAValue) -> Cell | None:
        """The cell of the step for data x and previous hidden state h; None if the step is not such a cell."""
        if self.kind == "LSTM" and self.state is not None:
            return lstm_cell(x, h, self.state, *self.following)
        return gru_cell(x, h, self.following[0]) if self.kind == "GRU" else rnn_cell(x, h, self.following[0])

    def others(self, h: SSAValue) -> list[SSAValue]:
        """The values that a step multiplies with matrices, other than the hidden state h, or h times a gate."""
        return [base for base in self.bases if base is not h and not (self.kind == "GRU" and _is_gated(base, h))]


@dataclass
class Chain:
    """Steps of one cell that follow each other.

    Args:
        cell: the cell.
        states: the states before the first step; a hidden state of None is zeros.
        data: the data of each step, [N, I].
        following: the states after each step.
    """

    cell: Cell
    states: tuple[SSAValue | None, ...]
    data: list[SSAValue] = field(default_factory=list[SSAValue])
    following: list[tuple[SSAValue, ...]] = field(default_factory=list[tuple[SSAValue, ...]])

    def add(self, x: SSAValue, following: tuple[SSAValue, ...]) -> None:
        """Append a step."""
        self.data.append(x)
        self.following.append(following)

    def substitute(self, replaced: Mapping[SSAValue, SSAValue]) -> None:
        """Substitute values that have been replaced."""
        self.data = [replaced.get(value, value) for value in self.data]
        self.states = tuple(None if value is None else replaced.get(value, value) for value in self.states)


def _is_gated(value: SSAValue, h: SSAValue) -> bool:
    return any(other is h and activated(gate) is not None for gate, other in orders(value, "opset1.Multiply"))


def steps_of(operations: Iterable[Operation]) -> list[CellStep]:
    """The candidates for steps among the operations of a block, in order, each with its previous step."""
    steps: list[CellStep] = []
    by_state: dict[SSAValue, CellStep] = {}
    for op in operations:
        for kind, following, state, gates in _forms(op):
            bases, weights = _products(gates, state)
            if not weights:
                continue
            step = CellStep(kind, following, state, bases, weights)
            step.previous = _previous(step, by_state)
            steps.append(step)
            by_state[following[-1]] = step
            break
    return steps


def _forms(op: Operation) -> Iterator[tuple[str, tuple[SSAValue, ...], SSAValue | None, list[SSAValue]]]:
    """Candidates for a step that ends in an operation: kind, new states, initial state, and the operands of its
    activations.

    The initial state is None for RNN cells. Yields nothing for operations that end no cell.
    """
    if isinstance(op, Multiply):
        yield from _lstm_forms(op.results[0])
    elif isinstance(op, Add):
        h = op.results[0]
        for z, state, a in gated_update(h):
            yield "GRU", (h,), state, [z.value, a.value]
    elif op.name in ACTIVATIONS:
        yield "RNN", (op.results[0],), None, [op.operands[0]]


def _lstm_forms(h: SSAValue) -> Iterator[tuple[str, tuple[SSAValue, ...], SSAValue | None, list[SSAValue]]]:
    for a, b in orders(h, "opset1.Multiply"):
        out, activation = activated(a), activated(b)
        if out is None or activation is None:
            continue
        for kept, added in orders(activation.value, "opset1.Add"):
            for forget, state in orders(kept, "opset1.Multiply"):
                for entering, candidate in orders(added, "opset1.Multiply"):
                    gates = [activated(each) for each in (forget, entering, candidate)]
                    known = [gate.value for gate in gates if gate is not None]
                    if len(known) == len(gates) and activated(state) is None:
                        yield "LSTM", (h, activation.value), state, [*known, out.value]


def _products(values: Sequence[SSAValue], state: SSAValue | None) -> tuple[list[SSAValue], set[SSAValue]]:
    """The operands and the constant matrices of the products from which `values`, the operands of a cell's gates, are
    computed.

    A state that is multiplied with a gate before the product is one of the operands, and the gate's own products are
    included.
    """
    bases: list[SSAValue] = []
    weights: set[SSAValue] = set()
    pending, seen = list(values), set[SSAValue]()
    while pending and len(seen) < LARGEST_STEP:
        value = pending.pop()
        op = value.owner
        if value in seen or not isinstance(op, Operation):
            continue
        seen.add(value)
        if isinstance(op, MatMul):
            if not is_constant(op.operands[1]):
                continue
            weights.add(op.operands[1])
            data = op.operands[0]
            for base in data.owner.operands if isinstance(data.owner, Concat) else [data]:
                if base not in bases:
                    bases.append(base)
                pending.extend(gate for gate, other in orders(base, "opset1.Multiply") if other is state)
        elif isinstance(op, Add | Subtract | Multiply) or op.name in ACTIVATIONS:
            pending.extend(op.operands)
        elif isinstance(op, Split | VariadicSplit | Slice):
            pending.append(op.operands[0])
    return bases, weights


def _previous(step: CellStep, by_state: Mapping[SSAValue, CellStep]) -> CellStep | None:
    """The previous step: a cell of the same kind with the same weights, whose state this step reads.

    None if there is none, or there are several.
    """
    states = step.bases if step.state is None else [step.state]
    candidates = [by_state[state] for state in states if state in by_state]
    candidates = [each for each in candidates if each.kind == step.kind and each.weights <= step.weights]
    return candidates[0] if len(candidates) == 1 else None


def chains_of(operations: Iterable[Operation]) -> list[Chain]:
    """The chains of two or more steps among the operations of a block, in the order of the block."""
    steps = steps_of(operations)
    count: dict[int, int] = {}
    for step in steps:
        if step.previous is not None:
            count[id(step.previous)] = count.get(id(step.previous), 0) + 1
    chains: list[Chain] = []
    current: dict[int, Chain] = {}
    for step in steps:
        previous = step.previous
        if previous is None or count[id(previous)] > 1:
            continue
        h = previous.following[0]
        data = step.others(h)
        cell = step.cell(data[0], h) if len(data) == 1 else None
        if cell is None:
            continue
        chain = current.pop(id(previous), None)
        if chain is None or not _is_same(chain.cell, cell):
            chain = _first(previous, cell) or Chain(cell, previous.following)
            chains.append(chain)
        chain.add(data[0], step.following)
        current[id(step)] = chain
    return [chain for chain in chains if len(chain.data) > 1]


def _is_same(a: Cell, b: Cell, *, recurrent: bool = True) -> bool:
    """Whether two cells are equal; without `recurrent`, the weights for the hidden state are not compared."""
    kinds = (a.kind, a.activations, a.linear_before_reset) == (b.kind, b.activations, b.linear_before_reset)
    return kinds and np.array_equal(a.w, b.w) and np.array_equal(a.b, b.b) and (not recurrent or np.array_equal(a.r, b.r))


def _first(step: CellStep, cell: Cell) -> Chain | None:
    """A chain with the first step of a sequence, which has no previous step; None if its cell differs from `cell`."""
    for h in step.bases:
        # Data and state may have the same size; they are told apart by the weights.
        if step.kind == "GRU" and h is not step.state:
            continue
        data = step.others(h)
        own = step.cell(data[0], h) if len(data) == 1 else None
        if own is not None and _is_same(own, cell):
            states = (h,) if step.kind != "LSTM" else (h, step.state)
            return _chain(cell, states, data[0], step)
    return _first_of_zeros(step, cell)


def _first_of_zeros(step: CellStep, cell: Cell) -> Chain | None:
    """A chain that begins with a step whose hidden state is zero, so that its product was folded into the bias.

    Returns None if the step is not `cell` with a state of zeros.
    """
    if len(step.bases) != 1:
        return None
    x = step.bases[0]
    if step.kind == "RNN":
        activation = activated(step.following[0])
        form = None if activation is None else AffineForms(x).of(activation.value)
        if form is None or x not in form.weights or activation is None or cell.activations != (activation.name,):
            return None
        is_same = np.array_equal(form.weights[x].T, cell.w) and np.array_equal(form.bias, cell.b)
        return _chain(cell, (None,), x, step) if is_same else None
    initial = None if step.state is None else constant_of(step.state)
    if initial is None or step.state is None or initial.ndim != 2 or (step.kind == "GRU" and initial.any()):
        return None
    own = step.cell(x, step.state)
    if own is None or not _is_same(own, cell, recurrent=False):
        return None
    return _chain(cell, (None,) if step.kind == "GRU" else (None, step.state), x, step)


def _chain(cell: Cell, states: tuple[SSAValue | None, ...], x: SSAValue, step: CellStep) -> Chain:
    chain = Chain(cell, states)
    chain.add(x, step.following)
    return chain
