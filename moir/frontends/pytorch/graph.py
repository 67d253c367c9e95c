"""A graph of a program -> a block in the `aten` dialect.

    {"target": "torch.ops.aten.linear.default", "inputs": [x, weight, bias], "outputs": [y]}
->  %y = aten.linear.default(%x, %weight, %bias) {arguments = ["input", "weight", "bias"]} : tensor<*xf32>

Results have the element types that torch inferred by its rules of promotion. A node is named by its
result, prefixed by the path of its module. A graph of control flow becomes a region with a Parameter for each input.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import ComplexType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from moir.dialects import element_types, opset
from moir.dialects.data import DataAttr
from moir.dialects.framework import COMPLEX_OPERANDS, REAL_RESULTS, operation_class
from moir.dialects.names import several_tensor_names
from moir.dialects.properties import attribute_of, integers_attribute, string_attribute, strings_attribute
from moir.dialects.shapes import tensor
from moir.files.json_fields import Fields
from moir.frameworks.traits import MAY_COPY, kinds_with
from moir.frontends.operations import Operations, named
from moir.frontends.pytorch.arguments import ARGUMENTS, Arguments, add_argument
from moir.frontends.pytorch.pickles import Subclass
from moir.frontends.pytorch.storages import ELEMENTS

DIALECT = "aten"

_SYMBOLS = {"sym_int_values": element_types.si64, "sym_bool_values": element_types.boolean, "sym_float_values": element_types.f64}
_WITH_EFFECTS = "higher_order.with_effects"
_SUBCLASS_PART = "torch.ops.export.access_subclass_inner_tensor.default"

STRIDED = frozenset(("as_strided.default", "as_strided_copy.default", "as_strided_scatter.default"))
"""Operations that read the storage of their operand with strides that are an argument."""

COPIES = "copies"
"""The property that marks the result of an operation as a copy, for kinds with the trait `MAY_COPY`: such operations
return a view of their operand, or a copy.
"""

UNDECIDED = "undecided"
"""The property that marks an operation with the trait `MAY_COPY`, or in `STRIDED`, of which the file does not tell
whether its result is a copy, or which memory it reads.
"""


def kind_of_target(target: str) -> str:
    """The kind of a node in the dialect: `aten.linear.default` -> `linear.default`; other namespaces than aten stay."""
    return target.removeprefix("torch.ops.").removeprefix("aten.")


PACKED = frozenset(("_weight_int4pack_mm_for_cpu.default", "_weight_int4pack_mm.default"))
"""Operations whose weights are in a memory layout that depends on the processor that packed them; the file does not
name it.
"""

PACKING = "packing"
"""The property of an operation in `PACKED` with the name of the layout; present if the user or the archive names it."""


class GraphBuilder:
    """Builds the block of a graph.

    Args:
        graph: the graph.
        operations: the operations of the block, to which those of the nodes are appended.
        values: the values of the inputs by their names.
        subclasses: the inputs that are tensors of a subclass, by their names.
        packing: the layout of packed weights; None if the user does not name it.
    """

    def __init__(
        self,
        graph: Fields,
        operations: Operations,
        values: dict[str, SSAValue],
        subclasses: dict[str, tuple[str, Subclass]] | None = None,
        packing: str | None = None,
    ) -> None:
        self.graph = graph
        self.operations = operations
        self.values = values
        self.subclasses = subclasses or {}
        self.packing = packing
        self._metas = graph.fields("tensor_values", {})
        self._complex: set[SSAValue] = set()
        self._symbols = {name: element for key, element in _SYMBOLS.items() for name in graph.fields(key, {}).content}

    def nodes(self) -> None:
        """Append the operations of all nodes."""
        for node in self.graph.objects("nodes"):
            self._node(node)

    def value(self, name: str) -> SSAValue:
        """The value of a name. Raises ModelFileError if nothing computes it before its use."""
        if name not in self.values:
            raise self.graph.error(f"the value {name!r} is not computed before its use")
        return self.values[name]

    def type_of(self, name: str) -> Attribute:
        """The type of the value `name`: a scalar for a symbol, else a tensor of unknown shape."""
        if name in self._symbols:
            return tensor((), self._symbols[name])
        return tensor(None, self.element_of(name))

    def element_of(self, name: str) -> Attribute:
        """The element type of a tensor, for complex numbers that of their parts; dynamic for any other value."""
        element = self._meta_element(name)
        return cast("ComplexType[Any]", element).element_type if isinstance(element, ComplexType) else element

    def is_complex(self, name: str) -> bool:
        """Whether a tensor has complex numbers, which are stored here as pairs in a last dimension of 2."""
        return isinstance(self._meta_element(name), ComplexType)

    def _meta_element(self, name: str) -> Attribute:
        if name not in self._metas.content:
            return element_types.dynamic
        meta = self._metas.fields(name)
        element = ELEMENTS.get(number := meta.integer("dtype"))
        if element is None:
            raise meta.error(f"the unknown element type {number}")
        return element

    def constant(self, name: str, value: DataAttr) -> SSAValue:
        """Append a constant."""
        return self.operations.constant(value, named(name))

    def weight(self, name: str, value: DataAttr, placeholder: str) -> SSAValue:
        """Append a weight: a constant, converted if the program states another element type than its file.

        Args:
            name: name of the parameter or buffer.
            value: its elements.
            placeholder: name of the input of the graph.
        """
        element = self.element_of(placeholder)
        constant = self.constant(name, value)
        if self.is_complex(placeholder):
            self._complex.add(constant)
        if value.element == element or element is element_types.dynamic:
            return constant
        op = operation_class(DIALECT, "to.dtype").create(
            operands=[constant],
            properties={ARGUMENTS: strings_attribute(["self"]), COPIES: attribute_of(True)},
            attributes={"name": string_attribute(f"{name}/converted")},
            result_types=[tensor(None, element)],
        )
        self.operations.append(op)
        return op.results[0]

    def append(self, kind: str, operands: Sequence[SSAValue], names: Sequence[str], name: str) -> Operation:
        """Append an operation without a node of its own in the program, such as a final write to an input.

        `names` are the arguments for its operands; the result has the type of the first operand.
        """
        properties: dict[str, Attribute] = {ARGUMENTS: strings_attribute(names)}
        op = operation_class(DIALECT, kind).create(
            operands=operands, properties=properties, attributes={"name": string_attribute(name)}, result_types=[operands[0].type]
        )
        self.operations.append(op)
        return op

    def _node(self, node: Fields) -> None:
        target = node.text("target")
        if target == _SUBCLASS_PART and self._part(node):
            return
        if kind_of_target(target) == _WITH_EFFECTS:
            self._with_effects(node)
            return
        arguments = Arguments([], [], {})
        regions: list[Region] = []
        for index, each in enumerate(node.objects("inputs")):
            argument = each.fields("arg")
            key, _ = argument.only()
            if key == "as_graph":
                regions.append(self._region(argument.fields("as_graph").fields("graph")))
            else:
                add_argument(arguments, each.text("name", "") or f"input{index}", argument, self.value)
        kind = kind_of_target(target)
        results = list(_result_names(node))
        properties = arguments.properties
        if arguments.names:
            properties[ARGUMENTS] = strings_attribute(arguments.names)
        complex_operands = [index for index, value in enumerate(arguments.operands) if value in self._complex]
        if complex_operands or any(each and self.is_complex(each) for each in results):
            properties[COMPLEX_OPERANDS] = integers_attribute(tuple(complex_operands))
            if not any(each and self.is_complex(each) for each in results):
                properties[REAL_RESULTS] = attribute_of(True)
        if kind in PACKED and self.packing is not None:
            properties[PACKING] = string_attribute(self.packing)
        if kind in STRIDED and not self._is_whole(node):
            properties[UNDECIDED] = attribute_of(True)
        if kind in kinds_with(DIALECT, MAY_COPY):
            copies = self._copies(node, kind, results)
            if copies is not False:
                properties[UNDECIDED if copies is None else COPIES] = attribute_of(True)
        name = self._name(node, results)
        op = operation_class(DIALECT, kind).create(
            operands=arguments.operands,
            properties=properties,
            attributes={"name": string_attribute(name), "tensor_names": several_tensor_names([[each] if each else [] for each in results])},
            result_types=[self.type_of(each) for each in results],
            regions=regions,
        )
        self.operations.append(op)
        for result, each in zip(op.results, results, strict=True):
            if each:
                self.values[each] = result
                if self.is_complex(each):
                    self._complex.add(result)

    def _with_effects(self, node: Fields) -> None:
        """Append the operator that a `with_effects` node applies; tokens only order the effects.

            {"target": "…with_effects", "inputs": [token, {"as_operator": "…_linalg_check_errors.default"}, …]}

        An assertion has no results, and is left out. Raises ModelFileError if the operator is missing.
        """
        inputs, outputs = node.list("inputs"), node.list("outputs")
        operator = list(node.objects("inputs"))[1].fields("arg").text("as_operator") if len(inputs) > 1 else ""
        if not operator:
            raise node.error("the operator of its effect is missing")
        if any(each for each in _result_names(node)[1:]):
            content = {**node.content, "target": operator, "inputs": inputs[2:], "outputs": outputs[1:]}
            self._node(Fields(content, node.place, node.location))

    def _part(self, node: Fields) -> bool:
        """Append a constant if a node reads an inner tensor of a tensor subclass; returns whether the node does so."""
        arguments = {each.text("name", ""): each.fields("arg") for each in node.objects("inputs")}
        if "src_subclass_tensor" not in arguments or "attr" not in arguments:
            return False
        source = arguments["src_subclass_tensor"].fields("as_tensor").text("name")
        part = arguments["attr"].text("as_string")
        name, value = self.subclasses.get(source, ("", None))
        inner = None if value is None else value.parts.get(part)
        if not isinstance(inner, DataAttr):
            return False
        for each in _result_names(node):
            self.values[each] = self.constant(f"{name}.{part}", inner)
        return True

    def _region(self, graph: Fields) -> Region:
        """The region of a graph of control flow; its names are its own."""
        operations = Operations()
        builder = GraphBuilder(graph, operations, {}, packing=self.packing)
        for argument in graph.objects("inputs"):
            key, _ = argument.only()
            if key not in ("as_tensor", "as_sym_int", "as_sym_bool", "as_sym_float"):
                continue
            held = argument.fields(key)
            name = held.text("name", "") or held.text("as_name", "")
            builder.values[name] = operations.parameter(builder.type_of(name))
        builder.nodes()
        results: list[Operation] = []
        for argument in graph.objects("outputs"):
            result = builder.output(argument)
            if result is not None:
                results.append(opset.operation("opset1.Result").create(operands=[result]))
        return Region(Block([*operations.list, *results]))

    def output(self, argument: Fields) -> SSAValue | None:
        """The value of an output; None for a value that is neither a tensor nor a size, such as a number."""
        key, _ = argument.only()
        if key == "as_tensor":
            return self.value(argument.fields(key).text("name"))
        if key in ("as_sym_int", "as_sym_float", "as_sym_bool") and "as_name" in argument.fields(key).content:
            return self.value(argument.fields(key).text("as_name"))
        return None

    def _name(self, node: Fields, results: Sequence[str]) -> str:
        """The name of a node: the path of its module and the name of its first result."""
        name = node.text("name", "") or next((each for each in results if each), "")
        path = _module_path(node.fields("metadata", {}).text("nn_module_stack", ""))
        return f"{path}/{name}" if path else name

    def _is_whole(self, node: Fields) -> bool:
        """Whether the first operand of a node occupies all of its memory contiguously, from the beginning on."""
        argument = next((each.fields("arg") for each in node.objects("inputs") if each.text("name", "") in ("self", "input")), None)
        if argument is None or "as_tensor" not in argument.content:
            return False
        name = argument.fields("as_tensor").text("name")
        if name not in self._metas.content:
            return False
        meta = self._metas.fields(name)
        offset = meta.fields("storage_offset", {"as_int": 0}).content.get("as_int")
        return offset == 0 and _is_contiguous(meta) is True

    def _copies(self, node: Fields, kind: str, results: Sequence[str]) -> bool | None:
        """Whether the result of an operation that may be a view is a copy; None if that is unknown from the file."""
        inputs = {each.text("name", ""): each.fields("arg") for each in node.objects("inputs")}
        source = next((each.fields("as_tensor").text("name", "") for each in inputs.values() if "as_tensor" in each.content), "")
        if source not in self._metas.content or not results or results[0] not in self._metas.content:
            return None
        before, after = self._metas.fields(source), self._metas.fields(results[0])
        if before.integer("dtype") != after.integer("dtype"):
            return True
        if "copy" in inputs and inputs["copy"].content.get("as_bool") is True:
            return True
        if any("as_memory_format" in each.content for each in inputs.values()):
            return None
        if kind.startswith(("to.", "type_as.")) or _is_contiguous(before):
            return False
        if kind == "contiguous.default":
            return True if _is_contiguous(before) is False else None
        return None if (is_view := is_viewable(before, after)) is None else not is_view


def _is_contiguous(meta: Fields) -> bool | None:
    """Whether the elements of a tensor are contiguous in memory; None if that depends on dynamic dimensions."""
    expected = 1
    sizes, strides = list(meta.objects("sizes")), list(meta.objects("strides"))
    sizes_and_strides: list[tuple[Any, Any]] = [
        (size.content.get("as_int"), stride.content.get("as_int")) for size, stride in zip(sizes, strides, strict=False)
    ]
    for index, (size, stride) in list(enumerate(sizes_and_strides))[::-1]:
        if size == 1:
            continue
        if not isinstance(stride, int):
            return None
        if stride != expected:
            return False
        if not isinstance(size, int):
            # The strides of the outer dimensions depend on this dynamic one: contiguous for sure only if they are all
            # 1.
            return True if all(each == 1 for each, _ in sizes_and_strides[:index]) else None
        expected *= size
    return True


def is_viewable(before: Fields, after: Fields) -> bool | None:
    """Whether a tensor `before` can be viewed with the sizes of `after` without a copy; None if sizes are dynamic.

    Dimensions whose elements follow each other at a constant distance form a run; the new sizes must divide each run.
    Source: computeStride in TensorUtils.cpp of PyTorch 2.13.
    """
    sizes, strides, wanted = _known(before, "sizes"), _known(before, "strides"), _known(after, "sizes")
    if sizes is None or strides is None or wanted is None:
        return None
    if 0 in sizes:
        return True
    runs: list[list[int]] = []
    for size, stride in zip(sizes, strides, strict=False):
        if size == 1:
            continue
        # The elements of a run: their number, and the distance of the last ones.
        if runs and runs[-1][1] == size * stride:
            runs[-1] = [runs[-1][0] * size, stride]
        else:
            runs.append([size, stride])
    remaining = [each for each in wanted if each != 1]
    for length, _ in runs:
        taken = 1
        while taken < length and remaining:
            taken *= remaining.pop(0)
        if taken != length:
            return False
    return True


def _known(meta: Fields, name: str) -> list[int] | None:
    """The numbers of a list in the description of a tensor; None if one of them is not known."""
    numbers = [each.content.get("as_int") for each in meta.objects(name)]
    known = [each for each in numbers if isinstance(each, int)]
    return known if len(known) == len(numbers) else None


def _result_names(node: Fields) -> list[str]:
    """The names of the results of a node; empty for one that is undefined."""
    names: list[str] = []
    for argument in node.objects("outputs"):
        key, content = argument.only()
        if key == "as_tensors":
            names += [each.text("name") for each in argument.objects(key)]
        elif key in ("as_tensor", "as_custom_obj"):
            names.append(argument.fields(key).text("name"))
        elif key in ("as_sym_int", "as_sym_float", "as_sym_bool") and isinstance(content, dict):
            names.append(argument.fields(key).text("as_name", ""))
        else:
            names.append("")
    return names


def _module_path(stack: str) -> str:
    """The path of the innermost module in a stack of `key,path,class` triples."""
    innermost = stack.rpartition(";")[2].split(",")
    if len(innermost) < 3:
        return ""
    path = innermost[1]
    return path.removeprefix("L['self'].").removeprefix("L['self']")
