"""Random ONNX models of static shapes, of which the runtime reshapes an input, against the same models of the new shape.

    python -m tests.fuzz.reshaping [--count N] [--seed SEED] [--only GLOB]
    python -m tests.fuzz.reshaping --seed SEED --case NUMBER

A dimension of an input gets one entry more, or twice as many. The IR, converted for the old size and reshaped in the
runtime, has to compute what ONNX Runtime computes of the model that declares the new size, or to be refused. Cases that
ONNX Runtime does not compute for the new size are none.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import openvino

import moir
from moir.errors import ConversionError
from tests.fuzz.comparison import values_differ
from tests.fuzz.draw import Array, Draw, NoCase
from tests.fuzz.onnx_model import OnnxModel
from tests.fuzz.runner import GENERATORS, LIMIT_SECONDS, Ticket, drawn
from tests.numerical.runtime import core, infer, use_one_thread
from tests.numerical.workers import Died, Say, Workers

NONE, REFUSED, EQUAL, WRONG = "no case", "refused", "equal", "wrong"
KINDS = tuple(kind for kind in GENERATORS if kind != "ml")


@dataclass(frozen=True)
class Outcome:
    """What became of a case: an outcome, the operation, and the model with what is wrong with its results."""

    kind: str
    subject: str = ""
    message: str = ""


def declared(proto: onnx.ModelProto, inputs: Mapping[str, Array]) -> onnx.ModelProto:
    """A model that declares the shapes of its inputs, and none of its other values."""
    changed = onnx.ModelProto()
    changed.CopyFrom(proto)
    del changed.graph.value_info[:]
    for value in changed.graph.input:
        if value.type.HasField("tensor_type") and value.name in inputs:
            value.type.tensor_type.ClearField("shape")
            value.type.tensor_type.shape.SetInParent()
            for size in inputs[value.name].shape:
                value.type.tensor_type.shape.dim.add().dim_value = size
    for value in changed.graph.output:
        if value.type.HasField("tensor_type"):
            value.type.tensor_type.ClearField("shape")
    return changed


def enlarged(draw: Draw, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """The inputs, of which some have more entries along a dimension. Raises NoCase if no input has a dimension."""
    names = [name for name, value in inputs.items() if value.ndim and value.size]
    if not names:
        raise NoCase("no dimension")
    name = draw.one_of(names)
    axis = draw.integer(0, inputs[name].ndim - 1)
    size = inputs[name].shape[axis]
    larger = draw.one_of([size + 1, 2 * size])
    # Operands of one size in the model have the new size together, if the draw says so.
    together = draw.chance(0.7)

    def grown(value: Array) -> Array:
        for index, length in enumerate(value.shape):
            if length == size and (index == axis or value.ndim != inputs[name].ndim):
                value = np.take(value, np.arange(larger) % length, index)
                break
        return np.ascontiguousarray(value)

    return {key: grown(value) if key == name or (together and value.size) else value for key, value in inputs.items()}


def run_case(ticket: Ticket, say: Say) -> Outcome:
    """Draw a case and judge it."""
    use_one_thread()
    try:
        case, _, _ = drawn(ticket, say)
        if not isinstance(case.source, OnnxModel):
            return Outcome(NONE)
        inputs = enlarged(Draw(ticket.seed, ticket.number, 1000), case.inputs)
        larger = OnnxModel(declared(case.source.proto, inputs), {name: value.shape for name, value in inputs.items()})
        expected = larger.references()[0][1](inputs)
    except Exception:
        return Outcome(NONE)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        path.write_bytes(declared(case.source.proto, case.inputs).SerializeToString())
        try:
            model = moir.to_openvino(moir.convert_model(path))
            say(f"{case.subject}\n{case.source.describe()}\nreshape")
            model.reshape({port: openvino.PartialShape(list(inputs[port.get_node().get_friendly_name()].shape)) for port in model.inputs})
            results = infer(model, core().compile_model(model, "CPU"), inputs)
        except (ConversionError, RuntimeError, KeyError):
            return Outcome(REFUSED, case.subject)
    # ONNX Runtime has no sizes of the results of loops without iterations.
    expected = [result if result.size == wanted.size == 0 else wanted for result, wanted in zip(results, expected, strict=True)]
    if not (text := values_differ(case.outputs, results, expected)):
        return Outcome(EQUAL, case.subject)
    if not is_right(larger, case.outputs, inputs, expected):
        return Outcome(NONE)
    sizes = ", ".join(f"{name} {case.inputs[name].shape} -> {inputs[name].shape}" for name in inputs)
    return Outcome(WRONG, case.subject, f"{text}\n    {sizes}\n    {case.source.describe()}")


def is_right(source: OnnxModel, outputs: Sequence[str], inputs: Mapping[str, Array], expected: Sequence[Array]) -> bool:
    """Whether a model that is converted for the sizes of its inputs has the expected results: no fault of the plugin is met."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            model = moir.to_openvino(moir.convert_model(source.save(Path(folder))))
            return not values_differ(outputs, infer(model, core().compile_model(model, "CPU"), inputs), expected)
        except (ConversionError, RuntimeError, KeyError):
            return False


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns 1 if a result is wrong."""
    parser = argparse.ArgumentParser(
        "python -m tests.fuzz.reshaping", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=2000, help="number of cases (default: 2000)")
    parser.add_argument("--seed", type=int, default=0, help="which cases (default: 0)")
    parser.add_argument("--case", type=int, help="run this case alone")
    parser.add_argument("--only", metavar="GLOB", default="*", help="operations or patterns")
    parser.add_argument("--workers", type=int, default=2, help="number of processes (default: 2)")
    options = parser.parse_args(arguments)
    numbers = range(options.count) if options.case is None else [options.case]
    pool: Workers[Ticket, Outcome] = Workers(run_case, options.workers, LIMIT_SECONDS)
    results: Counter[str] = Counter()
    for ticket, answer in pool.run(Ticket(options.seed, number, KINDS, options.only) for number in numbers):
        outcome = Outcome(NONE if "\nreshape" not in answer.stage else WRONG, "", str(answer)) if isinstance(answer, Died) else answer
        results[outcome.kind] += 1
        if outcome.kind == WRONG or options.case is not None:
            print(f"{ticket.number}: {outcome.subject}: {outcome.kind}: {outcome.message}", flush=True)
    print(", ".join(f"{kind}: {count}" for kind, count in results.items()))
    return int(bool(results[WRONG]))


if __name__ == "__main__":
    sys.exit(main())
