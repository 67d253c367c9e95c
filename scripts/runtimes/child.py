"""Runs in the environment of one release: loads IRs, runs them, and compares outputs with those of another release.

    python child.py LIST.json

The list names the `.xml`, the `.npz` of the inputs by position, and that of the expected outputs. Each model runs in a
process of its own; one line of JSON is printed for each: its index, and "right", "wrong", "refused" or "died", with a
reason. It imports nothing of moir, and runs on Python 3.8 and newer.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
from importlib import import_module
from typing import Any
from xml.etree import ElementTree

import numpy as np

TOLERANCE = 1e-3
"""The largest difference of an output relative to the largest magnitude of what is expected."""

SECONDS = 120


def run(item: dict[str, str], inputs: Any) -> list[Any]:
    """The outputs of a model, by the interface of releases since 2022.1. Raises RuntimeError if it is refused."""
    try:
        openvino: Any = import_module("openvino.runtime" if sys.version_info < (3, 11) else "openvino")
    except ImportError:
        return run_first_interface(item, inputs)
    core = openvino.Core()
    try:
        core.set_property("CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    except RuntimeError:
        core.set_property("CPU", {"ENFORCE_BF16": "NO"})
    request = core.compile_model(core.read_model(item["xml"]), "CPU").create_infer_request()
    arrays = {index: inputs[str(index)] for index in range(len(inputs.files))}
    for index, array in arrays.items():
        if array.ndim == 0:
            # Older interfaces do not copy a scalar.
            request.get_input_tensor(index).data[...] = array
    request.infer({index: array for index, array in arrays.items() if array.ndim})
    return [np.array(request.get_output_tensor(index).data) for index in range(int(item["count"]))]


def run_first_interface(item: dict[str, str], inputs: Any) -> list[Any]:
    """The outputs of a model, by the interface of releases up to 2021.4, which has names of layers instead of ports."""
    core: Any = import_module("openvino.inference_engine").IECore()
    core.set_config({"ENFORCE_BF16": "NO"}, "CPU")
    root = ElementTree.parse(item["xml"]).getroot()
    layers = {each.get("id"): each for each in root.iterfind("layers/layer")}
    names = [each.get("name") for each in layers.values() if each.get("type") == "Parameter"]
    network = core.read_network(item["xml"], item["xml"][:-3] + "bin")
    feed = {name: inputs[str(index)] for index, name in enumerate(names) if name in network.input_info}
    results = core.load_network(network, "CPU").infer(feed)
    outputs: list[Any] = []
    for edge in root.iterfind("edges/edge"):
        if layers[edge.get("to-layer")].get("type") == "Result":
            source = layers[edge.get("from-layer")]
            ports = [port.get("id") for port in source.iterfind("output/port")]
            suffix = "" if len(ports) == 1 else "." + str(ports.index(edge.get("from-port")))
            outputs.append((int(edge.get("to-layer") or 0), results[str(source.get("name")) + suffix]))
    return [output for _, output in sorted(outputs, key=lambda each: each[0])]


def outcome(item: dict[str, str]) -> tuple[str, str]:
    """What a model does."""
    inputs, expected = np.load(item["inputs"]), np.load(item["outputs"])
    try:
        outputs = run({**item, "count": str(len(expected.files))}, inputs)
    except (RuntimeError, KeyError, ValueError) as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        return "refused", lines[-1][:200] if lines else "no reason given"
    for index in range(len(expected.files)):
        actual, wanted = outputs[index], expected[str(index)]
        if actual.shape != wanted.shape:
            return "wrong", f"output {index} has the shape {list(actual.shape)}, not {list(wanted.shape)}"
        a, b = actual.astype(np.float64), wanted.astype(np.float64)
        both = np.isfinite(a) & np.isfinite(b)
        if not np.array_equal(np.isfinite(a), np.isfinite(b)):
            return "wrong", f"output {index} is not finite elsewhere"
        apart = float(np.max(np.abs(a - b), where=both, initial=0.0) / (np.max(np.abs(b), where=both, initial=0.0) + 1e-9))
        if apart > TOLERANCE:
            return "wrong", f"output {index} differs by {apart:.2g}"
    return "right", ""


def _run(connection: Any, item: dict[str, str]) -> None:
    connection.send(outcome(item))


def main() -> None:
    """Run all models of the list."""
    with open(sys.argv[1], encoding="utf-8") as file:
        items = json.load(file)
    context = multiprocessing.get_context("spawn")
    for index, item in enumerate(items):
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=_run, args=(sender, item))
        process.start()
        sender.close()
        verdict, reason = "died", "no result in time"
        if receiver.poll(SECONDS):
            try:
                verdict, reason = receiver.recv()
            except EOFError:
                process.join()
                verdict, reason = "died", f"exit status {process.exitcode}"
        process.kill()
        process.join()
        print(json.dumps([index, verdict, reason]), flush=True)


if __name__ == "__main__":
    main()
