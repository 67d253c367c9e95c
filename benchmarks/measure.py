"""Times of conversions, by `moir` and, where OpenVINO is installed, by its converter `ovc`.

    python benchmarks/measure.py MODEL... [--runs 5] [--stages] [--inference]

Each model is converted by each converter in turn, `--runs` times, every time in a new process; the table has medians of wall time, CPU time
and peak memory, the ratio moir / ovc, and the number of operations of the IRs as OpenVINO Runtime reads them. `--stages` adds the time of
each stage of moir, from conversions in this process. `--inference` compares the time of an inference with the two IRs on the CPU.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from processes import Converter, ConverterFailed, Usage, converters, median, print_table, run


@dataclass
class Measurement:
    """What was measured on one model; by converter where there are several."""

    model: str
    usages: dict[str, Usage] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    operations: dict[str, int] = field(default_factory=dict)
    inference: dict[str, float] = field(default_factory=dict)


def label(path: Path) -> str:
    """A short name for a model file."""
    return path.parent.name if path.stem in ("model", "frozen") else path.stem


def measure(path: Path, available: Sequence[Converter], runs: int, inference: bool) -> Measurement:
    """Convert a model with each converter in turn."""
    result = Measurement(label(path))
    with tempfile.TemporaryDirectory() as folder:
        files = {converter.name: Path(folder) / converter.name / "model.xml" for converter in available}
        usages: dict[str, list[Usage]] = {converter.name: [] for converter in available}
        for xml in files.values():
            xml.parent.mkdir()
        for _ in range(runs):
            for converter in available:
                if converter.name in result.failures:
                    continue
                try:
                    usages[converter.name].append(run(converter.command(path, files[converter.name])))
                except ConverterFailed as failure:
                    result.failures[converter.name] = str(failure)
        converted = {name: xml for name, xml in files.items() if name not in result.failures}
        result.usages = {name: median(usages[name]) for name in converted}
        try:
            import openvino
        except ImportError:
            return result
        core = openvino.Core()
        models = {name: core.read_model(xml) for name, xml in converted.items()}
        result.operations = {name: len(model.get_ops()) for name, model in models.items()}
        if inference and len(models) > 1:
            try:
                result.inference = inference_times(core, models)
            except RuntimeError as error:
                # Inputs that only fit together, such as an index and a size, cannot be made up.
                result.failures["inference"] = str(error).strip().splitlines()[-1]
    return result


def sample(port: Any, random: np.random.Generator) -> np.ndarray:
    """Something to feed an input with: unknown dimensions are 1 (images 64 × 64), integers are 0 or 1."""
    partial = port.get_partial_shape()
    unknown = [1, 1, 64, 64] if partial.rank.is_static and len(partial) == 4 else None
    shape = [
        dimension.get_length() if dimension.is_static else max(unknown[axis] if unknown else 1, dimension.get_min_length())
        for axis, dimension in enumerate(partial)
    ]
    dtype = port.get_element_type().to_dtype()
    numbers = random.random(shape) if np.issubdtype(dtype, np.floating) else random.integers(0, 2, shape)
    return np.asarray(numbers).astype(dtype)


def inference_times(core: Any, models: Mapping[str, Any], seconds: float = 2.0, least: int = 11) -> dict[str, float]:
    """Median milliseconds of an inference with each of several models with the same inputs, run in turn."""
    requests: dict[str, Any] = {}
    random = np.random.default_rng(0)
    inputs: dict[str, np.ndarray] = {}
    for name, model in models.items():
        compiled = core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        for port in compiled.inputs:
            inputs.setdefault(port.any_name, sample(port, random))
        requests[name] = compiled.create_infer_request()
    times: dict[str, list[float]] = {name: [] for name in models}
    start = time.perf_counter()
    while time.perf_counter() - start < seconds or len(next(iter(times.values()))) < least:
        for name, request in requests.items():
            feed = {port: inputs[port.any_name] for port in request.model_inputs}
            before = time.perf_counter()
            request.infer(feed)
            times[name].append(1000 * (time.perf_counter() - before))
    # The first inferences build the kernels.
    return {name: statistics.median(each[3:]) for name, each in times.items()}


def stage_times(path: Path, runs: int) -> dict[str, float]:
    """Median milliseconds of each stage of moir; a pass that runs twice counts as one."""
    import moir
    from moir.conversion import Observer

    class Times(Observer):
        def __init__(self) -> None:
            self.milliseconds: dict[str, float] = {}

        def finish(self, number: int, stage: str, module: Any, seconds: float) -> None:
            self.milliseconds[stage] = self.milliseconds.get(stage, 0.0) + 1000 * seconds

    collected: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        # The first run imports the passes.
        for number in range(runs + 1):
            times = Times()
            module = moir.convert_model(path, observers=[times])
            start = time.perf_counter()
            moir.save_model(module, Path(folder) / "model.xml")
            times.milliseconds["emission"] = 1000 * (time.perf_counter() - start)
            if number:
                for stage, milliseconds in times.milliseconds.items():
                    collected.setdefault(stage, []).append(milliseconds)
    return {stage: statistics.median(values) for stage, values in collected.items()}


def ratio(measurement: Measurement, quantity: str) -> float | None:
    """moir / ovc."""
    both = [measurement.usages.get(name) for name in ("moir", "ovc")]
    return None if None in both else getattr(both[0], quantity) / getattr(both[1], quantity)


def print_usages(measurements: Sequence[Measurement], names: Sequence[str]) -> None:
    """The table of times, memory and operations, and under it the medians of the ratios."""
    quantities = (("wall", "s", "{:.2f}"), ("cpu", "s", "{:.2f}"), ("memory", "MB", "{:.0f}"))
    heading = ["model"]
    for quantity, unit, _ in quantities:
        heading += [f"{quantity} {unit} {name}" for name in names] + (["ratio"] if len(names) > 1 else [])
    rows = [heading + [f"operations {name}" for name in names]]
    for each in measurements:
        row = [each.model]
        for quantity, _, form in quantities:
            row += [form.format(getattr(each.usages[name], quantity)) if name in each.usages else "failed" for name in names]
            if len(names) > 1:
                value = ratio(each, quantity)
                row.append("-" if value is None else f"{value:.2f}")
        rows.append(row + [str(each.operations.get(name, "-")) for name in names])
    print_table(rows)
    for quantity, _, _ in quantities:
        ratios = [value for each in measurements if (value := ratio(each, quantity)) is not None]
        if ratios:
            middle, worst = statistics.median(ratios), max(ratios)
            print(f"median ratio of {quantity} moir / ovc over {len(ratios)} models: {middle:.2f} (worst {worst:.2f})")
    for each in measurements:
        for name, reason in each.failures.items():
            print(f"{each.model}: {name} failed: {reason[:300]}")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Measure conversions by moir and ovc.")
    parser.add_argument("models", metavar="MODEL", nargs="+", type=Path, help="model file")
    parser.add_argument("--runs", type=int, default=5, help="conversions of each model by each converter (default: 5)")
    parser.add_argument("--stages", action="store_true", help="times of the stages of moir")
    parser.add_argument("--inference", action="store_true", help="compare the time of inference with the two IRs")
    parser.add_argument("--only-moir", action="store_true", help="leave ovc out")
    options = parser.parse_args(arguments)
    available = converters(("moir",) if options.only_moir else ("moir", "ovc"))
    measurements: list[Measurement] = []
    for path in options.models:
        print(f"{label(path)} ...", file=sys.stderr, flush=True)
        measurements.append(measure(path, available, max(1, options.runs), options.inference))
    print_usages(measurements, [converter.name for converter in available])
    if any(each.inference for each in measurements):
        print("\nInference, ms (median)")
        rows = [["model", *(converter.name for converter in available), "ratio"]]
        for each in measurements:
            if each.inference:
                ours, theirs = each.inference["moir"], each.inference["ovc"]
                rows.append([each.model, f"{ours:.3f}", f"{theirs:.3f}", f"{ours / theirs:.3f}"])
        print_table(rows)
    if options.stages:
        for path, each in zip(options.models, measurements, strict=True):
            if "moir" not in each.failures:
                times = stage_times(path, max(1, options.runs))
                print(f"\nStages of moir, {each.model}, ms (median)")
                print_table([["stage", "ms"], *([stage, f"{value:.2f}"] for stage, value in times.items())])
    return 1 if any("moir" in each.failures for each in measurements) else 0


if __name__ == "__main__":
    sys.exit(main())
