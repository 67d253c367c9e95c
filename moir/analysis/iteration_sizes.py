"""Which sizes of the values that a loop collects may differ from iteration to iteration.

opset5.Loop and opset1.TensorIterator concatenate slices of one shape; they define no result for slices whose sizes
change from iteration to iteration. The body is executed symbolically, one iteration after the other: a dimension is a
token, as in `moir.analysis.dimensions`, and the elements of a value have an id, which is equal for equal elements.
Tokens and ids of results are computed from those of the operands: equal operands give equal results in all iterations.
The iteration counter, slices and states have new tokens and ids in each iteration.

    %i = opset1.Parameter()                             // a new number in each iteration
    %n = opset8.Gather(opset3.ShapeOf(%x), [0], 0)      // the same one: %x is loop-invariant
    %a = opset1.Broadcast(%h, %n)                       // a size that is the same in each iteration
    %b = opset1.Broadcast(%h, %i)                       // a size that may differ
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from xdsl.ir import Block, Operation, OpResult, SSAValue

from moir.analysis.backward_slice import backward_slice
from moir.analysis.dimensions import Dimensions, Token, Tokens
from moir.dialects.data import Array
from moir.dialects.moir import BodyPort
from moir.dialects.opset.control_flow import If, Loop, RepeatingOp, parameters_of, results_of
from moir.dialects.opset.infrastructure import Constant, Identity, Parameter
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import is_static, normalize_axis, shape_of
from moir.dialects.symbols import Product, Sum, Symbol, is_symbolic
from moir.errors import InferenceError

EXACT_ITERATIONS = 4
"""The number of iterations that are executed symbolically; a size of a state that still changes after them counts as
varying.
"""

DEEPEST = 3
"""The deepest nesting of loops that is executed; the sizes of the results of deeper loops depend on all their operands.
"""


def collects_dynamic(op: RepeatingOp) -> bool:
    """Whether a loop collects a value that has a dynamic dimension."""
    values = results_of(op.block)
    return any(port.slicing is not None and not is_static(shape_of(values[port.index or 0])) for port in op.ports("outputs"))


def varying_axes(op: RepeatingOp, outside: Dimensions) -> dict[int, list[int]]:
    """For each result that collects values, the dimensions of these values that may differ between iterations.

    None if the loop certainly has one iteration at most.

    Args:
        op: the loop, whose types are inferred.
        outside: the dimensions of the values around it, with `static`.
    """
    if not collects_dynamic(op) or op.iterations(outside) in (0, 1):
        return {}
    values = results_of(op.block)
    collected = {index: values[port.index or 0] for index, port in enumerate(op.ports("outputs")) if port.slicing is not None}
    axes_by_result = zip(collected, differing_axes(op, outside, list(collected.values())), strict=True)
    return {index: axes for index, axes in axes_by_result if axes}


def differing_axes(op: RepeatingOp, outside: Dimensions, values: Sequence[SSAValue]) -> list[list[int]]:
    """For each of some values of a loop body, its dimensions that may differ between iterations.

    Args:
        op: the loop, whose types are inferred.
        outside: the dimensions of the values around it, with `static`.
        values: the values of the body.
    """
    outside.scan(reversed(backward_slice(op)))
    numbering = Numbering()
    operands = [outside.tokens(operand) for operand in op.operands]
    contents = [numbering.outside(operand, outside) for operand in op.operands]
    iterations = _iterations(op, numbering, operands, contents, 0)
    return [_differing([iteration.tokens(value) for iteration in iterations]) for value in values]


def _differing(shapes: Sequence[Tokens | None]) -> list[int]:
    """The indices of the dimensions in which some of the shapes differ; empty if the rank is dynamic."""
    first = shapes[0]
    if first is None:
        return []
    if any(shape is None or len(shape) != len(first) for shape in shapes):
        return list(range(len(first)))
    return [axis for axis, token in enumerate(first) if any(shape is None or shape[axis] != token for shape in shapes)]


class Numbering:
    """Assigns symbols and ids to keys, for all iterations: equal keys get the same symbol and the same id."""

    def __init__(self) -> None:
        self.symbols: dict[Hashable, Symbol] = {}
        self.numbers: dict[Hashable, int] = {}
        self.registered: set[Symbol] = set()
        """The symbols that stand for one size in all iterations."""
        self.parts: dict[Symbol, frozenset[Token]] = {}
        """For a symbol of a broadcast dimension, the dimensions that were broadcast."""
        self.sums: dict[frozenset[Token], Sum] = {}

    def symbol(self, key: Hashable, new: Symbol | None = None) -> Symbol:
        """The symbol of a key; at the first request, `new` if it is given, else a new symbol."""
        symbol = self.symbols.setdefault(key, Symbol(dimension=True) if new is None else new)
        self.registered.add(symbol)
        return symbol

    def number(self, *key: Hashable) -> int:
        """The id of a key."""
        return self.numbers.setdefault(key, len(self.numbers))

    def outside(self, value: SSAValue, known: Dimensions) -> int:
        """The id of a value outside of the loop."""
        tokens, elements = known.tokens(value), known.elements(value)
        self.registered.update(token for token in tokens or () if isinstance(token, Symbol))
        if elements is None:
            return self.number("value", value)
        self.registered.update(entry for entry in elements.ravel().tolist() if isinstance(entry, Symbol))
        return self.elements(elements)

    def elements(self, array: Array) -> int:
        """The id of the elements of an array: equal arrays have the same id."""
        return self.number("elements", array.shape, str(array.dtype), tuple(array.ravel().tolist()))

    def is_registered(self, symbol: Symbol) -> bool:
        """Whether `symbol` assigned a symbol to a key: dimensions with such a symbol have the same size in all
        iterations.
        """
        if symbol not in self.registered and isinstance(symbol, Product) and self.registered.issuperset(symbol.symbols):
            self.registered.add(symbol)
        return symbol in self.registered

    def broadcast(self, dimensions: Sequence[Token]) -> Token:
        """The token of a dimension that results from broadcasting these dimensions."""
        parts = frozenset[Token]().union(*(self._parts(each) for each in dimensions if each != 1))
        if len(parts) == 1:
            return next(iter(parts))
        symbol = self.symbol(("broadcast", parts))
        self.parts[symbol] = parts
        return symbol

    def _parts(self, dimension: Token) -> frozenset[Token]:
        return self.parts.get(dimension, frozenset((dimension,))) if isinstance(dimension, Symbol) else frozenset((dimension,))


class Iteration(Dimensions):
    """The dimension tokens, and the ids of contents, of the values of a body in one iteration.

    Args:
        numbering: the symbols and ids of all iterations.
        depth: how many loops are around the one that is executed.
    """

    def __init__(self, numbering: Numbering, depth: int = 0) -> None:
        super().__init__(static=True)
        self.numbering = numbering
        self.depth = depth
        self._sums = numbering.sums
        self._contents: dict[SSAValue, int] = {}
        self._asked: set[SSAValue] | None = None

    def elements(self, value: SSAValue) -> Array | None:
        if self._asked is not None:
            self._asked.add(value)
        return super().elements(value)

    def content(self, value: SSAValue) -> int:
        """An id for the elements of a value; values with one id have equal elements."""
        if value not in self._contents:
            self._contents[value] = self.numbering.number("value", value)
        return self._contents[value]

    def execute(self, block: Block, tokens: Sequence[Tokens | None], contents: Sequence[int]) -> None:
        """Compute the tokens and ids of all values of a block from those of its Parameters."""
        for parameter, shape, content in zip(parameters_of(block), tokens, contents, strict=True):
            value = parameter.results[0]
            self._tokens[value] = self._settled(value, shape)
            self._contents[value] = content
        for op in block.ops:
            if op.results and not isinstance(op, Parameter):
                self._execute(op)

    def _execute(self, op: Operation) -> None:
        if isinstance(op, If) and self.depth < DEEPEST:
            self._branches(op)
        elif isinstance(op, RepeatingOp) and self.depth < DEEPEST:
            self._loop(op)
        elif isinstance(op, Constant):
            self._contents[op.results[0]] = self.numbering.number("constant", op)
        else:
            self._compute_operation(op)

    def _compute_operation(self, op: Operation) -> None:
        operands = tuple(self.tokens(operand) for operand in op.operands)
        asked, shapes = set(op.operands), None
        if isinstance(op, OpsetOp) and not op.regions:
            self._asked = set()
            try:
                shapes = op.result_shapes(operands, self)
                asked = set(op.operands) if op.SIZES_OF_ELEMENTS else self._asked & set(op.operands)
            except (InferenceError, NotImplementedError):
                shapes = None
            self._asked = None
        key = (op, operands, tuple(self.content(each) for each in op.operands if each in asked))
        for result in op.results:
            tokens = None if shapes is None else shapes[result.index]
            if isinstance(op, OpsetOp) and op.BROADCASTS and tokens is not None:
                tokens = self._broadcast(tokens, operands)
            self._tokens[result] = self._canonical(result, tokens, key)
        contents = tuple(self.content(operand) for operand in op.operands)
        is_same = isinstance(op, OpsetOp) and op.DETERMINISTIC and not op.EFFECTS
        for result in op.results:
            self._contents[result] = self._number(result, (op, contents, operands) if is_same else (op, self))

    def _broadcast(self, dimensions: Sequence[Token], operands: Sequence[Tokens | None]) -> Tokens:
        """The dimension tokens of a broadcast result; a dimension in which operands differ gets the token of
        broadcasting them.
        """
        tokens = list(dimensions)
        for axis, token in enumerate(tokens):
            if token == -1 or (isinstance(token, Symbol) and not self.numbering.is_registered(token)):
                axes = [axis - len(tokens) for _ in operands]
                aligned = [
                    shape[offset] for shape, offset in zip(operands, axes, strict=True) if shape is not None and len(shape) >= -offset
                ]
                tokens[axis] = self.numbering.broadcast(aligned)
        return tuple(tokens)

    def _canonical(self, value: SSAValue, dimensions: Sequence[Token] | None, key: Hashable) -> Tokens | None:
        """The dimension tokens of a value, where unknown and unregistered tokens are replaced by symbols derived from
        `key`.
        """
        shape = shape_of(value)
        if shape is None:
            return None
        if dimensions is None or len(dimensions) != len(shape):
            dimensions = (-1,) * len(shape)
        index = value.index if isinstance(value, OpResult) else 0
        tokens: list[Token] = []
        for axis, (size, token) in enumerate(zip(shape, dimensions, strict=True)):
            if size >= 0:
                tokens.append(size)
            elif isinstance(token, Symbol):
                is_known = self.numbering.is_registered(token)
                tokens.append(token if is_known else self.numbering.symbol((key, index, axis), token))
            else:
                tokens.append(self.numbering.symbol((key, index, axis)) if token == -1 else token)
        return tuple(tokens)

    def _number(self, value: SSAValue, key: Hashable) -> int:
        """The id of the elements of a value: by the elements if they are known, else by `key`."""
        elements = self.elements(value)
        index = value.index if isinstance(value, OpResult) else 0
        if elements is None:
            return self.numbering.number("result", key, index)
        if is_symbolic(elements):
            elements = elements.copy()
            for offset, entry in enumerate(elements.ravel().tolist()):
                if isinstance(entry, Symbol) and not self.numbering.is_registered(entry):
                    elements.reshape(-1)[offset] = self.numbering.symbol((key, index, "element", offset), entry)
            self._elements[value] = elements
        return self.numbering.elements(elements)

    def _branches(self, op: If) -> None:
        """Compute the tokens and ids of the results of an If: those of both branches if they agree, else new ones that
        depend on the condition.
        """
        branches: list[list[SSAValue]] = []
        for body, name in ((op.then_body, "then_inputs"), (op.else_body, "else_inputs")):
            operands = [op.operands[index] for index in op.integers(name)]
            self.execute(body.block, [self.tokens(each) for each in operands], [self.content(each) for each in operands])
            branches.append(results_of(body.block))
        condition = self.content(op.operands[0])
        for result, then, other in zip(op.results, *branches, strict=True):
            first, second = self.tokens(then), self.tokens(other)
            contents = (self.content(then), self.content(other))
            same: list[Token] | None = None
            if first is not None and second is not None and len(first) == len(second):
                same = [a if a == b else -1 for a, b in zip(first, second, strict=True)]
            self._tokens[result] = self._canonical(result, same, (op, condition, first, second))
            key = (op, condition, first, second, contents)
            self._contents[result] = contents[0] if contents[0] == contents[1] else self.numbering.number("result", key, result.index)

    def _loop(self, op: RepeatingOp) -> None:
        """Compute the tokens and ids of the results of a nested loop."""
        operands, contents = tuple(self.tokens(each) for each in op.operands), tuple(self.content(each) for each in op.operands)
        iterations = _iterations(op, self.numbering, operands, contents, self.depth + 1)
        everything, values = (op, operands, contents), results_of(op.block)
        first = {port.back_edge: operands[port.index] for port in op.ports("inputs") if port.index is not None}
        for result, port in zip(op.results, op.ports("outputs"), strict=True):
            shapes = [iteration.tokens(values[port.index or 0]) for iteration in iterations]
            if port.slicing is None and port.index in first:
                shapes.append(first[port.index])
            tokens, differing = shapes[0], _differing(shapes)
            if tokens is not None:
                joined = normalize_axis(port.slicing.axis, len(tokens)) if port.slicing is not None else None
                length = self.numbering.symbol((self._length_key(op, operands, contents), "length"))
                tokens = tuple(length if axis == joined else -1 if axis in differing else each for axis, each in enumerate(tokens))
            self._tokens[result] = self._canonical(result, tokens, everything)
            self._contents[result] = self.numbering.number("result", everything, result.index)

    def _length_key(self, op: RepeatingOp, operands: Sequence[Tokens | None], contents: Sequence[int]) -> Hashable:
        """A key for the number of iterations of a loop: loops with equal keys run equally often."""
        if isinstance(op, Loop):
            condition = results_of(op.block)[op.integer("condition")].owner
            if isinstance(condition, Constant) and condition.value.array.all():
                return op, contents[0], contents[1]
            return op, tuple(operands), tuple(contents)
        return op, tuple(operands[port.index] for port in op.ports("inputs") if port.index is not None and port.slicing)


def _iterations(
    op: RepeatingOp, numbering: Numbering, operands: Sequence[Tokens | None], contents: Sequence[int], depth: int
) -> list[Iteration]:
    """Execute the first iterations of a loop, until the sizes of its states do not change any more.

    Args:
        op: the loop.
        numbering: the symbols and ids of all iterations.
        operands: the tokens of its operands.
        contents: the ids of its operands.
        depth: how many loops are around it.
    """
    ports, parameters, results = op.ports("inputs"), parameters_of(op.block), results_of(op.block)
    kept = {
        index
        for index, (port, parameter) in enumerate(zip(ports, parameters, strict=True))
        if port.back_edge is not None and _source(results[port.back_edge]) is parameter.results[0]
    }
    states = [_first_tokens(parameter, port, operands) for port, parameter in zip(ports, parameters, strict=True)]
    numbering.registered.update(token for shape in states for token in shape or () if isinstance(token, Symbol))
    changing: set[tuple[int, int]] = set()
    iterations: list[Iteration] = []
    while True:
        iteration, count = Iteration(numbering, depth), len(iterations)
        numbers = [
            contents[port.index]
            if port.index is not None and port.slicing is None and (port.back_edge is None or index in kept)
            else numbering.number("iteration", op, count, index, tuple(contents))
            for index, port in enumerate(ports)
        ]
        iteration.execute(op.block, states, numbers)
        iterations.append(iteration)
        following: list[Tokens | None] = list(states)
        is_stable = True
        for number, port in enumerate(ports):
            before = states[number]
            if port.back_edge is None or before is None:
                continue
            after = list(iteration.tokens(results[port.back_edge]) or ())
            if len(after) != len(before):
                following[number], is_stable = None, False
                continue
            for axis, token in enumerate(after):
                if (number, axis) not in changing and token != before[axis]:
                    is_stable = False
                    if count >= EXACT_ITERATIONS:
                        changing.add((number, axis))
                if (number, axis) in changing:
                    after[axis] = numbering.symbol(("size", op, count, number, axis, tuple(contents)))
            following[number] = tuple(after)
        if is_stable and count:
            return iterations
        states = following


def _first_tokens(parameter: Parameter, port: BodyPort, operands: Sequence[Tokens | None]) -> Tokens | None:
    """The tokens of a Parameter in the first iteration."""
    shape = shape_of(parameter.results[0])
    if port.index is None:
        return shape
    tokens = operands[port.index]
    if tokens is not None and port.slicing is not None:
        axis = normalize_axis(port.slicing.axis, len(tokens))
        return (*tokens[:axis], port.slicing.part_size, *tokens[axis + 1 :])
    return tokens


def _source(value: SSAValue) -> SSAValue:
    """The value of which a value is a copy, through operations that pass it on unchanged; the value itself if there are
    none.
    """
    while isinstance(value.owner, Identity):
        value = value.owner.operands[0]
    return value
