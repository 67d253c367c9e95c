"""Single layers of Keras, with options drawn at random."""

from __future__ import annotations

from functools import cache

from tests.fuzz.case import Case
from tests.fuzz.draw import Draw
from tests.fuzz.keras.layer_model import KINDS, POLICIES, keras_case
from tests.fuzz.keras.recipe import LAYERS
from tests.fuzz.recipe_table import matching

FAMILIES = ["activation", "attention", "convolution", "merging", "normalization", "pooling", "preprocessing", "recurrent", "reshaping"]


@cache
def classes(only: str = "*") -> list[str]:
    """The layers that have a recipe and match a glob."""
    return matching(LAYERS, "tests.fuzz.keras.recipes", FAMILIES, only)


def single_layer(draw: Draw, only: str) -> Case:
    """A model of one layer."""
    name = draw.subject(classes(only))
    rankless = name.removesuffix("Transpose").rstrip("123D")
    return keras_case(draw, name, KINDS.get(rankless, rankless), lambda: LAYERS[name](draw, name), draw.one_of(POLICIES))
