"""The `moir` dialect: the operations of a module that belong to no framework and no operation set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute, Block, Data, Dialect, Operation, Region
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    prop_def,
    region_def,
    result_def,
    traits_def,
)
from xdsl.traits import IsolatedFromAbove, NoTerminator, Pure

from moir.dialects import element_types
from moir.dialects.data import DataAttr
from moir.dialects.operation_class import OperationClass
from moir.dialects.properties import strings_attribute, value_of
from moir.dialects.python_object import PythonAttr
from moir.dialects.shapes import UNKNOWN
from moir.support.records import Record

if TYPE_CHECKING:
    from xdsl.parser import AttrParser, Parser
    from xdsl.printer import Printer

PARAMETER, RESULT = "opset1.Parameter", "opset1.Result"
"""The names of the operations for the inputs and the outputs of a model, in every dialect."""


class Isolated(IsolatedFromAbove):
    """The trait that the bodies of an operation use no value from outside.

    `verify_module` finds this, too, where it looks for the operands of each operation before it in its block. To
    look at all operands once more for each operation with bodies would take a tenth of the time of emission.
    """

    def verify(self, op: Operation) -> None:
        pass


@irdl_op_definition
class ModelOp(IRDLOperation, metaclass=OperationClass):
    """A model: one block of operations, Parameter and Result among them, in topological order.

        moir.model @classifier attributes {opset_import = {…}} { … }

    Attributes of the model as a whole (metadata of the framework, imported operation sets, conversion parameters) are
    discardable.
    """

    name = "moir.model"
    sym_name = prop_def(StringAttr)
    body = region_def("single_block")
    traits = traits_def(NoTerminator(), Isolated())

    @staticmethod
    def of(name: str, block: Block, attributes: dict[str, Attribute] | None = None) -> ModelOp:
        """A model with a block as its body."""
        return ModelOp.create(properties={"sym_name": StringAttr(name)}, attributes=attributes or {}, regions=[Region(block)])

    @property
    def block(self) -> Block:
        """The block of the model."""
        return self.body.block

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        if self.attributes:
            printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body)

    @classmethod
    def parse(cls, parser: Parser) -> ModelOp:
        name = parser.parse_symbol_name()
        attributes = parser.parse_optional_attr_dict_with_keyword()
        region = parser.parse_region()
        if not region.blocks:
            region.add_block(Block())
        return cls.create(properties={"sym_name": name}, attributes=attributes.data if attributes else {}, regions=[region])


@irdl_op_definition
class NoneOp(IRDLOperation, metaclass=OperationClass):
    """An absent optional operand that is followed by present ones."""

    name = "moir.none"
    result = result_def()
    traits = traits_def(Pure())

    @staticmethod
    def of() -> NoneOp:
        """A new absent operand."""
        return NoneOp.create(result_types=[UNKNOWN])

    def print(self, printer: Printer) -> None:
        pass

    @classmethod
    def parse(cls, parser: Parser) -> NoneOp:
        return cls.of()


def is_none(op: object) -> bool:
    """Whether an operation (or the owner of a value) represents an absent operand."""
    # NoneOp has no subclasses, and isinstance with an abstract base class is slower.
    return type(op) is NoneOp


class Slicing(Record):
    """The way in which a loop slices an input, or concatenates an output, along an axis.

    `start`, `end`, `stride` and `part_size` are in elements, as in the IR.
    """

    axis: int
    start: int = 0
    end: int = -1
    stride: int = 1
    part_size: int = 1


class BodyPort(Record):
    """The connection of one Parameter or Result of a loop's body.

    For a Parameter: `index` is the operand of the loop that initializes it (None for the iteration counter),
    `back_edge` the Result whose value it takes from the second iteration on, `slicing` how the operand is sliced. For
    a result of the loop: `index` is the Result of the body, `slicing` how the values of the iterations are concatenated
    (None: only the last value is returned).
    """

    index: int | None
    back_edge: int | None = None
    slicing: Slicing | None = None


@irdl_attr_definition
class BodyPortAttr(Data[BodyPort]):
    """The attribute of a connection of a loop's body.

    #moir.port<2>
    #moir.port<2 back 1>
    #moir.port<2 axis 0 from 0 to -1 stride 1 part 1>
    #moir.port<iteration>
    """

    name = "moir.port"

    def print_parameter(self, printer: Printer) -> None:
        port = self.data
        with printer.in_angle_brackets():
            printer.print_string("iteration" if port.index is None else str(port.index))
            if port.back_edge is not None:
                printer.print_string(f" back {port.back_edge}")
            if (cut := port.slicing) is not None:
                printer.print_string(f" axis {cut.axis} from {cut.start} to {cut.end} stride {cut.stride} part {cut.part_size}")

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> BodyPort:
        def number() -> int:
            return parser.parse_integer(allow_boolean=False)

        with parser.in_angle_brackets():
            index = None if parser.parse_optional_keyword("iteration") else number()
            back_edge = number() if parser.parse_optional_keyword("back") else None
            if not parser.parse_optional_keyword("axis"):
                return BodyPort(index, back_edge)
            values = [number()]
            for keyword in ("from", "to", "stride", "part"):
                parser.parse_keyword(keyword)
                values.append(number())
            return BodyPort(index, back_edge, Slicing(*values))


ONNX_DOMAIN = "ai.onnx"
"""The domain of ONNX's own operator set in `opset_import`: its other name, the empty string, cannot be the name of an
attribute.
"""


XML_ATTRIBUTE = "@"
"""The prefix of the names of XML attributes in a dictionary that has names of XML elements as well."""


class ModuleLevel:
    """Names of the discardable attributes of a model."""

    OPSET_IMPORT: ClassVar[str] = "opset_import"
    METADATA: ClassVar[str] = "metadata"
    CONVERSION_PARAMETERS: ClassVar[str] = "conversion_parameters"
    RUNTIME_INFO: ClassVar[str] = "runtime_info"
    """The `<rt_info>` of a model that was IR already: a string for an element with only a `value`, else a dictionary
    with its attributes (`XML_ATTRIBUTE` before their names) and its elements; a list for several of one name."""
    NOTES: ClassVar[str] = "notes"
    """Notes for the user, one string each: what was omitted from the model, and why."""
    KEEPS_LAYOUTS: ClassVar[str] = "keeps_layouts"
    """The attribute that is set while operations of the framework with an attribute for their data layout are kept for
    transformations of extensions.
    """
    LAYERS_KEEP_NAMES: ClassVar[str] = "layers_keep_names"
    """The attribute that is set if extensions of Model Optimizer ran on the model: where an output and the layer before
    it have one name, the layer keeps it and the output is renamed, as in Model Optimizer.
    """
    RUNTIME_EXTENSIONS: ClassVar[str] = "runtime_extensions"
    """Names of the Python packages whose operations the model needs."""
    IR_VERSION: ClassVar[str] = "ir_version"
    """The version of the IR that is written, for an older runtime; without the attribute it is 11."""


def models_of(module: Operation) -> list[ModelOp]:
    """The models of a module."""
    return [op for region in module.regions for block in region.blocks for op in block.ops if isinstance(op, ModelOp)]


def model_around(op: Operation) -> ModelOp | None:
    """The model that an operation is, or that contains it; None for an operation in a body that belongs to no model
    yet.
    """
    ancestor: Operation | None = op
    while ancestor is not None and not isinstance(ancestor, ModelOp):
        ancestor = ancestor.parent_op()
    return ancestor


def add_notes(op: Operation, notes: Iterable[str]) -> None:
    """Append notes to those of the model that an operation is, or that contains it.

    Nothing happens if there is no such model.
    """
    model = model_around(op)
    if model is None:
        return
    known = model.attributes.get(ModuleLevel.NOTES)
    texts: list[str] = [] if known is None else value_of(known)
    if all_notes := [*texts, *notes]:
        model.attributes[ModuleLevel.NOTES] = strings_attribute(all_notes)


def all_blocks(root: Operation) -> Iterator[Block]:
    """The blocks of the models of a module, or of an operation, with the blocks of all bodies in them; a block precedes
    those within it.
    """
    roots = models_of(root) if isinstance(root, ModuleOp) else [root]
    pending = [block for each in roots for region in each.regions for block in region.blocks]
    while pending:
        block = pending.pop(0)
        yield block
        # Few operations have bodies, and a generator of three loops takes twice as long to find none.
        op = block.first_op
        while op is not None:
            if op.regions:
                pending.extend(inner for region in op.regions for inner in region.blocks)
            op = op.next_op


Moir = Dialect(
    "moir",
    [ModelOp, NoneOp],
    [DataAttr, BodyPortAttr, PythonAttr, element_types.StringType, element_types.DynamicType, element_types.NF4Type],
)
