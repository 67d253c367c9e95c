"""Cases of PyTorch: functions of tensors, exported as a program and computed by torch."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from tests.fuzz.case import Case, Contents, Reference
from tests.fuzz.draw import Array, Draw, NoCase

Tensors = Sequence[torch.Tensor]
Function = Callable[..., Any]


@dataclass(frozen=True)
class ExportedSource:
    """An exported program.

    Args:
        program: the `.pt2`.
        text: the graph in one line.
        kinds: the targets of its nodes.
        operands: the values of its inputs.
        constants: the values of its constants.
        expected: what torch computes.
        wide: what torch computes of the same numbers in f32, if an operand has f16; the runtime computes f16 in f32.
    """

    program: bytes
    text: str
    kinds: frozenset[str]
    operands: Sequence[Array]
    constants: Sequence[Array]
    expected: Sequence[Array]
    wide: Sequence[Array] = ()

    guesses_empty_shapes = False

    def save(self, folder: Path) -> Path:
        """Write the program."""
        path = folder / "model.pt2"
        path.write_bytes(self.program)
        return path

    def describe(self) -> str:
        """The graph in one line."""
        return self.text

    def references(self) -> Sequence[tuple[str, Reference]]:
        """PyTorch, which has computed the results already, and PyTorch in f32."""
        results: list[tuple[str, Reference]] = [("PyTorch", lambda _: list(self.expected))]
        return [*results, ("PyTorch in f32", lambda _: list(self.wide))] if self.wide else results

    def contents(self, inputs: Mapping[str, Array]) -> Contents:
        """What the program is made of."""
        return Contents(
            self.kinds, [*inputs.values(), *self.constants], True, (next(iter(self.kinds)), self.operands) if len(self.kinds) == 1 else None
        )

    def check(self, expected: Sequence[Array]) -> None:
        """Everything that torch computes is right."""


class _Function(torch.nn.Module):
    """A module that calls a function of tensors."""

    def __init__(self, function: Function) -> None:
        super().__init__()
        self.function = function

    def forward(self, *tensors: torch.Tensor) -> Any:
        return self.function(*tensors)


def exported_case(draw: Draw, subject: str, function: Function, tensors: Tensors) -> Case:
    """A case of a function of tensors whose results are a tensor or a tuple of tensors.

    Now and then the sizes that are not 0 and 1 are dynamic, and the program is decomposed. Raises NoCase if torch does
    not export it, or its results are random.
    """
    given = [tensor.detach().clone() for tensor in tensors]
    if any(each.is_complex() for each in given):
        return exported_case(draw, subject, *_with_pairs(function, given))
    torch.manual_seed(1)
    results = _computed(function, given)
    torch.manual_seed(2)
    if any(not np.array_equal(a, b, equal_nan=a.dtype.kind in "fc") for a, b in zip(results, _computed(function, given), strict=True)):
        raise NoCase("its results are random")
    wide = _computed_in_f32(function, given, results) if any(each.dtype == torch.float16 for each in given) else []
    program = _exported(draw, function, given)
    if any(map(_is_random, program.graph.nodes)):
        raise NoCase("its results are random, though it sets the seed itself")
    with torch.no_grad():
        shapes = [tuple(each.shape) for each in _computed(lambda *inputs: program.module()(*inputs), given)]
    if shapes != [each.shape for each in results]:
        raise NoCase("torch exports another program")
    names = [each for each in program.graph_signature.user_inputs if isinstance(each, str)]
    outputs = [each for each in program.graph_signature.user_outputs if isinstance(each, str)]
    if len(outputs) != len(results) or len(names) != len(given) or len(set(outputs)) != len(outputs) or set(outputs) & set(names):
        raise NoCase("an output is a constant, an input or another output")
    written = _written(function, given)
    outputs += [f"{name}_written" for name, value in zip(names, written, strict=True) if value is not None]
    values = [each for each in written if each is not None]
    if wide and values:
        raise NoCase("it writes to an input, in f16")
    results += values
    stream = io.BytesIO()
    torch.export.save(program, stream)
    kinds = frozenset(str(node.target).removeprefix("aten.") for node in program.graph.nodes if node.op == "call_function")
    if not kinds:
        raise NoCase("nothing is computed")
    arrays = [_array(tensor) for tensor in given]
    constants = [_array(each) for each in program.constants.values() if isinstance(each, torch.Tensor)]
    source = ExportedSource(stream.getvalue(), _described(program), kinds, arrays, constants, results, wide)
    return Case(subject, source, dict(zip(names, arrays, strict=True)), outputs)


def _with_pairs(function: Function, tensors: Tensors) -> tuple[Function, list[torch.Tensor]]:
    """A function of pairs of real numbers in place of complex ones, and its operands; moir has no complex inputs."""
    are_complex = [each.is_complex() for each in tensors]

    def of_pairs(*given: torch.Tensor) -> tuple[torch.Tensor, ...]:
        result = function(*(torch.view_as_complex(each) if pairs else each for each, pairs in zip(given, are_complex, strict=True)))
        results = [result] if isinstance(result, torch.Tensor) else result
        return tuple(torch.view_as_real(each.resolve_conj()) if each.is_complex() else each for each in results)

    return of_pairs, [torch.view_as_real(each.resolve_conj()).clone() if each.is_complex() else each for each in tensors]


def _is_random(node: torch.fx.Node) -> bool:
    """Whether a node drops some elements and keeps others."""
    name = str(node.target)
    shares = node.args[4:5] if "scaled_dot_product" in name else node.args[1:2] if "dropout" in name and node.args[2:3] == (True,) else ()
    return any(isinstance(each, float) and 0 < each < 1 for each in shares)


def _array(tensor: torch.Tensor) -> Array:
    """The elements of a tensor; complex ones as pairs, as IRs have them."""
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor.resolve_conj())
    if tensor.layout is not torch.strided or tensor.dtype in (torch.bfloat16,):
        raise NoCase(f"a tensor of {tensor.dtype}")
    return np.ascontiguousarray(tensor.detach().resolve_conj().resolve_neg().numpy()).reshape(tuple(tensor.shape))


def _computed_in_f32(function: Function, tensors: Tensors, results: Sequence[Array]) -> list[Array]:
    """The results of a function that computes f16 tensors in f32, converted to the types of its own results; empty if
    that is not possible.
    """
    try:
        result = _computed(function, [each.float() if each.dtype == torch.float16 else each for each in tensors])
    except NoCase:
        return []
    if [each.shape for each in result] != [each.shape for each in results]:
        return []
    with np.errstate(all="ignore"):
        return [a.astype(b.dtype) for a, b in zip(result, results, strict=True)]


def _written(function: Function, tensors: Tensors) -> list[Array | None]:
    """The values of the tensors after a function, each None if the function does not write to it."""
    given = [tensor.clone() for tensor in tensors]
    versions = [each._version for each in given]
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        function(*given)
    return [_array(each) if each._version != version else None for each, version in zip(given, versions, strict=True)]


def _computed(function: Function, tensors: Tensors) -> list[Array]:
    """What a function computes of copies of tensors. Raises NoCase if it does not."""
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            result = function(*[tensor.clone() for tensor in tensors])
    except Exception as error:
        raise NoCase(str(error)) from None
    results = [result] if isinstance(result, torch.Tensor) else list(result)
    if not results or not all(isinstance(each, torch.Tensor) for each in results):
        raise NoCase("a result is not a tensor")
    return [_array(each) for each in results]


def _exported(draw: Draw, function: Function, tensors: Tensors) -> torch.export.ExportedProgram:
    """The program of a function. Raises NoCase if torch does not export it."""
    dynamic, decomposed = draw.chance(0.4), draw.chance(0.3)
    shapes = ([{axis: torch.export.Dim.AUTO for axis, size in enumerate(each.shape) if size > 1} for each in tensors],)
    for given in (shapes, None) if dynamic else (None,):
        try:
            with warnings.catch_warnings(), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()), torch.no_grad():
                warnings.simplefilter("ignore")
                copies = tuple(tensor.clone() for tensor in tensors)
                program = torch.export.export(_Function(function), copies, dynamic_shapes=given)
                return program.run_decompositions() if decomposed else program
        except Exception as error:
            reason = str(error)
    raise NoCase(reason)


def _described(program: torch.export.ExportedProgram) -> str:
    """The nodes of a program in one line."""
    parts: list[str] = []
    for node in program.graph.nodes:
        value = node.meta.get("val")
        if node.op == "placeholder":
            kind = f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}" if isinstance(value, torch.Tensor) else str(value)
            parts.append(f"{node.name}: {kind}")
        elif node.op == "call_function":
            parts.append(f"{node.name} = {node.target}({', '.join(map(str, (*node.args, *node.kwargs.items())))})")
    return "; ".join(parts).replace("\n", " ")
