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

In this form codes can be multiplied as they are, and weights be restored in registers only: for the right operand of a
MatMul that is one matrix, and for the rows of a table from which a Gather reads. Anything else would be restored as a
whole, when the model is loaded or at each inference. So these are left alone, and `compress-to-fp16` may still halve
them: weights of convolutions and recurrent cells, left operands, matrices in batches, vectors, and constants that
something else reads as well. Left alone are also weights of fewer than 1024 values, which save less than the restoring
operations take, and weights with values that are not finite.

Codes of 4 bits are for the largest matrices only, up to a share of all weights of matrix products. The others, tables,
the last matrix of a model, those that choose experts, and matrices of which no groups of 16 can be formed or which have
an odd number of columns get codes of 8 bits.

In language models, matrices of experts are compressed, too, and numbers of 8 or 16 bits with scales (FP8) are rounded
again. Codes that a model already has stay.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue

from moir.analysis.analyses import Analyses
from moir.analysis.known_values import KnownValues
from moir.dialects.data import DataAttr, TensorData
from moir.dialects.framework import framework_of
from moir.dialects.locations import located
from moir.dialects.moir import ModelOp, add_notes, models_of
from moir.dialects.names import name_of
from moir.dialects.opset.indexing import Gather
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.matrix import GroupedMatMul, MatMul
from moir.dialects.properties import string_attribute
from moir.dialects.quantization import IntegerRange
from moir.dialects.scratch_file import ScratchFile
from moir.dialects.shapes import element_of, tensor
from moir.errors import UsageError
from moir.frameworks import FRAMEWORKS
from moir.parameters.weight_codes import MODES, SMALLEST_GROUP, WeightCodes, weight_codes
from moir.passes.compress.quantization import Quantized, quantized
from moir.passes.compress.weight_operands import (
    FEWEST_VALUES,
    Site,
    chooses_experts,
    expand_scaled,
    last_product,
    site_of,
    sites_by_source,
    stores_codes,
)
from moir.rewriting.builder import OpBuilder
from moir.rewriting.dead_code import erase, is_used
from moir.rewriting.reporting_pass import ReportingPass

LISTED = 3
"""The largest number of names in a note."""

SCRATCH_BYTES = 64 << 20
"""The minimum total size in bytes of scales and zero points for which they are stored in a temporary file until they
are written.
"""

BYTES_OF_GROUP = 5
"""The largest number of bytes of the scale and the zero point of a group."""


class Form(NamedTuple):
    """How a constant is compressed.

    Args:
        axis: the dimension whose weights share scales.
        integers: the range of the codes; one that has negative codes has no zero points.
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
    ROOTS = (MatMul, Gather, GroupedMatMul)
    COMPANIONS = ((Constant,),)

    codes: str = "int8"

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        try:
            codes = weight_codes(self.codes)
        except ValueError as error:
            raise UsageError(str(error)) from error
        is_language_model = FRAMEWORKS[framework_of(module)].companions is not None
        changed = [_compress(model, codes, analyses.known_values, is_language_model) for model in models_of(module)]
        return any(changed)


def _compress(model: ModelOp, codes: WeightCodes, known: KnownValues, is_language_model: bool) -> bool:
    codes = codes.with_defaults(is_language_model)
    bits, symmetric = MODES[codes.mode].bits, MODES[codes.mode].symmetric
    operations = [op for op in model.walk() if isinstance(op, MatMul | Gather | GroupedMatMul)]
    stored = sum(map(stores_codes, operations))
    expanded = sum([expand_scaled(op) for op in operations]) if is_language_model else 0
    # A small change of scores may choose other experts, and the matrices of routers are small.
    operations = [op for op in operations if not chooses_experts(op)]
    compressible = [site for op in operations if (site := site_of(op, is_language_model)) is not None]
    last, sources = last_product(compressible, model.block), list(sites_by_source(compressible))
    assert codes.group is not None
    assert codes.share is not None
    narrow = _narrow(sources, last, codes.share) if bits < 8 else set[Constant]()
    forms: list[list[Form]] = []
    for source, sites in sources:
        integers = IntegerRange(bits if source in narrow else 8, symmetric)
        forms.append([_form(site, integers, codes.group if integers.bits == bits else 0) for site in sites])
    wide = [str(name_of(source)) for source, sites in sources if bits < 8 and _is_product(sites) and not _has_groups(source, sites)]
    compression = _Compression(known, _scratch_file(sources, forms))
    for (source, sites), each in zip(sources, forms, strict=True):
        compression.compress(source, sites, each)
    notes = compression.notes()
    if expanded:
        notes.append(f"weights of {_counted(expanded, 'operation')} were numbers with scales, and are rounded a second time")
    if wide:
        names = ", ".join(wide[:LISTED]) + (", …" if len(wide) > LISTED else "")
        notes.append(f"weights of {_counted(len(wide), 'matrix', 'matrices')} without groups of {SMALLEST_GROUP} have 8 bits: {names}")
    if stored:
        notes.insert(0, f"weights of {_counted(stored, 'operation')} are integers in the model already, and stay as they are")
    if not notes:
        reason = f"no matrix product or embedding has at least {FEWEST_VALUES} constant weights of its own; convolutions keep theirs"
        notes.append(f"no weights are compressed: {reason}")
    add_notes(model, notes)
    return compression.changed or expanded > 0


def _scratch_file(sources: Sequence[tuple[Constant, Sequence[Site]]], forms: Sequence[Sequence[Form]]) -> ScratchFile | None:
    """A temporary file for the scales and zero points of constants that are compressed in `forms`.

    Returns None if they are small, or the disk has no room.
    """
    size = sum(
        BYTES_OF_GROUP * math.prod(source.value.shape) // form.group
        for (source, _), each in zip(sources, forms, strict=True)
        for form in set(each)
    )
    if size < SCRATCH_BYTES:
        return None
    try:
        return ScratchFile(size)
    except OSError:
        return None


def _form(site: Site, integers: IntegerRange, group: int) -> Form:
    """The form with groups of `group` weights, or of the greatest common divisor of that and the size of the dimension.

    Without groups if the divisor is smaller than SMALLEST_GROUP.
    """
    length = site.source.value.shape[site.axis]
    fitting = math.gcd(length, group)
    return Form(site.axis, integers, length if fitting < SMALLEST_GROUP else fitting)


def _narrow(sources: Sequence[tuple[Constant, Sequence[Site]]], last: Constant | None, share: float) -> set[Constant]:
    """The matrices that get codes of 4 bits: the largest ones first, and of equally large ones the later first, up to a
    share of all weights.

    The rounding of a matrix adds the same error to the result whatever its size, and errors of the first layers pass
    through all others.

    Args:
        sources: the constants with their uses.
        last: the matrix of the last product, which never gets 4 bits.
        share: the largest share of the weights of products.
    """
    products = [(source, sites) for source, sites in sources if _is_product(sites)]
    room = share * sum(math.prod(source.value.shape) for source, _ in products if source is not last)
    narrow: set[Constant] = set()
    for _, source, sites in sorted(
        ((index, source, sites) for index, (source, sites) in enumerate(products)),
        key=lambda each: (math.prod(each[1].value.shape), each[0]),
        reverse=True,
    ):
        size = math.prod(source.value.shape)
        if source is not last and _has_groups(source, sites) and size <= room:
            narrow.add(source)
            room -= size
    return narrow


def _is_product(sites: Sequence[Site]) -> bool:
    """Whether all uses of a constant are products, and none a Gather."""
    return not any(isinstance(site.op, Gather) for site in sites)


def _has_groups(source: Constant, sites: Sequence[Site]) -> bool:
    """Whether the rows of a matrix can be split into groups such that no byte of 4-bit codes belongs to two groups."""
    shape = source.value.shape
    return all(shape[site.axis] % SMALLEST_GROUP == 0 for site in sites) and shape[-1] % 2 == 0


class _Compression:
    """Compresses constants, and counts them for the notes."""

    def __init__(self, known: KnownValues, scratch: ScratchFile | None = None) -> None:
        self.changed = False
        self._known = known
        self._keep = None if scratch is None else scratch.keep
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
            self._done[key] = quantized(values if shape == data.shape else values.reshape(shape), axis, form.integers, self._keep)
        return self._done[key]

    def _restored(self, replaced: Operation, source: Constant, stored: Quantized) -> SSAValue:
        """Build the operations that restore weights, before the operation `replaced`; returns the result of the last
        one.

        The last of them takes over the attributes of `replaced`.

        Args:
            replaced: the operation whose result they take the place of.
            source: the constant, after which the new ones are named.
            stored: the quantized weights.
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
            weights = [each for (_, form), each in self._done.items() if each is not None and form.integers == integers]
            error = math.sqrt(sum(each.error for each in weights) / (sum(each.energy for each in weights) or 1))
            parts.append(
                f"weights of {_counted(count, 'operation')} have {integers.bits} bits; their relative error is {100 * error:.2g} %"
            )
        return parts


def _counted(count: int, one: str, several: str = "") -> str:
    return f"{count} {one if count == 1 else several or f'{one}s'}"


def _grouped(shape: tuple[int, ...], form: Form) -> tuple[int, ...]:
    """The shape of the codes of a constant of a shape: with groups, the dimension is split into groups and their
    members.
    """
    if form.group == shape[form.axis]:
        return shape
    return (*shape[: form.axis], shape[form.axis] // form.group, form.group, *shape[form.axis + 1 :])
