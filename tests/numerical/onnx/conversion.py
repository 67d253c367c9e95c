"""Converting small ONNX models and comparing what OpenVINO Runtime computes with a reference.

    check([node("Elu", "x", "y", alpha=0.5)], {"x": x})

builds the model, asks ONNX Runtime for the expected results, converts the model, runs it on the CPU and compares: floats within
tolerances, integers, booleans and strings exactly, element types always. By default it does so with static shapes, with unknown dimensions
and with unknown rank.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import ml_dtypes
import numpy as np
import onnx
import openvino
from onnx import helper
from xdsl.context import Context

import moir
from moir.emit import write_model
from moir.frontends.onnx import read_model
from moir.pipeline import load_pass
from moir.targets.registry import OPENVINO_CPU
from tests.numerical.forms import FORMS, Form, forms_of_run
from tests.numerical.runtime import Array, arrays_by_port, compare, core, run_together

Reference = Literal["onnxruntime", "onnx"]

TOLERANCES = {"float16": 1e-3, "bfloat16": 2e-2}
"""Relative tolerances of element types; of others 1e-4."""

node = helper.make_node


def data_type(array: Array) -> int:
    """The ONNX data type of an array."""
    return helper.np_dtype_to_tensor_dtype(array.dtype)


def build(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, Array],
    *,
    constants: Mapping[str, Array | onnx.TensorProto] | None = None,
    outputs: Sequence[str] | None = None,
    opset: int = 21,
    form: Form = "static",
    fixed: Sequence[str] = (),
    domain_version: int = 1,
) -> onnx.ModelProto:
    """A model of some nodes.

    Args:
        nodes: its nodes; their domains are imported.
        inputs: its inputs, by an example of each.
        constants: its initializers.
        outputs: its outputs, by default the outputs of the last node.
        opset: version of the default operator set.
        form: what is said about the shapes of the inputs.
        fixed: inputs whose shape is said in any case.
        domain_version: version of the operator sets of all other domains.
    """

    def shape(name: str, array: Array) -> list[int | str] | None:
        if form == "static" or name in fixed:
            return list(array.shape)
        return [f"{name}_{axis}" for axis in range(array.ndim)] if form == "dynamic" else None

    initializers = [
        value if isinstance(value, onnx.TensorProto) else onnx.numpy_helper.from_array(np.asarray(value), name)
        for name, value in (constants or {}).items()
    ]
    names = [name for name in nodes[-1].output if name] if outputs is None else outputs
    graph = helper.make_graph(
        nodes,
        "test",
        [helper.make_tensor_value_info(name, data_type(array), shape(name, array)) for name, array in inputs.items()],
        [helper.make_empty_tensor_value_info(name) for name in names],
        initializers,
    )
    domains = dict.fromkeys(each.domain for each in nodes if each.domain)
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(domain, domain_version) for domain in domains)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10 if opset <= 22 else 13)


def convert(model: onnx.ModelProto, directory: Path, *, complete: bool = False) -> openvino.Model:
    """Convert a model, write its IR into a directory and read it with the runtime.

    Args:
        model: the model.
        directory: the directory.
        complete: whether all passes run; otherwise the model is only lowered, and written in the forms of the target.
    """
    source = directory / "model.onnx"
    source.write_bytes(model.SerializeToString())
    if complete:
        moir.save_model(moir.convert_model(source), directory / "model.xml")
        return core().read_model(directory / "model.xml")
    module = read_model(source)
    for name in ("lower-onnx", *OPENVINO_CPU.every_form, *OPENVINO_CPU.refusals):
        load_pass(name)().apply(Context(), module)
    module.verify()
    write_model(module, directory / "model.xml")
    return core().read_model(directory / "model.xml")


def expected_results(model: onnx.ModelProto, inputs: Mapping[str, Array], reference: Reference) -> list[Array]:
    """Results of a model by ONNX Runtime, or by the reference implementation of the package `onnx`."""
    if reference == "onnxruntime":
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 4
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        results = [np.asarray(result) for result in session.run(None, dict(inputs))]
        return [_of_8_bits(result, output) for result, output in zip(results, session.get_outputs(), strict=True)]
    from onnx.reference import ReferenceEvaluator

    return [np.asarray(result) for result in ReferenceEvaluator(model).run(None, dict(inputs))]


def _of_8_bits(result: Array, output: Any) -> Array:
    """A result of ONNX Runtime, which returns floats of 8 bits as integers, with the element type of the output."""
    name = {"tensor(float8e4m3fn)": "float8_e4m3fn", "tensor(float8e5m2)": "float8_e5m2"}.get(output.type)
    return result if name is None else result.view(getattr(ml_dtypes, name))


def check(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, Array],
    *,
    constants: Mapping[str, Array | onnx.TensorProto] | None = None,
    outputs: Sequence[str] | None = None,
    opset: int = 21,
    rtol: float | None = None,
    atol: float = 1e-5,
    expected: Sequence[Array] | None = None,
    reference: Reference = "onnxruntime",
    forms: Sequence[Form] = FORMS,
    fixed: Sequence[str] = (),
    operations: int | None = None,
    domain_version: int = 1,
    complete: bool = False,
) -> None:
    """Convert a model and compare its results with a reference, for several statements about the shapes of its inputs.

    Args:
        nodes, inputs, constants, outputs, opset, fixed, domain_version: as of `build`.
        rtol, atol: tolerances for floats; by default, `rtol` is that of the element type.
        expected: what should come out, if no reference computes it.
        reference: what computes it otherwise.
        forms: what the model says about the shapes.
        operations: the most operations the IR may have for the static form, without Parameters, Constants and Results.
        complete: as of `convert`.
    """
    if expected is None:
        static = build(nodes, inputs, constants=constants, outputs=outputs, opset=opset, domain_version=domain_version)
        expected = expected_results(static, inputs, reference)
    models: list[openvino.Model] = []
    for form in forms_of_run(forms):
        model = build(
            nodes, inputs, constants=constants, outputs=outputs, opset=opset, form=form, fixed=fixed, domain_version=domain_version
        )
        with TemporaryDirectory() as directory:
            converted = convert(model, Path(directory), complete=complete)
        if form == "static" and operations is not None:
            kinds = [op.get_type_name() for op in converted.get_ordered_ops()]
            assert len([kind for kind in kinds if kind not in ("Parameter", "Constant", "Result")]) <= operations, kinds
        models.append(converted)
    rtol = rtol or max(TOLERANCES.get(each.dtype.name, 1e-4) for each in expected)
    for results in run_together(models, [arrays_by_port(converted, inputs) for converted in models]):
        compare(results, expected, rtol, atol)
