"""Networks of known architectures, whose blocks have other operations between them: a generator of a search of its own."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from fnmatch import fnmatch

from tests.fuzz.case import Case
from tests.fuzz.draw import Draw, NoCase
from tests.fuzz.fusions.architectures import convolutional, sequential
from tests.fuzz.fusions.architectures.insertions import inserted
from tests.fuzz.fusions.architectures.language import Language
from tests.fuzz.fusions.architectures.onnx_language import OnnxLanguage
from tests.fuzz.fusions.architectures.registry import Architecture
from tests.fuzz.fusions.draft import Value

ARCHITECTURES: Mapping[str, Architecture] = {**convolutional.ARCHITECTURES, **sequential.ARCHITECTURES}

QUANTIZED = "-quantized"
"""What follows the name of an architecture whose convolutions and products are quantized."""

SUBJECTS = tuple(ARCHITECTURES) * 2 + tuple(name + QUANTIZED for name in ARCHITECTURES)
TRIES = 4


def onnx_network(draw: Draw, only: str = "*") -> Case:
    """A network of ONNX whose architecture matches a glob."""
    name = chosen(draw, only)
    return network(OnnxLanguage(draw, quantizes=name.endswith(QUANTIZED)), name)


def chosen(draw: Draw, only: str) -> str:
    """The name of an architecture that matches a glob. Raises NoCase if there is none."""
    names = [name for name in SUBJECTS if fnmatch(name, only)]
    if not names:
        raise NoCase("nothing of that name")
    return draw.one_of(names)


def network(n: Language, name: str) -> Case:
    """A network of a named architecture: its first layers, one to three blocks with insertions around them, perhaps a head."""
    draw, architecture = n.draw, ARCHITECTURES[name.removesuffix(QUANTIZED)]
    x = architecture.begin(n)
    n.values.append(x)
    appended = 0
    for _ in range(draw.one_of((1, 1, 2, 2, 3))):
        x = inserted(n, x, draw.one_of((0, 1, 1, 2)))
        after = block_after(n, x, architecture)
        appended += after is not x
        x = after
        n.values.append(x)
        if draw.chance(0.2):
            n.outputs.append(x)
    if not appended:
        raise NoCase("no block fits")
    x = inserted(n, x, draw.one_of((0, 1, 2)))
    if architecture.heads and draw.chance(0.5):
        n.outputs.extend([x] if draw.chance(0.2) else [])
        with suppress(NoCase):
            x = draw.one_of(architecture.heads)(n, x)
    if draw.chance(0.3):
        n.outputs.append(draw.one_of(n.values))
    n.outputs.append(x)
    return n.case(name)


def block_after(n: Language, x: Value, architecture: Architecture) -> Value:
    """The value after a block of an architecture; the value itself if none fits."""
    for _ in range(TRIES):
        try:
            return n.draw.one_of(architecture.blocks)(n, x)
        except NoCase:
            continue
    return x
