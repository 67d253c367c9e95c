"""Single functions of `keras.ops`, which functional models have as layers."""

from __future__ import annotations

from functools import cache

from tests.fuzz.case import Case
from tests.fuzz.draw import Draw
from tests.fuzz.keras.layer_model import ONNX_OF, keras_case
from tests.fuzz.keras.recipe import FUNCTIONS
from tests.fuzz.recipe_table import matching


@cache
def names(only: str = "*") -> list[str]:
    """The functions that have a recipe and match a glob."""
    return matching(FUNCTIONS, "tests.fuzz.keras.recipes", ["functions", "network_functions"], only)


def single_function(draw: Draw, only: str) -> Case:
    """A model of one function."""
    name = draw.subject(names(only))
    return keras_case(draw, name, ONNX_OF.get(name, name), lambda: FUNCTIONS[name](draw, name), "float32")
