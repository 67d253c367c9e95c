"""The IRs of `moir` and of OpenVINO's converter `ovc` as users of OpenVINO Runtime have them, for the same model files.

    python benchmarks/ir_quality.py PATH... [--repeats 5] [--seconds 2] [--load] [--keep FOLDER] [--markdown] [--json FILE]

A path is a model file, the folder of a SavedModel, or any folder, which is searched for such. Each model is converted
by both; then are compared: the operations of the IR (those of bodies included), those that are no constants, the nodes
of the executed graph on a CPU (those of bodies that it executes as such included), the latency of an inference, and
the size of the `.bin`; with `--load` also the time of `read_model` and `compile_model`, that of the same from a cache,
that of the first inference, the peak memory of a process that does this, the CPU time of the load (`processor`), which
depends least on what else the machine does, and the memory that is no mapped file. All are of one thread in f32. Times are
minima, for which the two IRs take turns: they hardly depend on what else the machine does. Loads are of new processes.
A model's inputs are those of `inputs.npz` in its folder, or made up. `difference` is the largest difference of two
results, as a part of the largest number of the result.

The exit status is 1 if an IR of `moir` has more operations (with or without constants), or computes something else.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from measure import sample
from operations import operations
from processes import ConverterFailed, converters, print_table, run

SUFFIXES = (".onnx", ".pb", ".tflite", ".pdmodel")
BODIES = ("If", "Loop", "TensorIterator")
ONE_THREAD = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1}
COUNTS = ("operations", "computing", "nodes", "bin")
WHOLE = ("operations", "computing", "nodes")
TIMES = ("latency",)
LOADS = ("load", "processor", "cached", "first", "memory", "anonymous")
TOLERANCE = 1e-2
"""Largest difference of two results, relative to the largest number of one, that is not more than rounding."""

Measured = dict[str, float]


def model_files(path: Path) -> Iterator[Path]:
    """The models in a folder, whatever its depth: files, and folders of SavedModels."""
    if path.is_file() or (path / "saved_model.pb").exists():
        yield path
    elif path.is_dir():
        for each in sorted(path.iterdir()):
            if each.is_dir() or each.suffix in SUFFIXES:
                yield from model_files(each)


def label(path: Path) -> str:
    """A short name for a model."""
    return "/".join(path.resolve().parts[-2:])


def inputs_of(model: Any, path: Path) -> list[np.ndarray] | None:
    """What a model is run with: the arrays of `inputs.npz` beside it, by names of its inputs, or something made up."""
    beside = path.parent / "inputs.npz"
    random = np.random.default_rng(0)
    stored = dict(np.load(beside)) if beside.exists() else {}
    arrays: list[np.ndarray] = []
    for port in model.inputs:
        known = {*port.get_names(), port.get_node().get_friendly_name()}
        names = [name for name in stored if {name, name.split(":")[0], f"{name}:0"} & known]
        if not names and len(stored) == len(model.inputs) == 1:
            names = list(stored)
        if stored and not names:
            return None
        kind = port.get_element_type().to_dtype()
        arrays.append(np.ascontiguousarray(stored[names[0]].astype(kind)) if names else sample(port, random))
    return arrays


def matched(first: Sequence[Any], second: Sequence[Any]) -> list[int]:
    """The places of the inputs, or outputs, of a model in another one, by their names."""
    names = [port.get_names() for port in second]
    return [next((at for at, known in enumerate(names) if known & port.get_names()), index) for index, port in enumerate(first)]


def difference(ours: Sequence[np.ndarray], theirs: Sequence[np.ndarray]) -> float:
    """The largest difference of two results relative to the largest finite number of one; infinite for other shapes."""
    worst = 0.0
    for a, b in zip(ours, theirs, strict=True):
        if a.shape != b.shape:
            return float("inf")
        if a.size and a.dtype.kind in "fiub":
            a, b = np.nan_to_num(a.astype(np.float64)), np.nan_to_num(b.astype(np.float64))
            worst = max(worst, float(np.abs(a - b).max() / max(np.abs(b).max(), 1e-6)))
    return worst


def latencies(requests: Mapping[str, Any], feeds: Mapping[str, list[np.ndarray]], seconds: float) -> Measured:
    """The shortest inference with each IR in milliseconds, the IRs taking turns."""
    shortest = dict.fromkeys(requests, float("inf"))
    start = time.perf_counter()
    count = 0
    while count < 5 or time.perf_counter() - start < seconds:
        count += 1
        for name, request in requests.items():
            before = time.perf_counter()
            request.infer(feeds[name], share_inputs=True, share_outputs=True)
            shortest[name] = min(shortest[name], 1000 * (time.perf_counter() - before))
    return shortest


def executed(core: Any, model: Any, compiled: Any) -> int:
    """The number of nodes of an executed graph without constants, including those of the bodies of its loops and
    branches.
    """
    named = {op.get_friendly_name(): op for op in model.get_ops()}
    count = 0
    for node in compiled.get_runtime_model().get_ops():
        information = node.get_rt_info()
        kind = information["layerType"].astype(str)
        count += kind != "Const"
        op = named.get(information["originalLayersNames"].astype(str)) if kind in BODIES else None
        if op is None or op.get_type_name() not in BODIES:
            continue
        places = range(2) if op.get_type_name() == "If" else (None,)
        for body in [op.get_function() if place is None else op.get_function(place) for place in places]:
            inner = body.clone()
            ends = len(inner.get_parameters()) + len(inner.get_results())
            count += max(0, executed(core, inner, core.compile_model(inner, "CPU", ONE_THREAD)) - ends)
    return count


def compared(path: Path, files: Mapping[str, Path], seconds: float) -> tuple[dict[str, Measured], float]:
    """What IRs are made of and how fast they are, by converter, and how much their results differ."""
    import openvino

    core = openvino.Core()
    models = {name: core.read_model(xml) for name, xml in files.items()}
    compiled = {name: core.compile_model(model, "CPU", ONE_THREAD) for name, model in models.items()}
    measured: dict[str, Measured] = {}
    for name, model in models.items():
        kinds = [op.get_type_name() for op in operations(model)]
        counts = {
            "operations": len(kinds),
            "computing": len(kinds) - kinds.count("Constant"),
            "nodes": executed(core, model, compiled[name]),
        }
        measured[name] = {**counts, "bin": files[name].with_suffix(".bin").stat().st_size / 1e6}
    theirs = inputs_of(models["ovc"], path)
    if theirs is None:
        return measured, float("nan")
    feeds = {"ovc": theirs, "moir": [theirs[index] for index in matched(models["moir"].inputs, models["ovc"].inputs)]}
    requests = {name: each.create_infer_request() for name, each in compiled.items()}
    results: dict[str, list[np.ndarray]] = {}
    try:
        for name, request in requests.items():
            request.infer(feeds[name])
            results[name] = [np.array(tensor.data) for tensor in request.output_tensors]
        for name, shortest in latencies(requests, feeds, seconds).items():
            measured[name]["latency"] = shortest
    except RuntimeError:
        # Inputs that only fit together, such as an index and a size, cannot be made up.
        return measured, float("nan")
    order = matched(models["moir"].outputs, models["ovc"].outputs)
    return measured, difference(results["moir"], [results["ovc"][index] for index in order])


def load(xml: Path, path: Path, cache: str) -> Measured:
    """What this process, which is new, needs to load an IR and to run it once; milliseconds."""
    import openvino

    core = openvino.Core()
    core.get_property("CPU", "FULL_DEVICE_NAME")  # loads the plugin
    before, start, used = anonymous_memory(), time.perf_counter(), time.process_time()
    compiled = core.compile_model(core.read_model(xml), "CPU", {**ONE_THREAD, **({"CACHE_DIR": cache} if cache else {})})
    times = {"load": 1000 * (time.perf_counter() - start), "processor": 1000 * (time.process_time() - used)}
    inputs = inputs_of(compiled, path)
    if inputs is not None:
        request = compiled.create_infer_request()
        start = time.perf_counter()
        try:
            request.infer(inputs)
            times["first"] = 1000 * (time.perf_counter() - start)
        except RuntimeError:
            pass
    if before is not None and (after := anonymous_memory()) is not None:
        times["anonymous"] = after - before
    return times


def anonymous_memory() -> float | None:
    """The resident memory of this process that is no mapped file, in MB; None where the system does not tell."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("RssAnon:")), None)


def loads(path: Path, files: Mapping[str, Path], repeats: int, folder: Path) -> dict[str, Measured]:
    """The least that new processes need to load each IR, the IRs taking turns."""
    least: dict[str, Measured] = {name: {} for name in files}
    answer = folder / "load.json"
    for _ in range(repeats):
        for name, xml in files.items():
            for cache in ("", str(folder / f"cache-{name}")):
                usage = run([sys.executable, __file__, "--load-only", str(xml), str(path), str(answer), cache])
                least_times = json.loads(answer.read_text())
                if cache:
                    # The first process with a cache writes it.
                    least_times = {"cached": least_times["load"]} if "cached" in least[name] else {"cached": float("inf")}
                else:
                    least_times["memory"] = usage.memory
                for quantity, number in least_times.items():
                    least[name][quantity] = min(least[name].get(quantity, float("inf")), number)
    return least


def converted(path: Path, folder: Path) -> dict[str, Path]:
    """The IRs of a model by both converters, in a folder; that of ovc is not made again. Raises ConverterFailed."""
    place = folder / label(path).replace("/", "+")
    files = {name: place / name / "model.xml" for name in ("moir", "ovc")}
    for converter in converters():
        files[converter.name].parent.mkdir(parents=True, exist_ok=True)
        if converter.name == "ovc" and files["ovc"].exists():
            continue
        try:
            run(converter.command(path, files[converter.name]))
        except ConverterFailed as failure:
            raise ConverterFailed(f"{converter.name}: {failure}") from None
    return files


def measure(path: Path, repeats: int, seconds: float, with_loads: bool, keep: Path | None = None) -> dict[str, Any]:
    """The record of a model: what was measured of each IR, the difference of results, or why there is nothing."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            files = converted(path, Path(folder) if keep is None else keep)
        except ConverterFailed as failure:
            return {"model": label(path), "failure": str(failure)}
        try:
            measured, apart = compared(path, files, seconds)
            if with_loads:
                for name, times in loads(path, files, repeats, Path(folder)).items():
                    measured[name].update(times)
        except (RuntimeError, ConverterFailed) as error:
            return {"model": label(path), "failure": str(error).strip().splitlines()[-1]}
    return {"model": label(path), **measured, "difference": apart}


def ratio(record: Mapping[str, Any], quantity: str) -> float | None:
    """moir / ovc."""
    ours, theirs = (record.get(name, {}).get(quantity) for name in ("moir", "ovc"))
    return ours / theirs if ours is not None and theirs and theirs != float("inf") else None


def table(records: Sequence[Mapping[str, Any]], quantities: Sequence[str]) -> list[list[str]]:
    """The rows of the table: numbers of both for counts, ratios for all."""
    rows = [["model", *quantities, "difference"]]
    for each in records:
        if "failure" in each:
            continue
        row = [each["model"]]
        for quantity in quantities:
            value = ratio(each, quantity)
            if quantity in WHOLE:
                row.append(f"{each['moir'][quantity]:.0f}/{each['ovc'][quantity]:.0f}")
            else:
                row.append("-" if value is None else f"{value:.2f}")
        rows.append([*row, f"{each['difference']:.0e}"])
    for title, summary in (("median", statistics.median), ("worst", max)):
        ratios = [[value for each in records if (value := ratio(each, quantity)) is not None] for quantity in quantities]
        rows.append([title, *(f"{summary(values):.3f}" if values else "-" for values in ratios), ""])
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; returns the exit status."""
    parser = argparse.ArgumentParser(description="Compare the IRs of moir and ovc in OpenVINO Runtime.")
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH")
    parser.add_argument("--repeats", type=int, default=5, help="processes that load each IR (default: 5)")
    parser.add_argument("--seconds", type=float, default=2.0, help="time of inferences of each model (default: 2)")
    parser.add_argument("--keep", metavar="FOLDER", type=Path, help="keep the IRs; those of ovc that are there are not made again")
    parser.add_argument("--load", action="store_true", help="measure load time and peak memory")
    parser.add_argument("--markdown", action="store_true", help="print the table as documents have it")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write all that was measured")
    parser.add_argument("--load-only", nargs=4, metavar=("XML", "MODEL", "ANSWER", "CACHE"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.load_only:
        xml, path, answer, cache = options.load_only
        Path(answer).write_text(json.dumps(load(Path(xml), Path(path), cache)))
        return 0
    if len(converters()) < 2:
        raise SystemExit("ovc is not installed in this environment, nor in the path")
    records: list[dict[str, Any]] = []
    for path in [file for given in options.paths for file in model_files(given)]:
        print(f"{label(path)} ...", file=sys.stderr, flush=True)
        records.append(measure(path, options.repeats, options.seconds, options.load, options.keep))
        if options.json:
            options.json.write_text(json.dumps(records, indent=1))
    rows = table(records, (*COUNTS, *TIMES, *(LOADS if options.load else ())))
    if options.markdown:
        for number, row in enumerate(rows):
            print(f"| {' | '.join(row)} |")
            if number == 0:
                print(f"|{' --- |' * len(row)}")
    else:
        print_table(rows)
    for each in records:
        if "failure" in each:
            print(f"{each['model']}: {each['failure'][:300]}")
    measured = [each for each in records if "failure" not in each]
    return int(
        any(max(ratio(each, "operations") or 0, ratio(each, "computing") or 0) > 1 or each["difference"] > TOLERANCE for each in measured)
    )


if __name__ == "__main__":
    sys.exit(main())
