"""Products and convolutions with what is folded into them."""

from __future__ import annotations

import numpy as np

from tests.fuzz.draw import NoCase
from tests.fuzz.sketch import DEVIATION, Sketch, pattern


@pattern("fold-scales")
def scales(g: Sketch) -> str:
    rows, inner, columns = g.draw.size(), g.draw.size(), g.draw.size()
    batch = g.draw.shape(0, 2)
    x = g.input([*batch, rows, inner])
    if g.draw.chance(0.4):
        x = g.op("Mul", x, g.weights(g.draw.one_of(([], [inner], [1, inner], [rows, 1], [1]))))
    vector = g.draw.chance(0.15)
    y = g.op("MatMul", x, g.weights([inner] if vector else [inner, columns]))
    last = rows if vector else columns
    for _ in range(g.draw.integer(1, 2)):
        kind = g.draw.one_of(("Mul", "Div", "Mul", "Add"))
        y = g.op(kind, y, g.weights(g.draw.one_of(([], [last], [1, last], [rows, 1], [1], [1, 1, 1, 1]))))
    return y


@pattern("fold-scales.convolution")
def convolution_scales(g: Sketch) -> str:
    group = g.draw.one_of((1, 1, 2))
    inputs, outputs = 2 * group, g.draw.integer(1, 2) * group
    x = g.input([g.draw.integer(1, 2), inputs, *g.draw.integers(2, 2, 4)])
    if g.draw.chance(0.4):
        x = g.op("Mul", x, g.weights(g.draw.one_of(([inputs, 1, 1], [1, inputs, 1, 1], [1], []))))
    transposed = g.draw.chance(0.25)
    window = g.draw.integers(2, 1, 2)
    weights = g.weights([inputs, outputs // group, *window] if transposed else [outputs, inputs // group, *window])
    y = g.op("ConvTranspose" if transposed else "Conv", x, weights, group=group)
    for _ in range(g.draw.integer(1, 2)):
        factor = g.weights(g.draw.one_of(([outputs, 1, 1], [1, outputs, 1, 1], [], [1], [2, 1, 1, 1], [1, 1, 1, 1, 1])))
        y = g.op(g.draw.one_of(("Mul", "Add", "Div")), y, factor)
    return y


@pattern("fuse-matmul-transpose")
def transposed_product(g: Sketch) -> str:
    rows, inner, columns = g.draw.size(), g.draw.size(), g.draw.size()
    batch = g.draw.shape(0, 2)
    rank = len(batch) + 2
    swap = [*range(rank - 2), rank - 1, rank - 2]
    left = g.input([*batch, inner, rows])
    right = g.input([*batch, columns, inner]) if g.draw.chance(0.5) else g.weights([*batch, columns, inner])
    product = g.op("MatMul", g.op("Transpose", left, perm=g.permutation(swap)), g.op("Transpose", right, perm=g.permutation(swap)))
    return g.op("Transpose", product, perm=g.permutation(swap)) if g.draw.chance(0.3) else product


@pattern("unflatten-matmul")
def flattened_product(g: Sketch) -> str:
    outer = g.draw.filled(1, 3)
    inner, columns = g.draw.integer(1, 4), g.draw.integer(1, 4)
    rows = 1
    for size in outer:
        rows *= size
    flat = g.op("Reshape", g.input([*outer, inner]), g.integers(*g.draw.one_of(((-1, inner), (rows, inner), (rows, -1)))))
    product = g.op("MatMul", flat, g.weights([inner, columns]))
    if g.draw.chance(0.3):
        product = g.op("Add", product, g.weights([columns]))
    target = [*outer, columns]
    if g.draw.chance(0.15):
        target = [rows, 1, columns]
    return g.reshape(product, *target)


@pattern("fuse-pads")
def padded(g: Sketch) -> str:
    x = g.input([g.draw.integer(1, 2), 2, *g.draw.integers(2, 2, 5)])
    before, after = g.draw.integers(2, 0, 2), g.draw.integers(2, 0, 2)
    outer = [0, 0] if g.draw.chance(0.85) else [0, 1]
    mode = g.draw.one_of(("constant", "constant", "constant", "edge"))
    value = g.array(g.draw.one_of((0.0, 0.0, 0.0, 1.0)))
    x = g.op("Pad", x, g.integers(*outer, *before, 0, 0, *after), value, mode=mode)
    pads = g.draw.integers(4, 0, 1)
    match g.draw.integer(0, 2):
        case 0:
            weights = g.weights([2, 2 + sum(outer), 2, 2])
            return g.op("Conv", x, weights, pads=pads, strides=g.draw.integers(2, 1, 2))
        case 1:
            return g.op("MaxPool", x, kernel_shape=[2, 2], pads=pads)
        case _:
            return g.op("AveragePool", x, kernel_shape=[2, 2], pads=pads, count_include_pad=g.draw.integer(0, 1))


@pattern("choose-layouts")
def channel_last(g: Sketch) -> str:
    channels = g.draw.integer(1, 3)
    shape = [g.draw.integer(1, 2), *g.draw.integers(2, 2, 4), channels]
    x = g.op("Transpose", g.input(shape), perm=g.permutation([0, 3, 1, 2]))
    y = g.op("Conv", x, g.weights([channels, channels, 1, 1]))
    y = g.op("Transpose", y, perm=g.permutation([0, 2, 3, 1]))
    for _ in range(g.draw.integer(1, 3)):
        match g.draw.integer(0, 6):
            case 0:
                y = g.op("Add", y, g.weights(g.draw.broadcasts_to(shape)))
            case 1:
                y = g.op(g.draw.one_of(("Relu", "Sigmoid", "Neg")), y)
            case 2:
                y = g.op("Concat", y, g.input(shape), axis=g.axis(3, 4))
            case 3:
                y = g.op("Softmax", y, axis=g.axis(3, 4))
            case 4:
                y = g.reduce("ReduceMean", y, g.axes([1, 2], 4))
            case 5:
                y = g.op("Slice", y, g.integers(0), g.integers(1), g.integers(g.axis(3, 4)))
            case _:
                y = g.op("Pad", y, g.integers(0, 1, 0, 0, 0, 0, 1, 0))
    return g.op("Transpose", y, perm=g.permutation([0, 3, 1, 2])) if g.draw.chance(0.7) else y


@pattern("unfold-einsum")
def einsum(g: Sketch) -> str:
    """Products with labels in any order, seldom with a label that is repeated, left out, or of size 1 in one operand.

    A label that is summed over has one size: ONNX does not say that an element is repeated along a sum.
    """
    draw = g.draw
    sizes = {label: draw.integer(1, 4) for label in "abcdefgh"}
    labels = draw.permutation(8)
    names = iter("abcdefgh"[place] for place in labels)
    batch, rows, columns, summed = (
        [next(names) for _ in range(draw.one_of(counts))] for counts in ((0, 1, 2), (1, 1, 2), (1, 1, 2), (1, 1, 2))
    )
    left, right, output = [*batch, *rows, *summed], [*summed, *columns], [*batch, *rows, *columns]
    if batch and draw.chance(0.9):
        right = [*batch, *right]
    for term in (left, right, output):
        if draw.chance(0.4):
            term[:] = [term[place] for place in draw.permutation(len(term))]
        if draw.chance(DEVIATION / 3):
            term.pop()
        elif draw.chance(DEVIATION / 3):
            term.append(term[0])
    if not set(output) <= {*left, *right} or len(set(output)) < len(output):
        raise NoCase("a result with labels that no operand has, or one twice")
    shapes = [[1 if label not in summed and draw.chance(DEVIATION / 4) else sizes[label] for label in term] for term in (left, right)]
    x = g.input(shapes[0])
    y = g.input(shapes[1]) if draw.chance(0.5) else g.weights(shapes[1])
    terms, operands = (["".join(left), "".join(right)], [x, y]) if draw.chance(0.7) else (["".join(right), "".join(left)], [y, x])
    product = g.op("Einsum", *operands, equation=f"{terms[0]},{terms[1]}->{''.join(output)}")
    return g.either("Mul", product, g.number(0.5, 1)) if draw.chance(0.3) else product


@pattern("separate-weights")
def both_forms(g: Sketch) -> str:
    """Products with a matrix and with its transposed form: square ones, and seldom others, of one constant or of two equal ones."""
    rows, size = g.draw.integer(1, 3), g.draw.integer(1, 4)
    matrix = g.draw.array(np.dtype(np.float32), [size, size], special=0)
    if g.draw.chance(0.15):
        matrix = matrix + matrix.T
    weights = g.array(matrix)

    def product(x: str, transposed: bool) -> str:
        same = weights if g.draw.chance(0.7) else g.array(matrix if g.draw.chance(0.9) else matrix.T)
        match g.draw.integer(0, 2):
            case 0:
                return g.op("Gemm", x, same, transB=int(transposed), alpha=g.draw.one_of((1.0, 1.0, 2.0)))
            case 1 if transposed:
                return g.op("MatMul", x, g.op("Transpose", same, perm=[1, 0]))
            case 2:
                wanted = g.op("Transpose", x, perm=[1, 0])
                return g.op("Transpose", g.op("Gemm", same, wanted, transA=int(not transposed)), perm=[1, 0])
            case _:
                return g.op("Gemm", x, same, transB=int(transposed))

    x = g.input([rows, size])
    first = product(x, transposed=False)
    second = product(first if g.draw.chance(0.5) else x, transposed=True)
    last = product(second, transposed=g.draw.chance(0.5)) if g.draw.chance(0.4) else second
    return g.op("Add", last, first) if g.draw.chance(0.5) else last


@pattern("fold-shifts")
def shifted_convolution(g: Sketch) -> str:
    group = g.draw.one_of((1, 1, 2))
    inputs, outputs = 2 * group, g.draw.integer(1, 2) * group
    rank = g.draw.one_of((1, 2, 2))
    x = g.input([g.draw.integer(1, 2), inputs, *g.draw.integers(rank, 2, 4)])
    ones = [1] * rank
    for _ in range(g.draw.integer(1, 2)):
        term = g.weights(g.draw.one_of(([], [1], [inputs, *ones], [1, inputs, *ones], [2, 1, *ones], [1, 1, 1, *ones], [2])))
        x = g.op(g.draw.one_of(("Add", "Sub")), *((x, term) if g.draw.chance(0.8) else (term, x)))
    if g.draw.chance(0.3):
        x = g.op("Mul", x, g.weights(g.draw.one_of(([], [inputs, *ones]))))
    weights = g.weights([outputs, inputs // group, *g.draw.integers(rank, 1, 2)])
    bias = [g.weights([outputs])] if g.draw.chance(0.4) else []
    if g.draw.chance(0.25):
        y = g.op("Conv", x, weights, *bias, group=group, auto_pad=g.draw.one_of(("VALID", "SAME_UPPER", "SAME_LOWER")))
    else:
        pads = g.draw.integers(2 * rank, 0, 1) if g.draw.chance(0.2) else [0] * (2 * rank)
        y = g.op("Conv", x, weights, *bias, group=group, pads=pads, strides=g.draw.integers(rank, 1, 2))
    return g.op("Add", y, g.weights(g.draw.one_of(([outputs, *ones], [], [2, 1, *ones])))) if g.draw.chance(0.4) else y
