"""`compress-weights`: weights of matrix products and embeddings are stored as integers and restored at their use.

    %w = opset1.Constant() {value = …, name = "w"} : tensor<64x32xf32>
    %y = opset1.MatMul(%x, %w)
->  %c = opset1.Constant() {value = …, name = "w_compressed"} : tensor<64x32xui8>
    %p = opset1.Constant() {value = …, name = "w_zero_point"} : tensor<1x32xui8>
    %s = opset1.Constant() {value = …, name = "w_scale"} : tensor<1x32xf16>
    %0 = opset1.Subtract(opset1.Convert(%c), opset1.Convert(%p))
    %w = opset1.Convert(opset1.Multiply(%0, %s)) {destination_type = f32, name = "w"} : tensor<64x32xf32>
    %y = opset1.MatMul(%x, %w)

With groups, codes, zero points and scales have one dimension more, and a Reshape follows the Multiply:

    tensor<4x16x32xui4>, tensor<4x1x32xui4>, tensor<4x1x32xf16>     // [64, 32] in groups of 16

This is the form that the runtime recognises: it multiplies by the codes, and restores weights only in registers. It
does so for the right operand of a MatMul that is one matrix, and for the rows of a table from which a Gather reads
(CPU plugin 2026.4, with AVX2); anything else it would restore as a whole, when it loads the model or at each inference.
So these are left alone, and `compress-to-fp16` may still halve them: weights of convolutions and recurrent cells, left
operands, matrices in batches, vectors, and constants that something else reads as well. Left alone are also weights of
fewer than 1024 values, which save less than the restoring operations take, and weights with values that are not finite.

Codes of 4 bits are for the largest matrices only, up to a share of all weights of matrix products. The others, tables,
the last matrix of a model, and matrices of which no groups of 16 can be formed or which have an odd number of columns
get codes of 8 bits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, OpResult, SSAValue

from moir.analysis.analyses import Analyses
from moir.analysis.constants import scalar_of
from moir.analysis.known_values import KnownValues
from moir.analysis.quantization import Quantized, quantized
from moir.analysis.uses import live_uses
from moir.dialects.data import DataAttr, TensorData
from moir.dialects.element_types import REAL_TYPES, describe
from moir.dialects.inference import set_type
from moir.dialects.large_arrays import is_transposed
from moir.dialects.locations import located
from moir.dialects.moir import ModelOp, add_notes, models_of
from moir.dialects.names import name_of
from moir.dialects.opset.data_types import Convert
from moir.dialects.opset.indexing import Gather
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.matrix import MatMul
from moir.dialects.properties import boolean_attribute, string_attribute
from moir.dialects.quantization import IntegerRange
from moir.dialects.shapes import element_of, rank_of, tensor
from moir.errors import UsageError
from moir.parameters.weight_codes import MODES, SMALLEST_GROUP, WeightCodes, weight_codes
from moir.rewriting.builder import OpBuilder
from moir.rewriting.dead_code import erase, is_used
from moir.rewriting.reporting_pass import ReportingPass

FEWEST_VALUES = 1024
"""Minimum number of weights of a constant."""


class Site(NamedTuple):
    """An operand that can be compressed.

    Args:
        op: the operation.
        position: the index of the operand.
        source: the constant.
        axis: the dimension of the constant over which products are summed, or along which rows of a table extend.
    """

    op: Operation
    position: int
    source: Constant
    axis: int


class Form(NamedTuple):
    """How a constant is compressed.

    Args:
        axis: the dimension whose weights share scales.
        integers: the codes; those below 0 have no zero points.
        group: number of weights that share a scale; the size of the whole dimension if there are no groups.
    """

    axis: int
    integers: IntegerRange
    group: int


@dataclass(frozen=True)
class CompressWeightsPass(ReportingPass):
    """Compresses the weights of models and bodies.

    Args:
        codes: the notation of `moir.parameters.weight_codes`.
    """

    name = "compress-weights"
    ROOTS = (MatMul, Gather)
    COMPANIONS = ((Constant,),)

    codes: str = "int8"

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        try:
            codes = weight_codes(self.codes)
        except ValueError as error:
            raise UsageError(str(error)) from error
        changed = [_compress(model, codes, analyses.known_values) for model in models_of(module)]
        return any(changed)


def _compress(model: ModelOp, codes: WeightCodes, known: KnownValues) -> bool:
    mode = MODES[codes.mode]
    operations = (op for op in model.walk() if isinstance(op, MatMul | Gather))
    found = _by_source([site for op in operations if (site := site_of(op)) is not None])
    sources = [(source, _straightened(source, sites)) for source, sites in found]
    narrow = set[Constant]()
    if mode.bits < 8:
        narrow = _narrow(sources, model.block, mode.share if codes.share is None else codes.share)
    group = mode.group if codes.group is None else codes.group
    compression = _Compression(known)
    for source, sites in sources:
        integers = IntegerRange(mode.bits if source in narrow else 8, mode.symmetric)
        compression.compress(source, sites, [_form(site, integers, group if integers.bits == mode.bits else 0) for site in sites])
    add_notes(model, compression.notes())
    return compression.changed


def _form(site: Site, integers: IntegerRange, group: int) -> Form:
    """The form for groups of a size, or of its greatest common divisor with the number of weights."""
    length = site.source.value.shape[site.axis]
    fitting = math.gcd(length, group)
    return Form(site.axis, integers, length if fitting < SMALLEST_GROUP else fitting)


def _narrow(sources: Sequence[tuple[Constant, Sequence[Site]]], block: Block, share: float) -> set[Constant]:
    """The matrices that get codes of 4 bits: the largest, and of equally large ones the later, up to a share of all.

    The rounding of a matrix adds the same error to the result whatever its size, and errors of the first layers pass
    through all others.
    """
    products = [(source, sites) for source, sites in sources if all(isinstance(site.op, MatMul) for site in sites)]
    last = _last_product(products, block)
    room = share * sum(math.prod(source.value.shape) for source, _ in products if source is not last)
    found: set[Constant] = set()
    for _, source, sites in sorted(
        ((index, source, sites) for index, (source, sites) in enumerate(products)),
        key=lambda each: (math.prod(each[1].value.shape), each[0]),
        reverse=True,
    ):
        shape = source.value.shape
        is_divisible = all(shape[site.axis] % SMALLEST_GROUP == 0 for site in sites)
        if source is not last and is_divisible and shape[-1] % 2 == 0 and math.prod(shape) <= room:
            found.add(source)
            room -= math.prod(shape)
    return found


def site_of(op: MatMul | Gather) -> Site | None:
    """The weights of an operation that the runtime multiplies or reads in compressed form; None if it has none."""
    position = 1 if isinstance(op, MatMul) else 0
    source = _source_of(op.operands[position])
    if source is None:
        return None
    shape = source.value.shape
    if math.prod(shape) < FEWEST_VALUES or len(shape) < 2:
        return None
    if isinstance(op, Gather):
        is_table = len(shape) == 2 and scalar_of(op.operands[2]) in (0, -2) and op.integer("batch_dims") == 0
        return Site(op, position, source, 1) if is_table else None
    axis = len(shape) - (1 if op.flag("transpose_b") else 2)
    columns = math.prod(shape) // shape[axis]
    rank = rank_of(op.operands[0])
    is_matrix = math.prod(shape[:-2]) == 1 and columns > 1 and (rank is None or rank > 1)
    return Site(op, position, source, axis) if is_matrix else None


def _source_of(value: SSAValue) -> Constant | None:
    """The constant of floating-point numbers that is a value, directly or converted to another floating-point type."""
    if not isinstance(value, OpResult) or element_of(value) not in REAL_TYPES:
        return None
    op = value.op
    if isinstance(op, Convert) and isinstance(inner := op.operands[0], OpResult):
        op = inner.op
    if not isinstance(op, Constant) or op.value.data.values is None:
        return None
    return op if op.value.element in REAL_TYPES and describe(op.value.element).bits > 8 else None


def _last_product(products: Sequence[tuple[Constant, Sequence[Site]]], block: Block) -> Constant | None:
    """The matrix of the last product of a model, with which classifiers and language models make their decisions."""
    found = [source for source, sites in products if any(site.op.parent is block for site in sites)]
    return next(reversed(found or [source for source, _ in products]), None)


def _by_source(sites: Sequence[Site]) -> Iterator[tuple[Constant, list[Site]]]:
    """The constants all of whose uses can be compressed, with these uses."""
    found: dict[Constant, list[Site]] = {}
    for site in sites:
        found.setdefault(site.source, []).append(site)
    for source, uses in found.items():
        if len(uses) == _count_uses(source.results[0]):
            yield source, uses


def _count_uses(value: SSAValue) -> int:
    """The number of uses of a constant, direct or after a conversion."""
    users = [use.operation for use in live_uses(value)]
    return sum(_count_uses(user.results[0]) if isinstance(user, Convert) else 1 for user in users)


def _straightened(source: Constant, sites: Sequence[Site]) -> Sequence[Site]:
    """The sites of a matrix, after a transposed view of memory was replaced by the matrix in memory.

    The matrix is then read in the order of memory, and shares its codes with a table in the same memory.
    """
    values = source.value.values
    if not is_transposed(values) or not all(isinstance(site.op, MatMul) for site in sites):
        return sites
    data = DataAttr(TensorData(values.transpose((1, 0)), source.value.element, source.value.shape[::-1]))
    source.properties["value"] = data
    for op in (source, *(use.operation for use in source.results[0].uses if isinstance(use.operation, Convert))):
        set_type(op.results[0], tensor(data.shape, element_of(op.results[0])))
        op.attributes.pop("tensor_names", None)
    for site in sites:
        assert isinstance(site.op, MatMul)
        site.op.properties["transpose_b"] = boolean_attribute(not site.op.flag("transpose_b"))
    return [site._replace(axis=1 - site.axis) for site in sites]


class _Compression:
    """Compresses constants, and counts them for the notes."""

    def __init__(self, known: KnownValues) -> None:
        self.changed = False
        self._known = known
        self._done: dict[tuple[int, Form], Quantized | None] = {}
        self._kept: list[TensorData] = []
        self._counts: dict[IntegerRange, int] = {}

    def compress(self, source: Constant, sites: Sequence[Site], forms: Sequence[Form]) -> None:
        """Compress a constant at its sites, each of which has a form; a constant with infinite values stays."""
        results = {form: self._quantized(source.value.data, form) for form in forms}
        restored: dict[tuple[Form, SSAValue], SSAValue] = {}
        for site, form in zip(sites, forms, strict=True):
            old, result = site.op.operands[site.position], results[form]
            assert isinstance(old, OpResult)
            if result is None:
                return
            if (form, old) not in restored:
                restored[form, old] = self._restored(old.op, source, result)
            site.op.operands[site.position] = restored[form, old]
            self._counts[form.integers] = self._counts.get(form.integers, 0) + 1
            for unused in (old.op, source):
                if unused.parent is not None and not is_used(unused):
                    erase(unused)
        self.changed = True

    def _quantized(self, data: TensorData, form: Form) -> Quantized | None:
        key = id(data), form
        if key not in self._done:
            values = data.values
            self._kept.append(data)
            assert values is not None
            shape = _grouped(data.shape, form)
            axis = form.axis if shape == data.shape else form.axis + 1
            self._done[key] = quantized(values if shape == data.shape else values.reshape(shape), axis, form.integers)
        return self._done[key]

    def _restored(self, replaced: Operation, source: Constant, stored: Quantized) -> SSAValue:
        """Build the operations that restore weights, before the operation that they replace.

        The last of them takes over its attributes.
        """
        assert replaced.parent is not None
        op = OpBuilder(self._known, replaced.parent, replaced)
        name = name_of(source)

        def constant(data: DataAttr, suffix: str) -> SSAValue:
            built = Constant.create(properties={"value": data}, result_types=[tensor(data.shape, data.element)])
            if name is not None:
                built.attributes["name"] = string_attribute(f"{name}_{suffix}")
            built.location = located(source)
            op.insert(built)
            return built.results[0]

        scale, zero_point = stored.parameters.scale, stored.parameters.zero_point
        value = op.Convert(constant(stored.codes, "compressed"), destination_type=scale.element)
        if zero_point is not None:
            value = op.Subtract(value, op.Convert(constant(zero_point, "zero_point"), destination_type=scale.element))
        value = op.Multiply(value, constant(scale, "scale"))
        shape = source.value.shape
        if stored.codes.shape != shape:
            value = op.Reshape(value, np.array(shape, np.int64), special_zero=False)
        value = op.convert(value, element_of(replaced.results[0]))
        assert isinstance(value, OpResult)
        value.op.attributes.update(replaced.attributes)
        # A second compressed form of the same weights gets no names.
        replaced.attributes.clear()
        return value

    def notes(self) -> list[str]:
        """Notes on which weights were compressed, and with which error."""
        parts: list[str] = []
        for integers, count in sorted(self._counts.items()):
            found = [each for (_, form), each in self._done.items() if each is not None and form.integers == integers]
            error = math.sqrt(sum(each.error for each in found) / (sum(each.energy for each in found) or 1))
            operations = f"{count} operation{'' if count == 1 else 's'}"
            parts.append(f"weights of {operations} have {integers.bits} bits; their relative error is {100 * error:.2g} %")
        return parts


def _grouped(shape: tuple[int, ...], form: Form) -> tuple[int, ...]:
    """The shape of the codes of a constant: with groups, the dimension is split into groups and their members."""
    if form.group == shape[form.axis]:
        return shape
    return (*shape[: form.axis], shape[form.axis] // form.group, form.group, *shape[form.axis + 1 :])
