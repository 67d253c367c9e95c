"""The constraints of the definition of an operation class, in a form that is checked quickly.

xDSL interprets a definition each time that it verifies an operation, which takes ten times as long as the comparison
with a form. A form only tells whether an operation satisfies its definition; for an operation that does not, xDSL's
verification reports why.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from functools import cache

from xdsl.ir import Attribute, Operation
from xdsl.irdl import AttrConstraint, OperandDef, OptPropertyDef, ResultDef
from xdsl.irdl.constraints import AnyAttr, AtMost, EqIntConstraint, RangeLengthConstraint, RangeOf, VerificationContext
from xdsl.traits import OpTrait
from xdsl.utils.exceptions import VerifyException

from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.support.records import Record


class VerifiedForm(Record):
    """The form of the operations of a class without bodies.

    Args:
        operands: the permitted numbers of operands.
        results: the permitted numbers of results.
        properties: constraint and default of each permitted property; a default satisfies its constraint.
        required: the names of the required properties.
    """

    operands: range
    results: range
    properties: Mapping[str, tuple[AttrConstraint[Attribute], Attribute | None]]
    required: frozenset[str]

    def fits(self, op: Operation) -> bool:
        """Whether an operation satisfies its definition."""
        properties = op.properties
        if (
            len(op.operands) not in self.operands
            or len(op.results) not in self.results
            or op.regions
            or op.successors
            or not properties.keys() >= self.required
        ):
            return False
        try:
            for name, attribute in properties.items():
                constraint, default = self.properties[name]
                if attribute is not default:
                    constraint.verify(attribute, VerificationContext())
        except (KeyError, VerifyException):
            return False
        return True


@cache
def form_of(operation: type[Operation]) -> VerifiedForm | None:
    """The form of an operation class; None for a class whose definition has constraints that a form cannot express."""
    if not issubclass(operation, OpsetOp) or operation.verifies_itself():
        return None
    definition = operation.get_irdl_definition()
    operands, results = _counts(definition.operands), _counts(definition.results)
    if operands is None or results is None:
        return None
    if definition.regions or definition.successors or definition.attributes or definition.options:
        return None
    if any(type(trait).verify is not OpTrait.verify for trait in definition.traits):
        return None
    return VerifiedForm(
        operands,
        results,
        {name: (each.constr, each.default_value) for name, each in definition.properties.items()},
        frozenset(name for name, each in definition.properties.items() if not isinstance(each, OptPropertyDef)),
    )


def _counts(definitions: Iterable[tuple[str, OperandDef | ResultDef]]) -> range | None:
    """The permitted numbers of operands or results; None if a definition has further constraints."""
    least, most = 0, 0
    for _, definition in definitions:
        constraint, length = definition.constr, None
        if isinstance(constraint, RangeLengthConstraint):
            constraint, length = constraint.constraint, constraint.length
        if not isinstance(constraint, RangeOf) or constraint.constr != AnyAttr():
            return None
        match length:
            case EqIntConstraint(value):
                least, most = least + value, most + value
            case AtMost(bound):
                most += bound
            case None:
                most = sys.maxsize - 1
            case _:
                return None
    return range(least, most + 1)
