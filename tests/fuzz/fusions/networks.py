"""Random networks of 4 to 12 operations, most of whose values have several users."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatch

import numpy as np

from tests.fuzz.case import Case
from tests.fuzz.draw import Draw, NoCase
from tests.fuzz.fusions.combinations import appended
from tests.fuzz.fusions.draft import Draft, Value
from tests.fuzz.fusions.kinds import every as _every

_CONVOLUTIONAL = {"window": 4.0, "pooling": 1.5, "activation": 2.5, "arithmetic": 3.0, "movement": 2.5, "normalization": 0.8}

STYLES: Mapping[str, tuple[float, dict[str, float]]] = {
    "convolutional": (5.0, {**_CONVOLUTIONAL, "unary": 0.7, "reduction": 0.4}),
    "quantized": (3.0, {**_CONVOLUTIONAL, "quantization": 4.0, "product": 0.7}),
    "channels-last": (1.5, {**_CONVOLUTIONAL, "quantization": 0.7, "reduction": 0.7}),
    "transformer": (
        3.0,
        {"block": 4.0, "product": 3.0, "normalization": 2.0, "activation": 1.5, "arithmetic": 2.0, "movement": 1.5, "reduction": 1.0},
    ),
    "recurrent": (1.0, {"recurrent": 4.0, "product": 1.5, "activation": 1.0, "arithmetic": 1.5, "movement": 1.5, "quantization": 0.5}),
    "vectors": (1.0, {"unary": 2.0, "activation": 2.0, "arithmetic": 3.0, "movement": 4.0, "reduction": 1.0}),
    "any": (
        1.5,
        {
            **dict.fromkeys(("activation", "unary", "arithmetic", "window", "pooling", "movement", "reduction"), 2.0),
            "normalization": 1.0,
            "product": 1.0,
            "quantization": 1.0,
            "block": 0.5,
            "recurrent": 0.5,
        },
    ),
}
"""The styles of networks: how often each is drawn, and how often kinds of which families are drawn for it."""

assert _every.KINDS


def network(draw: Draw, only: str = "*") -> Case:
    """A network whose style matches a glob."""
    styles = [style for style in STYLES if fnmatch(style, only)]
    if not styles:
        raise NoCase("nothing of that name")
    shares = np.array([STYLES[style][0] for style in styles])
    style = styles[int(draw.random.choice(len(styles), p=shares / shares.sum()))]
    families = STYLES[style][1]
    d = Draft(draw, channels_last=style == "channels-last")
    if style == "quantized":
        d.quantized_weights = draw.one_of((0.0, 0.7, 1.0))
    dtype = np.float16 if draw.chance(0.04) else np.float32
    for _ in range(draw.one_of((1, 1, 1, 2))):
        value = d.input(_shape(d, style, d.values), dtype)
    if style == "quantized":
        _, value = appended(d, value, "QDQ*", {"quantization": 1.0})
    names: list[str] = []
    for _ in range(draw.integer(4, 12)):
        live = [each for each in d.values if each.size <= 4000]
        if not live:
            raise NoCase("a large input")
        x = live[-1] if draw.chance(0.55) else draw.one_of(live[-5:]) if draw.chance(0.7) else draw.one_of(live)
        try:
            name, _ = appended(d, x, families=families)
        except NoCase:
            continue
        names.append(name)
        if style == "quantized" and draw.chance(0.3):
            appended_or_not(d, d.values[-1])
    computed = [each for each in d.values if each.name not in d.inputs]
    if len(names) < 3:
        raise NoCase("too few operations")
    unused = [each for each in computed if not any(each.name in node.input for node in d.nodes)]
    d.outputs.extend(unused[-draw.integer(1, 3) :] or computed[-1:])
    if draw.chance(0.35):
        d.outputs.append(draw.one_of(computed))
    return d.case(style)


def appended_or_not(d: Draft, x: Value) -> None:
    """Quantize a value if it can be."""
    try:
        appended(d, x, "QDQ*", {"quantization": 1.0})
    except NoCase:
        return


def _shape(d: Draft, style: str, before: list[Value]) -> list[int]:
    """The shape of an input."""
    draw = d.draw
    if before and draw.chance(0.6):
        return list(before[0].shape)
    batch = draw.one_of((1, 1, 1, 2, 3))
    if style == "transformer":
        return [batch, draw.one_of((1, 2, 3, 5, 8)), draw.one_of((4, 8, 8, 16))]
    if style == "vectors":
        return [draw.one_of((1, 2, 3, 4, 5, 8))] if draw.chance(0.6) else [draw.one_of((1, 2, 4)), draw.one_of((1, 3, 4))]
    if style == "recurrent":
        return [draw.one_of((1, 2, 3)), batch, draw.one_of((1, 2, 4))] if draw.chance(0.6) else [batch, draw.one_of((2, 3, 4))]
    spatial = draw.one_of((2, 2, 2, 2, 2, 1, 1, 3))
    size = draw.one_of((1, 3, 4, 5, 7, 8, 8, 8, 12 if spatial < 3 else 4))
    sizes = [size] * spatial if draw.chance(0.75) else [draw.one_of((1, 2, 3, 5, 8)) for _ in range(spatial)]
    channels = draw.one_of((1, 2, 3, 4, 4, 6, 8, 8, 16))
    return [batch, *sizes, channels] if d.channels_last else [batch, channels, *sizes]
