"""Single operations of TensorFlow Lite: operations of TensorFlow that its converter makes builtin operators of."""

from __future__ import annotations

from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import numpy as np

from tests.fuzz.case import Case
from tests.fuzz.draw import Draw, NoCase
from tests.fuzz.tensorflow.nodes import element_types, kinds, operation_case
from tests.fuzz.tensorflow.recipe import RECIPES
from tests.fuzz.tflite.lite_model import FORMS, lite_case

LIST = Path(__file__).with_name("operations.txt")
"""The operations that the converter of TensorFlow 2.21 converts to builtin operators for some element type."""


@cache
def convertible(only: str = "*") -> list[str]:
    """The operations with a recipe that the converter converts and that match a glob."""
    listed = set(LIST.read_text(encoding="utf-8").split())
    return [kind for kind in kinds() if kind in listed and fnmatch(kind, only)]


def single_operation(draw: Draw, only: str) -> Case:
    """A model of one operation."""
    kind = draw.subject(convertible(only))
    types = element_types(kind, RECIPES[kind][1])
    if not types:
        raise NoCase("no kernel on the CPU")
    form = draw.one_of(FORMS)
    dtype = np.dtype(np.float32) if form != "float" else draw.one_of(types)
    return lite_case(operation_case(draw, kind, dtype), form)
