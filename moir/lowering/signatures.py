"""Signatures of handlers: the parameters of a handler are the operands and attributes of its kind of node.

    @onnx.lowers("PRelu", since=7)
    def prelu(op: OpBuilder, x: SSAValue, slope: SSAValue) -> SSAValue: ...

    @onnx.lowers("Clip", since=11)
    def clip(op: OpBuilder, input: SSAValue, min: SSAValue | None = None, max: SSAValue | None = None) -> SSAValue: ...

    @tf.lowers("Pack")
    def pack(node: LoweringNode, op: OpBuilder, *values: SSAValue, axis: int = 0) -> SSAValue: ...

- `node`, for facts other than operands and attributes, and `op`, the builder, come first; a handler may lack either.
- The other positional parameters are operands, in order. An operand may be absent if its default is None, or if its
name begins with an underscore, since the handler does not use it; all others are required. `*values` are all remaining
  operands, none of which may be absent.
- Keyword-only parameters are attributes. The annotation, or else the default, determines the type (`READERS`). The
default is the framework's; an attribute without default is required. `**attributes` are all attributes that are not
  named, as values of Python.

A trailing underscore (`lambda_`) keeps a name apart from one of Python; it is not part of the framework's name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import update_wrapper
from inspect import CO_VARARGS, CO_VARKEYWORDS, formatannotation
from types import FunctionType
from typing import TYPE_CHECKING, Any, cast

from xdsl.ir import Attribute

from moir.dialects.properties import value_of
from moir.errors import UsageError
from moir.support.records import Record

if TYPE_CHECKING:
    from moir.lowering.binder import LoweringNode

Reader = Callable[["LoweringNode", str, Any], Any]
"""Reads an attribute of a node by name; the third argument is its default, None if the attribute is required."""


class Operand(Record):
    """An operand in a signature.

    Args:
        name: the framework's name of the operand.
        is_optional: whether it may be absent.
        is_variadic: whether it stands for all remaining operands.
    """

    name: str
    is_optional: bool = False
    is_variadic: bool = False


class NodeAttribute(Record):
    """An attribute in a signature.

    Args:
        parameter: the name of the parameter.
        name: the framework's name of the attribute.
        type: the annotation, a key of `READERS`.
        default: the value if the attribute is absent; it is None for types that include None.
        is_required: whether a node must have it.
    """

    parameter: str
    name: str
    type: str
    default: object = None
    is_required: bool = False


class Signature(Record):
    """The operands and attributes that the parameters of a handler declare.

    Args:
        leading: which of `node` and `op` the handler takes, in order.
        operands: the operands, in order.
        attributes: the attributes.
        takes_others: whether the handler takes all other attributes, too, as `**attributes`.
    """

    leading: tuple[str, ...]
    operands: tuple[Operand, ...]
    attributes: tuple[NodeAttribute, ...]
    takes_others: bool = False


Arrange = Callable[["LoweringNode", Signature], "LoweringNode"]
"""Returns a node with its operands in the order of a signature."""


def _flag(node: LoweringNode, name: str, default: bool | None) -> bool:
    return bool(node.integer(name)) if default is None else node.flag(name, default)


READERS: Mapping[str, Reader] = {
    "int": lambda node, name, default: node.integer(name, default),
    "float": lambda node, name, default: node.number(name, default),
    "str": lambda node, name, default: node.text(name, default),
    "bool": _flag,
    "tuple[int, ...]": lambda node, name, default: node.integers(name, default),
    "tuple[float, ...]": lambda node, name, default: node.numbers(name, default),
    "tuple[str, ...]": lambda node, name, default: node.texts(name, default),
    "Attribute": lambda node, name, default: node.element_attribute(name, default),
    "object": lambda node, name, default: node.attribute(name, None) if node.has(name) else default,
}
"""How an attribute is read, by the annotation of its parameter. `Attribute` is an element type, `object` any value.

`T | None` with the default None is a T, or None if the attribute is absent.
"""


def signature_of(handler: Callable[..., Any], readers: Mapping[str, Reader] = READERS) -> Signature:
    """The signature of a handler; a callable that is not a function has the signature (node, op).

    `readers` are the readers of its table, by the annotations that select them.

    Raises UsageError if a parameter is neither an operand nor an attribute, or the builder comes before the node.
    """
    if not isinstance(handler, FunctionType):
        return Signature(("node", "op"), (), ())
    code = handler.__code__
    names = code.co_varnames
    positional = names[: code.co_argcount]
    if positional in (("node", "_"), ("_", "op")):
        return Signature(("node", "op"), (), ())
    leading = tuple(name for name in positional[:2] if name in ("node", "op"))
    if leading == ("op", "node"):
        raise UsageError(f"lowering {handler.__qualname__}: the node comes before the builder")
    defaults = handler.__defaults__ or ()
    first_default = len(positional) - len(defaults)
    operands = [
        Operand(name.strip("_"), is_optional=index >= first_default or name.startswith("_"))
        for index, name in enumerate(positional)
        if index >= len(leading)
    ]
    if any(default is not None for default in defaults):
        names_with_default = ", ".join(positional[first_default:])
        raise UsageError(
            f"lowering {handler.__qualname__}: an operand that may be absent has the default None",
            location=f"{code.co_filename}:{code.co_firstlineno}",
            hint=f"if {names_with_default} is an attribute, write a * before it: parameters after a * are attributes",
        )
    named = names[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    if code.co_flags & CO_VARARGS:
        operands.append(Operand(names[code.co_argcount + code.co_kwonlyargcount].rstrip("_"), is_variadic=True))
    attributes = tuple(_attribute(handler, name, readers) for name in named)
    return Signature(leading, tuple(operands), attributes, bool(code.co_flags & CO_VARKEYWORDS))


def _attribute(handler: FunctionType, parameter: str, readers: Mapping[str, Reader]) -> NodeAttribute:
    """The attribute of a keyword-only parameter. One without annotation has the type of its default.

    Raises UsageError for a type that `readers` do not have.
    """
    defaults: dict[str, object] = handler.__kwdefaults__ or {}
    default = defaults.get(parameter)
    annotation: object = handler.__annotations__.get(parameter, _type_name(default))
    written = annotation if isinstance(annotation, str) else formatannotation(annotation)
    if written.removesuffix(" | None") not in readers:
        raise UsageError(
            f"lowering {handler.__qualname__}: the type of attribute {parameter} is {written or 'not given'}",
            hint=f"annotate it with one of {', '.join(readers)}, or one of them | None",
        )
    return NodeAttribute(parameter, parameter.rstrip("_"), written, default, parameter not in defaults)


def _type_name(value: object) -> str:
    """The annotation for the type of a default value; empty for None and an empty tuple, which do not determine a
    type.
    """
    if isinstance(value, Attribute):
        return "Attribute"
    if isinstance(value, tuple):
        return f"tuple[{type(cast('tuple[object, ...]', value)[0]).__name__}, ...]" if value else ""
    return "" if value is None else type(value).__name__


def bound(
    handler: Callable[..., Any],
    attributes_of: Callable[[LoweringNode], Any] | None = None,
    readers: Mapping[str, Reader] = READERS,
    arrange: Arrange | None = None,
) -> Callable[..., Any]:
    """A function of a node and a builder that calls a handler with the operands and attributes in its signature.

        elu(op, x, *, alpha=1.0)  ->  elu(op, node.operand(0), alpha=node.number("alpha", 1.0))

    A handler with the parameters (node, op) is returned unchanged.

    Args:
        handler: the handler.
        attributes_of: gives the object whose attributes are read, with the methods of a node; by default the node
            itself.
        readers: how attributes are read, by the annotations of their parameters.
        arrange: puts the operands of a node in the order of a signature, where nodes have names for them.
    """
    signature = signature_of(handler, readers)
    if signature == Signature(("node", "op"), (), ()):
        return handler
    fixed = [(index, each.is_optional) for index, each in enumerate(signature.operands) if not each.is_variadic]
    is_variadic = len(fixed) < len(signature.operands)
    attributes = [
        (each.parameter, each.name, readers[each.type.removesuffix(" | None")], each.default, each.type.endswith(" | None"))
        for each in signature.attributes
    ]
    named_attributes = {each.name for each in signature.attributes}
    takes_node, takes_op = "node" in signature.leading, "op" in signature.leading

    def call_with_two(node: LoweringNode, op: Any) -> Any:
        return handler(op, node.operand(0), node.operand(1))

    # Most nodes of most models are of such kinds.
    if signature.leading == ("op",) and fixed == [(0, False), (1, False)] and not (attributes or is_variadic or signature.takes_others):
        return update_wrapper(call_with_two, handler)

    def call(node: LoweringNode, op: Any) -> Any:
        if arrange is not None:
            node = arrange(node, signature)
        arguments: list[Any] = [node] if takes_node else []
        if takes_op:
            arguments.append(op)
        for index, is_optional in fixed:
            arguments.append(node.optional(index) if is_optional else node.operand(index))
        if is_variadic:
            arguments += [node.operand(index) for index in range(len(fixed), len(node.values))]
        if not attributes and not signature.takes_others:
            return handler(*arguments)
        source = node if attributes_of is None else attributes_of(node)
        named: dict[str, Any] = {}
        for parameter, name, read, default, may_be_none in attributes:
            named[parameter] = None if may_be_none and not source.has(name) else read(source, name, default)
        if signature.takes_others:
            named |= {name: value_of(each) for name, each in node.op.properties.items() if name not in named_attributes}
        return handler(*arguments, **named)

    return update_wrapper(call, handler)
