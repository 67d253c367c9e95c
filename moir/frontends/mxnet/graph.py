"""A symbol -> the block of a model in the `mxnet` dialect.

    {"op": "Activation", "name": "act", "attrs": {"act_type": "relu"}, "inputs": [[0, 0, 0]]}
->  %y = mxnet.Activation(%x) {act_type = "relu", name = "act"}

Variables with a value in the file of parameters are constants, the others inputs. The labels of losses are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from moir.dialects import opset
from moir.dialects.data import DataAttr
from moir.dialects.element_types import f32
from moir.dialects.framework import operation_class
from moir.dialects.names import several_tensor_names
from moir.dialects.properties import attribute_of, string_attribute
from moir.dialects.shapes import UNKNOWN, tensor
from moir.errors import ModelFileError
from moir.frontends.mxnet.input_shapes import InputShapes
from moir.frontends.mxnet.ndarrays import ELEMENTS
from moir.frontends.mxnet.symbol import MAXIMUM_RESULTS, Node, Symbol, value_of_text
from moir.frontends.operations import Operations, declared_type, named
from moir.support.tables import words

VARIABLE = "null"

LOSSES = frozenset(
    (
        *("SoftmaxOutput", "Softmax", "LinearRegressionOutput", "LogisticRegressionOutput", "MAERegressionOutput"),
        *("SVMOutput", "softmax_cross_entropy", "CTCLoss", "ctc_loss"),
    )
)
"""The kinds whose operands after the first are labels."""

STATISTICS = ("moving_mean", "moving_var")
"""The operands of a BatchNorm that symbols before MXNet 0.9 do not list; their names derive from that of the node."""


OUTPUT_NAMES: dict[str, tuple[str, ...]] = {
    "BatchNorm": ("output", "mean", "var"),
    "Dropout": ("output", "mask"),
    "GroupNorm": ("output", "mean", "std"),
    "L2Normalization": ("output", "norm"),
    "LRN": ("output", "tmp_norm"),
    "LayerNorm": ("output", "mean", "std"),
    "LeakyReLU": ("output", "mask"),
    "RNN": ("output", "state_output", "statecell_output"),
    "_contrib_MultiProposal": ("output", "score"),
    "_contrib_Proposal": ("output", "score"),
    "_npi_concatenate": ("out",),
    "_npi_dstack": ("out",),
    "_npi_hstack": ("out",),
    "_npi_matmul": ("out",),
    "_npi_std": ("std", "mean"),
    "_npi_var": ("var", "mean"),
    "make_loss": ("loss",),
}
"""The names of the results, hidden ones included, of kinds with several results whose names are not a word and a
number.
"""

_RANGED = ("output", "min_output", "max_output")
"""The names of the three results of a quantized operation: the values, the minimum and the maximum of their range."""

NUMBERED = words(
    "CTCLoss SliceChannel _contrib_box_nms _linalg_det _npi_det _npi_average _npi_norm _npi_sort _split_v2 ctc_loss moments sort split"
)
"""Kinds whose results are named `name_output0`, `name_output1`, … even if only one is visible."""


class SymbolBuilder:
    """Builds the block of a symbol.

    Args:
        symbol: the symbol.
        values: the values of variables, by name without prefix.
        path: the file of the symbol, for messages.
    """

    def __init__(self, symbol: Symbol, values: Mapping[str, DataAttr], path: Path) -> None:
        self.symbol = symbol
        self.values = values
        self.path = path
        self.operations = Operations()
        self.given: dict[int, SSAValue] = {}
        """The values of variables of a graph of control flow, by the indices of their nodes."""
        self._results: dict[int, Sequence[SSAValue]] = {}
        self._counts = _result_counts(symbol)
        self._input_shapes = InputShapes(symbol, values)

    def block(self) -> Block:
        """The block. Raises ModelFileError if the symbol is inconsistent or has no outputs."""
        needed = self._needed()
        for number, node in enumerate(self.symbol.nodes):
            if number in self.given:
                self._results[number] = [self.given[number]]
            elif number in needed:
                self._results[number] = [self._variable(node, number)] if node.kind == VARIABLE else self._operation(node, number)
        results: list[Operation] = []
        for number, index in self.symbol.heads:
            node = self.symbol.nodes[number]
            name = self._name(node, number, index)
            attributes: dict[str, Attribute] = {"name": string_attribute(name)}
            results.append(opset.operation("opset1.Result").create(operands=[self._value((number, index))], attributes=attributes))
        if not results:
            raise ModelFileError("the symbol has no outputs", location=str(self.path))
        return Block([*self.operations.list, *results])

    def _value(self, reference: tuple[int, int]) -> SSAValue:
        """The value that a reference of the symbol stands for."""
        number, index = reference
        results = self._results[number]
        if index >= len(results):
            raise ModelFileError(f"the variable {self.symbol.nodes[number].name!r} has no result {index}", location=str(self.path))
        return results[index]

    def _needed(self) -> set[int]:
        """The indices of the nodes that the outputs depend on, without nodes that only labels of losses depend on."""
        needed: set[int] = set()
        pending = [number for number, _ in self.symbol.heads]
        while pending:
            number = pending.pop()
            if number not in needed:
                needed.add(number)
                pending.extend(source for source, _ in self._inputs(self.symbol.nodes[number]))
        return needed

    @staticmethod
    def _inputs(node: Node) -> list[tuple[int, int]]:
        return node.inputs[:1] if node.kind in LOSSES else node.inputs

    def _name(self, node: Node, node_index: int, index: int) -> str:
        """The name of result `index` of a node, the node with index `node_index`, as MXNet lists outputs."""
        if node.kind == VARIABLE:
            return node.name
        names = _RANGED if node.kind.startswith("_contrib_quantized_") else OUTPUT_NAMES.get(node.kind)
        if names is not None and index < len(names):
            return f"{node.name}_{names[index]}"
        if node.kind == "topk":
            # If topk returns values, the indices are a hidden result, so the names have numbers.
            is_numbered = node.attributes.get("ret_typ") in ("value", "both")
        else:
            is_numbered = node.kind in NUMBERED and node.attributes.get("sections") != 1
        return f"{node.name}_output{index}" if is_numbered or self._counts[node_index] > 1 else f"{node.name}_output"

    def _variable(self, node: Node, node_index: int) -> SSAValue:
        """The constant or the Parameter of a variable."""
        value = self.values.get(node.name)
        if value is not None:
            return self._constant(node.name, value)
        return self.operations.parameter(self._input_type(node, node_index), named(node.name, node.name))

    def _constant(self, name: str, value: DataAttr) -> SSAValue:
        return self.operations.constant(value, named(name))

    def _input_type(self, node: Node, node_index: int) -> Attribute:
        """The type of an input, given the index of its node: the declared one, or what the shapes of weights imply."""
        dtype = value_of_text(node.hidden.get("dtype", ""))
        element = ELEMENTS.get(dtype, f32) if isinstance(dtype, int) else f32
        declared = value_of_text(node.hidden.get("shape", ""))
        if isinstance(declared, list) and declared:
            # 0 stands for a dynamic dimension, unless the symbol is of the numpy kind, where -1 does.
            return declared_type([size if isinstance(size, int) and size > 0 else -1 for size in declared], element, node.name)
        return tensor(self._input_shapes.shape(node_index), element)

    def _operation(self, node: Node, node_index: int) -> Sequence[SSAValue]:
        """The operation of a node; returns its results."""
        operands = [self._value(reference) for reference in self._inputs(node)]
        if node.kind == "BatchNorm" and len(operands) == 3:
            operands += [self._constant(name, self.values[name]) for each in STATISTICS if (name := f"{node.name}_{each}") in self.values]
        count = self._counts[node_index]
        op = operation_class("mxnet", node.kind).create(
            operands=operands,
            properties={name: attribute_of(value) for name, value in node.attributes.items() if name},
            attributes={"name": string_attribute(node.name), "tensor_names": several_tensor_names(self._names(node, node_index, count))},
            result_types=[UNKNOWN] * count,
            regions=[self._region(node, node_index, operands) for node_index in range(len(node.subgraphs))],
        )
        self.operations.append(op)
        return op.results

    def _region(self, node: Node, graph_index: int, operands: Sequence[SSAValue]) -> Region:
        """The region for graph `graph_index` of a node of control flow or of fused operations, with a Parameter for
        each operand of the node.
        """
        subgraph, operand_indices = node.subgraphs[graph_index], _operand_indices(node, graph_index)
        variables = [index for index, each in enumerate(subgraph.nodes) if each.kind == VARIABLE]
        if len(operand_indices) != len(variables) or any(not 0 <= index < len(operands) for index in operand_indices):
            reason = f"graph {graph_index} has {len(variables)} variables for operands {operand_indices} of {len(operands)}"
            raise ModelFileError(reason, operation=f"mxnet.{node.kind}", node=node.name, location=str(self.path))
        builder = SymbolBuilder(subgraph, self.values, self.path)
        parameters = [opset.operation("opset1.Parameter").create(result_types=[UNKNOWN]) for _ in operands]
        builder.operations.list.extend(parameters)
        builder.given = {variable: parameters[index].results[0] for variable, index in zip(variables, operand_indices, strict=True)}
        return Region(builder.block())

    def _names(self, node: Node, node_index: int, count: int) -> list[list[str]]:
        """The names of the `count` results of a node: those that MXNet lists, and the node's name as a further name of
        the first one.
        """
        names = [[self._name(node, node_index, index)] for index in range(count)]
        names[0].append(node.name)
        return names


def _operand_indices(node: Node, graph_index: int) -> list[int]:
    """For each variable of graph `graph_index` of a node, the index of the node's operand that it stands for.

    In fused operations, variable i stands for operand i.
    """

    def operand_indices(name: str) -> list[int]:
        listed = node.attributes.get(name, [])
        return [index for index in listed if isinstance(index, int)] if isinstance(listed, list) else []

    if node.kind == "_foreach":
        # Here the lists say which variable each operand is.
        order = [*operand_indices("in_data_locs"), *operand_indices("in_state_locs"), *operand_indices("remain_locs")]
        return sorted(range(len(order)), key=order.__getitem__)
    if node.kind.startswith("_sg_"):
        return list(range(sum(each.kind == VARIABLE for each in node.subgraphs[graph_index].nodes)))
    names = {"_while_loop": ("cond", "func"), "_cond": ("cond", "then", "else")}.get(node.kind, ())
    return operand_indices(f"{names[graph_index]}_input_locs") if graph_index < len(names) else []


def _declared_count(node: Node) -> int:
    """The number of results that a node has according to its attributes."""
    count = node.attributes.get("num_outputs", 1)
    return count if isinstance(count, int) and 0 < count <= MAXIMUM_RESULTS else 1


def _result_counts(symbol: Symbol) -> list[int]:
    """The number of results of each node: as it declares them, or up to the last that is used."""
    counts = [_declared_count(node) for node in symbol.nodes]
    for number, index in (*symbol.heads, *(each for node in symbol.nodes for each in node.inputs)):
        counts[number] = max(counts[number], index + 1)
    return counts
