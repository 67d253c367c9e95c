"""Single operations of StableHLO, drawn as the functions of `jax.lax` that become one, and some that become a few."""

from __future__ import annotations

from functools import cache

from tests.fuzz.case import Case
from tests.fuzz.draw import Draw
from tests.fuzz.recipe_table import matching
from tests.fuzz.stablehlo.names import ONNX_OF
from tests.fuzz.stablehlo.program import program_case
from tests.fuzz.stablehlo.recipe import RECIPES

FAMILIES = ["elementwise", "indexing", "linear_algebra", "movement", "products", "reduction", "windows", "control_flow", "functions"]


@cache
def functions(only: str = "*") -> list[str]:
    """The functions that have a recipe and match a glob."""
    return matching(RECIPES, "tests.fuzz.stablehlo.recipes", FAMILIES, only)


def single_operation(draw: Draw, only: str) -> Case:
    """A program of one function."""
    name = draw.subject(functions(only))
    function, arrays = RECIPES[name](draw, name)
    return program_case(draw, name, ONNX_OF.get(name, name), function, arrays)
