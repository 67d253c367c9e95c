"""`fuse-einsum-attention`: attention whose products are written as Einsums becomes one operation.

    %s = opset7.Einsum(%q, %k) {equation = "bqhd,bkhd->bhqk"}
    %m = opset1.Multiply(%s, 0.125)                   // or Divide, also of query and key; optional
    %p = opset8.Softmax(opset1.Add(%m, %mask)) {axis = 3}
    %y = opset7.Einsum(%p, %v) {equation = "bhqk,bkhd->bqhd"}
->  %0 = opset1.Transpose(%q, [0, 2, 1, 3])           // and key and value
    %1 = opset13.ScaledDotProductAttention(%0, %k', %v', %mask, 0.125)
    %y = opset1.Transpose(%1, [0, 2, 1, 3])

Queries that share the heads of keys and values (grouped queries) have one label more. The groups then become further
queries of their head, so that keys and values are not repeated:

    %s = opset7.Einsum(%q, %k) {equation = "bqhgd,bkhd->bhgqk"}
->  %0 = opset1.Transpose(%q, [0, 2, 3, 1, 4])
    %1 = opset1.Reshape(%0, [0, 0, -1, 64])

Transposes may stand between the products, one of which may be a MatMul. The mask, an added one or the condition of a
Select, is transposed to the order of the fused operation. Dimensions of 1 that only the queries have are left out.

`fuse-attention` fuses attention of MatMuls, and documents which masks are fused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from moir.analysis.analyses import Analyses
from moir.analysis.constants import FLOATS, unscaled
from moir.analysis.dimensions import Token
from moir.analysis.known_values import KnownValues
from moir.analysis.uses import has_one_live_use
from moir.dialects.moir import models_of
from moir.dialects.opset.activation import Softmax, Softmax1
from moir.dialects.opset.arithmetic import Add, Divide, Multiply
from moir.dialects.opset.comparison import Select
from moir.dialects.opset.matrix import ELLIPSIS, LETTERS, Einsum, Equation, MatMul
from moir.dialects.opset.movement import Transpose
from moir.dialects.shapes import element_of, normalize_axis, rank_of
from moir.dialects.symbols import Symbol, same
from moir.passes.fuse.attention.fuse_attention import added_mask, replacing_number
from moir.rewriting.builder import OpBuilder
from moir.rewriting.dead_code import eliminate_dead
from moir.rewriting.dimension_patterns import DimensionsPattern
from moir.rewriting.driver import Rewriter, rewrite
from moir.rewriting.reporting_pass import ReportingPass
from moir.support.records import Record

Labels = tuple[str, ...]

NOTHING_KNOWN = KnownValues()


class Labelled(Record):
    """A value whose dimensions have labels: equal labels are dimensions that a product pairs or keeps."""

    value: SSAValue
    labels: Labels

    def renamed(self, names: Mapping[str, str]) -> Labelled:
        """The same value, with its labels renamed."""
        return self.with_fields(labels=tuple([names[label] for label in self.labels]))


class Product(Record):
    """A product of two operands; the labels of the batch are in both operands and in the result."""

    left: Labelled
    right: Labelled
    output: Labels

    @property
    def letters(self) -> set[str]:
        """All labels."""
        return {*self.left.labels, *self.right.labels, *self.output}


def product_of(op: Operation) -> Product | None:
    """An Einsum of two operands, or a MatMul of operands of one rank, as a product; None for other operations."""
    ranks = [rank_of(operand) for operand in op.operands]
    if None in ranks or len(ranks) != 2:
        return None
    if isinstance(op, MatMul):
        return matrix_product(op, ranks[0] or 0) if ranks[0] == ranks[1] and ranks[0] in (4, 5) else None
    if not isinstance(op, Einsum):
        return None
    equation = Equation.parse(op.text("equation"))
    terms = (*equation.inputs, equation.output)
    if any(ELLIPSIS in term or len(set(term)) < len(term) for term in terms):
        return None
    left, right = map(Labelled, op.operands, equation.inputs)
    return Product(left, right, equation.output)


def matrix_product(op: MatMul, rank: int) -> Product:
    """A MatMul of two operands of `rank` as a Product: letters label batch, rows, columns and the common dimension."""
    batch, (row, column, common) = tuple(LETTERS[: rank - 2]), LETTERS[rank - 2 : rank + 1]
    left = (common, row) if op.flag("transpose_a") else (row, common)
    right = (column, common) if op.flag("transpose_b") else (common, column)
    a, b = op.operands
    return Product(Labelled(a, (*batch, *left)), Labelled(b, (*batch, *right)), (*batch, row, column))


class Scores(Record):
    """The operand of the softmax.

    Args:
        product: the product of query and key, with the labels of the second product.
        scale: the factor of the product.
        mask: the value that is added to the product, or the condition of a Select between the product and a number.
        numbers: for a condition, the numbers to add where it is true and where it is false.
    """

    product: Product
    scale: float = 1.0
    mask: Labelled | None = None
    numbers: tuple[float, float] | None = None


class Roles(Record):
    """The roles of the labels in attention.

    Args:
        batch: two labels that query, key and value have: samples and heads.
        queries: the labels of the queries, one or two, a group first; those of a dimension of 1 are left out.
        left_out: the labels of queries and batch of a dimension of 1 that are left out.
        key: the label of the keys.
        width, value_width: the labels of the elements of query and key, and of the values.
    """

    batch: Labels
    queries: Labels
    left_out: Labels
    key: str
    width: str
    value_width: str


class EinsumAttention(DimensionsPattern):
    """Replaces attention of Einsums by one operation, matched from its second product upwards through the operands."""

    roots = (Einsum, MatMul)

    def may_match(self, op: Operation) -> bool:
        return any(isinstance(operand.owner, Softmax | Softmax1 | Transpose) for operand in op.operands)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        product, element = product_of(op), element_of(op.results[0])
        if product is None or element not in FLOATS:
            return
        for weights, values in ((product.left, product.right), (product.right, product.left)):
            softmax = without_transposes(weights)
            if softmax is None or not isinstance(softmax.value.owner, Softmax | Softmax1) or not has_one_live_use(softmax.value):
                continue
            key = softmax.labels[normalize_axis(softmax.value.owner.integer("axis"), len(softmax.labels))]
            spare = [letter for letter in LETTERS if letter not in product.letters]
            scores = self.scores(softmax.with_fields(value=softmax.value.owner.operands[0]), spare, key)
            if scores is not None and (isinstance(op, Einsum) or self.has_einsum(scores)):
                self.fuse(op, scores, values, product.output, key, rewriter)
                return

    @staticmethod
    def has_einsum(scores: Scores) -> bool:
        """Whether the first product is an Einsum; attention of two MatMuls is left to `fuse-attention`."""
        return any(isinstance(use.operation, Einsum) for use in scores.product.left.value.uses)

    def scores(self, labelled: Labelled, spare: Sequence[str], key: str) -> Scores | None:
        """The softmax's operand `labelled` as Scores: a `unmasked`, or the Add or Select of one and a mask.

        None for other values. `key` is its label of the keys; for `spare` see `unmasked`.
        """
        product = without_transposes(labelled)
        if product is None:
            return None
        op = product.value.owner
        if not isinstance(op, Add | Select) or op.text("auto_broadcast") != "numpy" or not has_one_live_use(product.value):
            return self.unmasked(product, spare)
        first, second = op.operands[-2:]
        for true, candidate, other in ((True, first, second), (False, second, first)):
            if rank_of(candidate) != len(product.labels) or (scores := self.unmasked(product.with_fields(value=candidate), spare)) is None:
                continue
            mask = self.aligned(other if isinstance(op, Add) else op.operands[0], product.labels)
            if mask is None or isinstance(op, Add):
                return None if mask is None else scores.with_fields(mask=mask)
            axis = mask.labels.index(key) - len(mask.labels) if key in mask.labels else None
            number = replacing_number(other, op.operands[0], axis, chosen=true)
            return None if number is None else scores.with_fields(mask=mask, numbers=(0.0, number) if true else (number, 0.0))
        return None

    def unmasked(self, labelled: Labelled, spare: Sequence[str]) -> Scores | None:
        """The value `labelled` as Scores without a mask: the product of a MatMul or Einsum, perhaps times constant
        numbers and transposed. Dimensions that it sums over get labels from `spare`. None if it is no such product.
        """
        scale, current = 1.0, without_transposes(labelled)
        while current is not None and isinstance(current.value.owner, Multiply | Divide):
            value, factor = unscaled(current.value)
            if value is current.value:
                return None
            scale *= factor
            current = without_transposes(current.with_fields(value=value))
        if current is None or not has_one_live_use(current.value) or not isinstance(current.value.owner, Operation):
            return None
        product = product_of(current.value.owner)
        if product is None or len(product.output) != len(current.labels):
            return None
        # Labels that the result does not have get letters that the second product does not use.
        names = dict(zip(product.output, current.labels, strict=True))
        names.update(zip(sorted(product.letters.difference(names)), spare, strict=False))
        if set(names) != product.letters:
            return None
        return Scores(Product(product.left.renamed(names), product.right.renamed(names), current.labels), scale)

    def aligned(self, mask: SSAValue, labels: Labels) -> Labelled | None:
        """A mask of a value with `labels`, with those of its own dimensions; None if its rank is dynamic or higher."""
        rank = rank_of(mask)
        return None if rank is None or rank > len(labels) else Labelled(mask, labels[len(labels) - rank :])

    def roles(self, query: Labelled, key: Labelled, value: Labelled, output: Labels, column: str) -> Roles | None:
        """The roles of the labels, `output` of the result and `column` of the keys; None if they fit no attention."""
        batch = tuple([label for label in key.labels if label in value.labels and label != column])
        width = [label for label in key.labels if label not in (*batch, column)]
        value_width = [label for label in value.labels if label not in (*batch, column)]
        queries = [label for label in output if label not in (*batch, *value_width)]
        if len(width) != 1 or len(value_width) != 1 or not queries or {*query.labels} != {*batch, *queries, *width}:
            return None
        if {*output} != {*batch, *queries, *value_width}:
            return None
        sizes = {label: self.sizes(label, query, key, value) for label in (*batch, *queries, *width)}
        if any(not same(first, size) for roles in sizes.values() for first, *rest in [roles] for size in rest):
            return None
        units = [label for label in (*queries, *batch) if same(sizes[label][0], 1)]
        kept = tuple([label for label in queries if label not in units]) or (queries[-1],)
        spare = [label for label in batch if label in units][: max(0, len(batch) - 2)]
        left_out = tuple([label for label in queries if label not in kept] + spare)
        batch = tuple([label for label in query.labels if label in batch and label not in spare])
        if len(batch) != 2 or len(kept) > 2:
            return None
        if len(kept) == 2 and (number(sizes[kept[0]][0]) < 0 or (number(sizes[kept[1]][0]) > 0 and is_beside(kept[1], batch[1], query))):
            kept = (kept[1], kept[0])
        return Roles(batch, kept, left_out, column, width[0], value_width[0])

    def sizes(self, label: str, *values: Labelled) -> list[Token]:
        """The dimension that each value has at a label; [-1] if the dimension is dynamic in all of them."""
        dimensions = [self.known.tokens(each.value) for each in values]
        return [
            tokens[each.labels.index(label)]
            for each, tokens in zip(values, dimensions, strict=True)
            if label in each.labels and tokens is not None
        ] or [-1]

    def fuse(self, root: Operation, scores: Scores, value: Labelled, output: Labels, column: str, rewriter: Rewriter) -> None:
        """Replace the product `root`, with labels `output` (of keys `column`), by attention if labels and sizes fit."""
        left, right = scores.product.left, scores.product.right
        query, key = (right, left) if column in left.labels else (left, right)
        (data, first), (factors, second) = unscaled(query.value), unscaled(key.value)
        scale = scores.scale * first * second
        query, key = query.with_fields(value=data), key.with_fields(value=factors)
        roles = self.roles(query, key, value, output, column)
        if roles is None or any(element_of(each.value) != element_of(root.results[0]) for each in (query, key, value)):
            return
        sizes = {label: self.sizes(label, query, key, value)[0] for label in (*query.labels, *key.labels, *value.labels)}
        if len(roles.queries) == 2 and any(number(sizes[each]) < 0 for each in (roles.queries[0], roles.width, roles.value_width)):
            return
        if scores.mask is not None and (
            not self.fits(scores.mask, sizes) or (scores.numbers is None and element_of(scores.mask.value) != element_of(data))
        ):
            return
        op = rewriter.op
        mask = op.constant_like(0.0, data)
        if scores.mask is not None:
            arranged = arranged_mask(op, scores.mask, roles, self.known.tokens(scores.mask.value) or (), sizes)
            if arranged is None:
                rewriter.decline("the mask would have to be repeated for queries of an unknown number")
                return
            mask = arranged if scores.numbers is None else added_mask(arranged, scores.numbers, data, rewriter)
        rows = arranged_data(op, query, (*roles.batch, *roles.queries, roles.width), roles)
        if len(roles.queries) == 2:
            rows = op.Reshape(rows, [0, 0, -1, number(sizes[roles.width])], special_zero=True)
        others = [
            arranged_data(op, each, (*roles.batch, column, last), roles) for each, last in ((key, roles.width), (value, roles.value_width))
        ]
        fused = op.ScaledDotProductAttention(rows, *others, mask, op.constant_like(scale, data), causal=False)
        if len(roles.queries) == 2:
            group, last = number(sizes[roles.queries[0]]), number(sizes[roles.value_width])
            fused = op.Reshape(fused, [0, 0, group, -1, last], special_zero=True)
        present = (*roles.batch, *roles.queries, roles.value_width)
        wanted = [label for label in output if label in present]
        result = op.transposed(fused, [present.index(label) for label in wanted])
        missing = [axis for axis, label in enumerate(output) if label not in present]
        rewriter.replace_with(root, op.Unsqueeze(result, missing) if missing else result)

    def fits(self, mask: Labelled, sizes: Mapping[str, Token]) -> bool:
        """Whether each dimension of a mask certainly is 1 or that of the scores."""
        tokens = self.known.tokens(mask.value)
        return tokens is not None and all(
            same(token, 1) or (label in sizes and same(token, sizes[label])) for label, token in zip(mask.labels, tokens, strict=True)
        )


def is_beside(label: str, other: str, labelled: Labelled) -> bool:
    """Whether a label directly follows `other` in a value, as the two labels of a split heads dimension do."""
    return (*labelled.labels, "").index(label) == labelled.labels.index(other) + 1


def number(size: Token) -> int:
    """A dimension as an integer if constants determine it, else -1."""
    return -1 if isinstance(size, Symbol) else size


def without_transposes(labelled: Labelled) -> Labelled | None:
    """The value before a chain of Transposes with one use each, with its labels there; None if an order is computed."""
    value, labels = labelled.value, labelled.labels
    while isinstance(value.owner, Transpose):
        order = value.owner.permutation(NOTHING_KNOWN)
        if order is None or not has_one_live_use(value):
            return None
        labels = tuple([labels[order.index(axis)] for axis in range(len(order))])
        value = value.owner.operands[0]
    return Labelled(value, labels)


def arranged_data(op: OpBuilder, data: Labelled, wanted: Sequence[str], roles: Roles) -> SSAValue:
    """A value without the dimensions of 1 that are left out, transposed to the order of the labels `wanted`."""
    axes = [axis for axis, label in enumerate(data.labels) if label in roles.left_out]
    value = op.Squeeze(data.value, axes) if axes else data.value
    present = [label for label in data.labels if label not in roles.left_out]
    return op.transposed(value, [present.index(label) for label in wanted])


def arranged_mask(op: OpBuilder, mask: Labelled, roles: Roles, tokens: Sequence[Token], sizes: Mapping[str, Token]) -> SSAValue | None:
    """A mask as [samples, heads, queries, keys] without leading ones; `tokens` are its dimensions, `sizes` the scores'.

    None if it would have to be repeated for queries whose number is unknown.
    """
    units = [axis for axis, token in enumerate(tokens) if same(token, 1)]
    value = op.Squeeze(mask.value, units) if units else mask.value
    present = [label for axis, label in enumerate(mask.labels) if axis not in units]
    wanted = [label for label in (*roles.batch, *roles.queries, roles.key) if label in present]
    value = op.transposed(value, [present.index(label) for label in wanted])
    order = [*roles.batch, *roles.queries, roles.key]
    missing = list(inserted(order, wanted))
    value = op.Unsqueeze(value, missing) if missing else value
    shown = len(wanted) + len(missing)
    if len(roles.queries) < 2:
        return value
    between = [label in wanted for label in roles.queries]
    if not any(between):
        # Both dimensions are 1, or are left out with the leading ones.
        return op.Squeeze(value, [shown - 2]) if shown > 2 else value
    repeated = [number(sizes[label]) for label in roles.queries]
    last = number(sizes[roles.key]) if roles.key in wanted else 1
    if last < 0 or (min(repeated) < 0 and not all(between)):
        return None
    if not all(between):
        value = op.Broadcast(value, [*([1] * max(0, shown - 3)), *repeated, 1], mode="bidirectional")
        shown = max(shown, 3)
    return op.Reshape(value, [*([0] * (shown - 3)), -1, last], special_zero=True)


def inserted(order: Sequence[str], present: Sequence[str]) -> Iterator[int]:
    """The axes at which to insert dimensions of 1 for labels of `order` not in `present`; two labels or more remain."""
    first = min([order.index(label) for label in present], default=len(order))
    first = min(first, len(order) - 2)
    return (index - first for index in range(first, len(order)) if order[index] not in present)


class FuseEinsumAttentionPass(ReportingPass):
    """Fuses scaled dot-product attention (Vaswani et al., "Attention Is All You Need", 2017) that is written with
    labels, also of grouped queries (Ainslie et al., "GQA", 2023).
    """

    name = "fuse-einsum-attention"

    ROOTS = (Einsum,)

    COMPANIONS = ((Softmax, Softmax1),)

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        if any(next(analyses.operations(*kinds), None) is None for kinds in ((Einsum,), (Softmax, Softmax1))):
            return False
        # Matches count uses, and so do the passes that merge the Reshapes and Transposes around a match.
        changed = self.eliminate_dead(module, analyses)
        for static in (False, True):
            known = analyses.dimensions(static=static)
            if rewrite(module, [EinsumAttention(known)], known=known, analyses=analyses):
                changed = True
                self.eliminate_dead(module, analyses)
        return changed

    @staticmethod
    def eliminate_dead(module: ModuleOp, analyses: Analyses) -> bool:
        """Erase dead operations; returns whether there are any."""
        changed = [eliminate_dead(model.block) for model in models_of(module)]
        if any(changed):
            analyses.invalidate()
        return any(changed)
