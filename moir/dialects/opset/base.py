"""What every operation of the opset dialects shares.

An operation is an IRDL class of about ten lines: operands, properties named as in the XML with the defaults of the
specification, `result_shape` and, where numpy can compute it, `evaluate`. The dialect is the operation set that
introduced this version of the operation, so `opset8.Gather` is written to the IR as `type="Gather" version="opset8"`.

    @irdl_op_definition
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
`moir.analysis.dimensions` ask the same `result_shapes`: for types a dimension of an operand is an integer or -1
(unknown), for symbolic dimensions an integer or a `Symbol`. A dimension of the result is a dimension of an operand, is
computed from some by the functions of `moir.dialects.shapes`, or is -1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cache, reduce
from typing import Any, ClassVar, Self, TypeAlias, cast

from xdsl.dialects.builtin import ArrayAttr, FloatAttr, IntegerAttr, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import AttrConstraint, IRDLOperation, OptPropertyDef, VarOperand, prop_def, traits_def, var_operand_def
from xdsl.irdl.constraints import AnyAttr, AtMost, RangeOf, VerificationContext
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind
from xdsl.utils.exceptions import VerifyException

from moir.dialects.assembly import parse_assembly, print_assembly
from moir.dialects.data import Array
from moir.dialects.element_types import is_element_type
from moir.dialects.operand_values import OperandValues
from moir.dialects.properties import (
    FALSE,
    TRUE,
    attribute_of,
    boolean_attribute,
    float_attribute,
    floats_attribute,
    floats_of,
    integer_attribute,
    integers_attribute,
    integers_of,
    is_float,
    is_floats,
    is_integer,
    is_integers,
    string_attribute,
    strings_attribute,
    value_of,
)
from moir.dialects.shapes import Shape, Shapes, SymbolicShape, element_of, merge_elements, rank_of, shape_of, tensor

Types: TypeAlias = Sequence[Attribute]
"""Result types of an operation."""


@dataclass(frozen=True)
class PropertyKind(AttrConstraint[Attribute]):
    """The form of a property: `int`, `bool`, `float`, `str`, `element` (an element type), `ints`, `floats` or `strs`;
    `allowed` lists the values a string (or each of several) may have."""

    kind: str
    allowed: tuple[str, ...] = ()

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        if not self.accepts(attr):
            raise VerifyException(f"{attr} is no property of kind {self.kind}")
        if self.allowed:
            value = value_of(attr)
            for text in (value,) if isinstance(value, str) else cast("tuple[str, ...]", value):
                if text not in self.allowed:
                    raise VerifyException(f"{text!r} is not one of {', '.join(self.allowed)}")

    def accepts(self, attr: Attribute) -> bool:
        """Whether an attribute has this form (allowed values aside)."""
        match self.kind:
            case "int":
                return is_integer(attr)
            case "bool":
                return attr in (TRUE, FALSE)
            case "float":
                return is_float(attr)
            case "str":
                return isinstance(attr, StringAttr)
            case "element":
                return is_element_type(attr)
            case "ints":
                return is_integers(attr)
            case "floats":
                return is_floats(attr)
            case _:
                return isinstance(attr, ArrayAttr) and all(isinstance(item, StringAttr) for item in cast("ArrayAttr[Attribute]", attr))

    def attribute(self, value: Any) -> Attribute:
        """The attribute of a Python value in this form; an attribute that has it already comes back as it is."""
        if isinstance(value, Attribute):
            return value if self.accepts(value) or self.kind == "element" else self.attribute(value_of(value))
        match self.kind:
            case "int":
                return integer_attribute(int(value))
            case "bool":
                return boolean_attribute(bool(value))
            case "float":
                return float_attribute(float(value))
            case "str":
                return string_attribute(str(value))
            case "ints":
                return integers_attribute(tuple(int(item) for item in value))
            case "floats":
                return floats_attribute(tuple(float(item) for item in value))
            case "strs":
                return strings_attribute([str(item) for item in value])
            case _:
                return attribute_of(value)

    def mapping_type_vars(self, type_var_mapping: Mapping[Any, Any]) -> Self:
        return self


def integer_property(default: int | None = None, *, xml: str | None = None) -> Attribute:
    """An integer."""
    return prop_def(PropertyKind("int"), None if default is None else integer_attribute(default), prop_name=xml)


def boolean_property(default: bool | None = None, *, xml: str | None = None) -> Attribute:
    """A boolean."""
    return prop_def(PropertyKind("bool"), None if default is None else boolean_attribute(default), prop_name=xml)


def float_property(default: float | None = None, *, xml: str | None = None) -> Attribute:
    """A float."""
    return prop_def(PropertyKind("float"), None if default is None else float_attribute(default), prop_name=xml)


def string_property(default: str | None = None, *allowed: str, xml: str | None = None) -> Attribute:
    """A string, one of `allowed` if any are given."""
    return prop_def(PropertyKind("str", allowed), None if default is None else string_attribute(default), prop_name=xml)


def element_property(default: Attribute | None = None, *, xml: str | None = None) -> Attribute:
    """An element type."""
    return prop_def(PropertyKind("element"), default, prop_name=xml)


def integers_property(default: tuple[int, ...] | None = None, *, xml: str | None = None) -> Attribute:
    """A list of integers."""
    return prop_def(PropertyKind("ints"), None if default is None else integers_attribute(default), prop_name=xml)


def floats_property(default: tuple[float, ...] | None = None, *, xml: str | None = None) -> Attribute:
    """A list of floats."""
    return prop_def(PropertyKind("floats"), None if default is None else floats_attribute(default), prop_name=xml)


def strings_property(default: tuple[str, ...] | None = None, *allowed: str, xml: str | None = None) -> Attribute:
    """A list of strings, each one of `allowed` if any are given."""
    return prop_def(PropertyKind("strs", allowed), None if default is None else strings_attribute(default), prop_name=xml)


def optional_operands(count: int) -> VarOperand:
    """Up to `count` trailing operands, each of which may be absent (`moir.none` where a later one is present)."""
    return var_operand_def(RangeOf(AnyAttr()).of_length(AtMost(count)))


@dataclass(frozen=True)
class PropertySpec:
    """One property of an operation, by its XML name: form and default (None if it must be given)."""

    kind: PropertyKind
    default: Attribute | None
    optional: bool = False


@dataclass(frozen=True)
class PropertyTable:
    """The properties of an operation class."""

    specs: Mapping[str, PropertySpec] = field(default_factory=dict[str, PropertySpec])
    defaults: Mapping[str, Attribute] = field(default_factory=dict[str, Attribute])


@cache
def property_table(operation: type[IRDLOperation]) -> PropertyTable:
    """The properties of an IRDL class, in the order of their definition."""
    specs = {
        name: PropertySpec(
            definition.constr if isinstance(definition.constr, PropertyKind) else PropertyKind("attribute"),
            definition.default_value,
            isinstance(definition, OptPropertyDef),
        )
        for name, definition in operation.get_irdl_definition().properties.items()
    }
    return PropertyTable(specs, {name: spec.default for name, spec in specs.items() if spec.default is not None})


@cache
def _result_definitions(operation: type[IRDLOperation]) -> int:
    return len(operation.get_irdl_definition().results)


class PropertyAccess(Operation):
    """Python values of the properties of an operation, whatever its dialect."""

    def integer(self, name: str) -> int:
        """An integer property."""
        return cast("IntegerAttr[Any]", self.properties[name]).value.data

    def integers(self, name: str) -> tuple[int, ...]:
        """A property that is a list of integers."""
        return integers_of(self.properties[name])

    def number(self, name: str) -> float:
        """A float property."""
        return cast("FloatAttr[Any]", self.properties[name]).value.data

    def numbers(self, name: str) -> tuple[float, ...]:
        """A property that is a list of floats."""
        return floats_of(self.properties[name])

    def flag(self, name: str) -> bool:
        """A boolean property."""
        return bool(cast("IntegerAttr[Any]", self.properties[name]).value.data)

    def text(self, name: str) -> str:
        """A string property."""
        return cast(StringAttr, self.properties[name]).data

    def texts(self, name: str) -> tuple[str, ...]:
        """A property that is a list of strings."""
        return tuple(item.data for item in cast("ArrayAttr[StringAttr]", self.properties[name]))

    def element(self, name: str) -> Attribute:
        """A property that is an element type."""
        return self.properties[name]


@dataclass(frozen=True)
class AlongAxes:
    """Along which dimensions of its data an operation works; results have the rank of the data.

    Args:
        data: operands of equal rank whose dimensions are meant; None: all operands.
        properties: properties that are the number of a dimension.
        operand: operand that lists dimensions.
    """

    data: tuple[int, ...] | None = (0,)
    properties: tuple[str, ...] = ()
    operand: int | None = None


class _KindOfName:
    """A class attribute: the name of an operation without that of its dialect."""

    def __get__(self, instance: object, owner: type[Operation]) -> str:
        return owner.name.partition(".")[2]


class OpsetEffects(MemoryEffect):
    """Says for xDSL's own passes what `OpsetOp.EFFECTS` says."""

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance]:
        return {EffectInstance(MemoryEffectKind.WRITE)} if isinstance(op, OpsetOp) and op.EFFECTS else set()


class OpsetOp(IRDLOperation, PropertyAccess):
    """Base of the operations of all operation sets."""

    traits = traits_def(OpsetEffects())

    EFFECTS: ClassVar[bool] = False
    """Does something beyond giving results, so it stays where it is even if nothing uses them."""

    SYMBOLIC: ClassVar[bool] = False
    """`evaluate` also takes arrays of dtype object whose entries are integers and `Symbol`s."""

    DETERMINISTIC: ClassVar[bool] = True
    """Equal operands give equal results; False for random operations, which are neither folded nor shared."""

    KIND: ClassVar[str] = cast(str, _KindOfName())
    """The type of the operation, `Gather`, without the operation set that this version of it is from."""

    XML_TYPE: ClassVar[str] = ""
    """The type as the IR spells it, for the few kinds that it spells otherwise than the specification."""

    POINTWISE: ClassVar[bool] = False
    """Each element of the result is computed from that element of the first operand; others are scalars, or only lend
    their type.
    """

    BROADCASTS: ClassVar[bool] = False
    """Each element of the result is computed from one element of each operand; operands broadcast to each other."""

    NEUTRAL: ClassVar[float | None] = None
    """The number with which, as second operand, the operation gives back its first one; as first operand too if it is
    commutative.
    """

    AXES: ClassVar[AlongAxes | None] = None
    """The dimensions along which the operation works, if it names them and keeps the rank."""

    EXTENTS: ClassVar[tuple[int, ...]] = ()
    """Operands that have an entry for each dimension of the first operand: paddings, repeats."""

    EXACT_OPERANDS: ClassVar[tuple[int, ...]] = ()
    """Operands that must not be rounded: positions, sizes, and numbers that are compared or made integers."""

    PASSES_ERRORS_ON: ClassVar[bool] = False
    """A rounded operand gives a result that is off by about as much: what computations of positions and sizes are made
    of.
    """

    def gives_back_operand(self, known: OperandValues) -> bool:
        """Whether the result certainly has the elements and the shape of the first operand, whatever the unknown
        dimensions are.

        Element types, and a neutral second operand, are looked at elsewhere.
        """
        return False

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
        """The same for an operation with one result."""
        raise NotImplementedError(f"{self.name} has no shape inference")

    def result_elements(self) -> Sequence[Attribute]:
        """Element types of the results. Raises InferenceError if the operation does not take the element types of the
        operands.
        """
        return (self.result_element(),)

    def result_element(self) -> Attribute:
        """The same for an operation with one result; that of the first operand unless overridden."""
        return self.element_type(0)

    def common_element(self, *indices: int) -> Attribute:
        """The element type that some operands share, or all. Raises InferenceError if they differ."""
        operands = [self._operands[index] for index in indices] if indices else self._operands
        return reduce(merge_elements, map(element_of, operands))

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        """Results for operand values (numpy), None if this is not computed here. Absent operands are left out from the
        end.
        """
        return None

    def result_count(self) -> int:
        """How many results the operation has by its operands and properties; used when it is built."""
        return _result_definitions(type(self))

    def shape(self, index: int) -> Shape:
        """Shape of an operand."""
        return shape_of(self._operands[index])

    def rank(self, index: int) -> int | None:
        """Rank of an operand."""
        return rank_of(self._operands[index])

    def element_type(self, index: int) -> Attribute:
        """Element type of an operand."""
        return element_of(self._operands[index])

    def optional_operand(self, index: int) -> SSAValue | None:
        """An operand, None if it is absent."""
        from moir.dialects.moir import is_none

        if index >= len(self._operands) or is_none(self._operands[index].owner):
            return None
        return self._operands[index]

    def print(self, printer: Printer) -> None:
        print_assembly(printer, self, property_table(type(self)).defaults)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        found = parse_assembly(parser)
        table = property_table(cls)
        properties = dict(table.defaults)
        for name, value in found.properties.items():
            spec = table.specs.get(name)
            properties[name] = value if spec is None or spec.kind.kind == "attribute" else spec.kind.attribute(value)
        return cls.create(
            operands=found.operands,
            result_types=found.result_types,
            properties=properties,
            attributes=found.attributes,
            regions=found.regions,
        )
