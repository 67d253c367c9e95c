"""Exported program, a `.pt2` -> module in the `aten` dialect.

Parameters, buffers and constants become Constants, inputs Parameters under the names of their arguments. A buffer or an
input that the program's signature says is written gets an `aten.copy_.default` at the end of the block, as in programs
that were not decomposed; `raise-writes` makes states and outputs of both.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from pathlib import Path
from typing import Any, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from moir.dialects import element_types, opset
from moir.dialects.data import DataAttr
from moir.dialects.framework import FrameworkOp
from moir.dialects.module import Module
from moir.dialects.moir import ModelOp, add_notes
from moir.dialects.names import add_tensor_names, escaped
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.properties import string_attribute, strings_attribute, value_of
from moir.dialects.shapes import tensor
from moir.errors import ModelFileError
from moir.files.json_fields import Fields
from moir.files.reading import check_beginning, map_content
from moir.frontends.operations import Operations, declared_type, named
from moir.frontends.pytorch.archive import Archive
from moir.frontends.pytorch.arguments import ARGUMENTS
from moir.frontends.pytorch.expressions import LARGEST, Bounds, Expression, Symbol, bounds_of, parse
from moir.frontends.pytorch.graph import GraphBuilder
from moir.frontends.pytorch.output_names import output_names
from moir.frontends.pytorch.pickles import Subclass
from moir.frontends.pytorch.program import check_version, read_json
from moir.frontends.pytorch.values import ProgramFiles, Value
from moir.frontends.pytorch.weights_file import weights_from_file
from moir.support.suggestions import did_you_mean

_RETURNED = ("user_output", "loss_output")
"""The kinds of outputs in a signature that the module returns; outputs of other kinds are written to buffers and
inputs.
"""

_LEAST_BOUND = 3
"""The smallest lower bound of a symbol that torch enforces. Export assumes sizes of at least 2 where it traces, and
writes 2 for every symbol without a lower bound; torch runs the program with 0 and 1 all the same.

Source: _check_input_constraints_for_graph in torch/_export/utils.py of PyTorch 2.13.
"""

_LARGEST_BOUND = 2**31 - 1
"""A lower limit for upper bounds that mean no bound: all actual sizes are smaller."""


def read_model(path: str | Path, program: str | None = None, weights: str | Path | None = None, packing: str | None = None) -> ModuleOp:
    """Read an exported program.

    Args:
        path: the `.pt2` that `torch.export.save` wrote.
        program: the name of the program, in an archive of several programs.
        weights: a file `*.safetensors`, or a folder of such files, whose tensors take the place of the program's
            weights by their names.
        packing: the layout of weights that a processor packed, such as "avx512"; by default the one that the archive
            names in `extra_files`.

    Returns a module with one `moir.model`. Raises ModelFileError for a file that is damaged or not an exported
    program.
    """
    path = Path(path)
    mapped = map_content(path)
    check_beginning(path, mapped, "aten")
    archive = Archive(memoryview(mapped), path)
    files = ProgramFiles(archive)
    name = _chosen(files, archive, program)
    content = read_json(archive, files.programs[name])
    check_version(content)
    tensors: dict[str, DataAttr] = {}
    notes: list[str] = []
    if weights is not None:
        shapes, unused = _shapes_of_weights(content)
        tensors, notes = weights_from_file(Path(weights), shapes, frozenset(files.values(name)), unused)
    values = {**files.values(name, frozenset(tensors)), **tensors}
    block = _ProgramBuilder(content, values, _packing_in(archive) if packing is None else packing).block()
    model = ModelOp.of(path.stem if name == "model" else name, block)
    add_notes(model, notes)
    return Module([model])


def _packing_in(archive: Archive) -> str | None:
    """The layout of packed weights that the file `packing` in the archive names, which the exporter added; None without
    it.
    """
    name = next((each for each in archive.names if each.endswith(("extra/packing", "extra_files/packing"))), None)
    return None if name is None else bytes(archive.record(name)[:20]).decode(errors="replace").strip().lower()


def _used_names(graph: Fields, signature: Fields) -> set[str]:
    """The names of values in the arguments of nodes, and in outputs."""
    names: set[str] = set()
    remaining: list[Any] = [*(node.list("inputs") for node in graph.objects("nodes")), signature.list("output_specs")]
    while remaining:
        each = remaining.pop()
        if isinstance(each, dict):
            entries = cast("dict[str, Any]", each)
            names |= {value for key in ("name", "as_name") if isinstance(value := entries.get(key), str)}
            remaining += entries.values()
        elif isinstance(each, list):
            remaining += cast("list[Any]", each)
    return names


def _shapes_of_weights(program: Fields) -> tuple[dict[str, list[int]], list[str]]:
    """The shapes of the parameters and buffers that a program uses by their names, and the names of the others.

    If a parameter has several names, only one is used.
    """
    module = program.fields("graph_module")
    graph, signature = module.fields("graph"), module.fields("signature")
    metas = graph.fields("tensor_values", {})
    used = _used_names(graph, signature)
    shapes: dict[str, list[int]] = {}
    unused: list[str] = []
    for spec in signature.objects("input_specs"):
        kind, _ = spec.only()
        if kind in ("parameter", "buffer"):
            held = spec.fields(kind)
            name = held.fields("arg").text("name")
            if name not in used:
                unused.append(held.text(f"{kind}_name"))
                continue
            meta = metas.fields(name)
            shapes[held.text(f"{kind}_name")] = [size.integer("as_int") for size in meta.objects("sizes")]
    return shapes, unused


def _chosen(files: ProgramFiles, archive: Archive, program: str | None) -> str:
    """The name of the program to read: `program`, or the only one in the archive.

    Raises ModelFileError if there is none, or if there are several and none is chosen.
    """
    names = list(files.programs)
    if not names:
        hint = "load the model in PyTorch and export it: torch.export.save(torch.export.export(model, inputs), 'model.pt2')"
        raise archive.error("the archive has no program of torch.export", hint)
    if program is None and len(names) == 1:
        return names[0]
    if program is None:
        raise archive.error(f"the archive has {len(names)} programs", f"choose one: --program {' or '.join(names)}")
    if program not in files.programs:
        raise archive.error(f"the archive has no program {program!r}", did_you_mean(program, names, f"it has {', '.join(names)}"))
    return program


class _ProgramBuilder:
    """Builds the block of an exported program.

    Args:
        program: the JSON.
        values: the weights and constants by their names.
        packing: the layout of packed weights; None if the user does not name it.
    """

    def __init__(self, program: Fields, values: Mapping[str, Value], packing: str | None = None) -> None:
        module = program.fields("graph_module")
        self.module = module
        self.signature = module.fields("signature")
        self.graph = module.fields("graph")
        self.values = values
        self.operations = Operations()
        self.builder = GraphBuilder(self.graph, self.operations, {}, packing=packing)
        self._metas = self.graph.fields("tensor_values", {})
        self._ranges = _ranges(program.fields("range_constraints", {}))
        self._buffers: dict[str, str] = {}
        self.used = _used_names(self.graph, self.signature)

    def block(self) -> Block:
        """Build the block of the model: inputs, nodes, results. Raises ModelFileError if no output is a tensor."""
        for spec in self.signature.objects("input_specs"):
            self._input(spec)
        self.builder.nodes()
        specs = list(self.signature.objects("output_specs"))
        outputs = [index for index, spec in enumerate(specs) if spec.only()[0] in _RETURNED]
        tensors = [_name_of(specs[index]) for index in outputs]
        names = dict(zip(outputs, output_names(self.module, tensors), strict=True))
        results: list[Operation] = []
        for index, spec in enumerate(specs):
            self._output(spec, names.get(index, ""), results)
        if not results:
            raise self.signature.error("the program has no output that is a tensor")
        return Block([*self.operations.list, *results])

    def _input(self, spec: Fields) -> None:
        kind, _ = spec.only()
        held = spec.fields(kind)
        match kind:
            case "parameter" | "buffer" | "tensor_constant":
                self._weight(held.fields("arg").text("name"), held.text(f"{kind}_name"), held)
            case "user_input":
                self._user_input(held.fields("arg"))
            case "constant_input" | "token" | "custom_obj":
                # These inputs are not tensors. A node that reads a custom object has no lowering and is reported.
                pass
            case _:
                raise spec.error(f"the unknown kind of input {kind!r}")

    def _weight(self, name: str, weight: str, held: Fields) -> None:
        value = self.values.get(weight)
        if value is None and name not in self.used:
            return
        if value is None:
            raise ModelFileError(
                f"the value of {weight!r} is not in the file",
                location=held.location,
                hint="the program was exported without weights, or the file is damaged; give the weights: --weights FOLDER",
            )
        if isinstance(value, Subclass):
            self.builder.subclasses[name] = (weight, value)
            return
        self._buffers[weight] = name
        self.builder.values[name] = self.builder.weight(weight, value, name)

    def _user_input(self, argument: Fields) -> None:
        key, _ = argument.only()
        if key == "as_tensor":
            name = argument.fields(key).text("name")
            type_, attributes, bounds = self._tensor_input(name)
        elif key == "as_sym_int":
            name = argument.fields(key).text("as_name", "")
            type_, attributes, bounds = tensor((), element_types.si64), dict[str, Attribute](), ""
        else:
            # Numbers, strings and None are part of the program.
            return
        properties = {"bounds": string_attribute(bounds)} if bounds else None
        self.builder.values[name] = self.operations.parameter(type_, {**named(name, name), **attributes}, properties)

    def _tensor_input(self, name: str) -> tuple[Attribute, dict[str, Attribute], str]:
        """The type of an input, the names of its dimensions, and their bounds as text."""
        meta = self._metas.fields(name)
        shape: list[int] = []
        symbols: list[str] = []
        bounds: list[str] = []
        for size in meta.objects("sizes"):
            if "as_int" in size.content:
                shape.append(size.integer("as_int"))
                symbols.append("")
                bounds.append(str(shape[-1]))
                continue
            expression = self._expression(size.fields("as_expr"))
            shape.append(-1)
            symbols.append(expression.name if isinstance(expression, Symbol) else "")
            bounds.append(_written(bounds_of(expression, self._ranges)))
        element = self.builder.element_of(name)
        if element is element_types.dynamic or self.builder.is_complex(name):
            raise meta.error(f"the input {name!r} has complex numbers, which the operation sets do not have")
        named: dict[str, Attribute] = {"dimension_names": strings_attribute(symbols)} if any(symbols) else {}
        is_bounded = any(".." in each for each in bounds)
        return declared_type(shape, element, name), named, ",".join(bounds) if is_bounded else ""

    def _expression(self, held: Fields) -> Expression:
        try:
            return parse(held.text("expr_str"))
        except ValueError as error:
            raise held.error(str(error)) from None

    def _output(self, spec: Fields, name: str, results: list[Operation]) -> None:
        kind, _ = spec.only()
        held = spec.fields(kind)
        match kind:
            case "user_output" | "loss_output":
                value = self.builder.output(held.fields("arg"))
                if value is not None:
                    add_tensor_names(value, escaped(name), required=True)
                    results.append(opset.operation("opset1.Result").create(operands=[value], attributes={"name": string_attribute(name)}))
            case "buffer_mutation" | "parameter_mutation":
                name = held.text("buffer_name", "") or held.text("parameter_name", "")
                if name not in self._buffers:
                    raise held.error(f"the program writes {name!r}, which it does not have")
                self._written_back(self._buffers[name], held)
            case "user_input_mutation":
                self._written_back(held.text("user_input_name"), held)
            case "token":
                pass
            case _:
                raise spec.error(f"an output of kind {kind!r}; export the model for inference")

    def _written_back(self, target: str, held: Fields) -> None:
        """Append the write of a value to a buffer or an input; nothing for the unchanged state of an observer that is
        off.

        `target` is the name of the buffer or input, `held` the argument that names the value.
        """
        value = self.builder.value(held.fields("arg").text("name"))
        if _is_of_idle_observer(value):
            return
        self.builder.append("copy_.default", [self.builder.value(target), value], ["self", "src"], f"write_{target}")


_OBSERVER = "_fused_moving_avg_obs_fq_helper_functional.default"


def _is_of_idle_observer(value: SSAValue) -> bool:
    """Whether the observer that computes a value is switched off, so that the value is just the observer's operand.

    Such values are the minimum, maximum, scale and zero point of an observer.
    """
    observer = value.owner
    if not isinstance(observer, FrameworkOp) or observer.KIND != _OBSERVER or ARGUMENTS not in observer.properties:
        return False
    if value in observer.results[:2]:
        # The quantized data and their mask.
        return False
    operands = dict(zip(value_of(observer.properties[ARGUMENTS]), observer.operands, strict=True))
    flag = operands.get("observer_on")
    array = flag.owner.value.array if flag is not None and isinstance(flag.owner, Constant) else None
    return array is not None and not array.any()


def _name_of(spec: Fields) -> str:
    """The name of an output that is a tensor or a size; empty for any other output."""
    argument = spec.fields(spec.only()[0]).fields("arg")
    key, content = argument.only()
    fields = argument.fields(key) if isinstance(content, dict) else Fields({}, argument.place, argument.location)
    return fields.text("name", "") or fields.text("as_name", "")


def _ranges(constraints: Fields) -> dict[str, Bounds]:
    """The bounds of symbols that torch enforces."""
    ranges: dict[str, Bounds] = {}
    for name in constraints.content:
        bounds = constraints.fields(name)
        low, high = (_bound(bounds, key, default) for key, default in (("min_val", 0), ("max_val", LARGEST)))
        ranges[name] = (low if low >= _LEAST_BOUND else 0, high)
    return ranges


def _bound(bounds: Fields, key: str, default: int) -> int:
    """The bound `key` of a symbol; the default if there is none: torch 2.5 writes infinity, later versions null."""
    return default if bounds.content.get(key) in (inf, -inf) else bounds.integer(key, default)


def _written(bounds: Bounds) -> str:
    """Bounds in the notation of shapes, `1..8`; a question mark if there are none."""
    low, high = bounds
    if high >= _LARGEST_BOUND:
        return f"{low}.." if low else "?"
    return f"{low}..{high}"
