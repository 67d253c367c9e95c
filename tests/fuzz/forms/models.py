"""Random models for the forms of a target: variants of the models of their lit tests, and models around convolutions."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import openvino
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.parser import Parser

import moir
from moir.analysis.known_values import KnownValues
from moir.dialects.context import MoirContext
from moir.dialects.element_types import REAL_TYPES, to_numpy
from moir.dialects.inference import infer_block, set_type
from moir.dialects.moir import models_of
from moir.dialects.opset.infrastructure import Constant, Parameter, Result
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.properties import string_attribute
from moir.dialects.shapes import element_of, shape_of, tensor
from moir.rewriting.builder import OpBuilder
from tests.fuzz.forms.sweeps import SWEEPS
from tests.numerical.targets.models import EVERY_PROOF, FORM_OF, PROOFS_OF_FORMS, model_of

LIT = Path(__file__).parents[2] / "filecheck" / "targets" / "openvino_cpu"
SIZES = (1, 2, 2, 3, 3, 4, 5, 7, 8)
"""The sizes that unknown dimensions get, some of them more often."""
OF_THEIR_INPUTS = ("move-string-indices",)
"""The forms whose models make no sense with other inputs than those of the smallest models of their faults."""
OF_SEVERAL_ENTRIES = ("slice-single-entries",)
"""The forms whose lit tests take an entry that small tensors do not have."""
UNARY = ("opset1.Relu", "opset1.Tanh", "opset1.Negative", "opset1.Sigmoid", "opset1.Abs", "opset1.Exp")

DIVIDING = ("opset1.Divide", "opset1.FloorMod", "opset1.Mod")
"""The operations whose second operand, of integers, may not be 0."""


@cache
def texts(form: str) -> tuple[str, ...]:
    """The models of the lit tests of a form."""
    results: list[str] = []
    for path in sorted(LIT.glob(f"{form}*.mlir")):
        for part in path.read_text(encoding="utf-8").split("// -----"):
            lines = [line for line in part.splitlines() if not line.lstrip().startswith("//")]
            results += ["\n".join(lines)] if any("moir.model" in line for line in lines) else []
    return tuple(results)


@cache
def proofs(form: str) -> tuple[str, ...]:
    """The names of the smallest models of the faults that a form avoids."""
    return tuple(name for name in PROOFS_OF_FORMS if FORM_OF.get(name) == form)


def model(form: str, seed: int, number: int) -> tuple[ModuleOp, list[Any]]:
    """A model for a form, and inputs: of a sweep, a lit test, or the smallest model of a fault."""
    draw = random.Random(f"{form} {seed} {number}")
    sweep, sources = SWEEPS.get(form), [*texts(form), *proofs(form)]
    inputs: list[Any] = []
    from_sweep = sweep is not None and (number % 2 == 1 or not sources)
    if sweep is not None and from_sweep:
        module = sweep(draw)
    elif (source := draw.choice(sources)) in PROOFS_OF_FORMS:
        module, inputs = proof(source), EVERY_PROOF[source][1]
    else:
        module = _variant(source, draw)
    block = models_of(module)[0].block
    keeps = bool(inputs) and (draw.random() < 0.5 or form in OF_THEIR_INPUTS)
    shapes = [np.shape(each) for each in inputs] if keeps else _drawn_shapes(block, draw, least=4 if form in OF_SEVERAL_ENTRIES else 1)
    if draw.random() < 0.5:
        for op, shape in zip(_parameters(block), shapes, strict=True):
            # A sweep knows the sizes; here it forgets them, but for those of channels.
            given = [size if axis == 1 else -1 for axis, size in enumerate(shape)] if from_sweep else shape
            set_type(op.results[0], tensor(given, element_of(op.results[0])))
    _extended(block, draw)
    infer_block(block, KnownValues())
    random_numbers = np.random.default_rng(draw.randrange(1 << 30))
    if keeps:
        return module, [np.asarray(each) for each in inputs]
    return module, [_numbers(op, shape, random_numbers) for op, shape in zip(_parameters(block), shapes, strict=True)]


def proof(name: str) -> ModuleOp:
    """The smallest model that shows a fault."""
    with tempfile.TemporaryDirectory() as folder:
        openvino.save_model(model_of(name), Path(folder) / "m.xml", compress_to_fp16=False)
        return moir.read_model(Path(folder) / "m.xml").clone()


def _parameters(block: Block) -> list[Parameter]:
    return [op for op in block.ops if isinstance(op, Parameter)]


def _variant(text: str, draw: random.Random) -> ModuleOp:
    """A model of a lit test, perhaps of f16."""
    if draw.random() < 0.1 and "0x" not in text:
        text = text.replace("f32", "f16")
    module = Parser(MoirContext(), text).parse_module()
    for op in module.walk():
        op.attributes.pop("tensor_names", None)
    return module


def _drawn_shapes(block: Block, draw: random.Random, least: int) -> list[tuple[int, ...]]:
    """Sizes of the parameters; half of the time all unknown ones are equal."""
    sizes = [size for size in SIZES if size >= least]
    same = draw.choice(sizes) if draw.random() < 0.5 else 0
    known = (shape_of(op.results[0]) or (-1,) * draw.randint(1, 4) for op in _parameters(block))
    return [tuple(size if size >= 0 else same or draw.choice(sizes) for size in shape) for shape in known]


def _extended(block: Block, draw: random.Random) -> None:
    """Insert an elementwise operation before or behind some operation, or let its result be a result of the model."""
    values = [op.results[0] for op in block.ops if isinstance(op, OpsetOp) and len(op.results) == 1 and not isinstance(op, Constant)]
    floats = [value for value in values if element_of(value) in REAL_TYPES and shape_of(value) is not None]
    for value in draw.sample(floats, min(len(floats), draw.choice((0, 0, 1, 2)))):
        if draw.random() < 0.3:
            _show(block, value)
            continue
        owner = value.owner
        assert isinstance(owner, Operation)
        uses = list(value.uses)
        build = OpBuilder(KnownValues(), block, owner.next_op)
        kind = draw.choice((*UNARY, "Add", "Multiply"))
        added = build[kind](value) if kind in UNARY else build[f"opset1.{kind}"](value, draw.choice((-1.5, 0.5, 2.0)))
        for use in uses:
            use.operation.operands[use.index] = added


def _show(block: Block, value: SSAValue) -> None:
    """Let a value be a result of the model."""
    results = [op for op in block.ops if isinstance(op, Result)]
    if not results or any(op.operands[0] is value for op in results):
        return
    copy = results[0].clone()
    copy.operands[0] = value
    copy.attributes = {**copy.attributes, "name": string_attribute(f"shown{len(results)}")}
    block.add_op(copy)


def _numbers(op: Parameter, shape: Sequence[int], numbers: np.random.Generator) -> Any:
    """An input: small integers (those that divide of both signs, and not 0), booleans, or floats of both signs."""
    dtype = to_numpy(element_of(op.results[0]))
    if dtype.kind == "b":
        return numbers.integers(0, 2, shape).astype(bool)
    if any(use.index == 1 and use.operation.name in DIVIDING for use in op.results[0].uses) and dtype.kind in "iu":
        return (numbers.integers(1, 4, shape) * numbers.choice([-1, 1] if dtype.kind == "i" else [1], shape)).astype(dtype)
    if dtype.kind in "iu":
        return numbers.integers(0, 3, shape).astype(dtype)
    return (numbers.standard_normal(shape) * 2).astype(dtype)
