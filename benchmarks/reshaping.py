"""Whether models that are reshaped in the runtime still compute right, with the IRs of `moir` and of `ovc`.

    python benchmarks/reshaping.py PATH... [--keep FOLDER]

Paths and inputs are those of `ir_quality.py`. Each model gets its inputs twice, one after the other along the first
dimension, after `model.reshape` to that size: both halves of each result have to be what the model computes of them
alone. Where there are `inputs_b.npz` and `outputs_b.npz`, inputs of other sizes and the results of the framework, the
model is reshaped to these sizes as well. Results that have no batch, and models that compute a result of all samples,
cannot be told apart from wrong ones: they are listed as `differs`, for both converters.

The exit status is 1 if the IR of `moir` is refused or differs where that of `ovc` does not.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from ir_quality import ONE_THREAD, converted, difference, inputs_of, label, model_files
from processes import ConverterFailed, print_table

TOLERANCE = 1e-3


def results(model: Any, feeds: Sequence[np.ndarray]) -> list[np.ndarray]:
    """What a model computes of inputs of any sizes, to which it is reshaped."""
    import openvino

    model = model.clone()
    model.reshape({port: openvino.PartialShape(list(value.shape)) for port, value in zip(model.inputs, feeds, strict=True)})
    compiled = openvino.Core().compile_model(model, "CPU", ONE_THREAD)
    request = compiled.create_infer_request()
    request.infer(list(feeds))
    return [np.array(tensor.data) for tensor in request.output_tensors]


def doubled(model: Any, path: Path) -> str:
    """Whether a model computes each of two samples as it computes one."""
    feeds = inputs_of(model, path)
    if feeds is None or any(value.ndim == 0 for value in feeds):
        return "no inputs"
    alone = results(model, feeds)
    twice = results(model, [np.concatenate([value, value]) for value in feeds])
    expected = [np.concatenate([each, each]) if each.ndim else each for each in alone]
    return "right" if difference(twice, expected) <= TOLERANCE else "differs"


def resized(model: Any, path: Path) -> str:
    """Whether a model computes inputs of other sizes as its framework does."""
    given, wanted = path.parent / "inputs_b.npz", path.parent / "outputs_b.npz"
    if not given.exists() or not wanted.exists():
        return "-"
    stored = dict(np.load(given))
    feeds = [value_of(stored, port) for port in model.inputs]
    if any(value is None for value in feeds):
        return "no inputs"
    outputs_of_model = results(model, [value for value in feeds if value is not None])
    expected = list(np.load(wanted).values())
    if len(expected) != len(outputs_of_model):
        return "no results"
    # The order of results is that of the file in some frameworks only.
    pairs = [min(difference([a], [b]) for b in expected) for a in outputs_of_model]
    return "right" if max(pairs) <= TOLERANCE else "differs"


def value_of(stored: Mapping[str, np.ndarray], port: Any) -> np.ndarray | None:
    """The array for an input, by its names."""
    names = {*port.get_names(), port.get_node().get_friendly_name()}
    arrays = [value for name, value in stored.items() if {name, name.split(":")[0], f"{name}:0"} & names]
    arrays = arrays or (list(stored.values()) if len(stored) == 1 else [])
    return None if not arrays else np.ascontiguousarray(arrays[0].astype(port.get_element_type().to_dtype()))


def judged(xml: Path, path: Path) -> list[str]:
    """What becomes of an IR that is reshaped, to two samples and to other sizes."""
    import openvino

    faults: list[str] = []
    for judge in (doubled, resized):
        try:
            faults.append(judge(openvino.Core().read_model(xml), path))
        except RuntimeError:
            faults.append("refused")
    return faults


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; returns the exit status."""
    parser = argparse.ArgumentParser(description="Reshape the IRs of moir and ovc in OpenVINO Runtime.")
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    parser.add_argument("--keep", metavar="FOLDER", type=Path, help="keep the IRs; those of ovc that are there are not made again")
    options = parser.parse_args(arguments)
    rows = [["model", "twice moir", "ovc", "other sizes moir", "ovc"]]
    is_worse = False
    for path in [file for given in options.paths for file in model_files(given)]:
        print(f"{label(path)} ...", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory() as folder:
            try:
                files = converted(path, Path(folder) if options.keep is None else options.keep)
            except ConverterFailed as failure:
                rows.append([label(path), str(failure)[:60], "", "", ""])
                continue
            ours, theirs = (judged(files[name], path) for name in ("moir", "ovc"))
        rows.append([label(path), ours[0], theirs[0], ours[1], theirs[1]])
        is_worse |= any(b == "right" and a != "right" for a, b in zip(ours, theirs, strict=True))
    print_table(rows)
    return int(is_worse)


if __name__ == "__main__":
    sys.exit(main())
