"""Modules written as lines of text, run on OpenVINO Runtime before and after passes.

Each case says which kinds of operations are left, so that a pass that does nothing fails.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from moir.analysis.known_values import KnownValues
from moir.dialects.context import MoirContext
from moir.dialects.data import DataAttr
from moir.dialects.inference import infer_block
from moir.dialects.moir import models_of
from moir.pipeline import load_pass
from tests.numerical.passes.module_results import results_of_modules

Array = np.ndarray
Sizes = tuple[tuple[int, ...], ...]

UNCOUNTED = ("Constant", "Parameter", "Result")


def build(text: str, **weights: Array) -> ModuleOp:
    """A module of the lines of a model: `$name` is a constant of random numbers given as `weights`, types are inferred."""
    lines: list[str] = []
    for name, array in weights.items():
        type_ = f"tensor<{''.join(f'{size}x' for size in array.shape)}{'f16' if array.dtype == np.float16 else 'f32'}>"
        lines.append(f'%{name} = opset1.Constant() {{value = #moir.data<{type_}, elided "{name}">}} : {type_}')
    for line in filter(None, map(str.strip, text.splitlines())):
        lines.append(line if " : " in line or "Result" in line else f"{line} : {', '.join(['tensor<*x!moir.dynamic>'] * results(line))}")
    module = Parser(MoirContext(), "builtin.module { moir.model @case {\n" + "\n".join(lines) + "\n} }").parse_module()
    for op in module.walk():
        data = op.properties.get("value")
        if isinstance(data, DataAttr) and data.data.array is None:
            op.properties["value"] = DataAttr.of(weights[data.data.key])
    for model in models_of(module):
        infer_block(model.block, KnownValues())
    module.verify()
    return module


def results(line: str) -> int:
    """Number of results a line names."""
    return line.partition("=")[0].count("%")


def ints(name: str, *values: int) -> str:
    """A line with a constant list."""
    return f"%{name} = opset1.Constant() {{value = #moir.data<tensor<{len(values)}xsi64>, {list(values)}>}} : tensor<{len(values)}xsi64>\n"


def integer(name: str, value: int) -> str:
    """A line with a constant scalar."""
    return f"%{name} = opset1.Constant() {{value = #moir.data<tensor<si64>, [{value}]>}} : tensor<si64>\n"


def inputs(*types: str) -> str:
    """Lines of inputs x, y, z of these types."""
    return "".join(
        f'%{name} = opset1.Parameter() {{name = "{name}"}} : tensor<{type_}>\n' for name, type_ in zip("xyz", types, strict=False)
    )


def apply(module: ModuleOp, names: str) -> None:
    """Apply passes by their names, and drop what is dead."""
    for name in (*names.split(), "eliminate-dead"):
        load_pass(name)().apply(Context(), module)
    module.verify()


def run(module: ModuleOp, *arrays: Array) -> list[Array]:
    """Outputs of a module on the CPU."""
    [results] = results_of_modules([module], arrays)
    return results


def kinds(module: ModuleOp) -> dict[str, int]:
    """How often each kind of operation occurs."""
    names = (op.name.partition(".")[2] for op in module.walk() if op.name.startswith("opset"))
    return dict(Counter(name for name in names if name not in UNCOUNTED))


def check(names: str, text: str, expected: dict[str, int], *sizes: Sizes, tolerance: float = 1e-5, **weights: Array) -> None:
    """Passes leave the expected operations, and the results for inputs of each of the sizes as they are."""
    before, after = build(text, **weights), build(text, **weights)
    apply(after, names)
    assert kinds(after) == expected
    random = np.random.default_rng(7)
    for shapes in sizes:
        arrays = [random.standard_normal(shape).astype(np.float32) for shape in shapes]
        for a, b in zip(*results_of_modules([before, after], arrays), strict=True):
            assert a.shape == b.shape
            assert a.dtype == b.dtype
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def numbers(*shape: int) -> Array:
    """Weights."""
    return np.random.default_rng(sum(shape)).uniform(0.5, 1.5, shape).astype(np.float32)


ADJACENT = "strides = [1, 1], dilations = [1, 1], pads_begin = [1, 1], pads_end = [1, 1]"
