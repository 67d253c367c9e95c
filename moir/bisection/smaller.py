"""Reduces a model to a small one with the same fault, for each kind of fault."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from moir.bisection.examined_conversion import ExaminedConversion, PipelineState, is_foreign
from moir.bisection.plugin import PluginFault
from moir.bisection.reference import Reference
from moir.bisection.state_execution import StateExecution
from moir.bisection.tensors import TensorDifference, inner_values
from moir.conversion import import_model, run
from moir.dialects.memory_map import Array
from moir.dialects.names import names_of
from moir.dialects.opset.infrastructure import Parameter
from moir.errors import ExecutionError, InternalError, MoirError
from moir.execution.comparison import worst
from moir.execution.evaluation import EvaluationRunner, evaluate_block
from moir.execution.onnx_runtime import OnnxRunner
from moir.execution.openvino_runtime import OpenVinoRunner
from moir.execution.ports import interface_of, matched, only_model
from moir.frameworks.records import ONNX
from moir.options import ConversionOptions
from moir.pipeline import INTERFACE
from moir.reduction.module_graph import ModuleGraph, computed_values
from moir.reduction.onnx_graph import OnnxGraph, nodes_of
from moir.reduction.reduce import reduced
from moir.reduction.reduced import Candidate, Reduced

SECONDS = 40.0
"""The time in seconds that a bisection spends on reducing a model."""


def smaller_pass(execution: StateExecution, before: PipelineState, after: PipelineState, tensor: TensorDifference | None) -> Reduced | None:
    """A reduced module of the state before a pass, whose results the pass changes; None if there is none.

    Args:
        execution: runs modules.
        before: the state before the pass.
        after: the state after it.
        tensor: the tensor that is wrong, where the reduction begins, if it is known.
    """
    outcome = execution.outcome(before)
    if outcome is None or is_foreign(before.module):
        return None
    conversion, each = execution.conversion, execution.conversion.passes[after.number - 1]
    tolerance = execution.tolerance_at(after)
    outcome_after = execution.outcome(after)
    refused = outcome_after is not None and outcome_after.error is not None

    def fails(candidate: Candidate) -> bool:
        module = _module(candidate)
        rewritten = module.clone()
        run(rewritten, [each], extensions=conversion.extensions)
        expected = _outputs(module, candidate.inputs)
        if refused:
            return not _runs(rewritten, candidate.inputs)
        outputs = _outputs(rewritten, candidate.inputs)
        return any(apart.exceeds for apart in worst(outputs, expected, tolerance).values())

    return _reduced_module(execution, outcome.module, _quietly(fails), None if tensor is None else tensor.name)


def smaller_plugin(execution: StateExecution, module: ModuleOp, fault: PluginFault, tensor: TensorDifference | None) -> Reduced | None:
    """A reduced module for which the runtime's results differ from those of the operations' `evaluate`; None if there
    is none.

    Args:
        execution: runs modules.
        module: the module.
        fault: the fault of the runtime.
        tensor: the tensor that is wrong, if it is known.
    """

    def fails(candidate: Candidate) -> bool:
        part = _module(candidate)
        expected = EvaluationRunner(part).run(matched(candidate.inputs, interface_of(part).inputs, "input"))
        if execution.refusals_are_bad:
            return not _runs(part, candidate.inputs)
        return any(apart.exceeds for apart in worst(_outputs(part, candidate.inputs), expected, execution.tolerance).values())

    return _reduced_module(execution, module, _quietly(fails), None if tensor is None else tensor.name, fault.operation)


def smaller_lowering(
    execution: StateExecution, conversion: ExaminedConversion, reference: Reference, tensors: Sequence[str]
) -> Reduced | None:
    """A part of a model whose lowered form gives other results than the framework; None if there is none.

    For an ONNX model it is an ONNX model, compared with what ONNX Runtime computes for it; for others it is a module
    in the dialect of the framework, with its own weights, compared with the values of its tensors in the whole model.

    Args:
        execution: runs modules.
        conversion: the conversion.
        reference: gives the correct arrays.
        tensors: names of tensors that are wrong.
    """
    values = computed_values(conversion.module)
    names = {name: value for value in values for name in names_of(value)}
    arrays = dict(reference.inner(list(names)))
    ports = interface_of(conversion.module).inputs
    feed = matched(execution.inputs, ports, "input")
    passes = [each for each in conversion.passes if each.name not in INTERFACE]

    def differs(module: ModuleOp, inputs: Mapping[str, Array], expected: Mapping[str, Array]) -> bool:
        """Whether the outputs of a module, in every form that can be run, exceed the tolerance; False if no form can be
        compared.
        """
        part = ExaminedConversion(module, conversion.framework, passes, conversion.extensions, None, conversion.options)
        compared = False
        for form in part.forms(PipelineState(0, "import", module)):
            try:
                largest = worst(_outputs(form, inputs), expected, execution.tolerance)
            except MoirError:
                continue
            if not any(each.exceeds for each in largest.values()):
                return False
            compared = compared or bool(largest)
        return compared

    if conversion.framework is ONNX and conversion.path is not None and OnnxRunner.is_installed():
        with TemporaryDirectory() as folder:
            path = Path(folder) / "part.onnx"

            def fails_on_file(candidate: Candidate) -> bool:
                assert isinstance(candidate.model, bytes)
                path.write_bytes(candidate.model)
                module = import_model(path, ConversionOptions(), ONNX)
                expected = OnnxRunner(path, module, {}).run(candidate.inputs)
                return differs(module, candidate.inputs, expected)

            graph = OnnxGraph(conversion.path, arrays | feed)
            return _attempt(lambda: reduced(graph, _quietly(fails_on_file), nodes_of(graph, tensors), seconds=SECONDS))
    recorded = {value: arrays[name] for name, value in names.items() if name in arrays}
    parameters = [op.results[0] for op in only_model(conversion.module).block.ops if isinstance(op, Parameter)]
    recorded |= {value: feed[port.name] for value, port in zip(parameters, ports, strict=True)}
    graph = ModuleGraph(conversion.module, recorded)

    def fails(candidate: Candidate) -> bool:
        return bool(candidate.expected) and differs(_module(candidate), candidate.inputs, candidate.expected)

    wrong = [names[tensor].owner for tensor in tensors if tensor in names]
    hint = {number for op in wrong if isinstance(op, Operation) and (number := graph.number(op)) is not None}
    return _attempt(lambda: reduced(graph, _quietly(fails), hint, seconds=SECONDS, keeps_weights=True))


def _reduced_module(
    execution: StateExecution, module: ModuleOp, fails: Callable[[Candidate], bool], tensor: str | None, operation: Operation | None = None
) -> Reduced | None:
    values = computed_values(module)
    feed = matched(execution.inputs, interface_of(module).inputs, "input")
    parameters = [op.results[0] for op in only_model(module).block.ops if isinstance(op, Parameter)]
    recorded = dict(zip(parameters, [feed[port.name] for port in interface_of(module).inputs], strict=True))
    try:
        try:
            _, arrays = execution.run(module, values)
            recorded |= dict(zip(values, arrays, strict=True))
        except MoirError:
            # A model that the runtime refuses is computed by the definitions of its operations.
            recorded |= evaluate_block(only_model(module).block, list(recorded.values()), values)
    except MoirError:
        return None
    graph = ModuleGraph(module, recorded)
    named = inner_values(module).get(tensor) if tensor is not None else None
    middle = operation or (named.owner if named is not None else None)
    number = graph.number(middle) if isinstance(middle, Operation) else None
    return _attempt(lambda: reduced(graph, fails, [] if number is None else [number], seconds=SECONDS))


def _attempt(reduce: Callable[[], Reduced]) -> Reduced | None:
    """The result of `reduce`; None if it raises a MoirError.

    It does if the model to be reduced does not show the fault when it is run on its own.
    """
    try:
        return reduce()
    except MoirError:
        return None


def _quietly(fails: Callable[[Candidate], bool]) -> Callable[[Candidate], bool]:
    """The check `fails`, changed to be False for candidates that cannot be converted or run, since that is another
    failure.
    """

    def check(candidate: Candidate) -> bool:
        try:
            return fails(candidate)
        except (MoirError, InternalError):
            return False

    return check


def _outputs(module: ModuleOp, inputs: Mapping[str, Array]) -> dict[str, Array]:
    runner = OpenVinoRunner(module)
    return runner.run(matched(inputs, runner.interface.inputs, "input"))


def _runs(module: ModuleOp, inputs: Mapping[str, Array]) -> bool:
    try:
        _outputs(module, inputs)
    except ExecutionError:
        return False
    return True


def _module(candidate: Candidate) -> ModuleOp:
    assert isinstance(candidate.model, ModuleOp)
    return candidate.model
