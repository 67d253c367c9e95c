"""Blocks of networks for images: residual, inverted, with attention over channels, and the parts of detectors."""

from __future__ import annotations

from tests.fuzz.fusions.architectures.language import Language
from tests.fuzz.fusions.architectures.registry import Architecture
from tests.fuzz.fusions.draft import Value

WIDTHS = (3, 8, 8, 16, 16, 24, 32)


def stem(n: Language) -> Value:
    """An image of one to three channels, or of many as within a network, and a first convolution."""
    draw = n.draw
    size = draw.one_of((4, 6, 7, 8, 8, 9, 12, 16))
    sizes = [size, size] if draw.chance(0.8) else [size, draw.one_of((4, 5, 8))]
    x = n.input(n.image_shape(draw.one_of((1, 1, 1, 2)), draw.one_of((1, 3, 3, 8, 16)), sizes))
    if draw.chance(0.8):
        x = normalized(n, n.convolution(x, draw.one_of(WIDTHS), [3, 3], draw.one_of((1, 1, 2))))
        x = activated(n, x, ("Relu", "HardSwish", "Swish"))
    if draw.chance(0.2):
        x = n.pooled("max", x, 3, 2)
    return x


def normalized(n: Language, x: Value) -> Value:
    """A batch normalization, as most networks keep it, or none, as exporters leave it."""
    return n.batch_normalization(x) if n.draw.chance(0.6) else x


def activated(n: Language, x: Value, kinds: tuple[str, ...]) -> Value:
    """One of several activations."""
    return n.unary(n.draw.one_of(kinds), x)


def square(n: Language) -> list[int]:
    """The kernel of a spatial convolution."""
    return n.draw.one_of(([3, 3], [3, 3], [3, 3], [5, 5], [1, 1], [1, 3], [3, 1], [7, 7]))


def residual(n: Language, x: Value) -> Value:
    """ResNet: two or three convolutions and the input, which a convolution fits if it does not."""
    draw, width, stride = n.draw, n.channels(x), n.draw.one_of((1, 1, 2))
    filters = draw.one_of((width, width, 16, 32))
    y = n.unary("Relu", normalized(n, n.convolution(x, draw.one_of((width, 8, 16)), [1, 1] if draw.chance(0.5) else [3, 3], stride)))
    if draw.chance(0.4):
        y = n.unary("Relu", normalized(n, n.convolution(y, n.channels(y), [3, 3])))
    y = normalized(n, n.convolution(y, filters, [3, 3] if draw.chance(0.6) else [1, 1]))
    if draw.chance(0.3):
        x = n.unary(draw.one_of(("Relu", "LeakyRelu")), x)
    if filters != width or stride != 1:
        x = n.pooled("average", x, 2, 2) if stride == 2 and draw.chance(0.3) and n.sizes(x)[0] % 2 == n.sizes(x)[1] % 2 == 0 else x
        x = normalized(n, n.convolution(x, filters, [1, 1], 1 if n.sizes(x) == n.sizes(y) else stride))
    total = n.binary("Add", y, x) if draw.chance(0.7) else n.binary("Add", x, y)
    return n.unary("Relu", total) if draw.chance(0.7) else total


def inverted_residual(n: Language, x: Value) -> Value:
    """MobileNet: wide, each channel by itself, narrow; EfficientNet with attention over channels within."""
    draw, width, stride = n.draw, n.channels(x), n.draw.one_of((1, 1, 1, 2))
    kinds = draw.one_of((("Relu6",), ("HardSwish",), ("Swish",), ("Relu",)))
    wide = width * draw.one_of((1, 2, 3))
    y = activated(n, normalized(n, n.convolution(x, wide, [1, 1])), kinds) if wide != width else x
    y = activated(n, normalized(n, n.convolution(y, wide, square(n), stride, groups=wide)), kinds)
    if draw.chance(0.5):
        y = attention_over_channels(n, y)
    filters = draw.one_of((width, width, 8, 24))
    y = normalized(n, n.convolution(y, filters, [1, 1]))
    return n.binary("Add", x, y) if y.shape == x.shape and draw.chance(0.8) else y


def attention_over_channels(n: Language, x: Value) -> Value:
    """Squeeze and excitation: factors for the channels, of their averages."""
    draw, width = n.draw, n.channels(x)
    gate = n.reduced("Mean", x, n.spatial_axes(x), keep=True)
    gate = activated(n, n.convolution(gate, max(1, width // draw.one_of((2, 4))), [1, 1]), ("Relu", "Swish"))
    gate = activated(n, n.convolution(gate, width, [1, 1]), ("Sigmoid", "HardSigmoid"))
    return n.binary("Mul", x, gate) if draw.chance(0.6) else n.binary("Mul", gate, x)


def next_block(n: Language, x: Value) -> Value:
    """ConvNeXt: each channel by itself, normalization of the channels last, two products, a factor for each channel."""
    draw, width = n.draw, n.channels(x)
    y = n.convolution(x, width, draw.one_of(([7, 7], [3, 3], [5, 5])), groups=width)
    moves = not n.channels_last and draw.chance(0.7)
    if moves:
        y = n.transposed(y, (0, 2, 3, 1))
    y = n.layer_normalization(y, y.rank - 1 if moves or n.channels_last else 1)
    if moves or n.channels_last:
        y = n.dense(activated(n, n.dense(y, 2 * width), ("Gelu",)), width)
        y = n.binary("Mul", y, n.constant(n.numbers((width,), 0.5)))
    else:
        y = n.convolution(activated(n, n.convolution(y, 2 * width, [1, 1]), ("Gelu",)), width, [1, 1])
        y = n.binary("Mul", y, n.per_channel(y, n.numbers((width,), 0.5)))
    if moves:
        y = n.transposed(y, (0, 3, 1, 2))
    return n.binary("Add", x, y)


def contracted_and_expanded(n: Language, x: Value) -> Value:
    """U-Net: smaller, wider, larger again, beside what it was."""
    draw, width, axis = n.draw, n.channels(x), n.channel_axis(x)
    skip = n.unary("Relu", n.convolution(x, width, [3, 3]))
    y = n.pooled(draw.one_of(("max", "max", "average")), skip, 2, 2) if draw.chance(0.7) else n.convolution(skip, width, [3, 3], 2)
    y = n.unary("Relu", n.convolution(y, draw.one_of((width, 2 * width)), [3, 3]))
    y = n.resized(y, 2) if draw.chance(0.5) else n.transposed_convolution(y, width, 2)
    # The size of an odd image is one more after it: what is beyond goes.
    for each, size in zip(n.spatial_axes(y), n.sizes(skip), strict=True):
        if y.shape[each] > size:
            y = n.sliced(y, each, 0, size)
    if y.shape == skip.shape and draw.chance(0.3):
        y = n.binary("Mul", skip, n.unary("Sigmoid", y))
    return n.unary("Relu", n.convolution(n.joined([skip, y] if draw.chance(0.6) else [y, skip], axis), width, [3, 3]))


def partial_stage(n: Language, x: Value) -> Value:
    """YOLO: one half of the channels through bottlenecks, all parts beside each other."""
    draw, width, axis = n.draw, n.channels(x), n.channel_axis(x)
    kinds = draw.one_of((("Swish",), ("LeakyRelu",), ("Mish",), ("Relu",), ("HardSwish",)))
    half = max(1, width // 2)
    y = activated(n, normalized(n, n.convolution(x, 2 * half, [1, 1])), kinds)
    rows = n.parts(y, [half, half], axis)
    for _ in range(draw.integer(1, 2)):
        z = activated(n, normalized(n, n.convolution(rows[-1], half, [3, 3])), kinds)
        z = activated(n, normalized(n, n.convolution(z, half, [3, 3])), kinds)
        rows.append(n.binary("Add", rows[-1], z) if draw.chance(0.6) else z)
    return activated(n, normalized(n, n.convolution(n.joined(rows, axis), width, [1, 1])), kinds)


def pyramid_pooling(n: Language, x: Value) -> Value:
    """YOLO: maxima over windows of three sizes beside each other."""
    width = n.channels(x)
    y = n.unary("Swish", n.convolution(x, max(1, width // 2), [1, 1]))
    rows = [y]
    for _ in range(2):
        rows.append(n.pooled("max", rows[-1], n.draw.one_of((3, 5)), 1))
    return n.unary("Swish", n.convolution(n.joined(rows, n.channel_axis(x)), width, [1, 1]))


def shuffled(n: Language, x: Value) -> Value:
    """ShuffleNet: half of the channels through convolutions, then the channels of both halves by turns."""
    half, axis = max(1, n.channels(x) // 2), n.channel_axis(x)
    first, second = n.parts(x, [half, n.channels(x) - half], axis)
    second = n.unary("Relu", normalized(n, n.convolution(second, half, [1, 1])))
    second = normalized(n, n.convolution(second, half, [3, 3], groups=half))
    y = n.joined([first, n.unary("Relu", n.convolution(second, half, [1, 1]))], axis)
    shape = [*y.shape[:axis], 2, half, *y.shape[axis + 1 :]]
    order = [*range(axis), axis + 1, axis, *range(axis + 2, y.rank + 1)]
    return n.reshaped(n.transposed(n.reshaped(y, shape), order), y.shape)


def classified(n: Language, x: Value) -> Value:
    """The head of a classifier."""
    y = n.reduced("Mean", x, n.spatial_axes(x), keep=False) if n.draw.chance(0.7) else n.flattened(x)
    y = n.dense(y, n.draw.one_of((2, 5, 10)))
    return n.softmax(y, 1) if n.draw.chance(0.5) else y


def detected(n: Language, x: Value) -> Value:
    """The head of YOLO: boxes and scores of each cell, computed from the parts of the last dimension."""
    draw, classes, anchors = n.draw, 3, n.draw.one_of((1, 3))
    y = n.convolution(x, anchors * (4 + classes), [1, 1])
    height, width = n.sizes(y)
    if n.channels_last:
        y = n.reshaped(y, (x.shape[0], height * width * anchors, 4 + classes))
    else:
        y = n.reshaped(y, (x.shape[0], anchors, 4 + classes, height * width))
        y = n.reshaped(n.transposed(y, (0, 1, 3, 2)), (x.shape[0], anchors * height * width, 4 + classes))
    if draw.chance(0.5):
        y = n.unary("Sigmoid", y)
    centres, sizes, scores = n.parts(y, [2, 2, classes], 2)
    centres = n.binary("Mul", n.binary("Add", centres, n.constant(n.numbers((1, y.shape[1], 2), 3.0))), n.scalar(8.0))
    sizes = n.binary("Mul", n.unary("Square", sizes), n.constant(n.numbers((1, y.shape[1], 2), 0.5, 2.0)))
    if draw.chance(0.4):
        n.outputs.append(scores)
    return n.joined([centres, sizes, n.unary("Sigmoid", scores)], 2)


ARCHITECTURES = {
    "resnet": Architecture(stem, (residual,), (classified,)),
    "mobilenet": Architecture(stem, (inverted_residual,), (classified,)),
    "convnext": Architecture(stem, (next_block,), (classified,)),
    "unet": Architecture(stem, (contracted_and_expanded, residual), ()),
    "yolo": Architecture(stem, (partial_stage, pyramid_pooling), (detected,)),
    "shufflenet": Architecture(stem, (shuffled,), (classified,)),
    "images": Architecture(
        stem,
        (
            residual,
            inverted_residual,
            next_block,
            contracted_and_expanded,
            partial_stage,
            pyramid_pooling,
            shuffled,
            attention_over_channels,
        ),
        (classified, detected),
    ),
}
