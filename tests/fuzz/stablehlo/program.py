"""A function of arrays, exported by JAX, as the model of a case."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax import export

from tests.fuzz.case import Case, Contents, Reference
from tests.fuzz.draw import Array, Draw, NoCase
from tests.fuzz.stablehlo.names import ONNX_OF

jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]
jax.config.update("jax_platforms", "cpu")  # type: ignore[no-untyped-call]

FORMS = ("jax", "jax", "mlirbc", "mlir")
"""The forms of a file."""


@dataclass(frozen=True)
class ExportedProgram:
    """A program.

    Args:
        exported: what JAX exported.
        form: the form of the file.
        kind: the operation by its name in ONNX.
        operands: the values of its inputs.
        expected: what JAX computes.
    """

    exported: Any = field(repr=False)
    form: str
    kind: str
    operands: Sequence[Array]
    expected: Sequence[Array]

    guesses_empty_shapes = False

    def save(self, folder: Path) -> Path:
        """Write the program."""
        path = folder / f"model.{self.form}"
        contents: Mapping[str, Callable[[], bytes]] = {
            "jax": lambda: bytes(self.exported.serialize()),
            "mlirbc": lambda: self.exported.mlir_module_serialized,
            "mlir": lambda: self.exported.mlir_module().encode(),
        }
        path.write_bytes(contents[self.form]())
        return path

    def describe(self) -> str:
        """The operations of the text in one line."""
        lines = [line.split(" loc(")[0].strip() for line in str(self.exported.mlir_module()).splitlines() if "stablehlo." in line]
        return f"{self.form}: {', '.join(map(str, self.exported.in_avals))}: {'; '.join(lines)}"[:1500]

    def references(self) -> Sequence[tuple[str, Reference]]:
        """JAX, which has computed the results already."""
        return [("JAX", lambda _: list(self.expected))]

    def contents(self, inputs: Mapping[str, Array]) -> Contents:
        """What the program is made of."""
        text = str(self.exported.mlir_module())
        kinds = {self.kind, *(ONNX_OF.get(name, name) for name in re.findall(r"stablehlo\.(\w+)", text))}
        if "complex<" in text:
            # They are pairs in an IR, which are separated and joined.
            kinds.add("Complex")
        return Contents(frozenset(kinds), [*inputs.values()], True, (self.kind, self.operands))

    def check(self, expected: Sequence[Array]) -> None:
        """Everything that JAX computes is right."""


def real_parts(array: Array) -> Array:
    """An array as an input or result of an IR has it: complex numbers are pairs."""
    return np.stack([array.real, array.imag], axis=-1) if np.iscomplexobj(array) else array


def program_case(
    draw: Draw, subject: str, kind: str, function: Callable[..., Any], arrays: Sequence[Array], *, constants: float = 0.15
) -> Case:
    """A case of a function of arrays, each of which is an input, or a constant with a probability.

    Now and then sizes of the first input are symbols. Raises NoCase if JAX does not compute or export it.
    """
    fixed = [draw.chance(constants) for _ in arrays]
    if all(fixed):
        fixed[0] = False
    given = {f"x{index}": array for index, array in enumerate(arrays) if not fixed[index]}

    def called(values: Mapping[str, Any]) -> list[Any]:
        operands = [array if fixed[index] else values[f"x{index}"] for index, array in enumerate(arrays)]
        return list(jax.tree.leaves(function(*operands)))

    named = eval(f"lambda {', '.join(given)}: called(dict({', '.join(f'{name}={name}' for name in given)}))", {"called": called})
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = jax.jit(named, keep_unused=True)
            expected = [np.asarray(each) for each in program(*given.values())]
            shapes = symbols(draw, list(given.values())) if draw.chance(0.2) else [array.shape for array in given.values()]
            specs = [jax.ShapeDtypeStruct(shape, array.dtype) for shape, array in zip(shapes, given.values(), strict=True)]
            exported = export.export(program)(*specs)
    except Exception as error:
        raise NoCase(f"{type(error).__name__}: {error}") from None
    if not expected:
        raise NoCase("it has no results")
    if any(array.dtype == np.float16 for array in given.values()) and _overflows_between(program, given, expected):
        raise NoCase("numbers of 16 bits overflow on the way, which the runtime computes in 32")
    expected = [real_parts(each) for each in expected]
    source = ExportedProgram(exported, draw.one_of(FORMS), kind, list(arrays), expected)
    outputs = [f"result_{index}" for index in range(len(expected))]
    return Case(subject, source, {name: real_parts(array) for name, array in given.items()}, outputs)


def _overflows_between(program: Any, given: Mapping[str, Array], expected: Sequence[Array]) -> bool:
    """Whether results of f16 are infinite that would be numbers of f16 if they were computed in f32."""
    wide = [array.astype(np.float32) if array.dtype == np.float16 else array for array in given.values()]
    try:
        computed = [np.asarray(each) for each in program(*wide)]
    except Exception:
        return False
    with np.errstate(over="ignore"):
        pairs = [(each, other.astype(np.float16)) for each, other in zip(expected, computed, strict=True) if each.dtype == np.float16]
    return any(each.shape == other.shape and bool((np.isfinite(other) & ~np.isfinite(each)).any()) for each, other in pairs)


def symbols(draw: Draw, arrays: Sequence[Array]) -> list[Any]:
    """Shapes in which a symbol stands for each of some sizes, the same in all arrays."""
    sizes = sorted({size for array in arrays for size in array.shape if size > 1 and draw.chance(0.5)})
    if not sizes:
        return [array.shape for array in arrays]
    names = {size: f"n{size}" for size in sizes}
    scope = export.SymbolicScope()
    return [
        export.symbolic_shape(", ".join(names.get(size, str(size)) for size in array.shape), scope=scope) if array.ndim else ()
        for array in arrays
    ]
