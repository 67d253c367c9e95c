"""What each kind of operation says about the dimensions of its results, as tokens of the dimensions of its operands: see `dimensions`.

    %y = opset1.Transpose(%x, [0, 2, 1])     tokens of x (a, 8, b): tokens of y (a, b, 8)

A rule answers None where nothing is known, and None for a dimension that is none of those of the operands and no constant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import TypeAlias

from moir.analysis.dimensions import Dimensions, Dims, Token, broadcast
from moir.dialects.moir import ModelOp
from moir.dialects.opset.base import OpsetOp
from moir.dialects.opset.elementwise_base import BroadcastingOp, UnaryOp
from moir.dialects.opset.slicing import UNBOUNDED
from moir.dialects.properties import value_of
from moir.dialects.shapes import rank_of
from moir.dialects.symbols import Symbol, same

DimensionRule: TypeAlias = Callable[[Dimensions, OpsetOp], Dims | None]
RULES: dict[str, DimensionRule] = {}
"""By kind of operation; for kinds with several results, which have one shape."""


def _rule(*kinds: str) -> Callable[[DimensionRule], DimensionRule]:
    def register(rule: DimensionRule) -> DimensionRule:
        RULES.update(dict.fromkeys(kinds, rule))
        return rule

    return register


_FIRST_OPERAND = (
    *(
        "BatchNormInference",
        "Clamp",
        "Convert",
        "ConvertLike",
        "CumSum",
        "GroupNormalization",
        "HardSigmoid",
        "Identity",
        "LRN",
        "LogSoftmax",
    ),
    *("MVN", "NormalizeL2", "PRelu", "Reverse", "ReverseSequence", "Roll", "ScatterElementsUpdate", "ScatterNDUpdate", "ScatterUpdate"),
    *("Selu", "ShuffleChannels", "Softmax", "Swish"),
)


@_rule("Parameter")
def _named(known: Dimensions, op: OpsetOp) -> Dims | None:
    """Dimensions of inputs to which the model gives one name are equal; in a body a name may mean something else."""
    names = op.attributes.get("dimension_names") if isinstance(op.parent_op(), ModelOp) else None
    return None if names is None else [known.named(name) if name else None for name in value_of(names)]


@_rule(*_FIRST_OPERAND)
def _first_operand(known: Dimensions, op: OpsetOp) -> Dims | None:
    return known.tokens(op.operands[0])


@_rule("GatherElements")
def _indices(known: Dimensions, op: OpsetOp) -> Dims | None:
    return known.tokens(op.operands[1])


@_rule("Select")
def _broadcast_operands(known: Dimensions, op: OpsetOp) -> Dims | None:
    shapes = [tokens for operand in op.operands if (tokens := known.tokens(operand)) is not None]
    if op.text("auto_broadcast") != "numpy" or len(shapes) < len(op.operands):
        return None
    return broadcast(*shapes)


@_rule("Transpose")
def _transposed(known: Dimensions, op: OpsetOp) -> Dims | None:
    tokens, order = known.tokens(op.operands[0]), known.integers(op.operands[1])
    if tokens is None or order is None:
        return None
    return [tokens[axis] for axis in order] if order else tokens[::-1]


@_rule("MatMul")
def _product(known: Dimensions, op: OpsetOp) -> Dims | None:
    a, b = (known.tokens(operand) for operand in op.operands)
    if a is None or b is None or len(a) < 2 or len(b) < 2:
        return None
    rows = a[-1] if op.flag("transpose_a") else a[-2]
    columns = b[-2] if op.flag("transpose_b") else b[-1]
    return [*(broadcast(a[:-2], b[:-2])), rows, columns]


@_rule("ScaledDotProductAttention")
def _attention(known: Dimensions, op: OpsetOp) -> Dims | None:
    query, key, value = (known.tokens(operand) for operand in op.operands[:3])
    if query is None or key is None or value is None or not len(query) == len(key) == len(value):
        return None
    return [*(broadcast(query[:-2], key[:-2], value[:-2])), query[-2], value[-1]]


@_rule("Reshape")
def _reshaped(known: Dimensions, op: OpsetOp) -> Dims | None:
    entries, source = known.elements(op.operands[1]), known.tokens(op.operands[0])
    if entries is None:
        return None
    target: list[Token | None] = []
    hole: int | None = None
    for position, entry in enumerate(entries.ravel().tolist()):
        if isinstance(entry, Symbol):
            target.append(entry if entry.dimension else None)
        elif entry == 0 and op.flag("special_zero"):
            target.append(None if source is None or position >= len(source) else source[position])
        elif entry == -1:
            hole = position
            target.append(None)
        else:
            target.append(int(entry))
    others = [token for position, token in enumerate(target) if position != hole]
    if hole is not None and source is not None:
        target[hole] = missing_factor(source, others)
    return target


def missing_factor(source: Sequence[Token], others: Sequence[Token | None]) -> Token | None:
    """The dimension that, with the others, has as many elements as `source`; None if it is not one of the dimensions of `source`."""
    rest, divisor = list(source), 1
    for token in others:
        if token is None:
            return None
        if not isinstance(token, Symbol):
            divisor *= token
        elif token in rest:
            rest.remove(token)
        else:
            return None
    symbols = [token for token in rest if isinstance(token, Symbol)]
    count = math.prod(token for token in rest if not isinstance(token, Symbol))
    if divisor <= 0 or count % divisor or len(symbols) > 1:
        return None
    quotient = count // divisor
    return quotient if not symbols else symbols[0] if quotient == 1 else None


@_rule("Squeeze")
def _squeezed(known: Dimensions, op: OpsetOp) -> Dims | None:
    tokens = known.tokens(op.operands[0])
    axes = known.integers(op.optional_operand(1))
    rank = rank_of(op.results[0])
    if not axes or tokens is None or rank is None:
        return None
    dropped = {axis % max(len(tokens), 1) for axis in axes}
    return [token for axis, token in enumerate(tokens) if axis not in dropped] if rank == len(tokens) - len(dropped) else None


@_rule("Unsqueeze")
def _unsqueezed(known: Dimensions, op: OpsetOp) -> Dims | None:
    tokens, axes, rank = known.tokens(op.operands[0]), known.integers(op.operands[1]), rank_of(op.results[0])
    if tokens is None or axes is None or rank is None:
        return None
    added = {axis % rank for axis in axes}
    if rank != len(tokens) + len(added):
        return None
    rest = iter(tokens)
    return [1 if axis in added else next(rest) for axis in range(rank)]


@_rule("Concat")
def _joined(known: Dimensions, op: OpsetOp) -> Dims | None:
    shapes = [tokens for operand in op.operands if (tokens := known.tokens(operand)) is not None]
    if not shapes:
        return None
    rank = len(shapes[0])
    result: list[Token | None] = []
    for position in range(rank):
        here = [tokens[position] for tokens in shapes]
        fixed = [token for token in here if not isinstance(token, Symbol)]
        if position == op.integer("axis") % rank:
            result.append(reduce(known.sum, here) if len(shapes) == len(op.operands) else None)
        else:
            result.append(fixed[0] if fixed else here[0])
    return result


@_rule("Split")
def _equal_part(known: Dimensions, op: OpsetOp) -> Dims | None:
    tokens, axis = known.tokens(op.operands[0]), known.integers(op.operands[1])
    if tokens is None or axis is None:
        return None
    whole = tokens[axis[0]]
    return _replaced(tokens, axis[0], None if isinstance(whole, Symbol) else whole // op.integer("num_splits"))


def _variadic_part(known: Dimensions, op: OpsetOp, index: int) -> Dims | None:
    tokens, axis, lengths = known.tokens(op.operands[0]), known.integers(op.operands[1]), known.integers(op.operands[2])
    if tokens is None or axis is None:
        return None
    return _replaced(tokens, axis[0], lengths[index] if lengths is not None and lengths[index] >= 0 else None)


def _replaced(tokens: Sequence[Token], axis: int, token: Token | None) -> Dims:
    return [token if position == axis % len(tokens) else each for position, each in enumerate(tokens)]


@_rule("Slice")
def _cut(known: Dimensions, op: OpsetOp) -> Dims | None:
    tokens = known.tokens(op.operands[0])
    axes = known.integers(op.optional_operand(4)) if op.optional_operand(4) is not None else None
    if tokens is None or axes is None:
        return None
    result: list[Token | None] = list(tokens)
    bounds = [known.integers(operand) for operand in op.operands[1:4]]
    for order, axis in enumerate(axes):
        token = tokens[axis % len(tokens)]
        length: Token | None = None
        if all(bound is not None and len(bound) == len(axes) for bound in bounds):
            start, stop, step = (bound[order] for bound in bounds if bound is not None)
            if not isinstance(token, Symbol) and step > 0:
                length = len(range(*slice(start, stop, step).indices(token)))
            elif start == 0 and step == 1 and stop >= UNBOUNDED:
                length = token
        result[axis % len(tokens)] = length
    return result


@_rule("Gather")
def _picked(known: Dimensions, op: OpsetOp) -> Dims | None:
    data, indices, axis = known.tokens(op.operands[0]), known.tokens(op.operands[1]), known.integers(op.operands[2])
    if data is None or indices is None or axis is None or not data or op.integer("batch_dims"):
        return None
    position = axis[0] % len(data)
    return [*data[:position], *indices, *data[position + 1 :]]


@_rule("GatherND")
def _picked_slices(known: Dimensions, op: OpsetOp) -> Dims | None:
    data, indices = known.tokens(op.operands[0]), known.tokens(op.operands[1])
    if data is None or not indices or op.integer("batch_dims") or isinstance(depth := indices[-1], Symbol):
        return None
    return [*indices[:-1], *data[depth:]]


@_rule("Broadcast")
def _repeated(known: Dimensions, op: OpsetOp) -> Dims | None:
    entries, source = known.elements(op.operands[1]), known.tokens(op.operands[0])
    if entries is None or source is None or op.text("mode") not in ("numpy", "bidirectional"):
        return None
    target = tuple(entry if isinstance(entry, Symbol) else int(entry) for entry in entries.ravel())
    return broadcast(source, target)


@_rule("Tile")
def _tiled(known: Dimensions, op: OpsetOp) -> Dims | None:
    tokens, repeats = known.tokens(op.operands[0]), known.elements(op.operands[1])
    if tokens is None or repeats is None or repeats.size != len(tokens):
        return None
    pairs = zip(tokens, repeats.ravel().tolist(), strict=True)
    return [token if same(count, 1) else count if same(token, 1) and isinstance(count, Symbol) else None for token, count in pairs]


@_rule("Pad")
def _padded(known: Dimensions, op: OpsetOp) -> Dims | None:
    tokens, begin, end = known.tokens(op.operands[0]), known.integers(op.operands[1]), known.integers(op.operands[2])
    if tokens is None or begin is None or end is None or not len(tokens) == len(begin) == len(end):
        return None
    widths = map(sum, zip(begin, end, strict=True))
    return [
        token if width == 0 else None if isinstance(token, Symbol) else token + width for token, width in zip(tokens, widths, strict=True)
    ]


def _filtered(out_axes: tuple[int, ...], kernel_axis: int) -> DimensionRule:
    """The rule of a convolution: axes of the filters that make the output channels, and the first axis of the kernel."""

    def rule(known: Dimensions, op: OpsetOp) -> Dims | None:
        data, filters = known.tokens(op.operands[0]), known.tokens(op.operands[1])
        if data is None or filters is None:
            return None
        factors = [filters[axis] for axis in out_axes]
        fixed = [token for token in factors if not isinstance(token, Symbol)]
        channels = math.prod(fixed) if len(fixed) == len(factors) else factors[0] if len(factors) == 1 else None
        kernel = filters[kernel_axis:]
        keeps = "Backprop" not in op.name and len(kernel) == len(data) - 2
        spatial = [_window(op, axis, token, kernel[axis]) if keeps else None for axis, token in enumerate(data[2:])]
        return [data[0], channels, *spatial]

    return rule


def _window(op: OpsetOp, axis: int, size: Token, kernel: Token) -> Token | None:
    """Dimension behind a sliding window; the same one if the window moves by one and is padded to its size."""
    if isinstance(kernel, Symbol):
        return None
    stride, padding = op.integers("strides")[axis], op.text("auto_pad")
    spread = op.integers("dilations")[axis] * (kernel - 1)
    if padding in ("same_upper", "same_lower"):
        room = 0
    else:
        room = -spread if padding == "valid" else op.integers("pads_begin")[axis] + op.integers("pads_end")[axis] - spread
    if stride == 1 and room == 0:
        return size
    return None if isinstance(size, Symbol) or size + room < 1 else (size + room - 1) // stride + 1


_FILTERED: dict[str, DimensionRule] = {
    "Convolution": _filtered((0,), 2),
    "ConvolutionBackpropData": _filtered((1,), 2),
    "GroupConvolution": _filtered((0, 1), 3),
    "GroupConvolutionBackpropData": _filtered((0, 2), 3),
}

RULES.update(_FILTERED)


@_rule("AvgPool", "MaxPool", "AdaptiveAvgPool", "AdaptiveMaxPool", "DepthToSpace", "SpaceToDepth")
def _pooled(known: Dimensions, op: OpsetOp) -> Dims | None:
    data = known.tokens(op.operands[0])
    if data is None:
        return None
    kept = 1 if op.name.endswith("Space") or op.name.endswith("Depth") else 2
    return [*data[:kept], *[None] * (len(data) - kept)]


@_rule("Range")
def _counted(known: Dimensions, op: OpsetOp) -> Dims | None:
    """As many numbers as the stop says, if that is a size and the numbers are 0, 1, 2, …"""
    stop = known.elements(op.operands[1])
    if stop is None or known.integers(op.operands[0]) != (0,) or known.integers(op.operands[2]) != (1,):
        return None
    count = stop.ravel()[0]
    return [count] if isinstance(count, Symbol) and count.dimension else None


@_rule("ShapeOf")
def _shape(known: Dimensions, op: OpsetOp) -> Dims | None:
    tokens = known.tokens(op.operands[0])
    return None if tokens is None else [len(tokens)]


def _reduced(known: Dimensions, op: OpsetOp) -> Dims | None:
    tokens, axes = known.tokens(op.operands[0]), known.integers(op.operands[1])
    if not tokens or axes is None:
        return None
    gone = {axis % len(tokens) for axis in axes}
    if op.flag("keep_dims"):
        return [1 if axis in gone else token for axis, token in enumerate(tokens)]
    return [token for axis, token in enumerate(tokens) if axis not in gone]


_REDUCTIONS = ("L1", "L2", "LogicalAnd", "LogicalOr", "Max", "Mean", "Min", "Prod", "Sum")
RULES.update({f"Reduce{kind}": _reduced for kind in _REDUCTIONS})


def derived(known: Dimensions, op: OpsetOp, index: int) -> Dims | None:
    """Dimensions of a result of an operation."""
    kind = op.KIND
    if kind == "VariadicSplit":
        return _variadic_part(known, op, index)
    if (rule := RULES.get(kind)) is not None:
        return rule(known, op)
    if isinstance(op, UnaryOp):
        return known.tokens(op.operands[0])
    return _broadcast_operands(known, op) if isinstance(op, BroadcastingOp) else None
