"""Single operations of StableHLO, drawn as the functions of `jax.lax` that become one, and some that become a few."""

from __future__ import annotations

from fnmatch import fnmatch
from functools import cache
from importlib import import_module

from tests.fuzz.case import Case
from tests.fuzz.draw import Draw
from tests.fuzz.stablehlo.program import program_case
from tests.fuzz.stablehlo.recipe import RECIPES

FAMILIES = ["elementwise", "indexing", "linear_algebra", "movement", "products", "reduction", "windows", "control_flow", "functions"]

ONNX_OF = {
    "add": "Add",
    "argmax": "ArgMax",
    "argmin": "ArgMin",
    "avg_pool": "AveragePool",
    "clamp": "Clip",
    "concatenate": "Concat",
    "conv_general_dilated": "Conv",
    "conv_transpose": "Conv",
    "convert_element_type": "Cast",
    "cumsum": "CumSum",
    "div": "Div",
    "dot_general": "MatMul",
    "eq": "Equal",
    "exp": "Exp",
    "expm1": "Expm1",
    "ge": "GreaterOrEqual",
    "gelu": "Gelu",
    "gt": "Greater",
    "le": "LessOrEqual",
    "log_softmax": "LogSoftmax",
    "logsumexp": "ReduceLogSumExp",
    "lt": "Less",
    "max": "Max",
    "min": "Min",
    "mul": "Mul",
    "pow": "Pow",
    "reduce_max": "ReduceMax",
    "reduce_min": "ReduceMin",
    "reduce_prod": "ReduceProd",
    "reduce_sum": "ReduceSum",
    "reduce_window": "MaxPool",
    "rem": "Mod",
    "scatter": "ScatterND",
    "select": "Where",
    "softmax": "Softmax",
    "sort": "TopK",
    "sub": "Sub",
    "top_k": "TopK",
    "transpose": "Transpose",
}
"""Functions by their names in ONNX, for the rules of faults."""


@cache
def functions(only: str = "*") -> list[str]:
    """The functions that have a recipe and match a glob."""
    for family in FAMILIES:
        import_module(f"tests.fuzz.stablehlo.recipes.{family}")
    return [name for name in RECIPES if fnmatch(name, only)]


def single_operation(draw: Draw, only: str) -> Case:
    """A program of one function."""
    name = draw.subject(functions(only))
    function, arrays = RECIPES[name](draw, name)
    return program_case(draw, name, ONNX_OF.get(name, name), function, arrays)
