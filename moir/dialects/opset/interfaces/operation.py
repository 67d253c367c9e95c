"""Base class of the operations of the opset dialects, and definitions of their properties.

An operation is an IRDL class of about ten lines: operands, properties named as in the XML with the defaults of the
specification, `result_shape` and, where numpy can compute it, `evaluate`. Further conditions for a valid operation are
checked in `check_invariants`, not in `verify_`, so that verification is quick (`moir/rewriting/verified_form.py`). The
dialect is the operation set that introduced this version of the operation, so `opset8.Gather` is written to the IR as
`type="Gather" version="opset8"`.

    @deferred_definition
    class Softmax(OpsetOp):
        \"\"\"exp(x) / sum(exp(x)) along `axis`.\"\"\"

        name = "opset8.Softmax"
        data = operand_def()
        axis = integer_property(1)
        result = result_def()

        def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
            return shapes[0]

The element type of the result is that of the first operand unless `result_element` says otherwise; an operation with
several results has `result_shapes` and `result_elements`. Type inference (`infer`) and the symbolic dimensions of
`moir.analysis.dimensions` share `result_shapes`: for types a dimension of an operand is an integer or -1
(unknown), for symbolic dimensions an integer or a `Symbol`. A dimension of the result is a dimension of an operand, is
computed from some by the functions of `moir.dialects.shapes`, or is -1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, reduce
from typing import TYPE_CHECKING, ClassVar, Self, TypeAlias, cast

from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation, traits_def
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind

from moir.dialects.data import Array
from moir.dialects.large_arrays import Values
from moir.dialects.moir import is_none
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.interfaces.bounds import Bounds, OperandBounds
from moir.dialects.opset.interfaces.properties import PropertyAccess, property_table
from moir.dialects.shapes import Shape, Shapes, SymbolicShape, element_count, element_of, merge_elements, rank_of, shape_of, tensor
from moir.support.records import Record

if TYPE_CHECKING:
    from xdsl.parser import Parser
    from xdsl.printer import Printer

Types: TypeAlias = Sequence[Attribute]
"""Result types of an operation."""


@cache
def _result_definitions(operation: type[IRDLOperation]) -> int:
    return len(operation.get_irdl_definition().results)


class AlongAxes(Record):
    """The dimensions of its data along which an operation works; results have the rank of the data.

    Args:
        data: indices of the data operands, which have equal rank; None: all operands.
        properties: properties whose value is an axis of the data.
        operand: index of the operand that lists axes of the data.
    """

    data: tuple[int, ...] | None = (0,)
    properties: tuple[str, ...] = ()
    operand: int | None = None


class _KindOfName:
    """A descriptor for a class attribute with the name of the operation without its dialect."""

    def __get__(self, instance: object, owner: type[Operation]) -> str:
        return owner.name.partition(".")[2]


class OpsetEffects(MemoryEffect):
    """The memory effects of an operation for xDSL's own passes, derived from `OpsetOp.EFFECTS`."""

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance]:
        return {EffectInstance(MemoryEffectKind.WRITE)} if isinstance(op, OpsetOp) and op.EFFECTS else set()


_VERIFYING: set[type] = set()
"""The classes of operations that define a `verify_` themselves."""


class OpsetOp(IRDLOperation, PropertyAccess):
    """Base of the operations of all operation sets."""

    traits = traits_def(OpsetEffects())

    EFFECTS: ClassVar[bool] = False
    """Whether the operation has effects besides its results, so that it is kept even if no result is used."""

    SYMBOLIC: ClassVar[bool] = False
    """Whether `evaluate` also accepts arrays of dtype object whose entries are integers and `Symbol`s."""

    DETERMINISTIC: ClassVar[bool] = True
    """Whether equal operands give equal results; False for random operations, which are neither folded nor merged."""

    SIZES_OF_ELEMENTS: ClassVar[bool] = False
    """Whether sizes of results depend on elements of operands for which `result_shapes` does not ask."""

    STEPS: ClassVar[int] = 1
    """The approximate number of nanoseconds that `evaluate` takes for each element: more than 1 if it sorts or is a
    loop in Python.
    """

    KIND: ClassVar[str] = cast(str, _KindOfName())
    """The kind of the operation, such as `Gather`, without the operation set that defines this version."""

    XML_TYPE: ClassVar[str] = ""
    """The type of the layer in the IR, for the few kinds that the IR spells unlike the specification."""

    UNWRITTEN: ClassVar[Mapping[str, object]] = {}
    """The values of attributes that a file omits, where the specification has no default or another one."""

    POINTWISE: ClassVar[bool] = False
    """Whether each element of the result is a function of the element of the first operand at the same position.

    Other operands are scalars, or only determine the element type.
    """

    BROADCASTS: ClassVar[bool] = False
    """Whether each element of the result is a function of one element of each operand, after broadcasting."""

    MOVES: ClassVar[bool] = False
    """Whether each element of the results is an element of the first operand."""

    PERMUTES: ClassVar[bool] = False
    """Whether the result has the elements of the first operand, each once: in another order, another shape, or both."""

    RESHAPES: ClassVar[bool] = False
    """Whether the result has the elements of the first operand in their order, in another shape."""

    NEUTRAL: ClassVar[float | None] = None
    """The neutral number: with it as second operand the result is the first operand.

    It is neutral as first operand, too, if the operation is commutative.
    """

    AXES: ClassVar[AlongAxes | None] = None
    """The dimensions along which the operation works, if properties or an operand name them and the rank is kept."""

    EXTENTS: ClassVar[tuple[int, ...]] = ()
    """Indices of operands with an element for each dimension of the first operand, such as paddings and repeats."""

    EXACT_OPERANDS: ClassVar[tuple[int, ...]] = ()
    """Indices of operands that must not be rounded: positions, sizes, and numbers that are compared or become
    integers.
    """

    PASSES_ERRORS_ON: ClassVar[bool] = False
    """Whether a rounded operand changes the result by about the rounding error.

    Computations of positions and sizes consist of such operations.
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        # At this point `verify_` is the method of the class; `irdl_op_definition` replaces it by one that calls it.
        if "verify_" in cls.__dict__:
            _VERIFYING.add(cls)

    @classmethod
    def verifies_itself(cls) -> bool:
        """Whether the class or a base of it overrides `verify_`, which then has to be called to verify an operation."""
        return not _VERIFYING.isdisjoint(cls.__mro__)

    def verify_(self) -> None:
        self.check_invariants()

    def check_invariants(self) -> None:
        """Check what the definition of the class cannot express. The operation already satisfies the definition.

        Raises VerifyException.
        """

    @classmethod
    def completed(cls, properties: Mapping[str, Attribute]) -> dict[str, Attribute]:
        """The properties, with those that the others imply, where a class overrides this."""
        return dict(properties)

    def gives_back_operand(self, known: OperandValues) -> bool:
        """Whether the result certainly has the elements and the shape of the first operand, for any dynamic dimensions.

        Element types and a neutral second operand are checked by the caller.
        """
        return False

    def integral_bounds(self, index: int, of: OperandBounds) -> Bounds | None:
        """The least and the greatest integer that an element of a result can be; None if elements need not be integers.

        `of` gives the bounds of an operand. Bounds of integer types may be beyond the type. NaN is ignored.
        """
        return of(0) if self.MOVES else None

    def infer(self, known: OperandValues) -> Types:
        """Result types, from operand types, properties and known operand values.

        Raises InferenceError if operands contradict the definition of the operation; its reason need not name the
        operation.
        """
        shapes = self.result_shapes([shape_of(operand) for operand in self._operands], known)
        return list(map(tensor, shapes, self.result_elements()))

    def result_shapes(self, shapes: Shapes, known: OperandValues) -> Shapes:
        """Shapes of the results for shapes of the operands, properties and known operand values.

        Raises InferenceError if numbers contradict each other or the definition of the operation.
        """
        return (self.result_shape(shapes, known),)

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        """Shape of the result of an operation with a single result; see `result_shapes`."""
        raise NotImplementedError(f"{self.name} has no shape inference")

    def result_elements(self) -> Sequence[Attribute]:
        """Element types of the results.

        Raises InferenceError if the operation does not accept the element types of the operands.
        """
        return (self.result_element(),)

    def result_element(self) -> Attribute:
        """Element type of the result of an operation with a single result, by default that of the first operand."""
        return self.element_type(0)

    def common_element(self, *indices: int) -> Attribute:
        """The common element type of the operands with these indices, by default of all operands.

        Raises InferenceError if the element types differ.
        """
        operands = [self._operands[index] for index in indices] if indices else self._operands
        return reduce(merge_elements, map(element_of, operands))

    def means_same(self, index: int, a: Array, b: Array) -> bool:
        """Whether two different constants mean the same as operand `index`, such as an axis counted from either end.

        False if the rank that this depends on is dynamic.
        """
        del index, a, b
        return False

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        """Results for operand values (numpy arrays); None if they are not computed at compile time.

        Absent trailing operands are omitted.
        """
        return None

    def steps(self, *operands: Values) -> int:
        """The approximate number of nanoseconds that `evaluate` takes for these operand values.

        A class overrides it if the work of its operation is not proportional to the elements of operands and results.
        """
        sizes = [operand.size for operand in operands]
        sizes += [element_count(shape_of(result)) or 0 for result in self.results]
        return self.STEPS * sum(sizes)

    def result_count(self) -> int:
        """Number of results that operands and properties determine; used when the operation is built."""
        return _result_definitions(type(self))

    def shape(self, index: int) -> Shape:
        """Shape of an operand, None for a dynamic rank."""
        return shape_of(self._operands[index])

    def rank(self, index: int) -> int | None:
        """Rank of an operand, None if it is dynamic."""
        return rank_of(self._operands[index])

    def element_type(self, index: int) -> Attribute:
        """Element type of an operand."""
        return element_of(self._operands[index])

    def optional_operand(self, index: int) -> SSAValue | None:
        """An operand, None if it is absent."""
        if index >= len(self._operands) or is_none(self._operands[index].owner):
            return None
        return self._operands[index]

    def print(self, printer: Printer) -> None:
        from moir.dialects.assembly import print_assembly

        print_assembly(printer, self, property_table(type(self)).defaults)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        from moir.dialects.assembly import parse_assembly

        position = parser.pos
        assembly = parse_assembly(parser)
        table = property_table(cls)
        properties = dict(table.defaults)
        for name, value in assembly.properties.items():
            spec = table.specs.get(name)
            try:
                properties[name] = value if spec is None else spec.kind.from_text(value)
            except ValueError as error:
                parser.raise_error(f"{cls.name}: {name}: {error}", position)
        return cls.create(
            operands=assembly.operands,
            result_types=assembly.result_types,
            properties=properties,
            attributes=assembly.attributes,
            regions=assembly.regions,
        )


@cache
def is_pure(operation: type[Operation]) -> bool:
    """Whether operations of a class are of an operation set, have no effects, and give equal results for equal
    operands.
    """
    return issubclass(operation, OpsetOp) and operation.DETERMINISTIC and not operation.EFFECTS
