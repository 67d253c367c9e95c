"""Models to ONNX and back: converted without a target, written as ONNX, and run in ONNX Runtime.

    python -m tests.numerical.onnx.round_trip                     the backend tests of ONNX
    python -m tests.numerical.onnx.round_trip --only 'test_conv*' --opset 17
    python -m tests.numerical.onnx.round_trip --samples FOLDER    folders with a model, inputs.npz and outputs.npz
    python -m tests.numerical.onnx.round_trip --random 2000       random nodes and graphs of `python -m tests.fuzz`

Prints how many models agree with what is expected, and a line for each that does not.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx.reference import ReferenceEvaluator

import moir
from moir.errors import MoirError
from tests.numerical.onnx.backend_suite import inapplicable, suite
from tests.numerical.outcomes import mismatch

EQUAL, DIFFERENT, REFUSED, UNSUPPORTED, FAILED, INAPPLICABLE = "equal", "different", "refused", "unsupported", "failed", "inapplicable"
"""The outcomes: equal; other results; refused on the way to ONNX, or already on the way to the operation sets; refused
by ONNX Runtime; nothing to compare."""


_WITHOUT_KERNEL = ("NOT_IMPLEMENTED", "umpy type", "umpy_type", "umpy Type")
"""Texts of ONNX Runtime's errors for element types or versions that it has no kernels for."""


@dataclass(frozen=True)
class RoundTrip:
    """The outcome of a model, with the reason if it is not equal."""

    name: str
    outcome: str
    reason: str = ""


def written(path: Path, folder: Path, opset: int | None) -> Path:
    """A model converted and written as ONNX. Raises MoirError; `is_refused` is set on one of the way back."""
    module = moir.convert_model(path, target="none")
    back = folder / "back.onnx"
    try:
        moir.save_onnx(module, back, opset=opset)
    except MoirError as error:
        vars(error)["is_refused"] = True
        raise
    return back


def session_of(path: Path) -> onnxruntime.InferenceSession:
    """A session of one thread, without optimizations."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def outputs_of(path: Path, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The outputs of a model in ONNX Runtime by name; inputs are matched by name, or else by position."""
    session = session_of(path)
    wanted = session.get_inputs()
    names = [each.name for each in wanted]
    by_name = {name: inputs[name] for name in names if name in inputs}
    rest = iter([value for name, value in inputs.items() if name not in by_name])
    feed = {each.name: by_name[each.name] if each.name in by_name else next(rest, _zeros(each)) for each in wanted}
    results = session.run(None, feed)
    return dict(zip([each.name for each in session.get_outputs()], results, strict=True))


def _zeros(value: Any) -> Any:
    """The first value of a state."""
    dtype = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(int64)": np.int64}.get(value.type, np.int32)
    return np.zeros([size if isinstance(size, int) else 0 for size in value.shape], dtype)


def referenced_outputs_of(path: Path, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The outputs of a model in ONNX's reference evaluator, for element types that ONNX Runtime has no kernels for."""
    model = onnx.load(path)
    evaluator = ReferenceEvaluator(model)
    feed = dict(zip([each.name for each in model.graph.input], inputs.values(), strict=True))
    return dict(zip(map(str, evaluator.output_names), evaluator.run(None, feed), strict=True))


def compared(results: Mapping[str, Any], expected: Mapping[str, Any], rtol: float, atol: float) -> str:
    """The first difference of outputs; empty if there is none."""
    rest = iter([value for name, value in results.items() if name not in expected])
    for name, value in expected.items():
        result = results[name] if name in results else next(rest, None)
        if result is None:
            return f"{name}: there is no such output"
        wanted, actual = np.asarray(value), np.asarray(result)
        if wanted.dtype.name.startswith("float8") and actual.dtype == np.uint8:
            actual = actual.view(wanted.dtype)
        largest = np.abs(wanted[np.isfinite(wanted)]).max(initial=0) if wanted.dtype.kind == "f" else 0
        if text := mismatch(actual, wanted, rtol, max(atol, 1e-5 * float(largest))):
            return f"{name}: {text}"
    return ""


def trip(
    name: str, path: Path, sets: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]], opset: int | None, rtol: float, atol: float
) -> RoundTrip:
    """Take one model there and back, and compare its outputs."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            back = written(path, Path(folder), opset)
        except MoirError as error:
            return RoundTrip(name, REFUSED if vars(error).get("is_refused") else UNSUPPORTED, str(error))
        try:
            for inputs, expected in sets:
                try:
                    results = outputs_of(back, inputs)
                except Exception as error:
                    if not any(text in str(error) for text in _WITHOUT_KERNEL):
                        raise
                    results = referenced_outputs_of(back, inputs)
                if text := compared(results, expected, rtol, atol):
                    return RoundTrip(name, DIFFERENT, text)
        except Exception as error:  # ONNX Runtime raises what it likes.
            return RoundTrip(name, FAILED, str(error))
    return RoundTrip(name, EQUAL)


def backend_trip(name: str, opset: int | None) -> RoundTrip:
    """Take a backend test there and back."""
    test = suite()[name]
    model = test.loaded()
    if reason := inapplicable(name, model):
        return RoundTrip(name, INAPPLICABLE, reason)
    constants = {initializer.name for initializer in model.graph.initializer}
    names = [value.name for value in model.graph.input if value.name not in constants]
    outputs = [value.name for value in model.graph.output]
    sets = [
        (dict(zip(names, inputs, strict=False)), dict(zip(outputs, expected, strict=False))) for inputs, expected in test.data_sets(model)
    ]
    is_narrow = any(
        getattr(value, "dtype", np.dtype(np.float32)).name in ("float16", "bfloat16") for _, each in sets for value in each.values()
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        path.write_bytes(model.SerializeToString())
        return trip(name, path, sets, opset, max(test.rtol, 1e-2 if is_narrow else 1e-3), max(test.atol, 1e-3 if is_narrow else 1e-5))


def sample_trip(folder: Path, opset: int | None) -> RoundTrip:
    """Take a sample there and back: a folder with a model, and its inputs and outputs."""
    path = next((each for each in sorted(folder.iterdir()) if each.suffix in MODELS or each.name == "saved_model"), None)
    sets = [
        (dict(np.load(folder / f"inputs{tag}.npz", allow_pickle=True)), dict(np.load(folder / f"outputs{tag}.npz", allow_pickle=True)))
        for tag in ("", "_b")
        if (folder / f"inputs{tag}.npz").exists() and (folder / f"outputs{tag}.npz").exists()
    ]
    if path is None or not sets:
        return RoundTrip(folder.name, INAPPLICABLE, "there is no model, or no data")
    name = f"{folder.parent.name}/{folder.name}"
    is_coarse = any(word in folder.name for word in ("int8", "qdq", "qoperator", "fp16", "dynq", "quant"))
    if not is_coarse:
        return trip(name, path, sets, opset, 2e-3, 1e-3)
    # A rounding of a quantized model moves an element by a step.
    largest = max(float(np.abs(value).max(initial=0)) for _, each in sets for value in each.values())
    return trip(name, path, sets, opset, 0.1, 0.08 * largest)


def random_trip(number: int, seed: int, opset: int | None) -> RoundTrip:
    """Take a random case there and back; the numbers of its reference are expected."""
    from tests.fuzz.runner import Ticket, drawn

    try:
        case, _, expected = drawn(Ticket(seed, number), lambda _: None)
    except Exception as error:
        return RoundTrip(f"{seed}/{number}", INAPPLICABLE, str(error))
    with tempfile.TemporaryDirectory() as folder:
        path = case.source.save(Path(folder))
        data = (dict(case.inputs), dict(zip(case.outputs, expected, strict=True)))
        return trip(f"{seed}/{number} {case.subject}", path, [data], opset, 1e-3, max(1e-5, *(1.01 * step for step in case.steps), 0))


MODELS = (".onnx", ".tflite", ".pb", ".pt2", ".keras", ".h5", ".pdmodel", ".caffemodel", ".mlir", ".mlirbc", ".jax", ".xml")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=Path, nargs="*", help="folders of samples, or folders of such folders")
    parser.add_argument("--random", type=int, metavar="N", help="so many random cases")
    parser.add_argument("--seed", type=int, default=0, help="which random cases")
    parser.add_argument("--only", default="*", help="a pattern of names")
    parser.add_argument("--opset", type=int, help="the version of ONNX's operator set")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if options.samples:
        folders = [each for root in options.samples for each in ([root] if (root / "meta.json").exists() else sorted(root.iterdir()))]
        task: Any = partial(sample_trip, opset=options.opset)
        items: list[Any] = [each for each in folders if each.is_dir() and fnmatch(each.name, options.only)]
    elif options.random:
        task, items = partial(random_trip, seed=options.seed, opset=options.opset), list(range(options.random))
    else:
        task = partial(backend_trip, opset=options.opset)
        items = [name for name in sorted(suite()) if fnmatch(name, options.only)]
    counts: Counter[str] = Counter()
    with ProcessPoolExecutor(options.jobs) as pool:
        for result in pool.map(task, items, chunksize=1 if options.samples else 8):
            counts[result.outcome] += 1
            if result.outcome not in (EQUAL, INAPPLICABLE):
                print(f"{result.outcome:<12}{result.name}: {result.reason[:300]}", flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.most_common()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
