"""The backend tests of the installed package `onnx`: models with inputs and expected results."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper
from onnx.backend.test import loader
from openvino import Model

from tests.numerical.outcomes import Judgement, Outcome, interface_difference, judge, mismatch
from tests.numerical.runtime import Array, use_one_thread
from tests.numerical.workers import Say

KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator", "real")
RANDOM = frozenset({"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"})
RANDOM_DROPOUT = frozenset({"test_training_dropout_default", "test_training_dropout_default_mask", "test_training_dropout",
                            "test_training_dropout_mask"})  # fmt: skip
Symbols = Literal["none", "data", "all"]
"""Which dimensions of inputs are made symbols."""

TRAINING = "ai.onnx.preview.training"


@dataclass(frozen=True)
class BackendTest:
    """A test of the suite.

    Args:
        name: its name, unique in the suite.
        model: a model, or the file of one.
        data: inputs and expected results, in the order of the graph; or the folder that holds them.
        rtol, atol: tolerances of the suite.
    """

    name: str
    model: onnx.ModelProto | Path
    data: Sequence[tuple[Sequence[Any], Sequence[Any]]] | Path
    rtol: float
    atol: float

    def loaded(self) -> onnx.ModelProto:
        """The model."""
        return onnx.load(self.model) if isinstance(self.model, Path) else self.model

    def data_sets(self, model: onnx.ModelProto) -> Iterator[tuple[list[Any], list[Any]]]:
        """Pairs of inputs and expected results. The inputs of a whole network, of which there are none, count up from 0 to 1."""
        if isinstance(self.data, Path):
            for folder in sorted(self.data.glob("test_data_set_*")):
                yield _stored(folder, "input", model.graph.input), _stored(folder, "output", model.graph.output)
            if self.data.suffix == ".onnx":
                constants = {initializer.name for initializer in model.graph.initializer}
                inputs = [_ramp(value) for value in model.graph.input if value.name not in constants]
                yield inputs, [_tensor(self.data.with_name(f"{self.data.stem}_output_0.pb"))]
        else:
            for inputs, outputs in self.data:
                yield [_as_array(value) for value in inputs], [_as_array(value) for value in outputs]


def _tensor(path: Path) -> Array:
    return numpy_helper.to_array(onnx.TensorProto.FromString(path.read_bytes()))


def _stored(folder: Path, prefix: str, values: Sequence[onnx.ValueInfoProto]) -> list[Any]:
    """The tensors of a folder, one a value, as long as they are tensors."""
    files = [folder / f"{prefix}_{number}.pb" for number in range(len(values))]
    return [_tensor(file) for file, value in zip(files, values, strict=True) if file.exists() and value.type.HasField("tensor_type")]


def _ramp(value: onnx.ValueInfoProto) -> Array:
    shape = [dimension.dim_value or 1 for dimension in value.type.tensor_type.shape.dim]
    return (np.arange(np.prod(shape)).reshape(shape) / np.prod(shape)).astype(np.float32)


def _as_array(value: Any) -> Any:
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    return value if isinstance(value, list) or value is None else np.asarray(value)


@cache
def suite() -> dict[str, BackendTest]:
    """All tests by name."""
    results: dict[str, BackendTest] = {}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        loaded = [case for kind in KINDS for case in loader.load_model_tests(kind=kind)]
    for case in loaded:
        if case.model is not None:
            results[case.name] = BackendTest(case.name, case.model, case.data_sets or (), case.rtol, case.atol)
            continue
        folder = Path(case.model_dir) if case.model_dir else None
        file = folder / "model.onnx" if folder else Path(loader.DATA_DIR) / "light" / Path(case.url or "").name
        results[case.name] = BackendTest(case.name, file, folder or file, case.rtol, case.atol)
    return results


def inapplicable(name: str, model: onnx.ModelProto) -> str:
    """Why a test says nothing about a converter to an IR; empty if it does."""
    graph = model.graph
    if any(each.domain == TRAINING for each in graph.node):
        return "training"
    if name in RANDOM_DROPOUT or any(each.op_type in RANDOM for each in [*graph.node, *(n for f in model.functions for n in f.node)]):
        return "the expected numbers are those of another random generator"
    if any(not value.type.HasField("tensor_type") for value in [*graph.input, *graph.output]):
        return "an input or output is a sequence, an optional value or a map, which an IR does not have"
    return ""


def is_list(type_: onnx.TypeProto.Tensor) -> bool:
    """Whether an input is a list of integers: a shape, axes, sizes, lengths."""
    return len(type_.shape.dim) == 1 and type_.elem_type in (TensorProto.INT32, TensorProto.INT64)


def with_symbolic_inputs(model: onnx.ModelProto, symbols: Symbols = "all") -> onnx.ModelProto:
    """A copy of a model of whose shapes only the ranks of inputs and outputs are known.

    With "data", the lengths of lists of integers are kept, which decide about the ranks of results.
    """
    copied = onnx.ModelProto()
    copied.CopyFrom(model)
    constants = {initializer.name for initializer in copied.graph.initializer}
    del copied.graph.value_info[:]
    for value in copied.graph.input:
        if value.name not in constants and not (symbols == "data" and is_list(value.type.tensor_type)):
            for axis, dimension in enumerate(value.type.tensor_type.shape.dim):
                dimension.dim_param = f"{value.name}_{axis}"
    for value in copied.graph.output:
        for dimension in value.type.tensor_type.shape.dim:
            dimension.Clear()
    return copied


def run_test(name: str, say: Say, *, symbols: Symbols) -> Judgement:
    """Convert a test and compare the results of all its data sets."""
    use_one_thread()
    test = suite()[name]
    model = test.loaded()
    reason = inapplicable(name, model)
    if reason:
        return Judgement(Outcome.INAPPLICABLE, reason)
    data = test.data_sets(model)
    if symbols != "none":
        model = with_symbolic_inputs(model, symbols)
    constants = {initializer.name for initializer in model.graph.initializer}
    names = [value.name for value in model.graph.input if value.name not in constants]
    outputs = [value.name for value in model.graph.output]
    judgement = Judgement(Outcome.INAPPLICABLE, "no data")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        path.write_bytes(model.SerializeToString())
        for inputs, expected in data:

            def difference(converted: Model, results: Sequence[Array], expected: Sequence[Any] = expected) -> str:
                text = interface_difference(converted, names, outputs, expected)
                for output, result, wanted in zip(outputs, results, expected, strict=True):
                    narrow = wanted.dtype.name in ("float16", "bfloat16")
                    # The runtime computes halves in f32 and rounds once; sums of f32 cancel in another order.
                    rtol, atol = (max(test.rtol, 2**-6 if wanted.dtype.name == "bfloat16" else 2e-3), 1e-3) if narrow else (test.rtol, 1e-5)
                    unequal = mismatch(result, wanted, rtol, max(atol, test.atol))
                    text = text or (f"{output}: {unequal}" if unequal else "")
                return text

            judgement = judge(path, dict(zip(names, inputs, strict=True)), difference, say)
            if judgement.outcome != Outcome.EQUAL:
                break
    return judgement
